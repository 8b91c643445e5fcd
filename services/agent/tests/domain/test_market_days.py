"""Which day a question about the market's hours is about, and how its hours are told."""

import json
from datetime import date
from typing import Any

import pytest

from agent.domain.offline.answers import answer_from
from agent.domain.offline.assistant import respond
from agent.domain.offline.market_days import day_in
from agent.domain.offline.step_results import SayText, UseTools
from agent.domain.offline.tool_answers import tool_answer
from agent.domain.text_features import plain
from agent.testing.offered import SCHEMAS

FRIDAY = date(2012, 9, 7)
MARKET: dict[str, Any] = {"status": "after_hours", "current_time": "2012-09-07T20:30:00+00:00", "upcoming_events": []}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("does the market open tomorrow?", "2012-09-08"),
        ("¿abre la bolsa pasado mañana?", "2012-09-09"),
        ("is it open on Monday", "2012-09-10"),
        ("el viernes a qué hora cierra", "2012-09-07"),
        ("did the market open last Wednesday?", "2012-09-05"),
        ("is it open on Thanksgiving?", "2012-11-22"),
        ("and on Black Friday", "2012-11-23"),
        ("¿abre en Navidad?", "2012-12-25"),
        ("is the market open on labor day", "2013-09-02"),
        ("was the market open on Labor Day", "2012-09-03"),
        ("viernes santo de 2012", "2012-04-06"),
        ("is it open on Good Friday", "2013-03-29"),
        ("Memorial Day 2010", "2010-05-31"),
        ("y el 1 de noviembre", "2012-11-01"),
        ("on July 4th", "2013-07-04"),
        ("24 December 2012", "2012-12-24"),
        ("por la mañana", None),
        ("is the market open now?", None),
        ("30 de febrero", None),
    ],
)
def test_the_day_is_read(text: str, day: str | None) -> None:
    assert day_in(plain(text), FRIDAY) == (day and date.fromisoformat(day))


def test_without_what_day_it_is_the_hours_are_looked_up_all_the_same() -> None:
    """The context of a customer may be away, and slow memory is not waited for."""
    for text, arguments in (
        ("¿abre la bolsa el 24 de diciembre de 2012?", {"day": "2012-12-24"}),
        ("is the market open?", {}),
    ):
        found = respond([{"role": "user", "content": text}], SCHEMAS, "en", plan="free", introduced=True)
        assert found == UseTools((("get_market_hours", arguments),))


SOURCED = {"source": "sample", "as_of": "2012-09-07T12:00:00Z"}


def test_todays_hours_tell_a_visitor_which_day_tomorrow_is() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "¿a qué hora abre la bolsa mañana?"}]
    looked_up: list[tuple[dict[str, str], str | None]] = [({}, "2012-09-07T13:30:00Z"), ({"day": "2012-09-08"}, None)]
    for at, (arguments, opens) in enumerate(looked_up):
        response = respond(messages, SCHEMAS, "es", introduced=True)
        assert response == UseTools((("get_market_hours", arguments),))
        call = {"id": f"c{at}", "function": {"name": "get_market_hours", "arguments": json.dumps(arguments)}}
        day = arguments.get("day", "2012-09-07")
        body = {"day": day, "opens": opens, "closes": opens and "2012-09-07T20:00:00Z", "next_day": "2012-09-10"}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{at}", "content": json.dumps(body | SOURCED)},
        ]
    response = respond(messages, SCHEMAS, "es", introduced=True)
    assert isinstance(response, SayText)
    assert response.text.startswith("El sábado, 8 de septiembre de 2012 la bolsa no abre.")
    assert "7 de septiembre" not in response.text


@pytest.mark.parametrize(
    "question", ["¿qué acción sube más hoy?", "¿cómo va la bolsa?", "how is the market doing today?"]
)
def test_a_visitor_who_asks_how_all_shares_do_after_the_hours_is_not_told_the_hours_again(question: str) -> None:
    messages = [
        {"role": "user", "content": "¿a qué hora abre la bolsa mañana?"},
        {"role": "assistant", "content": "El jueves abre a las 13:30 UTC."},
        {"role": "user", "content": question},
    ]
    visitors = {name: SCHEMAS[name] for name in ("get_price", "get_market_hours", "fetch_page")}
    response = respond(messages, visitors, "es", introduced=True)
    assert isinstance(response, SayText)
    assert "No tengo una lista" in response.text or "no list" in response.text


def asked(*said: str) -> SayText | UseTools:
    messages: list[dict[str, Any]] = []
    for one in said[:-1]:
        messages += [{"role": "user", "content": one}, {"role": "assistant", "content": "The market is closed."}]
    messages.append({"role": "user", "content": said[-1]})
    return respond(messages, SCHEMAS, "en", market=MARKET, plan="free", introduced=True)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        (("a qué hora abre la bolsa mañana",), "2012-09-08"),
        (("can I trade on Christmas Eve?",), "2012-12-24"),
        (("is the market open right now?", "will it be open on Thanksgiving?"), "2012-11-22"),
        (("is the market open?", "what about 24 December 2012", "what time does it close today"), "2012-09-07"),
        (("is the market open on Thanksgiving?", "and the day after?"), "2012-11-23"),
        (("¿cuándo abre la bolsa?", "¿y el 23 de noviembre a qué hora cierra?"), "2012-11-23"),
    ],
)
def test_the_hours_of_a_day_are_looked_up(said: tuple[str, ...], day: str) -> None:
    assert asked(*said) == UseTools((("get_market_hours", {"day": day}),))


@pytest.mark.parametrize(
    "said",
    [
        "what holidays are coming up", "¿qué festivos vienen?", "when is the next market holiday?",
        "which days is the market closed this year?", "¿qué días cierra la bolsa?", "are there any holidays left?",
    ],
)  # fmt: skip
def test_the_next_holidays_are_looked_up(said: str) -> None:
    assert asked(said) == UseTools((("get_market_hours", {}),))


def test_the_next_holidays_are_told() -> None:
    body = {"source": "sample", "holidays": [{"day": "2012-11-22", "closes": None},
                                             {"day": "2012-11-23", "closes": "2012-11-23T18:00:00Z"}]}  # fmt: skip
    assert answer_from("get_market_hours", {}, body, "what holidays are coming up", "en") == (
        "The market's next holidays (source: sample):\n- Thursday, 22 November 2012: closed\n"
        "- Friday, 23 November 2012: closes early, at 18:00 UTC"
    )


@pytest.mark.parametrize(
    "said",
    [
        ("can I trade on the free plan?",),
        ("is the market open?", "at what time can I call your support on Friday?"),
        ("is the market open?", "how did IBM close on Friday"),
    ],
)
def test_other_hours_are_not_the_markets(said: tuple[str, ...]) -> None:
    response = asked(*said)
    assert not isinstance(response, UseTools) or response.calls[0][0] != "get_market_hours"


def test_the_hours_are_told_with_the_day_and_the_source() -> None:
    body = {"day": "2012-12-24", "opens": "2012-12-24T14:30:00Z", "closes": "2012-12-24T18:00:00Z", "early_close": True,
            "next_day": "2012-12-26", "source": "sample", "as_of": "2012-12-21T20:00:00Z"}  # fmt: skip
    assert tool_answer("get_market_hours", body, "en") == (
        "On Monday, 24 December 2012 the market closes early: it opens at 14:30 UTC and closes at 18:00 UTC "
        "(source: sample)."
    )
    now = tool_answer("get_market_hours", {**body, "as_of": "2012-12-24T14:30:00Z"}, "en")
    assert now == f"The market is open. {tool_answer('get_market_hours', body, 'en')}"
    late = tool_answer("get_market_hours", {**body, "as_of": "2012-12-24T18:00:00Z"}, "es")
    assert late.startswith("El mercado está cerrado. El lunes")
    closed = {**body, "day": "2012-12-25", "opens": None, "closes": None, "early_close": False}
    assert tool_answer("get_market_hours", closed, "es") == (
        "El martes, 25 de diciembre de 2012 la bolsa no abre. La próxima sesión es el miércoles, 26 de diciembre de "
        "2012 (fuente: sample)."
    )
