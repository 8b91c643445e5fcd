"""A service that is told to end ends, whichever server stands still at that moment."""

import os
import signal

import pytest

from nexus_cli.stack.services import SERVICES
from nexus_cli.testing.stacks import all_gone
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

GONE_WITHIN = 40.0
"""Far above the stack's drain deadline of ten seconds, and below what a client that hangs would wait."""


@pytest.mark.parametrize("server", ["nats", "redis", "mongodb"])
async def test_every_service_ends_while_a_server_stands_still(stack: RunningStack, server: str) -> None:
    await stack.whole()
    paused = stack.process(server).pid
    services = [stack.process(name).pid for name in SERVICES]
    os.kill(paused, signal.SIGSTOP)
    try:
        for pid in services:
            os.kill(pid, signal.SIGTERM)
        await eventually(all_gone(services), GONE_WITHIN)
    finally:
        os.kill(paused, signal.SIGCONT)
