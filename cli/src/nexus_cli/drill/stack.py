"""The stack that a drill breaks: a running one on a data directory, or a new one whose network the drill controls
too."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from nexus_cli.drill.faults import MATRIX, READY_WITHIN, Fault, FaultWindow, Kind, Pair, inject
from nexus_cli.drill.leaders import LEADERS, step_down
from nexus_cli.drill.network import PROCESSES, Network
from nexus_cli.stack.child import is_gone
from nexus_cli.stack.datadir import DataDirectory, StackProcess
from nexus_cli.stack.errors import StackError
from nexus_cli.stack.services import SERVICES
from nexus_cli.stack.temporary import LIFTED_LIMITS, clean_environment, ready_program
from nexus_cli.target import find_target
from runtime.auth.tokens import TokenMinter
from runtime.faulty_proxy import Proxy
from runtime.settings import TokenSettings

READY_SECONDS = 10.0
BALANCER = "balancer"
"""Name of the balancer in front of several gateways, in a stack that has one."""


class RunningStack:
    """A stack that runs on this machine, found by its data directory (faults.Breakable)."""

    def __init__(self, directory: DataDirectory, jwt_secret: str) -> None:
        self._directory = directory
        self._tokens = TokenMinter(TokenSettings.model_validate({"jwt_secret": jwt_secret}))

    @property
    def matrix(self) -> Sequence[Pair]:
        names = self.names
        leaders = LEADERS if sum(name.startswith("nats") for name in names) > 1 else ()
        services = [name for name in names if name.startswith(tuple(SERVICES))]
        return [
            *itertools.product((Kind.KILL, Kind.PAUSE), names),
            *itertools.product([Kind.RESTART], services),
            *itertools.product([Kind.STEP_DOWN], leaders),
        ]

    @property
    def names(self) -> list[str]:
        return sorted(process["name"] for process in self._recorded()["processes"])

    @property
    def url(self) -> str:
        """The address for visitors."""
        by_name = {process["name"]: process["url"] for process in self._recorded()["processes"]}
        if not (url := by_name.get(BALANCER) or by_name.get("gateway")):
            raise StackError("this stack has no gateway, so nobody can chat")
        return str(url)

    @property
    def nats(self) -> str:
        """The address of the bus, with a user who may read everything."""
        return str(self._recorded()["urls"]["nats"])

    def token(self, role: str, user: str, company: str) -> str:
        return self._tokens.mint(sub=user, role=role, company=company)

    def process(self, name: str) -> StackProcess:
        return StackProcess(**next(entry for entry in self._recorded()["processes"] if entry["name"] == name))

    def network_of(self, name: str) -> Sequence[Proxy]:
        """No proxies: the connections of a running stack cannot be damaged."""
        del name
        return []

    async def inject(self, fault: Fault) -> FaultWindow:
        """Causes a fault, undoes it, and waits until everything is ready again. Raises TimeoutError."""
        if fault.kind is Kind.STEP_DOWN:
            began = time.monotonic()
            await step_down(self.nats, fault.process)
            end = time.monotonic()
            await self.ready_again(self.names, READY_WITHIN)
            return FaultWindow(fault, began, end, time.monotonic())
        return await inject(self, fault, self.names)

    async def ready_again(self, names: Sequence[str], deadline: float) -> None:
        """Waits until these processes run and the services among them are ready. Raises TimeoutError."""
        async with (
            asyncio.timeout(deadline),
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=READY_SECONDS)) as http,
        ):
            while not all([await self._is_ready(http, self.process(name)) for name in names]):  # noqa: ASYNC110
                await asyncio.sleep(0.2)

    async def _is_ready(self, http: aiohttp.ClientSession, process: StackProcess) -> bool:
        if is_gone(process.pid) or not process.name.startswith(tuple(SERVICES)):
            return not is_gone(process.pid)
        try:
            async with http.get(f"{process.url}/readyz") as response:
                return response.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False

    def _recorded(self) -> dict[str, Any]:
        return self._directory.recorded()


class DrilledStack(RunningStack):
    """A new stack for the drill, whose connections can be damaged too."""

    def __init__(self, network: Network, directory: DataDirectory) -> None:
        super().__init__(directory, directory.secrets().jwt_secret)
        self._network = network

    @property
    def matrix(self) -> Sequence[Pair]:
        return [*MATRIX, *itertools.product([Kind.RESTART], SERVICES)]

    @property
    def url(self) -> str:
        """The gateway's address through its proxy."""
        return self._network.url

    def network_of(self, name: str) -> Sequence[Proxy]:
        return self._network.of(name)


async def running_stack(data: Path) -> RunningStack:
    """The stack that runs on `data`, once all of it is ready.

    Raises:
        NotRunningError: no stack runs there.
        StackError: the stack has no gateway, or is not ready within ten seconds; the drill would be blamed for that.
    """
    stack = RunningStack(DataDirectory(data), find_target(data).jwt_secret)
    _ = stack.url
    try:
        await stack.ready_again(stack.names, READY_SECONDS)
    except TimeoutError:
        raise StackError(f"not all of the stack on {data} is ready: see `nexus doctor --live`") from None
    return stack


@asynccontextmanager
async def drilled_stack(directory: Path) -> AsyncGenerator[DrilledStack]:
    """Runs a new stack below `directory` for the length of the block, once it is ready.

    Raises:
        StartFailedError: a server or service did not start.
    """
    network = Network()
    data = directory / "data"
    await network.start()
    try:
        command = ["-m", "nexus_cli.drill.proxied_stack", str(data), *network.arguments()]
        # Its own working directory has no .env, so that it uses no foreign keys and only its own servers.
        async with ready_program(
            command, log=directory / "supervisor.log", environment=drill_environment(), cwd=directory
        ):
            stack = DrilledStack(network, DataDirectory(data))
            await stack.ready_again(PROCESSES, 60)
            yield stack
    finally:
        await network.stop()


def drill_environment() -> Mapping[str, str]:
    """This process's environment without settings and keys, and with limits for each address lifted."""
    return clean_environment() | LIFTED_LIMITS | {"NEXUS_SAMPLE_SECONDS_PER_BAR": "0"}
