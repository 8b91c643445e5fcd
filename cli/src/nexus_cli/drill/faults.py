"""The faults of a drill: chosen by a seed, done to a process, and undone."""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import product
from random import Random
from typing import Any, Protocol

from nexus_cli.drill.network import PROCESSES, SERVERS
from nexus_cli.stack.datadir import StackProcess
from runtime.faulty_proxy import Proxy

READY_WITHIN = 180.0
"""Seconds until a process is ready again; far above what is promised, for a machine that others use too."""


class Breakable(Protocol):
    """A stack whose processes and connections can be damaged."""

    def process(self, name: str) -> StackProcess: ...

    def network_of(self, name: str) -> Sequence[Proxy]: ...

    async def ready_again(self, names: Sequence[str], deadline: float) -> None:
        """Waits until these processes run and are ready. Raises TimeoutError."""
        ...


class Kind(StrEnum):
    """The kinds of fault that can happen to a process."""

    KILL = "kill"
    """kill -9."""
    PAUSE = "pause"
    """SIGSTOP, then SIGCONT."""
    STALL = "stall"
    """The process's network is slow, or its requests are not answered."""
    CUT = "cut"
    """All its connections are cut; new ones may be refused for a while."""
    RESTART = "restart"
    """SIGTERM, as in an upgrade: it drains, and another one takes its place."""
    STEP_DOWN = "step-down"
    """The leader of a stream or of JetStream hands over to another server of the cluster."""
    SCALE = "scale"
    """More replicas of each service are started, and stopped again."""


Pair = tuple[Kind, str]
"""A kind of fault, and the process or leader that it affects."""
MATRIX: tuple[Pair, ...] = tuple(product((Kind.KILL, Kind.PAUSE, Kind.STALL, Kind.CUT), PROCESSES))
"""The faults of a stack whose processes and connections can all be damaged."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault, the `step`-th of its campaign. `after`: seconds of rest before it. `slow`: seconds by which a stalled
    network delays each piece of data; 0: replies of servers do not arrive at all."""

    step: int
    kind: Kind
    process: str
    seconds: float
    after: float
    slow: float = 0.0

    def __str__(self) -> str:
        return f"step {self.step}: {self.kind} {self.process} {self.seconds:.1f} s"


@dataclass(frozen=True, slots=True)
class FaultWindow:
    """The times of a fault by the monotonic clock: its beginning, its end, and when everything was ready again."""

    fault: Fault
    began: float
    ended: float
    ready: float

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self.fault), "readyAgain": round(self.ready - self.ended, 2)}


def faults(random: Random, number: int, matrix: Sequence[Pair] = MATRIX) -> Iterator[Fault]:
    """Yields `number` faults. Every pair of the matrix occurs once before any occurs again."""
    pairs: list[Pair] = []
    for step in range(1, number + 1):
        if not pairs:
            pairs = list(matrix)
            random.shuffle(pairs)
        kind, process = pairs.pop()
        is_instant = kind in (Kind.KILL, Kind.RESTART, Kind.STEP_DOWN)
        seconds = 0.0 if is_instant else random.uniform(1, 10) if kind is not Kind.CUT else random.uniform(0, 3)
        slow = random.choice([0.0, random.uniform(0.05, 0.5)]) if kind is Kind.STALL else 0.0
        yield Fault(step, kind, process, seconds, random.uniform(0.2, 2.0), slow)


@contextlib.contextmanager
def paused(pid: int) -> Generator[None]:
    """Stops a process for the length of the block. It continues even if this process is killed meanwhile, because a
    shell that waits for the end of a pipe from here sends the signal."""
    shell = ["sh", "-c", f"read -r _; kill -CONT {pid}"]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True):
        os.kill(pid, signal.SIGSTOP)
        yield


async def inject(stack: Breakable, fault: Fault, everybody: Sequence[str] = PROCESSES) -> FaultWindow:
    """Causes a fault, undoes it even if cancelled meanwhile, and waits until everything is ready again."""
    process = stack.process(fault.process)
    network = stack.network_of(fault.process)
    began = time.monotonic()
    match fault.kind:
        case Kind.KILL:
            os.kill(process.pid, signal.SIGKILL)
        case Kind.PAUSE:
            with paused(process.pid):
                await asyncio.sleep(fault.seconds)
        case Kind.STALL:
            for proxy in network:
                proxy.delay = fault.slow
                if not fault.slow:
                    proxy.hold_replies()
            try:
                await asyncio.sleep(fault.seconds)
            finally:
                for proxy in network:
                    proxy.delay = 0.0
                    proxy.release_replies()
        case Kind.CUT:
            for proxy in network:
                proxy.refusing = True
                proxy.cut()
            try:
                await asyncio.sleep(fault.seconds)
            finally:
                for proxy in network:
                    proxy.refusing = False
        case Kind.RESTART:
            os.kill(process.pid, signal.SIGTERM)
        case Kind.STEP_DOWN | Kind.SCALE:
            raise ValueError(f"{fault.kind} needs a cluster")
    ended = time.monotonic()
    if fault.kind is Kind.RESTART:
        async with asyncio.timeout(READY_WITHIN):
            while stack.process(fault.process).pid == process.pid:  # noqa: ASYNC110 - nothing here is notified of it
                await asyncio.sleep(0.05)
    # If a server fails, all services are unready; if a service fails, only that one is.
    await stack.ready_again(everybody if fault.process.startswith(SERVERS) else (fault.process,), READY_WITHIN)
    return FaultWindow(fault, began, ended, time.monotonic())
