"""When a spent budget is renewed: a company's at the end of the day, a visitor's or user's of the hour, in UTC."""

from datetime import UTC, datetime

_WINDOW_SECONDS = {"hour": 3600, "day": 86_400}
UNKNOWN_WINDOW_SECONDS = 60.0
"""Seconds after which to retry if a refusal does not name its window."""


def seconds_left(window: str | None, now: datetime) -> float:
    """Seconds until the end of the window (`hour` or `day`); at least one."""
    window_seconds = _WINDOW_SECONDS.get(window or "")
    if window_seconds is None:
        return UNKNOWN_WINDOW_SECONDS
    utc_now = now.astimezone(UTC)
    elapsed = (utc_now - utc_now.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds()
    return max(window_seconds - elapsed % window_seconds, 1.0)
