"""What a text says is what the tools gave, or it is found out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.analysis.asked import Period
from agent.domain.analysis.figures import collect_results
from agent.domain.analysis.summary import rule_summary
from agent.domain.claims.checked_text import unsupported_claims as unsupported_by
from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import facts_of_findings, facts_of_results
from agent.domain.claims.lexer import Lexer, Token
from agent.testing.figures import output
from contracts.events.analysis import AnalysisCall

TICKERS = ["IBM", "MSFT"]


def findings() -> list[dict[str, Any]]:
    calls = [
        AnalysisCall(call_id=tool, tool=tool, tickers=TICKERS, result={"success": True, "data": output(tool, TICKERS)})
        for tool in ("market_snapshot", "fundamentals_events")
    ]
    return collect_results(TICKERS, calls).findings


def unsupported(text: str, found: list[dict[str, Any]], period: Period) -> list[str]:
    return unsupported_by(text, facts_of_findings(found), period)


@pytest.mark.parametrize(
    "text",
    [
        "Over the last year IBM rose 2.7% while MSFT fell 13.4%.",
        "IBM gained 2.72% over the year to March 1, 2013; MSFT lost 13%.",
        "En el último año IBM subió un 2,7 % y MSFT bajó un 13,4 %.",
        "IBM outperformed MSFT over the past year.",
        "MSFT lagged IBM over the last 12 months, with an annualised volatility of 19.9%.",
        "IBM's worst drawdown was 12.6%, and its volatility 16%.",
        "IBM trades at $202.91, above its 200-day average of 196.59.",
        "IBM has a market cap of about 234 billion and a P/E of 14.1; it reported for FY2012.",
        "The next earnings of IBM are expected on 18 April 2013.",
        "MSFT's 1-year return is -13.4%.",
        "IBM: its ATR(14) is 2.41 and its SMA 50 is 197.94.",
        "La volatilidad de MSFT (19,9 %) supera la de IBM (16,5 %).",
        "IBM's largest drawdown was smaller than MSFT's.",
    ],
)
def test_what_the_tools_gave_may_be_said(text: str) -> None:
    assert unsupported(text, findings(), "1y") == []


@pytest.mark.parametrize(
    "text",
    [
        "IBM rose 9.9% over the last year.",
        "IBM's volatility rose from 19.9% to 16.5%.",
        "MSFT yields 3.1%, less than the 1.7% of IBM.",
        "IBM is 3.8% above its peak.",
        "IBM fell 2.7% over the last year.",
        "MSFT rose 13.4% over the last year.",
        "MSFT rose 2.7% over the last year.",
        "IBM returned 6.8% over the last year.",
        "IBM did better by 61.1 percentage points.",
        "IBM's target price is $250.",
        "IBM has 282,000 employees.",
        "IBM doubled over the last year.",
        "IBM rose twenty percent.",
        "IBM will report on 19 April 2013.",
        "Over the last five years IBM gained 2.7%, and 7 years before as well.",
        "In 2008 IBM fell.",
        "MSFT outperformed IBM over the last year.",
        "IBM underperformed MSFT over the past year.",
        "You should buy IBM.",
        "IBM is guaranteed to recover.",
        "IBM will rise next year.",
        "IBM subirá el año que viene.",
        '{"tools": []}',
        "IBM's beta is 0.7.",
        "IBM's P/E is 15.",
        "IBM is trading at a five-year high.",
        "MSFT hit a three-month low.",
        "IBM reports before MSFT.",
        "MSFT presenta resultados después que IBM.",
        "MSFT's dividend is due on 1 March 2013.",
        "La volatilidad de IBM supera la de MSFT.",
        "IBM's largest drawdown was deeper than MSFT's.",
    ],
)
def test_what_no_tool_gave_is_found_out(text: str) -> None:
    assert unsupported(text, findings(), "1y")


@pytest.mark.parametrize("language", ["es", "en"])
@pytest.mark.parametrize("period", ["1d", "1w", "1m", "3m", "1y", "ytd"])
def test_the_summary_by_rule_says_nothing_else(period: Period, language: Any) -> None:
    assert unsupported(rule_summary(findings(), period, language), findings(), period) == []


FRACTION = st.floats(-0.9, 3.0, allow_nan=False).map(lambda value: round(value, 6))
SPREAD = st.floats(0.01, 2.0, allow_nan=False).map(lambda value: round(value, 6))
PRICE = st.floats(0.5, 5000, allow_nan=False).map(lambda value: round(value, 4))


@given(
    st.lists(FRACTION | st.none(), min_size=12, max_size=12),
    st.lists(SPREAD, min_size=4, max_size=4),
    st.lists(PRICE, min_size=6, max_size=6),
    st.sampled_from(["es", "en"]),
    st.sampled_from(["1m", "1y", "ytd"]),
)
def test_the_summary_by_rule_holds_for_any_figures(
    returns: list[float | None], spreads: list[float], prices: list[float], language: Any, period: Any
) -> None:
    found = findings()
    for index, finding in enumerate(found):
        finding["returns"] = dict(zip(("1d", "1w", "1m", "3m", "1y", "ytd"), returns[index * 6 :], strict=False))
        finding["volatility"] = spreads[index * 2]
        finding["max_drawdown"] = -min(spreads[index * 2 + 1], 0.99)
        finding["price"], finding["sma_50"], finding["sma_200"] = prices[index * 3 : index * 3 + 3]
    assert unsupported(rule_summary(found, period, language), found, period) == []


@pytest.mark.parametrize(
    ("sentence", "times"),
    [("Wire says that IBM profit rises 40 percent on strong demand.", 1), ("MSFT has opened an office.", 0)],
)
def test_a_headline_is_read_once_at_most_however_many_sentences_are_compared_with_it(
    monkeypatch: pytest.MonkeyPatch, sentence: str, times: int
) -> None:
    read: list[str] = []
    tokens = Lexer.tokens

    def counted(lexer: Lexer, sentence: str) -> list[Token]:
        read.append(sentence)
        return tokens(lexer, sentence)

    monkeypatch.setattr(Lexer, "tokens", counted)
    headlines = [f"ibm profit rises {percent} percent on strong demand" for percent in range(10, 30)]
    items = [{"title": headline, "source": "Wire"} for headline in headlines]
    checker = ClaimChecker(facts_of_results([("get_news", {"symbol": "IBM", "items": items})]), strict=False)
    for _ in range(3):
        assert checker.judge(sentence)[1]
    assert sorted(text for text in read if text in headlines) == headlines * times
