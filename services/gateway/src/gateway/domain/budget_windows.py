"""When a spent budget has room again: companies count by the day, visitors and users by the hour, both in UTC."""

from datetime import UTC, datetime

_SECONDS = {"hour": 3600, "day": 86_400}
UNKNOWN = 60.0
"""Seconds after which to ask again for what was refused without saying until when."""


def seconds_left(window: str | None, now: datetime) -> float:
    """Seconds until the hour's or day's end; at least one."""
    length = _SECONDS.get(window or "")
    if length is None:
        return UNKNOWN
    today = now.astimezone(UTC)
    passed = (today - today.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds()
    return max(length - passed % length, 1.0)
