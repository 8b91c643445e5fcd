"""Compares what a case expects with what was observed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from nexus_cli.evaluation.cases import Case, Expect
from nexus_cli.evaluation.figures import recomputed, unknown_figures
from nexus_cli.evaluation.observed import Observed

BY_RULES = "offline-rules"
_MISSING = object()


@dataclass(frozen=True)
class CaseCheck:
    """One expectation; `detail` says what was observed instead."""

    name: str
    passed: bool
    detail: str = ""


def checks(case: Case, seen: Observed) -> list[CaseCheck]:
    if seen.problem is not None:
        return [CaseCheck("ran", passed=False, detail=seen.problem)]
    wanted = case.expect
    found = [*_texts(wanted, seen), *_data(wanted, seen), _time(wanted, seen)]
    match case.kind:
        case "visitor" | "copilot":
            found += [_answered(wanted, seen), *_chat(wanted, seen)]
        case "tool":
            found += _call(wanted, seen)
        case "analysis":
            found += _report(case, wanted, seen)
    return found


def _time(wanted: Expect, seen: Observed) -> CaseCheck:
    return CaseCheck("in time", seen.seconds <= wanted.seconds, f"{seen.seconds:.1f} s, at most {wanted.seconds:g}")


def _texts(wanted: Expect, seen: Observed) -> Iterator[CaseCheck]:
    text = seen.text
    for pattern in [*wanted.says, *(wanted.says_by_rules if seen.model == BY_RULES else [])]:
        yield CaseCheck(f"says {pattern}", re.search(pattern, text, re.IGNORECASE) is not None, _short(text))
    for pattern in wanted.says_not:
        yield CaseCheck(f"does not say {pattern}", re.search(pattern, text, re.IGNORECASE) is None, _short(text))


def _answered(wanted: Expect, seen: Observed) -> CaseCheck:
    if wanted.code is not None:
        return CaseCheck(f"ends in {wanted.code}", seen.code == wanted.code, f"{seen.code}: {_short(seen.text)}")
    return CaseCheck("is answered", seen.code is None and bool(seen.text.strip()), f"{seen.code}: {_short(seen.text)}")


def _chat(wanted: Expect, seen: Observed) -> Iterator[CaseCheck]:
    names = [use.tool for use in seen.uses]
    if wanted.tools is not None:
        yield CaseCheck("right tools", names == wanted.tools, f"called {names}")
    if wanted.tools_among is not None:
        yield CaseCheck("tools among", bool(names) and set(names) <= set(wanted.tools_among), f"called {names}")
    for name in wanted.tools_not:
        yield CaseCheck(f"never {name}", name not in names, f"called {names}")
    if wanted.arguments is not None:
        given = [use.arguments for use in seen.uses]
        fits = len(given) == len(wanted.arguments) and all(map(_includes, given, wanted.arguments))
        yield CaseCheck("right arguments", fits, f"gave {given}")
    if wanted.errors is not None:
        errors = [use.error for use in seen.uses if use.error]
        yield CaseCheck("refused as it should be", errors == wanted.errors, f"got {errors}")
    if wanted.calls_at_most is not None:
        yield CaseCheck("tool budget", len(names) <= wanted.calls_at_most, f"{len(names)} calls")
    if wanted.model_calls_at_most is not None:
        fits = seen.model_calls <= wanted.model_calls_at_most
        yield CaseCheck("model budget", fits, f"{seen.model_calls} model calls")
    if wanted.citations is not None:
        cited = len(seen.citations) == len(wanted.citations) and all(
            map(str.endswith, seen.citations, wanted.citations)
        )
        yield CaseCheck("citations", cited, f"cites {list(seen.citations)}")
    if wanted.actions is not None:
        errors = [f"{use.tool} {use.error}" for use in seen.uses if use.error]
        told = f"; failed: {', '.join(errors)}" if errors else ""
        yield CaseCheck("actions", seen.actions == wanted.actions, f"{seen.actions} wait for a yes{told}")
    if wanted.figures_from_tools:
        loose = unknown_figures(seen.text, [use.result for use in seen.uses], seen.question)
        yield CaseCheck("figures come from tools", not loose, f"nobody gave {loose}")


def _call(wanted: Expect, seen: Observed) -> Iterator[CaseCheck]:
    error: dict[str, Any] = seen.body.get("error") or {}
    fields = [one["field"] for one in cast("list[dict[str, Any]]", error.get("fields") or [])]
    told = f"{seen.status} {error or ''}".strip()
    if wanted.error is None:
        yield CaseCheck("succeeds", seen.body.get("success") is True, told)
    for name, value, given in (
        ("status", wanted.status, seen.status),
        ("error", wanted.error, error.get("code")),
        ("reason", wanted.reason, error.get("reason")),
        ("required plan", wanted.required_plan, error.get("requiredPlan")),
    ):
        if value is not None:
            yield CaseCheck(f"{name} {value}", given == value, told)
    if wanted.field is not None:
        yield CaseCheck(f"names {wanted.field}", wanted.field in fields, told)


def _report(case: Case, wanted: Expect, seen: Observed) -> Iterator[CaseCheck]:
    from contracts.analysis_report import AnalysisReport

    report = seen.body
    try:
        AnalysisReport.model_validate(report)
        yield CaseCheck("schema", passed=True)
    except ValueError as error:
        yield CaseCheck("schema", passed=False, detail=_short(str(error)))
        return
    used = cast("list[dict[str, Any]]", report["tools_used"])
    if wanted.tickers is not None:
        yield CaseCheck("tickers", report["tickers"] == wanted.tickers, f"of {report['tickers']}")
    if wanted.tools_used is not None:
        names = [use["tool"] for use in used]
        yield CaseCheck("right tools", names == wanted.tools_used, f"used {names}")
    if wanted.calls_at_most is not None:
        calls = sum(use["calls"] for use in used)
        yield CaseCheck("tool budget", calls <= wanted.calls_at_most, f"{calls} calls")
    told = " | ".join(report["limitations"])
    for pattern in wanted.limitations:
        said = re.search(pattern, told, re.IGNORECASE) is not None
        yield CaseCheck(f"limitation {pattern}", said, _short(told))
    findings = {one["ticker"]: one for one in cast("list[dict[str, Any]]", report["findings"])}
    for path in wanted.recomputed:
        ticker, _, figure = path.partition(".")
        given = _at(findings.get(ticker, {}), figure)
        expected = recomputed(seen.bars.get(ticker, []), figure)
        yield CaseCheck(f"{path} recomputed", _close(given, expected), f"report {given}, recomputed {expected}")
    if case.expect.figures_from_tools:
        loose = unknown_figures(str(report["summary"]), [report["findings"], report.get("comparison")], seen.question)
        yield CaseCheck("figures come from tools", not loose, f"nobody gave {loose}")


def _data(wanted: Expect, seen: Observed) -> Iterator[CaseCheck]:
    data = seen.body.get("data", seen.body)
    for path, value in wanted.data.items():
        given = _at(data, path)
        yield CaseCheck(f"{path} = {value}", _equal(given, value), f"it is {None if given is _MISSING else given}")
    for path in wanted.present:
        yield CaseCheck(f"has {path}", _at(data, path) not in (_MISSING, None), "it is not there")
    for path in wanted.absent:
        yield CaseCheck(f"has no {path}", _at(data, path) in (_MISSING, None), f"it is {_at(data, path)}")


def _at(data: Any, path: str) -> Any:
    """The value at a path of names and numbers, e.g. bars.0.close."""
    for part in path.split("."):
        if isinstance(data, list) and part.lstrip("-").isdigit():
            entries = cast("list[Any]", data)
            data = entries[int(part)] if -len(entries) <= int(part) < len(entries) else _MISSING
        elif isinstance(data, dict):
            data = cast("dict[str, Any]", data).get(part, _MISSING)
        else:
            return _MISSING
    return data


def _equal(given: Any, wanted: Any) -> bool:
    number: Callable[[Any], bool] = lambda one: isinstance(one, int | float) and not isinstance(one, bool)  # noqa: E731
    if number(given) and number(wanted):
        return math.isclose(given, wanted, rel_tol=1e-6, abs_tol=1e-9)
    return given is not _MISSING and given == wanted


def _close(given: Any, expected: float | None) -> bool:
    """Figures of tools are rounded to six decimals."""
    if given is None or expected is None or given is _MISSING:
        return given is None and expected is None
    return math.isclose(given, expected, rel_tol=1e-6, abs_tol=1e-6)


def _includes(given: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(_equal(given.get(name, _MISSING), value) for name, value in wanted.items())


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:200]}…"
