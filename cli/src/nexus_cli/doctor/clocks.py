"""Finds clocks that disagree, which makes principals expire early or late and facts appear in the wrong order."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from nexus_cli.doctor.diagnosis import Diagnosis, wrong

MAX_OFFSET_SECONDS = 5.0
"""Seconds by which a clock may be wrong."""
HERE = "this machine"


def compare(offsets: Mapping[str, float]) -> list[Diagnosis]:
    """`offsets`: by how many seconds each clock is ahead of ours. The time that most clocks agree on counts as
    right."""
    clocks = {HERE: 0.0, **offsets}
    middle = statistics.median_low(list(clocks.values()))
    wrong_clocks = {
        name: seconds - middle for name, seconds in clocks.items() if abs(seconds - middle) > MAX_OFFSET_SECONDS
    }
    return [
        wrong(
            "clock",
            f"that of {name} is {abs(seconds):.0f} s {'ahead' if seconds > 0 else 'behind'}",
            "set it by the network's time there (chrony, systemd-timesyncd)",
        )
        for name, seconds in wrong_clocks.items()
    ]
