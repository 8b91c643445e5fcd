"""Parses Retry-After (RFC 9110, section 10.2.3), whose values cannot be trusted."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_SECONDS = 3_600.0
"""The maximum that is returned."""


def seconds_in(header: str | None) -> float | None:
    """Returns the seconds that the header asks to wait, as a number or a date; None if it is neither."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        seconds = _seconds_until(header)
    return None if math.isnan(seconds) else min(max(seconds, 0.0), MAX_SECONDS)


def _seconds_until(date: str) -> float:
    try:
        time = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return math.nan
    return (time.replace(tzinfo=time.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
