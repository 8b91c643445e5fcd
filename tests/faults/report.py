"""The report of a campaign: a row for each kind of fault and process, the totals, and every violation."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nexus_cli.drill.faults import FaultWindow, Kind
from tests.faults.closing import Totals, Violation
from tests.faults.people import Wait


@dataclass(frozen=True, slots=True)
class Found:
    """A violation, with what is needed to reproduce it."""

    violation: Violation
    seed: int
    steps: tuple[int, int]
    faults: tuple[str, ...]


@dataclass(slots=True)
class Report:
    """The figures of a campaign so far; times in seconds."""

    seed: int
    data: Path
    windows: list[FaultWindow] = field(default_factory=list[FaultWindow])
    waits: list[Wait] = field(default_factory=list[Wait])
    found: list[Found] = field(default_factory=list[Found])
    totals: Totals = field(default_factory=Totals)

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row for each kind and process, one for each kind, and one for the waits without any fault."""
        groups: dict[tuple[str, str], list[FaultWindow]] = defaultdict(list)
        for window in self.windows:
            groups[window.fault.kind, window.fault.process].append(window)
            groups[window.fault.kind, "all"].append(window)
        order = {str(kind): number for number, kind in enumerate(Kind)}
        rows = [
            _row(kind, process, windows, _during(windows, self.waits))
            for (kind, process), windows in sorted(
                groups.items(), key=lambda item: (order[item[0][0]], item[0][1] != "all", item[0][1])
            )
        ]
        met = {id(wait) for wait in _during(self.windows, self.waits)}
        return [*rows, _row("none", "-", [], [wait for wait in self.waits if id(wait) not in met])]

    def as_json(self) -> dict[str, Any]:
        """Returns the report as JSON data."""
        return {
            "seed": self.seed,
            "faults": len(self.windows),
            "totals": asdict(self.totals),
            "rows": self.rows(),
            "violations": [
                {**asdict(found.violation), "seed": found.seed, "steps": found.steps, "faults": found.faults}
                for found in self.found
            ],
            "windows": [window.as_json() for window in self.windows],
        }

    def as_text(self) -> str:
        """Returns the report as a text table."""
        lines = ["fault  process          count  answers    p50    p95  worst  ready p50  worst"]
        for row in self.rows():
            lines.append(
                f"{row['kind']:<7}{row['process']:<16}{row['count']:>6}{row['answers']:>9}"
                + "".join(f"{_number(row[name]):>7}" for name in ("waitP50", "waitP95", "waitWorst"))
                + f"{_number(row['readyP50']):>11}{_number(row['readyWorst']):>7}"
            )
        totals = asdict(self.totals)
        lines.append(", ".join(f"{value} {name}" for name, value in totals.items()))
        lines.append(f"{len(self.windows)} faults, seed {self.seed}: {len(self.found)} violations")
        for found in self.found:
            lines += ["", *self._told(found)]
        return "\n".join(lines)

    def _told(self, found: Found) -> list[str]:
        first, last = found.steps
        violation = found.violation
        turns = [f"    nexus trace {turn} --data {self.data}" for turn in violation.turns[-3:]]
        return [
            f"violation: {violation.what}",
            f"    steps {first} to {last}: {'; '.join(found.faults)}",
            *(f"    log: {fact}" for fact in violation.log),
            *(f"    shown: {frame}" for frame in violation.shown),
            f"    again: python -m tests.faults.campaign --seed {found.seed} --faults {last}",
            *turns,
        ]


def _row(kind: str, process: str, windows: Sequence[FaultWindow], waits: Sequence[Wait]) -> dict[str, Any]:
    lengths = sorted(wait.ended - wait.began for wait in waits)
    ready = sorted(window.ready - window.ended for window in windows)
    return {
        "kind": str(kind),
        "process": process,
        "count": len(windows),
        "answers": len(waits),
        "waitP50": _quantile(lengths, 0.5),
        "waitP95": _quantile(lengths, 0.95),
        "waitWorst": _quantile(lengths, 1.0),
        "readyP50": _quantile(ready, 0.5),
        "readyWorst": _quantile(ready, 1.0),
    }


def _during(windows: Sequence[FaultWindow], waits: Sequence[Wait]) -> list[Wait]:
    """Returns the waits that overlap a fault, from its beginning until everything was ready again."""
    return [
        wait for wait in waits if any(wait.began <= window.ready and wait.ended >= window.began for window in windows)
    ]


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """Returns the smallest value that is at least as large as this share of the values."""
    if not ordered:
        return None
    return round(ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)], 2)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def write(report: Report, file: Path) -> None:
    """Writes the report as JSON."""
    file.write_text(json.dumps(report.as_json(), indent=1) + "\n")
