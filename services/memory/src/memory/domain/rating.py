"""Ratings of answers and conversations."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Rating:
    """A user's latest rating of an answer."""

    company: str
    conversation: str
    message: str
    user: str
    given: Literal["up", "down"]
    reason: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Satisfaction:
    """A visitor's latest rating of their conversation; `score` 1 to 5."""

    company: str
    conversation: str
    user: str
    score: int
    comment: str | None
    at: datetime
