"""What an endpoint says to what it was sent."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` 0: nothing, for the reason in `problem`; `forbidden`: it may not be asked at all.

    `retry_after` in seconds, where it named one.
    """

    status: int
    problem: str = ""
    retry_after: float | None = None
    forbidden: bool = False
