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

from nexus_cli.errors import CommandFailedError
from nexus_cli.evaluation.runner import Result
from nexus_cli.terminal_text import plain


class BadRunError(CommandFailedError):
    """A file does not hold a run. The message names the file and the reason."""


class CheckView(TypedDict):
    """One check. If it failed, `detail` says what was observed instead."""

    name: str
    passed: bool
    detail: NotRequired[str]


class SecondsView(TypedDict):
    """Shortest, median and longest time, in seconds."""

    least: float
    median: float
    most: float


class TriesView(TypedDict):
    """Outcomes of a case that was tried several times. `seconds` is None if no attempt finished."""

    tried: int
    passed: int
    errors: int
    seconds: SecondsView | None


class CaseView(TypedDict):
    """One case. `passed` is None if it was skipped or could not be tried (`error`)."""

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
    """A case with a different outcome in the two runs. `checks` names those that fail in the later one."""

    id: str
    before: bool | None
    after: bool | None
    checks: list[str]


class SlowerView(TypedDict):
    """A case that takes clearly more or less time than before, in seconds."""

    id: str
    before: float
    after: float


class ComparedRuns(TypedDict):
    """The differences of two runs. In each pair the earlier run comes first."""

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
    """Summarizes a run. A case that was tried several times has passed if every attempt passed."""
    by_case: dict[str, list[Result]] = {}
    for result in results:
        by_case.setdefault(result.case.id, []).append(result)
    cases = [_case_view(attempts) for attempts in by_case.values()]
    return {
        "cases": cases,
        "passed": sum(case["passed"] is True for case in cases),
        "failed": sum(case["passed"] is False for case in cases),
        "skipped": sum(case["passed"] is None and "error" not in case for case in cases),
        "errors": sum(case["passed"] is None and "error" in case for case in cases),
        "model": model,
        "seconds": round(seconds, 1),
    }


def _case_view(attempts: Sequence[Result]) -> CaseView:
    """Shows a case by its first failed attempt, if any; `runs` sums up several attempts."""
    finished = [result for result in attempts if result.passed is not None]
    example = next((result for result in finished if not result.passed), finished[0] if finished else attempts[0])
    errors = [result.error for result in attempts if result.error is not None]
    seconds = sorted(result.seconds for result in finished)
    runs: TriesView = {
        "tried": len(finished),
        "passed": sum(result.passed is True for result in finished),
        "errors": len(errors),
        "seconds": {"least": seconds[0], "median": median(seconds), "most": seconds[-1]} if seconds else None,
    }
    case: CaseView = {
        "id": example.case.id,
        "kind": example.case.kind,
        "language": example.case.language,
        "about": example.case.about,
        "passed": example.passed,
        "checks": [
            {"name": check.name, "passed": True}
            if check.passed
            else {"name": check.name, "passed": False, "detail": check.detail}
            for check in example.checks or []
        ],
        "seconds": median(seconds) if seconds else example.seconds,
        "needs_model": example.case.needs_model,
        "model": example.model or None,
    }
    if errors:
        case["error"] = errors[0]
    if len(attempts) > 1:
        case["runs"] = runs
    return case


def table(run: RunView) -> Table:
    """Table of the run with a row for each case."""
    grid = Table(box=None, pad_edge=False)
    for name in ("", "case", "kind", "", "checks", "s", ""):
        grid.add_column(name, no_wrap=True, justify="right" if name in ("checks", "s") else "left")
    for case in run["cases"]:
        passed = case["passed"]
        word, colour = {True: ("pass", "green"), False: ("FAIL", "red"), None: ("skip", "yellow")}[passed]
        if passed is None and "error" in case:
            word, colour = "ERROR", "magenta"
        passed_checks = sum(check["passed"] for check in case["checks"])
        grid.add_row(
            Text(word, style=colour),
            case["id"],
            case["kind"],
            case["language"],
            f"{passed_checks}/{len(case['checks'])}" if case["checks"] else "-",
            f"{case['seconds']:.2f}" if case["checks"] else "-",
            _spread(case),
        )
    return grid


def _spread(case: CaseView) -> str:
    """How often a case that was tried several times passed, with its shortest and longest time; else an empty text."""
    runs = case.get("runs")
    if runs is None or runs["seconds"] is None:
        return ""
    return f"{runs['passed']}/{runs['tried']}  {runs['seconds']['least']:.2f}-{runs['seconds']['most']:.2f}"


def failures(run: RunView) -> Text:
    """Lists the failed checks with what was observed instead, and the cases that could not be tried."""
    text = Text()
    for case in run["cases"]:
        failed = [check for check in case["checks"] if not check["passed"]]
        if failed:
            text.append(f"\n{case['id']}", style="bold red").append(f"  {case['about']}\n")
        if "error" in case:
            text.append(f"\n{case['id']}", style="bold magenta").append(f"  not tried: {case['error']}\n")
        for check in failed:
            text.append(f"  {check['name']}: ", style="red").append(f"{plain(check.get('detail', ''))}\n")
    return text


def closing(run: RunView) -> str:
    left_out = f", {run['skipped']} skipped (they need a model)" if run["skipped"] else ""
    left_out += f", {run['errors']} could not be tried" if run.get("errors") else ""
    model = f" with {run['model']}" if run.get("model") else ""
    return f"{run['passed']} passed, {run['failed']} failed{left_out}, in {run['seconds']:g} s{model}"


def read_run(file: Path) -> RunView:
    """Reads a run that `nexus eval --json` printed. Raises BadRunError."""
    try:
        run: Any = json.loads(file.read_text("utf-8"))
        if not all(isinstance(case["id"], str) and case["passed"] in (True, False, None) for case in run["cases"]):
            raise TypeError("its cases have no id or no outcome")
        if not all(isinstance(run[name], int) for name in ("passed", "failed")):
            raise TypeError("it does not say how many passed and failed")
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else error
        raise BadRunError(f"{file} holds no run of nexus eval --json: {reason}") from error
    return run


def compared(run_before: RunView, run_after: RunView) -> ComparedRuns:
    """Compares two runs case by case."""
    cases_before = {case["id"]: case for case in run_before["cases"]}
    cases_after = {case["id"]: case for case in run_after["cases"]}
    common = [name for name in cases_after if name in cases_before]
    changes: list[ChangeView] = [
        {
            "id": name,
            "before": cases_before[name]["passed"],
            "after": cases_after[name]["passed"],
            "checks": [check["name"] for check in cases_after[name].get("checks", []) if not check["passed"]],
        }
        for name in common
        if cases_before[name]["passed"] != cases_after[name]["passed"]
    ]
    return {
        "models": [run_before.get("model"), run_after.get("model")],
        "better": [change for change in changes if change["after"] is True and change["before"] is False],
        "worse": [change for change in changes if change["after"] is False],
        "other": [change for change in changes if None in (change["before"], change["after"]) and change["after"]],
        "sign_test": sign_test([(_share(cases_before[name]), _share(cases_after[name])) for name in common]),
        "added": [name for name in cases_after if name not in cases_before],
        "removed": [name for name in cases_before if name not in cases_after],
        "passed": [run_before["passed"], run_after["passed"]],
        "failed": [run_before["failed"], run_after["failed"]],
        "skipped": [run_before.get("skipped", 0), run_after.get("skipped", 0)],
        "seconds": [
            {
                "id": name,
                "before": cases_before[name].get("seconds", 0.0),
                "after": cases_after[name].get("seconds", 0.0),
            }
            for name in common
            if None not in (cases_before[name]["passed"], cases_after[name]["passed"])
            and _slower(cases_before[name].get("seconds", 0.0), cases_after[name].get("seconds", 0.0))
        ],
    }


def _share(case: CaseView) -> float | None:
    """Share of its attempts that a case passed, 0 to 1. None if no attempt finished."""
    runs = case.get("runs")
    if runs is not None:
        return runs["passed"] / runs["tried"] if runs["tried"] else None
    return None if case["passed"] is None else float(case["passed"])


def sign_test(pairs: Sequence[tuple[float | None, float | None]]) -> dict[str, float]:
    """Exact two-sided sign test without ties (Conover, Practical Nonparametric Statistics, 3.4). `p` is the probability
    that chance alone makes the numbers of better and worse cases differ this much."""
    finished = [
        (share_before, share_after)
        for share_before, share_after in pairs
        if share_before is not None and share_after is not None
    ]
    better = sum(share_after > share_before for share_before, share_after in finished)
    worse = sum(share_after < share_before for share_before, share_after in finished)
    count = better + worse
    tail = sum(comb(count, number) for number in range(min(better, worse) + 1)) / 2**count
    return {"better": better, "worse": worse, "ties": len(finished) - count, "p": round(min(1.0, 2 * tail), 4)}


def comparison_table(comparison: ComparedRuns) -> Table:
    """Table of the changes, the cases that became worse first."""
    grid = Table(box=None, pad_edge=False)
    for name in ("", "case", "before", "after", "failing checks"):
        grid.add_column(name)
    words = {True: "pass", False: "FAIL", None: "skip"}
    for group, colour, changes in (
        ("worse", "red", comparison["worse"]),
        ("better", "green", comparison["better"]),
        ("other", "yellow", comparison["other"]),
    ):
        for change in changes:
            failing = ", ".join(change["checks"])
            row = (change["id"], words[change["before"]], words[change["after"]], failing)
            grid.add_row(Text(group, style=colour), *row)
    for group, names in (("added", comparison["added"]), ("removed", comparison["removed"])):
        for name in names:
            grid.add_row(group, name, "", "", "")
    for change in comparison["seconds"]:
        grid.add_row("time", change["id"], f"{change['before']:.2f} s", f"{change['after']:.2f} s", "")
    return grid


def _slower(seconds_before: float, seconds_after: float) -> bool:
    """Whether a time changed by more than half and by more than 0.25 s; less is noise."""
    return abs(seconds_after - seconds_before) > 0.25 and (
        seconds_after > seconds_before * 1.5 or seconds_before > seconds_after * 1.5
    )
