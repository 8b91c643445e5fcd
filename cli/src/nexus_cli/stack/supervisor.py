"""Starts programs, keeps them running, stops them in order. It knows nothing of what they are."""

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
from nexus_cli.stack.backoff import Backoff
from nexus_cli.stack.child import Child, LogFile
from nexus_cli.stack.datadir import StackProcess
from nexus_cli.stack.errors import StartFailedError
from nexus_cli.stack.handshakes import NotServingError
from nexus_cli.stack.program import FORK_SERVER, Program, StopStage

_PROBE_PAUSE = 0.03
_FIRST_STARTS = 3
_KILLED_WITHIN = 5.0
_LOOK_FOR_ROOM = 1.0
_LOOK_FREE = 0.05
_FREE_WITHIN = 60.0
"""Seconds that a restart waits for its port: as long as the system keeps that of a connection that has ended."""
_LOOK_ALIVE = 5.0
_NOT_ALIVE = 3
"""Looks in a row: a program that was stopped as a whole has not found itself yet when it goes on."""


@dataclass(frozen=True)
class _ProgramRun:
    """The outcome of one run of a program. `served`: seconds from being ready to its end, which it came to in good
    order or not: one that somebody has asked to end is no program that dies again and again. `told`: a line of its log
    was shown."""

    how: str
    served: float = 0.0
    in_order: bool = False
    late: bool = False
    told: bool = False


class Supervisor:
    """Runs a set of programs.

    Args:
        programs: what to run; a name in `needs` that is not among them is taken as there (an outside server).
        logs: directory of the log files.
        urls: addresses of outside servers by name; those of the programs' stage SERVER are added.
        say: takes a line for the person in front of the terminal.
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
        self._taken: set[int] = set()
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self._stopping = asyncio.Event()
        self._guard: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts everything; returns when all of it has been ready once.

        Raises:
            StartFailedError: something ended again and again, or was not ready in time. Nothing is stopped then: call
                `stop` in any case.
        """
        self._guard = await _start_guard()
        self._keepers = {p.name: asyncio.create_task(self._keep(p), name=p.name) for p in self._programs}
        all_ready = asyncio.create_task(self._all_ready())
        try:
            await asyncio.wait([all_ready, *self._keepers.values()], return_when=asyncio.FIRST_COMPLETED)
        finally:
            all_ready.cancel()
        self._raise_failure()

    async def _all_ready(self) -> None:
        for event in self._ready.values():
            await event.wait()

    async def watch(self) -> None:
        """Runs until `stop` is called, or until something has failed for good.

        Raises:
            StartFailedError: a program's keeper gave up.
        """
        await asyncio.wait(self._keepers.values(), return_when=asyncio.FIRST_COMPLETED)
        self._raise_failure()

    async def stop(self) -> None:
        """Stops the services, then the servers: each stage is asked, and killed when its time is over."""
        self._stopping.set()
        for stage in sorted(StopStage, reverse=True):
            members = [p for p in self._programs if p.stage is stage]
            await asyncio.gather(*(self._end(p) for p in members))
        await asyncio.gather(*self._keepers.values(), return_exceptions=True)
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            await self._guard.wait()

    def kill(self) -> None:
        """Kills everything at once; `stop` then has nothing to wait for."""
        for child in self._children.values():
            child.kill()

    # ---- one program

    async def _keep(self, program: Program) -> None:
        for name in program.needs:
            if name in self._ready and await self._stops_before(self._ready[name].wait()):
                return
        log = LogFile(self._logs / f"{program.name}.log")
        backoff = self._backoff()
        failures = 0
        try:
            while not self._stopping.is_set():
                first = not self._ready[program.name].is_set()
                try:
                    run = await self._run_once(program, log)
                except OSError as error:  # its files cannot be written, for one: a full disk may have room again
                    if first:
                        raise
                    run = _ProgramRun(f"could not be started: {error}")
                if self._stopping.is_set():
                    return
                first = not self._ready[program.name].is_set()
                failures += first
                if first and (run.late or failures == _FIRST_STARTS):
                    raise StartFailedError(
                        f"{program.name} {run.how}; its last line: {log.last_line()} (log: {log.path})"
                    )
                wait = 0.0 if run.in_order else backoff.after(run.served)
                if not first:
                    again = f"in {wait:g} s" if wait else "at once"
                    why = "" if run.served or run.told else f"its last line: {log.last_line()}; "
                    self._say(f"{program.name} {run.how}; {why}starting it again {again} (log: {log.path})")
                if wait and await self._stops_before(asyncio.sleep(wait)):
                    return
        finally:
            log.close()

    async def _run_once(self, program: Program, log: LogFile) -> _ProgramRun:
        program.before_start()
        port = self._port_for(program)
        await self._until_free(program, port)

        broken, told = asyncio.Event(), asyncio.Event()
        first, refusals = not self._ready[program.name].is_set(), list[str]()

        def on_line(line: str) -> None:
            if program.broken_by(line):
                broken.set()
            if first and (why := program.refused_by(line)):
                refusals.append(why)
            elif not self._stopping.is_set() and (text := program.notable(line)):
                told.set()
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
        ended = asyncio.create_task(child.wait())
        ready = asyncio.create_task(self._until_ready(program, child.pid, port))
        mending = asyncio.create_task(self._mend(program, child, broken))
        try:
            await asyncio.wait([ended, ready], return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                self._forget_port(program)
                if refusals:
                    raise StartFailedError(f"{program.name} cannot start: {refusals[0]} (log: {log.path})")
                return _ProgramRun(ended.result(), told=told.is_set())
            if (reason := ready.result()) is not None:
                return _ProgramRun(f"was not ready within {program.ready_within:g} s: {reason}", late=True)
            self._mark_ready(program, child.pid, port)
            watching = asyncio.create_task(self._watch_over(program, child, port))
            ended.add_done_callback(lambda _: watching.cancel())
            since = time.monotonic()
            how = await asyncio.shield(ended)
            return _ProgramRun(how, time.monotonic() - since, child.ended_in_order)
        finally:
            ready.cancel()
            mending.cancel()
            if not ended.done():
                child.kill()
                await ended
            del self._children[program.name]
            self._tell_guard(f"-{child.pid}")

    async def _mend(self, program: Program, child: Child, broken: asyncio.Event) -> None:
        """Ends a program that a full disk has broken, once there is room: its keeper starts it again."""
        await broken.wait()
        self._say(f"{program.name}: its disk is full; make room, and it is started again by itself")
        while not program.has_room():  # noqa: ASYNC110 - nothing tells when a disk has room
            await asyncio.sleep(_LOOK_FOR_ROOM)
        await _end_child(program, child)

    async def _watch_over(self, program: Program, child: Child, port: int) -> None:
        """Ends a program that reports that it cannot continue by itself, so that it is started again. A program that
        does not answer has reported nothing: it may be paused, or the machine busy."""
        said = 0
        while program.alive is not None:
            await asyncio.sleep(_LOOK_ALIVE)
            try:
                await program.alive(port)
                said = 0
            except NotServingError as error:
                said += 1
                if said == _NOT_ALIVE:
                    self._say(f"{program.name} cannot go on by itself and is ended: {error}")
                    await _end_child(program, child)
                    return
            except (OSError, EOFError, ValueError):
                said = 0

    async def _stops_before(self, event: Coroutine[Any, Any, object]) -> bool:
        """Waits for `event`; True if the stack is being stopped instead."""
        tasks = [asyncio.create_task(event), asyncio.create_task(self._stopping.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        return self._stopping.is_set()

    async def _until_ready(self, program: Program, pid: int, port: int) -> str | None:
        """None when it is ready; the last reason why not, when its time is over."""
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
            await asyncio.sleep(_PROBE_PAUSE)
        return reason

    def _port_for(self, program: Program) -> int:
        if program.port is not None:
            return program.port
        known = self._ports.get(program.name)
        if known is None or not (program.keeps_port or ports.is_free(known)):
            known = self._ports[program.name] = ports.choose(self._taken)
        return known

    async def _until_free(self, program: Program, port: int) -> None:
        """Waits while the port that others know is in use, even by the client's end of a connection. A program that
        is started meanwhile dies of it, and the pauses grow."""
        end = time.monotonic() + _FREE_WITHIN
        if not self._ready[program.name].is_set() or ports.is_free(port):
            return
        who = ports.owner(port) or "a connection"
        self._say(f"{program.name}: port {port} is taken by {who}; it is started again as soon as it is free")
        while not ports.is_free(port) and time.monotonic() < end:
            if await self._stops_before(asyncio.sleep(_LOOK_FREE)):
                return

    def _forget_port(self, program: Program) -> None:
        """Chooses a new port for a program that ended before it was ready, since another process may have taken the
        port; but not if others may already know the port."""
        if not (program.keeps_port and self._ready[program.name].is_set()):
            self._ports.pop(program.name, None)

    def _mark_ready(self, program: Program, pid: int, port: int) -> None:
        again = self._ready[program.name].is_set()
        self._running[program.name] = StackProcess(program.name, pid, port, program.url(port))
        if program.stage is StopStage.SERVER:
            self._urls[program.name] = program.url(port)
        self._ready[program.name].set()
        if again:
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
        await asyncio.wait([keeper], timeout=_KILLED_WITHIN)

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
