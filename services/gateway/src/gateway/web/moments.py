"""Times in requests."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator


def _in_utc(time: datetime) -> datetime:
    if time.tzinfo is None:
        raise ValueError("say the time zone, as in 2026-11-22T09:00:00Z")
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("choose a time that is one in UTC as well") from error


Moment = Annotated[datetime, AfterValidator(_in_utc)]
"""A time in UTC, like all times in responses."""
