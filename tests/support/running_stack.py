"""The whole product as a user starts it: `nexus up`, on free ports, with its own data folder."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import aiohttp
from nats.aio.client import Client
from pydantic import SecretStr

from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from nexus_cli.stack.datadir import StackProcess
from nexus_cli.stack.program import FORK_SERVER
from nexus_cli.stack.temporary import clean_environment
from nexus_cli.testing.stacks import fork_server, fork_until_ready, is_gone, run_forked
from runtime.auth.tokens import TokenMinter
from runtime.calls.rpc import RpcClient
from runtime.settings import TokenSettings
from runtime.testing.forks import ForkedProcess
from runtime.testing.servers import eventually
from tests.support.chat_client import ChatClient

NEXUS = str(Path(sys.executable).with_name("nexus"))
START_SECONDS = 180.0
JWT_SECRET = "the-secret-of-these-tests-only-0123456789"
RAISED_ADDRESS_LIMITS = {
    "NEXUS_GATEWAY_MESSAGES_PER_ADDRESS": "1000000",
    "NEXUS_GATEWAY_CONVERSATIONS_PER_ADDRESS": "1000000",
    "NEXUS_GATEWAY_TOKENS_PER_ADDRESS": "1000000",
}
"""All visitors of a test come from one address: the limits per address are raised, those per visitor are not."""


class RunningStack:
    """A stack under test, up while inside `with` or `async with`. `data` is its folder, `nexus` the command
    that runs it; it takes a free port."""

    def __init__(self, data: Path, env: Mapping[str, str], nexus: str = NEXUS) -> None:
        self.data = data
        self._nexus = nexus
        self._up: ForkedProcess | None = None
        fork_server()
        self.env = _environment() | dict(env)
        if nexus != NEXUS or "PYTHONPATH" in env:
            del self.env[FORK_SERVER]  # the fork server has imported the modules of this clone

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
        """Runs `nexus up` and returns when all is ready."""
        if FORK_SERVER in self.env:
            return self._started([sys.executable, "-m", "nexus_cli", "up", "--port", "0", "--data", str(self.data)])
        completed = self.nexus("up", "--detach", "--port", "0", "--data", str(self.data), timeout=START_SECONDS)
        assert completed.returncode == 0, f"nexus up failed:\n{completed.stdout}\n{completed.stderr}\n{self.logs()}"
        return self

    def _started(self, command: Sequence[str]) -> Self:
        """Forks a command that runs a stack and waits for its line."""
        log = self.data.with_name(f"{self.data.name}-up.log")  # a terminal, which is shown links with tokens
        log.parent.mkdir(parents=True, exist_ok=True)
        self._up = fork_until_ready(command, self.env, log)
        return self

    def stop(self) -> None:
        """Runs `nexus down`."""
        self.nexus("down", "--data", str(self.data))
        if self._up is not None:
            self._up.wait(60)
            self._up = None

    def nexus(
        self, *arguments: str, timeout: float = 120, typed: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a nexus command as a user of this stack would."""
        if FORK_SERVER in self.env:
            command = [sys.executable, "-m", "nexus_cli", *arguments]
            return run_forked(command, self.env, timeout=timeout, typed=typed)
        command = [self._nexus, *arguments]
        return subprocess.run(
            command, env=self.env, capture_output=True, text=True, timeout=timeout, check=False, input=typed
        )

    def facts(self) -> dict[str, Any]:
        """Reads stack.json."""
        return json.loads((self.data / "stack.json").read_text())

    def process(self, name: str) -> StackProcess:
        """Returns the process with this name."""
        return StackProcess(**next(found for found in self.facts()["processes"] if found["name"] == name))

    def kill(self, name: str) -> int:
        """Kills the process with SIGKILL; returns its pid."""
        pid = self.process(name).pid
        os.kill(pid, signal.SIGKILL)
        return pid

    async def back(self, name: str, dead: int, deadline: float = 120.0) -> None:
        """Waits until the supervisor has started another process of that name and it is ready."""

        async def ready() -> bool:
            process = self.process(name)
            return process.pid != dead and await self.is_ready(process.url)

        await eventually(ready, deadline)

    async def whole(self, deadline: float = 120.0) -> None:
        """Waits until every process of stack.json is alive, and every service ready."""

        async def all_ready() -> bool:
            processes = [StackProcess(**found) for found in self.facts()["processes"]]
            services = [process.url for process in processes if process.url.startswith("http")]
            return not any(is_gone(process.pid) for process in processes) and all(
                [await self.is_ready(url) for url in services]
            )

        await eventually(all_ready, deadline)

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
        """Creates a visitor of the company; returns the token and the visitorId."""
        async with (
            aiohttp.ClientSession() as http,
            http.post(f"{self.url}/v2/visitors", json={"companyId": company, **fields}) as answer,
        ):
            body = await answer.json()
            assert answer.status == 201, body
            return body["token"], body["visitorId"]

    @asynccontextmanager
    async def chat(self, token: str, **hello: Any) -> AsyncGenerator[ChatClient]:
        """The chat of whoever the token names, who has been welcomed."""
        async with ChatClient(self.url, token) as client:
            await client.hello(**hello)
            yield client

    @asynccontextmanager
    async def visit(self, company: str = "demo", **fields: Any) -> AsyncGenerator[ChatClient]:
        """The same of a new visitor."""
        token, _ = await self.visitor(company, **fields)
        async with self.chat(token, **{name: fields[name] for name in fields.keys() & {"locale"}}) as client:
            yield client

    def token(self, role: str, user: str, company: str = "demo", plan: str = "free") -> str:
        """A development token from `nexus token`."""
        completed = self.nexus("token", "--role", role, "--user", user, "--company", company, "--plan", plan)
        assert completed.returncode == 0, completed.stderr
        return completed.stdout.strip()

    def mint(self, role: str, user: str, company: str = "demo", plan: str = "free") -> str:
        """Returns the same as `token` without running a command, for tests that need many tokens."""
        settings = TokenSettings(jwt_secret=SecretStr(JWT_SECRET))
        return TokenMinter(settings).mint(sub=user, role=role, company=company, plan=plan)

    async def create_company(self, company: str, **settings: Any) -> None:
        """Creates a company with these settings (see contracts.company)."""
        bus = Client()
        await bus.connect(self.facts()["urls"]["nats"].split(","))
        try:
            request = CompanyCreateRequest(config={"companyId": company, **settings})
            await RpcClient(bus).call(COMPANY_CREATE, request, deadline=40)
        finally:
            await bus.close()

    def logs(self) -> str:
        """Returns the end of every log, for the message of a failing test."""
        tails: list[str] = []
        for file in sorted((self.data / "logs").glob("*.log")):
            tails.append(f"--- {file.name}\n{file.read_text(errors='replace')[-3000:]}")
        return "\n".join(tails)


def _environment() -> dict[str, str]:
    """Returns an environment without keys and without settings of the machine the tests run on."""
    # Set by tests/support/containers.py: servers to use instead of the embedded ones.
    test_servers = {
        name.replace("_TEST", ""): value for name, value in os.environ.items() if name.startswith("NEXUS_TEST_")
    }
    return clean_environment() | {"NEXUS_JWT_SECRET": JWT_SECRET} | RAISED_ADDRESS_LIMITS | test_servers
