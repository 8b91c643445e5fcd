"""What people leave out of a question is read, and words with a letter wrong are told as what they were read as."""

from typing import Any

import pytest

from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.normalization import normalize
from agent.domain.analysis.wanted_calls import Question
from agent.domain.tickers import tickers_in


def read(query: str) -> Question:
    return read_question(query, tuple(tickers_in(normalize(query).text)))


def stretches(query: str) -> list[dict[str, Any]]:
    return [call.arguments for call in read(query).calls]


@pytest.mark.parametrize(
    ("query", "figures"),
    [
        ("IBM's worst week of 2009 and the best", ["worst_week", "best_week"]),
        ("¿Cuál fue el peor trimestre de IBM en 2010 y cuál el mejor?", ["worst_quarter", "best_quarter"]),
        ("Which month of 2010 did IBM fall the most?", ["worst_month"]),
        ("¿Qué semana de 2011 subió más IBM?", ["best_week"]),
        ("largest single-day gain of IBM in 2012", ["best_day"]),
        ("What share of IBM's sales is net income?", ["net_margin"]),
        ("How far did IBM fall from its peak to its low in 2002?", ["max_drawdown"]),
        ("¿Cuánto ha caído IBM desde su máximo de 2012?", ["current_drawdown"]),
        ("Has IBM's 50-day average gone above its 200-day one since 2011?", ["crossings"]),
        ("annualised return of IBM over five years, dividends reinvested", ["total_cagr"]),
        ("volumen medio diario de IBM en 2012", ["average_volume"]),
        ("What was IBM's lowest close ever?", ["lowest_close"]),
        ("How many shares of IBM would 5,000 dollars have bought in March 2009?", ["shares"]),
        ("What has been written about IBM?", ["news"]),
        ("¿Cuál fue la más rentable en 2011, IBM o MSFT?", ["return"]),
        (
            "What was IBM's best month in 2011 and how much did MSFT lose in its worst one",
            ["best_month", "return", "worst_month"],
        ),
        ("¿En qué trimestre de 2011 rindió más IBM?", ["best_quarter"]),
        ("Which quarter of 2011 did IBM do worst in?", ["worst_quarter"]),
        ("¿Cuántas sesiones seguidas subió IBM como máximo en 2012?", ["up_streak"]),
        ("retorno de IBM en 2011", ["return"]),
        ("which calendar year was best for IBM since 2000?", ["best_year"]),
        ("Did Apple outperform IBM in every quarter of 2011?", ["quarter_return"]),
        ("How long was MSFT below its March 2000 high?", ["drawdowns"]),
        ("¿Cuántos días estuvo IBM por debajo de su máximo?", ["drawdowns"]),
        ("AAPL 52 week range and where it stands in it", ["high", "low", "price"]),
        ("¿Cuándo presentó resultados IBM en 2012?", ["news"]),
        ("how many euros is one IBM share?", ["price"]),
        ("¿Cuánto ha bajado IBM desde su máximo y cuándo lo marcó?", ["current_drawdown", "high"]),
        ("Who gained more in 2009, Apple or IBM, and how much did each swing?", ["return", "volatility"]),
        ("Is Apple cheaper than IBM by P/E, and which one pays more?", ["pe", "dividend_yield"]),
        ("How many days did it take IBM to recover from its deepest fall of 2008?", ["drawdowns", "max_drawdown"]),
        ("A cuánto cotizaba IBM hace dos años y a cuánto cotiza hoy", ["base", "price"]),
    ],
)
def test_a_figure_is_read_out_of_what_people_say(query: str, figures: list[str]) -> None:
    found = read(query)
    assert (found.figures, found.unread) == (figures, [])


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("IBM's return in 2009 and 2010", [{"start": f"{y}-01-01", "end": f"{y}-12-31"} for y in (2009, 2010)]),
        ("did IBM ever close under 100 dollars in 2009", [{"start": "2009-01-01", "end": "2009-12-31"}]),
        (
            "weekly correlation of IBM and MSFT in 2012",
            [{"start": "2012-01-01", "end": "2012-12-31", "every": "week"}],
        ),
        (
            "correlación mensual de IBM y MSFT en 2012",
            [{"start": "2012-01-01", "end": "2012-12-31", "every": "month"}],
        ),
        (
            "how correlated were GOOG and MSFT week by week in 2009",
            [{"start": "2009-01-01", "end": "2009-12-31", "every": "week"}],
        ),
        (
            "Which was the better buy at the start of 2006, Apple or IBM, by the end of 2008?",
            [{"start": "2005-12-31", "end": "2008-12-31"}],
        ),
        (
            "As of the end of 2010, how far was MSFT below its all-time high?",
            [{"start": "1900-01-01", "end": "2010-12-31"}],
        ),
        ("IBM's return between 2009 and 2010", [{"start": "2009-01-01", "end": "2010-12-31"}]),
        ("IBM's volatility 2009-2010", [{"start": "2009-01-01", "end": "2010-12-31"}]),
        (
            "IBM's volatility in Q3 2011 against the fourth",
            [{"start": "2011-07-01", "end": "2011-09-30"}, {"start": "2011-10-01", "end": "2011-12-31"}],
        ),
        (
            "rentabilidad de IBM en el primer y segundo trimestre de 2011",
            [{"start": "2011-01-01", "end": "2011-03-31"}, {"start": "2011-04-01", "end": "2011-06-30"}],
        ),
        ("volatilidad de IBM a 3 y 5 años", [{"period": "3y"}, {"period": "5y"}]),
        ("¿cuánto ha subido IBM desde octubre?", [{"period": "since-10"}]),
        ("IBM's return since 15 November", [{"period": "since-11-15"}]),
        ("rentabilidad de IBM en lo que va de trimestre", [{"period": "qtd"}]),
        ("IBM's volatility as of 5 October 2012", [{"end": "2012-10-05", "period": "1y"}]),
        ("IBM's return since its IPO", [{"start": "1900-01-01"}]),
        ("volatilidad de IBM a fecha de 03/02/2012", [{"end": "2012-02-03", "period": "1y"}]),
        ("IBM's close on 02/03/2012", [{"start": "2012-02-03", "end": "2012-02-03"}]),
        ("How far below its record high is IBM today?", [{"start": "1900-01-01"}]),
        ("¿Cuál fue la mayor caída de IBM desde máximos en 2008?", [{"start": "2008-01-01", "end": "2008-12-31"}]),
        ("IBM cayó desde máximos en 2008", [{"start": "2008-01-01", "end": "2008-12-31"}]),
    ],
)
def test_a_stretch_is_read_out_of_what_people_say(query: str, arguments: list[dict[str, Any]]) -> None:
    assert stretches(query) == arguments


def test_buying_and_holding_is_no_rule_where_another_is_held_against_it() -> None:
    assert (
        stretches("Would a 20/100 average strategy have done better than buy and hold on IBM?")[0]["rule"]
        == "sma_cross"
    )
    own = stretches("backtest holding IBM above its 100-day average since 2010, 0.2% costs")[0]
    assert (own["fast"], own["slow"], own["cost_percent"]) == (1, 100, 0.2)


@pytest.mark.parametrize(
    ("query", "text", "spelt"),
    [
        ("netflx volatilty", "netflix volatility", (("netflx", "netflix"), ("volatilty", "volatility"))),
        (
            "¿Cómo va Amazzon desde otcubre?",
            "¿Cómo va amazon desde octubre?",
            (("Amazzon", "amazon"), ("otcubre", "octubre")),
        ),
        ("Do the averages of Intel cross, and who returned more?", None, ()),
        ("¿Cuál es la media de Apple, y cómo marcha?", None, ()),
    ],
)
def test_a_word_with_a_letter_wrong_is_read_and_told(query: str, text: str | None, spelt: tuple[Any, ...]) -> None:
    found = normalize(query)
    assert (found.text, found.spelt) == (text or query, spelt)
