"""Starts programs, keeps them running, and stops them in order, whatever the programs are."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nexus_cli.stack import guard, ports
from nexus_cli.stack.child import Child, LogFile
from nexus_cli.stack.datadir import StackProcess
from nexus_cli.stack.errors import StartFailedError
from nexus_cli.stack.handshakes import NotServingError
from nexus_cli.stack.program import FORK_SERVER, Program, StopStage

_PROBE_SECONDS = 0.03
_MAX_FIRST_STARTS = 3
_KILL_SECONDS = 5.0
_ROOM_POLL_SECONDS = 1.0
_PORT_POLL_SECONDS = 0.05
_PORT_SECONDS = 60.0
"""Seconds for which a restart waits for its port: as long as the system keeps the port of an ended connection."""
_ALIVE_POLL_SECONDS = 5.0
_MAX_STUCK_REPORTS = 3
"""Reports in a row before a program is ended: one that was paused needs a moment to recover when it continues."""


class Backoff:
    """Computes the wait before a restart: none after the first failure, then 0.1 s, doubled each time, at most 10 s.
    After five seconds of service the next failure counts as the first again."""

    def __init__(self, first_wait: float = 0.1, longest_wait: float = 10.0, reset_after: float = 5.0) -> None:
        self._first_wait = first_wait
        self._longest_wait = longest_wait
        self._reset_after = reset_after
        self._next = 0.0

    def wait_after(self, served_seconds: float) -> float:
        """Seconds to wait after a run that served for `served_seconds` seconds."""
        if served_seconds >= self._reset_after:
            self._next = 0.0
        wait = self._next
        self._next = min(max(wait * 2, self._first_wait), self._longest_wait)
        return wait


@dataclass(frozen=True)
class _ProgramRun:
    """The outcome of one run of a program. `ending`: description of its end. `served_seconds`: from being ready to the
    end. `in_order`: ended without an error, e.g. because somebody stopped it, which is no failure. `is_late`: was not
    ready in time. `line_shown`: a line of its log was shown on the terminal."""

    ending: str
    served_seconds: float = 0.0
    in_order: bool = False
    is_late: bool = False
    line_shown: bool = False


class Supervisor:
    """Runs a set of programs.

    Args:
        programs: the programs; a name in `needs` that is not among them is an external server, which must be ready.
        logs: directory of the log files.
        urls: addresses of external servers by name; those of the programs of stage SERVER are added.
        say: prints a line on the terminal.
        changed: called whenever the set of running processes or the addresses have changed.
        inherit: file descriptors that every child keeps open.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        *,
        logs: Path,
        urls: Mapping[str, str],
        say: Callable[[str], None],
        changed: Callable[[Sequence[StackProcess], Mapping[str, str]], None],
        inherit: Sequence[int] = (),
        backoff: Callable[[], Backoff] = Backoff,
    ) -> None:
        self._programs = programs
        self._logs = logs
        self._urls = dict(urls)
        self._say = say
        self._changed = changed
        self._inherit = inherit
        self._backoff = backoff
        self._ready = {program.name: asyncio.Event() for program in programs}
        self._children: dict[str, Child] = {}
        self._running: dict[str, StackProcess] = {}
        self._ports: dict[str, int] = {}
        self._taken_ports: set[int] = set()
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self._stopping = asyncio.Event()
        self._guard: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts all programs; returns when each has been ready once.

        Raises:
            StartFailedError: a program kept ending or was not ready in time. The others keep running: call `stop` in
                any case.
        """
        self._guard = await _start_guard()
        self._keepers = {
            program.name: asyncio.create_task(self._keep(program), name=program.name) for program in self._programs
        }
        all_ready = asyncio.create_task(self._wait_for_all())
        try:
            await asyncio.wait([all_ready, *self._keepers.values()], return_when=asyncio.FIRST_COMPLETED)
        finally:
            all_ready.cancel()
        self._raise_failure()

    async def _wait_for_all(self) -> None:
        for event in self._ready.values():
            await event.wait()

    async def watch(self) -> None:
        """Runs until `stop` is called or a program has failed for good.

        Raises:
            StartFailedError: a program could not be kept running.
        """
        await asyncio.wait(self._keepers.values(), return_when=asyncio.FIRST_COMPLETED)
        self._raise_failure()

    async def stop(self) -> None:
        """Stops the services, then the servers. A program that does not stop in time is killed."""
        self._stopping.set()
        for stage in sorted(StopStage, reverse=True):
            members = [program for program in self._programs if program.stage is stage]
            await asyncio.gather(*(self._end(program) for program in members))
        await asyncio.gather(*self._keepers.values(), return_exceptions=True)
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            await self._guard.wait()

    def kill(self) -> None:
        """Kills all programs at once, so that `stop` need not wait."""
        for child in self._children.values():
            child.kill()

    # ---- one program

    async def _keep(self, program: Program) -> None:
        for name in program.needs:
            if name in self._ready and await self._is_stopped_before(self._ready[name].wait()):
                return
        log = LogFile(self._logs / f"{program.name}.log")
        backoff = self._backoff()
        failures = 0
        try:
            while not self._stopping.is_set():
                is_first_start = not self._ready[program.name].is_set()
                try:
                    run = await self._run_once(program, log)
                except OSError as error:  # e.g. its files cannot be written: a full disk may have room later
                    if is_first_start:
                        raise
                    run = _ProgramRun(f"could not be started: {error}")
                if self._stopping.is_set():
                    return
                is_first_start = not self._ready[program.name].is_set()
                failures += is_first_start
                if is_first_start and (run.is_late or failures == _MAX_FIRST_STARTS):
                    raise StartFailedError(
                        f"{program.name} {run.ending}; its last line: {log.last_line()} (log: {log.path})"
                    )
                wait = 0.0 if run.in_order else backoff.wait_after(run.served_seconds)
                if not is_first_start:
                    when_text = f"in {wait:g} s" if wait else "at once"
                    last_line_note = (
                        "" if run.served_seconds or run.line_shown else f"its last line: {log.last_line()}; "
                    )
                    self._say(
                        f"{program.name} {run.ending}; {last_line_note}starting it again {when_text} (log: {log.path})"
                    )
                if wait and await self._is_stopped_before(asyncio.sleep(wait)):
                    return
        finally:
            log.close()

    async def _run_once(self, program: Program, log: LogFile) -> _ProgramRun:
        program.before_start()
        port = self._port_for(program)
        await self._wait_until_free(program, port)

        disk_full, line_shown = asyncio.Event(), asyncio.Event()
        is_first_start, refusals = not self._ready[program.name].is_set(), list[str]()

        def on_line(line: str) -> None:
            if program.is_broken_line(line):
                disk_full.set()
            if is_first_start and (refusal := program.refusal_reason(line)):
                refusals.append(refusal)
            elif not self._stopping.is_set() and (text := program.notable(line)):
                line_shown.set()
                self._say(f"{program.name}: {text}")

        child = await Child.start(
            program.command(port),
            {**os.environ, **program.environment(port, self._urls)},
            log=log,
            on_line=on_line,
            inherit=self._inherit,
            fork_server=(os.environ.get(FORK_SERVER) or None) if program.forked else None,
        )
        self._children[program.name] = child
        self._tell_guard(f"+{child.pid}")
        if self._stopping.is_set():
            child.kill()
        end = asyncio.create_task(child.wait())
        ready = asyncio.create_task(self._wait_until_ready(program, child.pid, port))
        mending = asyncio.create_task(self._restart_after_full_disk(program, child, disk_full))
        try:
            await asyncio.wait([end, ready], return_when=asyncio.FIRST_COMPLETED)
            if end.done():
                self._forget_port(program)
                if refusals:
                    raise StartFailedError(f"{program.name} cannot start: {refusals[0]} (log: {log.path})")
                return _ProgramRun(end.result(), line_shown=line_shown.is_set())
            if (reason := ready.result()) is not None:
                return _ProgramRun(f"was not ready within {program.ready_within:g} s: {reason}", is_late=True)
            self._mark_ready(program, child.pid, port)
            watching = asyncio.create_task(self._watch_over(program, child, port))
            end.add_done_callback(lambda _: watching.cancel())
            ready_at = time.monotonic()
            ending = await asyncio.shield(end)
            return _ProgramRun(ending, time.monotonic() - ready_at, child.ended_in_order)
        finally:
            ready.cancel()
            mending.cancel()
            if not end.done():
                child.kill()
                await end
            del self._children[program.name]
            self._tell_guard(f"-{child.pid}")

    async def _restart_after_full_disk(self, program: Program, child: Child, disk_full: asyncio.Event) -> None:
        """Ends a program that a full disk has broken, once there is room; then it is started again."""
        await disk_full.wait()
        self._say(f"{program.name}: its disk is full; make room, and it is started again by itself")
        while not program.has_room():  # noqa: ASYNC110 - there is no notification when a disk has room
            await asyncio.sleep(_ROOM_POLL_SECONDS)
        await _end_child(program, child)

    async def _watch_over(self, program: Program, child: Child, port: int) -> None:
        """Ends a program that reports that only a restart helps, so that it is started again. A program that does not
        answer is left alone, since it may be paused or the machine busy."""
        reports = 0
        while program.alive is not None:
            await asyncio.sleep(_ALIVE_POLL_SECONDS)
            try:
                await program.alive(port)
                reports = 0
            except NotServingError as error:
                reports += 1
                if reports == _MAX_STUCK_REPORTS:
                    self._say(f"{program.name} cannot go on by itself and is ended: {error}")
                    await _end_child(program, child)
                    return
            except (OSError, EOFError, ValueError):
                reports = 0

    async def _is_stopped_before(self, event: Coroutine[Any, Any, object]) -> bool:
        """Waits for `event`, or for the stop of the stack; returns True if it is being stopped."""
        tasks = [asyncio.create_task(event), asyncio.create_task(self._stopping.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        return self._stopping.is_set()

    async def _wait_until_ready(self, program: Program, pid: int, port: int) -> str | None:
        """Waits until the program is ready. Returns None, or the last reason why not when its time is over."""
        end = time.monotonic() + program.ready_within
        reason = "nothing answered"
        while time.monotonic() < end:
            try:
                await program.probe(port)
                if ports.listens(pid, port):
                    return None
                reason = f"port {port} belongs to another program"
            except NotServingError as error:
                reason = str(error)
            except (OSError, EOFError, ValueError) as error:
                reason = str(error) or type(error).__name__
            await asyncio.sleep(_PROBE_SECONDS)
        return reason

    def _port_for(self, program: Program) -> int:
        if program.port is not None:
            return program.port
        port = self._ports.get(program.name)
        if port is None or not (program.keeps_port or ports.is_free(port)):
            port = self._ports[program.name] = ports.choose(self._taken_ports)
        return port

    async def _wait_until_free(self, program: Program, port: int) -> None:
        """Waits while the program's port, which others know, is in use, even by a client's end of a connection. If it
        were started before, it would fail, and the pauses would grow."""
        end = time.monotonic() + _PORT_SECONDS
        if not self._ready[program.name].is_set() or ports.is_free(port):
            return
        owner = ports.owner(port) or "a connection"
        self._say(f"{program.name}: port {port} is taken by {owner}; it is started again as soon as it is free")
        while not ports.is_free(port) and time.monotonic() < end:
            if await self._is_stopped_before(asyncio.sleep(_PORT_POLL_SECONDS)):
                return

    def _forget_port(self, program: Program) -> None:
        """Lets a program that ended before it was ready start on a new port, since another process may have taken the
        old one; but not if others may already know the port."""
        if not (program.keeps_port and self._ready[program.name].is_set()):
            self._ports.pop(program.name, None)

    def _mark_ready(self, program: Program, pid: int, port: int) -> None:
        is_restart = self._ready[program.name].is_set()
        self._running[program.name] = StackProcess(program.name, pid, port, program.url(port))
        if program.stage is StopStage.SERVER:
            self._urls[program.name] = program.url(port)
        self._ready[program.name].set()
        if is_restart:
            self._say(f"{program.name} is ready again")
        try:
            self._changed([self._running[p.name] for p in self._programs if p.name in self._running], self._urls)
        except OSError as error:
            self._say(f"which processes run could not be written down: {error}")

    async def _end(self, program: Program) -> None:
        keeper = self._keepers.get(program.name)
        if keeper is None:
            return
        if (child := self._children.get(program.name)) is not None:
            child.ask_to_stop()
        await asyncio.wait([keeper], timeout=program.stop_within)
        if (child := self._children.get(program.name)) is not None:
            self._say(f"{program.name} did not stop within {program.stop_within:g} s: killed")
            child.kill()
        await asyncio.wait([keeper], timeout=_KILL_SECONDS)

    def _raise_failure(self) -> None:
        for keeper in self._keepers.values():
            if keeper.done() and not keeper.cancelled() and (error := keeper.exception()) is not None:
                raise error

    def _tell_guard(self, line: str) -> None:
        if self._guard is not None and self._guard.stdin is not None and self._guard.returncode is None:
            self._guard.stdin.write(line.encode() + b"\n")


async def _end_child(program: Program, child: Child) -> None:
    child.ask_to_stop()
    await asyncio.sleep(program.stop_within)
    child.kill()


async def _start_guard() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", str(guard.__file__), stdin=asyncio.subprocess.PIPE, start_new_session=True
    )
