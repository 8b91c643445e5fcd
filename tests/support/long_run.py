"""What the long runs share: a new stack, and lines of progress."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from nexus_cli.drill.stack import RunningStack, drill_environment
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.temporary import stack_in

READY_WITHIN = 120.0


@asynccontextmanager
async def new_stack(directory: Path) -> AsyncGenerator[tuple[RunningStack, DataDirectory]]:
    """Yields a stack in this directory that is ready, and its data."""
    async with stack_in(directory, environment=drill_environment(), cwd=directory) as data:
        stack = RunningStack(data, data.secrets().jwt_secret)
        await stack.ready_again(stack.names, READY_WITHIN)
        yield stack, data


def say(line: str) -> None:
    """Prints a line of progress on standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
