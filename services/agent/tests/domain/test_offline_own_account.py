"""What customers ask in words that no phrase of the grammar has: their account, a share by its name alone, a moment."""

import re

import pytest

from agent.domain.offline.answers import answer_from
from agent.domain.offline.assistant import respond
from agent.domain.offline.intents import wish_in
from agent.domain.offline.step_results import SayText
from agent.domain.offline.wishes import Intent
from agent.domain.shortcuts.memory_words import memory_wish
from agent.testing.offered import SCHEMAS
from agent.texts import TEXTS


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("how's my account doing", "get_portfolio"),
        ("¿cómo va mi cuenta?", "get_portfolio"),
        ("cuánto llevo invertido", "get_portfolio"),
        ("what shares have I got", "get_portfolio"),
        ("how am I doing?", "get_portfolio"),
        ("anything pending?", "get_pending_orders"),
        ("¿se ha ejecutado mi compra?", "get_portfolio"),
        ("when did I buy IBM", "get_trade_history"),
        ("what's up with IBM", "get_price"),
        ("cuéntame qué hay de IBM", "get_price"),
        ("did IBM go up today", "get_price"),
        ("which is cheaper, IBM or MSFT", "get_fundamentals"),
        ("IBM o MSFT, ¿cuál es mejor?", "market_snapshot"),
        ("ponme un aviso si IBM cruza los 25", "create_alert"),
        ("dame un toque si IBM llega a 220", "create_alert"),
        ("quiero 3 acciones de IBM", "create_paper_order"),
        ("RSI", "explain_concept"),
        ("what's my buying power left", "get_portfolio"),
        ("¿y en efectivo?", "get_portfolio"),
        ("qué porcentaje tengo en IBM", "get_portfolio"),
        ("what did I pay for IBM", "get_trade_history"),
        ("what did that cost me in total?", "get_trade_history"),
        ("¿Cuánto me ha costado?", "get_trade_history"),
        ("why is IBM going down", "get_news"),
        ("cancel everything that's open", "cancel_paper_order"),
        ("cuánto cuestan IBM y MSFT", "get_price"),
        ("apúntame IBM en favoritos", "add_to_watchlist"),
    ],
)
def test_a_tool_is_asked_for_in_any_words(text: str, tool: str) -> None:
    assert wish_in(text, SCHEMAS).calls[0][0] == tool


@pytest.mark.parametrize(
    "text",
    [
        "what happens with my order when the market closes",
        "which stocks can I trade here",
        "give me 3 stocks to watch",
        "what does an order cost?",
        "what is the fee per order?",
        "what does a bond cost?",
        "¿qué comisión tiene una orden?",
    ],
)
def test_a_question_about_how_it_works_is_for_the_pages(text: str) -> None:
    assert wish_in(text, SCHEMAS, ["price of IBM"]).intent is Intent.SITE


def test_a_purchase_of_nothing_named_is_asked_of_what() -> None:
    assert wish_in("buy 5", SCHEMAS).missing == ("symbol",)
    assert wish_in("ibm", SCHEMAS, ["buy 5"]).calls[0][1]["symbol"] == "IBM"


@pytest.mark.parametrize("text", ["no wait", "espera un segundo", "hold on", "nada, déjalo"])
def test_who_wants_a_moment_is_given_it(text: str) -> None:
    assert wish_in(text, SCHEMAS, ["sell half of it"]).intent is Intent.FINE


def test_a_day_that_was_asked_for_is_told_and_never_the_span_around_it() -> None:
    bar = {"time": "2012-10-05T20:00:00Z", "open": 665.2, "high": 666.0, "low": 651.28, "close": 652.59}
    other = {**bar, "time": "2012-10-08T20:00:00Z", "close": 638.17}
    body = {"symbol": "AAPL", "source": "sample", "as_of": "2012-10-08T20:00:00Z", "bars": [bar, other]}
    asked = answer_from("get_ohlcv", {"symbol": "AAPL"}, body, "AAPL's price on 5 October 2012", "en")
    assert "652.59" in asked
    assert "638.17" not in asked
    between = answer_from("get_ohlcv", {}, body, "AAPL on 6 October 2012", "en")
    assert "no session of 6 October 2012; the last one before it, on 5 October 2012, closed at 652.59" in between
    assert "638.17" not in between
    assert "no AAPL figures for 4 October 2012" in answer_from("get_ohlcv", {}, body, "AAPL on 4 October 2012", "en")


@pytest.mark.parametrize(("tool", "unknown"), [("get_price", False), ("create_alert", True)])
def test_only_of_what_changes_something_it_is_said_that_it_may_have_been_done(tool: str, unknown: bool) -> None:
    error = {"error": {"code": "UNKNOWN_OUTCOME", "message": "interrupted"}}
    assert ("whether it was done" in answer_from(tool, {"symbol": "AAPL"}, error, "AAPL", "en")) is unknown


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("show me everything I've bought so far", "get_trade_history"),
        ("did that sale make me any money?", "get_trade_history"),
        ("¿gané algo?", "get_trade_history"),
        ("how many orders are waiting?", "get_pending_orders"),
        ("am I still being alerted about anything?", "list_alerts"),
        ("añade msft a mis favoritas", "add_to_watchlist"),
        ("qué tengo en favoritas", "get_watchlist"),
    ],
)
def test_what_was_done_and_waits_is_asked_for_in_everyday_words(text: str, tool: str) -> None:
    assert wish_in(text, SCHEMAS).calls[0][0] == tool


def test_the_gain_of_another_position_is_asked_for_by_its_name() -> None:
    asked = ["what's my profit on apple", "and on google?"]
    wish = wish_in("y con IBM", SCHEMAS, asked)
    assert (wish.way, wish.words) == ("portfolio", "profit y con IBM")
    assert wish_in("and on google?", SCHEMAS, ["price of apple"]).calls == (("get_price", {"symbol": "GOOG"}),)


def test_the_other_of_two_is_not_guessed_after_one_was_chosen_by_its_place() -> None:
    alerts = ["alert me when MSFT drops under 25", "and another for AAPL over 850"]
    assert wish_in("get rid of the other one", SCHEMAS, alerts).calls[0][1]["symbol"] == "MSFT"
    for chosen in ("make the first one 20", "make the second one 860", "delete the first one"):
        assert wish_in("get rid of the other one", SCHEMAS, [*alerts, chosen]).calls[0][1] == {}
        assert wish_in("make the other one 30", SCHEMAS, [*alerts, chosen]).calls[1] == ("delete_alert", {})
    assert wish_in("remove them all", SCHEMAS, [*alerts, "get rid of the other one"]).way == "delete_alert"
    other = wish_in("pon la otra en 175", SCHEMAS, ["avísame si AAPL pasa de 840", "mis alertas", "borra la primera"])
    assert (other.way, other.calls[0]) == ("replace_listed", ("create_alert", {"price": 175.0}))


@pytest.mark.parametrize("text", ["si adelante", "go ahead", "ok hazlo", "place it"])
def test_a_yes_long_after_an_order_shows_what_waits_for_it(text: str) -> None:
    said = ["compra 15 IBM a 170", "mejor a 165", "¿está abierta la bolsa?", "¿y mañana?"]
    assert wish_in(text, SCHEMAS, said).calls == (("get_pending_orders", {}),)


def test_a_no_long_after_an_order_says_how_to_cancel_it() -> None:
    assert wish_in("no thanks, drop it", SCHEMAS, ["buy 3 IBM", "what about MSFT?"]).intent is Intent.NOT_YET


@pytest.mark.parametrize("text", ["1", "the first one please", "la primera"])
def test_an_order_chosen_without_a_yes_is_asked_about_and_not_placed(text: str) -> None:
    which = {"role": "assistant", "content": TEXTS["step.which"].in_language("en") + "\n1. Buy 3 AAPL\n2. Buy 3 GOOG"}
    messages = [{"role": "user", "content": "the first one yes"}, which, {"role": "user", "content": text}]
    answer = respond(messages, SCHEMAS, "en", introduced=True)
    assert isinstance(answer, SayText)
    assert re.search(r"“yes to 1”|«sí a la 1»", answer.text)


def test_a_change_after_the_orders_were_listed_is_no_question_for_figures() -> None:
    assert wish_in("move it up to 190", SCHEMAS, ["buy 3 IBM limit 180", "my orders"]).way == "replace_listed"
    assert wish_in("did IBM move up to 190?", SCHEMAS).calls[0][0] == "market_snapshot"


def test_a_question_back_before_a_request_is_left_out() -> None:
    stop = "put in a stop order to sell 5 IBM at 180"
    wish = wish_in("I don't own any? then buy 20 of them at market", SCHEMAS, [stop])
    assert wish.calls[0][1] == {"quantity": 20, "symbol": "IBM", "side": "buy", "order_type": "market"}


@pytest.mark.parametrize(
    ("text", "tool", "way"),
    [
        ("shift the ibm one to 255", "create_alert", "replace_listed"),
        ("move the apple one to 910", "create_alert", "replace_listed"),
        ("pasa la de ibm a 255", "create_alert", "replace_listed"),
        ("was it deleted?", "list_alerts", ""),
        ("and one for MSFT at 30", "create_alert", ""),
    ],
)
def test_one_of_several_alerts_is_changed_and_not_doubled(text: str, tool: str, way: str) -> None:
    wish = wish_in(text, SCHEMAS, ["alert me when IBM passes 260", "same for apple at 900"])
    assert (wish.calls[0][0], wish.way) == (tool, way)


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        (["buy 3 IBM", "what would the whole thing come to?"], "get_price"),
        (["buy 3 IBM", "list what's still waiting"], "get_portfolio"),
        (["compra 3 IBM", "anúlalo todo", "¿seguro que no queda nada?"], "get_portfolio"),
        (["add ibm to my watchlist", "anything else on that list?"], "get_watchlist"),
        (["add ibm to my watchlist", "drop it again"], "remove_from_watchlist"),
        (["buy 3 IBM", "eh, make that 9 shares"], "create_paper_order"),
    ],
)
def test_what_was_done_last_is_asked_about_and_changed_in_everyday_words(said: list[str], tool: str) -> None:
    assert wish_in(said[-1], SCHEMAS, said[:-1]).calls[0][0] == tool


def test_the_price_of_a_plan_that_was_named_for_a_tool_is_no_share_price() -> None:
    free = {name: schema for name, schema in SCHEMAS.items() if name != "create_paper_order"}
    said = ["sell 3 msft", "so which plan do i need for that"]
    assert wish_in("and how much is it a month", free, said).calls == ()


@pytest.mark.parametrize("text", ["note that I only trade on fridays", "apunta que mi broker se llama Lucas"])
def test_a_note_is_asked_for_in_everyday_words(text: str) -> None:
    assert (wish := memory_wish(text)) is not None
    assert wish.kind == "remember"
