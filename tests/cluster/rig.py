"""The cluster itself: brought up, scaled, rolled, broken by the drill's own faults, and counted."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from unittest import mock

from nexus_cli.drill.faults import Fault, FaultWindow
from nexus_cli.drill.stack import RunningStack
from nexus_cli.stack import handshakes
from nexus_cli.stack.datadir import DataDirectory, StackProcess
from nexus_cli.stack.program import Program
from nexus_cli.stack.services import SERVICES
from nexus_cli.stack.supervisor import Supervisor
from runtime.faulty_proxy import Proxy
from tests.cluster.certificates import make_certificates
from tests.cluster.programs import Layout, servers, service

Say = Callable[[str], None]
RECONNECTS = "nexus_nats_reconnects_total"


class Cluster(RunningStack):
    """What runs, and how many of each service."""

    def __init__(self, directory: DataDirectory, layout: Layout, say: Say, lock: int) -> None:
        super().__init__(directory, layout.secrets.jwt_secret)
        self._kept, self._layout, self._say, self._lock = directory, layout, say, lock
        self._groups: dict[Supervisor, Sequence[StackProcess]] = {}
        self._reconnects: dict[int, int] = {}
        """By process."""
        self._urls: dict[str, str] = {"nats": layout.operators_url}

    async def start(self, programs: Sequence[Program]) -> Supervisor:
        """Runs these until they are stopped. Raises StartFailedError."""
        group: list[Supervisor] = []

        def changed(processes: Sequence[StackProcess], urls: Mapping[str, str]) -> None:
            self._urls |= urls
            self._groups[group[0]] = list(processes)
            self._record()

        supervisor = Supervisor(
            programs,
            logs=self._kept.logs,
            urls=dict(self._urls),
            say=self._say,
            changed=changed,
            inherit=[self._lock],
        )
        group.append(supervisor)
        self._groups[supervisor] = []
        await supervisor.start()
        return supervisor

    async def stop(self, group: Supervisor) -> None:
        """Ends a group in good order: its services drain."""
        # What is on its way out is not waited for to be ready again.
        del self._groups[group]
        self._record()
        await group.stop()
        self._groups.pop(group, None)
        self._record()

    async def stop_all(self) -> None:
        """The newest group first."""
        for group in reversed(list(self._groups)):
            await self.stop(group)

    def replicas(self, numbers: Mapping[str, Sequence[int]], release: Path | None = None) -> list[Program]:
        """Programs of services, by which of them; `release`: of that tree."""
        return [service(self._layout, name, number, release) for name, wanted in numbers.items() for number in wanted]

    def network_of(self, name: str) -> Sequence[Proxy]:
        """Of a server of the bus its connections with the other two; of others none is within reach."""
        return [proxy for ends, proxy in self._layout.ways.items() if name in ends]

    async def inject(self, fault: Fault) -> FaultWindow:
        """As the drill does it; counts afterwards who has lost their server."""
        window = await super().inject(fault)
        await self.count_reconnects()
        return window

    async def count_reconnects(self) -> int:
        """How often services, those that are gone too, have had to look for another server of the bus."""
        for one in [self.process(name) for name in self.names if name.startswith(tuple(SERVICES))]:
            with contextlib.suppress(OSError, EOFError, ValueError):  # it has just gone
                figures = await handshakes.metrics(int(one.url.rpartition(":")[2]))
                self._reconnects[one.pid] = int(figures.get(RECONNECTS, 0))
        return sum(self._reconnects.values())

    def _record(self) -> None:
        processes = [one for group in self._groups.values() for one in group]
        self._kept.record(processes, self._urls)


@asynccontextmanager
async def running_cluster(
    path: Path, of_each: Mapping[str, int], say: Say, *, older: Mapping[str, Path] | None = None
) -> AsyncGenerator[Cluster]:
    """A cluster below `path`, with so many of each service, for the length of the block. `older`: services whose first
    one is of another tree, by name."""
    directory = DataDirectory(path)
    directory.create()
    lock = directory.acquire()
    make_certificates(path)
    layout = Layout(directory)
    cluster = Cluster(directory, layout, say, lock)
    for proxy in layout.ways.values():
        await proxy.start()
    with mock.patch.dict(os.environ, {"SSL_CERT_FILE": str(path / "ca.pem")}):
        try:
            there: list[Program] = []
            for name, number in of_each.items():
                there += cluster.replicas({name: [1]}, (older or {}).get(name))
                there += cluster.replicas({name: range(2, number + 1)})
            await cluster.start([*servers(layout), *there])
            yield cluster
        finally:
            await cluster.stop_all()
            for proxy in layout.ways.values():
                await proxy.stop()
            directory.release()
