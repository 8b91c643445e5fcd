"""For tests: three NATS servers that keep three copies of each stream, and Valkey servers that share the keys."""

import contextlib
import random
import socket
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from redis import Redis

from runtime.testing.servers import NatsServer, ValkeyServer, until

SLOTS = 16_384
FORMED_WITHIN, NOT_FORMED = 20.0, "the servers did not become a cluster"
NODE_TIMEOUT = 600
"""Milliseconds after which the others take a server for dead."""


@contextlib.contextmanager
def run_nats_cluster(directory: Path) -> Generator[list[NatsServer]]:
    """They run for the length of the block; connect to them by `urls`."""
    ports, routing = _ports(3), _ports(3)
    routes = ",".join(f"nats://127.0.0.1:{port}" for port in routing)
    with ExitStack() as running:
        servers: list[NatsServer] = []
        for number, port in enumerate(routing):
            server = NatsServer(directory / str(number))
            server.port = ports[number]
            cluster = ("-cluster_name", "test", "-cluster", f"nats://127.0.0.1:{port}", "-routes", routes)
            server.options = ("-n", f"n{number}", *cluster)
            running.callback(server.kill)
            server.start()
            servers.append(server)
        yield servers


def urls(servers: list[NatsServer]) -> str:
    """All of them, as NEXUS_NATS_URL takes them."""
    return ",".join(server.url for server in servers)


class ClusterValkey(ValkeyServer):
    """One server of a cluster; `url` is how clients find all of them."""

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
        """Its own answer."""
        with Redis(self.host, self.port, decode_responses=True) as client:
            return cast("Any", client).execute_command(*command)


@contextlib.contextmanager
def run_valkey_cluster(directory: Path, primaries: int = 1, replicas: int = 0) -> Generator[list[ClusterValkey]]:
    """They run for the length of the block and have all slots between them; each replica goes by the first."""
    with ExitStack() as running:
        servers = [ClusterValkey(directory / f"valkey-{number}") for number in range(primaries + replicas)]
        for server in servers:
            running.callback(server.kill)
            server.start()
        for number, server in enumerate(servers):
            if number < primaries:
                first, end = SLOTS * number // primaries, SLOTS * (number + 1) // primaries
                server.tell("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
                server.tell("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            server.tell("CLUSTER", "MEET", servers[0].host, servers[0].port, servers[0].bus)
        until(lambda: all(_knows_all(one, len(servers)) for one in servers), FORMED_WITHIN, NOT_FORMED)
        identity = servers[0].tell("CLUSTER", "MYID")
        copies = servers[primaries:]
        for server in copies:
            server.tell("CLUSTER", "REPLICATE", identity)
        # Without a copy of what there is no replica takes over.
        until(
            lambda: all(one.tell("INFO", "replication").get("master_link_status") == "up" for one in copies),
            FORMED_WITHIN,
            NOT_FORMED,
        )
        yield servers


def _knows_all(server: ClusterValkey, many: int) -> bool:
    info = str(server.tell("CLUSTER", "INFO")).split()
    return "cluster_state:ok" in info and f"cluster_known_nodes:{many}" in info


def _ports(many: int) -> list[int]:
    """Free ones that the system does not give to outgoing connections: a server that is killed gets its own back."""
    with ExitStack() as held_open:
        ports = set[int]()
        while len(ports) < many:
            probe = held_open.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", random.randrange(20_000, 32_000)))
                ports.add(probe.getsockname()[1])
        return list(ports)
