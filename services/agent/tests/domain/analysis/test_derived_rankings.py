"""Rankings and single days of derived figures in words: what begins later is told apart."""

import re
from typing import Any

import pytest

from agent.domain.analysis.derived import derived_text, requested_figures_text
from agent.domain.analysis.grammar import read_question
from contracts.languages import Language


def figure(ticker: str, name: str, value: float | None, asked: str, first: str = "2012-09-05") -> dict[str, Any]:
    head = {"ticker": ticker, "figure": name, "value": value, "from": first, "to": "2012-09-12", "asked": asked}
    return {**head, "on": None, "other": None, "currency": "USD"}


def test_stretches_that_do_not_begin_together_are_not_ranked() -> None:
    question = read_question("IBM vs MSFT since IPO", ("IBM", "MSFT"))
    begun = {"IBM": "2000-03-01", "MSFT": "2012-05-18"}
    given = [figure(name, "return", 0.5, "1900-01-01/", first) for name, first in begun.items()]
    findings = [{"ticker": one["ticker"], "derived": [one]} for one in given]
    said = derived_text(findings, "en")
    assert "highest first" not in said
    assert "They are not ranked, because their data does not begin on the same day: IBM 1 March 2000" in said
    assert question.calls[0].arguments == {"start": "1900-01-01"}
    each = requested_figures_text(findings, read_question("return of IBM vs MSFT since IPO", ("IBM", "MSFT")), "en")
    assert "IBM: return 50.0%" in each
    assert "MSFT: return 50.0%" in each


def test_tickers_that_begin_together_are_ranked_and_the_later_one_is_told_apart() -> None:
    begun = {"IBM": "2012-03-19", "FB": "2012-05-18", "MSFT": "2012-03-19"}
    given = [
        figure(name, "volatility", value, "6m", begun[name])
        for name, value in (("IBM", 0.167), ("FB", 0.656), ("MSFT", 0.211))
    ]
    findings = [{"ticker": one["ticker"], "derived": [one]} for one in given]
    question = read_question("rank IBM, FB and MSFT by volatility over the last 6 months", tuple(begun))
    said = requested_figures_text(findings, question, "en").splitlines()
    assert said[0].endswith("by annualised volatility, highest first: MSFT 21.1%, IBM 16.7%.")
    assert said[1] == (
        "Not ranked with them, because their data begin only on the day in brackets: FB 65.6% (18 May 2012)."
    )


def test_of_one_day_only_what_a_day_has_is_told() -> None:
    day = "2012-09-05/2012-09-05"
    values = {"return": 0.003, "max_drawdown": 0.0, "volatility": None, "high": 195.85, "low": 193.89}
    derived = [figure("IBM", name, value, day) for name, value in values.items()]
    said = derived_text([{"ticker": "IBM", "derived": derived}], "en")
    assert said.startswith("On 5 September 2012, IBM: return 0.3%; high USD 195.85")
    assert not re.search("drawdown|volatility", said)


@pytest.mark.parametrize(
    ("query", "language", "parts"),
    [
        (
            "rank the months of 2008 by return of IBM",
            "en",
            "From 2 January 2008 to 28 February 2008, IBM, by return, highest first: February 2008: 3.0%, "
            "January 2008: -2.0%.",
        ),
        (
            "IBM: months of 2008 sorted worst first",
            "en",
            "From 2 January 2008 to 28 February 2008, IBM, by return, lowest first: January 2008: -2.0%, "
            "February 2008: 3.0%.",
        ),
        (
            "ordena los meses de 2008 de IBM por rentabilidad",
            "es",
            "Del 2 de enero de 2008 al 28 de febrero de 2008, IBM, por rentabilidad, de mayor a menor: "
            "febrero de 2008: 3,0 %, enero de 2008: -2,0 %.",
        ),
    ],
)
def test_the_months_of_a_year_are_ranked_where_that_is_asked_for(query: str, language: Language, parts: str) -> None:
    figures = [
        figure("IBM", "month_return", value, f"2008-{month:02}-02/2008-{month:02}-28")
        for month, value in ((1, -0.02), (2, 0.03))
    ]
    question = read_question(query, ("IBM",))
    assert question.calls[0].arguments["every"] == "month"
    assert requested_figures_text([{"ticker": "IBM", "derived": figures}], question, language) == parts


@pytest.mark.parametrize(
    ("query", "order"),
    [
        (
            "which month of 2011 was the most volatile for IBM?",
            "highest first: February 2011: 30.0%, January 2011: 10.0%",
        ),
        ("¿cuál fue el mes más tranquilo de IBM en 2011?", "lowest first: January 2011: 10.0%, February 2011: 30.0%"),
    ],
)
def test_months_are_ranked_by_their_volatility(query: str, order: str) -> None:
    question = read_question(query, ("IBM",))
    assert (question.figures, question.calls[0].arguments["every"]) == (["month_volatility"], "month")
    assert question.calls[0].arguments["parts"] == "volatilities"
    values = {"2011-01-03/2011-01-31": 0.1, "2011-02-01/2011-02-28": 0.3}
    derived = [figure("IBM", "month_volatility", value, month) for month, value in values.items()]
    derived.append(figure("IBM", "volatility", 0.2, "2011-01-01/2011-12-31"))
    said = requested_figures_text([{"ticker": "IBM", "derived": derived}], question, "en")
    assert said.endswith(f"by annualised volatility, {order}.")


@pytest.mark.parametrize(
    "query",
    ["How much did IBM fall at most in 2008?", "what is the most IBM lost in 2008?", "lo máximo que cayó IBM en 2008"],
)
def test_the_most_that_it_fell_is_the_deepest_fall(query: str) -> None:
    assert read_question(query, ("IBM",)).figures == ["max_drawdown"]
