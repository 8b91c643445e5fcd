"""The stack of docker-compose.yml out of the images: looked at from inside, asked, scaled, killed and stopped."""

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
READY_WITHIN = 240.0
ANSWERED_WITHIN = 60.0
STOPS_WITHIN = 30.0
WRITES = "import pathlib; pathlib.Path('/opt/nexus/written').write_text('')"
INSIDE = (
    "import os; print(os.getuid(), *(l.split()[1] for l in open('/proc/1/status') if l[:6] in ('CapEff', 'NoNewP')))"
)


class Story:
    """One stack and what is done with it; `say` is told what was seen."""

    def __init__(self, engine: Engine, say: Callable[[str], None]) -> None:
        self._engine, self._say = engine, say
        # As a newcomer does it: every secret that docker-compose.yml asks for, and settings as they are.
        folder = engine.directory / "secrets"
        subprocess.run(["deploy/make-secrets", str(folder)], check=True)
        self._secret = (folder / "NEXUS_JWT_SECRET").read_text().strip()
        self._environment = engine.directory / "stack.env"
        self._environment.write_text(f"SECRETS={folder}\n")

    async def tell(self) -> None:
        """From up to down. Raises VerifyError at the first thing that is not as it has to be."""
        # What a run that was broken off has left in a kept directory has other secrets.
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
        """Of one service, or of the stack."""
        filters = ["--filter", "label=com.docker.compose.project=nexus-verify"]
        if service:
            filters += ["--filter", f"label=com.docker.compose.service={service}"]
        ids = self._engine.docker("ps", "--all", "--quiet", *filters).split()
        return self._engine.inspect(*ids)

    async def _healthy(self) -> None:
        end = time.monotonic() + READY_WITHIN
        while True:
            states = {one["Name"]: one["State"].get("Health", {}).get("Status") for one in self._containers()}
            if states and all(state == "healthy" for state in states.values()):
                return
            if time.monotonic() > end:
                # Checks have to answer within a second, which nothing does on a machine that is overloaded.
                load = f"the machine's load is {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors"
                raise VerifyError(f"not healthy within {READY_WITHIN:g} s ({load}): {states}")
            await asyncio.sleep(1)

    def _hardened(self) -> None:
        for service in SERVICES:
            name = self._containers(service)[0]["Name"]
            inside = self._engine.try_in(name, "python", "-c", INSIDE).stdout.split()
            if inside[:1] != ["10001"] or set(inside[1]) != {"0"} or inside[2:] != ["1"]:
                raise VerifyError(f"{service}: user, capabilities, no new privileges: {inside}")
            if "Read-only file system" not in self._engine.try_in(name, "python", "-c", WRITES).stderr:
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
        ports = [one["NetworkSettings"]["Ports"]["8080/tcp"] for one in self._containers("gateway")]
        return sorted(f"http://127.0.0.1:{bound[0]['HostPort']}" for bound in ports if bound)

    async def _asked(self, what: str) -> None:
        waits: list[float] = []
        for url in self._gateways():
            async with ChatClient(url, self._token("visitor", f"v{time.monotonic_ns()}")) as client:
                await client.hello(locale="en")
                began = time.monotonic()
                answer = await asyncio.wait_for(client.ask(QUESTION), ANSWERED_WITHIN)
                waits.append(time.monotonic() - began)
                if answer["role"] != "assistant" or not answer["text"]:
                    raise VerifyError(f"{url} answers {answer['text']!r}")
        self._say(f"{what}: {len(waits)} of {len(waits)} answered, the longest wait {max(waits):.1f} s")

    async def _killed(self) -> None:
        """One container of each service, all together, beside somebody who asks."""
        victims = [self._containers(service)[0] for service in SERVICES if service != "gateway"]
        victims.append(self._containers("gateway")[-1])
        async with ChatClient(self._survivor(victims[-1]), self._token("visitor", "beside")) as client:
            await client.hello(locale="en")
            for one in victims:
                os.kill(one["State"]["Pid"], signal.SIGKILL)
            await asyncio.wait_for(client.ask(QUESTION), ANSWERED_WITHIN)
        began = time.monotonic()
        ids = [one["Id"] for one in victims]
        while any(one["RestartCount"] == 0 for one in self._engine.inspect(*ids)):
            if time.monotonic() - began > ANSWERED_WITHIN:
                raise VerifyError("a killed container was not started again")
            await asyncio.sleep(0.5)
        await self._healthy()
        self._say(f"kill -9 of one of each service: all healthy again after {time.monotonic() - began:.0f} s")
        await self._asked("asked at each gateway after it")

    def _survivor(self, victim: dict[str, Any]) -> str:
        gone = victim["NetworkSettings"]["Ports"]["8080/tcp"][0]["HostPort"]
        return next(url for url in self._gateways() if not url.endswith(f":{gone}"))

    def _doctor(self) -> None:
        said = self._compose("run", "--rm", "-T", "nexus", "doctor", "--live", "--company", COMPANY)
        self._say(f"nexus doctor --live from its image: {said.strip().splitlines()[-1]}")

    def _stopped(self) -> None:
        """SIGTERM to one of each: the end of its drain."""
        waits: dict[str, float] = {}
        for service in SERVICES:
            one = self._containers(service)[0]["Id"]
            began = time.monotonic()
            self._engine.docker("stop", "--time", f"{STOPS_WITHIN:g}", one)
            waits[service] = time.monotonic() - began
            if code := self._engine.inspect(one)[0]["State"]["ExitCode"]:
                raise VerifyError(f"{service} ended with {code} after SIGTERM and {waits[service]:.0f} s")
        told = ", ".join(f"{service} {wait:.1f} s" for service, wait in waits.items())
        self._say(f"SIGTERM: each drained and ended with 0 ({told})")
