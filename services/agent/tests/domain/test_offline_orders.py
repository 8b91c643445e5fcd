"""Orders and alerts as people write them: which number is what, corrections in mid-sentence, distances from now."""

from datetime import date
from typing import Any

import pytest

from agent.domain.analysis.relative_days import with_past_days
from agent.domain.offline.assistant import respond
from agent.domain.offline.intents import wish_in
from agent.domain.offline.step_results import SayText, UseTools
from agent.domain.offline.steps import next_step
from agent.testing.offered import SCHEMAS, replaced

BUY: dict[str, Any] = {"symbol": "AAPL", "side": "buy", "quantity": 5.0, "order_type": "market"}
SELL_STOP: dict[str, Any] = {"symbol": "MSFT", "side": "sell", "quantity": 5.0, "order_type": "stop"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("stop sell 5 msft 25", {**SELL_STOP, "stop_price": 25.0}),
        ("sell stop 5 msft @ 25", {**SELL_STOP, "stop_price": 25.0}),
        ("compra limitada 5 aapl 190", {**BUY, "order_type": "limit", "limit_price": 190.0}),
        ("comprame 5 de apple a 190 como mucho", {**BUY, "order_type": "limit", "limit_price": 190.0}),
        ("long 5 aapl @ 190", {**BUY, "order_type": "limit", "limit_price": 190.0}),
        ("buy 4 aapl, no wait 5", BUY),
        ("compra 4 aapl, espera no, 5", BUY),
        ("buy 5 ibm, sorry, i meant apple", BUY),
        ("limit of 190, buy, AAPL, 5 shares", {**BUY, "order_type": "limit", "limit_price": 190.0}),
        ("apple, 5 shares please, buy, at most 190", {**BUY, "order_type": "limit", "limit_price": 190.0}),
        ("AAPL, a mercado, 5, compra", BUY),
    ],
)
def test_every_figure_is_what_was_said_of_it(said: str, expected: dict[str, Any]) -> None:
    wish = wish_in(said, SCHEMAS)
    assert (wish.calls, wish.missing, wish.way) == ((("create_paper_order", expected),), (), "")


@pytest.mark.parametrize(
    "said", ["put 2000 in ibm", "pon 2000 en ibm", "I want to put 2000 dollars into IBM", "buy $2000 of ibm"]
)
def test_money_buys_as_many_as_it_pays_for_at_the_price_of_now(said: str) -> None:
    wish = wish_in(said, SCHEMAS)
    assert next_step(wish, [], "en") == UseTools((("get_price", {"symbol": "IBM"}),))
    step = next_step(wish, [("get_price", {}, {"symbol": "IBM", "price": 210.0})], "en")
    assert isinstance(step, UseTools)
    assert step.calls[0][1] == {**BUY, "symbol": "IBM", "quantity": 9.0}
    too_little = next_step(wish, [("get_price", {}, {"symbol": "IBM", "price": 2100.0})], "en")
    assert too_little == SayText("2,000 buys 0 at that price, and leaves 2,000.")


@pytest.mark.parametrize(
    ("said", "share"), [("put 10 % of my cash in ibm", 0.1), ("pon la mitad de mi efectivo en ibm", 0.5)]
)
def test_a_share_of_the_cash_is_an_order_for_what_it_pays_for(said: str, share: float) -> None:
    wish = wish_in(said, SCHEMAS)
    portfolio: Any = ("get_portfolio", {}, {"cash": 20_000.0})
    assert next_step(wish, [], "en") == UseTools((("get_portfolio", {}), ("get_price", {"symbol": "IBM"})))
    step = next_step(wish, [portfolio, ("get_price", {}, {"symbol": "IBM", "price": 210.0})], "en")
    assert isinstance(step, UseTools)
    assert step.calls[0][1] == {**BUY, "symbol": "IBM", "quantity": 20_000 * share // 210}


@pytest.mark.parametrize(
    ("said", "before"),
    [
        ("how many shares of ibm can I buy with 1000 dollars", []),
        ("¿cuántas de ibm puedo comprar con 1000?", []),
        ("cuánto me da para comprar con 1000 pavos", ["precio de ibm"]),
    ],
)
def test_what_a_sum_would_buy_is_told_and_not_bought(said: str, before: list[str]) -> None:
    wish = wish_in(said, SCHEMAS, before)
    price = ("get_price", {"symbol": "IBM"}, {"symbol": "IBM", "price": 210.0})
    assert next_step(wish, [], "en") == UseTools((("get_price", {"symbol": "IBM"}),))
    step = next_step(wish, [price], "en")
    assert isinstance(step, SayText)
    assert step.text.endswith("1,000 buys 4 at that price, and leaves 160.")


@pytest.mark.parametrize("said", ["buy aapl at $200", "compra aapl a 200 dólares", "buy aapl with a limit of 200 usd"])
def test_a_price_is_no_sum_to_spend(said: str) -> None:
    wish = wish_in(said, SCHEMAS)
    assert (wish.missing, wish.way, wish.calls[0][1]["limit_price"]) == (("quantity",), "", 200.0)


@pytest.mark.parametrize(
    "said", ["compra 5 aapl y ponle un stop en 180", "buy 5 aapl with a stop at 180", "buy 5 aapl with stop loss 180"]
)
def test_a_stop_beside_a_purchase_is_no_price_of_it_and_comes_when_it_is_held(said: str) -> None:
    wish = wish_in(said, SCHEMAS)
    assert next_step(wish, [], "en") == UseTools((("create_paper_order", BUY),))
    estimate = {"price": 200.0, "amount": 1000.0, "cash_after": 99_000.0, "currency": "USD"}
    told = next_step(wish, [("create_paper_order", BUY, {"summary": "Buy 5 AAPL", "estimate": estimate})], "en")
    assert isinstance(told, SayText)
    assert told.text.endswith("then say “put a stop at 180”.")


@pytest.mark.parametrize("said", ["quita los dos", "remove both"])
def test_both_of_what_was_listed_are_ended(said: str) -> None:
    wish = wish_in(said, SCHEMAS, ["which alerts do I have?"])
    shown = {"alerts": [{"alert_id": str(at), "symbol": "FB", "condition": "<=", "price": 20.0 + at} for at in (1, 2)]}
    step = next_step(wish, [("list_alerts", {}, shown)], "en")
    assert step == UseTools((("delete_alert", {"alert_id": "1"}), ("delete_alert", {"alert_id": "2"})))


@pytest.mark.parametrize("said", ["cancel the stop", "quita el stop", "cancela mi stop"])
def test_an_order_of_another_kind_is_not_cancelled(said: str) -> None:
    waits = {
        "order_id": "1",
        "symbol": "FB",
        "side": "buy",
        "order_type": "limit",
        "quantity": 10.0,
        "limit_price": 21.5,
    }
    wish = wish_in(said, SCHEMAS)
    for kind, calls in (("limit", None), ("stop", (("cancel_paper_order", {"order_id": "1"}),))):
        shown = {"orders": [{**waits, "order_type": kind, "status": "pending"}]}
        step = next_step(wish, [("get_pending_orders", {}, shown)], "en")
        assert (step.calls if isinstance(step, UseTools) else None) == calls


def test_market_instead_of_a_limit_and_weeks_instead_of_days() -> None:
    for said in ("market instead", "actually market", "no, a mercado", "remove the limit", "quita el límite"):
        assert wish_in(said, SCHEMAS, ["buy 5 aapl at 600"]).calls[0][1] == BUY
    weekly = wish_in("weekly", SCHEMAS, ["chart of aapl last 3 months"]).calls[0][1]
    assert (weekly["timeframe"], weekly["limit"]) == ("1w", 13)


@pytest.mark.parametrize("said", ["sell 5 msft limit", "vende 5 msft con stop"])
def test_an_order_that_waits_is_not_prepared_without_its_price(said: str) -> None:
    wish = wish_in(said, SCHEMAS)
    assert wish.missing in (("limit_price",), ("stop_price",))


def test_all_but_two_are_not_two() -> None:
    assert wish_in("vende todas mis ibm menos 2", SCHEMAS).calls[0][1].get("kept") == 2.0


@pytest.mark.parametrize(
    "habit",
    [
        "I sell the newest lots first",
        "I usually buy 10 shares of AAPL every month",
        "suelo comprar 5 de IBM cada mes",
        "siempre vendo las más antiguas primero",
        "I bought 10 last week",
        "tengo 40 acciones de ibm en otro banco",
    ],
)
def test_what_somebody_tells_of_their_trading_asks_for_nothing(habit: str) -> None:
    assert not wish_in(habit, SCHEMAS, ["price of apple"]).calls


@pytest.mark.parametrize(
    ("said", "call", "price"),
    [
        ("set stop order sell 5 msft at 3 below the market", {**SELL_STOP}, ("stop_price", 27.0)),
        (
            "let me know if msft drops more than 5 dollars from here",
            {"symbol": "MSFT", "condition": "<="},
            ("price", 25),
        ),
        ("avísame si msft sube 2 dólares", {"symbol": "MSFT", "condition": ">="}, ("price", 32.0)),
        ("alert me if msft goes 5 dollars higher", {"symbol": "MSFT", "condition": ">="}, ("price", 35.0)),
    ],
)
def test_so_much_above_or_below_is_of_the_price_of_now(
    said: str, call: dict[str, Any], price: tuple[str, float]
) -> None:
    wish = wish_in(said, SCHEMAS)
    step = next_step(wish, [("get_price", {"symbol": "MSFT"}, {"price": 30.0})], "en")
    assert isinstance(step, UseTools)
    assert step.calls[0][1] == {**call, price[0]: price[1]}


@pytest.mark.parametrize("said", ["avísame si msft baja de 25 dólares", "alert me when msft drops below 25 dollars"])
def test_a_price_is_no_distance(said: str) -> None:
    wish = wish_in(said, SCHEMAS)
    assert (wish.way, wish.calls[0][1]["price"]) == ("", 25.0)


@pytest.mark.parametrize(
    "before", [["compare aapl and ibm", "buy 5 of the second"], ["price of aapl", "price of ibm", "buy 5"]]
)
def test_the_other_one_is_a_share_and_no_number(before: list[str]) -> None:
    wish = wish_in("no, the other one", SCHEMAS, before)
    assert (wish.way, wish.calls[0][1]) == ("replace", BUY)


def test_the_same_for_another_share_is_another_order() -> None:
    wish = wish_in("same for msft", SCHEMAS, ["buy 5 aapl"])
    assert (wish.way, wish.calls) == ("", (("create_paper_order", {**BUY, "symbol": "MSFT"}),))
    assert wish_in("same for msft", SCHEMAS, ["buy 5 aapl at 600"]).missing == ("limit_price",)


@pytest.mark.parametrize("said", ["and one for apple below 600", "and when apple falls under 600"])
def test_another_alert_follows_one_at_a_distance(said: str) -> None:
    wish = wish_in(said, SCHEMAS, ["set an alert for ibm at 5 percent above where it is"])
    assert wish.calls == (("create_alert", {"symbol": "AAPL", "condition": "<=", "price": 600.0}),)


def test_a_distance_is_not_changed_into_a_price() -> None:
    wish = wish_in("make it 10%", SCHEMAS, ["alert me if ibm drops 5%"])
    assert ("price" in wish.calls[0][1], wish.way, wish.amount) == (False, "at_share", 0.9)


ALERTS = [
    {"alert_id": "a", "symbol": "IBM", "condition": ">=", "price": 200.0},
    {"alert_id": "b", "symbol": "AAPL", "condition": "<=", "price": 600.0},
]


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ("remove the first alert", ["a"]),
        ("quítame la última", ["b"]),
        ("delete alert 2", ["b"]),
        ("bórralas todas", ["a", "b"]),
        ("delete them all", ["a", "b"]),
    ],
)
def test_an_alert_is_deleted_by_its_place(said: str, ended: list[str]) -> None:
    before = ["how is apple doing", "what about ibm", "alert me when it passes 200", "and when apple falls below 600"]
    step = next_step(wish_in(said, SCHEMAS, before), [("list_alerts", {}, {"alerts": ALERTS})], "en")
    assert isinstance(step, UseTools)
    assert [call[1]["alert_id"] for call in step.calls] == ended


@pytest.mark.parametrize(
    ("said", "before"),
    [("change it to 720", ["which alerts do I have?"]), ("cambia la alerta de apple a 720", ["hola"])],
)
def test_an_alert_of_before_changes_its_price(said: str, before: list[str]) -> None:
    wish = wish_in(said, SCHEMAS, before)
    new = {"symbol": "AAPL", "condition": "<=", "price": 720.0}
    calls = replaced(wish, [("list_alerts", {}, {"alerts": ALERTS[1:]})])
    assert calls == (("delete_alert", {"alert_id": "b"}), ("create_alert", new))


def test_where_several_may_be_meant_it_is_asked_which() -> None:
    wish = wish_in("change it to 720", SCHEMAS, ["which alerts do I have?"])
    assert isinstance(next_step(wish, [("list_alerts", {}, {"alerts": ALERTS})], "en"), SayText)


@pytest.mark.parametrize(
    ("said", "before", "tool"),
    [
        ("el de microsoft es mas alto?", "cual es el per de apple", "get_fundamentals"),
        ("is msft's higher?", "pe of aapl", "get_fundamentals"),
        ("gracias hija, y eso del stop loss que es?", "price of ibm", "explain_concept"),
        ("thanks, what is an etf?", "price of ibm", "explain_concept"),
        ("what about 2012-08-31", "price of ibm", "get_ohlcv"),
        ("correlación entre las dos", "compara aapl y goog", "get_correlation"),
        ("my grandpa bought ibm ages ago whats it worth now per share", "hi", "get_price"),
    ],
)
def test_what_a_short_question_leans_on(said: str, before: str, tool: str) -> None:
    assert wish_in(said, SCHEMAS, [before]).calls[0][0] == tool


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "quiero entrar en aapl con stop 3% por debajo, tengo 20000 y arriesgo 1%, cuantas acciones",
            {"capital": 20000.0, "risk_percent": 0.01, "entry_price": 600.0, "stop_loss_price": 582.0},
        ),
        (
            "how many shares of aapl with 10k, risk 1%, stop at 590",
            {"capital": 10000.0, "risk_percent": 0.01, "entry_price": 600.0, "stop_loss_price": 590.0},
        ),
    ],
)
def test_a_position_is_sized_at_the_price_of_now(said: str, expected: dict[str, Any]) -> None:
    step = next_step(wish_in(said, SCHEMAS), [("get_price", {"symbol": "AAPL"}, {"price": 600.0})], "en")
    assert isinstance(step, UseTools)
    assert step.calls == (("calculate_position_size", expected),)


def test_a_stop_told_as_a_distance_is_no_risk() -> None:
    found = wish_in("position size: entry 50, stop 4% below, 10000 account, risk 1%", SCHEMAS).calls[0][1]
    assert (found["risk_percent"], found["stop_loss_price"]) == (0.01, 48.0)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("y ayer a cuánto cerró?", "2012-09-04"),
        ("what about last friday", "2012-08-31"),
        ("¿cómo cerró ibm el miércoles?", "2012-08-29"),
        ("the day before yesterday?", "2012-09-03"),
    ],
)
def test_yesterday_is_counted_from_the_markets_today(said: str, day: str) -> None:
    market = {"status": "open", "current_time": "2012-09-05T20:00:00Z"}
    messages = [{"role": "user", "content": "price of IBM"}, {"role": "user", "content": said}]
    step = respond(messages, SCHEMAS, "en", introduced=True, market=market)
    assert isinstance(step, UseTools)
    assert step.calls[0][0] == "get_ohlcv"
    assert day in with_past_days(said, date(2012, 9, 5))


def test_a_follow_up_may_lean_on_another() -> None:
    before = ["what is the p/e?", "and what is apple's?"]
    assert wish_in("is microsoft's higher?", SCHEMAS, before).calls[0] == ("get_fundamentals", {"symbol": "MSFT"})


def test_what_was_measured_of_one_year_is_measured_of_another() -> None:
    before = ["What was IBM's max drawdown in 2008?"]
    assert wish_in("and in 2002", SCHEMAS, before).calls == (
        ("get_performance", {"tickers": ["IBM"], "start": "2002-01-01", "end": "2002-12-31"}),
    )
    assert wish_in("same for aapl", SCHEMAS, [*before, "and in 2002"]).calls[0][1]["tickers"] == ["AAPL"]


def test_another_risk_keeps_the_price_of_now() -> None:
    before = ["quiero entrar en aapl con stop 3% por debajo, tengo 20000 y arriesgo 1%, cuantas acciones"]
    wish = wish_in("y si arriesgo el 2%?", SCHEMAS, before)
    assert (wish.way, wish.calls[0][1]["risk_percent"]) == ("sized", 0.02)


def test_a_correction_asks_for_no_holdings() -> None:
    assert not wish_in("me equivoqué, son 45 las que tengo", SCHEMAS, ["hola"]).calls


def test_friday_is_today_once_fridays_session_is_over() -> None:
    friday = date(2012, 11, 9)
    assert "2012-11-09" in with_past_days("how did IBM close on friday", friday, is_session_over=True)
    assert "2012-11-02" in with_past_days("how did IBM close last friday", friday, is_session_over=True)
    assert "2012-11-02" in with_past_days("how did IBM close on friday", friday)


@pytest.mark.parametrize("said", ["¿cuál es el RSI de IBM y qué significa?", "IBM's RSI, and what does it mean?"])
def test_a_figure_is_looked_up_and_explained(said: str) -> None:
    calls = wish_in(said, SCHEMAS).calls
    assert [tool for tool, _ in calls] == ["get_indicators", "explain_concept"]
    assert calls[1][1] == {"concept": "rsi"}


@pytest.mark.parametrize(
    ("before", "said", "order"),
    [
        (["sell 5 MSFT stop 25"], "hmm no make it 26", {**SELL_STOP, "stop_price": 26.0}),
        (["buy 5 AAPL limit 190"], "no, 195", {**BUY, "order_type": "limit", "limit_price": 195.0}),
        (["buy 4 AAPL", "what happens if I say yes"], "yes but only 5", BUY),
        (["how many AAPL could I get for 5,000"], "get me that many", {**BUY, "quantity": None}),
    ],
)
def test_a_bare_figure_is_the_one_that_it_is_like(before: list[str], said: str, order: dict[str, Any]) -> None:
    tool, arguments = wish_in(said, SCHEMAS, before).calls[0]
    assert (tool, arguments) == ("create_paper_order", {name: item for name, item in order.items() if item is not None})
