"""The chain of providers over real HTTP: who is asked in which order, who is left alone, and for how long."""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from pydantic import ValidationError

from agent.adapters.circuit_breaker import FIRST_PAUSE_SECONDS, MAX_FAILURES, TRIAL_SECONDS, CircuitBreaker
from agent.adapters.model_router import ModelRouter, configured_router
from agent.domain.pictures import PICTURES, Picture, PictureSupport
from agent.domain.turn.journal import ModelAnswer, RequestedCall
from agent.errors import ModelBusyError, ModelDeclinedError, ModelDownError, ModelError
from agent.llm.fallback import ask
from agent.ports import ModelRequest, TextSink
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.settings import ModelSettings
from agent.testing.endpoint import HI
from agent.testing.heard import RecordingSink
from contracts.own_model import OwnModel

PROMPT = replace(HI, model="")
GOOD = ScriptedReply(text="a whole answer")


def chain(session: aiohttp.ClientSession, servers: Mapping[str, ScriptedModel], **more: Any) -> ModelRouter:
    """Providers by name, in this order, each at its own scripted server."""
    fields: dict[str, Any] = {
        "base_url": None,
        "provider_keys": dict.fromkeys(servers, "key-for-tests"),
        "provider_addresses": {name: server.base_url for name, server in servers.items()},
        "chain": ",".join(servers),
        "time_limits": ",".join(f"{name}=5" for name in servers),
        **more,
    }
    return configured_router(ModelSettings.model_validate(fields), session)


FAULTS: list[tuple[str, ScriptedReply]] = [
    ("429", ScriptedReply(status=429)),
    ("429 for long", ScriptedReply(status=429, retry_after=30)),
    ("500", ScriptedReply(status=500)),
    ("503", ScriptedReply(status=503)),
    ("401", ScriptedReply(status=401)),
    ("404", ScriptedReply(status=404)),
    ("silent", ScriptedReply(hang=True)),
    ("first token late", ScriptedReply(text="late", first_token_ms=2000)),
    ("cut at once", ScriptedReply(text="one two", cut_after=0)),
    ("cut", ScriptedReply(text="one two", cut_after=1)),
    ("empty", ScriptedReply(text="")),
    ("garbled", ScriptedReply(text="one two", garbled=True)),
    ("tool_use_failed", ScriptedReply(status=400, error_code="tool_use_failed")),
    ("malformed", ScriptedReply(tool_calls=[ScriptedCall(name="look", arguments="{")])),
]


@pytest.mark.parametrize("first", ["groq", "openai", "anthropic"])
@pytest.mark.parametrize("fault", [fault for _, fault in FAULTS], ids=[name for name, _ in FAULTS])
async def test_whatever_happens_to_one_provider_the_next_one_answers_and_once(
    session: aiohttp.ClientSession, first: str, fault: ScriptedReply
) -> None:
    second = "openai" if first != "openai" else "anthropic"
    async with scripted_model(default=fault) as bad, scripted_model(default=GOOD) as good:
        models = chain(session, {first: bad, second: good}, time_limits=f"{first}=0.15")
        heard = RecordingSink()
        reply = await ask(models.chosen(first, "some-model"), PROMPT, heard)
        assert reply.text == heard.said == "a whole answer"
        assert reply.provider == second
        assert len(good.asked) == 1
        assert 1 <= len(bad.asked) <= 3


def chunk(finish: str | None = None, usage: object = None, **delta: object) -> str:
    """One event of a stream."""
    choice = {"delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice], 'usage': usage})}\n\n"


def asks(name: object = "look", arguments: object = "{}", **more: object) -> str:
    """A stream that asks for one tool, by whatever is given."""
    call = {"index": 0, "id": "c1", "function": {"name": name, "arguments": arguments}}
    return chunk("tool_calls", tool_calls=[{**call, **more}])


CALLED = ModelAnswer(calls=(RequestedCall("look", '{"a":1}', "c1"),))
TWO_INDICES = asks(arguments='{"a":1}', index="0") + asks(arguments='{"a":1}', index=1)
ODD: dict[str, tuple[str, ModelAnswer | None]] = {
    "arguments as an object": (asks(arguments={"a": 1}), CALLED),
    "an index that is a text": (TWO_INDICES, ModelAnswer(calls=CALLED.calls * 2)),
    "a text in parts": (chunk("stop", content=[{"type": "text", "text": "Hi."}]), ModelAnswer(text="Hi.")),
    "tokens below none": (
        chunk("stop", {"prompt_tokens": -9, "completion_tokens": -1}, content="Hi."),
        ModelAnswer("Hi."),
    ),
    "a break behind the last word": (chunk("stop", content="Hi."), ModelAnswer(text="Hi.")),
    "a name that is none": (asks(name={"a": 1}), None),
    "a name without end": (asks(name="x" * 129), None),
    "an id that is none": (asks(id={"a": 1}), None),
    "arguments as a list": (asks(arguments=["a"]), None),
    "arguments nested deep": (asks(arguments=f'{{"a":{"[" * 900}{"]" * 900}}}'), None),
}


@pytest.mark.parametrize("odd", ODD)
async def test_what_servers_do_beside_the_standard_is_read_or_refused(session: aiohttp.ClientSession, odd: str) -> None:
    raw, wanted = ODD[odd]
    async with scripted_model(default=ScriptedReply(raw=raw, cut_after=0 if "break" in odd else None)) as server:
        ((model, _),) = chain(session, {"groq": server}).chosen("groq", "m").candidates
        if wanted is None:
            with pytest.raises(ModelError):
                await model.reply(PROMPT, RecordingSink())
        else:
            assert await model.reply(PROMPT, RecordingSink()) == replace(wanted, provider="groq", model="")


REFUSAL = 'data: {"type":"message_delta","delta":{"stop_reason":"refusal"}}\n'
WITHHELD: dict[str, tuple[str, ScriptedReply]] = {
    "in mid-answer": ("groq", ScriptedReply(raw=chunk(content="I ") + chunk("content_filter"))),
    "at once": ("openai", ScriptedReply(raw=chunk("content_filter"))),
    "for the question": ("openai", ScriptedReply(status=400, error_code="content_filter")),
    "by Anthropic": (
        "anthropic",
        ScriptedReply(raw='data: {"type":"message_delta","delta":{"stop_reason":"refusal"}}\n'),
    ),
}


@pytest.mark.parametrize("how", WITHHELD)
async def test_an_answer_that_is_withheld_is_no_failure_and_nobody_else_is_asked(
    session: aiohttp.ClientSession, how: str
) -> None:
    provider, reply = WITHHELD[how]
    async with scripted_model(default=reply) as server, scripted_model(default=GOOD) as other:
        models = chain(session, {provider: server, "groq" if provider != "groq" else "openai": other})
        for _ in range(MAX_FAILURES + 1):
            with pytest.raises(ModelDeclinedError):
                await ask(models.chosen(provider, "m"), PROMPT, RecordingSink())
        assert (len(server.asked), other.asked) == (MAX_FAILURES + 1, [])
        assert models.chosen(provider, "m").candidates[0][0].provider == provider


async def test_a_refusal_in_words_is_the_answer(session: aiohttp.ClientSession) -> None:
    raw = chunk(refusal="I cannot ") + chunk(refusal="do that.") + chunk("stop")
    async with scripted_model(default=ScriptedReply(raw=raw)) as server:
        heard = RecordingSink()
        reply = await ask(chain(session, {"openai": server}).chosen("openai", "m"), PROMPT, heard)
        assert reply.text == heard.said == "I cannot do that."


async def test_a_call_that_is_written_as_text_is_made_and_not_read_by_anybody(session: aiohttp.ClientSession) -> None:
    written = ScriptedReply(text='I look. <tool_call>{"name": "look", "arguments": {"a": 1}}</tool_call>')
    async with scripted_model(default=written) as server:
        heard = RecordingSink()
        reply = await ask(chain(session, {"openai": server}).chosen("openai", "m"), PROMPT, heard)
        assert [(call.tool, call.arguments) for call in reply.calls] == [("look", '{"a": 1}')]
        assert reply.text == heard.said == "I look."


async def test_a_call_in_the_text_of_a_model_that_is_to_answer_is_no_answer(session: aiohttp.ClientSession) -> None:
    written = ScriptedReply(text='<tool_call>{"name": "look", "arguments": {}}</tool_call>')
    async with scripted_model(Rule(replies=[written]), default=GOOD) as server:
        heard = RecordingSink()
        prompt = replace(PROMPT, tool_choice="none")
        assert (await ask(chain(session, {"openai": server}).chosen("openai", "m"), prompt, heard)).text == heard.said
        assert heard.said == "a whole answer"
        assert "tools" not in server.asked[1]


@pytest.mark.parametrize("where", ["http://127.0.0.1:1", "http://no-such-host.invalid/v1"], ids=["refused", "no name"])
@pytest.mark.parametrize("first", ["groq", "anthropic"])
async def test_a_provider_that_cannot_be_reached_leaves_it_to_the_next(
    session: aiohttp.ClientSession, first: str, where: str
) -> None:
    async with scripted_model(default=GOOD) as good:
        unreachable = {f"{first}_api_key": "k", f"{first}_base_url": where}
        models = chain(session, {"openai": good}, chain=f"{first},openai", **unreachable)
        heard = RecordingSink()
        reply = await ask(models.chosen(first, "some-model"), PROMPT, heard)
        assert (reply.provider, heard.said) == ("openai", "a whole answer")


async def test_when_nobody_answers_there_is_one_clear_error(session: aiohttp.ClientSession) -> None:
    async with (
        scripted_model(default=ScriptedReply(status=500)) as one,
        scripted_model(default=ScriptedReply(status=401)) as two,
    ):
        models = chain(session, {"groq": one, "anthropic": two})
        with pytest.raises(ModelError, match="groq answered 500"):  # which may pass; the other's will not
            await ask(models.chosen("groq", "llama-3.1-8b-instant"), PROMPT, RecordingSink())
        assert one.asked[0]["model"] == "llama-3.1-8b-instant"
        assert two.asked[0]["model"] == "claude-haiku-4-5"


async def test_a_pause_that_a_provider_names_is_kept_by_every_later_call(session: aiohttp.ClientSession) -> None:
    rule = Rule(replies=[ScriptedReply(status=429, retry_after=30)], again=True)
    async with scripted_model(rule) as busy, scripted_model(default=GOOD) as good:
        models = chain(session, {"groq": busy, "openai": good})
        for _ in range(5):
            assert (await ask(models.chosen("groq", "m"), PROMPT, RecordingSink())).provider == "openai"
        assert len(busy.asked) == 1


async def test_alone_a_busy_provider_is_waited_for(session: aiohttp.ClientSession) -> None:
    async with scripted_model(Rule(replies=[ScriptedReply(status=429, retry_after=2.2)]), default=GOOD) as busy:
        models = chain(session, {"groq": busy})
        started = time.monotonic()
        assert (await ask(models.chosen("groq", "m"), PROMPT, RecordingSink())).text == "a whole answer"
        assert time.monotonic() - started >= 2.2
        busy.say(Rule(replies=[ScriptedReply(status=429, retry_after=60)]), default=GOOD)
        with pytest.raises(ModelBusyError):
            await ask(models.chosen("groq", "m"), PROMPT, RecordingSink())
        with pytest.raises(ModelBusyError):
            await ask(models.chosen("groq", "m"), PROMPT, RecordingSink())
        assert len(busy.asked) == 3


async def test_alone_one_that_thinks_for_long_is_waited_for(session: aiohttp.ClientSession) -> None:
    late = Rule(replies=[ScriptedReply(text="after a while", first_token_ms=1500)], again=True)
    async with scripted_model(late) as server:
        models = chain(session, {"openai": server}, time_limits="openai=0.5")
        prompt = replace(PROMPT, time_limit=30.0)
        assert (await ask(models.chosen("openai", "m"), prompt, RecordingSink())).text == "after a while"
        assert len(server.asked) == 2


async def test_a_provider_that_keeps_failing_is_asked_last(session: aiohttp.ClientSession) -> None:
    async with scripted_model(default=ScriptedReply(status=500)) as broken, scripted_model(default=GOOD) as good:
        models = chain(session, {"groq": broken, "openai": good})
        for _ in range(20):
            assert (await ask(models.chosen("groq", "m"), PROMPT, RecordingSink())).provider == "openai"
        assert len(broken.asked) <= MAX_FAILURES + 1
        assert [model.provider for model, _ in models.chosen("groq", "m").candidates] == ["openai", "groq"]


class Switched:
    """A provider that works or does not, as it is told."""

    provider = "groq"

    def __init__(self) -> None:
        self.works = False

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        if not self.works:
            raise ModelDownError("no")
        return ModelAnswer(text="yes")


async def test_after_its_rest_one_call_tries_it_and_its_success_brings_it_back() -> None:
    now, switched = [0.0], Switched()
    guarded = CircuitBreaker(switched, lambda: now[0])
    for _ in range(MAX_FAILURES):
        assert guarded.available()
        with pytest.raises(ModelDownError):
            await guarded.reply(PROMPT, RecordingSink())
    assert not guarded.available()
    now[0] += FIRST_PAUSE_SECONDS
    assert [guarded.available() for _ in range(3)] == [True, False, False]
    with pytest.raises(ModelDownError):
        await guarded.reply(PROMPT, RecordingSink())
    now[0] += FIRST_PAUSE_SECONDS + TRIAL_SECONDS - 1
    assert not guarded.available(), "each further failure doubles the rest"
    now[0] += 2 * FIRST_PAUSE_SECONDS
    assert guarded.available()
    switched.works = True
    await guarded.reply(PROMPT, RecordingSink())
    assert [guarded.available() for _ in range(3)] == [True, True, True]


async def test_another_providers_model_is_left_for_ones_own_default(session: aiohttp.ClientSession) -> None:
    async with scripted_model() as server:
        models = chain(session, {"anthropic": server, "openai": server})
        for provider, model, asked in (
            ("anthropic", "llama-3.3-70b-versatile", "claude-haiku-4-5"),
            ("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5"),
            ("anthropic", "claude-of-tomorrow", "claude-of-tomorrow"),
            ("openai", "claude-haiku-4-5", "gpt-4.1-mini"),
        ):
            assert models.chosen(provider, model).candidates[0][1] == asked


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        *(("time_limits", limits, "groq=5,openai=20") for limits in ("groq", "groq=x", "groq=5;openai=3")),
        *(("time_limits", limits, "more than 0") for limits in ("groq=0", "groq=-1", "groq=nan")),
        ("time_limits", "gorq=5", "'gorq' is no provider"),
        ("chain", "openai,gorq", "'gorq' is no provider: write some of groq, "),
        *(("base_url", address, "write http://HOST") for address in ("10.0.0.5:8000/v1", "htp://vllm/v1", "http://")),
    ],
)
def test_what_cannot_be_is_refused_at_the_start(setting: str, value: str, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ModelSettings.model_validate({setting: value})


async def test_who_takes_over_and_does_not_see_is_told_that_there_are_pictures(session: aiohttp.ClientSession) -> None:
    shown = {"role": "user", "content": "what is it?", PICTURES: (Picture("cat.png", "image/png", "AAAA"),)}
    async with (
        scripted_model(default=ScriptedReply(status=500)) as anthropic,
        scripted_model(default=ScriptedReply(status=500)) as openai,
        scripted_model(default=GOOD) as groq,
    ):
        models = chain(session, {"anthropic": anthropic, "openai": openai, "groq": groq})
        prompt = replace(PROMPT, messages=[shown], language="en")
        reply = await ask(models.chosen("anthropic", "claude-haiku-4-5"), prompt, RecordingSink())
    assert (reply.text, reply.provider) == (GOOD.text, "groq")
    text = {"type": "text", "text": "what is it?"}
    name = {"type": "text", "text": "cat.png:"}
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert anthropic.asked[0]["messages"][0]["content"] == [text, name, {"type": "image", "source": source}]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert openai.asked[0]["messages"][0] == {"role": "user", "content": [text, name, image]}
    told = "what is it?\n[cat.png: pictures that you cannot see; say so if it is about them]"
    assert groq.asked[0]["messages"][0] == {"role": "user", "content": told}


def test_which_models_see_is_their_rows_or_their_companys_to_say() -> None:
    own = OwnModel(model="house-1", address="https://models.example/v1")
    assert [
        PictureSupport(own.model_copy(update={"sees": said})).of("compatible", "house-1")
        for said in (None, False, True)
    ] == [
        False,
        False,
        True,
    ]
    listed = OwnModel(provider="openai", model="gpt-4o", key="k")
    assert PictureSupport(listed).of("openai", "gpt-4o")
    assert not PictureSupport(listed.model_copy(update={"sees": False})).of("openai", "gpt-4o")
    assert PictureSupport(own, unlisted=True).of("compatible", "the-installations")
    assert not PictureSupport(own, unlisted=True).of("compatible", "house-1")
    assert not PictureSupport(unlisted=True).of("groq", "llama-3.3-70b-versatile")
    assert PictureSupport().of("groq", "meta-llama/llama-4-scout-17b")
    assert not PictureSupport().of("compatible", "nobody-knows")


async def test_a_reply_that_has_begun_may_last_until_the_turn_must_end(session: aiohttp.ClientSession) -> None:
    slow = ScriptedReply(text="one two three four", token_ms=250)
    async with scripted_model(default=slow) as server:
        choice = chain(session, {"openai": server}).chosen("openai", "gpt-4.1")
        prompt, heard = replace(PROMPT, time_limit=0.4, total_time_limit=5.0), RecordingSink()
        assert (await ask(choice, prompt, heard)).text == "one two three four" == heard.said
        assert len(server.asked) == 1
        with pytest.raises(ModelError):
            await ask(choice, replace(prompt, total_time_limit=0.6), RecordingSink())
    mute = ScriptedReply(text="one", first_token_ms=2_000)
    async with scripted_model(default=mute) as server:
        choice = chain(session, {"openai": server}).chosen("openai", "gpt-4.1")
        with pytest.raises(ModelError):
            await ask(choice, prompt, RecordingSink())
