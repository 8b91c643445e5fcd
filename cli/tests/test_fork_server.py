"""Services that are forked from a process that has imported them."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from nexus_cli.stack.child import Child, LogFile
from nexus_cli.testing.stacks import all_gone, fork_server
from runtime.testing.servers import eventually


async def forked(log: LogFile, server: str, **environment: str) -> Child:
    return await Child.start(
        [sys.executable, "-m", "gateway"],
        {"PATH": os.environ["PATH"], **environment},
        log=log,
        on_line=lambda line: None,
        fork_server=server,
    )


async def test_a_fork_has_its_own_environment_output_and_end(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "log")
    child = await forked(log, fork_server(), NEXUS_GATEWAY_PORT="none")
    assert await asyncio.wait_for(child.wait(), 60) == "ended with exit code 1"
    assert "NEXUS_GATEWAY_PORT" in log.last_line()


async def test_a_fork_is_a_process_that_signals_reach_and_leads_its_group(tmp_path: Path) -> None:
    child = await forked(LogFile(tmp_path / "log"), fork_server(), NEXUS_NATS_URL="nats://127.0.0.1:1")
    assert os.getsid(child.pid) == child.pid
    child.kill()
    assert await asyncio.wait_for(child.wait(), 60) == "killed by SIGKILL"
    await eventually(all_gone([child.pid]))


async def test_who_forks_and_is_not_there_is_an_error_of_the_start(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        await forked(LogFile(tmp_path / "log"), str(tmp_path / "nobody"))
