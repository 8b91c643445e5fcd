"""The stack as `nexus up` starts it, with a network that can be slow, silent or cut around each of its processes."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from nexus_cli.drill.network import PROCESSES, SERVERS, Network
from nexus_cli.stack.services import SERVICES
from nexus_cli.testing.stacks import is_gone
from runtime.faulty_proxy import Proxy
from tests.support.running_stack import RunningStack

__all__ = ["PROCESSES", "SERVERS", "NetworkedStack"]


class NetworkedStack(RunningStack):
    """A running stack whose connections can be slowed, held or cut; `url` is the address of the gateway's proxy."""

    def __init__(self, data: Path, env: Mapping[str, str]) -> None:
        super().__init__(data, env)
        self._network = Network()

    @property
    def url(self) -> str:
        """Returns the gateway's address for clients."""
        return self._network.url

    def network_of(self, name: str) -> list[Proxy]:
        """Returns the proxies of a process's connections."""
        return self._network.of(name)

    async def ready_again(self, names: Sequence[str], deadline: float) -> None:
        """Waits until these processes run and the services among them are ready. Checks only five times a second, since
        checks slow down a machine that is starting a service."""
        async with asyncio.timeout(deadline):
            while not await self._are_ready(names):  # noqa: ASYNC110 - nothing here is told of it
                await asyncio.sleep(0.2)

    async def _are_ready(self, names: Sequence[str]) -> bool:
        for name in names:
            process = self.process(name)
            if is_gone(process.pid) or (name in SERVICES and not await self.is_ready(process.url)):
                return False
        return True

    async def begin(self) -> Self:
        """Starts proxies and stack; returns when all is ready."""
        await self._network.start()
        await asyncio.to_thread(self.start)
        return self

    def start(self) -> Self:
        """Runs `nexus up` with this network around it."""
        arguments = [str(self.data), *self._network.arguments()]
        return self._started([sys.executable, "-m", "nexus_cli.drill.proxied_stack", *arguments])

    async def end(self) -> None:
        """Stops stack and proxies."""
        await asyncio.to_thread(self.stop)
        await self._network.stop()
