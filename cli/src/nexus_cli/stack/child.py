"""One child process: started so that it cannot outlive the supervisor, its output kept in a log file.

Every child leads a session of its own, so that Ctrl-C reaches the supervisor alone, which then stops things in order,
and so that whatever the child starts can be killed with it, as one group. On Linux the kernel kills the child when
the supervisor dies (PR_SET_PDEATHSIG, which is bound to the thread that forked: start children from the main one).
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1
# Loaded before any fork: nothing but two system calls may happen between fork and exec.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_LINE_LIMIT = 64 * 1024
_LOG_LIMIT = 10 * 1024 * 1024
_FORKED_WITHIN = 10.0


def end_with_parent(number: signal.Signals) -> None:
    """Asks the kernel to send this process `number` when its parent dies. Nothing where there is no such call."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, number)


def is_gone(pid: int) -> bool:
    """True if no such process runs; a zombie, which only waits for its exit code to be read, counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):  # the second where it ended between opening and reading
        return True


class LogFile:
    """The output of one program: at most twice 10 MiB, the older half in `<name>.log.1`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("ab", buffering=0)

    def write(self, data: bytes) -> None:
        """Appends, and starts a new file when this one is full. On a full disk the line is lost, so that its writer
        is not blocked."""
        try:
            self._file.write(data)
        except OSError:
            return
        if self._file.tell() > _LOG_LIMIT:
            self._file.close()
            self.path.replace(self.path.with_name(self.path.name + ".1"))
            self._file = self.path.open("ab", buffering=0)

    def last_line(self) -> str:
        """The last line with any content, for an error message; at most 300 characters."""
        with self.path.open("rb") as file:
            file.seek(max(0, self._file.tell() - 4096))
            lines = [line for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        return lines[-1].strip()[:300] if lines else "none"

    def close(self) -> None:
        self._file.close()


class Forked:
    """A process that a fork server has forked; as asyncio's Process, as far as a Child needs it."""

    def __init__(self, pid: int, told: asyncio.StreamReader, connection: asyncio.StreamWriter) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._connection = connection
        self._ended = asyncio.create_task(self._end(told))

    @classmethod
    async def start(
        cls, server: str, command: Sequence[str], environment: Mapping[str, str], descriptors: Sequence[int]
    ) -> Forked:
        """Has `python -m MODULE` forked; the first descriptor is for its output.

        Raises:
            OSError: the server is not there, or does not answer.
        """
        asked = {"module": command[-1], "environment": dict(environment), "directory": str(Path.cwd())}
        body = json.dumps(asked).encode()
        asking = socket.socket(socket.AF_UNIX)
        asking.settimeout(_FORKED_WITHIN)
        asking.connect(server)
        socket.send_fds(asking, [len(body).to_bytes(4, "big")], descriptors)
        asking.sendall(body)
        asking.setblocking(False)
        told, connection = await asyncio.open_unix_connection(sock=asking)
        async with asyncio.timeout(_FORKED_WITHIN):
            word, _, pid = (await told.readline()).decode().partition(" ")
        if word != "pid":
            connection.close()
            raise ConnectionResetError(f"the fork server at {server} has forked nothing")
        return cls(int(pid), told, connection)

    async def wait(self) -> int:
        """Returns the exit code, which is negative if a signal has killed the process."""
        return await asyncio.shield(self._ended)

    async def _end(self, told: asyncio.StreamReader) -> int:
        # Without a word the server has died, and the kernel has killed what it forked.
        said = (await told.readline()).decode().partition(" ")[2]
        self.returncode = int(said) if said else -signal.SIGKILL
        self._connection.close()
        return self.returncode


class Child:
    """A running child process."""

    def __init__(self, process: Process | Forked, output: asyncio.ReadTransport, pump: asyncio.Task[None]) -> None:
        self._process = process
        self._output = output
        self._pump = pump

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        log: LogFile,
        on_line: Callable[[str], None],
        inherit: Sequence[int] = (),
        fork_server: str | None = None,
    ) -> Child:
        """Starts `command`. `inherit` are file descriptors that it keeps open (the data directory's lock);
        `fork_server`: who forks it (see there).

        Raises:
            OSError: the program cannot be executed.
        """
        parent = os.getpid()

        def before_exec() -> None:
            end_with_parent(signal.SIGKILL)
            if os.getppid() != parent:  # it died before the signal was set: nobody will send it any more
                os._exit(1)

        # A pipe of our own: asyncio's would make `wait` last until the child's own children have closed it as well.
        reading, writing = os.pipe()
        output = asyncio.StreamReader(limit=_LINE_LIMIT)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(output), os.fdopen(reading, "rb", buffering=0)
        )
        try:
            if fork_server is not None:
                process = await Forked.start(fork_server, command, environment, (writing, *inherit))
            else:
                process = await asyncio.create_subprocess_exec(
                    *command,
                    env=dict(environment),
                    stdin=DEVNULL,
                    stdout=writing,
                    stderr=STDOUT,
                    start_new_session=True,
                    pass_fds=tuple(inherit),
                    preexec_fn=before_exec,
                )
        except BaseException:
            transport.close()
            raise
        finally:
            os.close(writing)
        return cls(process, transport, asyncio.create_task(_copy(output, log, on_line)))

    @property
    def pid(self) -> int:
        """The process id, which is its group's id too."""
        return self._process.pid

    async def wait(self) -> str:
        """Waits until it has ended, kills the processes that it left behind, and describes how it ended."""
        code = await self._process.wait()
        self.kill()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._pump), 1.0)
        self._pump.cancel()
        self._output.close()
        if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    @property
    def ended_in_order(self) -> bool:
        """Whether it has ended by itself and without an error."""
        return self._process.returncode == 0

    def ask_to_stop(self) -> None:
        """SIGTERM to the process itself: its own children are its own affair."""
        # Not Process.send_signal: it looks first whether the process has ended, and so takes its exit code away from
        # the one who waits for it.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
                os.kill(self.pid, signal.SIGCONT)  # a stopped process would otherwise sit on the signal

    def kill(self) -> None:
        """SIGKILL to the whole group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


async def _copy(output: asyncio.StreamReader, log: LogFile, on_line: Callable[[str], None]) -> None:
    while True:
        try:
            line = await output.readuntil(b"\n")
        except asyncio.LimitOverrunError as overrun:
            line = await output.readexactly(overrun.consumed) + b"\n"
        except asyncio.IncompleteReadError as end:
            line = end.partial
        if not line:
            return
        log.write(line)
        on_line(line.decode(errors="replace").rstrip())
