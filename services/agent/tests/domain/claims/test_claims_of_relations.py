"""How two shares move together, where each stands, and on how many days one rose: called what the figures say."""

from typing import Any

import pytest

from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import Facts, facts_of_findings, facts_of_results
from agent.testing.figures import output


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("IBM and MSFT were closely related (0.60).", "IBM and MSFT were loosely related (0.06)."),
        ("The correlation of IBM and MSFT was high, at 0.60.", "The correlation of IBM and MSFT was low, at 0.60."),
        ("La correlación entre IBM y MSFT fue alta, de 0,60.", "La correlación entre IBM y MSFT fue baja: 0,60."),
        ("IBM had 126 up days and 124 down days.", "IBM had 124 up days and 126 down days."),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_a_correlation_is_called_what_it_is_and_days_are_counted_by_their_direction(
    true: str, false: str, *, strict: bool
) -> None:
    period = {"from": "2012-03-02", "to": "2013-03-01", "asked": "1y"}
    entries = [{"ticker": "IBM", "figure": "correlation", "value": 0.595, "other": "MSFT", **period}]
    entries += [{"ticker": "IBM", "figure": name, "value": value, "other": None, **period}
                for name, value in (("up_days", 126.0), ("down_days", 124.0))]  # fmt: skip
    known = facts_of_results([("get_performance", {"figures": entries})])
    assert ClaimChecker(known, "1y", strict=strict).reasons(true) == ()
    assert ClaimChecker(known, "1y", strict=strict).reasons(false)


def of_both() -> Facts:
    found: dict[str, dict[str, Any]] = {}
    for tool in ("market_snapshot", "fundamentals_events"):
        for ticker, entry in output(tool, ["IBM", "MSFT"])["tickers"].items():
            found.setdefault(ticker, {"ticker": ticker}).update(entry)
    return facts_of_findings(list(found.values()), [{"ticker": "IBM", "source": "sample"}])


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("IBM is closer to its high than MSFT.", "MSFT is closer to its high than IBM."),
        ("MSFT is the furthest from its peak.", "MSFT is the closest to its peak."),
        ("MSFT es la más alejada de su máximo.", "MSFT es la más cercana a su máximo."),
        ("By contrast, MSFT fell 13.4% over the year.", "By contrast, MSFT vaulted 13.4% over the year."),
        ("MSFT se desplomó un 13,4 % en el último año.", "MSFT se disparó un 13,4 % en el último año."),
        ("MSFT is in negative territory over one year.", "MSFT is in positive territory over one year."),
        ("MSFT's one-year loss of 13.4% is the deepest.", "IBM's one-year gain of 2.7% is the smallest."),
        ("IBM delivered the strongest return (+2.7%).", "MSFT delivered the strongest return (-13.4%)."),
        (
            "IBM fell from its high, but its drawdown of 12.6% was smaller than MSFT's 19.7%.",
            "IBM fell from its high, but its drawdown of 12.6% was larger than MSFT's 19.7%.",
        ),
        (
            "Volatility ranged from 16.5% at IBM to 19.9% at MSFT.",
            "Volatility ranged from 16.5% at MSFT to 19.9% at IBM.",
        ),
        ("MSFT offers a dividend yield of 3.1%.", "MSFT offers a dividend yield of 1.3%."),
        ("IBM trades above all three of its averages.", "IBM trades below all three of its averages."),
        (
            "IBM (the least volatile at 16.5%) also suffered the smallest drawdown (12.6%).",
            "IBM (the most volatile at 16.5%) also suffered the smallest drawdown (12.6%).",
        ),
        ("All rose over the year except MSFT.", "All rose over the year except IBM."),
        ("Todas suben en tres meses.", "Todas suben en tres meses salvo MSFT."),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_places_ranks_and_verbs_are_read_in_other_words(true: str, false: str, *, strict: bool) -> None:
    assert ClaimChecker(of_both(), "1y", strict=strict).reasons(true) == ()
    assert ClaimChecker(of_both(), "1y", strict=strict).reasons(false)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("said", ["MSFT is near its high.", "MSFT está prácticamente en máximos anuales."])
def test_who_is_at_a_high_is_the_one_that_is_named(said: str, *, strict: bool) -> None:
    assert ClaimChecker(of_both(), "1y", strict=strict).reasons(said)


def test_both_are_the_two_of_the_sentence_before() -> None:
    returns = {"IBM": 0.1, "MSFT": 0.2, "AAPL": -0.3}
    known = facts_of_findings(
        [{"ticker": ticker, "price": 10.0, "returns": {"1y": value}} for ticker, value in returns.items()]
    )
    checker = ClaimChecker(known, "1y")
    assert checker.reasons("IBM returned 10.0% and MSFT 20.0% over the last year.") == ()
    assert checker.reasons("Both rose.") == ()
    assert checker.reasons("Both fell.")
