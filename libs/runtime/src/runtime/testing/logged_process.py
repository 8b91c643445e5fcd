"""For tests: a service in its own process that is observed by what it logs."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from runtime.testing.forks import ForkedProcess, fork
from runtime.testing.servers import eventually

DEADLINE = 60.0
"""Seconds until it is ready or has ended: a busy machine takes long to import what a service needs."""


class LoggedProcess:
    """A process of `python -m MODULE`, and its log."""

    def __init__(self, process: ForkedProcess, log: Path) -> None:
        self.process = process
        self.log = log

    def logged(self, event: str) -> list[dict[str, Any]]:
        """Returns the log lines of one event so far."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    async def ready(self) -> int:
        """Waits until it is ready; returns its health port."""
        await eventually(lambda: self.logged("service.ready") or self.process.poll() is not None, DEADLINE)
        assert self.process.returncode is None, self.log.read_text()
        return self.logged("service.ready")[0]["port"]

    async def end(self, how: signal.Signals | None = None) -> int:
        """Sends a signal, if one is given, and waits for the end; returns the exit code."""
        if how is not None:
            self.process.send_signal(how)
        await eventually(lambda: self.process.poll() is not None, DEADLINE)
        return self.process.wait()

    async def refusal(self) -> str:
        """Waits until it has ended because it cannot start; returns the reason that it gives."""
        assert await self.end() == 1
        (line,) = self.logged("service.not_ready")
        return line["error"]


@asynccontextmanager
async def logged_process(module: str, log: Path, cwd: Path, **environment: str) -> AsyncGenerator[LoggedProcess]:
    """Starts a service with these variables in addition to this process's; it is killed at the end of the block."""
    settings = {**os.environ, "NEXUS_DEV": "1", "NEXUS_LOG_FORMAT": "json", **environment}
    with log.open("wb") as output:
        process = await asyncio.to_thread(fork, module, environment=settings, output=output, cwd=cwd)
    try:
        yield LoggedProcess(process, log)
    finally:
        process.kill()
