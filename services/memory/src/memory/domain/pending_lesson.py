"""A turn that is still to be learned from."""

from dataclasses import dataclass
from datetime import datetime

from memory.domain.keys import LogPosition


@dataclass(frozen=True, slots=True)
class PendingLesson:
    """An answered turn. `basis`: the answered message; `due`: when to try, in seconds since the epoch."""

    company: str
    conversation: str
    turn: str
    basis: LogPosition
    at: datetime
    tries: int = 0
    due: float = 0.0
