"""Makes the network around each process of a stack slow, silent or broken.

Every connection between a service and a server passes through a proxy in this process, and so do the clients'
connections to the gateway. The servers' ports are chosen in advance, so that all addresses are known before anything
starts.
"""

from __future__ import annotations

import json

from nexus_cli.stack import ports
from nexus_cli.stack.services import SERVICES
from runtime.faulty_proxy import Proxy

SERVERS = ("nats", "redis", "mongodb")
PROCESSES = (*SERVICES, *SERVERS)
_CLIENTS = "clients"


class Network:
    """The proxies of a stack. `ports` are the real ports of the servers and the gateway."""

    def __init__(self) -> None:
        taken_ports: set[int] = set()
        self.ports = {name: ports.choose(taken_ports) for name in (*SERVERS, "gateway")}
        self._proxies = {
            (service, server): Proxy(f"tcp://{ports.HOST}:{self.ports[server]}")
            for service in SERVICES
            for server in SERVERS
        }
        self._proxies["gateway", _CLIENTS] = Proxy(f"http://{ports.HOST}:{self.ports['gateway']}")

    @property
    def url(self) -> str:
        """The gateway's address for clients."""
        return self._proxies["gateway", _CLIENTS].url

    def of(self, name: str) -> list[Proxy]:
        """The proxies of one process: from a service to its servers, or from all services to a server."""
        return [proxy for endpoints, proxy in self._proxies.items() if name in endpoints]

    def arguments(self) -> list[str]:
        """The arguments for nexus_cli.drill.proxied_stack; call it after `start`."""
        ports_by_way = {f"{service} {server}": proxy.port for (service, server), proxy in self._proxies.items()}
        return [json.dumps(self.ports), json.dumps(ports_by_way)]

    async def start(self) -> None:
        for proxy in self._proxies.values():
            await proxy.start()

    async def stop(self) -> None:
        """Stops the proxies, which ends all connections."""
        for proxy in self._proxies.values():
            await proxy.stop()
