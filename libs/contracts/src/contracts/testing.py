"""For tests: settings that mean the same whenever a test runs."""

from datetime import UTC, datetime, timedelta
from typing import Any

from contracts.office_hours import DAYS


def closed_for_days(days: int = 3) -> dict[str, Any]:
    """Returns office hours in which nobody is there until 10:00 UTC after this many days (1 to 6)."""
    opens = datetime.now(UTC) + timedelta(days=days)
    return {
        "timezone": "UTC",
        "hours": [{"days": [DAYS[opens.weekday()]], "opens": "10:00", "closes": "11:00"}],
        "holidays": [],
    }
