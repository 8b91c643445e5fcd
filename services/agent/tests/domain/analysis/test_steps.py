"""An analysis as a state machine: the routes to a report, a model that lies, answers that cannot be used."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import jsonschema_rs
import pytest

from agent.domain.analysis.plan import ANALYSIS_TOOLS, ToolInfo
from agent.domain.analysis.steps import AnalysisPolicy, AskModel, CallTools, Finish, advance, with_reply, with_results
from agent.testing.figures import OUTPUT_SCHEMA, output
from contracts.analysis_report import report_schema
from contracts.company import CompanyConfig
from contracts.events.analysis import AnalysisCall, AnalysisRecord, AnalysisReply, AnalysisRequested
from contracts.market_rpc import MarketStatusReply

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SESSION = datetime(2012, 10, 18, 20, 30, tzinfo=UTC)
"""The market's present: a Thursday, after its session."""
TOOLS = tuple(
    ToolInfo(name, "market", f"about {name}", ({"tickers": ["IBM"]},), 1, OUTPUT_SCHEMA) for name in ANALYSIS_TOOLS
)
REPORT = jsonschema_rs.Draft202012Validator(report_schema())
COMPARE = "Compare IBM and MSFT over the last year"
ROUTING = '{"tools": [{"tool": "market_snapshot", "tickers": ["IBM", "MSFT"]}]}'
TRUE_SUMMARY = "Over the year to 1 March 2013 IBM rose 2.7% and MSFT fell 13.4%."


class Bench:
    """Runs an analysis to its report; `says`: the model's words by step; `gives`: instead of the tools' outputs."""

    def __init__(
        self,
        says: Mapping[str, str | list[str | None] | None] | None = None,
        *,
        symbols: Sequence[str] = (),
        **policy: Any,
    ) -> None:
        self.says = dict(says or {})
        market = MarketStatusReply(
            status="after_hours", current_time=SESSION, next_open=SESSION, next_close=SESSION, source="sample",
            as_of=SESSION, symbols=list(symbols),
        )  # fmt: skip
        self.policy = AnalysisPolicy(TOOLS, **policy, market=market)
        self.asked: list[AskModel] = []
        self.made: list[AnalysisCall] = []

    def gives(self, call: AnalysisCall) -> dict[str, Any]:
        return {"success": True, "data": output(call.tool, call.tickers)}

    def run(self, query: str = COMPARE, *, tickers: list[str] | None = None, use_llm: bool = False) -> dict[str, Any]:
        request = AnalysisRequested(
            analysis_id="a1", company_id="demo", user_id="u1", query=query, tickers=tickers, use_llm=use_llm
        )
        record = AnalysisRecord(request=request, asked_at=NOW)
        for _ in range(20):
            record, step = advance(record, self.policy, usable, NOW)
            # What is recorded is all that the next step needs.
            record = AnalysisRecord.model_validate_json(record.to_json())
            match step:
                case Finish(report=report):
                    assert REPORT.is_valid(report), list(REPORT.iter_errors(report))
                    return report
                case AskModel():
                    self.asked.append(step)
                    said = self.says.get(step.step)
                    text = said if said is None or isinstance(said, str) else said.pop(0)
                    failure = None if text is not None else "away"
                    record = with_reply(record, AnalysisReply(step=step.step, text=text, failure=failure))
                case CallTools(calls=calls):
                    self.made += calls
                    record = with_results(record, {call.call_id: self.gives(call) for call in calls})
        raise AssertionError("it does not end")


def usable(tool: str, data: Mapping[str, Any]) -> bool:
    return jsonschema_rs.is_valid(OUTPUT_SCHEMA, dict(data))


def pairs(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["tool"], ticker) for one in report["tools_used"] for ticker in one["tickers"]]


def test_without_a_model_both_tools_run_on_every_ticker_and_the_report_says_so() -> None:
    bench = Bench()
    report = bench.run()
    assert bench.asked == []
    assert [(call.tool, call.tickers) for call in bench.made] == [
        ("market_snapshot", ["IBM", "MSFT"]),
        ("fundamentals_events", ["IBM", "MSFT"]),
    ]
    assert [one["calls"] for one in report["tools_used"]] == [2, 2]
    assert [finding["ticker"] for finding in report["findings"]] == ["IBM", "MSFT"]
    assert report["findings"][0]["returns"]["1y"] == 0.027236
    assert report["comparison"]["figures"][0] == {
        "figure": "returns.1y",
        "values": {"IBM": 0.027236, "MSFT": -0.134141},
        "highest": "IBM",
        "lowest": "MSFT",
    }
    assert "No model was used" in report["limitations"][0]
    assert any("sample" in one for one in report["limitations"])
    assert {(one["ticker"], one["source"]) for one in report["sources"]} == {("IBM", "sample"), ("MSFT", "sample")}


def test_a_model_decides_which_tools_run_on_which_tickers_in_that_order() -> None:
    bench = Bench(
        {
            "routing": '{"tools": [{"tool": "fundamentals_events", "tickers": ["MSFT"]}, '
            '{"tool": "market_snapshot", "tickers": ["MSFT", "IBM"]}]}',
            "summary": TRUE_SUMMARY,
        }
    )
    report = bench.run(use_llm=True)
    assert pairs(report) == [("fundamentals_events", "MSFT"), ("market_snapshot", "MSFT"), ("market_snapshot", "IBM")]
    assert report["summary"].startswith(TRUE_SUMMARY)
    assert "sample" in report["summary"].splitlines()[-1]
    routing = bench.asked[0].messages
    assert "about market_snapshot" in routing[1]["content"]
    assert '"tickers":["IBM","MSFT"]' in routing[1]["content"]


LIES = {
    "unknown tools": (
        '{"tools": [{"tool": "create_paper_order", "tickers": ["IBM"]}, '
        '{"tool": "market_snapshot", "tickers": ["IBM"]}]}',
        [("market_snapshot", "IBM")],
        "do not exist",
    ),
    "other tickers": (
        '{"tools": [{"tool": "market_snapshot", "tickers": ["TSLA", "IBM", "BTC/USD"]}]}',
        [("market_snapshot", "IBM")],
        "other tickers",
    ),
    "the same again": (
        '{"tools": [{"tool": "market_snapshot", "tickers": ["IBM", "IBM"]}, '
        '{"tool": "market_snapshot", "tickers": ["IBM"]}]}',
        [("market_snapshot", "IBM")],
        "as its budget says",
    ),
    "nothing to use": (
        '{"tools": [{"tool": "rm -rf", "tickers": ["IBM"]}]}',
        [(tool, ticker) for tool in ANALYSIS_TOOLS for ticker in ("IBM", "MSFT")],
        "chose no tool",
    ),
    "broken JSON": (
        '{"tools": [{"tool": "market_snapshot", "tickers": [',
        [(tool, ticker) for tool in ANALYSIS_TOOLS for ticker in ("IBM", "MSFT")],
        "could not be read",
    ),
}


@pytest.mark.parametrize(("said", "made", "remark"), LIES.values(), ids=LIES.keys())
def test_a_model_that_lies_gets_no_further_than_the_rules(said: str, made: list[tuple[str, str]], remark: str) -> None:
    bench = Bench({"routing": said, "summary": TRUE_SUMMARY})
    report = bench.run(use_llm=True)
    assert pairs(report) == made
    assert [(call.tool, ticker) for call in bench.made for ticker in call.tickers] == made
    assert any(remark in one for one in report["limitations"]), report["limitations"]


def test_a_model_over_budget_is_cut_where_the_budget_ends() -> None:
    report = Bench({"routing": ROUTING, "summary": TRUE_SUMMARY}, max_calls=1).run(use_llm=True)
    assert pairs(report) == [("market_snapshot", "IBM")]
    assert any("budget of 1" in one and "MSFT" in one for one in report["limitations"])


@pytest.mark.parametrize(
    "summary",
    [
        "IBM rose 99.9% over the last year.",
        "IBM fell 2.7% over the last year, MSFT rose 13.4%.",
        "MSFT outperformed IBM over the last year.",
        "You should buy IBM: it will rise.",
        ROUTING,
        "",
        "word " * 2000,
    ],
)
def test_a_figure_or_claim_that_no_tool_gave_is_not_presented(summary: str) -> None:
    report = Bench({"routing": ROUTING, "summary": summary}).run(use_llm=True)
    assert "99.9" not in str(report)
    assert report["summary"].startswith("Over the year to 1 March 2013")
    assert any("summary" in one for one in report["limitations"])


def test_a_model_that_fails_at_either_step_costs_no_figures() -> None:
    away = Bench().run(use_llm=True)
    assert len(pairs(away)) == 4
    assert any("did not answer (it is not available)" in one for one in away["limitations"])
    halfway = Bench({"routing": ROUTING}).run(use_llm=True)
    assert pairs(halfway) == [("market_snapshot", "IBM"), ("market_snapshot", "MSFT")]
    assert any("could not word the summary" in one for one in halfway["limitations"])


def test_tickers_that_the_question_does_not_name_are_the_models_or_the_proxies_or_asked_for() -> None:
    query = "How have the big technology stocks done?"
    inferred = Bench({"tickers": '{"tickers": ["ibm", "MSFT"]}', "routing": ROUTING, "summary": TRUE_SUMMARY})
    report = inferred.run(query, use_llm=True)
    assert report["tickers"] == ["IBM", "MSFT"]
    assert any("inferred" in one for one in report["limitations"])
    proxies = Bench(default_tickers=("IBM",)).run(query)
    assert proxies["tickers"] == ["IBM"]
    assert any("proxies" in proxy for proxy in proxies["limitations"])
    asks = Bench().run(query)
    assert (asks["tickers"], asks["findings"], asks["tools_used"]) == ([], [], [])
    assert "Which ticker?" in asks["summary"]


def test_tickers_beyond_the_twelfth_are_named_as_left_out() -> None:
    report = Bench().run("Rank AAPL, FB, GOOG, IBM, MSFT, AMZN, ORCL, INTC, CSCO, HPQ, DELL, VZ, KO and PEP by return")
    left_out = "Not answered: everything about KO, PEP, because an analysis is of 12 tickers at most."
    assert left_out in report["not_answered"]
    assert left_out in report["limitations"]


@pytest.mark.parametrize("use_llm", [True, False])
@pytest.mark.parametrize(
    "query", ["Should I buy IBM?", "Guarantee me a profit with IBM", "Write a poem about IBM's dog"]
)
def test_what_is_out_of_scope_costs_no_call_of_any_kind(query: str, use_llm: bool) -> None:
    bench = Bench({"tickers": '{"tickers": ["IBM"]}', "routing": ROUTING})
    report = bench.run(query, tickers=["IBM"], use_llm=use_llm)
    assert (bench.asked, bench.made) == ([], [])
    assert (report["findings"], report["tools_used"], report["sources"]) == ([], [], [])
    assert "Nothing was looked up" in report["limitations"][0]


def test_a_question_about_all_tickers_is_about_those_that_the_market_has() -> None:
    asked = "Which of the stocks is up the most?"
    assert Bench(symbols=["IBM", "MSFT"]).run(asked)["tickers"] == ["IBM", "MSFT"]
    many = [f"T{chr(65 + at)}" for at in range(13)]
    assert Bench(symbols=[]).run(asked)["tickers"] == []
    over = Bench(symbols=many).run(asked)
    assert over["tickers"] == []
    assert over["summary"] == (
        f"An analysis is of 12 tickers at most, and there are more here: {', '.join(many)}. "
        "Please ask again and name those that you mean."
    )
    within = Bench(symbols=many, max_calls=13)
    assert within.run(asked)["tickers"] == many
    assert [len(call.tickers) for call in within.made] == [12, 1]


def test_how_all_stocks_do_is_a_question_about_all_tickers_and_how_the_market_does_about_none() -> None:
    for query in ("How is the market doing?", "¿Cómo va la bolsa?"):
        assert Bench(symbols=["IBM", "MSFT"]).run(query)["tickers"] == []
        assert Bench(symbols=["IBM", "MSFT"], default_tickers=("SPY",)).run(query)["tickers"] == ["SPY"]
    for query in ("How have all stocks done today?", "¿Cómo van todas las acciones hoy?"):
        bench = Bench(symbols=["IBM", "MSFT"])
        assert bench.run(query)["tickers"] == ["IBM", "MSFT"]
        assert [(call.tool, call.tickers) for call in bench.made] == [("market_snapshot", ["IBM", "MSFT"])]


def test_without_the_markets_symbols_it_is_not_the_customer_who_is_asked_for_them() -> None:
    bench = Bench()
    bench.policy = replace(bench.policy, market=None)
    assert "cannot be read at the moment" in bench.run("How have all stocks done today?")["summary"]


def test_why_a_ticker_moved_yesterday_asks_for_that_days_move_and_the_news_that_could_move_it() -> None:
    performance, news = (
        ToolInfo(name, "market", "", (), 1, OUTPUT_SCHEMA, {"properties": {"symbol": {}}} if name == "get_news" else {})
        for name in ("get_performance", "get_news")
    )
    bench = Bench()
    bench.policy = replace(bench.policy, tools=(performance, news))
    assert bench.run("Why did IBM move yesterday?")["query"] == "Why did IBM move yesterday?"
    assert [(call.tool, call.arguments) for call in bench.made] == [
        ("get_performance", {"start": "2012-10-17", "end": "2012-10-17"}),
        ("get_news", {"start": "2012-10-16", "end": "2012-10-17"}),
    ]

    class NoNews(Bench):
        def gives(self, call: AnalysisCall) -> dict[str, Any]:
            error = {"code": "EXECUTION_ERROR", "message": "there are no headlines", "reason": "no_data"}
            return {"success": False, "error": error} if call.tool == "get_news" else super().gives(call)

    without = NoNews()
    without.policy = bench.policy
    assert len([one for one in without.run("Why did IBM move yesterday?")["not_answered"] if "news" in one]) == 1


def test_an_answer_that_does_not_fit_is_asked_for_once_more_ticker_by_ticker() -> None:
    class Once(Bench):
        def gives(self, call: AnalysisCall) -> dict[str, Any]:
            return super().gives(call) if call.again else {"success": True, "data": {"tickers": "none"}}

    bench = Once()
    report = bench.run()
    assert [(call.tool, call.tickers) for call in bench.made if call.again] == [
        ("market_snapshot", ["IBM"]),
        ("market_snapshot", ["MSFT"]),
        ("fundamentals_events", ["IBM"]),
        ("fundamentals_events", ["MSFT"]),
    ]
    assert len(report["findings"]) == 2
    assert [one["calls"] for one in report["tools_used"]] == [2, 2]


def test_an_answer_that_never_fits_is_a_limitation_and_no_figure() -> None:
    class Never(Bench):
        def gives(self, call: AnalysisCall) -> dict[str, Any]:
            if call.tool == "market_snapshot" and "MSFT" in call.tickers:
                error = {"code": "INVALID_OUTPUT", "message": "price: not a number"}
                return {"success": False, "error": error}
            return super().gives(call)

    bench = Never()
    report = bench.run()
    assert [call.tickers for call in bench.made if call.again] == [["IBM"], ["MSFT"]]
    assert "returns" in report["findings"][0]
    assert "returns" not in report["findings"][1]
    assert any("does not fit its schema" in one and "MSFT" in one for one in report["limitations"])


def test_a_ticker_that_fails_is_told_and_the_others_answer() -> None:
    report = Bench().run("Compare IBM and TSLA over the last year")
    assert [finding["ticker"] for finding in report["findings"]] == ["IBM"]
    assert {(one["ticker"], one["reason"]) for one in report["errors"]} == {("TSLA", "not_in_sample")}
    (told,) = [one for one in report["not_answered"] if "TSLA" in one]
    assert told in report["summary"]
    assert sum("TSLA" in one for one in report["limitations"]) == 1
    nothing = Bench().run("How has TSLA done this year?")
    assert nothing["findings"] == []
    assert "TSLA" in nothing["summary"]


def test_a_provider_that_is_away_is_a_limitation() -> None:
    class Away(Bench):
        def gives(self, call: AnalysisCall) -> dict[str, Any]:
            return {"success": False, "error": {"code": "UNAVAILABLE", "message": "no provider answers"}}

    report = Away().run()
    assert report["findings"] == []
    assert any("no provider answers" in one for one in report["limitations"])


@pytest.mark.parametrize(
    ("query", "company"),
    [
        ("Compara IBM y MSFT en el último año", None),
        (COMPARE, CompanyConfig(company_id="bolsa", languages=["es"])),
    ],
    ids=["asked in it", "all that the company speaks"],
)
def test_the_answer_is_in_spanish_when_the_question_is_or_the_company(
    query: str, company: CompanyConfig | None
) -> None:
    report = Bench(company=company).run(query)
    assert report["language"] == "es"
    assert report["summary"].startswith("En el año hasta el 1 de marzo de 2013")
    assert "2,7 %" in report["summary"]
    assert "Sin modelo" in report["limitations"][0]


def test_a_question_about_the_future_gets_the_past_and_is_told_so() -> None:
    report = Bench().run("Will IBM go up next year?")
    assert report["findings"]
    assert any("no forecast" in one for one in report["limitations"])


UNBACKED = "IBM fell over the last year. Its CEO resigned."


def test_a_summary_that_is_mostly_not_backed_is_asked_for_once_more_with_the_reasons() -> None:
    bench = Bench({"routing": ROUTING, "summary": [UNBACKED, TRUE_SUMMARY]})
    report = bench.run(use_llm=True)
    assert report["summary"].startswith(TRUE_SUMMARY)
    assert (report["dropped_sentences"], len(bench.asked)) == (0, 3)
    said, again = bench.asked[-1].messages[-2:]
    assert said == {"role": "assistant", "content": UNBACKED}
    assert "IBM fell over the last year. (IBM did not move like that)" in again["content"]


@pytest.mark.parametrize("second", [UNBACKED, None])
def test_a_second_summary_that_is_no_better_is_the_last(second: str | None) -> None:
    bench = Bench({"routing": ROUTING, "summary": [UNBACKED, second]})
    report = bench.run(use_llm=True)
    assert report["summary"].startswith("Over the year to 1 March 2013")
    assert (report["dropped_sentences"], len(bench.asked)) == (2, 3)


def test_a_summary_of_which_most_is_backed_is_not_asked_for_again() -> None:
    bench = Bench(
        {"routing": ROUTING, "summary": f"{TRUE_SUMMARY} IBM rose 2.7% over the last year, thanks to its cloud."}
    )
    report = bench.run(use_llm=True)
    assert report["summary"].startswith(f"{TRUE_SUMMARY} IBM rose 2.7% over the last year.")
    assert (report["dropped_sentences"], len(bench.asked)) == (1, 2)
