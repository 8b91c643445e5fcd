"""A run of cases as JSON and as a table, and two runs beside each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from rich.table import Table
from rich.text import Text

from nexus_cli.evaluation.runner import Result


class BadRunError(Exception):
    """A file that holds no run; the text says which and why."""


def view(results: Sequence[Result], model: str | None, seconds: float) -> dict[str, Any]:
    """{cases [{id, passed, checks, seconds, needs_model}], passed, failed, skipped}; `passed` null: left out."""
    return {
        "cases": [
            {
                "id": result.case.id,
                "kind": result.case.kind,
                "language": result.case.language,
                "about": result.case.about,
                "passed": result.passed,
                "checks": [
                    {"name": check.name, "passed": check.passed, **({} if check.passed else {"detail": check.detail})}
                    for check in result.checks or []
                ],
                "seconds": result.seconds,
                "needs_model": result.case.needs_model,
                "model": result.model or None,
            }
            for result in results
        ],
        "passed": sum(result.passed is True for result in results),
        "failed": sum(result.passed is False for result in results),
        "skipped": sum(result.passed is None for result in results),
        "model": model,
        "seconds": round(seconds, 1),
    }


def table(run: dict[str, Any]) -> Table:
    """A row for each case."""
    drawn = Table(box=None, pad_edge=False)
    drawn.add_column("")
    drawn.add_column("case", no_wrap=True)
    drawn.add_column("kind", no_wrap=True)
    drawn.add_column("", no_wrap=True)
    drawn.add_column("checks", justify="right")
    drawn.add_column("s", justify="right")
    for case in run["cases"]:
        passed = case["passed"]
        word, colour = {True: ("pass", "green"), False: ("FAIL", "red"), None: ("skip", "yellow")}[passed]
        good = sum(check["passed"] for check in case["checks"])
        drawn.add_row(
            Text(word, style=colour),
            case["id"],
            case["kind"],
            case["language"],
            f"{good}/{len(case['checks'])}" if case["checks"] else "-",
            f"{case['seconds']:.2f}" if case["checks"] else "-",
        )
    return drawn


def failures(run: dict[str, Any]) -> Text:
    """What failed, and what was there instead."""
    said = Text()
    for case in run["cases"]:
        failed = [check for check in case["checks"] if not check["passed"]]
        if failed:
            said.append(f"\n{case['id']}", style="bold red").append(f"  {case['about']}\n")
        for check in failed:
            said.append(f"  {check['name']}: ", style="red").append(f"{check.get('detail', '')}\n")
    return said


def closing(run: dict[str, Any]) -> str:
    """One line."""
    left_out = f", {run['skipped']} skipped (they need a model)" if run["skipped"] else ""
    model = f" with {run['model']}" if run.get("model") else ""
    return f"{run['passed']} passed, {run['failed']} failed{left_out}, in {run['seconds']:g} s{model}"


def read_run(file: Path) -> dict[str, Any]:
    """A run as `nexus eval --json` printed it; raises BadRunError."""
    try:
        run: Any = json.loads(file.read_text("utf-8"))
        cases: Any = run["cases"]
        if not all(isinstance(case["id"], str) and "passed" in case for case in cases):
            raise TypeError("its cases have no id or no outcome")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadRunError(f"{file} holds no run of nexus eval --json: {error}") from error
    return cast("dict[str, Any]", run)


def compared(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What has changed from one run to the other, by case."""
    old = {case["id"]: case for case in before["cases"]}
    new = {case["id"]: case for case in after["cases"]}
    both = [name for name in new if name in old]
    changes = [
        {
            "id": name,
            "before": old[name]["passed"],
            "after": new[name]["passed"],
            "checks": [check["name"] for check in new[name].get("checks", []) if not check["passed"]],
        }
        for name in both
        if old[name]["passed"] != new[name]["passed"]
    ]
    return {
        "models": [before.get("model"), after.get("model")],
        "better": [change for change in changes if change["after"] is True and change["before"] is False],
        "worse": [change for change in changes if change["after"] is False],
        "other": [change for change in changes if None in (change["before"], change["after"]) and change["after"]],
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
        "passed": [before["passed"], after["passed"]],
        "failed": [before["failed"], after["failed"]],
        "skipped": [before.get("skipped", 0), after.get("skipped", 0)],
        "seconds": [
            {"id": name, "before": old[name].get("seconds", 0.0), "after": new[name].get("seconds", 0.0)}
            for name in both
            if None not in (old[name]["passed"], new[name]["passed"])
            and _slower(old[name].get("seconds", 0.0), new[name].get("seconds", 0.0))
        ],
    }


def comparison_table(found: dict[str, Any]) -> Table:
    """The changes, worst first."""
    drawn = Table(box=None, pad_edge=False)
    for name in ("", "case", "before", "after", "failing checks"):
        drawn.add_column(name)
    words = {True: "pass", False: "FAIL", None: "skip"}
    for group, colour in (("worse", "red"), ("better", "green"), ("other", "yellow")):
        for change in found[group]:
            failing = ", ".join(change["checks"])
            row = (change["id"], words[change["before"]], words[change["after"]], failing)
            drawn.add_row(Text(group, style=colour), *row)
    for group in ("added", "removed"):
        for name in found[group]:
            drawn.add_row(group, name, "", "", "")
    for change in found["seconds"]:
        drawn.add_row("time", change["id"], f"{change['before']:.2f} s", f"{change['after']:.2f} s", "")
    return drawn


def _slower(before: float, after: float) -> bool:
    """By a half and by a quarter of a second, either way: less is noise."""
    return abs(after - before) > 0.25 and (after > before * 1.5 or before > after * 1.5)
