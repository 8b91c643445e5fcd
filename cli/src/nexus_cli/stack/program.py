"""Describes a program for the supervisor; nothing here starts one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

Urls = Mapping[str, str]

KEEPS_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
"""Variables for Python programs that let them store bytecode: compiling its imports takes half of a service's start, so
only the first start does it."""

FORK_SERVER = "NEXUS_FORK_SERVER"
"""The variable with the socket of the fork server (nexus_cli.testing.fork_server)."""


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
        alive: raises NotServingError when the program reports that only a restart helps; None: it never does.
        environment: variables for a port and the addresses of the servers, added to the inherited ones.
        needs: names of programs that must be ready before this one is started.
        port: a fixed port; None: a free one is chosen.
        keeps_port: others know its address, so that a restart uses the same port.
        before_start: repairs what an earlier run left behind.
        notable: the text to print on the terminal for a line of its output; None: nothing.
        refusal_reason: the reason in a line of its output why it cannot start without an intervention; None: no such
            line.
        is_broken_line: whether a line of its output reports that a full disk has broken it until a restart.
        has_room: whether its disk has room again, so that a broken program can be restarted.
        forked: whether the fork server can start it (its command is `python -m MODULE …`).
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
    refusal_reason: Callable[[str], str | None] = field(default=lambda line: None)
    is_broken_line: Callable[[str], bool] = field(default=lambda line: False)
    has_room: Callable[[], bool] = field(default=lambda: True)
    forked: bool = False
    ready_within: float = 60.0
    stop_within: float = 15.0
