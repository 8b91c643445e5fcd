"""A stack for one question, started in a temporary directory and removed afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from nexus_cli.stack.temporary import stack_in
from nexus_cli.target import Target, find_target

SERVICES = "agent,tool-executor,memory,market-adapter"


@asynccontextmanager
async def embedded() -> AsyncGenerator[Target]:
    """Runs the servers and services that an analysis needs, for the length of the block.

    Raises:
        StartFailedError: a server or service did not start; the message is the supervisor's.
    """
    # The sample market stays on its last day unless the environment says otherwise.
    environment = {"NEXUS_SAMPLE_SECONDS_PER_BAR": "0", **os.environ}
    with tempfile.TemporaryDirectory(prefix="nexus-ask-") as directory:
        async with stack_in(Path(directory), "--services", SERVICES, environment=environment) as data_directory:
            yield find_target(data_directory.path)
