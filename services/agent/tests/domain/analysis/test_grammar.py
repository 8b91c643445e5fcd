"""What a question asks for, without a model: which tools, with what arguments."""

from typing import Any

import pytest

from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.stretches import main_period


def asked(query: str, *tickers: str) -> list[tuple[str, dict[str, Any]]]:
    return [(call.tool, call.arguments) for call in read_question(query, tickers or ("IBM",)).calls]


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
        ("IBM before June 2012", {"start": "1900-01-01", "end": "2012-05-31"}),
        ("IBM antes del 3 de marzo de 2009", {"start": "1900-01-01", "end": "2009-03-02"}),
        ("IBM up to 2009", {"start": "1900-01-01", "end": "2009-12-31"}),
        ("IBM hasta marzo de 2009", {"start": "1900-01-01", "end": "2009-03-31"}),
        ("IBM the year before March 2012", {"end": "2012-02-29", "period": "1y"}),
        ("IBM desde principios de 2009 hasta finales de 2010", {"start": "2009-01-01", "end": "2010-12-31"}),
        ("IBM from the start of 2009 up to the end of 2010", {"start": "2009-01-01", "end": "2010-12-31"}),
        ("IBM over the last five years", {"period": "5y"}),
        ("IBM en los últimos 6 meses", {"period": "6m"}),
        ("IBM over the last two quarters", {"period": "6m"}),
    ],
)
def test_any_stretch_is_asked_for_as_it_is_named(query: str, arguments: dict[str, Any]) -> None:
    assert asked(query) == [("get_performance", arguments)]


def test_a_close_of_a_day_stands_beside_a_distance_from_the_high() -> None:
    question = read_question("What did IBM close at on 21 September 2012, and how far is that from its high?", ("IBM",))
    assert question.figures == ["price", "current_drawdown"]


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
        ("Backtest the RSI on IBM since 2005 with 50,000",
         [("backtest_strategy", {"rule": "rsi_reversion", "fast": 14, "start": "2005-01-01", "cash": 50000.0})]),
        ("what if I had bought Apple every time the RSI dropped below 30 and sold above 70",
         [("backtest_strategy", {"rule": "rsi_reversion", "fast": 14})]),
        ("how would a 50/200 crossover have done on IBM since 2005",
         [("backtest_strategy", {"rule": "sma_cross", "fast": 50, "slow": 200, "start": "2005-01-01"})]),
        ("why did IBM fall on 17 October 2012",
         [("get_performance", {"start": "2012-10-17", "end": "2012-10-17"}),
          ("get_news", {"start": "2012-10-16", "end": "2012-10-17"})]),
        ("news of IBM on 17 October 2012", [("get_news", {"start": "2012-10-17", "end": "2012-10-17"})]),
        ("What would a momentum rule on IBM have given in 2010?",
         [("backtest_strategy", {"rule": "momentum", "start": "2010-01-01", "end": "2010-12-31"})]),
        ("Prueba un cruce de medias 50/200 en IBM desde 2005",
         [("backtest_strategy", {"rule": "sma_cross", "fast": 50, "slow": 200, "start": "2005-01-01"})]),
        ("When was IBM's last golden cross?", [("get_crossings", {"start": "1900-01-01"})]),
        ("When did IBM last make a death cross?", [("get_crossings", {"start": "1900-01-01"})]),
        ("In which months of 2012 did IBM fall?",
         [("get_performance", {"start": "2012-01-01", "end": "2012-12-31", "every": "month"})]),
        ("¿Está IBM en sobreventa?", [("get_indicators", {"indicators": ["RSI"]})]),
        ("Worst drawdowns of IBM in 2008", [("get_performance", {"start": "2008-01-01", "end": "2008-12-31"})]),
        ("IBM's longest losing streak", [("get_performance", {"start": "1900-01-01"})]),
        ("How many days in a row did IBM fall in 2008?",
         [("get_performance", {"start": "2008-01-01", "end": "2008-12-31"})]),
        ("Which quarter of 2009 was the best for IBM?",
         [("get_performance", {"start": "2009-01-01", "end": "2009-12-31", "every": "quarter"})]),
        ("Worst five days for IBM in 2008",
         [("get_performance", {"start": "2008-01-01", "end": "2008-12-31", "top": 5})]),
        ("How far is IBM from its 50-day in percent?", [("get_indicators", {"indicators": ["SMA"], "length": 50})]),
        ("Who reports next week?", [("fundamentals_events", {})]),
        ("Does IBM report in the next two weeks?", [("fundamentals_events", {})]),
        ("What would 1k in IBM on IPO day be worth now?",
         [("get_performance", {"start": "1900-01-01", "amount": 1000.0})]),
        ("¿Presenta IBM resultados en abril?", [("fundamentals_events", {})]),
        ("If I had followed the 50/200 crossing on IBM since 2006, would I have made more than by holding?",
         [("backtest_strategy", {"rule": "sma_cross", "fast": 50, "slow": 200, "start": "2006-01-01"})]),
        ("Is IBM's volatility this year above its 2012 level?",
         [("get_performance", {"period": "ytd"}),
          ("get_performance", {"start": "2012-01-01", "end": "2012-12-31"})]),
        ("20-day vs 100-day cross on IBM in 2012?",
         [("get_crossings", {"fast": 20, "slow": 100, "start": "2012-01-01", "end": "2012-12-31"})]),
        ("Name the month in 2012 when IBM fell the most",
         [("get_performance", {"start": "2012-01-01", "end": "2012-12-31", "every": "month"})]),
        ("¿Cuántas veces cerró IBM por encima de 210 dólares en 2012?",
         [("get_performance", {"start": "2012-01-01", "end": "2012-12-31"})]),
        ("Any news about IBM?", [("get_news", {})]),
        ("How's IBM doing this year, and is it above its 200 day average?",
         [("market_snapshot", {}), ("get_indicators", {"indicators": ["SMA"], "length": 200})]),
        ("¿A cuánto está IBM y cuánto ha bajado desde su máximo?", [("market_snapshot", {})]),
        ("¿Qué habría pasado comprando IBM con el cruce de medias desde 2008, comparado con comprar y mantener?",
         [("backtest_strategy", {"rule": "sma_cross", "start": "2008-01-01"})]),
        ("Compare last quarter's volume of IBM", [("get_performance", {"period": "3m"})]),
        ("¿A cuánto estaba IBM el 15 de junio de 2011 y el 15 de junio de 2012?",
         [("get_performance", {"start": f"{year}-06-15", "end": f"{year}-06-15"}) for year in (2011, 2012)]),
        ("IBM's price in March 2011 and in May 2012",
         [("get_performance", {"start": "2011-03-01", "end": "2011-03-31"}),
          ("get_performance", {"start": "2012-05-01", "end": "2012-05-31"})]),
        ("Noticias y PER de IBM", [("get_news", {}), ("fundamentals_events", {})]),
        ("IBM's RSI and MACD?", [("get_indicators", {"indicators": ["RSI", "MACD"]})]),
        ("RSI de IBM el 1 de junio de 2012", [("get_indicators", {"indicators": ["RSI"], "end": "2012-06-01"})]),
        ("IBM's ATR as a percentage of its price", [("get_indicators", {"indicators": ["ATR"]})]),
        ("How did IBM do in the week after 19 September 2012?",
         [("get_performance", {"start": "2012-09-20", "end": "2012-09-26"})]),
        ("How many months did IBM end higher in 2012?",
         [("get_performance", {"start": "2012-01-01", "end": "2012-12-31", "every": "month"})]),
        ("¿Cuánto dividendo repartió IBM el último año?", [("get_performance", {"period": "1y"})]),
        ("Most profitable first: IBM in 2010", [("get_performance", {"start": "2010-01-01", "end": "2010-12-31"})]),
        ("IBM's 9-day RSI", [("get_indicators", {"indicators": ["RSI"], "length": 9})]),
        ("Is IBM above its 50 and 200 day averages?",
         [("get_indicators",
         {"indicators": ["SMA"], "length": 50}), ("get_indicators", {"indicators": ["SMA"], "length": 200})]),
        ("¿Está IBM por encima de su media de 200 sesiones?",
         [("get_indicators", {"indicators": ["SMA"], "length": 200})]),
        ("How is the sentiment on IBM?", [("get_sentiment", {})]),
        ("IBM's best month in 2012",
         [("get_performance", {"start": "2012-01-01", "end": "2012-12-31", "every": "month"})]),
        ("El peor trimestre de IBM desde 2007", [("get_performance", {"start": "2007-01-01", "every": "quarter"})]),
        ("What did IBM return each year from 2008 to 2011?",
         [("get_performance", {"start": "2008-01-01", "end": "2011-12-31", "every": "year"})]),
        ("Rank it by volatility", [("market_snapshot", {})]),
        ("IBM's volatility in Q4 2012 versus Q4 2011",
         [("get_performance", {"start": "2012-10-01", "end": "2012-12-31"}),
          ("get_performance", {"start": "2011-10-01", "end": "2011-12-31"})]),
        ("When did IBM cross its 200-day average in 2011?",
         [("get_crossings", {"fast": 1, "slow": 200, "start": "2011-01-01", "end": "2011-12-31"})]),
        ("Did IBM's 50-day average cross its 200-day average in 2012?",
         [("get_crossings", {"fast": 50, "slow": 200, "start": "2012-01-01", "end": "2012-12-31"})]),
        ("¿Cuándo cruzó la media de 50 a la de 200 en IBM?", [("get_crossings", {"fast": 50, "slow": 200})]),
        ("¿Cuándo cruzó la media de 50 a la de 200 en IBM por última vez?",
         [("get_crossings", {"fast": 50, "slow": 200, "start": "1900-01-01"})]),
        ("What did IBM close at on 21 September 2012?",
         [("get_performance", {"start": "2012-09-21", "end": "2012-09-21"})]),
        ("As of 1 June 2012, IBM's return over the last year",
         [("get_performance", {"end": "2012-06-01", "period": "1y"})]),
        ("IBM news of January 2013", [("get_news", {"start": "2013-01-01", "end": "2013-01-31"})]),
        ("How did IBM do in 2012, and what is its P/E?",
         [("get_performance", {"start": "2012-01-01", "end": "2012-12-31"}), ("fundamentals_events", {})]),
        ("How long did IBM take to recover from its 2008 drawdown?",
         [("get_performance", {"start": "2008-01-01", "end": "2008-12-31", "top": 1}),
          ("get_performance", {"start": "2008-01-01", "top": 1})]),
        ("IBM's volatility this year", [("get_performance", {"period": "ytd"})]),
        ("How many days did IBM fall in 2008?", [("get_performance", {"start": "2008-01-01", "end": "2008-12-31"})]),
        ("Was IBM up or down in the week of 11 August 2011?",
         [("get_performance", {"start": "2011-08-08", "end": "2011-08-14"})]),
        ("¿Cuándo cruzó la media de 20 sesiones de IBM por debajo de la de 100?",
         [("get_crossings", {"fast": 20, "slow": 100})]),
        ("Comprar IBM cuando la media de 20 cruce la de 100: ¿qué habría pasado desde 2003 con comisiones del 0,1 %?",
         [("backtest_strategy",
           {"rule": "sma_cross", "fast": 20, "slow": 100, "cost_percent": 0.1, "start": "2003-01-01"})]),
        ("A 30 de septiembre de 2011, ¿cómo iba IBM en el año y cuál era su RSI?",
         [("get_performance", {"start": "2011-01-01", "end": "2011-09-30"}),
          ("get_indicators", {"indicators": ["RSI"], "end": "2011-09-30"})]),
        ("RSI of IBM now, and its return in 2011",
         [("get_performance", {"start": "2011-01-01", "end": "2011-12-31"}),
          ("get_indicators", {"indicators": ["RSI"]})]),
        ("Price of IBM on 3 May 2011 and today's",
         [("get_performance", {"start": "2011-05-03", "end": "2011-05-03"}), ("market_snapshot", {})]),
        ("Which of 2011 and 2012 was IBM's most volatile year?",
         [("get_performance", {"start": f"{year}-01-01", "end": f"{year}-12-31"}) for year in (2011, 2012)]),
        ("IBM's next dividend date", [("fundamentals_events", {})]),
    ]  # fmt: skip


@pytest.mark.parametrize(("query", "calls"), CALLS)
def test_what_is_asked_for_is_a_call(query: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    assert asked(query) == calls


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("10.000 euros en IBM desde enero de 2006", {"start": "2006-01-01", "amount": 10000.0}),
        ("Si hubiera invertido diez mil euros en IBM hace un año, ¿cuánto tendría?",
         {"period": "1y", "amount": 10000.0}),
        ("Invertí veinticinco mil dólares en IBM en marzo de 2009", {"start": "2009-03-01", "amount": 25000.0}),
        ("¿Qué valdrían 2.500,50 € metidos en IBM hace 3 años?", {"period": "3y", "amount": 2500.5}),
        ("medio millón de dólares en IBM desde 2010", {"start": "2010-01-01", "amount": 500000.0}),
        ("mil euros en IBM desde 2010", {"start": "2010-01-01", "amount": 1000.0}),
        ("7.5k in IBM on 3 January 2005: what is it worth today?", {"start": "2005-01-04", "amount": 7500.0}),
        ("10,000 in IBM at the start of 2006, by the end of 2009",
         {"start": "2006-01-02", "end": "2009-12-31", "amount": 10000.0}),
        ("1,5 millones de dólares invertidos en IBM durante 2009",
         {"start": "2009-01-01", "end": "2009-12-31", "amount": 1500000.0}),
        ("15k in IBM since June 2007", {"start": "2007-06-01", "amount": 15000.0}),
        ("If I had put $5k in IBM in March 2009, what would I have had at the end of 2012?",
         {"start": "2009-03-01", "end": "2012-12-31", "amount": 5000.0}),
        ("two hundred thousand dollars invested in IBM on 3 January 2005", {"start": "2005-01-04", "amount": 200000.0}),
    ],
)  # fmt: skip
def test_an_amount_is_what_people_write(query: str, arguments: dict[str, Any]) -> None:
    assert asked(query) == [("get_performance", arguments)]


@pytest.mark.parametrize(
    ("query", "figures", "unread"),
    [
        ("RSI and the Sortino ratio of IBM", ["RSI"], ["sortino"]),
        ("¿Cuál es la deuda de IBM y su PER?", ["pe"], ["deuda"]),
        ("IBM's weekly RSI", [], ["weekly rsi"]),
        ("Compare the margins of IBM and Apple, please", ["gross_margin", "net_margin"], []),
        ("How is IBM doing this year?", [], []),
        ("How did IBM do in 2011, and how volatile was it?", ["return", "volatility"], []),
        ("¿Quién tiene el PER más bajo?", ["pe"], []),
        ("¿Qué acción cayó más en 2008?", ["return"], []),
        ("What is the average true range of IBM?", ["ATR"], []),
        ("Is the mood around IBM positive?", ["sentiment"], []),
        ("¿Está IBM sobrecomprada?", ["RSI"], []),
        ("How many days did IBM lose more than 3% in 2008?", ["down_days"], ["3%"]),
        ("IBM's ATR relative to its price", ["atr_share"], []),
        ("¿En qué rango se movió IBM en marzo de 2012?", ["high", "low"], []),
        ("How far is IBM from its 52-week low?", ["low", "price"], []),
        ("How far is IBM below its all-time high?", ["current_drawdown"], []),
        ("Did IBM close above 200 in 2012?", ["highest_close"], []),
        ("How many days did IBM close above 200 in 2012?", ["highest_close"], ["close above 200"]),
        ("Suppose 250 dollars a month in IBM since 2010", [], ["250 dollars a month"]),
        ("Do IBM and it tend to move in the same direction?", ["correlation"], []),
        ("How much did IBM's volume rise in January 2013?", ["average_volume"], []),
        ("¿Cuánto ganó IBM por acción?", ["eps"], []),
        ("What were IBM's three best months?", ["best_month"], []),
        ("Los dos peores días de IBM en 2011", ["worst_day"], []),
        ("When did IBM last close above 200?", ["highest_close"], ["close above 200"]),
        ("Buying IBM every month with 100 dollars since 2010", [], ["every month with 100 dollars"]),
        ("¿Cuántos días de 2012 subió IBM?", ["up_days"], []),
        ("¿Cuánto ha caído IBM desde máximos?", ["current_drawdown"], []),
        ("¿A cuánto está IBM de su máximo del año?", ["current_drawdown"], []),
        ("Is IBM closer to its 52-week high or low?", ["high", "low", "price"], []),
        ("What moved most in 2012?", ["return"], []),
        ("¿Qué se movió más en 2012?", ["return"], []),
        ("¿En qué rango cotizó IBM en el primer semestre de 2012?", ["high", "low"], []),
        ("next week's results of IBM", ["next_earnings_date"], []),
        ("Correlation of the daily returns of IBM and it", ["correlation"], []),
        ("¿Cuánto cayó IBM desde máximos en 2008 y cuándo tocó suelo?", ["max_drawdown", "drawdowns"], []),
        ("¿Cuál fue el máximo drawdown de IBM en 2012?", ["max_drawdown"], []),
        ("How far did IBM fall from its high in 2008?", ["max_drawdown"], []),
        ("¿Cuánto le falta a IBM para volver a su máximo de 52 semanas?", ["current_drawdown"], []),
        ("¿Qué dividendos pagó IBM en 2012 y cuánto rindió contándolos?", ["dividends", "total_return"], []),
        ("How much was a share of IBM worth on 3 March 2010?", ["price"], []),
        ("Highest and lowest close of IBM in 2010", ["highest_close", "lowest_close"], []),
        ("¿Cuántas veces superó IBM los 200 dólares en 2012?", ["highest_close"], ["supero ibm los 200 dolares"]),
        ("Was IBM ever down more than 50% from its peak?", ["max_drawdown"], []),
        ("¿Ha caído IBM alguna vez más de un 50 % desde máximos?", ["return", "max_drawdown"], []),
        # Each of two clauses is answered, and neither takes the other's figure away.
        ("¿Cuánto subió IBM el mes pasado y cuánto volumen tuvo?", ["return", "average_volume"], []),
        ("Compara el máximo de 52 semanas de IBM con su precio actual", ["high", "price"], []),
        ("El PER de IBM y si está cerca de máximos", ["pe", "current_drawdown"], []),
        ("Which had the better 2009, and what is the beta of IBM?", ["return", "beta"], []),
        ("50 shares of IBM bought on 2 January 2009: what are they worth today?", ["price"], ["50 shares"]),
        ("$2,000 in IBM in January 2009 and $3,000 in January 2010", ["growth"], ["$3,000"]),
        ("IBM's most volatile year between 2005 and 2010", ["volatility"], ["most volatile year"]),
    ],
)
def test_what_no_rule_reads_is_known(query: str, figures: list[str], unread: list[str]) -> None:
    found = read_question(query, ("IBM",))
    assert (found.figures, found.unread) == (figures, unread)


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("IBM's worst year", {"start": "1900-01-01", "every": "year"}),
        ("All-time high of IBM", {"start": "1900-01-01"}),
        ("IBM's three best months, and the worst", {"start": "1900-01-01", "every": "month", "top": 3}),
        ("¿Qué día cayó más IBM en toda su historia?", {"start": "1900-01-01"}),
        ("¿Qué dos años fueron los peores de IBM?", {"start": "1900-01-01", "every": "year", "top": 2}),
        ("1,000 dollars put in IBM the day it was listed", {"start": "1900-01-01", "amount": 1000.0}),
    ],
)
def test_all_of_the_data_can_be_asked_for(query: str, arguments: dict[str, Any]) -> None:
    assert asked(query) == [("get_performance", arguments)]


def test_of_two_tickers_each_has_its_own_stretch() -> None:
    calls = read_question("How did IBM do in 2008 and MSFT in 2010?", ("IBM", "MSFT")).calls
    assert [(call.tickers, call.arguments["start"]) for call in calls] == [
        (("IBM",), "2008-01-01"),
        (("MSFT",), "2010-01-01"),
    ]
    both = read_question("IBM and MSFT in 2008 and in 2010", ("IBM", "MSFT")).calls
    assert [call.tickers for call in both] == [("IBM", "MSFT")] * 2


def test_the_order_is_the_questions() -> None:
    first = {query: read_question(query, ("IBM", "MSFT")).lowest_first for query in (
        "Ordena de mayor a menor por valor", "Rank by P/E, highest first", "de menor a mayor PER", "the cheapest",
        "Which fell least in 2008?", "¿Cuál ha caído menos?", "Which has fallen the most?", "¿Cuál ha bajado más?",
        "de más a menos volátil", "least volatile first", "las que más bajan", "which is losing most?",
        "las que más suben",
    )}  # fmt: skip
    assert list(first.values()) == [
        False, False, True, True, False, False, True, True, False, True, True, True, False
    ]  # fmt: skip


def test_figures_that_are_known_of_now_alone_are_told_apart() -> None:
    assert read_question("P/E of IBM in 2009", ("IBM",)).now_only == ["pe"]
    assert read_question("IBM's return in 2009 and its P/E", ("IBM",)).now_only == []


def test_the_stretch_is_the_period_that_claims_are_of() -> None:
    assert main_period("IBM in 2008").period == "2008-01-01/2008-12-31"
    assert main_period("IBM last quarter").period == "3m"


@pytest.mark.parametrize(
    ("query", "figure"),
    [
        ("IBM's longest run of red days in 2012", "down_streak"),
        ("longest winning streak IBM has had since 2010?", "up_streak"),
        ("¿Cuál fue la racha más larga de subidas de IBM en 2010?", "up_streak"),
        ("¿Cuántos días seguidos llegó a bajar IBM en 2008?", "down_streak"),
        ("How many days did IBM fall in 2008?", "down_days"),
    ],
)
def test_a_streak_is_told_from_a_count_of_days(query: str, figure: str) -> None:
    question = read_question(query, ("IBM",))
    assert (question.figures, question.unread) == ([figure], [])


@pytest.mark.parametrize(
    ("query", "unread"),
    [
        ("Who had the smaller drawdown in 2008, and by how much?", "by how much"),
        ("What was the gap between IBM's high and low in 2008?", "the gap between"),
        ("What share of days did IBM close higher in 2012?", "what share of days"),
        ("How volatile was IBM in its first three months?", "first three months"),
        ("Average close of IBM in February 2013?", "average close"),
        ("longest run without a down day for IBM in 2012", "without a down day"),
        ("¿Cuándo tocó IBM su mínimo de 2009 y cuánto ha subido desde entonces?", "desde entonces"),
        ("¿Qué tal va IBM este trimestre comparado con el anterior?", "con el anterior"),
        ("If I'd bought IBM at the 2009 low, how much would I be up?", "bought ibm at the"),
        ("if i bought ibm on its worst day of 2008 how much would i be up", "bought ibm on its"),
        ("how far did IBM fall from its 2007 high to the 2009 low", "from its 2007 high to the 2009 low"),
        ("what share of weeks in 2010 did IBM end up?", "what share of weeks"),
        ("the 10 IBM I bought on 3 September 2012, what are they worth", "10 ibm"),
    ],
)
def test_what_no_tool_works_out_is_said_to_be_unanswered(query: str, unread: str) -> None:
    assert read_question(query, ("IBM", "MSFT")).unread == [unread]


@pytest.mark.parametrize(
    ("query", "tool", "arguments", "upward"),
    [
        ("When did IBM's 50 day last cross its 200 day?", "get_crossings",
         {"fast": 50, "slow": 200, "start": "1900-01-01"}, None),
        ("¿Cuándo cruzó la media de 50 de IBM por encima de la de 200 por última vez?", "get_crossings",
         {"fast": 50, "slow": 200, "start": "1900-01-01"}, True),
        ("Buy and hold IBM or the 50/200 crossover over 5 years: which made more?", "backtest_strategy",
         {"rule": "sma_cross", "fast": 50, "slow": 200, "period": "5y"}, None),
        ("¿Fue 2008 el peor año de IBM?", "get_performance", {"start": "1900-01-01", "every": "year"}, None),
    ],
)  # fmt: skip
def test_a_crossing_has_its_way_and_a_worst_year_its_others(
    query: str, tool: str, arguments: dict[str, object], upward: bool | None
) -> None:
    found = read_question(query, ("IBM",))
    assert [(call.tool, call.arguments) for call in found.calls] == [(tool, arguments)]
    assert found.upward is upward


def test_a_split_is_named_as_unread_since_no_tool_tells_it() -> None:
    assert read_question("did IBM pay a dividend, and has Apple ever split?", ("IBM", "AAPL")).unread == ["split"]
    assert read_question("IBM's split-adjusted return in 2008", ("IBM",)).unread == []


def test_what_it_fell_at_most_is_its_deepest_fall_and_no_high() -> None:
    assert "max_drawdown" in read_question("¿cuánto cayó como máximo IBM en 2008?", ("IBM",)).figures


def test_a_trial_without_costs_has_none() -> None:
    [call] = read_question("backtest RSI on IBM without costs", ("IBM",)).calls
    assert call.arguments["cost_percent"] == 0
