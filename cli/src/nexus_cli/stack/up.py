"""`nexus up`: builds the stack from the environment and runs it until it is stopped."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_cli.stack import ports
from nexus_cli.stack.bus_users import USERS
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import PortTakenError, UnusableDataError
from nexus_cli.stack.external_servers import DEFAULT_PORTS, require_answer
from nexus_cli.stack.program import Program
from nexus_cli.stack.servers import MIN_FREE_BYTES, embedded
from nexus_cli.stack.services import SERVICES, service_program
from nexus_cli.stack.settings import StackSettings
from nexus_cli.stack.supervisor import Supervisor
from nexus_cli.stack.welcome import welcome

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class UpOptions:
    """The options of `nexus up`. `port` 0 chooses a free one; `services` may leave some out, to run them by hand."""

    port: int = 8080
    services: Sequence[str] = tuple(SERVICES)
    quiet: bool = False
    """Whether to print no welcome, because the program that started it does."""


async def run_stack(
    options: UpOptions,
    directory: DataDirectory,
    settings: StackSettings,
    rewired: Callable[[Program], Program] = lambda program: program,
) -> None:
    """Runs the stack until SIGINT, SIGTERM or SIGHUP; a second signal kills it. Prints the page's address on standard
    output when all is ready, and everything else on standard error. `rewired` changes each program before it is run,
    for drills and tests that put proxies between a service and its servers.

    Raises:
        StackError: it is already running, the port is taken, the disk is full, a server is unreachable, or a program
            did not start.
    """
    directory.create()
    lock = directory.acquire()
    try:
        gateway_port = options.port or ports.choose(set())
        if "gateway" in options.services:
            _require_free(gateway_port)
        external_urls = settings.urls()
        if len(external_urls) < len(DEFAULT_PORTS):
            _require_room(directory.path)
        await asyncio.gather(*(require_answer(name, url) for name, url in external_urls.items()))
        address = f"http://{ports.HOST}:{gateway_port}/"
        supervisor = Supervisor(
            [rewired(program) for program in plan(options, directory, settings, gateway_port)],
            logs=directory.logs,
            urls=external_urls,
            say=say,
            changed=directory.record,
            inherit=[lock],
        )
        welcome_lines: list[str] = []
        if not options.quiet and "gateway" in options.services:
            welcome_lines = welcome(address, directory, settings.secrets_of(directory).jwt_secret, detached=False)
        await _supervise(supervisor, directory, address if "gateway" in options.services else None, welcome_lines)
    finally:
        directory.release()


def plan(options: UpOptions, directory: DataDirectory, settings: StackSettings, gateway_port: int) -> list[Program]:
    """The servers that the environment does not replace, then the services."""
    secrets = settings.secrets_of(directory)
    external_urls = settings.urls()
    passwords = directory.bus_passwords(USERS)
    servers = [embedded(name, directory.path, passwords) for name in DEFAULT_PORTS if name not in external_urls]
    # Only memory may create streams. If it is run by hand or not at all, the others do it, as operators.
    bus = passwords if "nats" not in external_urls and "memory" in options.services else None
    services = [
        service_program(
            name, gateway_port=gateway_port, secrets=secrets, bus_passwords=bus, files=directory.path / "files"
        )
        for name in options.services
    ]
    return [*servers, *services]


async def _supervise(
    supervisor: Supervisor, directory: DataDirectory, address: str | None, welcome_lines: Sequence[str]
) -> None:
    stop_requested = asyncio.Event()

    def on_signal() -> None:
        if stop_requested.is_set():
            supervisor.kill()
        stop_requested.set()

    loop = asyncio.get_running_loop()
    for number in _STOP_SIGNALS:
        # `nohup nexus up` lets SIGHUP be ignored; the other two signals always stop the stack.
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, on_signal)
    stop = asyncio.create_task(stop_requested.wait())
    try:
        if await _done_before(supervisor.start(), stop):
            line = address or f"ready without a gateway; the servers' addresses are in {directory.path / 'stack.json'}"
            directory.announce(line)
            print(line, flush=True)
            for welcome_line in welcome_lines:
                say(welcome_line)
            await _done_before(supervisor.watch(), stop)
        if stop.done():
            say("stopping")
    finally:
        await supervisor.stop()
        stop.cancel()


async def _done_before(work: Coroutine[Any, Any, None], stop: asyncio.Task[bool]) -> bool:
    """Runs `work` unless `stop` ends first; returns whether the work was done."""
    task = asyncio.create_task(work)
    await asyncio.wait([task, stop], return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        await task
        return True
    task.cancel()
    await asyncio.wait([task])
    return False


def _require_free(port: int) -> None:
    if not ports.is_free(port):
        owner = ports.owner(port)
        raise PortTakenError(
            f"port {port} is in use{f' by {owner}' if owner else ''}: stop that program, or choose another port with "
            f"`nexus up --port N` (`make up PORT=N`)"
        )


def _require_room(directory: Path) -> None:
    free = shutil.disk_usage(directory).free
    if free < MIN_FREE_BYTES:
        raise UnusableDataError(
            f"{directory} has {free >> 20} MiB of room, and the servers need {MIN_FREE_BYTES >> 20}: make room, or "
            "choose another directory with --data"
        )


def say(line: str) -> None:
    """Prints a line for the person at the terminal, on standard error."""
    try:
        print(f"nexus: {line}", file=sys.stderr, flush=True)
    except OSError:
        return  # the terminal is gone; the stack continues
