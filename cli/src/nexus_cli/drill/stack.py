"""A stack of the drill's own: `nexus up` in a temporary directory, its processes and connections within reach."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from contracts.providers import KEYS
from nexus_cli.drill.network import PROCESSES, Network
from nexus_cli.stack.child import is_gone
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.services import SERVICES
from nexus_cli.stack.temporary import ready_program
from runtime.faulty_proxy import Proxy
from runtime.settings import TokenSettings
from runtime.tokens import TokenMinter

LOOK_WITHIN = 10.0
_LIFTED = ("MESSAGES", "CONVERSATIONS", "TOKENS")
"""Limits by address: all people of a drill come from one."""


@dataclass(frozen=True)
class RunningProcess:
    """One process."""

    name: str
    pid: int
    url: str


class DrilledStack:
    """What the drill breaks, and what it asks (faults.Breakable)."""

    def __init__(self, network: Network, directory: DataDirectory) -> None:
        self._network = network
        self._directory = directory
        self._tokens = TokenMinter(TokenSettings.model_validate({"jwt_secret": directory.secrets().jwt_secret}))

    @property
    def url(self) -> str:
        """The gateway's address."""
        return self._network.url

    @property
    def nats(self) -> str:
        """The bus's, past the proxies."""
        return str(self._recorded()["urls"]["nats"])

    def token(self, role: str, user: str, company: str) -> str:
        """Of somebody who may do this."""
        return self._tokens.mint(sub=user, role=role, company=company)

    def process(self, name: str) -> RunningProcess:
        """The process as it is now."""
        found = next(one for one in self._recorded()["processes"] if one["name"] == name)
        return RunningProcess(name, found["pid"], found["url"])

    def network_of(self, name: str) -> Sequence[Proxy]:
        """Every connection of one process."""
        return self._network.of(name)

    async def ready_again(self, names: Sequence[str], deadline: float) -> None:
        """Waits until these processes live, and those that are services are ready. Raises TimeoutError."""
        async with (
            asyncio.timeout(deadline),
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=LOOK_WITHIN)) as http,
        ):
            while not all([await self._is_ready(http, self.process(name)) for name in names]):  # noqa: ASYNC110
                await asyncio.sleep(0.2)

    async def _is_ready(self, http: aiohttp.ClientSession, process: RunningProcess) -> bool:
        if is_gone(process.pid) or process.name not in SERVICES:
            return not is_gone(process.pid)
        try:
            async with http.get(f"{process.url}/readyz") as answer:
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False

    def _recorded(self) -> dict[str, Any]:
        return self._directory.recorded()


@asynccontextmanager
async def drilled_stack(directory: Path) -> AsyncGenerator[DrilledStack]:
    """A stack below `directory` for the length of the block, ready.

    Raises:
        StartFailed: something did not start.
    """
    network = Network()
    data = directory / "data"
    await network.start()
    try:
        command = ["-m", "nexus_cli.drill.wired", str(data), *network.arguments()]
        # In a directory of its own no .env is found: no key of anybody's, no server but its own.
        async with ready_program(command, log=directory / "supervisor.log", environment=_environment(), cwd=directory):
            stack = DrilledStack(network, DataDirectory(data))
            await stack.ready_again(PROCESSES, 60)
            yield stack
    finally:
        await network.stop()


def _environment() -> Mapping[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("NEXUS_") and name not in KEYS.values()
    }
    lifted = {f"NEXUS_GATEWAY_{name}_PER_ADDRESS": "1000000" for name in _LIFTED}
    return kept | lifted | {"NEXUS_SAMPLE_SECONDS_PER_BAR": "0"}
