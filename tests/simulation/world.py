"""One simulation: processes, people, faults by the seed, and what must hold when everything has come to rest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from nats.aio.client import Client
from pydantic import SecretStr

from agent.app import Agent, Connections
from agent.settings import AgentSettings, ModelSettings
from agent.testing.stage import COMPANY, Stage, demo_config, verify
from agent.turns.needs import Ports
from contracts import channels
from contracts.channels import ChatKind
from contracts.company import CompanyConfig
from contracts.envelope import CloudEvent
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, OperatorMessage, RunCancelled, CancelReason, VisitorMessage
from contracts.ids import uuid7
from runtime.connection import connect
from runtime.errors import FenceRefused, PublishFailed, ReadFailed
from runtime.settings import NatsSettings
from tests.simulation.bus import PORT, Bus, Rates
from tests.simulation.determinism import going_by
from tests.simulation.loop import SimulatedLoop
from tests.simulation.model import ORDER, SimulatedModel, SimulatedModels
from tests.simulation.network import Network

URL = f"nats://bus:{PORT}"


@dataclass(frozen=True)
class Plan:
    """What happens in one simulation; the seed makes it, and shrinking takes parts of it away."""

    seed: int
    agents: int = 1
    acts: tuple[tuple[float, str, int], ...] = ((0.1, "say", 0),)
    """When who does what in which conversation."""
    faults: tuple[tuple[float, str, str, float], ...] = ()
    """When what happens to which process, for how long."""
    rates: Rates = field(default_factory=Rates)
    model_fails: float = 0.0
    delay: float = 0.002


@dataclass
class Result:
    """What a simulation showed."""

    plan: Plan
    violations: list[str]
    trace: list[str]
    seconds: float
    answers: int


def simulate(plan: Plan, *, trace: bool = False) -> Result:
    """Runs one plan to its end."""
    random = Random(plan.seed)
    network = Network(random, plan.delay)
    loop = SimulatedLoop(network, 600.0)
    bus = Bus(loop, network, random)
    bus.tracing = trace
    asyncio.set_event_loop(loop)
    with going_by(loop, plan.seed):
        world = World(plan, loop, network, bus, random)
        try:
            violations = loop.run_until_complete(world.run())
        finally:
            loop.abandon()
            asyncio.set_event_loop(None)
    return Result(plan, violations, bus.trace, loop.time(), world.answered)


class World:
    """The processes of one simulation."""

    def __init__(self, plan: Plan, loop: SimulatedLoop, network: Network, bus: Bus, random: Random) -> None:
        self.plan = plan
        self.loop = loop
        self.network = network
        self.bus = bus
        self.random = random
        self.accepted: list[tuple[str, str, int]] = []
        """Conversation, text and sequence of each message that the log has confirmed."""
        self.answered = 0
        self._agents: dict[str, Agent] = {}
        self._starting: list[asyncio.Task[None]] = []

    async def run(self) -> list[str]:
        """Everything; what does not hold."""
        stage = await self._in("stage", self._stage())
        for number in range(self.plan.agents):
            await self._in(f"agent-{number}", self._agent(f"agent-{number}"))
        people = await self._in("people", connect(NatsSettings(url=URL), name="people"))
        self.bus.rates = self.plan.rates
        acting = [
            self.loop.create_task(self._act(stage, at, act, number), context=self.loop.process("people"))
            for at, act, number in self.plan.acts
        ]
        await asyncio.wait(acting)
        self.bus.rates = Rates()
        del people
        await self._settled()
        return self._violations(stage)

    def _in(self, process: str, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        return self.loop.create_task(work, context=self.loop.process(process))

    async def _stage(self) -> Stage:
        client = await connect(NatsSettings(url=URL), name="stage")
        stage = Stage(client, demo_config())
        stage.executor.offer("place", {"done": True})
        await stage.start()
        return stage

    async def _agent(self, name: str) -> None:
        client = await connect(NatsSettings(url=URL), name=name)
        model = SimulatedModels(SimulatedModel(Random(self.random.random()), self.plan.model_fails))

        def simulated(ports: Ports) -> Ports:
            return replace(ports, models=model)

        agent = Agent(Connections(client, verify, ModelSettings(_env_file=None)), AgentSettings(ack_wait_seconds=5.0), simulated)
        await agent.start()
        self._agents[name] = agent

    async def _act(self, stage: Stage, at: float, act: str, number: int) -> None:
        await asyncio.sleep(at)
        conversation = f"c{number}"
        text = f"message at {at}"
        seq = await stage.visitor(conversation, text)
        self.accepted.append((conversation, text, seq))

    async def _settled(self) -> None:
        stream = self.bus.streams["CHAT"]
        consumer = stream.consumers["agent"]
        while consumer.out or consumer.pending(stream):
            await asyncio.sleep(0.25)

    def _violations(self, stage: Stage) -> list[str]:
        log = self.bus.streams["CHAT"].log
        self.answered = sum(1 for one in log if one.subject.endswith("message.assistant.v1"))
        return [] if self.answered else ["no answer"]
