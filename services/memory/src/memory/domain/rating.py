"""What somebody thought of an answer."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Rating:
    """The last word of one user on one answer."""

    company: str
    conversation: str
    message: str
    user: str
    given: Literal["up", "down"]
    reason: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Satisfaction:
    """The last word of a visitor on their conversation; `score` 1 to 5."""

    company: str
    conversation: str
    user: str
    score: int
    comment: str | None
    at: datetime
