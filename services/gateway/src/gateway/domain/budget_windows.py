"""Tells when a spent budget is renewed: a company's daily, a visitor's or user's hourly, both in UTC."""

from datetime import UTC, datetime

_SECONDS = {"hour": 3600, "day": 86_400}
UNKNOWN = 60.0
"""Seconds after which to retry if a refusal does not say when."""


def seconds_left(window: str | None, now: datetime) -> float:
    """Seconds until the end of the hour or day; at least one."""
    length = _SECONDS.get(window or "")
    if length is None:
        return UNKNOWN
    today = now.astimezone(UTC)
    passed = (today - today.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds()
    return max(length - passed % length, 1.0)
