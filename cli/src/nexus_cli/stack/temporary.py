"""Stacks and programs that run only while a command needs them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from contracts.providers import KEYS
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import StartFailedError
from nexus_cli.stack.program import FORK_SERVER
from runtime.lifecycle.parent import end_with_parent

_READY_SECONDS = 180.0
_STOP_SECONDS = 60.0
LIFTED_LIMITS = {
    f"NEXUS_GATEWAY_{name}_PER_ADDRESS": "1000000" for name in ("MESSAGES", "CONVERSATIONS", "TOKENS", "CONNECTIONS")
}
"""Variables without limits for each address, for a stack whose people all come from one address."""


def clean_environment() -> dict[str, str]:
    """This process's environment without settings and keys, and without embeddings, which occupy a processor for a
    while."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name == FORK_SERVER or not (name.startswith("NEXUS_") or name in KEYS.values())
    }
    return inherited | {"NEXUS_EMBEDDINGS": "none"}


@asynccontextmanager
async def stack_in(
    directory: Path, *options: str, environment: Mapping[str, str], cwd: Path | None = None
) -> AsyncGenerator[DataDirectory]:
    """Runs `nexus up` with these options and its data below `directory`, for the length of the block. `cwd`: the folder
    in which it looks for `.env`; None: this process's folder. It ends with this process, however that ends.

    Raises:
        StartFailedError: a server or service did not start; the message is the supervisor's.
    """
    data = directory / "data"
    command = ["-m", "nexus_cli", "up", "--data", str(data), "--port", "0", *options]
    async with ready_program(command, log=directory / "supervisor.log", environment=environment, cwd=cwd):
        yield DataDirectory(data)


@asynccontextmanager
async def ready_program(
    arguments: Sequence[str], *, log: Path, environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> AsyncGenerator[str]:
    """Runs a Python program that prints one line when it is ready, for the length of the block; yields that line. It
    gets SIGTERM when this process dies.

    Raises:
        StartFailedError: it ended without the line, or took too long; the message has the last line of its log.
    """
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            cwd=cwd,
            env=environment,
            preexec_fn=lambda: end_with_parent(signal.SIGTERM),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            # So that Ctrl-C reaches only the command, which then stops the program.
            start_new_session=True,
        )
    try:
        yield await _first_line(process, log)
    finally:
        await _end(process)


async def _first_line(process: asyncio.subprocess.Process, log: Path) -> str:
    line = b""
    if process.stdout is not None:
        try:
            line = await asyncio.wait_for(process.stdout.readline(), _READY_SECONDS)
        except TimeoutError:
            raise StartFailedError(f"not ready within {_READY_SECONDS:g} s; its last line: {_last_line(log)}") from None
    if not line:
        raise StartFailedError(_last_line(log))
    return line.decode().strip()


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("nexus: ") if lines else "none"


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
