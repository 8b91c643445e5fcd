"""Figures of a benchmark, as a table for people and as JSON for comparisons."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median as median

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `target` is the product's target, in the same unit; `ceiling`: smaller is better."""

    question: str
    name: str
    value: float
    unit: str
    target: float | None = None
    ceiling: bool = True
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.target is None:
            return None
        return self.value <= self.target if self.ceiling else self.value >= self.target


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the value below which `share` (0 to 1) of the values lie, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))]


def growth(before: Mapping[str, float], after: Mapping[str, float], count: float) -> dict[str, float]:
    """Returns by how much each value has grown, divided by `count`."""
    return {name: (after[name] - before[name]) / count for name in after}


def show(figures: Sequence[Figure]) -> None:
    """Prints the table."""
    table = Table("question", "figure", "value", "target", "", "note")
    for figure in figures:
        sign = "≤" if figure.ceiling else "≥"
        target = "" if figure.target is None else f"{sign} {figure.target:g} {figure.unit}"
        mark = {True: "met", False: "missed", None: ""}[figure.met]
        value = f"{figure.value:,.3f}" if abs(figure.value) < 100 else f"{figure.value:,.0f}"
        table.add_row(figure.question, figure.name, f"{value} {figure.unit}", target, mark, figure.note)
    Console().print(table)


def write(figures: Sequence[Figure], file: Path) -> None:
    """Writes the figures as a JSON list."""
    file.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n")
