"""`nexus drill` as an operator runs it: it says what it broke and what it found, and its exit code says whether."""

import json
import subprocess
import sys
from pathlib import Path

from nexus_cli.drill.drill import DrillReport
from nexus_cli.drill.faults import Fault, FaultWindow, Kind
from nexus_cli.drill.ledger import Mismatch, Wrong
from nexus_cli.drill.people import Wait


def test_a_drill_breaks_a_stack_of_its_own_and_finds_nothing_lost(tmp_path: Path) -> None:
    nexus = [str(Path(sys.executable).with_name("nexus")), "drill"]
    asked = [*nexus, "--minutes", "3", "--faults", "3", "--seed", "5", "--visitors", "2", "--json"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    said = json.loads(done.stdout)
    assert [said[name] for name in ("lost", "doubled", "overAHuman", "other")] == [0, 0, 0, 0]
    assert len(said["faults"]) == 3
    assert {"kind", "process", "seconds", "readyAgain", "longestWait"} <= said["faults"][0].keys()
    assert said["messages"] >= said["conversations"] >= 2
    # Its data is gone with it, and nothing of it is where it was called.
    assert list(tmp_path.iterdir()) == []


def test_what_was_lost_is_counted_and_named() -> None:
    fault = Fault(1, Kind.KILL, "agent", 0.0, 0.5)
    report = DrillReport(7, windows=[FaultWindow(fault, 10.0, 10.0, 14.0)], waits=[Wait(1.0, 2.0), Wait(9.0, 13.5)])
    assert set(report.figures.values()) == {0}
    for wrong in (Wrong.LOST, Wrong.ANSWERED_TWICE, Wrong.OVER_A_HUMAN, Wrong.OUT_OF_ORDER):
        report.found.append(Mismatch(wrong, "c-1", "'hello' at 7"))
    report.gave_up.append("visit: nobody answered")
    assert report.figures == {"lost": 2, "doubled": 1, "overAHuman": 1, "other": 1}
    assert "kill      agent                1        4.0 s          4.5 s" in report.as_text()
    assert "found: lost: 'hello' at 7 in c-1" in report.as_text()
