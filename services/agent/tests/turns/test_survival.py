"""A turn survives its agent: killed at every step, it is answered once, with one effect and no second model bill."""

from dataclasses import replace

import pytest

from agent.domain.turn.effects import Ack, Trigger
from agent.ports import ConversationKey
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.testing.company import COMPANY
from agent.testing.dying import Death, Standstill
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import agent, stage
from agent.turns.deps import Ports
from contracts.channels import TURN_TRIGGERS, ChatKind
from runtime.bus.connection import jetstream
from runtime.bus.consumers import ConsumerSpec, ensure_consumer
from runtime.testing.servers import NatsServer, eventually

ORDER = Rule(
    replies=[
        ScriptedReply(tool_calls=[ScriptedCall(name="order", arguments={"quantity": 1})]),
        ScriptedReply(text="Done."),
        ScriptedReply(text="Done."),
    ]
)
STEPS = ["look", "save", "save", "tool", "save", "save", "append"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(len(STEPS)), ids=[f"{i}-{name}" for i, name in enumerate(STEPS)])
async def test_a_killed_turn_goes_on_from_its_last_step(nats_server: NatsServer, at: int, after: bool) -> None:
    death = Death(at, after)
    async with stage(nats_server.url) as scene, scripted_model(ORDER) as model:
        scene.executor.offer("order", {"state": "placed"})
        async with agent(nats_server.url, model.base_url, wrap=death.around):
            await scene.visitor("c1", "buy one")
            await eventually(death.dead.is_set)
        assert death.steps == STEPS[: at + 1]
        async with agent(nats_server.url, model.base_url, ack_wait_seconds=0.5):
            await scene.answered("c1")
            await scene.idle()
        (answer,) = await scene.answers("c1")
        assert answer["text"] == "Done."
        # Only a reply that was not journalled yet is paid for again.
        asked_for_nothing, answered_for_nothing = (at, after) == (2, False), (at, after) == (5, False)
        assert len(model.asked) == (3 if answered_for_nothing else 2)
        assert len(scene.executor.effects) == (0 if asked_for_nothing else 1)


class Nobody:
    """A lease that lies: whoever asks hears that nobody drives."""

    async def drives(self, key: ConversationKey, turn_id: str) -> bool:
        return False


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(len(STEPS)), ids=[f"{i}-{name}" for i, name in enumerate(STEPS)])
async def test_a_driver_that_stood_still_at_any_step_while_another_answered_adds_nothing(
    nats_server: NatsServer, at: int, after: bool
) -> None:
    def lying(ports: Ports) -> Ports:
        return replace(ports, drivers=Nobody())

    still = Standstill(at, after)
    async with (
        stage(nats_server.url) as scene,
        scripted_model(ORDER) as model,
        agent(nats_server.url, model.base_url, wrap=still.around),
    ):
        scene.executor.offer("order", {"state": "placed"})
        seq = await scene.visitor("c1", "buy one")
        await eventually(still.dead.is_set)
        assert still.steps == STEPS[: at + 1]
        async with agent(nats_server.url, model.base_url, wrap=lying) as other:
            end = await other.engine.handle(ConversationKey(COMPANY, "c1"), Trigger(seq, visitor=True), 0.0)
            assert isinstance(end, Ack)
            still.thawed.set()
            await scene.idle()
        assert len(await scene.answers("c1")) == 1
        assert len({call_id for call_id, _ in scene.executor.effects}) == len(scene.executor.effects) <= 1
        # The order is asked for twice by a model whose first reply was not journalled; nothing else is paid twice.
        assert len(model.asked) <= 3


async def test_two_agents_never_drive_one_turn(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(text="One answer.", first_token_ms=150)], again=True)
    async with (
        stage(nats_server.url) as scene,
        scripted_model(rule) as model,
        agent(nats_server.url, model.base_url),
        agent(nats_server.url, model.base_url),
    ):
        conversations = [f"c{number}" for number in range(20)]
        for conversation in conversations:
            await scene.visitor(conversation, "hello")
            # The owner's change is a second trigger of the same turn, for whichever agent gets it.
            await scene.release(conversation)
        for conversation in conversations:
            await scene.answered(conversation)
        await scene.idle()
        for conversation in conversations:
            assert len(await scene.answers(conversation)) == 1


async def test_an_agent_that_drains_finishes_its_turn(nats_server: NatsServer) -> None:
    reply = ScriptedReply(text="Finished in time.", first_token_ms=300)
    async with stage(nats_server.url) as scene, scripted_model(default=reply) as model:
        async with agent(nats_server.url, model.base_url) as leaving:
            await scene.visitor("c1", "hello")
            await eventually(lambda: leaving.engine.count == 1)
        (answer,) = await scene.answers("c1")
        assert answer["text"] == "Finished in time."


async def test_an_agent_that_cannot_finish_gives_its_turn_to_another(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(hang=True), ScriptedReply(text="From the other.")])
    async with stage(nats_server.url) as scene, scripted_model(rule) as model:
        async with agent(nats_server.url, model.base_url):
            await scene.visitor("c1", "hello")
            await eventually(lambda: len(model.asked) == 1)
        async with agent(nats_server.url, model.base_url):
            (answer,) = await scene.answered("c1")
        assert answer["text"] == "From the other."


async def test_a_successor_inherits_the_calls_of_a_turn_that_was_superseded(nats_server: NatsServer) -> None:
    rules = (
        Rule(
            match="buy one",
            replies=[
                ScriptedReply(tool_calls=[ScriptedCall(name="order", arguments={"q": 1})]),
                ScriptedReply(text="x", hang=True),
            ],
        ),
        Rule(match="please", replies=[ScriptedReply(text="It is placed.")]),
    )
    async with scripted_stage(nats_server.url, *rules) as (scene, model):
        scene.executor.offer("order", {"state": "placed"})
        await scene.visitor("c1", "buy one")
        await eventually(lambda: len(model.asked) == 2)
        await scene.visitor("c1", "please")
        (answer,) = await scene.answered("c1")
        assert answer["text"] == "It is placed."
        asked = model.asked[-1]["messages"]
        assert [m["role"] for m in asked if m["role"] == "tool"] == ["tool"]
        assert len(scene.executor.effects) == 1
        assert scene.told("run.cancelled")[0]["reason"] == "superseded"


async def test_the_sweep_looks_back_from_where_the_consumer_was_and_not_from_the_end_of_a_busy_log(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.app.SWEPT_SEQUENCES", 10)
    monkeypatch.setattr("agent.app.FACTS_PER_READ", 3)
    async with stage(nats_server.url) as scene, scripted_model(default=ScriptedReply(text="Better late.")) as model:
        await scene.visitor("c1", "is anybody there?")
        spec = ConsumerSpec(stream="CHAT", durable="agent", subjects=TURN_TRIGGERS)
        await ensure_consumer(scene.nats, spec)
        thief = await jetstream(scene.nats).pull_subscribe_bind("agent", stream="CHAT")
        (message,) = await thief.fetch(1)
        await message.ack_sync()
        # No agent for a long while: more comes than the sweep ever looks back from the end.
        for number in range(30):
            await scene.operator(f"o{number}", "hello")
        async with agent(nats_server.url, model.base_url, sweep_seconds=0.1, sweep_after_seconds=40.0):
            (answer,) = await scene.answered("c1")
        assert answer["text"] == "Better late."


async def test_a_lost_consumer_is_made_up_for_by_the_sweep(nats_server: NatsServer) -> None:
    reply = ScriptedReply(text="Better late.")
    async with stage(nats_server.url) as scene, scripted_model(default=reply) as model:
        await scene.visitor("c1", "is anybody there?")
        # Acknowledged by somebody who did not answer: only the sweep can find it now.
        spec = ConsumerSpec(stream="CHAT", durable="agent", subjects=TURN_TRIGGERS)
        await ensure_consumer(scene.nats, spec)
        thief = await jetstream(scene.nats).pull_subscribe_bind("agent", stream="CHAT")
        (message,) = await thief.fetch(1)
        await message.ack_sync()
        async with agent(nats_server.url, model.base_url, sweep_seconds=0.1, sweep_after_seconds=0.2):
            (answer,) = await scene.answered("c1")
        assert answer["text"] == "Better late."
        kinds = [kind for kind, _, _ in await scene.facts("c1")]
        assert kinds == [ChatKind.VISITOR, ChatKind.ASSISTANT]
