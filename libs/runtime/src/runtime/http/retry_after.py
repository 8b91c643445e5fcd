"""Parses Retry-After (RFC 9110, section 10.2.3), whose values cannot be trusted."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST = 3_600.0
"""The most seconds that are accepted; more counts as this."""


def seconds_in(header: str | None) -> float | None:
    """The seconds in it, as a number or a date; None: it is neither."""
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
