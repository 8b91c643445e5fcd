"""What leans on what was said before, es and en: another order, the same of another ticker, what was missing."""

from typing import Any

import pytest

from agent.domain.offline.intents import Intent, wish_in
from agent.testing.offered import SCHEMAS

ORDER: dict[str, Any] = {"side": "buy", "order_type": "market"}
SIZE: dict[str, Any] = {"capital": 5000.0, "entry_price": 50.0, "stop_loss_price": 45.0, "risk_percent": 0.01}
FOLLOWED: list[tuple[tuple[str, ...], str, str, dict[str, Any]]] = [
    (
        ("buy 5 MSFT at limit 28", "make it 10"),
        "replace",
        "create_paper_order",
        {"symbol": "MSFT", "side": "buy", "quantity": 10.0, "order_type": "limit", "limit_price": 28.0},
    ),
    (("compra 5 MSFT", "mejor 3"), "replace", "create_paper_order", {"symbol": "MSFT", "quantity": 3.0, **ORDER}),
    (
        ("buy 5 MSFT", "limit 27 instead"),
        "replace",
        "create_paper_order",
        {"symbol": "MSFT", "side": "buy", "quantity": 5.0, "order_type": "limit", "limit_price": 27.0},
    ),
    (("compra 5 MSFT", "que sean 8"), "replace", "create_paper_order", {"symbol": "MSFT", "quantity": 8.0, **ORDER}),
    (("buy AAPL", "5"), "", "create_paper_order", {"symbol": "AAPL", "quantity": 5.0, **ORDER}),
    (("compra AAPL", "cinco"), "", "create_paper_order", {"symbol": "AAPL", "quantity": 5.0, **ORDER}),
    (("price of AAPL", "and IBM?"), "", "get_price", {"symbol": "IBM"}),
    (("RSI de AAPL", "¿y de IBM?"), "", "get_indicators", {"symbol": "IBM", "indicators": ["RSI"]}),
    (("price of AAPL", "any news?"), "", "get_news", {"symbol": "AAPL"}),
    (("precio de AAPL", "¿y su sentimiento?"), "", "get_sentiment", {"symbol": "AAPL"}),
    (
        ("how big should my position be", "capital 5000, entry 50, stop 45, risk 1%"),
        "",
        "calculate_position_size",
        SIZE,
    ),
    (("position size: capital 5000, entry 50", "stop 45 and 1 %"), "", "calculate_position_size", SIZE),
    (
        ("price of AAPL", "sell half"),
        "sell",
        "create_paper_order",
        {"symbol": "AAPL", "side": "sell", "order_type": "market", "share": 0.5},
    ),
    (("vende la mitad",), "sell", "create_paper_order", {"side": "sell", "order_type": "market", "share": 0.5}),
    (
        ("precio de AAPL", "pon un stop en 600"),
        "stop",
        "create_paper_order",
        {"symbol": "AAPL", "side": "sell", "order_type": "stop", "stop_price": 600.0, "share": 1.0},
    ),
    (("borra esa alerta",), "delete_alert", "delete_alert", {}),
    (("delete my AAPL alert",), "delete_alert", "delete_alert", {"symbol": "AAPL"}),
    (("avísame si MSFT baja de 20", "quítala"), "delete_alert", "delete_alert", {"symbol": "MSFT"}),
    (("which alerts do I have?", "remove that one"), "delete_alert", "delete_alert", {}),
    (("my open orders", "cancel the MSFT one"), "cancel", "cancel_paper_order", {"symbol": "MSFT"}),
    (
        ("buy 5 IBM at limit 150", "how did MSFT do in 2010?", "cancel the IBM one"),
        "cancel",
        "cancel_paper_order",
        {"symbol": "IBM"},
    ),
    (("compra 5 AAPL", "anula la de AAPL"), "cancel", "cancel_paper_order", {"symbol": "AAPL"}),
    (("cancela la orden de IBM",), "cancel", "cancel_paper_order", {"symbol": "IBM"}),
    (
        ("avísame si MSFT baja de 20", "¿y si pasa de 40?"),
        "",
        "create_alert",
        {"symbol": "MSFT", "condition": ">=", "price": 40.0},
    ),
    (
        ("¿qué tal MSFT?", "dime si pasa de 40"),
        "",
        "create_alert",
        {"symbol": "MSFT", "condition": ">=", "price": 40.0},
    ),
    (("¿qué es el PER?", "¿y cuál es el de MSFT?"), "", "get_fundamentals", {"symbol": "MSFT"}),
    (("my watchlist", "add IBM to it"), "", "add_to_watchlist", {"symbol": "IBM"}),
    (("mis alertas", "borra la de 40"), "delete_alert", "delete_alert", {"price": 40.0}),
    (("precio de AAPL", "y MSFT?", "compáralas"), "", "market_snapshot", {"tickers": ["AAPL", "MSFT"]}),
    (("price of IBM", "is it oversold?"), "", "get_indicators", {"symbol": "IBM", "indicators": ["RSI"]}),
    (
        ("tengo 5 mil, riesgo uno por ciento, entrada 50 y stop 45", "and if the stop is 48?"),
        "",
        "calculate_position_size",
        {**SIZE, "stop_loss_price": 48.0},
    ),
    (
        ("tengo AAPL a 640, pon un stop en 600",),
        "stop",
        "create_paper_order",
        {"symbol": "AAPL", "side": "sell", "order_type": "stop", "stop_price": 600.0, "share": 1.0},
    ),
    (("compra 4 IBM", "cancela eso"), "cancel", "cancel_paper_order", {"symbol": "IBM"}),
    (
        ("capital 5000, entry 50, stop 45, risk 1%", "risk reward with a target of 65?"),
        "",
        "calculate_risk_reward",
        {"entry_price": 50.0, "stop_loss_price": 45.0, "take_profit_price": 65.0},
    ),
]


@pytest.mark.parametrize(("said", "way", "tool", "arguments"), FOLLOWED)
def test_what_was_said_before_is_gone_on_with(
    said: tuple[str, ...], way: str, tool: str, arguments: dict[str, Any]
) -> None:
    wish = wish_in(said[-1], SCHEMAS, said[:-1])
    assert (wish.way, wish.calls) == (way, ((tool, arguments),))


@pytest.mark.parametrize(
    "said", [("a que hora cierra la bolsa?", "abre el lunes?"), ("is the market open?", "when does it close?")]
)
def test_what_follows_a_question_for_market_hours_is_one(said: tuple[str, ...]) -> None:
    assert wish_in(said[-1], SCHEMAS, said[:-1]).intent is Intent.MARKET
    assert wish_in(said[-1], SCHEMAS).intent is Intent.SITE


@pytest.mark.parametrize("text", ["how big should my position be?", "¿de qué tamaño debe ser mi posición?"])
def test_a_size_without_figures_is_asked_for_them_and_shows_no_portfolio(text: str) -> None:
    wish = wish_in(text, SCHEMAS)
    assert (wish.calls[0][0], len(wish.missing)) == ("calculate_position_size", 4)


def test_the_difference_of_two_concepts_is_both_explained() -> None:
    wish = wish_in("what is the difference between a market and a limit order?", SCHEMAS)
    assert [call[1]["concept"] for call in wish.calls] == ["market order", "limit order"]


@pytest.mark.parametrize(
    "text", ["how do I add an indicator to a chart?", "¿cómo se calcula el tamaño de una posición?"]
)
def test_how_something_is_done_is_asked_of_the_pages(text: str) -> None:
    assert wish_in(text, SCHEMAS).intent is Intent.SITE


def test_what_the_plan_costs_is_no_price_of_the_share_that_it_was_wanted_for() -> None:
    offered = {name: SCHEMAS[name] for name in ("get_price", "fetch_page")}
    assert wish_in("ok and what does that cost?", offered, ("buy 2 AAPL",)).intent is Intent.SITE
