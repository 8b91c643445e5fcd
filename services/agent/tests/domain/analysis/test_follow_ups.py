"""Questions that earlier messages complete."""

import pytest

from agent.domain.analysis import follow_ups
from agent.domain.analysis.follow_ups import complete_question
from agent.domain.tickers import tickers_in

ALL = "Which of the five stocks rose most this year?"


@pytest.mark.parametrize(
    ("earlier", "said", "question"),
    [
        ("cuál fue el mejor mes de Apple en 2011", "¿y el peor?", "cuál fue el peor mes de Apple en 2011"),
        ("Which stock rose the most in 2008?", "and the least?", "Which stock rose the least in 2008?"),
        (
            "which month of 2011 was the most volatile for IBM?",
            "and the calmest?",
            "which month of 2011 was the least volatile for IBM?",
        ),
        ("rank the months of MSFT in 2010 by return", "and the best three?", "best three months of MSFT in 2010"),
        ("ordena los meses de AAPL de 2012 por rentabilidad", "y la peor?", "worst meses de AAPL de 2012"),
        (ALL, "y las tres mejores?|and the worst?", ALL.replace("most", "least")),
        ("which stocks fell most in 2008", "and the best two?", "which stocks fell least in 2008"),
        (
            "cuanto subio msft entre enero y marzo de 2009",
            "y en el trimestre siguiente",
            "cuanto subio msft: 2009-04-01 to 2009-06-30",
        ),
        (
            "compare AAPL and IBM in 2008",
            "and which one had the biggest drop",
            "AAPL IBM 2008-01-01 to 2008-12-31 and which one had the biggest drop",
        ),
        (
            "backtest a golden cross on IBM since 2005",
            "and on apple with 0.2% costs",
            "backtest a golden cross on AAPL since 2005: 0.2% costs",
        ),
        ("best day of AAPL in 2012", "what about msft?", "best day of MSFT in 2012"),
        ("best day of Apple in 2012", "and the worst?|y de google?", "worst day of GOOG in 2012"),
        ("correlation of IBM and AAPL", "and MSFT?", "correlation of IBM and MSFT"),
        (
            "rank the months of 2010 by return of IBM",
            "and in 2011?|what about Apple?|worst first",
            "rank the months by return of AAPL: and in 2011, worst first",
        ),
        (
            "correlation of AAPL and MSFT in 2011",
            "with monthly returns?",
            "correlation of AAPL and MSFT in 2011 with monthly returns?",
        ),
        ("What's Apple's P/E?", "compare that with google", "What's Apple's P/E, GOOG"),
        (
            "price of Mircosfot",
            "and Appel?|compare them in 2009",
            "MSFT AAPL 2009-01-01 to 2009-12-31 compare them in 2009",
        ),
        (
            "best week of AAPL in 2012",
            "and the worst 3 days?|how many days did it fall?",
            "AAPL how many days did it fall? 2012-01-01 to 2012-12-31",
        ),
        ("average volume of IBM in March 2012", "and in April?", "average volume of IBM: and in April 2012?"),
        ("IBM vs MSFT since June", "which is more volatile?", "IBM MSFT since June which is more volatile?"),
        ("IBM vs MSFT since June", "which is the cheapest plan?", None),
        ("AAPL price", "how far is it from its 52-week high", "AAPL how far is it from its 52-week high"),
        (
            "hey, MSFT",
            "what was its best day this year|no, I meant in 2011",
            "MSFT what was its best day: no, I meant in 2011",
        ),
        (
            "MSFT best day in 2011",
            "which month was the worst then|same for IBM",
            "IBM worst month then 2011-01-01 to 2011-12-31",
        ),
        (
            "AAPL's max drawdown since 2010",
            "is that worse than microsoft's|who fell more during the 2008 crash",
            "AAPL MSFT who fell more during the 2008 crash",
        ),
        (
            "compare aapl msft and ibm over 6 months",
            "what's the correlation between the first two|between ibm and msft",
            "what's the correlation between IBM, MSFT and ",
        ),
        (
            "compare aapl msft and ibm over 6 months",
            "if i'd put 5000 in each 2 years ago what would I have now",
            "AAPL MSFT IBM if i'd put 5000 in each 2 years ago what would I have now",
        ),
        ("compare aapl and ibm", "buy 5 of each", None),
        (
            "GOOG price",
            "cual fue el mejor trimestre de 2012|y de 2011?|no, de ibm",
            "IBM cual fue el mejor trimestre: y de 2011?",
        ),
        ("best day of IBM in 2012", "when was that", "best day of IBM in 2012"),
        ("maximo de Apple en un año", "que dia fue", "maximo de Apple en un año"),
        ("cuantos dias subio AAPL este mes", "y el pasado", "cuantos dias subio AAPL: mes pasado"),
        (
            "compara IBM con MSFT en 2010",
            "cual tuvo mejor mes",
            "IBM MSFT 2010-01-01 to 2010-12-31 cual tuvo mejor mes",
        ),
        ("How did MSFT do this week?", "and last?", "How did MSFT do: last week"),
        (
            "compare google with apple since 2011",
            "and the better sharpe|what about 2009|add microsoft to the comparison",
            "compare GOOG AAPL MSFT 2009-01-01 to 2009-12-31",
        ),
        ("best quarter of IBM in 2011", "que pe tiene", "IBM que pe tiene"),
        ("GOOG", "what's the average volume", "GOOG what's the average volume"),
        ("compare aapl and ibm", "cuanto cayo cada una en 2008", "AAPL IBM cuanto cayo cada una en 2008"),
        ("IBM", "cuanto he ganado o perdido hoy", None),
        ("IBM's next earnings date", "did they beat estimates", None),
        ("price of IBM", "cuanto lleva este mes|perdon queria decir microsoft", "MSFT cuanto lleva este mes"),
        ("backtest RSI on IBM for 2010", "with a 10% stop?", "backtest RSI on IBM for 2010, with a 10% stop?"),
        ("backtest RSI on IBM for 2010", "what are the costs you assumed", "backtest RSI on IBM for 2010"),
        ("MSFT", "how is max drawdown different from volatility", None),
        ("MSFT", "which is more volatile, my plan?", None),
        (
            "¿cuáles fueron las tres mejores acciones de 2011?",
            "¿y las peores?",
            "¿cuáles fueron las tres peores acciones de 2011?",
        ),
        ("price of IBM", "and MSFT?", None),
        ("price of MSFT", "compare it with Apple and IBM in 2011", "MSFT compare it with Apple and IBM in 2011"),
        (
            "precio de MSFT",
            "compárala con Apple e IBM|¿cuál de ellas cayó más?",
            "MSFT AAPL IBM ¿cuál de ellas cayó más?",
        ),
        ("which stocks fell most today", "and the most?", None),
    ],
)
def test_the_other_end_and_the_other_ticker_are_asked_of_the_last_question(
    earlier: str, said: str, question: str | None
) -> None:
    *between, newest = said.split("|")
    assert complete_question(newest, [earlier, *between]) == question


def test_each_message_of_a_long_conversation_is_read_once_for_what_it_continues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    monkeypatch.setattr(follow_ups, "market_question", read.append)
    earlier = [f"and in {year}?" for year in range(2000, 2012)]
    assert complete_question("and a year later?", earlier) is None
    assert read == [*earlier, "and a year later?"]


def test_a_question_is_read_again_only_for_a_message_that_may_continue_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> list[str]:
        read.append(text)
        return tickers_in(text)

    monkeypatch.setattr(follow_ups, "tickers_in", counted)
    long_ones = [f"what happens to IBM {'when the market falls ' * 40}"] * 6
    assert complete_question("hello", long_ones) is None
    assert len(read) == 7 + 5  # whether each message names a ticker; and for those behind another, which


@pytest.mark.parametrize(
    ("text", "before", "whole"),
    [
        ("sort them by drawdown", ["IBM vs MSFT in 2012"], "IBM MSFT 2012-01-01 to 2012-12-31 sort them by drawdown"),
        (
            "rank them all by volatility",
            ["IBM vs MSFT in 2012"],
            "IBM MSFT 2012-01-01 to 2012-12-31 rank them all by volatility",
        ),
        ("Ordénalas por PER", ["¿PER de Google?", "¿y Facebook?"], "GOOG FB Ordénalas por PER"),
        ("rank them by volatility", [ALL], "all stocks rank them by volatility"),
        ("¿Y en 2010?", ["Compara IBM y MSFT en 2012"], "Compara IBM y MSFT: Y en 2010?"),
        ("and in 2010?", [ALL, "rank them by volatility"], "all stocks rank them by volatility: and in 2010?"),
        ("and by volatility this year", [ALL], "all stocks and by volatility this year"),
        ("¿y en lo que va de año?", ["Compara IBM y MSFT en 2012"], "Compara IBM y MSFT: y en lo que va de año?"),
        ("and in 2010?", ["How did IBM do in 2012?"], None),
        ("rank them by volatility", ["hello"], None),
        (
            "¿y el más tranquilo?",
            ["volatilidad de IBM por meses en 2012"],
            "volatilidad de IBM por meses en 2012, rank the months by volatility, lowest first",
        ),
        (
            "and the worst?",
            ["monthly volatility of IBM in 2012"],
            "monthly volatility of IBM in 2012, rank the months by volatility, highest first",
        ),
        ("and the worst?", ["IBM returns by month in 2012"], "IBM returns worst months in 2012"),
        (
            "which month was the worst for it in 2011",
            ["buy 2 MSFT", "how far is AAPL from its 52-week high"],
            "AAPL which month was the worst for it in 2011",
        ),
        # The tools answer for both: the last message names one alone.
        ("which one has the lower p/e?", ["Price of AAPL", "and MSFT?"], None),
        ("¿cuál tiene el PER más bajo?", ["precio de AAPL", "¿y MSFT?"], None),
        ("rank all stocks by volatility", ["IBM vs MSFT in 2012"], None),
        ("thanks", ["Compare IBM and MSFT in 2012"], None),
        ("How is the market doing?", [], "Which stocks rose most today?"),
        ("how did the market do yesterday?", [], "Which stocks rose most yesterday?"),
        ("Is the market up or down?", ["hello"], "Which stocks rose most today?"),
        ("how have stocks done this year", [], "Which stocks rose most this year?"),
        ("¿Cómo le fue a la bolsa en 2011?", [], "¿Qué acciones han subido más en 2011?"),
        ("resumen del mercado", [], "¿Qué acciones han subido más hoy?"),
        ("Is the market open?", [], None),
        ("How does the stock market work?", [], None),
        ("How are market orders filled?", [], None),
        ("How are my stocks doing?", [], None),
        ("Is there anything new in the Pro plan?", [], None),
        (
            "and the second half?",
            ["how often did IBM close down in the first half of 2012"],
            "how often did IBM close down in: and the second half 2012?",
        ),
        (
            "vs just holding?",
            ["backtest a 50/200 crossover on IBM in 2010"],
            "backtest a 50/200 crossover on IBM in 2010",
        ),
        (
            "what about with momentum",
            ["backtest RSI on IBM for 2010 with 0.5% commission"],
            "backtest on IBM for 2010 with 0.5% commission: what about with momentum",
        ),
        ("y para MSFT", ["backtest RSI on IBM for 2010", "with momentum"], "backtest on MSFT for 2010: with momentum"),
        ("and with 1% costs?", ["backtest RSI on IBM for 2010"], "backtest RSI on IBM for 2010: and with 1% costs?"),
        ("sin costes?", ["backtest RSI on IBM in 2010 1% costs"], "backtest RSI on IBM in 2010: sin costes?"),
        ("¿ganó a comprar y mantener?", ["backtest RSI on IBM for 2010"], "backtest RSI on IBM for 2010"),
        ("and in 2009?", ["backtest RSI on IBM for 2010"], "backtest RSI on IBM: and in 2009?"),
        ("thanks", ["backtest RSI on IBM for 2010"], None),
        (
            "which of the two had the deeper drawdown?",
            ["How did MSFT do in 2006?", "and IBM?", "and over five years?"],
            "MSFT IBM over five years which of the two had the deeper drawdown?",
        ),
        ("and by Sharpe ratio", [ALL], "all stocks and by Sharpe ratio"),
        (
            "¿y cuántos días tardó en recuperarse?",
            ["¿Cuánto cayó Google en 2008?"],
            "GOOG ¿y cuántos días tardó en recuperarse? 2008-01-01 to 2008-12-31",
        ),
        (
            "¿y su beta frente a IBM en 2010?",
            ["correlación entre Apple y Google en 2010"],
            "AAPL GOOG ¿y su beta frente a IBM en 2010?",
        ),
        (
            "¿y con dividendos?",
            ["Compara IBM y MSFT en 2012"],
            "Compara IBM y MSFT en 2012 y con dividendos?",
        ),
        ("in euros?", ["market cap of AAPL"], "market cap of AAPL in euros?"),
        ("in euros?", ["hello"], None),
        ("and a year later?", ["How did IBM do in 2009?"], "How did IBM do: 2010-01-01 to 2010-12-31"),
        ("and what is a drawdown?", ["IBM in 2012?"], None),
        ("what about my dividends", ["How did IBM do in 2012?"], None),
    ],
)
def test_what_a_message_leaves_out_is_taken_from_those_before(text: str, before: list[str], whole: str | None) -> None:
    assert complete_question(text, before) == whole
