"""Describes a program for the supervisor; nothing here starts one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

Urls = Mapping[str, str]

KEEPS_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
"""The environment of Python programs, whatever the outer one says: compiling what a service imports takes as long as
all the rest of its start, so the first start does it for all."""

FORK_SERVER = "NEXUS_FORK_SERVER"
"""The variable with the socket of a fork server that has imported the services (nexus_cli.testing.fork_server)."""


class StopStage(IntEnum):
    """Programs are stopped from the highest stage to the lowest."""

    SERVER = 0
    SERVICE = 1


@dataclass(frozen=True)
class Program:
    """One program of the stack.

    Attributes:
        name: as in stack.json.
        command: the argument vector for a port.
        url: its address for a port.
        probe: returns when the program on this port is ready, raises when it is not (yet).
        alive: raises NotServingError when the program says that it cannot go on by itself; None: it never says so.
        environment: variables for a port and the addresses of the servers, on top of the inherited ones.
        needs: names of programs that have to be ready before this one is started.
        port: a fixed port; None: a free one is chosen.
        keeps_port: others have been told its address, so that a restart takes the same port again.
        before_start: puts right what an earlier run left behind.
        notable: what to print on the terminal for a line of its output; None: nothing.
        refused_by: the reason in a line of its output, by which it will not start until somebody has done something.
        broken_by: whether a line of its output says that a full disk has broken it for good.
        has_room: whether its disk has room again: then a broken program is started anew.
        forked: a fork server may have imported it (its command is `python -m MODULE`).
        ready_within, stop_within: seconds.
    """

    name: str
    stage: StopStage
    command: Callable[[int], Sequence[str]]
    url: Callable[[int], str]
    probe: Callable[[int], Awaitable[None]]
    alive: Callable[[int], Awaitable[None]] | None = None
    environment: Callable[[int, Urls], Mapping[str, str]] = field(default=lambda port, urls: {})
    needs: tuple[str, ...] = ()
    port: int | None = None
    keeps_port: bool = False
    before_start: Callable[[], None] = field(default=lambda: None)
    notable: Callable[[str], str | None] = field(default=lambda line: None)
    refused_by: Callable[[str], str | None] = field(default=lambda line: None)
    broken_by: Callable[[str], bool] = field(default=lambda line: False)
    has_room: Callable[[], bool] = field(default=lambda: True)
    forked: bool = False
    ready_within: float = 60.0
    stop_within: float = 15.0
