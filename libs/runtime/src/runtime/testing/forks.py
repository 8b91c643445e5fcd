"""For tests: `python -m MODULE …` as a fork of a process that has imported the module already."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any


def start_fork_server(module: str, environment: Mapping[str, str]) -> str:
    """Starts a fork server and returns its socket; it lives as long as this process."""
    path = str(Path(tempfile.mkdtemp(prefix="nexus-")) / "forks")
    process = subprocess.Popen(
        [sys.executable, "-m", module, path],
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def end() -> None:
        process.communicate()
        shutil.rmtree(Path(path).parent)

    atexit.register(end)
    assert select.select([process.stdout], [], [], 120)[0], "the fork server does not listen within 120 s"
    return path


@cache
def _fork_server() -> str:
    return start_fork_server("runtime.testing.fork_server", os.environ)


def fork(
    module: str, *arguments: str, environment: Mapping[str, str], output: IO[Any] | None = None, cwd: Path | None = None
) -> ForkedProcess:
    """Starts `python -m MODULE …` with this environment and without input. `output`: of its output and errors, which
    are otherwise this process's."""
    command, output = [sys.executable, "-m", module, *arguments], output or sys.__stderr__
    assert output is not None
    with Path(os.devnull).open() as nothing:
        return ForkedProcess(command, environment, nothing, output, output, cwd=cwd)


class ForkedProcess:
    """A `python -m MODULE …` that a fork server has forked: a process of its own, with its imports done. It can be used
    as a subprocess.Popen, and ends when it is forgotten."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *standard: IO[Any],
        cwd: Path | None = None,
        server: str | None = None,
    ) -> None:
        """Starts it. `standard`: its standard input, output and errors; `server`: another fork server's socket."""
        request = {"module": command[2], "arguments": [*command[3:]], "environment": {**environment}}
        body = json.dumps({**request, "directory": str(cwd or Path.cwd())}).encode()
        self._command = command
        self._received = b""
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(server or _fork_server())
        socket.send_fds(self._connection, [len(body).to_bytes(4, "big")], [file.fileno() for file in standard])
        self._connection.sendall(body)
        self.returncode: int | None = None
        self.pid = self._answer(None) or 0
        assert self.pid, f"{command} has not been forked"

    def poll(self) -> int | None:
        """The exit code, if it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end and returns its exit code. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            code = self._answer(timeout)
            # Without an answer the server has died, and the kernel has killed its forks.
            self.returncode = -signal.SIGKILL if code is None else code
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kills it and its group, and waits for its end."""
        if self.poll() is None:
            self._connection.shutdown(socket.SHUT_WR)
            self.wait(60)

    def _answer(self, timeout: float | None) -> int | None:
        """Returns the number of the server's next line, or None if there is none."""
        self._connection.settimeout(timeout)
        while b"\n" not in self._received:
            try:
                part = self._connection.recv(64)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self._command, timeout or 0) from None
            if not part:
                return None
            self._received += part
        line, _, self._received = self._received.partition(b"\n")
        return int(line.split()[1])
