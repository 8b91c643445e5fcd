"""A stack for one question: started quietly in a directory of its own, and removed afterwards."""

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
    """Servers and the services that an analysis needs, for the length of the block.

    Raises:
        StartFailedError: something did not start; the message is the supervisor's own.
    """
    # A question is asked at one moment: the sample market stands on its last day, unless told otherwise.
    environment = {"NEXUS_SAMPLE_SECONDS_PER_BAR": "0", **os.environ}
    with tempfile.TemporaryDirectory(prefix="nexus-ask-") as directory:
        async with stack_in(Path(directory), "--services", SERVICES, environment=environment) as started:
            yield find_target(started.path)
