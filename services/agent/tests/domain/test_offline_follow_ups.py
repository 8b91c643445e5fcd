"""What leans on what was said before, es and en: another order, the same of another ticker, what was missing."""

from typing import Any

import pytest

from agent.domain.offline.intents import wish_in
from agent.domain.offline.wishes import Intent
from agent.testing.offered import SCHEMAS

ORDER: dict[str, Any] = {"side": "buy", "order_type": "market"}
SIZE: dict[str, Any] = {"capital": 5000.0, "entry_price": 50.0, "stop_loss_price": 45.0, "risk_percent": 0.01}
SELLS: dict[str, Any] = {"symbol": "IBM", "side": "sell", "order_type": "market"}
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
    (("is IBM overbought?", "goog?"), "", "get_indicators", {"symbol": "GOOG", "indicators": ["RSI"]}),
    (("precio de Apple", "y en todo el mes"), "", "get_performance", {"tickers": ["AAPL"], "period": "1m"}),
    (
        ("how did IBM do in September 2012", "cool, and the month after"),
        "",
        "get_performance",
        {"tickers": ["IBM"], "start": "2012-10-01", "end": "2012-10-31"},
    ),
    (
        ("tell me if FB drops 10% from here", "bump it down to 15 bucks"),
        "replace_listed",
        "create_alert",
        {"price": 15.0},
    ),
    (("tell me if FB drops 10% from here", "ok bin it"), "delete_alert", "delete_alert", {"symbol": "FB"}),
    (
        ("give me the low and high for GOOG since june", "what's the biggest fall it had"),
        "",
        "get_performance",
        {"tickers": ["GOOG"], "period": "since-06"},
    ),
    (("price of IBM", "volatility?"), "", "get_performance", {"tickers": ["IBM"], "period": "1y"}),
    (("am I up or down on IBM", "and overall"), "portfolio", "get_portfolio", {}),
    (
        ("bollinger bands of IBM, 4h", "well, daily"),
        "",
        "get_indicators",
        {"symbol": "IBM", "indicators": ["BB"], "timeframe": "1d"},
    ),
    (
        ("I want to buy FB but I don't know how many", "with 1000 usd"),
        "spend",
        "create_paper_order",
        {"symbol": "FB", **ORDER},
    ),
    (
        ("buy 3 GOOG", "at 790 tops"),
        "replace",
        "create_paper_order",
        {"symbol": "GOOG", "side": "buy", "quantity": 3.0, "order_type": "limit", "limit_price": 790.0},
    ),
    (
        ("set a stop loss 5% below on MSFT", "make it 7"),
        "resell",
        "create_paper_order",
        {"symbol": "MSFT", "side": "sell", "order_type": "stop", "of_price": 0.93},
    ),
    (
        ("compra 8 GOOG", "pon una venta limitada de todas a 850"),
        "sell",
        "create_paper_order",
        {"symbol": "GOOG", "side": "sell", "order_type": "limit", "limit_price": 850.0, "share": 1.0},
    ),
    (
        ("position size", "for 10k, 1%, entry 28 stop 27"),
        "",
        "calculate_position_size",
        {"capital": 10_000.0, "entry_price": 28.0, "stop_loss_price": 27.0, "risk_percent": 0.01},
    ),
    (("should i buy apple now?", "but is it cheap"), "", "get_fundamentals", {"symbol": "AAPL"}),
    (("what is a short squeeze", "ok and drawdown"), "", "explain_concept", {"concept": "drawdown"}),
    (("mete 2000 dólares en IBM", "cuánto es eso en acciones"), "", "get_pending_orders", {}),
    (("compra 5 IBM", "cancélalo mejor"), "cancel", "cancel_paper_order", {"symbol": "IBM"}),
    (
        ("compra 10 MSFT", "sí", "ponle un stop al 26"),
        "stop",
        "create_paper_order",
        {"symbol": "MSFT", "side": "sell", "order_type": "stop", "stop_price": 26.0, "share": 1.0},
    ),
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
        ("compra 4 IBM a 190", "un poco más bajo", "185"),
        "replace",
        "create_paper_order",
        {"symbol": "IBM", "quantity": 4.0, "side": "buy", "order_type": "limit", "limit_price": 185.0},
    ),
    (("sell half of my IBM", "no, 30 %"), "resell", "create_paper_order", {**SELLS, "share": 0.3}),
    (("vende IBM", "un tercio"), "sell", "create_paper_order", {**SELLS, "share": 1 / 3}),
    (("sell three quarters of my IBM",), "sell", "create_paper_order", {**SELLS, "share": 0.75}),
    (("vende todas menos 5 de IBM",), "sell", "create_paper_order", {**SELLS, "kept": 5.0}),
    (("close my IBM position",), "sell", "create_paper_order", {**SELLS, "share": 1.0}),
    (
        ("tengo IBM, pon un stop en 180", "súbelo 5"),
        "resell",
        "create_paper_order",
        {"symbol": "IBM", "side": "sell", "order_type": "stop", "stop_price": 185.0, "share": 1.0},
    ),
    (
        ("compra 4 MSFT con límite 400", "baja el límite un 5 %"),
        "replace",
        "create_paper_order",
        {"symbol": "MSFT", "quantity": 4.0, "side": "buy", "order_type": "limit", "limit_price": 380.0},
    ),
    (
        ("compra 5 MSFT", "no, IBM"),
        "replace",
        "create_paper_order",
        {"symbol": "IBM", "quantity": 5.0, "side": "buy", "order_type": "market"},
    ),
    (
        ("compra 5 MSFT", "quise decir vender"),
        "replace",
        "create_paper_order",
        {"symbol": "MSFT", "quantity": 5.0, "side": "sell", "order_type": "market"},
    ),
    (
        ("buy 5 MSFT", "and 3 of IBM too"),
        "",
        "create_paper_order",
        {"symbol": "IBM", "quantity": 3.0, "side": "buy", "order_type": "market"},
    ),
    (
        ("alert me if IBM goes above 210", "10 lower"),
        "replace_listed",
        "create_alert",
        {"symbol": "IBM", "condition": ">=", "price": 200.0},
    ),
    (
        ("capital 5000, entry 50, stop 45, risk 1%", "and with twice the capital?"),
        "",
        "calculate_position_size",
        {**SIZE, "capital": 10_000.0},
    ),
    (("RSI of IBM", "sorry, MSFT"), "", "get_indicators", {"symbol": "MSFT", "indicators": ["RSI"]}),
    (("price of IBM", "half of that?"), "part", "get_price", {"symbol": "IBM"}),
    (("RSI of IBM", "and hourly?"), "", "get_indicators", {"symbol": "IBM", "indicators": ["RSI"], "timeframe": "1h"}),
    (
        ("compro a 20 y salgo a 26, con el stop en 18: ¿qué ratio es?",),
        "",
        "calculate_risk_reward",
        {"entry_price": 20.0, "stop_loss_price": 18.0, "take_profit_price": 26.0},
    ),
    (("price of the banks", "IBM and MSFT"), "", "get_price", {"symbol": "IBM"}),
    (("¿qué acabo de comprar?",), "", "get_trade_history", {}),
    (("how is my watchlist doing?",), "watched", "get_watchlist", {}),
    (
        ("capital 5000, entry 50, stop 45, risk 1%", "risk reward with a target of 65?"),
        "",
        "calculate_risk_reward",
        {"entry_price": 50.0, "stop_loss_price": 45.0, "take_profit_price": 65.0},
    ),
    (
        ("ping me when AAPL hits 700", "and the same in microsoft at 40"),
        "",
        "create_alert",
        {"symbol": "MSFT", "price": 40.0, "condition": "=="},
    ),
    (
        ("avísame si IBM baja de 180", "y en apple con 500"),
        "",
        "create_alert",
        {"symbol": "AAPL", "price": 500.0, "condition": "<="},
    ),
    (
        ("compra 3 de apple con límite 500", "cámbiala a 5"),
        "replace",
        "create_paper_order",
        {**ORDER, "symbol": "AAPL", "quantity": 5.0, "limit_price": 500.0, "order_type": "limit"},
    ),
    (
        ("compra 3 de apple con límite 500", "cámbiala a 480"),
        "replace",
        "create_paper_order",
        {**ORDER, "symbol": "AAPL", "quantity": 3.0, "limit_price": 480.0, "order_type": "limit"},
    ),
    (("alert me if AAPL hits 700", "kill the apple one"), "delete_alert", "delete_alert", {"symbol": "AAPL"}),
    (
        ("how many shares with 5k, risk 1%, in at 50 stop 45", "same with 20k"),
        "",
        "calculate_position_size",
        {**SIZE, "capital": 20_000.0},
    ),
    (
        ("cuántas acciones con 5k, riesgo 1%, entrada 50 stop 45", "y si arriesgo la mitad"),
        "",
        "calculate_position_size",
        {**SIZE, "risk_percent": 0.005},
    ),
    (
        ("buy 4 AAPL at 500", "at market"),
        "replace",
        "create_paper_order",
        {**ORDER, "symbol": "AAPL", "quantity": 4.0},
    ),
    (("buy 4 AAPL", "a mercado"), "replace", "create_paper_order", {**ORDER, "symbol": "AAPL", "quantity": 4.0}),
    (("compare AAPL and MSFT", "and over the last month?"), "", "market_snapshot", {"tickers": ["AAPL", "MSFT"]}),
    (("p/e of IBM", "cheaper than apple?"), "", "get_fundamentals", {"symbol": "IBM"}),
]


@pytest.mark.parametrize(("said", "way", "tool", "arguments"), FOLLOWED)
def test_what_was_said_before_is_gone_on_with(
    said: tuple[str, ...], way: str, tool: str, arguments: dict[str, Any]
) -> None:
    wish = wish_in(said[-1], SCHEMAS, said[:-1])
    assert (wish.way, wish.calls[0]) == (way, (tool, arguments))
    assert {name for name, _ in wish.calls[1:]} <= {"cancel_paper_order", "delete_alert", tool}
    assert len(wish.calls) <= 2


@pytest.mark.parametrize(
    "said",
    [
        ("a que hora cierra la bolsa?", "abre el lunes?"),
        ("is the market open?", "when does it close?"),
        ("is the market open?", "when does it close?", "and on Friday?"),
        ("price of IBM", "is the market open now?", "when does it close"),
        ("precio de IBM", "¿a qué hora cierra?"),
    ],
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


@pytest.mark.parametrize(
    ("before", "said", "tool"),
    [
        ("delete both alerts", "are they gone?", "list_alerts"),
        ("alert me at 32 for MSFT", "how many do I have", "list_alerts"),
        ("add IBM to my watchlist", "whats on it", "get_watchlist"),
        ("compra 5 MSFT", "se ha ejecutado ya?", "get_portfolio"),
        ("buy 5 MSFT", "did it go through?", "get_portfolio"),
        ("buy 5 MSFT", "go ahead", "get_pending_orders"),
        ("will IBM go up?", "how sure are you", "get_ml_signals"),
        ("will IBM go up?", "y por que lo dice", "get_ml_features"),
        ("price of IBM", "did i already sell anything", "get_trade_history"),
        ("10k account, risk 1 %, entry 30, stop 29", "and with target 35, what ratio?", "calculate_risk_reward"),
    ],
)
def test_a_follow_up_asks_for_what_belongs_to_it(before: str, said: str, tool: str) -> None:
    assert wish_in(said, SCHEMAS, [before]).calls[0][0] == tool


def test_after_the_own_list_was_spoken_of_shares_are_put_on_it_and_taken_off() -> None:
    wish = wish_in("drop MSFT and add GOOG", SCHEMAS, ["add IBM to my watchlist"])
    assert wish.calls == (("remove_from_watchlist", {"symbol": "MSFT"}), ("add_to_watchlist", {"symbol": "GOOG"}))
