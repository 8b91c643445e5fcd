"""Sentences as a model writes them that was asked for short ones, each with its false twin: one thing is changed."""

from typing import Any

import pytest

from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import Facts, facts_of_findings, facts_of_results

DAY = "2013-03-01"


def figure(ticker: str, name: str, value: float, first: str, last: str, asked: str, **more: Any) -> dict[str, Any]:
    return {"ticker": ticker, "figure": name, "value": value, "from": first, "to": last, "asked": asked, **more}


def of_2008(ticker: str, name: str, value: float, **more: Any) -> dict[str, Any]:
    return figure(ticker, name, value, "2008-01-02", "2008-12-31", "2008-01-01/2008-12-31", **more)


FIGURES = {
    "AAPL": [
        of_2008("AAPL", "return", -0.569113),
        of_2008("AAPL", "total_return", -0.569113),
        of_2008("AAPL", "max_drawdown", -0.593649),
        of_2008("AAPL", "dividends", 0.0, currency="USD"),
        of_2008("AAPL", "growth", 4308.87, currency="USD"),
        of_2008("AAPL", "down_streak", 6.0),
        of_2008("AAPL", "worst_day", -0.179195, on="2008-09-29"),
        of_2008("AAPL", "best_day", 0.13905, on="2008-10-13"),
        figure("AAPL", "worst_month", -0.329558, "2008-09-02", "2008-09-30", "2008-01-01/2008-12-31", on="2008-09-02"),
        figure("AAPL", "month_return", -0.329558, "2008-09-02", "2008-09-30", "2008-01-01/2008-12-31"),
        figure("AAPL", "correlation", 0.360189, "2012-03-02", DAY, "1y", other="IBM"),
        figure("AAPL", "correlation", 0.260105, "2012-03-02", DAY, "1y", other="MSFT"),
        figure("AAPL", "beta", 0.529054, "2012-03-02", DAY, "1y", other="GOOG"),
        figure("AAPL", "RSI", 32.78, DAY, DAY, f"{DAY}/{DAY}"),
        figure("AAPL", "macd", -12.713881, DAY, DAY, f"{DAY}/{DAY}"),
        figure("AAPL", "signal", -12.263336, DAY, DAY, f"{DAY}/{DAY}"),
    ],
    "IBM": [
        of_2008("IBM", "return", -0.221462),
        of_2008("IBM", "total_return", -0.207644),
        of_2008("IBM", "dividends", 1.9, currency="USD"),
        of_2008("IBM", "growth", 7785.38, currency="USD"),
        figure("IBM", "correlation", 0.595008, "2012-03-02", DAY, "1y", other="MSFT"),
        figure("IBM", "beta", 0.367278, "2012-03-02", DAY, "1y", other="GOOG"),
    ],
    "MSFT": [figure("MSFT", "RSI", 56.007, DAY, DAY, f"{DAY}/{DAY}")],
}
BASE: dict[str, dict[str, Any]] = {
    "AAPL": {
        "price": 430.47, "returns": {"1y": -0.209378}, "sma_50": 485.107214, "sma_200": 575.3454, "pe": 9.7502,
        "market_cap": 406946966850.0, "dividend_yield": 0.018468, "gross_margin": 0.438712, "net_margin": 0.266651,
        "window": {"high": 705.07, "low": 429.98},
    },
    "IBM": {
        "price": 202.91, "current_drawdown": -0.041928,
        "returns": {"1y": 0.027236}, "sma_50": 197.94, "sma_200": 196.58705, "pe": 14.1204,
        "market_cap": 234452156590.0, "dividend_yield": 0.016756, "gross_margin": 0.481288, "net_margin": 0.158879,
        "window": {"high": 211.79, "low": 181.85},
    },
    "MSFT": {
        "price": 27.95, "returns": {"1y": -0.134407}, "sma_50": 27.408674, "sma_200": 28.879188, "pe": 13.975,
        "market_cap": 237742700000.0, "dividend_yield": 0.030769, "gross_margin": 0.762218, "net_margin": 0.230294,
        "window": {"high": 32.95, "low": 26.26},
    },
}  # fmt: skip
NEWS = [{"title": "Apple stock falls 10% after disappointing earnings report", "time": "2013-01-25T04:59:00Z",
         "source": "Los Angeles Times"}]  # fmt: skip
CROSSINGS = [{"on": "2012-12-07", "above": False, "close": 533.25}]


def of_report() -> Facts:
    findings = [
        {"ticker": ticker, "as_of": f"{DAY}T21:00:00Z", "currency": "USD", "derived": FIGURES[ticker], **BASE[ticker]}
        for ticker in BASE
    ]
    findings[0] |= {"news": NEWS, "crossings": CROSSINGS}
    known = facts_of_findings(findings, [{"ticker": "AAPL", "source": "sample"}])
    known.known_tickers.append("GOOG")
    known.add_amount(("AAPL", "IBM"), {"amount": 10_000})
    return known


def of_chat() -> Facts:
    tickers = {ticker: {"as_of": f"{DAY}T21:00:00Z", "currency": "USD", **BASE[ticker]} for ticker in BASE}
    known = facts_of_results([
        ("market_snapshot", {"source": "sample", "tickers": tickers}),
        ("get_performance", {"figures": [one for of in FIGURES.values() for one in of]}),
        ("get_news", {"symbol": "AAPL", "items": NEWS}),
        ("get_crossings", {"symbol": "AAPL", "crossings": CROSSINGS}),
    ])  # fmt: skip
    known.known_tickers.append("GOOG")
    known.add_amount(("AAPL", "IBM"), {"amount": 10_000})
    return known


@pytest.mark.parametrize("mode", ["report", "chat"])
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("MSFT trades over its 50-day average ($27.41) but under the 200-day ($28.88).",
         "MSFT trades under its 50-day average ($27.41) but over the 200-day ($28.88)."),
        ("$10,000 invested in AAPL at the start of 2008 was worth $4,308.87 at the end of that year.",
         "$10,000 invested in AAPL at the start of 2008 was worth $7,785.38 at the end of that year."),
        ("$10,000 put into AAPL in 2008 ended the year at $4,309, less than half.",
         "$10,000 put into AAPL in 2008 ended the year at $4,309, less than a third."),
        ("IBM paid $1.90 in dividends per share in 2008; AAPL paid none.",
         "AAPL paid $1.90 in dividends per share in 2008; IBM paid none."),
        ("AAPL's worst day of 2008 was 29 September, when it fell 17.9%.",
         "AAPL's worst day of 2008 was 13 October, when it fell 17.9%."),
        ("AAPL's worst month of 2008 was September, with a fall of 33.0%.",
         "AAPL's worst month of 2008 was October, with a fall of 33.0%."),
        ("IBM and MSFT have the highest correlation, 0.60.", "IBM and MSFT have the lowest correlation, 0.60."),
        ("La correlación entre IBM y MSFT (0,60) es la más elevada.",
         "La correlación entre IBM y MSFT (0,60) es la más baja."),
        ("The beta of AAPL against GOOG was 0.53 over the last year.",
         "The beta of IBM against GOOG was 0.53 over the last year."),
        ("AAPL's MACD is -12.71 and its signal line is -12.26.",
         "AAPL's MACD is -12.26 and its signal line is -12.71."),
        ("MSFT's 14-day RSI is 56.0, higher than AAPL's 32.8.", "MSFT's 14-day RSI is 56.0, lower than AAPL's 32.8."),
        ("AAPL's 50-day average crossed beneath its 200-day average on 7 December 2012, when AAPL closed at $533.25.",
         "AAPL's 50-day average crossed above its 200-day average on 7 December 2012, when AAPL closed at $533.25."),
        ("On 25 January the Los Angeles Times reported “Apple stock falls 10% after disappointing earnings report”.",
         "On 25 January Reuters reported “Apple stock falls 10% after disappointing earnings report”."),
        ("“Apple stock falls 10% after disappointing earnings report” (Los Angeles Times).",
         "“Apple stock falls 10% after disappointing earnings report” (Financial Times)."),
        ("IBM ganó un 2,7 % en el último año, la mayor subida de los tres.",
         "IBM ganó un 2,7 % en el último año, la menor subida de los tres."),
        ("MSFT: margen neto del 23 %, por delante de IBM (15,9 %).",
         "MSFT: margen neto del 23 %, por detrás de IBM (15,9 %)."),
        ("MSFT has the best gross margin, 76.2%.", "AAPL has the best gross margin, 43.9%."),
        ("AAPL es la compañía de mayor capitalización y la de menor PER.",
         "AAPL es la compañía de menor capitalización y la de menor PER."),
        ("AAPL's market capitalisation exceeds that of MSFT.",
         "AAPL's market capitalisation is exceeded by that of MSFT."),
        ("In 2008 IBM lost 22.1%, or 20.8% with dividends included.",
         "In 2008 IBM lost 20.8%, or 22.1% with dividends included."),
        ("AAPL is near its 52-week low.", "AAPL is near its 52-week high."),
        ("IBM is 4.2% below its high of the last year.", "IBM is at a record high."),
        ("MSFT's gross margin is 76.2%.", "MSFT's gross margin expanded to 76.2%."),
        ("MSFT's dividend yield is 3.1%.", "MSFT raised its dividend and yields 3.1%."),
        ("AAPL fell 20.9% over the last year.", "AAPL fell 20.9% over the last year, as investors sold."),
        ("IBM rose 2.7% over the last year.", "IBM rose 23.7 percentage points over the last year."),
        ("AAPL's maximum drawdown in 2008 was 59.4%.", "AAPL's maximum drawdown in 2009 was 59.4%."),
        ("AAPL's MACD (-12.71) is slightly below its signal line (-12.26).",
         "AAPL's MACD (-12.71) is slightly above its signal line (-12.26)."),
        ("AAPL formed a death cross on 7 December 2012, when its 50-day average slipped beneath the 200-day one.",
         "AAPL formed a golden cross on 7 December 2012, when its 50-day average slipped beneath the 200-day one."),
        ("During 2008 both stocks fell sharply: AAPL by 56.9% and IBM by 22.1%.",
         "During 2008 both stocks rose sharply: AAPL by 56.9% and IBM by 22.1%."),
        ("IBM held up better than AAPL in 2008, falling 22.1% as opposed to 56.9%.",
         "IBM held up worse than AAPL in 2008, falling 22.1% as opposed to 56.9%."),
        ("IBM presenta la menor rentabilidad por dividendo (1,7 %) y el menor margen neto (15,9 %).",
         "IBM presenta la mayor rentabilidad por dividendo (1,7 %) y el menor margen neto (15,9 %)."),
        ("AAPL lost more than half of its value in 2008; IBM, almost a quarter.",
         "AAPL lost more than half of its value in 2008; IBM, almost half."),
        ("AAPL perdió una quinta parte de su valor en el último año.", "AAPL perdió un tercio en el último año."),
        ("AAPL's longest losing streak of 2008 was 6 sessions.", "AAPL's longest losing streak was nine sessions."),
        ("IBM fell 22.1% in 2008, and AAPL more than twice as much: 56.9%.",
         "IBM fell 22.1% in 2008, and AAPL four times as much: 56.9%."),
        ("El margen bruto de MSFT (76,2 %) es casi el doble que el de AAPL (43,9 %).",
         "El margen bruto de MSFT (76,2 %) multiplica por cinco el de AAPL (43,9 %)."),
        ("IBM's dividend yield is about half of MSFT's.",
         "MSFT's dividend yield is about four times IBM's."),
        ("AAPL is worth more than MSFT on the market.", "AAPL is worth more than the other two combined."),
        ("AAPL closed at $430.47, just above its one-year low of $429.98.",
         "AAPL closed at $430.47, just below its one-year low of $429.98."),
        ("At its worst in 2008 AAPL was 59.4% below its peak.", "At its worst in 2008 AAPL was 56.9% below its peak."),
        ("AAPL fell 56.9% in 2008 after a weak September.", "AAPL fell 56.9% in 2008 after a strong September."),
        ("MSFT's RSI is 56.0, and IBM is within 5% of its high.", "MSFT's RSI is 56.0: a rally is coming."),
        ("AAPL lost 56.9% in 2008.", "AAPL lost 56.9% in 2008, its worst year since 2000."),
        ("El margen neto de MSFT (23 %) está siete puntos por encima del de IBM (15,9 %).",
         "El margen neto de MSFT (23 %) está veinte puntos por encima del de IBM (15,9 %)."),
        ("AAPL paid no dividend in 2008.", "IBM paid no dividend in 2008."),
        ("IBM trades at 14 times earnings and AAPL at 10 times.",
         "IBM trades at 14 times earnings and AAPL at 20 times."),
        ("AAPL's RSI is 32.8, close to oversold.", "AAPL's RSI is 32.8, close to overbought."),
    ],
)  # fmt: skip
def test_a_short_sentence_is_kept_and_its_false_twin_is_not(right: str, wrong: str, mode: str) -> None:
    known = of_report() if mode == "report" else of_chat()
    strict = mode == "report"
    assert ClaimChecker(known, "1y", strict=strict).reasons(right) == ()
    assert ClaimChecker(known, "1y", strict=strict).reasons(wrong) != ()


@pytest.mark.parametrize(("said", "told"), [
    ("Según Los Angeles Times, las acciones de Apple caen un 10 % tras unos resultados decepcionantes.", True),
    ("Según Los Angeles Times, las acciones de Apple caen un 12 % tras unos resultados decepcionantes.", False),
    ("Según Los Angeles Times, las acciones de Apple suben un 10 % tras unos resultados excelentes.", False),
])  # fmt: skip
def test_a_chat_may_tell_a_headline_in_another_language(said: str, *, told: bool) -> None:
    assert (ClaimChecker(of_chat(), "1y", strict=False).reasons(said) == ()) is told


def price(symbol: str, value: float) -> tuple[str, dict[str, Any]]:
    head = {"source": "sample", "as_of": f"{DAY}T21:00:00Z", "symbol": symbol, "currency": "USD"}
    return "get_price", {**head, "price": value, "change": 0.5, "change_percent": 0.3, "change_basis": "previous_close"}


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("IBM is at 195.04 and Microsoft at 30.39.", "IBM is at 30.39 and Microsoft at 195.04."),
        ("IBM costs 195.04 and MSFT costs 30.39.", "IBM costs 30.39 and MSFT costs 195.04."),
        ("IBM: 195,04; Microsoft: 30,39.", "IBM: 30,39; Microsoft: 195,04."),
        ("IBM is at 195.04.", "IBM is at 30.39."),
    ],
)
def test_a_number_without_a_name_is_one_of_its_own_ticker(true: str, false: str) -> None:
    facts = facts_of_results([price("IBM", 195.04), price("MSFT", 30.39)])
    assert ClaimChecker(facts, strict=False).reasons(true) == ()
    assert ClaimChecker(facts, strict=False).reasons(false)
