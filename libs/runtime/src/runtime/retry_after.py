"""The header Retry-After (RFC 9110, section 10.2.3), in which whoever is asked may write anything."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST = 3_600.0
"""Seconds that anybody may ask for: for who asks for more it is as if they had said for ever."""


def seconds_in(header: str | None) -> float | None:
    """The seconds that it asks for, as a number or as a date; None: neither can be read."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        seconds = _until(header)
    return None if math.isnan(seconds) else min(max(seconds, 0.0), LONGEST)


def _until(date: str) -> float:
    try:
        then = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return math.nan
    return (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
