"""What a question asks for, without a model: which tools, with what arguments."""

from typing import Any

import pytest

from agent.domain.analysis.grammar import wanted_by, when_in


def asked(query: str, *tickers: str) -> list[tuple[str, dict[str, Any]]]:
    return [(one.tool, one.arguments) for one in wanted_by(query, tickers or ("IBM",))]


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("IBM in 2008", {"start": "2008-01-01", "end": "2008-12-31"}),
        ("¿Cómo le fue a IBM en 2008?", {"start": "2008-01-01", "end": "2008-12-31"}),
        ("IBM from March to June 2012", {"start": "2012-03-01", "end": "2012-06-30"}),
        ("March to June 2012, IBM", {"start": "2012-03-01", "end": "2012-06-30"}),
        ("IBM de marzo a junio de 2012", {"start": "2012-03-01", "end": "2012-06-30"}),
        ("IBM between 2008-03-01 and 2008-06-30", {"start": "2008-03-01", "end": "2008-06-30"}),
        ("IBM in Q3 2011", {"start": "2011-07-01", "end": "2011-09-30"}),
        ("IBM en el primer trimestre de 2012", {"start": "2012-01-01", "end": "2012-03-31"}),
        ("IBM in August 2011", {"start": "2011-08-01", "end": "2011-08-31"}),
        ("IBM since 2010", {"start": "2010-01-01"}),
        ("IBM over the last five years", {"period": "5y"}),
        ("IBM en los últimos 6 meses", {"period": "6m"}),
        ("IBM over the last two quarters", {"period": "6m"}),
    ],
)
def test_any_stretch_is_asked_for_as_it_is_named(query: str, arguments: dict[str, Any]) -> None:
    assert asked(query) == [("get_performance", arguments)]


@pytest.mark.parametrize("query", ["Compare IBM and MSFT over the last year", "IBM last quarter", "How is IBM doing?"])
def test_what_a_snapshot_has_needs_nothing_else(query: str) -> None:
    assert asked(query) == []


CALLS: list[tuple[str, list[tuple[str, dict[str, Any]]]]] = [
        ("10,000 invested a year ago in IBM", [("get_performance", {"period": "1y", "amount": 10000.0})]),
        ("Si hubiera invertido 10.000 euros en IBM hace 2 años",
         [("get_performance", {"period": "2y", "amount": 10000.0})]),
        ("Correlation of IBM and MSFT in 2012", [("get_correlation", {"start": "2012-01-01", "end": "2012-12-31"})]),
        ("Beta of IBM against MSFT over the last year", [("get_correlation", {"period": "1y", "benchmark": "MSFT"})]),
        ("Golden cross of IBM since 2010", [("get_crossings", {"start": "2010-01-01"})]),
        ("When did IBM's 20 and 100 day averages cross in 2011?",
         [("get_crossings", {"fast": 20, "slow": 100, "start": "2011-01-01", "end": "2011-12-31"})]),
        ("Backtest a 50/200 crossing on IBM since 2005",
         [("backtest_strategy", {"rule": "sma_cross", "fast": 50, "slow": 200, "start": "2005-01-01"})]),
        ("Worst drawdowns of IBM in 2008", [("get_performance", {"start": "2008-01-01", "end": "2008-12-31"})]),
        ("Any news about IBM?", [("get_news", {})]),
        ("Noticias y PER de IBM", [("get_news", {}), ("fundamentals_events", {})]),
    ]  # fmt: skip


@pytest.mark.parametrize(("query", "calls"), CALLS)
def test_what_is_asked_for_is_a_call(query: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    assert asked(query) == calls


def test_the_stretch_is_the_period_that_claims_are_of() -> None:
    assert when_in("IBM in 2008").period == "2008-01-01/2008-12-31"
    assert when_in("IBM last quarter").period == "3m"
