"""Sentences as a fluent model writes them after market tools, each with its false twin."""

from typing import Any

import pytest

from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import Facts, facts_of_results

DAY = "2012-09-05"
YEAR = {"from": "2011-09-06", "to": DAY, "asked": "1y"}
ALL_2008 = {"from": "2008-01-02", "to": "2008-12-31", "asked": "2008-01-01/2008-12-31"}
SNAPSHOT: dict[str, dict[str, Any]] = {
    "AAPL": {"price": 670.23, "returns": {"1d": -0.007, "1w": -0.0048, "1m": 0.0886, "1y": 0.7918},
             "max_drawdown": -0.1668, "volatility": 0.2718, "sma_20": 652.67, "sma_200": 539.1},
    "IBM": {"price": 195.04, "returns": {"1d": 0.0026, "1w": -0.0002, "1m": -0.0175, "1y": 0.168},
            "max_drawdown": -0.1261, "volatility": 0.1933, "sma_20": 197.39, "sma_200": 194.8},
    "GOOG": {"price": 680.72, "returns": {"1d": -0.0005, "1w": -0.0106, "1m": 0.0614, "1y": 0.297},
             "current_drawdown": -0.0241,
             "max_drawdown": -0.1634, "volatility": 0.2441, "sma_20": 670.67, "sma_200": 614.33},
}  # fmt: skip
NOT_THERE = [{"ticker": "AMZN", "error": "not in the sample", "reason": "not_in_sample"}]


def snapshot() -> Facts:
    tickers = {ticker: {"as_of": f"{DAY}T20:00:00Z", "currency": "USD", **of} for ticker, of in SNAPSHOT.items()}
    return facts_of_results([("market_snapshot", {"source": "sample", "tickers": tickers, "errors": NOT_THERE})])


def dues() -> Facts:
    due = {"AAPL": "2012-10-25", "IBM": "2012-10-16", "GOOG": "2012-10-18"}
    tickers = {
        ticker: {"as_of": f"{DAY}T20:00:00Z", "next_earnings_date": day, "next_earnings_status": "expected",
                 "dividend_yield": 0.0 if ticker == "GOOG" else 0.016}
        for ticker, day in due.items()
    }  # fmt: skip
    return facts_of_results([("fundamentals_events", {"source": "sample", "tickers": tickers})])


def performance() -> Facts:
    def figure(name: str, value: float, **more: Any) -> dict[str, Any]:
        return {"ticker": "IBM", "figure": name, "value": value, "currency": "USD", **YEAR, **more}

    figures = [figure("growth", 11_680.44), figure("high", 210.69, on="2012-04-03"), figure("return", 0.168)]
    figures.append(figure("up_streak", 8.0) | {"from": "2012-03-07", "to": "2012-03-16"})
    falls = [
        {"ticker": "IBM", "peak": "2012-04-03", "trough": "2012-07-12", "recovered": None, "depth": -0.126},
        {"ticker": "AAPL", "peak": "2012-04-09", "trough": "2012-05-17", "recovered": "2012-08-16", "depth": -0.167},
    ]
    known = facts_of_results([
        ("get_performance", {"as_of": f"{DAY}T20:00:00Z", "figures": figures, "drawdowns": falls})
    ])  # fmt: skip
    known.add_amount(["IBM"], {"amount": 10_000})
    known.days["IBM"] = known.days.get("IBM", set()) | snapshot().days["IBM"]
    return known


def in_2008() -> Facts:
    returns = {"IBM": -0.2215, "AAPL": -0.5691}
    figures = [{"ticker": item, "figure": "return", "value": value, **ALL_2008} for item, value in returns.items()]
    falls = [{"ticker": "AAPL", "peak": "2007-12-31", "trough": "2008-11-20", "recovered": None, "depth": -0.5936}]
    return facts_of_results([("get_performance", {"figures": figures, "drawdowns": falls})])


def crossings() -> Facts:
    days = {"2010-06-18": False, "2010-12-27": True, "2011-04-19": False, "2011-10-26": True}
    entries = [{"on": on, "above": above, "close": 26.0} for on, above in days.items()]
    return facts_of_results([("get_crossings", {"symbol": "MSFT", "crossings": entries})])


def indicators() -> Facts:
    found = {"MACD": {"macd": 0.1412, "signal": 0.1804, "histogram": -0.0392}}
    return facts_of_results([("get_indicators", {"symbol": "MSFT", "indicators": found})])


@pytest.mark.parametrize(
    ("known", "right", "wrong"),
    [
        (snapshot, "Over the past year Apple has been the standout, up roughly 79%, while IBM is up 17%.",
         "Over the past year Google has been the standout, up roughly 79%, while IBM is up 17%."),
        (snapshot, "GOOG trades roughly 11% above its 200-day line.",
         "GOOG trades roughly 11% below its 200-day line."),
        (snapshot, "GOOG trades roughly 11% above its 200-day line.",
         "AAPL trades roughly 11% above its 200-day line."),
        (snapshot, "IBM closed at $195.04, a touch over its 200-day average.",
         "IBM closed at $195.04, a touch under both their 20-day and 200-day averages."),
        (snapshot, "Google is roughly 2.4% shy of its high.", "Google is about 11% shy of its high."),
        (snapshot, "Over the last month IBM slipped by a little under 2%.",
         "Over the last month IBM slipped by a little under 3%."),
        (snapshot, "IBM barely budged on the day.", "AAPL barely budged on the day."),
        (snapshot, "IBM e Google cedieron en la última semana.", "IBM e Google se hundieron en la última semana."),
        (snapshot, "La más volátil es Apple, con un 27 %, y la más tranquila, IBM, con un 19 %.",
         "La más volátil es Apple, con un 27 %, y la más tranquila, Google, con un 24 %."),
        (snapshot, "Two of the three rose over the last month.", "One of the three rose over the last month."),
        (snapshot, "Apple's one-year gain dwarfs that of the others.",
         "Google's one-year gain dwarfs that of the others."),
        (snapshot, "IBM rose nearly 17% in a year.",
         "IBM rose nearly 17% in a year and has just launched a share buyback."),
        (dues, "The next results of IBM are expected in mid-October.",
         "The next results of IBM are expected in November."),
        (dues, "Se espera que Google presente resultados el 18 de octubre.",
         "Se espera que Google presente resultados el 28 de octubre."),
        (dues, "Google paid no dividend at all.", "IBM paid no dividend at all."),
        (performance, "With $10,000 put into IBM you would now be holding about $11,680.",
         "With $10,000 put into IBM you would now be holding about $8,320."),
        (performance, "IBM touched its high of $210.69 in early April.",
         "IBM touched its high of $210.69 in early July."),
        (performance, "IBM has not recovered from its April peak.", "Apple has not recovered from its April peak."),
        (performance, "IBM encadenó ocho sesiones seguidas al alza.", "IBM encadenó doce sesiones seguidas al alza."),
        (performance, "IBM has yet to recover from the drop that began in April.",
         "Apple has yet to recover from the drop that began in April."),
        (in_2008, "2008 was hard for Apple, which shed well over half its value.",
         "2008 was hard for IBM, which shed well over half its value."),
        (in_2008, "En 2008 IBM cayó un 22 %, una pérdida menor que la de Apple.",
         "En 2008 IBM cayó un 22 %, una pérdida mayor que la de Apple."),
        (in_2008, "IBM held up better than Apple that year, losing about 22%.",
         "Apple held up better than IBM that year, losing about 22%."),
        (crossings, "En tres años hubo cuatro cruces, dos dorados y dos de la muerte.",
         "En tres años hubo cuatro cruces, tres dorados y uno de la muerte."),
        (indicators, "The MACD has dipped below its signal line, though only just.",
         "The MACD has climbed above its signal line, though only just."),
        (indicators, "El MACD está ligeramente por debajo de su línea de señal.",
         "El MACD está ligeramente por encima de su línea de señal."),
    ],
)  # fmt: skip
def test_a_fluent_sentence_is_kept_in_a_chat_and_its_false_twin_is_not(known: Any, right: str, wrong: str) -> None:
    assert ClaimChecker(known(), strict=False).reasons(right) == ()
    assert ClaimChecker(known(), strict=False).reasons(wrong) != ()


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (snapshot, "All three gained over the last year."),
        (snapshot, "GOOG trades roughly 11% above its 200-day average."),
        (performance, "IBM touched its high of $210.69 in early April."),
        (in_2008, "Apple lost well over half its value in 2008."),
    ],
)
def test_a_report_keeps_it_too(known: Any, said: str) -> None:
    assert ClaimChecker(known(), "1y").reasons(said) == ()
