"""The results of a run, as JSON and as a table, and the comparison of two runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import comb
from pathlib import Path
from statistics import median
from typing import Any, NotRequired, TypedDict

from rich.table import Table
from rich.text import Text

from nexus_cli.evaluation.checks import CaseCheck
from nexus_cli.evaluation.runner import Result
from nexus_cli.terminal_text import plain


class BadRunError(Exception):
    """A file that holds no run; the text says which and why."""


class CheckView(TypedDict):
    """One check; `detail`: what was there instead, where it failed."""

    name: str
    passed: bool
    detail: NotRequired[str]


class SecondsView(TypedDict):
    """The spread of some times."""

    least: float
    median: float
    most: float


class TriesView(TypedDict):
    """A case that was tried several times."""

    tried: int
    passed: int
    errors: int
    seconds: SecondsView | None


class CaseView(TypedDict):
    """One case. `passed` None: left out, or not tried (`error`)."""

    id: str
    kind: str
    language: str
    about: str
    passed: bool | None
    checks: list[CheckView]
    seconds: float
    needs_model: bool
    model: str | None
    error: NotRequired[str]
    runs: NotRequired[TriesView]


class RunView(TypedDict):
    """A run of cases."""

    cases: list[CaseView]
    passed: int
    failed: int
    skipped: int
    errors: int
    model: str | None
    seconds: float


class ChangeView(TypedDict):
    """A case whose outcome has changed; `checks`: those that fail now."""

    id: str
    before: bool | None
    after: bool | None
    checks: list[str]


class SlowerView(TypedDict):
    """A case that takes clearly more or less time."""

    id: str
    before: float
    after: float


class ComparedRuns(TypedDict):
    """Two runs; in each pair the earlier comes first."""

    models: list[str | None]
    better: list[ChangeView]
    worse: list[ChangeView]
    other: list[ChangeView]
    sign_test: dict[str, float]
    added: list[str]
    removed: list[str]
    passed: list[int]
    failed: list[int]
    skipped: list[int]
    seconds: list[SlowerView]


def view(results: Sequence[Result], model: str | None, seconds: float) -> RunView:
    """The run. A case that was tried several times has passed when each time did."""
    by_case: dict[str, list[Result]] = {}
    for result in results:
        by_case.setdefault(result.case.id, []).append(result)
    cases = [_case_view(times) for times in by_case.values()]
    return {
        "cases": cases,
        "passed": sum(case["passed"] is True for case in cases),
        "failed": sum(case["passed"] is False for case in cases),
        "skipped": sum(case["passed"] is None and "error" not in case for case in cases),
        "errors": sum(case["passed"] is None and "error" in case for case in cases),
        "model": model,
        "seconds": round(seconds, 1),
    }


def _case_view(times: Sequence[Result]) -> CaseView:
    """One case: its first failed attempt, if any; several attempts with their spread."""
    tried = [one for one in times if one.passed is not None]
    shown = next((one for one in tried if not one.passed), tried[0] if tried else times[0])
    errors = [one.error for one in times if one.error is not None]
    seconds = sorted(one.seconds for one in tried)
    runs: TriesView = {
        "tried": len(tried),
        "passed": sum(one.passed is True for one in tried),
        "errors": len(errors),
        "seconds": {"least": seconds[0], "median": median(seconds), "most": seconds[-1]} if seconds else None,
    }
    case: CaseView = {
        "id": shown.case.id,
        "kind": shown.case.kind,
        "language": shown.case.language,
        "about": shown.case.about,
        "passed": shown.passed,
        "checks": [_check_view(check) for check in shown.checks or []],
        "seconds": median(seconds) if seconds else shown.seconds,
        "needs_model": shown.case.needs_model,
        "model": shown.model or None,
    }
    if errors:
        case["error"] = errors[0]
    if len(times) > 1:
        case["runs"] = runs
    return case


def _check_view(check: CaseCheck) -> CheckView:
    view: CheckView = {"name": check.name, "passed": check.passed}
    if not check.passed:
        view["detail"] = check.detail
    return view


def table(run: RunView) -> Table:
    """A row for each case."""
    drawn = Table(box=None, pad_edge=False)
    drawn.add_column("")
    drawn.add_column("case", no_wrap=True)
    drawn.add_column("kind", no_wrap=True)
    drawn.add_column("", no_wrap=True)
    drawn.add_column("checks", justify="right")
    drawn.add_column("s", justify="right")
    drawn.add_column("", no_wrap=True)
    for case in run["cases"]:
        passed = case["passed"]
        word, colour = {True: ("pass", "green"), False: ("FAIL", "red"), None: ("skip", "yellow")}[passed]
        if passed is None and "error" in case:
            word, colour = "ERROR", "magenta"
        good = sum(check["passed"] for check in case["checks"])
        drawn.add_row(
            Text(word, style=colour),
            case["id"],
            case["kind"],
            case["language"],
            f"{good}/{len(case['checks'])}" if case["checks"] else "-",
            f"{case['seconds']:.2f}" if case["checks"] else "-",
            _spread(case),
        )
    return drawn


def _spread(case: CaseView) -> str:
    """Describes a case that was tried several times: how often it passed, and its fastest and slowest time."""
    runs = case.get("runs")
    if runs is None or runs["seconds"] is None:
        return ""
    return f"{runs['passed']}/{runs['tried']}  {runs['seconds']['least']:.2f}-{runs['seconds']['most']:.2f}"


def failures(run: RunView) -> Text:
    """Lists what failed, and what was there instead."""
    said = Text()
    for case in run["cases"]:
        failed = [check for check in case["checks"] if not check["passed"]]
        if failed:
            said.append(f"\n{case['id']}", style="bold red").append(f"  {case['about']}\n")
        if "error" in case:
            said.append(f"\n{case['id']}", style="bold magenta").append(f"  not tried: {case['error']}\n")
        for check in failed:
            said.append(f"  {check['name']}: ", style="red").append(f"{plain(check.get('detail', ''))}\n")
    return said


def closing(run: RunView) -> str:
    left_out = f", {run['skipped']} skipped (they need a model)" if run["skipped"] else ""
    left_out += f", {run['errors']} could not be tried" if run.get("errors") else ""
    model = f" with {run['model']}" if run.get("model") else ""
    return f"{run['passed']} passed, {run['failed']} failed{left_out}, in {run['seconds']:g} s{model}"


def read_run(file: Path) -> RunView:
    """A run as `nexus eval --json` printed it; raises BadRunError."""
    try:
        run: Any = json.loads(file.read_text("utf-8"))
        if not all(isinstance(case["id"], str) and case["passed"] in (True, False, None) for case in run["cases"]):
            raise TypeError("its cases have no id or no outcome")
        if not all(isinstance(run[name], int) for name in ("passed", "failed")):
            raise TypeError("it does not say how many passed and failed")
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else error
        raise BadRunError(f"{file} holds no run of nexus eval --json: {why}") from error
    return run


def compared(before: RunView, after: RunView) -> ComparedRuns:
    """Lists what has changed from one run to the other, by case."""
    old = {case["id"]: case for case in before["cases"]}
    new = {case["id"]: case for case in after["cases"]}
    both = [name for name in new if name in old]
    changes: list[ChangeView] = [
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
        "sign_test": sign_test([(_share(old[name]), _share(new[name])) for name in both]),
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


def _share(case: CaseView) -> float | None:
    """Returns the share of its tries that a case passed; None if it was never tried."""
    runs = case.get("runs")
    if runs is not None:
        return runs["passed"] / runs["tried"] if runs["tried"] else None
    return None if case["passed"] is None else float(case["passed"])


def sign_test(pairs: Sequence[tuple[float | None, float | None]]) -> dict[str, float]:
    """Whether better and worse cases are more unlike in number than chance makes them: the exact two-sided sign test,
    ties left out (Conover, Practical Nonparametric Statistics, 3.4)."""
    known = [(before, after) for before, after in pairs if before is not None and after is not None]
    better, worse = sum(after > before for before, after in known), sum(after < before for before, after in known)
    count = better + worse
    tail = sum(comb(count, least) for least in range(min(better, worse) + 1)) / 2**count
    return {"better": better, "worse": worse, "ties": len(known) - count, "p": round(min(1.0, 2 * tail), 4)}


def comparison_table(found: ComparedRuns) -> Table:
    """The changes, worst first."""
    drawn = Table(box=None, pad_edge=False)
    for name in ("", "case", "before", "after", "failing checks"):
        drawn.add_column(name)
    words = {True: "pass", False: "FAIL", None: "skip"}
    for group, colour, changes in (
        ("worse", "red", found["worse"]),
        ("better", "green", found["better"]),
        ("other", "yellow", found["other"]),
    ):
        for change in changes:
            failing = ", ".join(change["checks"])
            row = (change["id"], words[change["before"]], words[change["after"]], failing)
            drawn.add_row(Text(group, style=colour), *row)
    for group, names in (("added", found["added"]), ("removed", found["removed"])):
        for name in names:
            drawn.add_row(group, name, "", "", "")
    for change in found["seconds"]:
        drawn.add_row("time", change["id"], f"{change['before']:.2f} s", f"{change['after']:.2f} s", "")
    return drawn


def _slower(before: float, after: float) -> bool:
    """Whether it changed by more than half and by more than a quarter of a second; less is noise."""
    return abs(after - before) > 0.25 and (after > before * 1.5 or before > after * 1.5)
