"""The supervisor with real processes that are too small to have faults of their own."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
import resource
import signal
import socket
import struct
import sys
import urllib.request
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from nexus_cli.stack import handshakes
from nexus_cli.stack.child import LogFile
from nexus_cli.stack.datadir import StackProcess
from nexus_cli.stack.errors import StartFailedError
from nexus_cli.stack.program import Program, StopStage
from nexus_cli.stack.supervisor import Backoff, Supervisor
from nexus_cli.testing.stacks import all_gone, is_gone
from runtime.testing.servers import eventually

KILL = signal.SIGKILL
TINY = str(Path(__file__).with_name("tiny.py"))


def tiny(name: str, how: str = "") -> Program:
    """A program that runs tiny.py."""

    def command(port: int) -> list[str]:
        return [sys.executable, "-I", TINY, str(port), how]

    return Program(
        name=name,
        stage=StopStage.SERVICE,
        command=command,
        url=lambda port: f"http://127.0.0.1:{port}",
        probe=handshakes.service,
        ready_within=60.0,
    )


class Seen:
    """What a supervisor has said and recorded."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.running: dict[str, StackProcess] = {}
        self.urls: dict[str, str] = {}

    def record(self, processes: Sequence[StackProcess], urls: Mapping[str, str]) -> None:
        self.running = {process.name: process for process in processes}
        self.urls = dict(urls)

    def said(self, words: str) -> Callable[[], bool]:
        return lambda: any(words in line for line in self.lines)


@asynccontextmanager
async def supervised(
    seen: Seen, logs: Path, programs: list[Program], backoff: Callable[[], Backoff] = Backoff
) -> AsyncGenerator[Supervisor]:
    supervisor = Supervisor(programs, logs=logs, urls={}, say=seen.lines.append, changed=seen.record, backoff=backoff)
    try:
        yield supervisor
    finally:
        await supervisor.stop()


@pytest.fixture
def seen() -> Seen:
    return Seen()


async def test_start_returns_when_every_program_is_ready_and_stop_leaves_none(seen: Seen, tmp_path: Path) -> None:
    async with supervised(seen, tmp_path, [tiny("one"), tiny("two")]) as supervisor:
        await supervisor.start()
        assert set(seen.running) == {"one", "two"}
        for process in seen.running.values():
            assert urllib.request.urlopen(f"{process.url}/readyz", timeout=20).status == 200
        pids = [process.pid for process in seen.running.values()]
    assert all(is_gone(pid) for pid in pids)


async def test_a_program_that_is_killed_is_started_again_and_that_is_said(seen: Seen, tmp_path: Path) -> None:
    async with supervised(seen, tmp_path, [tiny("one")]) as supervisor:
        await supervisor.start()
        first = seen.running["one"]
        os.kill(first.pid, KILL)
        await eventually(lambda: seen.running["one"].pid != first.pid)
        assert seen.running["one"].port == first.port
        assert any("one killed by SIGKILL; starting it again at once" in line for line in seen.lines)
        assert any("one is ready again" in line for line in seen.lines)


async def test_a_program_that_cannot_go_on_by_itself_is_started_again(
    seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nexus_cli.stack.supervisor._ALIVE_POLL_SECONDS", 0.2)
    programs = [replace(tiny(name, name), alive=handshakes.alive) for name in ("well", "stuck")]
    async with supervised(seen, tmp_path, programs) as supervisor:
        await supervisor.start()
        first = {name: process.pid for name, process in seen.running.items()}
        await eventually(lambda: seen.running["stuck"].pid != first["stuck"])
        assert any("stuck cannot go on by itself and is ended" in line for line in seen.lines)
        assert seen.running["well"].pid == first["well"]


async def test_a_first_death_is_followed_by_a_start_at_once_and_only_a_loop_of_deaths_waits(
    seen: Seen, tmp_path: Path
) -> None:
    backoff = Backoff(first_wait=0.1, longest_wait=1.0)
    assert [backoff.wait_after(0.0) for _ in range(7)] == [0.0, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    async with supervised(
        seen, tmp_path, [tiny("one")], lambda: Backoff(first_wait=0.01, longest_wait=0.02)
    ) as supervisor:
        await supervisor.start()
        for wait in ("at once", "in 0.01 s", "in 0.02 s"):
            pid = seen.running["one"].pid
            os.kill(pid, KILL)
            await eventually(seen.said(f"starting it again {wait}"))
            await eventually(lambda pid=pid: seen.running["one"].pid != pid)


async def test_the_last_line_of_one_that_cannot_start_any_more_is_said(seen: Seen, tmp_path: Path) -> None:
    well = tiny("one")
    commands = itertools.chain([well.command], itertools.repeat(tiny("one", "crash").command))

    def command(port: int) -> Sequence[str]:
        return next(commands)(port)

    one = replace(well, command=command)
    async with supervised(seen, tmp_path, [one]) as supervisor:
        await supervisor.start()
        os.kill(seen.running["one"].pid, KILL)
        why = "one ended with exit code 1; its last line: cannot start: no reason; starting it again in 0.1 s"
        await eventually(seen.said(why))


async def test_a_program_that_is_asked_to_end_again_and_again_is_started_at_once_each_time(
    seen: Seen, tmp_path: Path
) -> None:
    async with supervised(seen, tmp_path, [tiny("one", "orderly")]) as supervisor:
        await supervisor.start()
        for _ in range(3):
            pid = seen.running["one"].pid
            os.kill(pid, signal.SIGTERM)
            await eventually(lambda pid=pid: seen.running["one"].pid != pid)
    said = [line.partition(" (log")[0] for line in seen.lines if "starting it again" in line]
    assert said == ["one ended with exit code 0; starting it again at once"] * 3


def test_some_seconds_of_service_make_it_a_first_death_again() -> None:
    backoff = Backoff(first_wait=0.1, longest_wait=10.0, reset_after=5.0)
    assert [backoff.wait_after(seconds) for seconds in (1.0, 1.0, 5.1, 1.0)] == [0.0, 0.1, 0.0, 0.1]


async def test_a_program_that_cannot_start_fails_the_start_with_its_last_words(seen: Seen, tmp_path: Path) -> None:
    async with supervised(
        seen, tmp_path, [tiny("one", "crash")], lambda: Backoff(first_wait=0.001, longest_wait=0.001)
    ) as supervisor:
        with pytest.raises(
            StartFailedError, match=r"one ended with exit code 1; .*cannot start: no reason \(log: .*one\.log"
        ):
            await supervisor.start()


async def test_a_program_that_says_why_it_cannot_start_is_not_started_again(seen: Seen, tmp_path: Path) -> None:
    starts: list[int] = []

    def command(port: int) -> list[str]:
        starts.append(port)
        return [sys.executable, "-I", TINY, str(port), "crash"]

    def reason(line: str) -> str | None:
        return line.partition("cannot start: ")[2] or None

    program = replace(tiny("one"), command=command, notable=str, refusal_reason=reason)
    async with supervised(seen, tmp_path, [program]) as supervisor:
        with pytest.raises(StartFailedError, match=r"^one cannot start: no reason \(log: "):
            await supervisor.start()
    assert (len(starts), seen.lines) == (1, [])


async def test_a_program_that_never_gets_ready_fails_the_start_with_its_reason(seen: Seen, tmp_path: Path) -> None:
    async with supervised(seen, tmp_path, [replace(tiny("one", "unready"), ready_within=5.0)]) as supervisor:
        with pytest.raises(StartFailedError, match=r"one was not ready within 5 s: .*not connected"):
            await supervisor.start()


async def test_a_port_that_somebody_else_got_first_is_given_up_for_another(seen: Seen, tmp_path: Path) -> None:
    given: list[int] = []

    def command(port: int) -> list[str]:
        given.append(port)
        # The first time it does what a server does whose port is taken.
        return [sys.executable, "-I", TINY, str(port), "crash" if len(given) == 1 else ""]

    async with supervised(seen, tmp_path, [replace(tiny("one"), command=command)]) as supervisor:
        await supervisor.start()
        assert seen.running["one"].port == given[1] != given[0]


async def test_a_restart_waits_for_a_port_that_somebodys_connection_has_taken(seen: Seen, tmp_path: Path) -> None:
    """A kernel gives it away while nobody listens there. Started all the same, it would die again and again."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            if "one" in seen.running:
                client = socket.socket()
                # Past connections that have ended; then it shares the port with nobody, and ends without a trace.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                client.bind(("127.0.0.1", seen.running["one"].port))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.connect(server.getsockname())
                taken.append(client)

        program = replace(tiny("one"), before_start=take, keeps_port=True)
        async with supervised(seen, tmp_path, [program]) as supervisor:
            await supervisor.start()
            first = seen.running["one"]
            os.kill(first.pid, KILL)
            me = Path("/proc/self/comm").read_text().strip()
            waits = seen.said(f"one: port {first.port} is taken by {me} (pid {os.getpid()})")
            await eventually(waits)
            taken[0].close()
            await eventually(lambda: seen.running["one"].pid != first.pid)
            assert (seen.running["one"].port, len(taken)) == (first.port, 1)


async def test_a_foreign_server_on_the_port_is_not_taken_for_the_program(seen: Seen, tmp_path: Path) -> None:
    async with supervised(seen, tmp_path, [tiny("other")]) as supervisor:
        await supervisor.start()
        port = seen.running["other"].port

        def sleep(port: int) -> list[str]:
            del port
            return ["sleep", "600"]

        squatted = replace(tiny("one"), command=sleep, port=port, ready_within=2.0)
        async with supervised(Seen(), tmp_path, [squatted]) as second:
            with pytest.raises(StartFailedError, match=f"port {port} belongs to another program"):
                await second.start()


async def test_a_program_starts_only_after_what_it_needs(seen: Seen, tmp_path: Path) -> None:
    given: list[dict[str, str]] = []

    def environment(port: int, urls: Mapping[str, str]) -> dict[str, str]:
        given.append(dict(urls))
        return {}

    server = replace(tiny("server"), stage=StopStage.SERVER)
    user = replace(tiny("user"), needs=("server", "outside"), environment=environment)
    async with supervised(seen, tmp_path, [user, server]) as supervisor:
        await supervisor.start()
        assert given == [{"server": seen.running["server"].url}] == [seen.urls]


async def test_services_are_gone_before_the_servers_are_asked_to_stop(seen: Seen, tmp_path: Path) -> None:
    server = replace(tiny("server"), stage=StopStage.SERVER)
    deaf = replace(tiny("deaf", "deaf"), stop_within=0.5)
    async with supervised(seen, tmp_path, [server, deaf]) as supervisor:
        await supervisor.start()
        pids = {name: process.pid for name, process in seen.running.items()}
        stopping = asyncio.create_task(supervisor.stop())
        while not is_gone(pids["deaf"]):
            assert not is_gone(pids["server"])
            await asyncio.sleep(0.01)
        await stopping
        assert is_gone(pids["server"])
    assert "deaf did not stop within 0.5 s: killed" in seen.lines


async def test_what_a_dead_program_has_started_dies_with_it(seen: Seen, tmp_path: Path) -> None:
    async with supervised(seen, tmp_path, [tiny("one", "parent")]) as supervisor:
        await supervisor.start()
        grandchild = int((tmp_path / "one.log").read_text().split()[1])
        assert not is_gone(grandchild)
        os.kill(seen.running["one"].pid, KILL)
        await eventually(lambda: is_gone(grandchild))


async def test_a_line_without_end_neither_blocks_nor_kills_the_program(seen: Seen, tmp_path: Path) -> None:
    async with supervised(seen, tmp_path, [tiny("one", "loud")]) as supervisor:
        await supervisor.start()
        await eventually(lambda: (tmp_path / "one.log").read_bytes().count(b"x") == 200_000)


async def test_a_stop_while_things_are_starting_leaves_nothing(seen: Seen, tmp_path: Path) -> None:
    never = replace(tiny("one", "unready"), ready_within=3600.0)
    async with supervised(seen, tmp_path, [never, replace(tiny("two"), needs=("one",))]) as supervisor:
        starting = asyncio.create_task(supervisor.start())
        pids = await eventually(lambda: [int(pid) for pid in _children() if "tiny.py" in _command_line(pid)])
        await supervisor.stop()
        await starting
    await eventually(all_gone(pids))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_guard_outlives_signals_and_ends_with_the_supervisor(
    seen: Seen, tmp_path: Path, number: signal.Signals
) -> None:
    async with supervised(seen, tmp_path, [tiny("one")]) as supervisor:
        await supervisor.start()
        guards = [int(pid) for pid in _children() if "guard.py" in _command_line(pid)]
        for guard in guards:
            os.kill(guard, number)
        assert not any(is_gone(guard) for guard in guards)
    await eventually(all_gone(guards))


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def _command_line(pid: str) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


async def test_a_program_that_a_full_disk_has_broken_is_started_again_when_there_is_room(
    seen: Seen, tmp_path: Path
) -> None:
    room = [False]

    def broken_by(line: str) -> bool:
        return "no space" in line and not room[0]

    program = replace(tiny("one", "broken"), is_broken_line=broken_by, has_room=lambda: room[0])
    async with supervised(seen, tmp_path, [program]) as supervisor:
        await supervisor.start()
        first = seen.running["one"].pid
        await eventually(seen.said("one: its disk is full"))
        assert seen.running["one"].pid == first
        room[0] = True
        await eventually(lambda: seen.running["one"].pid != first)


async def test_a_full_disk_below_the_supervisor_neither_ends_nor_silences_it(seen: Seen, tmp_path: Path) -> None:
    full = [False]

    def record(processes: Sequence[StackProcess], urls: Mapping[str, str]) -> None:
        if full[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        seen.record(processes, urls)

    def before_start() -> None:
        if full[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    program = replace(tiny("one"), before_start=before_start)
    supervisor = Supervisor([program], logs=tmp_path, urls={}, say=seen.lines.append, changed=record)
    try:
        await supervisor.start()
        first = seen.running["one"].pid
        full[0] = True
        os.kill(first, KILL)
        await eventually(seen.said("could not be started: [Errno 28]"))
        full[0] = False
        await eventually(lambda: seen.running["one"].pid != first)
    finally:
        await supervisor.stop()


def test_a_line_that_finds_no_room_is_lost_and_the_next_one_is_not(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "one.log")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4, limit[1]))
        log.write(b"lost for its length\n" * 2)
        log.write(b"lost\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)
    log.write(b"kept\n")
    log.close()
    assert log.path.read_bytes().endswith(b"kept\n")


def test_a_process_that_ends_while_it_is_looked_at_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(path: Path) -> str:
        raise ProcessLookupError(errno.ESRCH, "No such process", path)

    assert not is_gone(os.getpid())
    monkeypatch.setattr(Path, "read_text", gone)
    assert is_gone(os.getpid())
