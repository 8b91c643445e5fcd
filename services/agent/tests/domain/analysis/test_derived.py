"""Figures of stretches in a report: told with their stretch, backed by the tool, and held against it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import jsonschema_rs
import pytest

from agent.domain.analysis.asked import AskedPeriod, is_analysis, language_in
from agent.domain.analysis.derived import derived_text, requested_figures_text
from agent.domain.analysis.figures import CollectedResults, collect_results
from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.plan import ToolInfo
from agent.domain.analysis.report import limits_of_data
from agent.domain.analysis.steps import AnalysisPolicy, CallTools, Finish, advance, with_results
from agent.domain.claims.checked_text import unsupported_claims
from agent.domain.claims.facts import facts_of_findings
from agent.testing.figures import output
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
    return collect_results(
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
    assert unsupported_claims(sentence, facts_of_findings(findings()), YEAR) == []


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
    assert unsupported_claims(sentence, facts_of_findings(findings()), YEAR)


def test_each_stretch_is_told_once_with_its_days() -> None:
    said = derived_text(findings(), "en").splitlines()
    assert said[0].startswith(
        "From 1 January 2008 to 31 December 2008, IBM: return -22.1%; annualised volatility 36.1%"
    )
    assert "correlation against MSFT 0.61" in said[0]
    assert "MSFT: return -45.4%" in said[1]
    assert "correlation" not in said[1]
    assert said[-1].endswith("by return, highest first: IBM -22.1%, MSFT -45.4%.")


def reported(query: str, data: Mapping[str, Any], tool: str, parameter: str = "tickers") -> dict[str, Any]:
    """The report of a question to which every call of a tool is answered with this."""
    tools = (ToolInfo(tool, "market", "", (), 3, {}, {"properties": {parameter: {}}}),)
    request = AnalysisRequested(analysis_id="a", company_id="demo", user_id="u", query=query)
    record, step = advance(AnalysisRecord(request=request, asked_at=NOW), AnalysisPolicy(tools), usable, NOW)
    assert isinstance(step, CallTools)
    record = with_results(record, {call.call_id: {"success": True, "data": data} for call in step.calls})
    _, step = advance(record, AnalysisPolicy(tools), usable, NOW)
    assert isinstance(step, Finish)
    assert REPORT.is_valid(step.report), list(REPORT.iter_errors(step.report))
    return step.report


SOURCED = {"source": "sample", "as_of": "2012-06-01T20:00:00Z"}


def test_an_indicator_is_told_with_its_day_and_nothing_else_is() -> None:
    data = {**SOURCED, "price": 189.08, "currency": "USD", "indicators": {"RSI": {"value": 27.0912, "period": 14}}}
    report = reported("RSI de IBM el 1 de junio de 2012", data, "get_indicators", "symbol")
    assert report["summary"].splitlines()[0] == "El 1 de junio de 2012, IBM: RSI (14) 27,09."
    assert len(report["summary"].splitlines()) == 2
    assert unsupported_claims("IBM's RSI is 27.09.", facts_of_findings(report["findings"])) == []
    assert unsupported_claims("IBM's RSI is 72.09.", facts_of_findings(report["findings"]))


def test_where_a_price_stands_to_its_average_is_told() -> None:
    data = {**SOURCED, "price": 189.08, "currency": "USD", "indicators": {"SMA": {"value": 188.94, "period": 200}}}
    said = reported("Was IBM above its 200-day average on 1 June 2012?", data, "get_indicators", "symbol")["summary"]
    assert said.startswith("On 1 June 2012, IBM closes at USD 189.08, above its 200-session average (USD 188.94).")


def test_tickers_are_ranked_by_what_is_asked_for() -> None:
    by_fall = reported("Which of IBM and MSFT had the smallest drawdown in 2008?", performance(), "get_performance")
    assert by_fall["summary"].splitlines()[0].endswith("by maximum drawdown, smallest first: IBM -44.8%, MSFT -50.8%.")
    by_risk = reported("Ordena IBM y MSFT por volatilidad en 2008", performance(), "get_performance")
    assert by_risk["summary"].splitlines()[0].endswith("de mayor a menor: MSFT 48,0 %, IBM 36,1 %.")


@pytest.mark.parametrize(
    ("last", "told"), [("2012-09-20", "From 1 January 2012 to 20 September 2012"),
                       ("2012-12-28", "From 1 January 2012 to 31 December 2012")])  # fmt: skip
def test_a_year_that_goes_on_is_told_up_to_its_last_day(last: str, told: str) -> None:
    asked = {"from": "2012-01-03", "to": last, "asked": "2012-01-01/2012-12-31"}
    data = {**performance(), "figures": [figure("IBM", "return", 0.116, **asked)]}
    report = reported("What was IBM's return in 2012?", data, "get_performance")
    assert report["summary"].splitlines()[0] == f"{told}, IBM: return 11.6%."


def test_the_best_months_of_two_are_ranked_though_they_are_different_months() -> None:
    months = {"IBM": (0.08, "2008-07"), "MSFT": (0.05, "2008-04")}
    days = {ticker: {"from": f"{month}-01", "to": f"{month}-28", "on": f"{month}-01"}
            for ticker, (_, month) in months.items()}  # fmt: skip
    figures = [figure(ticker, "best_month", value, **days[ticker]) for ticker, (value, _) in months.items()]
    report = reported("Best month of IBM and MSFT in 2008?", {**performance(), "figures": figures}, "get_performance")
    assert "by best month, highest first: IBM 8.0%" in report["summary"].splitlines()[0]


def test_years_are_ranked_where_one_of_them_is_asked_for() -> None:
    figures = [
        figure("IBM", "volatility", value, asked=f"{year}-01-01/{year}-12-31")
        for year, value in ((2011, 0.2247), (2012, 0.165))
    ]
    data = {**performance(), "figures": figures}
    report = reported("Which was IBM's calmest year, 2011 or 2012?", data, "get_performance")
    assert (
        report["summary"]
        .splitlines()[0]
        .endswith("IBM, by annualised volatility, lowest first: 2012: 16.5%, 2011: 22.5%.")
    )


def test_what_the_budget_of_calls_does_not_reach_is_named() -> None:
    report = reported("IBM's volatility in 2008, 2009, 2010, 2011 and 2012", performance(), "get_performance")
    assert [one.partition(", because ")[0] for one in report["not_answered"]] == [
        "Not answered: the figures of the period (2011-01-01 – 2011-12-31) of IBM",
        "Not answered: the figures of the period (2012-01-01 – 2012-12-31) of IBM",
    ]


def test_as_many_of_the_best_are_told_as_are_asked_for() -> None:
    def one(figure: str, value: float, month: int) -> dict[str, Any]:
        days = {"from": f"2008-{month:02}-01", "to": f"2008-{month:02}-28", "on": f"2008-{month:02}-01"}
        return {"ticker": "IBM", "figure": figure, "value": value, "asked": YEAR, **days}

    figures = [
        one("best_month", 0.12, 3), one("best_month", 0.1, 7), one("worst_month", -0.2, 10), one("worst_month", -0.1, 1)
    ]  # fmt: skip
    data = {**performance(), "figures": figures}
    report = reported("IBM's two best months in 2008, and its worst month", data, "get_performance")
    assert report["summary"].splitlines()[0] == (
        "From 1 January 2008 to 31 December 2008, IBM: best months 12.0% (1 March 2008 to 28 March 2008), "
        "10.0% (1 July 2008 to 28 July 2008); worst month -20.0% (1 October 2008 to 28 October 2008)."
    )
    facts = facts_of_findings(report["findings"])
    assert unsupported_claims("IBM's best month in 2008 was 12.0%.", facts) == []
    assert unsupported_claims("IBM's worst month in 2008 was 12.0%.", facts)


def test_falls_are_told_with_their_days() -> None:
    falls = [
        {"ticker": "IBM", "peak": "2008-07-28", "trough": "2008-11-20", "recovered": None, "depth": -0.448},
        {"ticker": "IBM", "peak": "2008-01-02", "trough": "2008-01-22", "recovered": None, "depth": -0.1},
        {"ticker": "IBM", "peak": "2008-07-28", "trough": "2008-11-20", "recovered": "2009-12-23", "depth": -0.448},
        {"ticker": "IBM", "peak": "2011-07-19", "trough": "2011-08-19", "recovered": "2011-10-10", "depth": -0.5},
    ]
    report = reported("Drawdown periods of IBM in 2008", {**performance(), "drawdowns": falls}, "get_performance")
    assert report["summary"].splitlines()[0] == (
        "IBM, deepest falls from a peak: -44.8%, 28 July 2008 to 20 November 2008, recovered on 23 December 2009, "
        "398 days after the low; "
        "-10.0%, 2 January 2008 to 22 January 2008, not recovered by the end."
    )
    # The time after the year is only looked at for the recovery.
    report = reported(
        "How many days did IBM take to recover in 2008?", {**performance(), "drawdowns": falls}, "get_performance"
    )
    assert report["summary"].splitlines()[0] == (
        "IBM, deepest falls from a peak: -44.8%, 28 July 2008 to 20 November 2008, recovered on 23 December 2009, "
        "398 days after the low."
    )


def test_the_tone_of_headlines_is_told() -> None:
    data = {**SOURCED, "label": "negative", "score": -0.31, "items": 4, "method": "vader"}
    said = reported("What is the sentiment on IBM?", data, "get_sentiment", "symbol")["summary"]
    assert said.startswith("Tone of IBM's headlines: negative (-0.31, from -1 to 1).")


def test_what_no_rule_reads_or_no_source_has_is_named_in_the_summary_too() -> None:
    entry = {**SOURCED, "pe": 14.1, "beta": None, "currency": "USD"}
    data: dict[str, Any] = {"tickers": {"IBM": entry}, "errors": []}
    report = reported("Beta, P/E and Sharpe ratio of IBM", data, "fundamentals_events")
    assert report["not_answered"] == [
        "Not answered: beta of IBM, because the source has no such figure.",
        "Not answered: “sharpe”, because without a model no rule reads these words.",
    ]
    assert report["summary"].splitlines()[:3] == ["IBM: P/E 14.10.", *report["not_answered"]]


def test_a_figure_whose_tool_the_plan_has_not_is_named() -> None:
    data = {
        **SOURCED,
        "symbol": "IBM",
        "items": [{"title": "IBM rises", "time": "2012-06-01T20:00:00Z", "source": "x"}],
    }
    report = reported("News of IBM and its RSI", data, "get_news", "symbol")
    assert report["not_answered"] == [
        "Not answered: RSI of IBM, because the tool that gives it is not available on this plan."
    ]


def test_an_amount_in_another_currency_is_not_converted_in_silence() -> None:
    report = reported("10.000 euros en IBM en 2008", performance(), "get_performance")
    assert any("EUR was counted as USD" in one for one in report["limitations"])


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
    record = with_results(record, {call.call_id: {"success": True, "data": data}})
    _, step = advance(record, AnalysisPolicy(tools), usable, NOW)
    assert isinstance(step, Finish)
    assert REPORT.is_valid(step.report)
    assert step.report["not_answered"] == [
        "Not answered: the figures of the period (2008-01-01 – 2008-12-31) of FB, because no sessions then."
    ]
    assert [finding["ticker"] for finding in step.report["findings"]] == ["IBM"]


@pytest.mark.parametrize(
    ("query", "last"),
    [
        ("Order IBM and MSFT by 1-year return. What is the P/E of the second one?", "MSFT: P/E 13.97."),
        ("Rank IBM and MSFT by volatility, and give me the P/E of the last one", "IBM: P/E 14.12."),
        ("Ordena IBM y MSFT por volatilidad. ¿Y la segunda, qué PER tiene?", "IBM: PER 14,12."),
        ("Who reports next week, IBM or MSFT?",
         "Next earnings date: IBM 18 April 2013 (expected), MSFT 18 April 2013 (expected)."),
    ],
)  # fmt: skip
def test_the_second_in_an_order_is_the_one_that_is_told_of(query: str, last: str) -> None:
    language = "es" if "Ordena" in query else "en"
    assert requested_figures_text(known(), read_question(query, ("IBM", "MSFT")), language).splitlines()[-1] == last


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Who reports next week, IBM or MSFT?", "With results from 4 March 2013 to 10 March 2013: none that is known."),
        ("IBM and MSFT results in April?", "With results from 1 April 2013 to 30 April 2013: IBM and MSFT."),
        (
            "IBM and MSFT results in January?",
            "With results from 1 January 2014 to 31 January 2014: none that is known.",
        ),
        (
            "IBM and MSFT results in the next two weeks?",
            "With results from 2 March 2013 to 15 March 2013: none that is known.",
        ),
        ("IBM and MSFT results next month?", "With results from 1 April 2013 to 30 April 2013: IBM and MSFT."),
    ],
)
def test_results_ahead_are_those_of_the_stretch_that_is_asked_for(query: str, first: str) -> None:
    findings_of = known(("fundamentals_events",))
    assert requested_figures_text(findings_of, read_question(query, ("IBM", "MSFT")), "en").splitlines()[0] == first


def known(tools: tuple[str, ...] = ("market_snapshot", "fundamentals_events")) -> list[dict[str, Any]]:
    tickers = ["IBM", "MSFT"]
    return collect_results(
        tickers,
        [
            AnalysisCall(
                call_id=tool, tool=tool, tickers=tickers, result={"success": True, "data": output(tool, tickers)}
            )
            for tool in tools
        ],
    ).findings


@pytest.mark.parametrize(
    ("asked", "told"), [("5y", ["FB"]), ("2011-01-01/2012-12-31", ["FB"]), ("1900-01-01/", ["FB"])]
)
def test_data_that_begins_later_is_said(asked: str, told: list[str]) -> None:
    begun = {"IBM": "2011-01-03", "FB": "2012-05-18"}
    derived = [figure(name, "return", 0.5, asked=asked, **{"from": first}) for name, first in begun.items()]
    known = CollectedResults(findings=[{"ticker": one["ticker"], "derived": [one]} for one in derived])
    notes = limits_of_data(known, AskedPeriod(), "en")
    assert notes == [f"{name}: there is no data before 18 May 2012: its figures are from then on." for name in told]


def test_an_average_that_is_not_known_is_left_out() -> None:
    known = {"ticker": "IBM", "on": "2013-03-01", "asked": "2013-03-01/2013-03-01", "currency": "USD"}
    derived = [{**known, "figure": "price", "value": 27.78}, {**known, "figure": "sma_200", "value": None}]
    question = read_question("Is IBM above its 200-day average?", ("IBM",))
    assert requested_figures_text([{"ticker": "IBM", "derived": derived}], question, "en") == ""


def test_what_a_trial_assumed_is_kept() -> None:
    data = {**performance(), "assumptions": ["Costs of 0.1 % of each trade."]}
    call = AnalysisCall(call_id="c", tool="backtest_strategy", tickers=["IBM"], result={"success": True, "data": data})
    assert collect_results(["IBM"], [call, call]).assumptions == ["Costs of 0.1 % of each trade."]


def test_a_careless_question_is_read_in_its_own_language() -> None:
    assert language_in("correlacion aapl msft 2008 vs 2012", "en") == "es"
    assert read_question("golden cross on msft since 2005? dates pls", ("MSFT",)).unread == []


@pytest.mark.parametrize(
    ("query", "days", "told"),
    [
        (
            "Did IBM's 50-day average cross its 200-day average over the last year?",
            [],
            "Over the last year, IBM, crossings of the 50-session average with the 200-session one: none.",
        ),
        (
            "When did IBM's 50-day average last cross its 200-day average? The most recent time, please.",
            [{"on": "2011-12-05", "above": False, "close": 1.0}, {"on": "2012-03-01", "above": True, "close": 2.0}],
            "Over all the data there are, IBM, crossings of the 50-session average with the 200-session one: "
            "1 March 2012 (above).",
        ),
    ],
)
def test_crossings_are_told_with_their_stretch(query: str, days: list[dict[str, Any]], told: str) -> None:
    data = {**SOURCED, "symbol": "IBM", "fast": 50, "slow": 200, "currency": "USD", "crossings": days}
    assert reported(query, data, "get_crossings", "symbol")["summary"].splitlines()[0] == told


def test_when_the_worst_fall_was_is_told_with_it() -> None:
    question = read_question("¿cuál fue la peor caída de IBM en 2008 y cuándo?", ("IBM",))
    assert question.figures == ["max_drawdown", "drawdowns"]
    fall = {"peak": "2008-05-02", "trough": "2008-11-20", "recovered": None, "depth": -0.45}
    finding = {
        "ticker": "IBM",
        "drawdowns": [{**fall, "peak": "2008-01-02", "trough": "2008-01-20", "depth": -0.1}, fall],
    }
    assert requested_figures_text([finding], question, "es") == (
        "IBM, mayores caídas desde un máximo: -45,0 %, del 2 de mayo de 2008 al 20 de noviembre de 2008, sin recuperar "
        "hasta el final."
    )


def test_what_no_tool_measures_is_named_and_the_annual_volatility_is_no_annual_return() -> None:
    assert is_analysis("Sharpe ratio of AAPL over the last year")
    assert "sharpe" in read_question("Sharpe ratio of AAPL over the last year", ("AAPL",)).unread
    assert read_question("volatilidad anualizada de AAPL en 2012", ("AAPL",)).figures == ["volatility"]
