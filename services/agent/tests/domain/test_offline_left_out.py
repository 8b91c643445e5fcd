"""Words that a reading has no place for: dropped where it leans on what was said before, told elsewhere."""

import json
from datetime import date
from typing import Any, cast

import pytest

from agent.domain.analysis.relative_days import days_ago
from agent.domain.offline.assistant import respond
from agent.domain.offline.intents import wish_in
from agent.domain.offline.nearest_readings import covers_question, foreign_words
from agent.domain.offline.shorthand import spelled_out
from agent.domain.offline.step_results import SayText, UseTools
from agent.domain.offline.unread import has_effects
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import language_of
from agent.testing.offered import SCHEMAS


def read(text: str, *before: str) -> Wish:
    return wish_in(_spelled(text)[0], SCHEMAS, [one for said in before for one in _spelled(said)])


def _spelled(text: str) -> list[str]:
    return [spelled_out(text, language_of(text, "en"))]


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("can i trade on margin", "price of AAPL"),
        ("top 5 by market cap", "price of AAPL"),
        ("what happens if the market closes before it fills", "buy 3 IBM"),
    ],
)
def test_a_look_up_of_the_last_share_is_dropped_where_its_words_ask_for_something_else(text: str, before: str) -> None:
    assert not read(text, before).calls


@pytest.mark.parametrize(
    "text", ["and its margin?", "market cap", "what about the dividend yield", "¿y su capitalización?"]
)
def test_a_look_up_that_leans_on_the_last_share_is_read_where_they_do(text: str) -> None:
    assert read(text, "price of AAPL").calls == (("get_fundamentals", {"symbol": "AAPL"}),)


@pytest.mark.parametrize(
    ("tool", "text", "unread"),
    [
        ("get_pending_orders", "why did my order fail", ["fail"]),
        ("get_portfolio", "how green is my portfolio?", ["green"]),
        ("market_snapshot", "how did IBM perform against bonds last month?", ["against", "bonds"]),
        ("get_performance", "how did IBM do from 3 May 2012 to 5 June 2012", []),
        ("get_fundamentals", "does apple pay dividends?", []),
        ("get_fundamentals", "¿qué margen tiene la cafetería?", ["cafeteria"]),
        ("get_indicators", "and weekly?", ["weekly"]),
        ("get_news", "notisias de IBM", []),
        ("get_pending_orders", "yes", []),
        ("get_pending_orders", "sí, por favor", []),
    ],
)
def test_what_a_look_up_has_no_place_for_is_found(tool: str, text: str, unread: list[str]) -> None:
    assert foreign_words(tool, text) == unread


PAGE = "Position size: Quantity = capital × risk ÷ distance from entry to stop. [1] Not found: “poem”."


@pytest.mark.parametrize(
    ("question", "most"),
    [
        ("can you write a poem about stocks", False),
        ("what is the capital of France", False),
        ("what is the distance from my entry to the stop", True),
        ("and how much is it?", True),
        ("is this the true capital?", True),
    ],
)
def test_a_page_answers_only_a_question_whose_words_it_has(question: str, most: bool) -> None:
    assert covers_question(question, PAGE) is most


def _told(text: str, *looked_up: tuple[str, dict[str, Any]]) -> str:
    calls = [{"id": tool, "function": {"name": tool, "arguments": "{}"}} for tool, _ in looked_up]
    came = [{"role": "tool", "tool_call_id": tool, "content": json.dumps(body)} for tool, body in looked_up]
    asked = [{"role": "user", "content": text}, {"role": "assistant", "tool_calls": calls}, *came]
    answer = respond(asked, SCHEMAS, "en", introduced=True)
    assert isinstance(answer, SayText)
    return answer.text


def test_the_answer_names_what_it_left_out() -> None:
    portfolio: dict[str, Any] = {
        "cash": 5,
        "equity": 5,
        "currency": "USD",
        "as_of": "2012-09-06T20:00:00Z",
        "positions": [],
    }
    looked_up = ("get_portfolio", portfolio), ("get_pending_orders", cast("dict[str, Any]", {"orders": []}))
    assert "not taken “green” into account" in _told("how green is my portfolio?", *looked_up)
    assert "into account" not in _told("what is my portfolio worth?", *looked_up)


@pytest.mark.parametrize(("rsi", "verdict"), [(75.0, "above 70"), (25.0, "below 30"), (57.7, "between 30 and 70")])
def test_whether_a_share_is_overbought_is_said(rsi: float, verdict: str) -> None:
    body = {
        "symbol": "IBM",
        "timeframe": "1d",
        "indicators": {"RSI": {"value": rsi}},
        "as_of": "2012-09-06T20:00:00Z",
        "source": "s",
    }
    assert verdict in _told("is IBM overbought?", ("get_indicators", body))
    assert verdict not in _told("rsi of IBM?", ("get_indicators", body))


ASKED: list[tuple[tuple[str, ...], tuple[str, dict[str, Any]]]] = [
    (("rsi of apple", "now for google"), ("get_indicators", {"symbol": "GOOG", "indicators": ["RSI"]})),
    (("correlation of IBM and MSFT", "and with AAPL instead"), ("get_correlation", {"tickers": ["IBM", "AAPL"]})),
    (
        ("correlación entre IBM y MSFT", "¿y en los últimos 3 meses?"),
        ("get_correlation", {"tickers": ["IBM", "MSFT"], "period": "3m"}),
    ),
    (
        ("ibm vs msft over the past 5 years", "which had the bigger drawdown?"),
        ("get_performance", {"tickers": ["IBM", "MSFT"], "period": "5y"}),
    ),
    (("¿cuál es mi peor acción?", "¿y la mejor?"), ("get_portfolio", {})),
    (("what did I do today?",), ("get_trade_history", {})),
    (("¿para qué sirve el MACD?",), ("explain_concept", {"concept": "macd"})),
    (("turn off my AAPL alert",), ("delete_alert", {"symbol": "AAPL"})),
]


@pytest.mark.parametrize(("texts", "call"), ASKED)
def test_what_a_follow_up_or_question_asks_for(texts: tuple[str, ...], call: tuple[str, dict[str, Any]]) -> None:
    assert read(texts[-1], *texts[:-1]).calls == (call,)


def test_another_sum_is_counted_in_the_same_share() -> None:
    wish = read("and with 3000?", "how many shares of IBM can i buy with 2000")
    assert (wish.way, wish.amount) == ("affordable", 3000)


def test_of_all_shares_no_ranking_is_made() -> None:
    for text in (
        "show me the worst performers this week",
        "which stocks pay the highest dividend?",
        "top 5 by market cap",
    ):
        assert read(text, "price of IBM").intent is Intent.UNLISTED
    assert read("which of my stocks is the worst performer", "price of IBM").calls == (("get_portfolio", {}),)


def test_a_length_of_bars_that_a_tool_lacks_is_left_out() -> None:
    frames = {"enum": ["1h", "4h", "1d"]}
    schema = SCHEMAS["get_indicators"]
    offered = {**SCHEMAS, "get_indicators": {**schema, "properties": {**schema["properties"], "timeframe": frames}}}
    rsi = {"symbol": "IBM", "indicators": ["RSI"]}
    assert wish_in("weekly rsi of IBM", offered).calls == (("get_indicators", rsi),)
    assert wish_in("and weekly?", offered, ["rsi of IBM"]).calls == (("get_indicators", rsi),)
    assert wish_in("and hourly?", offered, ["rsi of IBM"]).calls == (("get_indicators", {**rsi, "timeframe": "1h"}),)


@pytest.mark.parametrize(
    ("text", "before", "of_a_day"),
    [
        ("price of IBM a year ago", [], True),
        ("¿y hace un año?", ["¿a cuánto está IBM?"], True),
        ("how did IBM do a year ago", [], False),
    ],
)
def test_a_price_so_long_ago_is_of_that_day(text: str, before: list[str], of_a_day: bool) -> None:
    said = [{"role": "user", "content": one} for one in [*before, text]]
    told = [said[0], {"role": "assistant", "content": "IBM: 195 USD"}, *said[1:]] if before else said
    answer = respond(told, SCHEMAS, "en", introduced=True, market={"current_time": "2012-09-06T20:00:00Z"})
    assert isinstance(answer, UseTools)
    assert (answer.calls[0][0] == "get_ohlcv") is of_a_day
    assert days_ago(text, date(2012, 9, 6)) is not None


@pytest.mark.parametrize(
    ("text", "quantity"), [("¿me compras 5 de MSFT?", 5), ("could you buy me 3 MSFT?", 3), ("adquiere 2 de MSFT", 2)]
)
def test_an_order_may_be_put_as_a_question(text: str, quantity: int) -> None:
    ((tool, order),) = read(text).calls
    assert (tool, order["side"], order["quantity"]) == ("create_paper_order", "buy", quantity)


@pytest.mark.parametrize(
    "text",
    [
        "would you buy 10 IBM?", "can you buy 0.5 IBM here?", "could you sell 5 MSFT if you were me?",
        "¿me compras 5 de MSFT o espero?", "tell me how to sell IBM", "i removed IBM from my watchlist",
        "alguien compró 5 millones de IBM", "my alert on IBM was turned off", "who turned off my AAPL alert?",
    ],
)  # fmt: skip
def test_what_only_looks_like_such_an_order_does_nothing(text: str) -> None:
    assert not has_effects(read(text))
    assert not has_effects(read(text, "buy 5 MSFT"))


@pytest.mark.parametrize("text", ["thats too many, 2", "wait that's too many, 2", "son muchas, 2"])
def test_the_right_figure_behind_too_many_changes_the_order(text: str) -> None:
    assert read(text, "buy 20 IBM").calls[0][1]["quantity"] == 2


def test_what_was_told_is_not_told_again_as_its_opposite() -> None:
    told = "IBM: mejor mes 35,4 % (octubre de 2002)."
    asked = [("user", "mejor mes de ibm"), ("assistant", told), ("user", "y el peor")]
    said = [{"role": role, "content": text} for role, text in asked]
    answer = respond(
        said, {name: item for name, item in SCHEMAS.items() if name != "fetch_page"}, "es", introduced=True
    )
    assert not (isinstance(answer, SayText) and "35,4" in answer.text)


def test_who_asks_who_tells_nothing_of_themselves() -> None:
    asked = [{"role": "user", "content": "who won the world cup"}]
    answer = respond(
        asked, {name: item for name, item in SCHEMAS.items() if name != "fetch_page"}, "en", introduced=True
    )
    assert isinstance(answer, SayText)
    assert "Thank you" not in answer.text


def test_another_term_behind_one_that_was_explained_is_looked_up() -> None:
    offered = {name: item for name, item in SCHEMAS.items() if name != "fetch_page"}
    said = [{"role": "user", "content": one} for one in ("define beta", "what about alpha")]
    told = [said[0], {"role": "assistant", "content": "Beta: …"}, said[1]]
    assert respond(told, offered, "en") == UseTools((("explain_concept", {"concept": "alpha"}),))
    for more in ("and premium?", "and how much is it per year?", "and per month?", "and can I pay by card?"):
        priced = [
            {"role": "user", "content": "what does the pro plan cost?"},
            told[1],
            {"role": "user", "content": more},
        ]
        assert not isinstance(respond(priced, offered, "en"), UseTools), more


def test_a_mistyped_word_does_not_stop_a_change() -> None:
    assert read("actualy make it 6", "buy 4 MSFT").calls[0][1]["quantity"] == 6


def test_a_question_about_a_kind_of_orders_is_answered_by_the_glossary() -> None:
    offered = {name: item for name, item in SCHEMAS.items() if name != "fetch_page"}
    asked = [{"role": "user", "content": "why would a limit order not get filled"}]
    assert respond(asked, offered, "en") == UseTools((("explain_concept", {"concept": "limit order"}),))


def test_also_so_many_at_another_price_is_one_more_order() -> None:
    wish = read("y también 5 a 215", "vende 5 IBM límite 210")
    ((_, order),) = wish.calls
    assert order == {"symbol": "IBM", "side": "sell", "quantity": 5.0, "order_type": "limit", "limit_price": 215.0}
    assert not has_effects(read("¿y también 5 a 215?", "precio de IBM"))
