"""Times in requests, in the notation of RFC 3339."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d")
"""Matches the beginning of a written date or time."""


def _written(kind: str) -> Callable[[object], object]:
    """The check that a value is no number, which pydantic would take for seconds since 1970."""

    def check(value: object) -> object:
        if isinstance(value, int | float) or (isinstance(value, str) and not _WRITTEN.match(value)):
            raise ValueError(f"must be {kind}")
        return value

    return check


def _in_utc(time: datetime) -> datetime:
    if time.tzinfo is None:
        raise ValueError("say the time zone, as in 2026-11-22T09:00:00Z")
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("choose a time that is one in UTC as well") from error


Moment = Annotated[datetime, BeforeValidator(_written("a time such as 2026-11-22T09:00:00Z")), AfterValidator(_in_utc)]
"""A time in UTC, like all times in responses."""
Day = Annotated[date, BeforeValidator(_written("a date such as 2026-11-22"))]
