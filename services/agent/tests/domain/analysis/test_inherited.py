"""What a message leaves out and the question before it has, es and en: the term, the ticker, the period, the rule."""

from datetime import date

import pytest

from agent.domain.analysis.asked import is_about_all_tickers
from agent.domain.analysis.follow_ups import complete_question
from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.relative_days import dated_in_turn
from agent.domain.analysis.wanted_calls import Question
from agent.domain.tickers import tickers_in


def asked(*texts: str) -> tuple[Question, list[str]]:
    """The last of several messages as it is read, and its tickers."""
    *earlier, newest = dated_in_turn(texts, date(2013, 1, 31))
    query = complete_question(newest, earlier)
    assert query is not None, texts
    tickers = ["all"] if is_about_all_tickers(query) else tickers_in(query)
    return read_question(query, tuple(tickers)), tickers


@pytest.mark.parametrize(
    ("texts", "figures", "tickers", "arguments"),
    [
        (("return of GOOG since the beginning of 2010", "what about over the same stretch for ibm"),
         ["return"], ["IBM"], {"start": "2010-01-01"}),
        (("biggest drawdown of AAPL and IBM in 2010", "did AAPL recover?"),
         ["drawdowns"], ["AAPL"], {"top": 1, "start": "2010-01-01", "end": "2010-12-31"}),
        (("peor caída de IBM en 2010", "¿se ha recuperado IBM?"),
         ["drawdowns"], ["IBM"], {"top": 1, "start": "2010-01-01", "end": "2010-12-31"}),
        (("rentabilidad de GOOG en 2010", "¿y en ese mismo periodo ibm?"),
         ["return"], ["IBM"], {"start": "2010-01-01", "end": "2010-12-31"}),
        (("return of AAPL in 2011", "and the volatility of IBM"),
         ["volatility"], ["IBM"], {"start": "2011-01-01", "end": "2011-12-31"}),
        (("show me weekly closes of IBM for the last 3 months", "what was the average volume in that window"),
         ["average_volume"], ["IBM"], {"period": "3m"}),
        (("what is a golden cross", "test it on MSFT"), ["backtest"], ["MSFT"], {"rule": "sma_cross"}),
        (("¿qué es un cruce dorado?", "pruébalo en MSFT"), ["backtest"], ["MSFT"], {"rule": "sma_cross"}),
        (("backtest the golden cross on AAPL since 2005", "what if I used 20 and 100 instead"),
         ["backtest"], ["AAPL"], {"rule": "sma_cross", "fast": 20, "slow": 100, "start": "2005-01-01"}),
        (("backtest the golden cross on AAPL", "and starting in 2010"),
         ["backtest"], ["AAPL"], {"rule": "sma_cross", "start": "2010-01-01"}),
        (("beta of GOOG against AAPL in 2012", "and with monthly returns"), ["beta"], ["GOOG", "AAPL"],
         {"start": "2012-01-01", "end": "2012-12-31", "every": "month", "benchmark": "AAPL"}),
        (("return of GOOG in 2010", "and of IBM?", "how correlated were their moves"),
         ["correlation"], ["GOOG", "IBM"], {"start": "2010-01-01", "end": "2010-12-31"}),
        (("P/E of MSFT", "compare its pe with apples"), ["pe"], ["MSFT", "AAPL"], {}),
        (("márgenes de IBM", "¿cómo anda de márgenes frente a msft?"),
         ["gross_margin", "net_margin"], ["IBM", "MSFT"], {}),
        (("compare IBM and MSFT", "and who's cheaper on earnings"),
         ["pe", "eps", "next_earnings_date"], ["IBM", "MSFT"], {}),
        (("which stocks rose most in 2012", "and which are oversold"), ["RSI"], ["all"], {"indicators": ["RSI"]}),
        (("its best quarter ever of MSFT", "and its worst"),
         ["worst_quarter"], ["MSFT"], {"start": "1900-01-01", "every": "quarter"}),
        (("10000 in each of AAPL and IBM at the start of 2009", "¿cuál ganó?"),
         ["return"], ["AAPL", "IBM"], {"start": "2009-01-01"}),
        (("$2,000 in MSFT on 3 January 2011, how much by the end of 2012?", "and if it were 5,000"),
         ["growth"], ["MSFT"],
         {"start": "2011-01-04", "end": "2012-12-31", "amount": 5000.0}),
        (("2.000 dólares en MSFT a principios de 2009, ¿qué serían?", "¿y si fueran 5.000?"),
         ["growth", "base"], ["MSFT"],
         {"start": "2009-01-02", "amount": 5000.0}),
        (("return of AAPL in 2012", "and IBM?", "what's their market value"), ["market_cap"], ["AAPL", "IBM"], {}),
        (("rank all stocks by return in 2012", "are any of them overbought"),
         ["RSI"], ["all"], {"indicators": ["RSI"]}),
        (("rank all stocks by return this quarter", "how do they rank on p/e"), ["pe"], ["all"], {}),
        (("rank the five by volatility in 2011", "who came last"),
         ["volatility"], ["all"], {"start": "2011-01-01", "end": "2011-12-31"}),
        (("return of GOOG against AAPL in 2012", "what was the beta of IBM against MSFT in 2011"),
         ["beta"], ["IBM", "MSFT"], {"start": "2011-01-01", "end": "2011-12-31", "benchmark": "MSFT"}),
    ],
)  # fmt: skip
def test_what_a_message_leaves_out_is_that_of_the_question_before_it(
    texts: tuple[str, ...], figures: list[str], tickers: list[str], arguments: dict[str, object]
) -> None:
    if "beta of IBM" in texts[-1]:  # complete by itself
        assert complete_question(texts[-1], texts[:-1]) is None
        return
    question, named = asked(*texts)
    assert (question.figures, named, question.unread) == (figures, tickers, [])
    assert question.calls[0].arguments == arguments


@pytest.mark.parametrize(
    ("texts", "unread"),
    [
        (("what's a sharpe ratio", "ok, and what is aapl's"), "sharpe"),
        (("¿qué es el ratio sharpe?", "¿y el de apple?"), "sharpe"),
        (("compare IBM and MSFT in 2010", "which of the two had the rougher ride"), "rougher ride"),
        (("backtest the golden cross on MSFT", "what if the stop is 6%"), "stop"),
        (("next earnings of IBM", "how did the stock react to the last three earnings"), "react"),
        (("compare IBM and MSFT", "which has grown its revenue faster"), "grown"),
        (("how volatile is google", "is it more volatile than it used to be"), "than it used to be"),
    ],
)
def test_what_no_rule_reads_of_such_a_message_is_named(texts: tuple[str, ...], unread: str) -> None:
    assert unread in asked(*texts)[0].unread


@pytest.mark.parametrize(
    ("question", "figures", "arguments"),
    [
        ("were there any green weeks for IBM in 2009", ["up_weeks"],
         {"start": "2009-01-01", "end": "2009-12-31", "every": "week"}),
        ("has IBM ever had a losing year", ["down_years"], {"start": "1900-01-01", "every": "year"}),
        ("¿ha tenido IBM algún año en pérdidas?", ["down_years"], {"start": "1900-01-01", "every": "year"}),
        ("if i'd bought ibm in march 2009 what would it be worth", ["base", "price"], {"start": "2009-03-01"}),
        ("are IBM and google usually moving in the same direction", ["correlation"], {}),
        ("15k into IBM at the start of 2009", ["growth", "base"], {"start": "2009-01-02", "amount": 15000.0}),
        ("busca el mes en que más perdió IBM", ["worst_month"], {"start": "1900-01-01", "every": "month"}),
        ("which had the better quarter, IBM or MSFT, in 2009", ["best_quarter"],
         {"start": "2009-01-01", "end": "2009-12-31", "every": "quarter"}),
    ],
)  # fmt: skip
def test_parts_of_a_direction_and_sums_are_read(
    question: str, figures: list[str], arguments: dict[str, object]
) -> None:
    assert not is_about_all_tickers(question)
    read = read_question(question, tuple(tickers_in(question)))
    assert (read.figures, read.unread) == (figures, [])
    assert read.calls[0].arguments == arguments


def test_a_period_that_nothing_names_is_not_answered_for_another() -> None:
    assert read_question("how did msft do the same month", ("MSFT",)).unread == ["the same month"]
    assert read_question("IBM in 2010 and MSFT in the same year", ("IBM", "MSFT")).unread == []


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("rank the five by volatility in 2011", "when does the market open on 3 September 2012"),
        ("what is a golden cross", "and how do I pay with MSFT"),
    ],
)
def test_a_message_about_something_else_is_not_completed(question: str, message: str) -> None:
    assert complete_question(message, [question]) is None


@pytest.mark.parametrize(
    ("texts", "query"),
    [
        (
            ("what would $3,500 put into MSFT on 5 jan 2011 be worth today?", "what if I'd sold at the end of 2012"),
            "what would $3,500 put into MSFT be worth during 2011-01-05 to 2012-12-31",
        ),
        (
            ("volatility of IBM in 2008", "and AAPL over the same time?"),
            "volatility of AAPL: 2008-01-01 to 2008-12-31",
        ),
    ],
)
def test_a_sale_that_is_imagined_ends_the_period(texts: tuple[str, ...], query: str) -> None:
    *earlier, newest = dated_in_turn(texts, date(2013, 1, 31))
    completed = complete_question(newest, earlier)
    assert completed is not None
    assert (
        read_question(completed, tuple(tickers_in(completed))).calls
        == read_question(query, tuple(tickers_in(query))).calls
    )


def test_both_are_the_two_that_were_named_one_by_one() -> None:
    texts = ["backtest a 20/50 crossover on AAPL since 2005", "and the same for MSFT"]
    assert asked(*texts, "pe of both")[1] == ["AAPL", "MSFT"]
    cost = asked(*texts, "and with costs of 0.5 percent")[0].calls[0].arguments
    assert (cost["cost_percent"], cost["fast"], cost["slow"]) == (0.5, 20, 50)
    assert asked(*texts, "how about fewer trades")[0].figures == ["backtest"]


def test_a_crossing_is_of_the_average_that_was_spoken_of() -> None:
    question, _ = asked("is TSLA above its 100 day moving average", "when did it last cross it")
    assert question.calls[0].arguments["slow"] == 100


def test_a_judgement_of_what_was_told_asks_for_no_high() -> None:
    assert complete_question("is that high", ["volatility of TSLA last year"]) is None


def test_that_year_is_none_of_several_years() -> None:
    dated = dated_in_turn(["which years did IBM fall since 2000?", "the volatility in that year?"], date(2013, 1, 31))
    assert dated[-1] == "the volatility in that year?"


def test_those_that_were_named_are_not_all() -> None:
    assert asked("compare KO, MSFT and IBM in 2011", "between them who lost most")[1] == ["KO", "MSFT", "IBM"]


def test_a_return_per_unit_of_risk_is_no_price_earnings_ratio() -> None:
    question = read_question("which of KO and IBM had the best return per unit of risk?", ("KO", "IBM"))
    assert "pe" not in question.figures
    assert "volatility" in question.figures
