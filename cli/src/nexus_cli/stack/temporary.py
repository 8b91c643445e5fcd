"""A stack, and programs beside it, that run while a command needs them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from contracts.providers import KEYS
from nexus_cli.stack.child import end_with_parent
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import StartFailedError
from nexus_cli.stack.program import FORK_SERVER

_READY_WITHIN = 180.0
_STOPPED_WITHIN = 60.0


def clean_environment() -> dict[str, str]:
    """This process's environment without anybody's settings and keys, and without a model of meaning, which takes a
    core for a while."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name == FORK_SERVER or not (name.startswith("NEXUS_") or name in KEYS.values())
    }
    return kept | {"NEXUS_EMBEDDINGS": "none"}


@asynccontextmanager
async def stack_in(
    directory: Path, *options: str, environment: Mapping[str, str], cwd: Path | None = None
) -> AsyncGenerator[DataDirectory]:
    """`nexus up` with these options and its data below `directory`, for the length of the block. `cwd`: where a `.env`
    is looked for; else where this process runs. It ends with this process, however that ends.

    Raises:
        StartFailedError: something did not start; the message is the supervisor's own.
    """
    data = directory / "data"
    command = ["-m", "nexus_cli", "up", "--data", str(data), "--port", "0", *options]
    async with ready_program(command, log=directory / "supervisor.log", environment=environment, cwd=cwd):
        yield DataDirectory(data)


@asynccontextmanager
async def ready_program(
    arguments: Sequence[str], *, log: Path, environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> AsyncGenerator[str]:
    """A Python program that prints one line when it is ready, for the length of the block; that line. It is told to
    stop when this process dies.

    Raises:
        StartFailedError: it ended without the line, or took too long; the message holds the last line of its log.
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
            # Ctrl-C is for the command, which then stops what it has started.
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
            line = await asyncio.wait_for(process.stdout.readline(), _READY_WITHIN)
        except TimeoutError:
            raise StartFailedError(f"not ready within {_READY_WITHIN:g} s; its last line: {_last_words(log)}") from None
    if not line:
        raise StartFailedError(_last_words(log))
    return line.decode().strip()


def _last_words(log: Path) -> str:
    said = log.read_text(errors="replace").strip().splitlines()
    return said[-1].removeprefix("nexus: ") if said else "none"


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOPPED_WITHIN)
    except TimeoutError:
        process.kill()
        await process.wait()
