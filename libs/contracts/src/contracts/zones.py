"""Time zones by their IANA names."""

from datetime import UTC, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

DEFAULT_ZONE = "America/Mexico_City"


def is_zone(name: str) -> bool:
    return _found(name) is not None


def zone(name: str) -> tzinfo:
    """The time zone; UTC if there is none of that name."""
    return _found(name) or UTC


@lru_cache(maxsize=1_024)
def _found(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # no such key; a path; a directory
        return None
