"""Sentences of an analyst's report, each with a twin that the figures do not bear out."""

from typing import Any

import pytest

from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import Facts, facts_of_results

AS_OF = "2012-09-05T20:00:00Z"
YEAR = {"from": "2011-09-06", "to": "2012-09-05", "asked": "1y"}
SNAPSHOT: dict[str, dict[str, Any]] = {
    "AAPL": {"price": 670.23, "returns": {"1w": -0.0048, "1y": 0.7918}, "volatility": 0.2718, "sma_200": 539.1,
             "pe": 24.2, "ohlcv": {"high": 680.87, "low": 354.24}},
    "GOOG": {"price": 680.72, "returns": {"1w": -0.0106, "1y": 0.297}, "volatility": 0.2441, "sma_200": 614.33,
             "pe": 22.9, "ohlcv": {"high": 688.99, "low": 480.6}},
    "IBM": {"price": 195.04, "returns": {"1w": -0.0002, "1y": 0.168}, "volatility": 0.1933, "sma_200": 194.8,
            "pe": 14.9, "ohlcv": {"high": 210.69, "low": 158.76}},
}  # fmt: skip


def snapshot() -> Facts:
    tickers = {ticker: {"as_of": AS_OF, "currency": "USD", **of} for ticker, of in SNAPSHOT.items()}
    return facts_of_results([("market_snapshot", {"source": "sample", "tickers": tickers, "errors": []})])


def performance() -> Facts:
    def figure(ticker: str, name: str, value: float, **more: Any) -> dict[str, Any]:
        return {"ticker": ticker, "figure": name, "value": value, "currency": "USD", **YEAR, **more}

    figures = [
        figure("MSFT", "high", 32.95, on="2012-03-16"),
        figure("MSFT", "current_drawdown", -0.0749),
        figure("MSFT", "return", 0.1779),
        figure("MSFT", "total_return", 0.2105),
        figure("MSFT", "dividends", 0.8),
        figure("MSFT", "worst_day", -0.0367, on="2011-09-21"),
        figure("MSFT", "average_volume", 48_448_187.0),
        figure("AAPL", "average_volume", 17_768_277.0),
        figure("AAPL", "max_drawdown", -0.1668),
        figure("AAPL", "return", 0.7918),
        figure("AAPL", "up_months", 4.0),
        figure("AAPL", "down_months", 2.0),
    ]
    falls = [
        {"ticker": "MSFT", "peak": "2012-03-15", "trough": "2012-06-01", "recovered": None, "depth": -0.1339},
        {"ticker": "AAPL", "peak": "2012-04-09", "trough": "2012-05-17", "recovered": "2012-08-16", "depth": -0.1668},
    ]
    return facts_of_results([("get_performance", {"as_of": AS_OF, "figures": figures, "drawdowns": falls})])


def dividends() -> Facts:
    yields = {"AAPL": 0.004, "GOOG": 0.0, "IBM": 0.0164}
    tickers = {ticker: {"as_of": AS_OF, "dividend_yield": value} for ticker, value in yields.items()}
    return facts_of_results([("fundamentals_events", {"source": "sample", "tickers": tickers})])


def correlation() -> Facts:
    figure = {"ticker": "IBM", "figure": "correlation", "value": 0.64, "other": "MSFT", **YEAR}
    return facts_of_results([("get_correlation", {"as_of": AS_OF, "figures": [figure], "drawdowns": []})])


def rsi() -> Facts:
    return facts_of_results([("get_indicators", {"symbol": "MSFT", "indicators": {"RSI": {"value": 50.7}}})])


OF = {
    "snapshot": snapshot(), "performance": performance(), "dividends": dividends(), "correlation": correlation(),
    "rsi": rsi(),
}  # fmt: skip
PAIRS = [
    ("snapshot", "By return the order is Apple, Google and IBM.", "By return the order is Google, Apple and IBM."),
    ("snapshot", "Ranked from the calmest up: IBM, Google, Apple by volatility.",
     "Ranked from the calmest up: Apple, Google, IBM by volatility."),
    ("snapshot", "IBM lagged over the year.", "Google lagged over the year."),
    ("snapshot", "Apple moved in a wide range between $354.24 and $680.87.",
     "Apple moved in a wide range between $304.24 and $680.87."),
    ("snapshot", "Google se movió en una horquilla de entre 480,60 y 688,99 dólares.",
     "Google se movió en una horquilla de entre 400,60 y 688,99 dólares."),
    ("snapshot", "The most expensive on trailing earnings is Apple, at 24.2 times.",
     "The most expensive on trailing earnings is Google, at 24.2 times."),
    ("snapshot", "IBM sits above its 200-day average by a modest margin.", "IBM had a healthy quarter."),
    ("performance", "Microsoft, which peaked in March, remains 7.5% below that level.",
     "Microsoft, which peaked in January, remains 7.5% below that level."),
    ("performance", "Microsoft marcó su máximo en marzo y cotiza un 7,5 % por debajo.",
     "Microsoft marcó su máximo en mayo y cotiza un 7,5 % por debajo."),
    ("performance", "Microsoft has yet to regain its March peak.", "Apple has yet to regain its April peak."),
    ("performance", "Apple, which peaked in April, recovered in August.",
     "Apple, which peaked in April, recovered in June."),
    ("performance", "Microsoft's total return is 21.0%, and 17.8% on price alone.",
     "Microsoft's total return is 21.0%, and 12.8% on price alone."),
    ("performance", "La peor jornada de Microsoft fue el 21 de septiembre de 2011, cuando cedió un 3,7 %.",
     "La peor jornada de Microsoft fue el 21 de septiembre de 2011, cuando se disparó un 3,7 %."),
    ("performance",
     "On an average day 17.8 million Apple shares changed hands, against 48.4 million for Microsoft.",
     "On an average day 17.8 million Apple shares changed hands, against 68.4 million for Microsoft."),
    ("performance", "Apple rose in four of the six months and fell in the other two.",
     "Apple rose in five of the six months and fell in the other one."),
    ("performance", "Apple subió en cuatro meses.", "Apple subió en tres meses."),
    ("performance", "Microsoft sigue sin recuperar su máximo.",
     "Apple sigue sin recuperar su máximo."),
    ("dividends", "Google, alone among the three, pays no dividend.", "IBM, alone among the three, pays no dividend."),
    ("correlation", "Both moved together: the correlation of their daily returns was 0.64.",
     "Both moved in opposite directions: the correlation of their daily returns was 0.64."),
    ("rsi", "El RSI de Microsoft ronda los 51 puntos.", "El RSI de Microsoft ronda los 71 puntos."),
]  # fmt: skip


@pytest.mark.parametrize(("of", "true", "false"), PAIRS, ids=[true for _, true, _ in PAIRS])
def test_a_report_keeps_what_is_so_and_drops_its_twin(of: str, true: str, false: str) -> None:
    assert ClaimChecker(OF[of], "1y").reasons(true) == ()
    assert ClaimChecker(OF[of], "1y").reasons(false) != ()


@pytest.mark.parametrize(
    ("of", "true", "false"),
    [
        ("snapshot", "Apple was the clear winner.", "Google was the clear winner."),
        ("snapshot", "The order is Apple, Google, IBM.", "The order is Google, Apple, IBM."),
    ],
)
def test_in_a_chat_a_place_without_a_period_is_right_in_one_period(of: str, true: str, false: str) -> None:
    assert ClaimChecker(OF[of], strict=False).reasons(true) == ()
    assert ClaimChecker(OF[of], strict=False).reasons(false) != ()


@pytest.mark.parametrize(
    "hedge",
    [
        "Bear in mind that one year is a short window and tells little.",
        "None of this amounts to a recommendation.",
        "Conviene recordar que un año es una muestra pequeña.",
        "**Key takeaways**",
    ],
)
def test_what_claims_nothing_passes(hedge: str) -> None:
    assert ClaimChecker(OF["snapshot"], "1y").reasons(hedge) == ()
