"""A child process that cannot outlive the supervisor, and whose output goes to a log file.

Every child leads its own session, so that Ctrl-C reaches only the supervisor, which then stops things in order, and so
that the child and all processes that it starts can be killed as one group. On Linux the kernel kills the child when
the supervisor dies (PR_SET_PDEATHSIG, which is bound to the thread that forked: start children from the main one).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from runtime.lifecycle.parent import end_with_parent

# Loaded before any fork, since only two system calls may happen between fork and exec.
_LINE_LIMIT = 64 * 1024
_LOG_LIMIT = 10 * 1024 * 1024
_FORK_SECONDS = 10.0


def is_gone(pid: int) -> bool:
    """Whether no such process runs. A zombie, which only waits for its exit code to be read, counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):  # ProcessLookupError: it ended between opening and reading
        return True


class LogFile:
    """The log file of one program: at most twice 10 MiB, the older half in `<name>.log.1`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("ab", buffering=0)

    def write(self, data: bytes) -> None:
        """Appends, and starts a new file when this one is full. On a full disk the line is dropped instead of blocking
        the program."""
        try:
            self._file.write(data)
        except OSError:
            return
        if self._file.tell() > _LOG_LIMIT:
            self._file.close()
            self.path.replace(self.path.with_name(self.path.name + ".1"))
            self._file = self.path.open("ab", buffering=0)

    def last_line(self) -> str:
        """The last line that is not blank, at most 300 characters; `none` if there is none."""
        with self.path.open("rb") as file:
            file.seek(max(0, self._file.tell() - 4096))
            lines = [line for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        return lines[-1].strip()[:300] if lines else "none"

    def close(self) -> None:
        self._file.close()


class Forked:
    """A process that the fork server has forked, with the part of asyncio's Process that a Child needs."""

    def __init__(self, pid: int, reader: asyncio.StreamReader, connection: asyncio.StreamWriter) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._connection = connection
        self._ended = asyncio.create_task(self._end(reader))

    @classmethod
    async def start(
        cls, server: str, command: Sequence[str], environment: Mapping[str, str], descriptors: Sequence[int]
    ) -> Forked:
        """Lets the fork server start `python -m MODULE …`. The first three descriptors are its standard ones.

        Raises:
            OSError: the server is not running or does not answer.
        """
        module, *arguments = command[2:]
        request = {"module": module, "arguments": arguments, "environment": dict(environment)}
        body = json.dumps({**request, "directory": str(Path.cwd())}).encode()
        connecting_socket = socket.socket(socket.AF_UNIX)
        connecting_socket.settimeout(_FORK_SECONDS)
        connecting_socket.connect(server)
        socket.send_fds(connecting_socket, [len(body).to_bytes(4, "big")], descriptors)
        connecting_socket.sendall(body)
        connecting_socket.setblocking(False)
        reader, connection = await asyncio.open_unix_connection(sock=connecting_socket)
        async with asyncio.timeout(_FORK_SECONDS):
            answer, _, pid = (await reader.readline()).decode().partition(" ")
        if answer != "pid":
            connection.close()
            raise ConnectionResetError(f"the fork server at {server} has forked nothing")
        return cls(int(pid), reader, connection)

    async def wait(self) -> int:
        """Waits for the end of the process and returns its exit code, which is negative if a signal killed it."""
        return await asyncio.shield(self._ended)

    async def _end(self, reader: asyncio.StreamReader) -> int:
        # An empty line: the server has died, and the kernel has killed its forks.
        exit_code = (await reader.readline()).decode().partition(" ")[2]
        self.returncode = int(exit_code) if exit_code else -signal.SIGKILL
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
        """Starts `command`. `inherit`: file descriptors that it keeps open (the data directory's lock); `fork_server`:
        socket of the server that forks it.

        Raises:
            OSError: the program cannot be executed.
        """
        parent = os.getpid()

        def before_exec() -> None:
            end_with_parent(signal.SIGKILL)
            if os.getppid() != parent:  # the parent died before the signal was set, so that it will never be sent
                os._exit(1)

        # Not asyncio's pipe, with which `wait` would last until the child's own children have closed it as well.
        reading, writing = os.pipe()
        output = asyncio.StreamReader(limit=_LINE_LIMIT)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(output), os.fdopen(reading, "rb", buffering=0)
        )
        try:
            if fork_server is not None:
                nothing = os.open(os.devnull, os.O_RDONLY)
                try:
                    descriptors = (nothing, writing, writing, *inherit)
                    process = await Forked.start(fork_server, command, environment, descriptors)
                finally:
                    os.close(nothing)
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
        return cls(process, transport, asyncio.create_task(_copy_output(output, log, on_line)))

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self._process.pid

    async def wait(self) -> str:
        """Waits for its end, kills the processes that it left behind, and returns a description of how it ended."""
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
        """Whether it has ended with exit code 0."""
        return self._process.returncode == 0

    def ask_to_stop(self) -> None:
        """Sends SIGTERM to the process itself, which stops its own children."""
        # Not Process.send_signal: it first checks whether the process has ended, and so takes the exit code away
        # from `wait`.
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
                os.kill(self.pid, signal.SIGCONT)  # a stopped process would not handle the signal

    def kill(self) -> None:
        """Sends SIGKILL to the whole group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


async def _copy_output(output: asyncio.StreamReader, log: LogFile, on_line: Callable[[str], None]) -> None:
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
