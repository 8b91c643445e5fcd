"""Finds clocks that disagree: principals would expire early or late, and facts would stand in the wrong order."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from nexus_cli.doctor.diagnosis import Diagnosis, wrong

MOST = 5.0
"""Seconds that a clock may be off."""
HERE = "this machine"


def compare(ahead: Mapping[str, float]) -> list[Diagnosis]:
    """`ahead`: by how many seconds each clock is ahead of ours. The time that most clocks agree on counts as right."""
    clocks = {HERE: 0.0, **ahead}
    middle = statistics.median_low(list(clocks.values()))
    off = {who: seconds - middle for who, seconds in clocks.items() if abs(seconds - middle) > MOST}
    return [
        wrong(
            "clock",
            f"that of {who} is {abs(seconds):.0f} s {'ahead' if seconds > 0 else 'behind'}",
            "set it by the network's time there (chrony, systemd-timesyncd)",
        )
        for who, seconds in off.items()
    ]
