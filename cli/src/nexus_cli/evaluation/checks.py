"""Compares what a case expects with what was observed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from nexus_cli.evaluation.cases import Case, Expect
from nexus_cli.evaluation.figures import recomputed, unknown_figures
from nexus_cli.evaluation.observed import Observed

BY_RULES = "offline-rules"
_MISSING = object()


@dataclass(frozen=True)
class CaseCheck:
    """One expectation. `detail` says what was observed instead."""

    name: str
    passed: bool
    detail: str = ""


def checks(case: Case, observed: Observed) -> list[CaseCheck]:
    """Checks every expectation of the case. If it has no result, the only check is the failed `ran`."""
    if observed.problem is not None:
        return [CaseCheck("ran", passed=False, detail=observed.problem)]
    expected = case.expect
    results = [*_texts(expected, observed), *_data(expected, observed), _time(expected, observed)]
    match case.kind:
        case "visitor" | "copilot":
            results += [_answered(expected, observed), *_chat(expected, observed)]
        case "tool":
            results += _call(expected, observed)
        case "analysis":
            results += _report(case, expected, observed)
    return results


def _time(expected: Expect, observed: Observed) -> CaseCheck:
    return CaseCheck(
        "in time", observed.seconds <= expected.seconds, f"{observed.seconds:.1f} s, at most {expected.seconds:g}"
    )


def _texts(expected: Expect, observed: Observed) -> Iterator[CaseCheck]:
    text = observed.text
    for pattern in [*expected.says, *(expected.says_by_rules if observed.model == BY_RULES else [])]:
        yield CaseCheck(f"says {pattern}", re.search(pattern, text, re.IGNORECASE) is not None, _short(text))
    for pattern in expected.says_not:
        yield CaseCheck(f"does not say {pattern}", re.search(pattern, text, re.IGNORECASE) is None, _short(text))


def _answered(expected: Expect, observed: Observed) -> CaseCheck:
    if expected.code is not None:
        return CaseCheck(
            f"ends in {expected.code}", observed.code == expected.code, f"{observed.code}: {_short(observed.text)}"
        )
    return CaseCheck(
        "is answered",
        observed.code is None and bool(observed.text.strip()),
        f"{observed.code}: {_short(observed.text)}",
    )


def _chat(expected: Expect, observed: Observed) -> Iterator[CaseCheck]:
    names = [use.tool for use in observed.uses]
    if expected.tools is not None:
        yield CaseCheck("right tools", names == expected.tools, f"called {names}")
    if expected.tools_among is not None:
        yield CaseCheck("tools among", bool(names) and set(names) <= set(expected.tools_among), f"called {names}")
    for name in expected.tools_not:
        yield CaseCheck(f"never {name}", name not in names, f"called {names}")
    if expected.arguments is not None:
        arguments = [use.arguments for use in observed.uses]
        fits = len(arguments) == len(expected.arguments) and all(map(_includes, arguments, expected.arguments))
        yield CaseCheck("right arguments", fits, f"gave {arguments}")
    if expected.errors is not None:
        errors = [use.error for use in observed.uses if use.error]
        yield CaseCheck("refused as it should be", errors == expected.errors, f"got {errors}")
    if expected.calls_at_most is not None:
        yield CaseCheck("tool budget", len(names) <= expected.calls_at_most, f"{len(names)} calls")
    if expected.model_calls_at_most is not None:
        fits = observed.model_calls <= expected.model_calls_at_most
        yield CaseCheck("model budget", fits, f"{observed.model_calls} model calls")
    if expected.citations is not None:
        cited = len(observed.citations) == len(expected.citations) and all(
            map(str.endswith, observed.citations, expected.citations)
        )
        yield CaseCheck("citations", cited, f"cites {list(observed.citations)}")
    if expected.actions is not None:
        errors = [f"{use.tool} {use.error}" for use in observed.uses if use.error]
        failures = f"; failed: {', '.join(errors)}" if errors else ""
        yield CaseCheck("actions", observed.actions == expected.actions, f"{observed.actions} wait for a yes{failures}")
    if expected.figures_from_tools:
        unknown = unknown_figures(observed.text, [use.result for use in observed.uses], observed.question)
        yield CaseCheck("figures come from tools", not unknown, f"nobody gave {unknown}")


def _call(expected: Expect, observed: Observed) -> Iterator[CaseCheck]:
    error: dict[str, Any] = observed.body.get("error") or {}
    fields = [field["field"] for field in cast("list[dict[str, Any]]", error.get("fields") or [])]
    answer = f"{observed.status} {error or ''}".strip()
    if expected.error is None:
        yield CaseCheck("succeeds", observed.body.get("success") is True, answer)
    for name, value, actual in (
        ("status", expected.status, observed.status),
        ("error", expected.error, error.get("code")),
        ("reason", expected.reason, error.get("reason")),
        ("required plan", expected.required_plan, error.get("requiredPlan")),
    ):
        if value is not None:
            yield CaseCheck(f"{name} {value}", actual == value, answer)
    if expected.field is not None:
        yield CaseCheck(f"names {expected.field}", expected.field in fields, answer)


def _report(case: Case, expected: Expect, observed: Observed) -> Iterator[CaseCheck]:
    from contracts.analysis_report import AnalysisReport

    report = observed.body
    try:
        AnalysisReport.model_validate(report)
        yield CaseCheck("schema", passed=True)
    except ValueError as error:
        yield CaseCheck("schema", passed=False, detail=_short(str(error)))
        return
    used = cast("list[dict[str, Any]]", report["tools_used"])
    if expected.tickers is not None:
        yield CaseCheck("tickers", report["tickers"] == expected.tickers, f"of {report['tickers']}")
    if expected.tools_used is not None:
        names = [use["tool"] for use in used]
        yield CaseCheck("right tools", names == expected.tools_used, f"used {names}")
    if expected.calls_at_most is not None:
        calls = sum(use["calls"] for use in used)
        yield CaseCheck("tool budget", calls <= expected.calls_at_most, f"{calls} calls")
    limitations = " | ".join(report["limitations"])
    for pattern in expected.limitations:
        matches = re.search(pattern, limitations, re.IGNORECASE) is not None
        yield CaseCheck(f"limitation {pattern}", matches, _short(limitations))
    findings = {finding["ticker"]: finding for finding in cast("list[dict[str, Any]]", report["findings"])}
    for path in expected.recomputed:
        ticker, _, figure = path.partition(".")
        reported = _at(findings.get(ticker, {}), figure)
        from_bars = recomputed(observed.bars.get(ticker, []), figure)
        yield CaseCheck(f"{path} recomputed", _close(reported, from_bars), f"report {reported}, recomputed {from_bars}")
    if case.expect.figures_from_tools:
        unknown = unknown_figures(
            str(report["summary"]), [report["findings"], report.get("comparison")], observed.question
        )
        yield CaseCheck("figures come from tools", not unknown, f"nobody gave {unknown}")


def _data(expected: Expect, observed: Observed) -> Iterator[CaseCheck]:
    data = observed.body.get("data", observed.body)
    for path, value in expected.data.items():
        actual = _at(data, path)
        yield CaseCheck(f"{path} = {value}", _equal(actual, value), f"it is {None if actual is _MISSING else actual}")
    for path in expected.present:
        yield CaseCheck(f"has {path}", _at(data, path) not in (_MISSING, None), "it is not there")
    for path in expected.absent:
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


def _equal(actual: Any, expected: Any) -> bool:
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in (actual, expected)):
        return math.isclose(actual, expected, rel_tol=1e-6, abs_tol=1e-9)
    return actual is not _MISSING and actual == expected


def _close(actual: Any, expected: float | None) -> bool:
    """Whether two figures are equal; those of tools are rounded to six decimals."""
    if actual is None or expected is None or actual is _MISSING:
        return actual is None and expected is None
    return math.isclose(actual, expected, rel_tol=1e-6, abs_tol=1e-6)


def _includes(actual: dict[str, Any], expected: dict[str, Any]) -> bool:
    return all(_equal(actual.get(name, _MISSING), value) for name, value in expected.items())


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:200]}…"
