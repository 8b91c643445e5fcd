"""The stack as `nexus up` starts it, with a network that can be slow, silent or cut around each of its processes.

Between every service and every server that it talks to stands a proxy of this process, and one before the gateway, for
its clients. The servers' ports are chosen beforehand, so that all is known before anything runs. Run as a program this
module is `nexus up`, with the addresses that each service is given led through the proxies.
"""

import asyncio
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from nexus_cli.settings import read_settings
from nexus_cli.stack import ports
from nexus_cli.stack.child import end_with_parent
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.program import Program, Stage, Urls
from nexus_cli.stack.services import SERVICES
from nexus_cli.stack.up import UpOptions, run_stack
from nexus_cli.testing import is_gone
from runtime.testing_network import Proxy
from tests.support.running_stack import START_SECONDS, RunningStack

SERVERS = ("nats", "redis", "mongodb")
PROCESSES = (*SERVICES, *SERVERS)
_CLIENTS = "clients"
_REPOSITORY = Path(__file__).parents[2]


class NetworkedStack(RunningStack):
    """A running stack whose connections can be hurt; `url` is the gateway's by way of its proxy."""

    def __init__(self, data: Path, env: Mapping[str, str]) -> None:
        super().__init__(data, env)
        taken: set[int] = set()
        self._ports = {name: ports.choose(taken) for name in (*SERVERS, "gateway")}
        self._proxies = {
            (service, server): Proxy(f"tcp://{ports.HOST}:{self._ports[server]}")
            for service in SERVICES
            for server in SERVERS
        }
        self._proxies["gateway", _CLIENTS] = Proxy(f"http://{ports.HOST}:{self._ports['gateway']}")
        self._up: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        """The gateway's address, as clients know it."""
        return self._proxies["gateway", _CLIENTS].url

    def network_of(self, name: str) -> list[Proxy]:
        """Every connection of one process: a service's to its servers, a server's from all services."""
        return [proxy for ends, proxy in self._proxies.items() if name in ends]

    async def ready_again(self, names: Sequence[str], deadline: float) -> None:
        """Waits until these processes live, and those that are services are ready. Looks five times a second only: on a
        machine that is busy with starting a service, looking is work too."""
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
        for proxy in self._proxies.values():
            await proxy.start()
        await asyncio.to_thread(self.start)
        return self

    def start(self) -> Self:
        """Runs `nexus up` with this network around it."""
        ways = {f"{service} {server}": proxy.port for (service, server), proxy in self._proxies.items()}
        self.data.mkdir(parents=True, exist_ok=True)
        log = self.data / "up.log"
        with log.open("wb") as errors:
            self._up = subprocess.Popen(
                [sys.executable, "-m", __name__, str(self.data), json.dumps(self._ports), json.dumps(ways)],
                env=self.env,
                cwd=_REPOSITORY,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self._up.stdout is not None
        readable, _, _ = select.select([self._up.stdout], [], [], START_SECONDS)
        line = self._up.stdout.readline() if readable else ""
        assert line, f"nexus up failed:\n{log.read_text(errors='replace')}\n{self.logs()}"
        return self

    async def end(self) -> None:
        """Stops stack and proxies."""
        await asyncio.to_thread(self.stop)
        for proxy in self._proxies.values():
            await proxy.stop()

    def stop(self) -> None:
        """Runs `nexus down`."""
        super().stop()
        if self._up is not None:
            self._up.wait(60)
            if self._up.stdout is not None:
                self._up.stdout.close()


def _rewired(program: Program, servers: Mapping[str, int], ways: Mapping[str, int]) -> Program:
    """A server on its chosen port; a service that is told of the proxies' ports instead of the servers'."""
    if program.stage is Stage.SERVER:
        return replace(program, port=servers[program.name])

    def environment(port: int, urls: Urls) -> Mapping[str, str]:
        near = {
            server: re.sub(rf":{servers[server]}\b", f":{ways[f'{program.name} {server}']}", url)
            for server, url in urls.items()
        }
        return program.environment(port, near)

    return replace(program, environment=environment)


def main() -> None:
    """DATA, the servers' ports and the proxies' ports: runs until it is told to stop."""
    data, servers, ways = Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
    end_with_parent(signal.SIGTERM)
    options = UpOptions(port=servers["gateway"])
    directory = DataDirectory(data)
    asyncio.run(run_stack(options, directory, read_settings(), lambda program: _rewired(program, servers, ways)))


if __name__ == "__main__":
    os.chdir(_REPOSITORY)
    main()
