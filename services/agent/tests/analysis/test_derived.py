"""Figures of stretches in a report: told with their stretch, backed by the tool, and held against it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import jsonschema_rs
import pytest

from agent.domain.analysis.derived import told_derived
from agent.domain.analysis.figures import gathered
from agent.domain.analysis.plan import ToolInfo
from agent.domain.analysis.steps import AnalysisPolicy, CallTools, Finish, advance, ran
from agent.domain.claims.checker import unsupported
from agent.domain.claims.facts import facts_of_findings
from contracts.analysis_report import report_schema
from contracts.events.analysis import AnalysisCall, AnalysisRecord, AnalysisRequested

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
YEAR = "2008-01-01/2008-12-31"
REPORT = jsonschema_rs.Draft202012Validator(report_schema())


def figure(ticker: str, name: str, value: float | None, **more: Any) -> dict[str, Any]:
    head = {"ticker": ticker, "figure": name, "value": value, "from": "2008-01-02", "to": "2008-12-31", "asked": YEAR}
    return {**head, "on": None, "other": None, "currency": "USD", **more}


def performance() -> dict[str, Any]:
    figures = [
        figure("IBM", "return", -0.2214), figure("IBM", "volatility", 0.361), figure("IBM", "max_drawdown", -0.448),
        figure("IBM", "growth", 7785.38), figure("IBM", "best_day", 0.096, on="2008-10-28"),
        figure("MSFT", "return", -0.4539), figure("MSFT", "volatility", 0.48), figure("MSFT", "max_drawdown", -0.508),
        figure("IBM", "correlation", 0.61, other="MSFT"),
    ]  # fmt: skip
    return {"figures": figures, "errors": [], "source": "sample", "as_of": "2013-03-01T21:00:00Z"}


def findings() -> list[dict[str, Any]]:
    tickers = ["IBM", "MSFT"]
    result = {"success": True, "data": performance()}
    return gathered(
        tickers, [AnalysisCall(call_id="c", tool="get_performance", tickers=tickers, result=result)]
    ).findings


@pytest.mark.parametrize(
    "sentence",
    [
        "IBM fell 22.1% in 2008.",
        "In 2008, IBM lost 22.1% and MSFT 45.4%.",
        "From 1 January 2008 to 31 December 2008, IBM fell 22.1%.",
        "IBM did better than MSFT in 2008.",
        "In 2008 IBM's volatility was 36.1%.",
        "The correlation of IBM with MSFT in 2008 was 0.61.",
        "En 2008 IBM bajó un 22,1 %.",
    ],
)
def test_what_was_measured_may_be_said(sentence: str) -> None:
    assert unsupported(sentence, facts_of_findings(findings()), YEAR) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "IBM rose 22.1% in 2008.",
        "IBM fell 22.1% in 2009.",
        "IBM fell 22.1% over the last year.",
        "MSFT did better than IBM in 2008.",
        "The correlation of IBM with MSFT in 2008 was 0.71.",
        "En 2011 IBM bajó un 22,1 %.",
    ],
)
def test_what_was_not_is_found_out(sentence: str) -> None:
    assert unsupported(sentence, facts_of_findings(findings()), YEAR)


def test_each_stretch_is_told_once_with_its_days() -> None:
    said = told_derived(findings(), "en").splitlines()
    assert said[0].startswith(
        "From 1 January 2008 to 31 December 2008, IBM: return -22.1%; annualised volatility 36.1%"
    )
    assert "correlation against MSFT 0.61" in said[0]
    assert "MSFT: return -45.4%" in said[1]
    assert "correlation" not in said[1]
    assert said[-1].endswith("by return, highest first: IBM -22.1%, MSFT -45.4%.")


def usable(tool: str, data: Mapping[str, Any]) -> bool:
    return True


def test_what_could_not_be_answered_is_said_with_its_reason() -> None:
    parameters: dict[str, Any] = {"properties": {"tickers": {}}, "required": ["tickers"]}
    tools = (ToolInfo("get_performance", "market", "", (), 1, {}, parameters),)
    request = AnalysisRequested(analysis_id="a", company_id="demo", user_id="u", query="IBM and FB in 2008")
    record, step = advance(AnalysisRecord(request=request, asked_at=NOW), AnalysisPolicy(tools), usable, NOW)
    assert isinstance(step, CallTools)
    (call,) = step.calls
    assert (call.tool, call.arguments) == ("get_performance", {"start": "2008-01-01", "end": "2008-12-31"})
    data = {**performance(), "errors": [{"error": "no sessions then.", "ticker": "FB", "reason": "no_data"}]}
    data["figures"] = [one for one in data["figures"] if one["ticker"] == "IBM"]
    record = ran(record, {call.call_id: {"success": True, "data": data}})
    _, step = advance(record, AnalysisPolicy(tools), usable, NOW)
    assert isinstance(step, Finish)
    assert REPORT.is_valid(step.report)
    assert step.report["not_answered"] == [
        "Not answered: the figures of the period (2008-01-01 – 2008-12-31) of FB, because no sessions then."
    ]
    assert [finding["ticker"] for finding in step.report["findings"]] == ["IBM"]
