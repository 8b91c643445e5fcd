"""Ranges, multiples, "than a year ago" and what an ellipsis leaves out are figures, in a report and in a chat."""

from collections.abc import Callable
from typing import Any

import pytest

from agent.domain.claims.agreement import normalize_phrases
from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import Facts, facts_of_results

YEAR = {"from": "2011-09-06", "to": "2012-09-05", "asked": "1y"}


def snapshot() -> Facts:
    prices = {"AAPL": (670.23, 0.7918), "MSFT": (30.39, 0.1779), "IBM": (195.04, 0.168), "GOOG": (680.72, 0.297)}
    tickers = {
        ticker: {"as_of": "2012-09-05T20:00:00Z", "currency": "USD", "price": price, "returns": {"1y": gain}}
        for ticker, (price, gain) in prices.items()
    }
    return facts_of_results([("market_snapshot", {"source": "sample", "tickers": tickers, "errors": []})])


def performance() -> Facts:
    told: dict[str, dict[str, Any]] = {
        "low": {"value": 158.76, "on": "2011-09-12"}, "high": {"value": 210.69, "on": "2012-04-03"},
        "up_days": {"value": 130.0}, "return": {"value": 0.168},
    }  # fmt: skip
    figures = [{"ticker": "IBM", "figure": name, "currency": "USD", **YEAR, **of} for name, of in told.items()]
    return facts_of_results([("get_performance", {"as_of": "2012-09-05T20:00:00Z", "figures": figures})])


def reports() -> Facts:
    of = {"AAPL": ("2012-10-25", 627e9), "MSFT": ("2012-10-18", 258e9), "GOOG": ("2012-10-18", 222e9)}
    tickers = {
        ticker: {"as_of": "2012-09-05T20:00:00Z", "next_earnings_date": day, "next_earnings_status": "expected",
                 "market_cap": worth, "currency": "USD"}
        for ticker, (day, worth) in of.items()
    }  # fmt: skip
    return facts_of_results([("fundamentals_events", {"source": "sample", "tickers": tickers})])


@pytest.mark.parametrize(
    ("known", "right", "wrong"),
    [
        (performance, "IBM traded between $158.76 and $210.69 over the past year.",
         "IBM traded between $178.76 and $210.69 over the past year."),
        (performance, "IBM se movió entre 158,76 y 210,69 dólares en el último año.",
         "IBM se movió entre 158,76 y 230,69 dólares en el último año."),
        (performance, "IBM tuvo 130 sesiones al alza en el año.", "IBM tuvo 150 sesiones al alza en el año."),
        (performance, "IBM closed higher on 130 days.", "IBM closed higher on 150 days."),
        (snapshot, "All four are higher than a year ago.", "All four are lower than a year ago."),
        (snapshot, "Neither Apple nor Google lost money over the year.",
         "Both Apple and Google lost money over the year."),
        (snapshot, "Apple's gain of between 75% and 80% over the year beats Google's.",
         "Apple's gain of between 55% and 60% over the year beats Google's."),
        (snapshot, "Microsoft returned 17.8% over the year, IBM a little less at 16.8%.",
         "Microsoft returned 17.8% over the year, IBM a little more at 16.8%."),
        (snapshot, "En el último año IBM ganó un 16,8 %; Google, un 29,7 %.",
         "En el último año IBM ganó un 16,8 %, igual que Google."),
        (reports, "Apple presenta resultados el 25 de octubre; Microsoft y Google, el 18.",
         "Apple presenta resultados el 25 de octubre; Microsoft y Google, el 28."),
    ],
)  # fmt: skip
def test_the_true_sentence_is_kept_and_its_twin_is_not(known: Callable[[], Facts], right: str, wrong: str) -> None:
    for strict in (True, False):
        asked = "1y" if strict else None
        assert not ClaimChecker(known(), asked, strict=strict).judge(right)[1]
        assert ClaimChecker(known(), asked, strict=strict).judge(wrong)[1]


@pytest.mark.parametrize(
    ("known", "right", "wrong"),
    [
        (snapshot, "Apple's return was more than four times Microsoft's.",
         "Apple's return was more than six times Microsoft's."),
        (reports, "Apple is worth more than twice as much as Microsoft.",
         "Apple is worth more than four times as much as Microsoft."),
    ],
)  # fmt: skip
def test_a_multiple_of_two_figures_needs_no_period(known: Callable[[], Facts], right: str, wrong: str) -> None:
    assert not ClaimChecker(known(), strict=False).judge(right)[1]
    assert ClaimChecker(known(), strict=False).judge(wrong)[1]


def test_what_is_no_range_of_a_price_is_left_as_it_is() -> None:
    for said in ("IBM moved from 5% to 7%", "between its 50-day and 200-day averages", "the 18% that MSFT gained"):
        assert normalize_phrases(said) == said
