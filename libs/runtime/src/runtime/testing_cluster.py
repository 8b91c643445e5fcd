"""Three NATS servers that keep three copies of each stream, for tests."""

import contextlib
import socket
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

from runtime.testing import NatsServer


@contextlib.contextmanager
def run_nats_cluster(directory: Path) -> Generator[list[NatsServer]]:
    """They run for the length of the block; connect to them by `urls`."""
    ports = _three_ports()
    routes = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
    with ExitStack() as running:
        servers: list[NatsServer] = []
        for number, port in enumerate(ports):
            server = NatsServer(directory / str(number))
            cluster = ("-cluster_name", "test", "-cluster", f"nats://127.0.0.1:{port}", "-routes", routes)
            server.options = ("-n", f"n{number}", *cluster)
            running.callback(server.kill)
            server.start()
            servers.append(server)
        yield servers


def urls(servers: list[NatsServer]) -> str:
    """All of them, as NEXUS_NATS_URL takes them."""
    return ",".join(server.url for server in servers)


def _three_ports() -> list[int]:
    with ExitStack() as held_open:
        probes = [held_open.enter_context(socket.socket()) for _ in range(3)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
