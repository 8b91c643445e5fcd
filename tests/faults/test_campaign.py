"""Every kind of fault on every process, once, while people work: the ledgers agree with the log.

Three at a time, so that they fit into two minutes on two cores: the promises are the same, only the waits are longer
than after one fault alone. `make campaign FAULTS=1000` goes on for longer, one at a time.
"""

from pathlib import Path

import pytest

from nexus_cli.drill.faults import MATRIX
from tests.faults.campaign import Plan, run

FAULTS = len(MATRIX)
SEED = 12


@pytest.mark.timeout(1200)  # two minutes, with a machine that others use too in mind
async def test_nothing_is_lost_doubled_or_over_a_human_whatever_breaks(tmp_path: Path) -> None:
    told: list[str] = []
    report = await run(Plan(FAULTS, SEED, beside=3, round_of=FAULTS), tmp_path / "nexus", told.append)
    assert report.found == [], report.as_text()
    assert len(report.windows) == FAULTS
    assert report.totals.answers > FAULTS
    assert report.totals.effects > FAULTS / 2
    assert report.totals.takeovers > 0
