"""A running cluster that can be scaled, upgraded and broken by the drill's faults, and that counts reconnects."""

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
    """The running processes of a cluster, in groups that start and stop together."""

    def __init__(self, directory: DataDirectory, layout: Layout, say: Say, lock: int) -> None:
        super().__init__(directory, layout.secrets.jwt_secret)
        self._kept, self._layout, self._say, self._lock = directory, layout, say, lock
        self._groups: dict[Supervisor, Sequence[StackProcess]] = {}
        self._reconnects: dict[int, int] = {}
        """Reconnects by process id."""
        self._urls: dict[str, str] = {"nats": layout.operators_url}

    async def start(self, programs: Sequence[Program]) -> Supervisor:
        """Starts a group of programs. Raises StartFailedError."""
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
        """Stops a group; its services drain first."""
        # Nobody waits for a stopping process to become ready.
        del self._groups[group]
        self._record()
        await group.stop()
        self._groups.pop(group, None)
        self._record()

    async def stop_all(self) -> None:
        """Stops all groups, the newest first."""
        for group in reversed(list(self._groups)):
            await self.stop(group)

    def replicas(self, numbers: Mapping[str, Sequence[int]], release: Path | None = None) -> list[Program]:
        """Returns the programs of these services and numbers; `release`: the tree whose code they run."""
        return [service(self._layout, name, number, release) for name, wanted in numbers.items() for number in wanted]

    def network_of(self, name: str) -> Sequence[Proxy]:
        """Returns the connections of a server of the bus with the other two; none for any other process."""
        return [proxy for ends, proxy in self._layout.ways.items() if name in ends]

    async def inject(self, fault: Fault) -> FaultWindow:
        """Injects a fault as the drill does, and then counts the reconnects."""
        window = await super().inject(fault)
        await self.count_reconnects()
        return window

    async def count_reconnects(self) -> int:
        """Returns how often services, ended ones too, had to connect to another server of the bus."""
        for process in [self.process(name) for name in self.names if name.startswith(tuple(SERVICES))]:
            with contextlib.suppress(OSError, EOFError, ValueError):  # it has just gone
                figures = await handshakes.metrics(int(process.url.rpartition(":")[2]))
                self._reconnects[process.pid] = int(figures.get(RECONNECTS, 0))
        return sum(self._reconnects.values())

    def _record(self) -> None:
        processes = [process for group in self._groups.values() for process in group]
        self._kept.record(processes, self._urls)


@asynccontextmanager
async def running_cluster(
    path: Path, of_each: Mapping[str, int], say: Say, *, older: Mapping[str, Path] | None = None
) -> AsyncGenerator[Cluster]:
    """Runs a cluster below `path` while the block runs. `of_each`: how many of each service; `older`: the trees of
    services whose first process runs other code."""
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
            programs: list[Program] = []
            for name, number in of_each.items():
                programs += cluster.replicas({name: [1]}, (older or {}).get(name))
                programs += cluster.replicas({name: range(2, number + 1)})
            await cluster.start([*servers(layout), *programs])
            yield cluster
        finally:
            await cluster.stop_all()
            for proxy in layout.ways.values():
                await proxy.stop()
            directory.release()
