"""Reads answers to "Do you mean …?", corrections of a time, what was sold, and says what it cannot reach."""

from datetime import date
from typing import Any

import pytest

from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.relative_days import with_past_days
from agent.domain.offline.assistant import respond
from agent.domain.offline.intents import wish_in
from agent.domain.offline.listed import chosen_reading
from agent.domain.offline.step_results import SayText, UseTools
from agent.testing.offered import SCHEMAS
from agent.texts import TEXTS
from contracts.knowledge import KnowledgeFound
from contracts.languages import Language

ASKED = "Do you mean “news about IBM” or “sentiment of IBM”? Say that, or say it in other words."


@pytest.mark.parametrize(
    ("text", "reading"),
    [("the first one", "news about IBM"), ("the second", "sentiment of IBM"), ("2", "sentiment of IBM"),
     ("the third", None), ("delete the first", None), ("price of IBM", None), ("yes", None)],
)  # fmt: skip
def test_a_reading_is_chosen_by_its_place(text: str, reading: str | None) -> None:
    assert chosen_reading(text, ASKED) == reading


def test_the_chosen_reading_is_answered_and_gone_on_with() -> None:
    talk = [{"role": "user", "content": "buzz"}, {"role": "assistant", "content": ASKED}]
    chosen = [*talk, {"role": "user", "content": "the first one"}]
    response = respond(chosen, SCHEMAS, "en")
    assert isinstance(response, UseTools)
    assert response.calls == (("get_news", {"symbol": "IBM"}),)
    after = [*chosen, {"role": "assistant", "content": "News about IBM:"}, {"role": "user", "content": "and msft?"}]
    response = respond(after, SCHEMAS, "en")
    assert isinstance(response, UseTools)
    assert response.calls == (("get_news", {"symbol": "MSFT"}),)


@pytest.mark.parametrize("text", ["IBM price", "my portfolio", "buy 3 IBM"])
def test_a_customer_without_any_tools_hears_that_they_cannot_be_reached(text: str) -> None:
    said = respond([{"role": "user", "content": text}], {}, "en", plan="free", knowledge=KnowledgeFound())
    assert isinstance(said, SayText)
    assert TEXTS["offline.tools_away"].in_language("en") in said.text


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("since Christmas", "since 2011-12-25"), ("desde navidad", "desde 2011-12-25"),
        ("on new year's eve", "on 2011-12-31"), ("in march", "in march 2012"), ("en octubre", "en octubre 2011"),
        ("in march 2009", "in march 2009"), ("in the second quarter", "in Q2 2012"), ("q4 return", "Q4 2011 return"),
        ("y el trimestre pasado?", "y Q2 2012?"), ("second quarter of 2009", "second quarter of 2009"),
        ("feliz navidad", "feliz navidad"),
    ],
)  # fmt: skip
def test_holidays_and_months_are_the_last_ones(text: str, dated: str) -> None:
    assert with_past_days(text, date(2012, 9, 6)) == dated


@pytest.mark.parametrize(
    "query",
    ["how many days in a row has msft been down?", "how long has MSFT been going up", "MSFT's current streak",
     "cuantos dias lleva subiendo MSFT", "¿cuántos días seguidos lleva bajando MSFT?"],
)  # fmt: skip
def test_a_run_until_now_is_not_the_longest_one(query: str) -> None:
    assert read_question(query, ("MSFT",)).figures == ["current_streak"]


def test_a_close_on_the_first_day_and_a_line_of_days_are_read() -> None:
    assert read_question("what did fb close at on its first day", ("FB",)).figures == ["base"]
    assert read_question("is ibm above its 50 day line", ("IBM",)).figures == ["averages"]


BOTH = ["price of AAPL", "is that better than msft"]


@pytest.mark.parametrize(
    ("text", "before", "tool", "arguments"),
    [
        ("no i meant since january", BOTH, "get_performance", {"tickers": ["AAPL", "MSFT"], "period": "since-01"}),
        ("what's its highest close in that time", [*BOTH, "and since january?"], "get_performance",
         {"tickers": ["AAPL", "MSFT"], "period": "since-01"}),
        ("i sold 3 fb yesterday, did it go through?", [], "get_trade_history", {"symbol": "FB"}),
        ("get rid of the google one", ["alert me when google drops to 600", "my alerts"], "delete_alert",
         {"symbol": "GOOG"}),
        ("what if i risk 150 dollars instead", ["8000 capital, 2% risk, entry 30, stop 29"],
         "calculate_position_size", {"risk_percent": 150 / 8000}),
        ("mejor avisame nada mas", ["compra 10 ibm si baja de 190"], "create_alert",
         {"symbol": "IBM", "condition": "<=", "price": 190.0}),
        ("what moved microsoft", [], "get_news", {"symbol": "MSFT"}),
        ("cual es mi peor accion", ["RSI de IBM"], "get_portfolio", {}),
        ("anything waiting to be filled?", [], "get_pending_orders", {}),
        ("cual fue su mejor dia", ["price of IBM"], "get_performance", {"tickers": ["IBM"], "period": "1y"}),
        ("y ordenes?", [], "get_pending_orders", {}),
        ("rsi of fb on 2012-09-05", [], "get_indicators", {"end": "2012-09-05"}),
        ("espera, cancelalo", ["compra 2 AAPL"], "cancel_paper_order", {}),
    ],
)  # fmt: skip
def test_a_follow_up_is_of_what_was_spoken_of(
    text: str, before: list[str], tool: str, arguments: dict[str, Any]
) -> None:
    wish = wish_in(text, SCHEMAS, before)
    assert wish.calls[0][0] == tool
    assert arguments.items() <= wish.calls[0][1].items()


def test_what_was_not_read_of_a_look_up_is_said() -> None:
    call = {"id": "1", "function": {"name": "list_alerts", "arguments": "{}"}}
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "which of my alerts have fired?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": '{"alerts": []}'},
    ]
    said = respond(talk, SCHEMAS, "en")
    assert isinstance(said, SayText)
    assert "“fired”" in said.text


@pytest.mark.parametrize("text", ["price of ibm on friday", "desde navidad como le va a apple"])
def test_a_day_is_not_taken_for_today_where_the_market_cannot_be_asked(text: str) -> None:
    said = respond([{"role": "user", "content": text}], SCHEMAS, "en")
    assert isinstance(said, SayText)
    assert any(value in said.text for value in TEXTS["offline.talk.no_day"].by_language.values())


@pytest.mark.parametrize(
    "text",
    ["what am I allergic to?", "where do I live?", "how many kids do I have?", "What is my dog's name?", "do I smoke?",
     "what did my father do?", "¿a qué soy alérgico?", "¿cuántos hijos tengo?", "¿cuándo me jubilo?", "¿fumo?"],
)  # fmt: skip
def test_a_customers_question_about_themselves_that_nothing_answers_is_said_not_to_have_been_told(text: str) -> None:
    talk = [{"role": "user", "content": said} for said in ("price of IBM", text)]
    talk.insert(1, {"role": "assistant", "content": "IBM: 200 USD"})
    said = respond(talk, SCHEMAS, text_language(text), knowledge=KnowledgeFound(documents=1))
    assert isinstance(said, SayText)
    assert TEXTS["offline.not_told"].in_language(text_language(text)) in said.text


@pytest.mark.parametrize("text", ["how do I delete my account?", "should I sell my shares?", "can you tell me more?"])
def test_a_question_for_a_way_or_for_advice_is_not_one_about_oneself(text: str) -> None:
    said = respond([{"role": "user", "content": text}], SCHEMAS, "en", knowledge=KnowledgeFound(documents=1))
    assert not (isinstance(said, SayText) and TEXTS["offline.not_told"].in_language("en") in said.text)


def text_language(text: str) -> Language:
    return "es" if "¿" in text else "en"
