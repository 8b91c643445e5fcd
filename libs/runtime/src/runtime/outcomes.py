"""What a handler says about a message it was given. The shell that called it does the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """Handled, or nothing to do: acknowledge it."""


@dataclass(frozen=True, slots=True)
class Later:
    """Not now: deliver it again after `delay` seconds. Not a failure, and not counted as one."""

    delay: float


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Never: put it into the dead-letter stream with this reason and stop delivering it."""

    reason: str


@dataclass(frozen=True, slots=True)
class AckThen:
    """Acknowledge it, and tell what came of it only when that is confirmed: delivered again it could come to something
    else. Of pull workers alone (runtime.pull_worker); where it cannot be confirmed nothing is told."""

    then: Callable[[], Awaitable[object]]


Outcome = Done | Later | DeadLetter
