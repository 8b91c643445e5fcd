"""One simulation: the processes, the people and what goes wrong, by a plan; and what did not hold at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from agent.testing.company import demo_config
from agent.testing.stage import Stage
from contracts.company_rpc import COMPANY_GET, COMPANY_PATCH, CompanyPatchRequest, CompanyRequest
from contracts.envelope import CloudEvent, Wire
from gateway.app import Gateway
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError, RuntimeLibraryError
from tests.simulation import checks, services
from tests.simulation.bus import Bus, Rates
from tests.simulation.cache import SimulatedRedis
from tests.simulation.determinism import going_by, said_as_error
from tests.simulation.loop import SimulatedLoop, VirtualTimeOverError
from tests.simulation.memory import Memory, Stores
from tests.simulation.model import ORDER, SimulatedModel
from tests.simulation.network import Network
from tests.simulation.people import COMPANY, SocketClient
from tests.simulation.plan import AGENTS, GATEWAYS, LONGEST, MEMORIES, Act, Fault, Plan
from tests.simulation.store import SimulatedMongo, StoreRates

LATE = 5.0
"""Seconds in which what the bus was late with would still come."""
SETTINGS_FOUND = 15.0
"""Virtual seconds in which settings that a restored store had lost have come back from the bus."""
REST = 150.0
"""Seconds after the last fault in which everything must have come to rest."""
CALM_REST = 30.0
"""The same where nothing goes wrong: shorter than the patience of the sweep, which is then not needed."""


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
    loop = SimulatedLoop(network, LONGEST + REST + 100.0)
    bus = Bus(loop, network, random)
    bus.tracing = trace
    asyncio.set_event_loop(loop)
    with going_by(loop, plan.seed):
        world = World(plan, loop, network, bus, random)
        try:
            violations = loop.run_until_complete(world.run())
        except VirtualTimeOverError as error:
            violations = [str(error), *loop.faults, *said_as_error()]
        finally:
            loop.abandon()
            said_as_error()  # of the tasks that `abandon` closed: the next simulation must not report them
            asyncio.set_event_loop(None)
    return Result(plan, violations, bus.trace, loop.time(), world.answers)


@dataclass
class Process:
    """A process that can be killed and started again: `incarnation` names the current run."""

    name: str
    incarnation: str = ""
    context: Context | None = None
    part: Any = None


class World:
    """The processes of one simulation."""

    def __init__(self, plan: Plan, loop: SimulatedLoop, network: Network, bus: Bus, random: Random) -> None:
        self.plan = plan
        self.loop = loop
        self.network = network
        self.bus = bus
        self.random = random
        self.answers = 0
        self._processes: dict[str, Process] = {}
        self._count = 0
        self._people = loop.process("people")
        self._visitors: list[SocketClient] = []
        self._operators: list[SocketClient] = []
        self._background: set[asyncio.Task[Any]] = set()
        self.stores = Stores(
            SimulatedMongo(loop, random, network.latency), SimulatedRedis(loop, random, network.latency), []
        )

    async def run(self) -> list[str]:
        """Runs the plan; returns the violations."""
        stage = await self._in(self.loop.process("stage"), services.stage())
        starts = {f"memory-{n}": self._memory for n in range(MEMORIES)}
        starts |= {f"agent-{n}": self._agent for n in range(AGENTS)}
        starts |= {f"gateway-{n}": self._gateway for n in range(GATEWAYS)}
        for name, start in starts.items():
            self._processes[name] = Process(name)
            await self._start(self._processes[name], start)
        settings = demo_config().model_dump(mode="json", by_alias=True, exclude_unset=True)
        await self._in(self._memories()[0].context or Context(), self._memories()[0].part.companies.create(settings))
        started_at = self.loop.time()
        self._go_wrong(self.plan.rates, self.plan.store)
        conversations = 1 + max((act.conversation for act in self.plan.acts), default=0)
        for number in range(conversations):
            self._visitors.append(self._client(f"visitor-{number}", f"visitor/v{number}"))
            self._operators.append(self._client(f"operator-{number}", f"commercial/op{number}"))
            self._begin(self._visitors[number].connect(), self._people)
            self._begin(self._greet(number), self._people)
        events = [self._begin(self._fault(started_at, fault, starts), Context()) for fault in self.plan.faults]
        events += [self._begin(self._act(started_at, stage, act), self._people) for act in self.plan.acts]
        if events:
            await asyncio.wait(events)
        self._go_wrong(Rates(), StoreRates())
        await self._finally(stage)
        problem = await self._rest(stage)
        await asyncio.sleep(LATE if problem is None else 0.0)
        remembered = [] if problem else await self._remembered()
        return self._violations(stage, problem) + remembered

    def _go_wrong(self, bus: Rates, store: StoreRates) -> None:
        self.bus.rates = replace(bus)
        self.stores.mongo.rates = self.stores.redis.rates = replace(store)

    # ------------------------------------------------------------ processes

    def _begin(self, work: Coroutine[Any, Any, Any], context: Context) -> asyncio.Task[Any]:
        task = self.loop.create_task(work, context=context)
        self._background.add(task)
        return task

    def _in(self, context: Context, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        return self.loop.create_task(work, context=context)

    async def _start(self, process: Process, start: Callable[[Process], Coroutine[Any, Any, Any]]) -> None:
        """Starts a process as a supervisor does: repeats it until the start succeeds."""
        while True:
            self._count += 1
            process.incarnation = f"{process.name}.{self._count}"
            process.context = self.loop.process(process.incarnation)
            starting = self._in(process.context, start(process))
            await asyncio.wait([starting], timeout=30.0)
            if starting.done() and starting.exception() is None:
                return
            error = starting.exception() if starting.done() else None
            self.bus.note(f"{process.incarnation}: {error!r}")
            if error is not None and not isinstance(error, (RuntimeLibraryError, OSError, TimeoutError)):
                self.loop.faults.append(f"{process.incarnation} did not start: {error!r}")
            self._end(process)
            await asyncio.sleep(0.5)

    def _end(self, process: Process) -> None:
        part, process.part = process.part, None
        self.bus.note(f"{process.incarnation}: dead")
        self.network.leave(process.incarnation, flushing=self.random.random() < 0.5)
        self.loop.kill_process(process.incarnation)
        for client in (*self._visitors, *self._operators):
            socket = client.served_by(part) if part is not None else None
            if socket is not None:
                self.loop.call_later(self.network.latency(), socket.lose, context=self._people)

    async def _agent(self, process: Process) -> None:
        model = SimulatedModel(Random(self.random.random()), self.plan.model_fails)
        process.part = await services.agent(process.incarnation, model)

    async def _memory(self, process: Process) -> None:
        process.part = await services.memory(process.incarnation, self.stores)

    async def _gateway(self, process: Process) -> None:
        process.part = await services.gateway(process.incarnation)

    def _door(self) -> tuple[Gateway, Context] | None:
        gateways = [process for process in self._processes.values() if isinstance(process.part, Gateway)]
        if not gateways:
            return None
        chosen = self.random.choice(gateways)
        return chosen.part, chosen.context or Context()

    # ------------------------------------------------------------ people

    def _client(self, name: str, token: str) -> SocketClient:
        return SocketClient(name, token, self.network, self._door, self.random, self._people)

    async def _greet(self, number: int) -> None:
        """Connects the human agent once the conversation has a message."""
        visitor, operator = self._visitors[number], self._operators[number]
        while not visitor.acknowledged:  # noqa: ASYNC110 - time costs nothing
            await asyncio.sleep(0.25)
        operator.conversation = visitor.conversation
        await operator.connect()

    async def _act(self, begun: float, stage: Stage, act: Act) -> None:
        await asyncio.sleep(max(begun + act.at - self.loop.time(), 0.0))
        self.bus.note(f"people: {act.what} {act.conversation}")
        visitor, operator = self._visitors[act.conversation], self._operators[act.conversation]
        match act.what:
            case "say":
                visitor.say(f"message at {act.at:.6f}")
            case "order":
                visitor.say(f"{ORDER} at {act.at:.6f}")
            case "leave":
                visitor.leave()
            case "cancel":
                if visitor.running is not None:
                    visitor.ask("run.cancel", turnId=visitor.running)
            case "take":
                operator.ask("owner.take")
            case "release":
                operator.ask("owner.release")
            case "speak":
                if operator.conversation is not None:
                    operator.say(f"a person at {act.at:.6f}")
            case "note":
                if visitor.conversation is not None:
                    await self._note(stage, visitor.conversation)
            case "copy":
                self._copy(operator)
            case _:
                await self._configure(stage, on=act.what == "on")

    def _copy(self, operator: SocketClient) -> None:
        """Stores the operator's last message a second time, if memory has projected the first: an id is forgotten after
        two minutes, and by then memory has it (decision 0052)."""
        chat = self.bus.streams["CHAT"]
        message = chat.last.get(f"chat.{COMPANY}.{operator.conversation}.message.operator.v1")
        if message is None or any(fault.what == "restore" for fault in self.plan.faults):
            return
        projection = chat.consumers["memory-projection"]
        if message.seq < projection.next_seq and message.seq not in projection.out:
            self.bus.copy(chat, message)

    async def _note(self, stage: Stage, conversation: str) -> None:
        event = CloudEvent(source="/nexus/newer", type="chat.note.added.v1", data=Wire())
        subject = f"chat.{COMPANY}.{conversation}.note.added.v1"
        with suppress(RuntimeLibraryError):
            await self._in(
                self.loop.process("stage"), stage.publisher.append(subject, event, stream="CHAT", msg_id=event.id)
            )

    async def _configure(self, stage: Stage, *, on: bool, anyway: bool = False) -> None:
        """Switches the AI on or off as an admin, repeatedly until it succeeds; `anyway`: even if it already is."""
        process = self.loop.process("stage")
        while not await self._in(process, self._switched(stage, on=on, anyway=anyway)):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.5)

    async def _switched(self, stage: Stage, *, on: bool, anyway: bool) -> bool:
        rpc = RpcClient(stage.nats)
        with suppress(RpcError):
            found = (await rpc.call(COMPANY_GET, CompanyRequest(company_id=COMPANY))).settings
            if found is None or (found.config.ai_auto_response_enabled == on and not anyway):
                return found is not None
            patch = CompanyPatchRequest(company_id=COMPANY, version=found.version, patch={"aiAutoResponseEnabled": on})
            await rpc.call(COMPANY_PATCH, patch)
            return True
        return False

    async def _finally(self, stage: Stage) -> None:
        """Switches the AI on and gives every conversation back to it."""
        await self._configure(stage, on=True)
        if any(fault.what == "restore" for fault in self.plan.faults):
            # Settings that MongoDB lost come back from the bus, including that the AI was switched off. Settings that
            # the bus never got stay in use by the agents until an admin's next change.
            await asyncio.sleep(SETTINGS_FOUND)
            await self._configure(stage, on=True, anyway=True)
        while any(client.waiting for client in (*self._visitors, *self._operators)):  # noqa: ASYNC110 - time costs nothing
            await asyncio.sleep(0.25)
        # Messages sent while the AI was off are answered together with the next message.
        await asyncio.sleep(3.0)
        was_off = any(act.what == "off" for act in self.plan.acts)
        for visitor in self._visitors if was_off else ():
            self._people.run(visitor.say, f"a last message of {visitor.name}")

    # ------------------------------------------------------------ faults

    async def _fault(self, begun: float, fault: Fault, starts: dict[str, Any]) -> None:
        await asyncio.sleep(max(begun + fault.at - self.loop.time(), 0.0))
        process = self._processes[fault.process]
        name = process.incarnation
        self.bus.note(f"fault: {fault.what} {name} {fault.seconds:.3f}")
        match fault.what:
            case "kill":
                if process.part is None:
                    return
                self._end(process)
                await asyncio.sleep(fault.seconds / 2)
                await self._start(process, starts[fault.process])
            case "stop":
                self.loop.stop_process(name)
                await asyncio.sleep(fault.seconds)
                self.loop.continue_process(name)
            case "cut":
                self.network.cut(name)
            case "hold":
                self.network.hold(name, fault.seconds)
            case "clock":
                self.loop.clock_ahead[name] = fault.seconds
            case "mongo":
                await self.stores.mongo.away(fault.seconds)
            case "restore":
                await self.stores.mongo.away(fault.seconds / 2, back=fault.seconds)
            case "redis":
                await self.stores.redis.away(fault.seconds)
            case _:
                await self.bus.away(fault.seconds / 2)

    # ------------------------------------------------------------ the end

    async def _rest(self, stage: Stage) -> str | None:
        """Waits until nothing is left to do; returns what is left when that takes too long."""
        end = self.loop.time() + (CALM_REST if self.plan.calm else REST)
        left = ""
        while self.loop.time() < end:
            left = self._left(stage)
            if not left:
                return None
            await asyncio.sleep(0.5)
        return f"not at rest: {left}"

    def _left(self, stage: Stage) -> str:
        del stage
        for stream, name in (("CHAT", "agent"), ("TOOLS", "tool-executor"), ("CHAT", "memory-projection")):
            held = self.bus.streams[stream]
            consumer = held.consumers.get(name)
            if consumer is None:
                # A memory that starts with a MongoDB that has lost its name reads the log from the beginning.
                return f"{name} is being made"
            if consumer.out or consumer.pending(held):
                return f"{name} has {len(consumer.out)} out and {consumer.pending(held)} pending"
        for memory in self._memories():
            if behind := memory.part.positions.behind:
                return f"{memory.incarnation} is behind: {behind}"
        chat = self.bus.streams["CHAT"]
        if any(visitor.waiting for visitor in self._visitors):
            return "a message is not acknowledged"
        for operator in self._operators:
            if operator.conversation is not None and operator.owner_in(chat) != "ai":
                self._people.run(operator.ask, "owner.release")
                return f"{operator.name} has not given back"
        for client in (*self._visitors, *self._operators):
            if client.conversation is not None and (late := client.behind(chat)):
                return f"{client.name} has not been told {late}"
        return ""

    def _memories(self) -> list[Process]:
        return [process for process in self._processes.values() if isinstance(process.part, Memory)]

    async def _remembered(self) -> list[str]:
        """Returns where the conversations of any replica of memory differ from the log."""
        chat = self.bus.streams["CHAT"]
        named = [visitor.conversation for visitor in self._visitors if visitor.conversation]
        expected = [recount for name in named if (recount := checks.recounted(chat, name)).facts]
        wrong = checks.of_histories(self.stores.told, expected)
        for memory in self._memories():
            for conversation in expected:
                check = self._in(memory.context or Context(), checks.of_memory(memory.part, conversation))
                await asyncio.wait([check], timeout=30.0)
                differences = check.result() if check.done() else ["does not answer"]
                wrong += [f"{memory.incarnation}: {difference}" for difference in differences]
        return wrong

    def _violations(self, stage: Stage, problem: str | None) -> list[str]:
        chat = self.bus.streams["CHAT"]
        self.answers = sum(1 for stored in chat.log if stored.subject.endswith("message.assistant.v1"))
        found = [problem] if problem else []
        found += checks.of_log(chat, beside_human=False)
        found += checks.of_journals(self.bus.streams["TURNS"])
        found += checks.of_effects(stage.executor.effects, chat)
        for client in (*self._visitors, *self._operators):
            if client.conversation is not None:
                found += checks.of_client(client, chat)
        found += self.loop.faults
        found += said_as_error()
        for task in self._background:
            if task.done() and not task.cancelled() and task.exception() is not None:
                found.append(f"the simulation itself: {task.exception()!r}")
        return found


__all__ = ["Result", "World", "simulate"]
