"""Time zones by their IANA names."""

from datetime import UTC, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

DEFAULT_ZONE = "America/Mexico_City"


def is_zone(name: str) -> bool:
    return _find_zone(name) is not None


def zone(name: str) -> tzinfo:
    """Returns the time zone with this name; UTC if there is none."""
    return _find_zone(name) or UTC


@lru_cache(maxsize=1_024)
def _find_zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # no such key; a path; a directory
        return None
