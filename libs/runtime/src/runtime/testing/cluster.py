"""For tests: three NATS servers that keep three copies of each stream, and Valkey servers that share the keys."""

import contextlib
import random
import socket
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from redis import Redis

from runtime.testing.servers import NatsServer, ValkeyServer, wait_until

SLOTS = 16_384
FORM_TIMEOUT, NOT_FORMED = 20.0, "the servers did not become a cluster"
NODE_TIMEOUT = 600
"""Milliseconds after which the others consider a server dead."""


@contextlib.contextmanager
def run_nats_cluster(directory: Path) -> Generator[list[NatsServer]]:
    """Runs three servers during the block; connect to them with `urls`."""
    ports, routing = _ports(3), _ports(3)
    routes = ",".join(f"nats://127.0.0.1:{port}" for port in routing)
    with ExitStack() as cleanup:
        servers: list[NatsServer] = []
        for index, port in enumerate(routing):
            server = NatsServer(directory / str(index))
            server.port = ports[index]
            cluster = ("-cluster_name", "test", "-cluster", f"nats://127.0.0.1:{port}", "-routes", routes)
            server.options = ("-n", f"n{index}", *cluster)
            cleanup.callback(server.kill)
            server.start()
            servers.append(server)
        yield servers


def urls(servers: list[NatsServer]) -> str:
    """Returns the URLs of all servers, in the form of NEXUS_NATS_URL."""
    return ",".join(server.url for server in servers)


class ClusterValkey(ValkeyServer):
    """One server of a cluster; clients find all of them by its `url`."""

    bus = 0
    """The port on which the servers talk with each other."""

    @property
    def url(self) -> str:
        return f"redis+cluster://{self.host}:{self.port}"

    def command(self) -> Sequence[str]:
        self.bus = self.bus or _ports(1)[0]
        cluster = ["--cluster-enabled", "yes", "--cluster-port", str(self.bus), "--repl-diskless-sync-delay", "0"]
        return [*super().command(), *cluster, "--cluster-node-timeout", str(NODE_TIMEOUT)]

    def tell(self, *command: object) -> Any:
        """Sends a command to this server alone, and returns its answer."""
        with Redis(self.host, self.port, decode_responses=True) as client:
            return cast("Any", client).execute_command(*command)


@contextlib.contextmanager
def run_valkey_cluster(directory: Path, primaries: int = 1, replicas: int = 0) -> Generator[list[ClusterValkey]]:
    """Runs a cluster during the block. The primaries share all slots; each replica follows the first primary."""
    with ExitStack() as cleanup:
        servers = [ClusterValkey(directory / f"valkey-{index}") for index in range(primaries + replicas)]
        for server in servers:
            cleanup.callback(server.kill)
            server.start()
        for index, server in enumerate(servers):
            if index < primaries:
                first, end = SLOTS * index // primaries, SLOTS * (index + 1) // primaries
                server.tell("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
                server.tell("CLUSTER", "SET-CONFIG-EPOCH", index + 1)
            server.tell("CLUSTER", "MEET", servers[0].host, servers[0].port, servers[0].bus)
        wait_until(lambda: all(_knows_all(node, len(servers)) for node in servers), FORM_TIMEOUT, NOT_FORMED)
        identity = servers[0].tell("CLUSTER", "MYID")
        copies = servers[primaries:]
        for server in copies:
            server.tell("CLUSTER", "REPLICATE", identity)
        # A replica takes over only once it has a copy of the data.
        wait_until(
            lambda: all(copy.tell("INFO", "replication").get("master_link_status") == "up" for copy in copies),
            FORM_TIMEOUT,
            NOT_FORMED,
        )
        yield servers


def _knows_all(server: ClusterValkey, count: int) -> bool:
    info = str(server.tell("CLUSTER", "INFO")).split()
    return "cluster_state:ok" in info and f"cluster_known_nodes:{count}" in info


def _ports(count: int) -> list[int]:
    """Returns free ports that the system does not give to outgoing connections, so that a killed server gets its port
    back."""
    with ExitStack() as open_sockets:
        ports = set[int]()
        while len(ports) < count:
            probe = open_sockets.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", random.randrange(20_000, 32_000)))
                ports.add(probe.getsockname()[1])
        return list(ports)
