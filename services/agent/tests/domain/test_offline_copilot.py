"""The offline copilot: orders, portfolio, watchlist, alerts, research by rules, es and en; figures are the tools'."""

import json
import re
from typing import Any

import pytest

from agent.domain.offline.answers import answer_from, plain_answer
from agent.domain.offline.assistant import respond
from agent.domain.offline.coming_events import coming_events
from agent.domain.offline.intents import wish_in
from agent.domain.offline.listed import chosen_item
from agent.domain.offline.step_results import SayText, UseTools
from agent.domain.offline.steps import next_step
from agent.domain.offline.tool_answers import tool_answer
from agent.domain.text_features import language_of
from agent.testing.offered import SCHEMAS
from contracts.languages import Language

TOOLS = SCHEMAS


def order(symbol: str, side: str, quantity: float, kind: str = "market", **prices: float) -> tuple[str, dict[str, Any]]:
    return "create_paper_order", {"symbol": symbol, "side": side, "quantity": quantity, "order_type": kind, **prices}


WISHES: list[tuple[str, tuple[str, dict[str, Any]]]] = [
    ("buy 5 AAPL at market", order("AAPL", "buy", 5)),
    ("compra 10 MSFT a 300", order("MSFT", "buy", 10, "limit", limit_price=300)),
    ("vende 3 IBM", order("IBM", "sell", 3)),
    ("Buy 5 shares of AAPL at 450", order("AAPL", "buy", 5, "limit", limit_price=450)),
    ("sell 5 AAPL stop 400", order("AAPL", "sell", 5, "stop", stop_price=400)),
    ("quiero comprar 2 acciones de Apple", order("AAPL", "buy", 2)),
    (
        "sell 1,000 IBM with stop at 180 and limit at 179",
        order("IBM", "sell", 1000, "stop_limit", limit_price=179, stop_price=180),
    ),
    ("what is my portfolio?", ("get_portfolio", {})),
    ("¿qué posiciones tengo?", ("get_portfolio", {})),
    ("mis órdenes pendientes", ("get_pending_orders", {})),
    ("add AAPL to my watchlist", ("add_to_watchlist", {"symbol": "AAPL"})),
    ("quita IBM de mi lista", ("remove_from_watchlist", {"symbol": "IBM"})),
    ("avísame cuando AAPL pase de 700", ("create_alert", {"symbol": "AAPL", "condition": ">=", "price": 700.0})),
    ("alert me when IBM falls below 190", ("create_alert", {"symbol": "IBM", "condition": "<=", "price": 190.0})),
    ("pon una alerta si IBM supera 1.500,75", ("create_alert", {"symbol": "IBM", "condition": ">=", "price": 1500.75})),
    ("alerta si IBM rompe por encima de 220", ("create_alert", {"symbol": "IBM", "condition": ">=", "price": 220.0})),
    ("alert me if IBM breaks above 220", ("create_alert", {"symbol": "IBM", "condition": ">=", "price": 220.0})),
    ("alert me if IBM surpasses 220", ("create_alert", {"symbol": "IBM", "condition": ">=", "price": 220.0})),
    ("compra media docena de IBM", order("IBM", "buy", 6)),
    ("buy a dozen MSFT", order("MSFT", "buy", 12)),
    ("compra -5 IBM", order("IBM", "buy", -5)),
    ("buy 1e3 FB", order("FB", "buy", 1000)),
    ("compra 0,125 IBM", order("IBM", "buy", 0.125)),
    ("compra 1.000 AAPL", order("AAPL", "buy", 1000)),
    ("tell me when AAPL reaches 600", ("create_alert", {"symbol": "AAPL", "condition": "==", "price": 600.0})),
    ("avísame cuando IBM toque 190", ("create_alert", {"symbol": "IBM", "condition": "==", "price": 190.0})),
    ("my alerts", ("list_alerts", {})),
    ("did we talk about dividends?", ("search_memory", {"query": "dividends"})),
    ("¿qué dije de IBM?", ("search_memory", {"query": "ibm"})),
    ("news about AAPL", ("get_news", {"symbol": "AAPL"})),
    ("RSI of AAPL", ("get_indicators", {"symbol": "AAPL", "indicators": ["RSI"]})),
    ("MACD de AAPL", ("get_indicators", {"symbol": "AAPL", "indicators": ["MACD"]})),
    ("explain MACD", ("explain_concept", {"concept": "macd"})),
    ("Compare IBM and MSFT", ("market_snapshot", {"tickers": ["IBM", "MSFT"]})),
    ("¿cómo le fue a IBM el último año?", ("market_snapshot", {"tickers": ["IBM"]})),
    ("¿qué es el drawdown?", ("explain_concept", {"concept": "drawdown"})),
    ("plot IBM", ("get_ohlcv", {"symbol": "IBM", "timeframe": "1d", "limit": 60})),
    ("whats in my account", ("get_portfolio", {})),
    ("how much cash", ("get_portfolio", {})),
    ("did i make any money", ("get_portfolio", {})),
    ("if IBM falls below 180 let me know", ("create_alert", {"symbol": "IBM", "condition": "<=", "price": 180.0})),
    ("hey whats IBM at", ("get_price", {"symbol": "IBM"})),
    ("¿qué es el BPA?", ("explain_concept", {"concept": "bpa"})),
    ("gráfico de IBM", ("get_ohlcv", {"symbol": "IBM", "timeframe": "1d", "limit": 60})),
]


@pytest.mark.parametrize(("text", "call"), WISHES)
def test_it_calls_the_tool_that_serves_the_wish(text: str, call: tuple[str, dict[str, Any]]) -> None:
    assert wish_in(text, TOOLS).calls == (call,)


ALERTS = [{"alert_id": f"a{at}", "symbol": "IBM", "condition": ">=", "price": at} for at in (210.0, 220.0, 230.0)]


@pytest.mark.parametrize(
    ("before", "text", "alert"),
    [
        ("delete my IBM alert", "the second one", "a220.0"),
        ("borra mi alerta de IBM", "la última, por favor", "a230.0"),
        ("my alerts", "delete the first one", "a210.0"),
        ("mis alertas", "borra la 2", "a220.0"),
        ("mis alertas", "la última", None),
        ("delete my IBM alert", "the second one fell", None),
    ],
)
def test_what_was_shown_is_chosen_by_its_place(before: str, text: str, alert: str | None) -> None:
    language: Language = "es" if "mi" in before else "en"
    shown = answer_from("list_alerts", {}, {"alerts": ALERTS}, "", language)
    wish = chosen_item(text, shown, TOOLS, [before])
    if alert is None:
        # One that is only named is shown, and what shall be done with it is asked; then "it" is that one.
        assert wish is None or "230" in plain_answer(wish, language).splitlines()[0]
        assert (wish is None) is text.endswith("fell")
        shown, text = ("- IBM a 230,00 o más", "bórrala") if wish is not None else (shown, text)
        wish, alert = chosen_item(text, shown, TOOLS, [before, "la última"]), "a230.0"
    if wish is not None:
        found = next_step(wish, [("list_alerts", {}, {"alerts": ALERTS})], language)
        assert found == UseTools((("delete_alert", {"alert_id": alert}),))


def test_the_first_of_a_list_of_one_can_be_ended() -> None:
    wish = chosen_item("borra la primera", "Tus alertas:\n- IBM a 210,00 o más", TOOLS, ["mis alertas"])
    assert wish is not None
    found = next_step(wish, [("list_alerts", {}, {"alerts": ALERTS[:1]})], "es")
    assert found == UseTools((("delete_alert", {"alert_id": "a210.0"}),))


HELD = [{"symbol": "IBM", "quantity": 12, "average_price": 1.0}]
WAITS = {"order_id": "o1", "symbol": "IBM", "side": "sell", "quantity": 6, "order_type": "market",
         "status": "pending_confirmation"}  # fmt: skip


Results = list[tuple[str, dict[str, Any], dict[str, Any]]]
SHARES: list[tuple[tuple[str, ...], Results, Any]] = [
    (("sell a third of my IBM",), [], (order("IBM", "sell", 4),)),
    (("sell all but 5 of my IBM",), [], (order("IBM", "sell", 7),)),
    (("sell all but 20 of my IBM",), [], "You do not hold more than that."),
    (
        ("sell half of my IBM", "no, 25 %"),
        [("get_pending_orders", {}, {"orders": [WAITS]})],
        (("create_paper_order", {**order("IBM", "sell", 3)[1], "replaces": "o1"}),),
    ),
]


@pytest.mark.parametrize(("said", "results", "wanted"), SHARES)
def test_a_share_of_what_is_held_is_worked_out_from_it(said: tuple[str, ...], results: Results, wanted: Any) -> None:
    wish = wish_in(said[-1], TOOLS, said[:-1])
    looked = next_step(wish, [], "en")
    assert isinstance(looked, UseTools)
    assert [tool for tool, _ in looked.calls] == ["get_portfolio", *(tool for tool, _, _ in results[:1])]
    found = next_step(wish, [("get_portfolio", {}, {"positions": HELD}), *results], "en")
    assert found == (SayText(wanted) if isinstance(wanted, str) else UseTools(wanted))


def test_a_part_of_a_price_and_the_own_list_are_told_in_figures_of_now() -> None:
    price = {"symbol": "IBM", "price": 190.0, "currency": "USD", "as_of": "2012-11-01", "source": "sample"}
    half = next_step(wish_in("la mitad de eso", TOOLS, ["precio de IBM"]), [("get_price", {}, price)], "es")
    assert isinstance(half, SayText)
    assert half.text.endswith("0,5 × 190 = 95")
    watched = wish_in("how is my watchlist doing?", TOOLS)
    mine: tuple[str, dict[str, Any], dict[str, Any]] = ("get_watchlist", {}, {"symbols": ["IBM"]})
    assert next_step(watched, [mine], "en") == UseTools((("get_price", {"symbol": "IBM"}),))
    told = next_step(watched, [mine, ("get_price", {}, price)], "en")
    assert isinstance(told, SayText)
    assert told.text.startswith("IBM: 190 USD")


EVENTS = [
    {"date": "2013-03-05", "name": "US employment report", "kind": "economy", "status": "confirmed", "source": "BLS"},
    {"date": "2013-03-13", "name": "IBM results, Q1", "kind": "earnings", "status": "expected", "source": "IBM"},
]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Which events are coming up this week?", "- 5 March 2013: US employment report (BLS)"),
        ("¿Qué resultados se publican la próxima semana?", "- 13 de marzo de 2013: IBM results, Q1, previsto (IBM)"),
        ("Is there anything on the calendar tomorrow?", "- 5 March 2013: US employment report (BLS)"),
        ("what reports are coming next week and what's the Fed doing?", "- 13 March 2013: IBM results, Q1"),
        ("¿Hay eventos hoy?", "Lo siguiente:"),
        ("When does the Fed meet next?", "- 5 March 2013"),
        ("Which events do you organise this week?", None),
        ("When are IBM's next events?", None),
        ("Is there parking?", None),
    ],
)
def test_the_calendar_is_told_without_a_ticker(question: str, told: str | None) -> None:
    market = {"current_time": "2013-03-04T15:00:00Z", "upcoming_events": EVENTS}
    said = coming_events(question, market, language_of(question, "en"))
    assert (told is None and said is None) or (told is not None and said is not None and told in said)
    assert coming_events(question, None, "en") is None


def test_a_comparison_tells_each_tickers_returns_and_what_is_not_known() -> None:
    body: dict[str, Any] = {
        "tickers": {"IBM": {"returns": {"1m": 0.0123, "1y": -0.05, "ytd": None}}, "MSFT": {"returns": {}}},
        "errors": [{"error": "…", "ticker": "TSLA", "reason": "not_in_sample"}],
        "source": "sample",
        "as_of": "2012-10-26",
    }
    said = tool_answer("market_snapshot", body, "en")
    assert said is not None
    # The empty line ends the list: what follows would be read as its last item's.
    assert said.splitlines()[:5] == [
        "Returns:", "- IBM: 1 month +1.2%, 1 year -5.0%", "- MSFT: –", "- There is no data for TSLA.", ""
    ]  # fmt: skip
    assert "As of 26 October 2012 (source: sample)" in said


def test_an_indicator_of_one_value_is_that_value() -> None:
    indicators = {"RSI": {"value": 56.324, "period": 14}, "MACD": {"macd": 1.5, "signal": 1.25}}
    body: dict[str, Any] = {"symbol": "MSFT", "timeframe": "1d", "indicators": indicators}
    said = tool_answer("get_indicators", body, "es") or ""
    assert said.startswith("MSFT (1d): RSI 56,32; MACD macd 1,50, signal 1,25.")


def test_a_stretch_of_time_is_told_as_it_was_asked_for() -> None:
    figure = {"ticker": "IBM", "figure": "return", "value": 0.0596, "asked": "2012-01-01/2012-12-31"}
    away = {"error": "not in the sample", "ticker": "TSLA", "reason": "not_in_sample"}
    body: dict[str, Any] = {"figures": [figure], "errors": [away], "as_of": "2013-03-01T21:00:00Z", "source": "sample"}
    said = tool_answer("get_performance", body, "en") or ""
    assert said.startswith("From 1 January 2012 to 31 December 2012, IBM: return 6.0%.\n- TSLA: not in the sample")
    assert "source: sample" in said


def test_of_what_was_found_in_conversations_the_users_own_statements_are_told() -> None:
    at = "2012-11-01T20:00:00Z"
    passages = [
        {"time": at, "text": "I row on Sundays", "speaker": "user", "score": 3.0},
        {"time": at, "text": "I row on Fridays", "speaker": "user", "score": 2.0, "superseded": {"until": at}},
        {"time": at, "text": "When do I row?", "speaker": "user", "score": 2.9},
        {"time": at, "text": "Got it.", "speaker": "assistant", "score": 2.8},
        {"time": at, "text": "I like tea", "speaker": "user", "score": 0.4},
    ]
    said = tool_answer("search_memory", {"passages": passages}, "en") or ""
    assert said.splitlines()[1:] == [
        "- 1 November 2012: “I row on Sundays”",
        "- 1 November 2012: “I row on Fridays” (no longer so)",
    ]
    asked = [
        {**one, "text": text}
        for one, text in zip(
            passages[:1] * 2 + passages[3:4],
            ("What did I say about my doctor?", "¿Qué te conté del doctor?", "You told me about your doctor."),
            strict=True,
        )
    ]
    said = tool_answer("search_memory", {"passages": asked}, "en") or ""
    assert "doctor" not in said  # who asks may name what was forgotten since


def test_no_answer_shows_a_time_as_machines_write_it() -> None:
    at = "2012-11-01T20:00:00Z"
    bar = {"time": at, "close": 10.0}
    bodies: dict[str, dict[str, Any]] = {
        "get_portfolio": {"cash": 1.0, "equity": 1.0, "currency": "USD"},
        "get_trade_history": {"trades": [{"time": at, "side": "buy", "quantity": 1, "symbol": "IBM", "price": 2.0}]},
        "search_memory": {"passages": [{"time": at, "text": "about IBM"}]},
        # After midnight in London it is still the day before in New York.
        "get_news": {
            "symbol": "IBM",
            "items": [{"time": "2012-11-02T03:59:59Z", "title": "Results", "source": "sample"}],
        },
        "get_fundamentals": {"symbol": "IBM", "period": "2012"},
        "get_indicators": {"symbol": "IBM", "timeframe": "1d"},
        "get_ohlcv": {"symbol": "IBM", "bars": [bar, {**bar, "time": "2012-11-01T20:05:00Z"}]},
    }
    dates: dict[Language, str] = {"en": "1 November 2012", "es": "1 de noviembre de 2012"}
    for tool, body in bodies.items():
        for language, said in dates.items():
            text = answer_from(tool, {}, {**body, "as_of": at, "source": "sample"}, "IBM", language)
            assert said in text, tool
            assert "2012-11" not in text, tool
    weeks = [{**bar, "time": "2012-10-29T13:30:00Z"}, {**bar, "time": "2012-11-05T14:30:00Z"}]
    weekly = answer_from("get_ohlcv", {}, {"symbol": "IBM", "timeframe": "1w", "bars": weeks}, "IBM", "en")
    assert "(week of 29 October 2012)" in weekly  # whose close is of its last day
    assert "20:05 UTC" in answer_from("get_ohlcv", {}, {**bodies["get_ohlcv"], "as_of": at}, "IBM", "en")


@pytest.mark.parametrize(
    ("language", "order", "trade"),
    [
        ("es", "venta 2 IBM stop límite 1.180,50 / 179,00: espera tu confirmación", "compra 1 IBM"),
        ("en", "sell 2 IBM stop limit 1,180.50 / 179.00: pending confirmation", "buy 1 IBM"),
    ],
)
def test_orders_and_trades_are_listed_in_words_not_in_codes(language: Language, order: str, trade: str) -> None:
    one = {"order_id": "o1", "symbol": "IBM", "side": "sell", "quantity": 2.0}
    prices = {"stop_price": 1180.5, "limit_price": 179.0}
    orders = {"orders": [{**one, **prices, "order_type": "stop_limit", "status": "pending_confirmation"}]}
    listed = str(tool_answer("get_pending_orders", orders, language))
    assert order in listed
    assert "o1" not in listed, "ids are no names for people"
    trades = {"trades": [{**one, "side": "buy", "quantity": 1, "time": "2012-11-01T20:00:00Z", "price": 2.0}]}
    assert trade in str(tool_answer("get_trade_history", trades, language))


def _called(tool: str, data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A call as a prompt has it, and what came of it."""
    call = {"id": tool, "function": {"name": tool, "arguments": "{}"}}
    return call, {"role": "tool", "tool_call_id": tool, "content": json.dumps(data)}


@pytest.mark.parametrize(("language", "order"), [("es", "compra 4 IBM límite"), ("en", "buy 4 IBM limit")])
def test_a_portfolio_names_what_waits_beside_what_is_held(language: Language, order: str) -> None:
    wish = wish_in("show me my portfolio", TOOLS)
    looked = next_step(wish, [], language)
    assert isinstance(looked, UseTools)
    assert [tool for tool, _ in looked.calls] == ["get_portfolio", "get_pending_orders"]
    held: dict[str, Any] = {"as_of": "2012-11-01T20:00:00Z", "cash": 1.0, "equity": 1.0, "currency": "USD"}
    waits = {"order_id": "o1", "symbol": "IBM", "side": "buy", "quantity": 4, "order_type": "limit", "status": "open"}
    told: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("get_portfolio", {}, held),
        ("get_pending_orders", {}, {"orders": [waits]}),
    ]
    said = next_step(wish, told, language)
    assert isinstance(said, SayText)
    assert order in said.text
    # In the chat the orders are a list of their own, and no part of what is held last.
    results = (held | {"positions": [{"quantity": 5, "symbol": "AAPL", "average_price": 1.0}]}, {"orders": [waits]})
    calls, came = zip(*(_called(tool, data) for (tool, _, _), data in zip(told, results, strict=True)), strict=True)
    asked = {"role": "user", "content": {"es": "enséñame mi cartera", "en": "show me my portfolio"}[language]}
    answer = respond([asked, {"role": "assistant", "tool_calls": calls}, *came], TOOLS, language)
    assert isinstance(answer, SayText)
    assert re.search(rf"AAPL · 1[.,]00\n\n\w+ \w+:\n- {order}", answer.text)
    none = next_step(wish, [told[0], ("get_pending_orders", {}, {"orders": []})], language)
    assert isinstance(none, SayText)
    assert len(none.text.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "should I buy AAPL?",
        "¿debería vender IBM?",
        "how do I cancel my account?",
        "buy",
        "mi cuñado dice que compre cripto",
    ],
)
def test_what_is_no_order_orders_nothing(text: str) -> None:
    assert not {"create_paper_order", "get_trade_history"} & {tool for tool, _ in wish_in(text, TOOLS).calls}


@pytest.mark.parametrize(
    "text",
    [
        "buy AAPL",
        "buy 20% more AAPL",
        "buy half of 10 AAPL",
        "buy 5 or 6 AAPL",
        "buy twice as many as 4 AAPL",
    ],
)
def test_an_order_that_does_not_say_how_many_is_asked_for_it(text: str) -> None:
    wish = wish_in(text, TOOLS)
    assert wish.missing == ("quantity",)
    assert plain_answer(wish, "en") == "How many shares? Say, for example, “buy 5 AAPL”."


def test_who_may_not_use_a_tool_is_told_what_it_needs() -> None:
    wish = wish_in("compra 5 AAPL", ("get_price",))
    assert (wish.calls, wish.withheld) == ((), "create_paper_order")
    assert "que tu plan lo incluya" in plain_answer(wish, "es")
