"""What a turn still has to teach."""

from dataclasses import dataclass
from datetime import datetime

from memory.domain.keys import LogPosition


@dataclass(frozen=True, slots=True)
class PendingLesson:
    """An answered turn. `basis`: the message that it answers; `due`: when it is tried, in seconds since the epoch."""

    company: str
    conversation: str
    turn: str
    basis: LogPosition
    at: datetime
    tries: int = 0
    due: float = 0.0
