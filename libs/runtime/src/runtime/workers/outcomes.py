"""The outcomes that a handler can return for a message. The calling worker carries them out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Ack:
    """Acknowledge the message: it was handled, or there was nothing to do."""

    label: ClassVar = "done"
    """The outcome's name in metrics and logs, which dashboards of earlier releases know."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Deliver the message again after `delay` seconds. This is not a failure."""

    label: ClassVar = "later"
    delay: float


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Write the message to the dead-letter stream with this reason, and do not deliver it again."""

    label: ClassVar = "deadletter"
    reason: str


@dataclass(frozen=True, slots=True)
class AckThen:
    """Acknowledge the message, and call `then`, which reports its result, only once the acknowledgement is confirmed,
    since another delivery could have another result. Only for pull workers (runtime.workers.pull_worker)."""

    label: ClassVar = "done"
    then: Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class AckAfter:
    """Acknowledge the message once `work` is done, which does not delay later batches; if `work` raises, deliver it
    again. Only for batch workers (runtime.workers.batch_worker)."""

    label: ClassVar = "done"
    work: Callable[[], Awaitable[object]]


Outcome = Ack | Retry | DeadLetter
