"""Several deliveries of one conversation at work at once: the newest turn has one driver, and every run one end."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from agent.domain.turn.journal import Journal
from agent.ports import ConversationKey, Drivers, Journals
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.testing.company import COMPANY
from agent.testing.dying import Death
from agent.testing.stage import Stage, agent, stage
from agent.turns.deps import Ports
from contracts.events.tool import ToolCallRequested, ToolMetadata, ToolResult
from contracts.ids import turn_id
from runtime.testing.servers import NatsServer, eventually

SLOW = Rule(replies=[ScriptedReply(tool_calls=[ScriptedCall(name="slow")])])


class Probes:
    """What came of the question whether somebody drives a turn."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bool]] = []

    def around(self, ports: Ports) -> Ports:
        return replace(ports, drivers=_Drivers(self, ports.drivers))


class _Drivers:
    def __init__(self, probes: Probes, drivers: Drivers) -> None:
        self._probes, self._drivers = probes, drivers

    async def drives(self, key: ConversationKey, turn_id: str) -> bool:
        driven = await self._drivers.drives(key, turn_id)
        self._probes.asked.append((turn_id, driven))
        return driven


class SlowJournals:
    """What is saved is in the stream at once, and known to be when the test says so."""

    def __init__(self, journals: Journals) -> None:
        self._journals = journals
        self.stored, self.told = asyncio.Event(), asyncio.Event()

    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        return await self._journals.read(key)

    async def save(self, key: ConversationKey, journal: Journal, revision: int) -> int | None:
        saved = await self._journals.save(key, journal, revision)
        self.stored.set()
        await self.told.wait()
        return saved


def offer_slow(scene: Stage) -> asyncio.Event:
    """A tool that ends when the event is set."""
    gate = asyncio.Event()

    async def slow(request: ToolCallRequested) -> ToolResult:
        await gate.wait()
        return ToolResult(success=True, data={}, metadata=ToolMetadata(execution_time=1.0))

    scene.executor.tools["slow"] = slow
    return gate


def signs(scene: Stage, *kinds: str) -> list[tuple[str, str]]:
    """The live signs of these kinds: kind and turn."""
    told = [(subject.split(".", 4)[4].removesuffix(".v1"), data) for subject, data in scene.live]
    return [(kind, data["turnId"]) for kind, data in told if kind in kinds]


async def test_a_turn_that_nobody_may_supersede_is_left_to_its_driver_while_earlier_ones_wait_for_their_tools(
    nats_server: NatsServer,
) -> None:
    probes = Probes()
    async with (
        stage(nats_server.url) as scene,
        scripted_model(SLOW) as model,
        agent(nats_server.url, model.base_url, wrap=probes.around),
    ):
        gate = offer_slow(scene)
        turns: list[str] = []
        for number in range(1, 4):
            turns.append(turn_id(COMPANY, "c1", await scene.visitor("c1", f"message {number}")))
            await eventually(lambda wanted=number: len(scene.executor.requests) == wanted)
        # Superseded twice, the third turn is forced; the drives of the first two still wait for the tool.
        fourth = turn_id(COMPANY, "c1", await scene.visitor("c1", "message 4"))
        await eventually(lambda: probes.asked)
        gate.set()
        await scene.answered("c1", 2)
        await scene.idle()
        assert {driven for turn, driven in probes.asked if turn == turns[2]} == {True}
        # Each one ends before the next begins, once, and the driver that was overtaken adds nothing.
        first, second, third = turns
        assert signs(scene, "run.started", "run.cancelled", "run.finished") == [
            ("run.started", first),
            ("run.cancelled", first),
            ("run.started", second),
            ("run.cancelled", second),
            ("run.started", third),
            ("run.finished", third),
            ("run.started", fourth),
            ("run.finished", fourth),
        ]


async def test_a_turn_is_driven_from_the_moment_at_which_its_journal_can_be_found(nats_server: NatsServer) -> None:
    probes, slow = Probes(), list[SlowJournals]()

    def wrap(ports: Ports) -> Ports:
        slow.append(SlowJournals(ports.journals))
        return probes.around(replace(ports, journals=slow[0]))

    async with (
        stage(nats_server.url) as scene,
        scripted_model() as model,
        agent(nats_server.url, model.base_url, wrap=wrap),
    ):
        await scene.visitor("c1", "hello")
        await slow[0].stored.wait()
        # The owner's change is a second trigger of the same turn.
        await scene.release("c1")
        await eventually(lambda: probes.asked)
        assert probes.asked[0][1]
        slow[0].told.set()
        await scene.answered("c1")
        await scene.idle()
        assert len(model.asked) == 1


@pytest.mark.parametrize("given_back", [False, True], ids=["and keeps it", "and has answered"])
async def test_a_run_whose_driver_died_is_ended_when_a_person_has_taken_over(
    nats_server: NatsServer, given_back: bool
) -> None:
    death = Death(3, after=False)
    async with stage(nats_server.url) as scene, scripted_model(SLOW) as model:
        offer_slow(scene)
        async with agent(nats_server.url, model.base_url, wrap=death.around, ack_wait_seconds=0.5):
            turn = turn_id(COMPANY, "c1", await scene.visitor("c1", "hello"))
            await eventually(death.dead.is_set)
        await scene.take("c1")
        if given_back:
            await scene.operator("c1", "I am here.")
            await scene.release("c1")
        async with agent(nats_server.url, model.base_url, ack_wait_seconds=0.5):
            await scene.idle()
        cancelled: dict[str, Any] = {"turnId": turn, "reason": "taken_over"}
        assert scene.told("run.cancelled") == [cancelled]


async def test_a_run_whose_driver_died_is_ended_by_the_next_message(nats_server: NatsServer) -> None:
    death = Death(3, after=False)
    async with stage(nats_server.url) as scene, scripted_model(SLOW) as model:
        scene.executor.offer("slow", {})
        async with agent(nats_server.url, model.base_url, wrap=death.around, ack_wait_seconds=0.5):
            first = turn_id(COMPANY, "c1", await scene.visitor("c1", "hello"))
            await eventually(death.dead.is_set)
        second = turn_id(COMPANY, "c1", await scene.visitor("c1", "hello?"))
        async with agent(nats_server.url, model.base_url, ack_wait_seconds=0.5):
            await scene.answered("c1")
            await scene.idle()
        assert signs(scene, "run.started", "run.cancelled", "run.finished") == [
            ("run.started", first),
            ("run.cancelled", first),
            ("run.started", second),
            ("run.finished", second),
        ]
