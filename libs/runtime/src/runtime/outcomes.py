"""The outcomes that a handler can return for a message. The worker that called it does the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """Acknowledge the message: it was handled, or there was nothing to do."""


@dataclass(frozen=True, slots=True)
class Later:
    """Deliver the message again after `delay` seconds. This is not a failure."""

    delay: float


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Put the message into the dead-letter stream with this reason, and deliver it no more."""

    reason: str


@dataclass(frozen=True, slots=True)
class AckThen:
    """Acknowledge it, and tell what came of it only when that is confirmed: delivered again it could come to something
    else. Of pull workers alone (runtime.pull_worker); where it cannot be confirmed nothing is told."""

    then: Callable[[], Awaitable[object]]


Outcome = Done | Later | DeadLetter
