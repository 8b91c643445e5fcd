"""What a short message changes of the request before it, and orders for several shares in one message."""

from typing import Any

import pytest

from agent.domain.offline.answers import plain_answer
from agent.domain.offline.assistant import respond
from agent.domain.offline.day_answers import market_now
from agent.domain.offline.intents import wish_in
from agent.domain.offline.small_talk import small_talk_in
from agent.domain.offline.step_results import UseTools
from agent.domain.offline.steps import next_step
from agent.domain.offline.wishes import Intent
from agent.testing.offered import SCHEMAS

ORDER: dict[str, Any] = {"symbol": "IBM", "side": "buy", "quantity": 10.0, "order_type": "market"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("limit 180", {"order_type": "limit", "limit_price": 180.0}),
        ("at 180", {"order_type": "limit", "limit_price": 180.0}),
        ("con límite 180", {"order_type": "limit", "limit_price": 180.0}),
        ("make it a stop order at 215", {"order_type": "stop", "stop_price": 215.0}),
        ("15 shares", {"quantity": 15.0}),
    ],
)
def test_a_figure_with_its_name_changes_the_order(change: str, expected: dict[str, Any]) -> None:
    wish = wish_in(change, SCHEMAS, ["buy 10 IBM"])
    assert (wish.way, wish.calls[0][1]) == ("replace", {**ORDER, **expected})


def test_a_figure_without_a_name_or_with_other_words_does_not() -> None:
    for said in ("15", "the limit of messages is 180?", "shares"):
        assert not wish_in(said, SCHEMAS, ["buy 10 IBM"]).calls


def test_an_alert_moves_to_another_price() -> None:
    before = ["alert me if IBM falls below 190"]
    assert wish_in("at 185", SCHEMAS, before).calls[0][1] == {"symbol": "IBM", "condition": "<=", "price": 185.0}
    assert wish_in("above 210", SCHEMAS, before).calls[0][1] == {"symbol": "IBM", "condition": ">=", "price": 210.0}


def test_the_order_turns_into_a_sale() -> None:
    wish = wish_in("no, sell instead", SCHEMAS, ["buy 10 IBM", "limit 180"])
    assert wish.calls[0][1] == {**ORDER, "side": "sell", "order_type": "limit", "limit_price": 180.0}


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("buy 3 shares of microsoft and 2 of apple", [("buy", 3, "MSFT"), ("buy", 2, "AAPL")]),
        ("compra 3 de microsoft y dos de apple", [("buy", 3, "MSFT"), ("buy", 2, "AAPL")]),
        ("sell 5 AAPL and buy 1,000 MSFT", [("sell", 5, "AAPL"), ("buy", 1000, "MSFT")]),
    ],
)
def test_a_message_that_names_several_shares_makes_an_order_of_each(text: str, orders: list[Any]) -> None:
    calls = [arguments for _, arguments in wish_in(text, SCHEMAS).calls]
    assert [(call["side"], call["quantity"], call["symbol"]) for call in calls] == orders


@pytest.mark.parametrize(
    "text", ["buy 5 AAPL and MSFT", "buy 3 AAPL instead of MSFT", "buy 10 AAPL and 5 more of IBM MSFT"]
)
def test_how_many_is_asked_where_it_is_not_said_of_each(text: str) -> None:
    assert wish_in(text, SCHEMAS).missing == ("quantity",)


@pytest.mark.parametrize("text", ["cuánto he ganado con apple", "how much have I made on MSFT?", "mis pérdidas"])
def test_what_somebody_has_gained_is_told_by_the_portfolio(text: str) -> None:
    assert wish_in(text, SCHEMAS).calls == (("get_portfolio", {}),)


def test_what_somebody_would_have_gained_is_not() -> None:
    assert not wish_in("how much would I have made with AAPL?", SCHEMAS).calls


@pytest.mark.parametrize(
    ("text", "tool", "expected"),
    [
        ("buy 20 IBM at 150 stop", "create_paper_order", {"stop_price": 150.0, "order_type": "stop"}),
        ("buy 20 IBM at 150 stop 140", "create_paper_order", {"limit_price": 150.0, "stop_price": 140.0}),
        ("remind me when IBM hits 200", "create_alert", {"price": 200.0}),
        ("risk if I buy IBM at 200, stop 180 and target 260", "calculate_risk_reward", {"take_profit_price": 260.0}),
    ],
)
def test_what_stands_beside_a_figure_says_what_it_is(text: str, tool: str, expected: dict[str, Any]) -> None:
    called, arguments = wish_in(text, SCHEMAS).calls[0]
    assert called == tool
    assert expected.items() <= arguments.items()


def test_its_figure_is_no_concept_and_forgetting_is_no_search() -> None:
    assert wish_in("what's its pe ratio", SCHEMAS, ["price of IBM?"]).calls == (
        ("get_fundamentals", {"symbol": "IBM"}),
    )
    assert not wish_in("olvida lo que te dije de las petroleras", SCHEMAS).calls
    assert wish_in("qué opinas, ¿compro apple?", SCHEMAS).intent is Intent.ADVICE
    assert wish_in("change the stop to 160", SCHEMAS, ["buy 20 IBM at 150 stop"]).calls[0][1]["stop_price"] == 160.0


def test_two_prices_are_two_alerts() -> None:
    calls = wish_in("alert me when apple goes over 700 or below 500", SCHEMAS).calls
    assert [(call["condition"], call["price"]) for _, call in calls] == [(">=", 700.0), ("<=", 500.0)]
    assert {call["symbol"] for _, call in calls} == {"AAPL"}


def test_all_orders_are_ended_and_not_only_those_of_what_was_spoken_of() -> None:
    wish = wish_in("cancela todas mis órdenes", SCHEMAS, ["compra 5 MSFT"])
    listed = {"orders": [{"order_id": name, "symbol": symbol} for name, symbol in (("a", "MSFT"), ("b", "IBM"))]}
    ended = next_step(wish, [("get_pending_orders", {}, listed)], "es")
    assert ended == UseTools(tuple(("cancel_paper_order", {"order_id": name}) for name in "ab"))
    one = wish_in("cancela mi orden", SCHEMAS, ["compra 5 MSFT"])
    assert next_step(one, [("get_pending_orders", {}, listed)], "es") == UseTools(
        (("cancel_paper_order", {"order_id": "a"}),)
    )


def test_another_kind_of_order_keeps_no_price_of_the_first() -> None:
    wish = wish_in("make that a stop order at 200", SCHEMAS, ["buy 10 IBM", "at 190"])
    assert wish.calls[0][1] == {**ORDER, "order_type": "stop", "stop_price": 200.0}


def test_what_was_asked_of_one_is_asked_of_another_as_it_was() -> None:
    wish = wish_in("y de msft?", SCHEMAS, ["rsi y macd de ibm"])
    assert wish.calls == (("get_indicators", {"symbol": "MSFT", "indicators": ["RSI", "MACD"]}),)
    both = wish_in("gráfico de las dos", SCHEMAS, ["precio de apple y de google"]).calls
    assert [one["symbol"] for _, one in both] == ["AAPL", "GOOG"]


def test_other_candles_show_the_same_stretch() -> None:
    wish = wish_in("weekly candles instead", SCHEMAS, ["chart of MSFT for the last 6 months"])
    assert wish.calls == (("get_ohlcv", {"symbol": "MSFT", "timeframe": "1w", "limit": 26}),)
    of_another = wish_in("weekly candles for FB", SCHEMAS, ["hourly chart of MSFT"])
    assert of_another.calls == (("get_ohlcv", {"symbol": "FB", "timeframe": "1w", "limit": 52}),)


def test_a_group_of_shares_is_asked_for_by_its_symbols() -> None:
    asked = "How did the tech stocks do this week?"
    text = plain_answer(wish_in(asked, SCHEMAS), "en")
    assert text == "I do not know which shares belong to “the tech stocks”. Tell me their symbols."
    wish = wish_in("AAPL and MSFT", SCHEMAS, [asked])
    assert (wish.calls, wish.missing) == ((("market_snapshot", {"tickers": ["AAPL", "MSFT"]}),), ())


def test_shorthand_is_read_as_words() -> None:
    said = respond([{"role": "user", "content": "q significa macd"}], SCHEMAS, "es")
    assert said == UseTools((("explain_concept", {"concept": "macd"}),))
    assert [small_talk_in(one) for one in ("holaaa", "graciasss", "byeee")] == [
        Intent.GREETING,
        Intent.THANKS,
        Intent.FAREWELL,
    ]


def test_the_market_tells_both_ends_of_its_next_session_and_of_no_other_day() -> None:
    state = {"status": "closed", "next_open": "2012-09-07T13:30:00Z", "next_close": "2012-09-07T20:00:00Z"}
    told = "The market is closed; opens on 7 September 2012, 13:30 UTC and closes on 7 September 2012, 20:00 UTC."
    assert market_now("what time does it close?", state, "en") == told
    said = market_now("is the market open on December 25?", state, "en")
    assert said is not None
    assert said.startswith("I do not know whether it opens on other days")
    assert said.endswith(told)


@pytest.mark.parametrize(
    ("said", "quantity"),
    [
        (("sell 10 IBM if it drops 5%",), 10.0),
        (("vende 10 IBM si cae un 5 %",), 10.0),
        (("sell 3 IBM, they are up 30%",), 3.0),
        (("sell 0% of IBM",), None),
        (("sell 200% of my IBM",), None),
        (("buy 4 IBM at 190", "100% less"), None),
    ],
)
def test_a_percentage_is_no_count_and_no_share_beside_one(said: tuple[str, ...], quantity: float | None) -> None:
    wish = wish_in(said[-1], SCHEMAS, said[:-1])
    assert wish.calls[0][1].get("quantity") == quantity
    assert wish.missing == (("quantity",) if quantity is None else ())


@pytest.mark.parametrize(
    ("said", "price"),
    [
        ("put a stop 5% below on my IBM", {"order_type": "stop", "stop_price": 190.0}),
        ("put a stop 10% below what i paid", {"order_type": "stop", "stop_price": 90.0}),
        ("take profit at 10%", {"order_type": "limit", "limit_price": 220.0}),
    ],
)
def test_a_stop_or_a_target_so_far_from_the_price_of_what_is_held(said: str, price: dict[str, Any]) -> None:
    held = {"positions": [{"symbol": "IBM", "quantity": 3.0, "price": 200.0, "average_price": 100.0}]}
    step = next_step(wish_in(said, SCHEMAS, ["price of IBM"]), [("get_portfolio", {}, held)], "en")
    order = {"symbol": "IBM", "side": "sell", "quantity": 3, **price}
    assert step == UseTools((("create_paper_order", order),))


@pytest.mark.parametrize("said", [("buy 10 IBM", "twice a week"), ("buy 4 IBM", "500 lower")])
def test_what_is_no_change_of_an_order_changes_none(said: tuple[str, ...]) -> None:
    assert wish_in(said[-1], SCHEMAS, said[:-1]).intent is not Intent.TOOL


def test_an_order_for_as_many_as_were_worked_out_is_asked_for_again_where_it_changes() -> None:
    before = ["capital 12000, risk 150 dollars, entry 31, stop 29.50", "buy that many MSFT"]
    assert wish_in("no, at market", SCHEMAS, before).intent is Intent.UNREAD


@pytest.mark.parametrize("said", ["leave it", "déjala", "forget it"])
def test_an_order_that_is_left_as_it_is_is_not_cancelled(said: str) -> None:
    assert wish_in(said, SCHEMAS, ["buy 5 IBM limit 190", "yes"]).intent is Intent.NOT_YET


@pytest.mark.parametrize(
    ("text", "before", "tool", "arguments"),
    [
        ("what does drawdown mean?", "how did IBM do in 2012?", "explain_concept", {"concept": "drawdown"}),
        ("¿qué significa volatilidad?", "¿cómo le fue a IBM en 2012?", "explain_concept", {"concept": "volatilidad"}),
        ("quita ese aviso", "avísame si Google baja de 650", "delete_alert", {"symbol": "GOOG"}),
        (
            "double it",
            "get me 15 IBM at 190 or better and notify me once it's filled",
            "create_paper_order",
            {"symbol": "IBM", "side": "buy", "quantity": 30, "order_type": "limit", "limit_price": 190},
        ),
    ],
)
def test_what_is_meant_after_what_was_said_before(text: str, before: str, tool: str, arguments: dict[str, Any]) -> None:
    assert wish_in(text, SCHEMAS, [before]).calls[0] == (tool, arguments)


@pytest.mark.parametrize(
    ("follow_up", "arguments", "missing"),
    [
        ("and AAPL above 150", {"symbol": "AAPL", "condition": ">=", "price": 150.0}, ()),
        ("and if it drops to 600?", {"condition": "<=", "price": 600.0}, ("symbol",)),
        ("y si baja a 600", {"condition": "<=", "price": 600.0}, ("symbol",)),
    ],
)
def test_an_alert_that_lacked_its_share_is_prepared_once_the_share_is_named(
    follow_up: str, arguments: dict[str, Any], missing: tuple[str, ...]
) -> None:
    wish = wish_in(follow_up, SCHEMAS, ["hello", "alert me when it hits 700"])
    assert (wish.calls, wish.missing) == ((("create_alert", arguments),), missing)


def test_what_a_prediction_is_based_on_is_another_plans() -> None:
    pro = {name: schema for name, schema in SCHEMAS.items() if name != "get_ml_features"}
    assert wish_in("why?", pro, ["will MSFT go up?"]).withheld == "get_ml_features"


def test_a_correlation_without_shares_has_no_other_time() -> None:
    assert wish_in("la última", SCHEMAS, ["Buenos días", "correlación entre las dos"]).calls == ()
