"""Runs the stack of docker-compose.yml from the images: inspects it, asks it, scales it, kills and stops containers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import aiohttp
from pydantic import SecretStr

from deploy.verify.engine import Engine, VerifyError
from nexus_cli.stack.services import SERVICES
from runtime.auth.tokens import TokenMinter
from runtime.settings import TokenSettings
from tests.support.chat_client import ChatClient

FILES = ("docker-compose.yml", "deploy/verify/compose.yml")
COMPANY = "acme"
QUESTION = "What is a drawdown?"
READY_TIMEOUT = 240.0
ANSWER_TIMEOUT = 60.0
STOP_TIMEOUT = 30.0
WRITE_SCRIPT = "import pathlib; pathlib.Path('/opt/nexus/written').write_text('')"
IDENTITY_SCRIPT = (
    "import os; print(os.getuid(), *(l.split()[1] for l in open('/proc/1/status') if l[:6] in ('CapEff', 'NoNewP')))"
)


class Story:
    """One stack and the steps of its verification; `say` gets a line for each result."""

    def __init__(self, engine: Engine, say: Callable[[str], None]) -> None:
        self._engine, self._say = engine, say
        # As a newcomer would: every secret that docker-compose.yml requires, and default settings.
        folder = engine.directory / "secrets"
        subprocess.run(["deploy/make-secrets", str(folder)], check=True)
        self._secret = (folder / "NEXUS_JWT_SECRET").read_text().strip()
        self._environment = engine.directory / "stack.env"
        self._environment.write_text(f"SECRETS={folder}\n")

    async def tell(self) -> None:
        """Runs all steps, from up to down. Raises VerifyError at the first failure."""
        # An interrupted run may have left containers with other secrets in a kept directory.
        self._down()
        try:
            began = time.monotonic()
            self._up()
            await self._healthy()
            self._say(f"up: {len(self._containers())} containers healthy after {time.monotonic() - began:.0f} s")
            self._hardened()
            await self._company()
            await self._asked("asked at each gateway")
            self._up("--scale", "gateway=3", "--scale", "agent=3")
            await self._healthy()
            await self._asked("gateway and agent scaled to three, asked at each")
            await self._killed()
            self._doctor()
            self._stopped()
        except BaseException:
            with contextlib.suppress(VerifyError):
                self._say(self._compose("logs", "--no-color", "--tail", "30"))
            raise
        finally:
            self._down()

    def _compose(self, *arguments: str) -> str:
        return self._engine.compose(*arguments, files=FILES, environment=self._environment)

    def _down(self) -> None:
        self._compose("down", "--volumes", "--timeout", "5")

    def _up(self, *options: str) -> None:
        self._compose("up", "--detach", "--no-build", "--no-recreate", *options)

    def _containers(self, service: str | None = None) -> list[dict[str, Any]]:
        """Returns the containers of one service, or of the stack."""
        filters = ["--filter", "label=com.docker.compose.project=nexus-verify"]
        if service:
            filters += ["--filter", f"label=com.docker.compose.service={service}"]
        ids = self._engine.docker("ps", "--all", "--quiet", *filters).split()
        return self._engine.inspect(*ids)

    async def _healthy(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT
        while True:
            states = {
                container["Name"]: container["State"].get("Health", {}).get("Status")
                for container in self._containers()
            }
            if states and all(state == "healthy" for state in states.values()):
                return
            if time.monotonic() > deadline:
                # Health checks must answer within a second, which is impossible on an overloaded machine.
                load = f"the machine's load is {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors"
                raise VerifyError(f"not healthy within {READY_TIMEOUT:g} s ({load}): {states}")
            await asyncio.sleep(1)

    def _hardened(self) -> None:
        for service in SERVICES:
            name = self._containers(service)[0]["Name"]
            inside = self._engine.try_in(name, "python", "-c", IDENTITY_SCRIPT).stdout.split()
            if inside[:1] != ["10001"] or set(inside[1]) != {"0"} or inside[2:] != ["1"]:
                raise VerifyError(f"{service}: user, capabilities, no new privileges: {inside}")
            if "Read-only file system" not in self._engine.try_in(name, "python", "-c", WRITE_SCRIPT).stderr:
                raise VerifyError(f"{service}: its root is written to")
        self._say("each service: not root, no capability, no new privileges, root read-only")

    async def _company(self) -> None:
        token = self._token("admin", "admin")
        headers = {"Authorization": f"Bearer {token}"}
        settings = {"companyId": COMPANY, "aiAutoResponseEnabled": True, "profile": "trading"}
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as http,
            http.post(f"{self._gateways()[0]}/v2/llm/config", json=settings, headers=headers) as answer,
        ):
            if answer.status not in (200, 201):
                raise VerifyError(f"no company is made: {answer.status} {await answer.text()}")

    def _token(self, role: str, subject: str) -> str:
        settings = TokenSettings(jwt_secret=SecretStr(self._secret))
        return TokenMinter(settings).mint(sub=subject, role=role, company=COMPANY)

    def _gateways(self) -> list[str]:
        ports = [container["NetworkSettings"]["Ports"]["8080/tcp"] for container in self._containers("gateway")]
        return sorted(f"http://127.0.0.1:{bound[0]['HostPort']}" for bound in ports if bound)

    async def _asked(self, label: str) -> None:
        waits: list[float] = []
        for url in self._gateways():
            async with ChatClient(url, self._token("visitor", f"v{time.monotonic_ns()}")) as client:
                await client.hello(locale="en")
                began = time.monotonic()
                answer = await asyncio.wait_for(client.ask(QUESTION), ANSWER_TIMEOUT)
                waits.append(time.monotonic() - began)
                if answer["role"] != "assistant" or not answer["text"]:
                    raise VerifyError(f"{url} answers {answer['text']!r}")
        self._say(f"{label}: {len(waits)} of {len(waits)} answered, the longest wait {max(waits):.1f} s")

    async def _killed(self) -> None:
        """Kills one container of each service at the same time, while a visitor asks."""
        victims = [self._containers(service)[0] for service in SERVICES if service != "gateway"]
        victims.append(self._containers("gateway")[-1])
        async with ChatClient(self._survivor(victims[-1]), self._token("visitor", "beside")) as client:
            await client.hello(locale="en")
            for container in victims:
                os.kill(container["State"]["Pid"], signal.SIGKILL)
            await asyncio.wait_for(client.ask(QUESTION), ANSWER_TIMEOUT)
        began = time.monotonic()
        ids = [container["Id"] for container in victims]
        while any(container["RestartCount"] == 0 for container in self._engine.inspect(*ids)):
            if time.monotonic() - began > ANSWER_TIMEOUT:
                raise VerifyError("a killed container was not started again")
            await asyncio.sleep(0.5)
        await self._healthy()
        self._say(f"kill -9 of one of each service: all healthy again after {time.monotonic() - began:.0f} s")
        await self._asked("asked at each gateway after it")

    def _survivor(self, victim: dict[str, Any]) -> str:
        victim_port = victim["NetworkSettings"]["Ports"]["8080/tcp"][0]["HostPort"]
        return next(url for url in self._gateways() if not url.endswith(f":{victim_port}"))

    def _doctor(self) -> None:
        output = self._compose("run", "--rm", "-T", "nexus", "doctor", "--live", "--company", COMPANY)
        self._say(f"nexus doctor --live from its image: {output.strip().splitlines()[-1]}")

    def _stopped(self) -> None:
        """Stops one container of each service with SIGTERM, and checks that it drains."""
        waits: dict[str, float] = {}
        for service in SERVICES:
            container_id = self._containers(service)[0]["Id"]
            began = time.monotonic()
            self._engine.docker("stop", "--time", f"{STOP_TIMEOUT:g}", container_id)
            waits[service] = time.monotonic() - began
            if code := self._engine.inspect(container_id)[0]["State"]["ExitCode"]:
                raise VerifyError(f"{service} ended with {code} after SIGTERM and {waits[service]:.0f} s")
        summary = ", ".join(f"{service} {wait:.1f} s" for service, wait in waits.items())
        self._say(f"SIGTERM: each drained and ended with 0 ({summary})")
