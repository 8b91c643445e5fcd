"""Companies' own models over real HTTP: asked first and for their company alone, whatever their servers do."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import web
from pydantic import SecretStr

from agent.adapters.model_router import ModelRouter, configured_router
from agent.adapters.own_models import OwnModels
from agent.errors import ModelDownError, ModelError, ModelRefusedError
from agent.llm.fallback import ask
from agent.ports import ModelChoice, Models
from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.settings import ModelSettings
from agent.testing.endpoint import HI
from agent.testing.heard import RecordingSink
from agent.testing.stage import agent, stage
from contracts.company import CompanyConfig, faults
from runtime.auth.seal import Seal
from runtime.bus.direct import DirectReader
from runtime.settings import SealSettings
from runtime.testing.servers import NatsServer, eventually

SEAL = Seal(SealSettings(secrets_key=SecretStr("k" * 40)))
PROMPT = replace(HI, tools=(), tool_choice="none", model="", time_limit=3.0)


def company(address: str | None, key: str | None = "s3cret", **more: Any) -> CompanyConfig:
    own = {"address": address, "model": "house-1", "key": key and SEAL.close(key, "acme"), **more}
    return CompanyConfig.model_validate({"companyId": "acme", "ownModel": own})


@contextlib.asynccontextmanager
async def models(
    others: ScriptedModel | None = None, *, forced: str | None = None, loopback: bool = True
) -> AsyncGenerator[ModelRouter]:
    """The installation's, with or without a provider, and companies' own."""
    fields: dict[str, Any] = {
        "base_url": forced,
        "model": "house",
        "provider_keys": {},
        "time_limits": "groq=1,compatible=1",
    }
    if others is not None:
        fields |= {"provider_keys": {"groq": "theirs"}, "provider_addresses": {"groq": others.base_url}}
    settings = ModelSettings.model_validate(fields)
    async with aiohttp.ClientSession() as session:
        made = configured_router(settings, session)
        own = OwnModels(made, settings, session, SEAL, loopback=loopback)
        made.own = own.for_company
        try:
            yield made
        finally:
            await own.close()


def chosen(models: Models, config: CompanyConfig) -> ModelChoice:
    return models.for_company(config).chosen(config.preferred_provider, config.preferred_model)


Page = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextlib.asynccontextmanager
async def serving(page: Page) -> AsyncGenerator[str]:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", page)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def test_the_companys_key_opens_its_own_server_and_nobody_elses_company_is_served() -> None:
    asked: list[tuple[str | None, Any]] = []

    async def page(request: web.Request) -> web.StreamResponse:
        asked.append((request.headers.get("Authorization"), orjson.loads(await request.read())))
        message = {"role": "assistant", "content": "from the house"}
        body = {"model": "house-1", "choices": [{"message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 7, "completion_tokens": 3}}  # fmt: skip
        return web.json_response(body)

    async with (
        scripted_model(default=ScriptedReply(text="from all")) as all_,
        serving(page) as address,
        models(all_) as found,
    ):
        config = company(address)
        reply = await ask(chosen(found, config), PROMPT, RecordingSink())
        assert (reply.text, reply.provider, reply.model) == ("from the house", "compatible", "house-1")
        assert asked[0][0] == "Bearer s3cret"
        assert asked[0][1]["model"] == "house-1"
        other = await ask(chosen(found, CompanyConfig(company_id="other")), PROMPT, RecordingSink())
        assert (other.text, len(asked)) == ("from all", 1)
        # One company's sealed key is nothing in another's settings.
        stolen = config.model_copy(update={"company_id": "other"})
        assert (await ask(chosen(found, stolen), PROMPT, RecordingSink())).text == "from all"
        assert found.for_company(config).named("groq", "x") == (("compatible", "house-1"),)
    # The operator's own server wins.
    async with (
        scripted_model(default=ScriptedReply(text="operator's")) as forced,
        models(forced=forced.base_url) as found,
    ):
        assert (await ask(chosen(found, company(forced.base_url)), PROMPT, RecordingSink())).text == "operator's"
        assert forced.asked[0]["model"] == "house"


async def test_a_server_that_is_hostile_slow_or_closed_is_a_clear_error_and_the_next_one_answers() -> None:
    async def hang(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async def flood(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        await answer.prepare(request)
        with contextlib.suppress(ConnectionError):
            while True:
                await answer.write(b" " * 65_536)
        return answer

    async def call_without_end(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "x" * 8192}}
        line = b"data: " + orjson.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}) + b"\n\n"
        with contextlib.suppress(ConnectionError):
            while True:
                await answer.write(line)
        return answer

    async def no_entry(_: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"message": "bad key"}}, status=401)

    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<p>hello</p>", content_type="text/html")

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        if request.query:
            return web.json_response({"choices": [{"message": {"content": "told"}, "finish_reason": "stop"}]})
        raise web.HTTPTemporaryRedirect(f"{request.path}?with=the-prompt")

    for answer in (hang, flood, call_without_end, no_entry, page, elsewhere):
        async with scripted_model(default=ScriptedReply(text="from all")) as all_, serving(answer) as address:
            async with models(all_) as found:
                async with asyncio.timeout(15):
                    reply = await ask(chosen(found, company(address)), PROMPT, RecordingSink())
                assert reply.text == "from all", answer.__name__
            async with models() as alone:
                with pytest.raises(ModelError):
                    await ask(chosen(alone, company(address)), PROMPT, RecordingSink())


async def test_off_one_machine_no_companys_model_is_on_it_and_a_lost_key_says_so() -> None:
    async with scripted_model(default=ScriptedReply(text="here")) as server:
        async with models(loopback=False) as found:
            with pytest.raises(ModelRefusedError, match="not public"):
                await ask(chosen(found, company(server.base_url)), PROMPT, RecordingSink())
            assert server.asked == []
        async with models() as found:
            lost = company(server.base_url, key=None).model_copy()
            assert lost.own_model is not None
            key = Seal(SealSettings(secrets_key=SecretStr("other" * 8))).close("x", "acme")
            lost = lost.model_copy(update={"own_model": lost.own_model.model_copy(update={"key": key})})
            with pytest.raises(ModelRefusedError, match="give it again"):
                await ask(chosen(found, lost), PROMPT, RecordingSink())
            nobody = company("http://127.0.0.1:1/v1")
            with pytest.raises(ModelDownError):
                await ask(chosen(found, nobody), PROMPT, RecordingSink())


@pytest.mark.parametrize(("price", "cost"), [({"prompt": 2, "completion": 10}, 0.00013), (None, None)])
async def test_a_turn_is_answered_by_the_companys_model_at_its_price(
    nats_server: NatsServer, price: dict[str, float] | None, cost: float | None
) -> None:
    async with scripted_model(default=ScriptedReply(text="We open at nine.", prompt_tokens=45)) as server:
        own = {"address": server.base_url, "model": "house-1", "key": SEAL.close("s3cret", "demo")}
        config = CompanyConfig.model_validate(
            {"companyId": "demo", "aiAutoResponseEnabled": True, "responseDelayMs": 0,
             "ownModel": own | ({"price": price} if price else {})}
        )  # fmt: skip
        async with stage(nats_server.url, config) as scene, agent(nats_server.url, seal=SEAL):
            await scene.visitor("c1", "When do you open?")
            (answer,) = await scene.answered("c1")
            assert (answer["text"], answer["model"]) == ("We open at nine.", "house-1")

            async def told() -> Any:
                facts = (await DirectReader(scene.nats, "FACTS").batch("usage.recorded.v1.>", 1, 10)).facts
                return [orjson.loads(fact.event)["data"] for fact in facts]

            (usage,) = await eventually(told)
            assert (usage["provider"], usage["model"], usage.get("cost")) == ("compatible", "house-1", cost)


@pytest.mark.parametrize(
    ("own", "says"),
    [
        ({"model": "m"}, "address"),
        ({"model": "m", "provider": "openai"}, "needs a key"),
        ({"model": "m", "provider": "nobody"}, "use one of"),
        ({"model": "m", "address": "http://models.example/v1"}, "https"),
        ({"model": "m", "address": "https://u:p@models.example/v1"}, "password"),
        ({"model": "m", "address": "https://m.example/v1", "key": "a b"}, "blanks"),
        ({"model": "m", "address": "https://m.example/v1", "price": {"prompt": -1, "completion": 1}}, "0"),
    ],
)
def test_what_no_model_can_be_is_refused_in_words(own: dict[str, Any], says: str) -> None:
    found = faults({"companyId": "acme", "ownModel": own})
    assert says in "; ".join(f"{one.field}: {one.message}" for one in found), found
