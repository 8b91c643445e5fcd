"""The service as processes, for tests: started on real servers, observed by their logs, killed when a test wants."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import urllib.request
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from runtime.testing.servers import MongoDatabase, NatsServer, eventually

START_SECONDS = 60.0
"""A busy machine takes this long to import what signals and indicators need."""


class Process:
    """A process of `python -m market_adapter`, and its log."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self.process = process
        self.log = log

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The log lines of one event so far."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    async def ready(self) -> None:
        """Waits until /readyz reports that it is ready."""

        async def ok() -> bool:
            if self.process.returncode is not None:
                raise RuntimeError(f"the service has ended:\n{self.log.read_text()}")
            listening = self.logged("service.listening")
            return bool(listening) and await asyncio.to_thread(is_ready, listening[0]["port"])

        await eventually(ok, deadline=START_SECONDS)

    async def end(self, how: signal.Signals) -> int:
        """Sends a signal and waits for the end; returns the exit code."""
        self.process.send_signal(how)
        return await asyncio.wait_for(self.process.wait(), START_SECONDS)


def is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


class Stack:
    """Starts service processes against one NATS and one MongoDB."""

    def __init__(self, nats: NatsServer, mongo: MongoDatabase, directory: Path) -> None:
        self._nats, self._mongo, self._directory = nats, mongo, directory
        self._count = 0

    @contextlib.asynccontextmanager
    async def service(self, seconds_per_bar: float = 0, **env: str) -> AsyncGenerator[Process]:
        self._count += 1
        log = self._directory / f"{self._count}.log"
        settings = {
            "NEXUS_DEV": "1",
            "NEXUS_NATS_URL": self._nats.url,
            "NEXUS_MONGODB_URL": self._mongo.url,
            "NEXUS_MONGODB_DATABASE": self._mongo.database,
            "NEXUS_SAMPLE_SECONDS_PER_BAR": str(seconds_per_bar),
            "NEXUS_LOG_FORMAT": "json",
        }
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "market_adapter",
                env={**os.environ, **settings, **env},
                cwd=self._directory,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
            )
        try:
            yield Process(process, log)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
