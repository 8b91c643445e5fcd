"""Runs a stack in the background: `nexus up --detach` and `nexus down`."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time

from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import StackError, StartFailedError

# Longer than any program may take to get ready, so that the supervisor reports the failure first.
_READY_SECONDS = 180.0
_STOP_SECONDS = 60.0


def start_detached(directory: DataDirectory, *, port: int, services: str) -> str:
    """Starts a supervisor in its own session and waits until it is ready.

    Returns:
        The page's address.

    Raises:
        StackError: it did not start; the message is the supervisor's.
    """
    directory.create()
    log = directory.logs / "supervisor.log"
    command = [sys.executable, "-m", "nexus_cli", "up", "--data", str(directory.path)]
    with log.open("wb") as errors:
        supervisor = subprocess.Popen(
            [*command, "--port", str(port), "--services", services, "--quiet"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    try:
        address = _first_line(supervisor)
    except BaseException:
        supervisor.terminate()
        supervisor.wait(_STOP_SECONDS)
        raise
    if not address:
        supervisor.wait(_STOP_SECONDS)
        text = log.read_text(errors="replace").strip().removeprefix("nexus: ")
        raise StartFailedError(text or f"the stack did not start; see {directory.logs}")
    return address


def stop_running(directory: DataDirectory) -> None:
    """Asks the running supervisor to stop, and waits until it and all its processes are gone.

    Raises:
        NotRunningError: no stack is running.
        StackError: some process still runs after 60 s.
    """
    pid = directory.supervisor()
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + _STOP_SECONDS
    while directory.is_held():
        if time.monotonic() > end:
            raise StackError(f"the stack is still there after {_STOP_SECONDS:g} s; end it with `kill -9 {pid}`")
        time.sleep(0.02)


def _first_line(process: subprocess.Popen[bytes]) -> str:
    """The first line of the process's output; empty if it ended without one."""
    output = process.stdout
    if output is None:
        return ""
    readable, _, _ = select.select([output], [], [], _READY_SECONDS)
    if not readable:
        raise StartFailedError(f"the stack was not ready within {_READY_SECONDS:g} s")
    return output.readline().decode().strip()
