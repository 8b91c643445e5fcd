"""The whole product as a user starts it: `nexus up --detach`, on free ports, with its own data folder."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import aiohttp
from nats.aio.client import Client
from pydantic import SecretStr

from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from nexus_cli.stack.datadir import StackProcess
from nexus_cli.stack.program import FORK_SERVER
from nexus_cli.stack.temporary import clean_environment
from nexus_cli.testing.stacks import fork_server, is_gone
from runtime.auth.tokens import TokenMinter
from runtime.calls.rpc import RpcClient
from runtime.settings import TokenSettings
from runtime.testing.servers import eventually

NEXUS = str(Path(sys.executable).with_name("nexus"))
START_SECONDS = 180.0
JWT_SECRET = "the-secret-of-these-tests-only-0123456789"
ONE_ADDRESS = {
    "NEXUS_GATEWAY_MESSAGES_PER_ADDRESS": "1000000",
    "NEXUS_GATEWAY_CONVERSATIONS_PER_ADDRESS": "1000000",
    "NEXUS_GATEWAY_TOKENS_PER_ADDRESS": "1000000",
}
"""All visitors of a test come from one address: its limits are lifted, those of each visitor are not."""


class RunningStack:
    """A stack under test, up while inside `with` or `async with`. `data` is its folder, `nexus` the command
    that runs it; it takes a free port."""

    def __init__(self, data: Path, env: Mapping[str, str], nexus: str = NEXUS) -> None:
        self.data = data
        self._nexus = nexus
        fork_server()
        self.env = _environment() | dict(env)
        if nexus != NEXUS or "PYTHONPATH" in env:
            del self.env[FORK_SERVER]  # that one has imported what this clone holds

    @property
    def url(self) -> str:
        """The gateway's address."""
        return self.process("gateway").url.rstrip("/")

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)

    def start(self) -> Self:
        """Runs `nexus up --detach`, which returns when all is ready."""
        command = [self._nexus, "up", "--detach", "--port", "0", "--data", str(self.data)]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=START_SECONDS, check=False)
        assert done.returncode == 0, f"nexus up failed:\n{done.stdout}\n{done.stderr}\n{self.logs()}"
        return self

    def stop(self) -> None:
        """Runs `nexus down`."""
        command = [self._nexus, "down", "--data", str(self.data)]
        subprocess.run(command, env=self.env, capture_output=True, timeout=120, check=False)

    def nexus(
        self, *arguments: str, timeout: float = 120, typed: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a nexus command as a user of this stack would."""
        command, env = [self._nexus, *arguments], self.env
        return subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=timeout, check=False, input=typed
        )

    def facts(self) -> dict[str, Any]:
        """stack.json as it is now."""
        return json.loads((self.data / "stack.json").read_text())

    def process(self, name: str) -> StackProcess:
        """One process by its name."""
        return StackProcess(**next(found for found in self.facts()["processes"] if found["name"] == name))

    def kill(self, name: str) -> int:
        """kill -9, as a machine would; returns the pid that died."""
        pid = self.process(name).pid
        os.kill(pid, signal.SIGKILL)
        return pid

    async def back(self, name: str, dead: int, deadline: float = 120.0) -> None:
        """Waits until the supervisor has brought another process of that name up and it is ready."""

        async def ready() -> bool:
            now = self.process(name)
            return now.pid != dead and await self.is_ready(now.url)

        await eventually(ready, deadline)

    async def whole(self, deadline: float = 120.0) -> None:
        """Waits until every process of stack.json is alive, and every service ready."""

        async def up() -> bool:
            processes = [StackProcess(**found) for found in self.facts()["processes"]]
            services = [process.url for process in processes if process.url.startswith("http")]
            return not any(is_gone(process.pid) for process in processes) and all(
                [await self.is_ready(url) for url in services]
            )

        await eventually(up, deadline)

    async def is_ready(self, url: str) -> bool:
        """Whether a service answers 200 on /readyz."""
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as http,
                http.get(f"{url}/readyz") as answer,
            ):
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False

    async def visitor(self, company: str = "demo", **fields: Any) -> tuple[str, str]:
        """A new visitor of the company: token and visitorId."""
        async with (
            aiohttp.ClientSession() as http,
            http.post(f"{self.url}/v2/visitors", json={"companyId": company, **fields}) as answer,
        ):
            body = await answer.json()
            assert answer.status == 201, body
            return body["token"], body["visitorId"]

    def token(self, role: str, user: str, company: str = "demo", plan: str = "free") -> str:
        """A development token from `nexus token`."""
        done = self.nexus("token", "--role", role, "--user", user, "--company", company, "--plan", plan)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def mint(self, role: str, user: str, company: str = "demo", plan: str = "free") -> str:
        """The same as `token`, without a process: for many of them."""
        settings = TokenSettings(jwt_secret=SecretStr(JWT_SECRET))
        return TokenMinter(settings).mint(sub=user, role=role, company=company, plan=plan)

    async def create_company(self, company: str, **settings: Any) -> None:
        """A company with these settings (see contracts.company), as its admin would create it."""
        bus = Client()
        await bus.connect(self.facts()["urls"]["nats"].split(","))
        try:
            request = CompanyCreateRequest(config={"companyId": company, **settings})
            await RpcClient(bus).call(COMPANY_CREATE, request, deadline=40)
        finally:
            await bus.close()

    def logs(self) -> str:
        """The tails of all logs, for a failing test's message."""
        tails: list[str] = []
        for file in sorted((self.data / "logs").glob("*.log")):
            tails.append(f"--- {file.name}\n{file.read_text(errors='replace')[-3000:]}")
        return "\n".join(tails)


def _environment() -> dict[str, str]:
    """The environment of a newcomer: no keys, no settings of the machine the tests run on."""
    # Set by tests/support/containers.py: servers to use instead of the embedded ones.
    given = {n.replace("_TEST", ""): v for n, v in os.environ.items() if n.startswith("NEXUS_TEST_")}
    return clean_environment() | {"NEXUS_JWT_SECRET": JWT_SECRET} | ONE_ADDRESS | given
