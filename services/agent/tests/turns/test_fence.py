"""A human who takes over while the model is thinking is never spoken over, at whatever moment it happens."""

import asyncio
import random
from collections import defaultdict

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import Stage, agent, stage
from contracts import channels
from contracts.channels import ChatKind
from runtime.bus.direct import DirectReader
from runtime.conversation import facts_of
from runtime.testing.servers import NatsServer

CONVERSATIONS = 1000
AT_ONCE = 25
THINKING = 0.02
"""Seconds that the model thinks."""
MOMENTS = ("", "run.started", "message.delta", "run.finished")
"""After what people take over, a few milliseconds more or less; the second last is next to the fence."""


async def test_a_human_who_takes_over_is_never_spoken_over_in_1000_interleavings(nats_server: NatsServer) -> None:
    reply = ScriptedReply(text="I am the assistant.", first_token_ms=THINKING * 1000)
    dice = random.Random(20)
    gate = asyncio.Semaphore(AT_ONCE)
    async with (
        stage(nats_server.url) as scene,
        scripted_model(default=reply) as model,
        agent(nats_server.url, model.base_url),
        agent(nats_server.url, model.base_url),
    ):

        async def interleave(number: int) -> None:
            async with gate:
                conversation, moment = f"c{number}", MOMENTS[number % len(MOMENTS)]
                await scene.visitor(conversation, "hello")
                if moment:
                    await _come_to(scene, conversation, moment)
                # The moment itself is what is under test: there is no event to wait for.
                await asyncio.sleep(dice.uniform(0, THINKING / 2))
                await scene.take(conversation)
                await scene.operator(conversation, "A person here.")

        await asyncio.gather(*(interleave(number) for number in range(CONVERSATIONS)))
        await scene.idle()
        kinds = await _kinds(scene)
        outcomes = [_judge(f"c{number}", kinds[f"c{number}"]) for number in range(CONVERSATIONS)]
        before, after = outcomes.count("answered first"), outcomes.count("taken first")
        assert before + after == CONVERSATIONS
        # Both happen, or the moments miss what they are meant to hit.
        assert before > 20
        assert after > 20
        # Whoever saw a run start has seen it end.
        last: dict[str, str] = {}
        for subject, _ in scene.live:
            _, _, _, conversation, kind = subject.split(".", 4)
            last[conversation] = kind
        assert set(last.values()) <= {"run.finished.v1", "run.cancelled.v1"}


async def _come_to(scene: Stage, conversation: str, moment: str) -> None:
    """Waits for the moment. Text that is held back while a run's lease is in doubt is told by its answer alone: then
    the moment is the run's end."""
    signs = {moment, "run.finished"}
    waits = [asyncio.create_task(scene.heard(conversation, sign).wait()) for sign in signs]
    done, others = await asyncio.wait(waits, timeout=60.0, return_when=asyncio.FIRST_COMPLETED)
    for other in others:
        other.cancel()
    assert done, f"{conversation}: nothing is told of {moment}"


async def _kinds(scene: Stage) -> dict[str, list[ChatKind]]:
    """The kinds of each conversation's facts in order, from one reading of the whole log."""
    kinds: dict[str, list[ChatKind]] = defaultdict(list)
    async for stored in DirectReader(scene.nats, "CHAT").all("chat.>"):
        address = channels.parse_chat(stored.subject)
        assert address is not None
        kinds[address.conversation] += [fact.kind for fact in facts_of([stored])]
    return kinds


def _judge(conversation: str, kinds: list[ChatKind]) -> str:
    human = [ChatKind.OWNER, ChatKind.OPERATOR]
    if kinds == [ChatKind.VISITOR, ChatKind.ASSISTANT, *human]:
        return "answered first"
    assert kinds == [ChatKind.VISITOR, *human], f"{conversation}: {kinds}"
    return "taken first"


async def test_a_conversation_that_is_given_back_is_answered_after_all(nats_server: NatsServer) -> None:
    reply = ScriptedReply(text="Back again.", first_token_ms=100)
    async with scripted_stage(nats_server.url, default=reply) as (scene, model):
        await scene.take("c1")
        await scene.visitor("c1", "hello?")
        await scene.idle()
        assert await scene.answers("c1") == []
        assert model.asked == []
        await scene.release("c1")
        (answer,) = await scene.answered("c1")
        assert answer["text"] == "Back again."


async def test_what_a_human_has_answered_is_not_answered_again_when_given_back(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, _model):
        await scene.take("c1")
        await scene.visitor("c1", "hello?")
        await scene.operator("c1", "Hello, a person here.")
        await scene.release("c1")
        await scene.idle()
        assert await scene.answers("c1") == []


async def test_the_assistant_answers_beside_a_human_when_the_company_wants_it(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, _model):
        await scene.configure(ai_respond_with_commercial=True)
        await scene.take("c1")
        await scene.visitor("c1", "hello?")
        assert len(await scene.answered("c1")) == 1
