"""Orders that were worked out, replaced, spared or only imagined; levels without a direction; two wishes at once."""

from typing import Any

import pytest

from agent.domain.offline.answers import plain_answer
from agent.domain.offline.intents import wish_in
from agent.domain.offline.step_results import Result, SayText, UseTools
from agent.domain.offline.steps import next_step
from agent.domain.offline.wishes import Intent
from agent.testing.offered import SCHEMAS, calls_of, replaced

BUY: dict[str, Any] = {"symbol": "AAPL", "side": "buy", "quantity": 5.0, "order_type": "market"}
SELL_STOP: dict[str, Any] = {"symbol": "MSFT", "side": "sell", "quantity": 5.0, "order_type": "stop"}


@pytest.mark.parametrize("said", ["I want 3000 dollars worth of ibm", "quiero 3000 euros de ibm", "dame 3000 $ de ibm"])
def test_who_wants_so_much_money_of_a_share_buys_for_that_sum(said: str) -> None:
    wish = wish_in(said, SCHEMAS)
    assert (wish.calls[0][1], wish.way, wish.amount) == (
        {"symbol": "IBM", "side": "buy", "order_type": "market"}, "spend", 3000,
    )  # fmt: skip


def test_what_was_worked_out_is_ordered_as_it_was_planned() -> None:
    plan = "10k account, risk 2 percent, entry 195, stop 190, how many shares of ibm?"
    wish = wish_in("place it", SCHEMAS, [plan])
    first = next_step(wish, [], "en")
    assert isinstance(first, UseTools)
    assert first.calls[0][0] == "calculate_position_size"
    then = next_step(wish, [("calculate_position_size", {}, {"quantity": 40})], "en")
    order = {"symbol": "IBM", "side": "buy", "quantity": 40.0, "order_type": "limit", "limit_price": 195.0}
    assert then == UseTools((("create_paper_order", order),))


@pytest.mark.parametrize("said", ["no no, no compres nada todavia", "do not confirm it yet", "don't buy anything"])
def test_who_wants_nothing_ordered_is_told_that_nothing_is(said: str) -> None:
    assert wish_in(said, SCHEMAS, ["buy 5 AAPL"]).intent is Intent.NOT_YET


HELD = {"positions": [{"symbol": one, "quantity": 3.0} for one in ("AAPL", "IBM", "MSFT")]}


def test_what_is_spared_of_all_is_neither_sold_nor_cancelled() -> None:
    wish = wish_in("sell everything except my ibm", SCHEMAS)
    step = next_step(wish, [("get_portfolio", {}, HELD)], "en")
    assert isinstance(step, UseTools)
    assert [(call["symbol"], call["side"], call["quantity"]) for _, call in step.calls] == [
        ("AAPL", "sell", 3.0), ("MSFT", "sell", 3.0),
    ]  # fmt: skip
    orders = [{"symbol": one, "order_id": one, "status": "open"} for one in ("AAPL", "IBM")]
    for said in ("cancela todas mis ordenes menos la de ibm", "cancel all my orders except V, IBM"):
        ended = next_step(wish_in(said, SCHEMAS), [("get_pending_orders", {}, {"orders": orders})], "es")
        assert ended == UseTools((("cancel_paper_order", {"order_id": "AAPL"}),))
    assert wish_in("cancel all my orders except KO", SCHEMAS).calls[0][1]["spared"] == ["KO"]


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("si ibm rompe los 210 compra 5", {"side": "buy", "order_type": "stop", "stop_price": 210.0}),
        ("buy 5 ibm if it gets to 180", {"side": "buy", "order_type": "limit", "limit_price": 180.0}),
        ("buy ibm when it gets to 180, about 5", {"side": "buy", "order_type": "limit", "limit_price": 180.0}),
        ("sell 5 ibm when it hits 210", {"side": "sell", "order_type": "limit", "limit_price": 210.0}),
        ("vende 5 ibm si llega a 180", {"side": "sell", "order_type": "stop", "stop_price": 180.0}),
    ],
)
def test_a_level_is_waited_for_from_the_side_on_which_the_price_is(said: str, order: dict[str, Any]) -> None:
    price = ("get_price", {"symbol": "IBM"}, {"symbol": "IBM", "price": 195.0})
    step = next_step(wish_in(said, SCHEMAS), [price], "en")
    assert step == UseTools((("create_paper_order", {"symbol": "IBM", "quantity": 5.0, **order}),))


@pytest.mark.parametrize(
    ("before", "said", "quantity"),
    [
        (["buy 5 ibm if it gets to 180"], "no, at 150", 5.0),
        (["quiero 2000 euros de google", "no, de ibm"], "mejor 3000", 20.0),
        (["I want 3000 dollars worth of google"], "actually, the same amount of ibm", 20.0),
    ],
)
def test_what_is_worked_out_is_worked_out_anew_in_place_of_the_old_order(
    before: list[str], said: str, quantity: float
) -> None:
    wish = wish_in(said, SCHEMAS, before)
    first = next_step(wish, [], "en")
    assert isinstance(first, UseTools)
    assert [tool for tool, _ in first.calls] == ["get_pending_orders", "get_price"]
    old = {**wish.calls[1][1], "status": "pending_confirmation", "order_id": "old"}
    looked: list[Result] = [
        ("get_pending_orders", {}, {"orders": [old]}),
        ("get_price", {}, {"symbol": "IBM", "price": 150.0}),
    ]
    ((_, made),) = calls_of(wish, looked)
    assert (made["symbol"], made["quantity"], made["replaces"]) == ("IBM", quantity, "old")


OPEN = {"symbol": "IBM", "side": "buy", "quantity": 10.0, "order_type": "limit", "limit_price": 190.0}


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (["list my open orders"], "raise it to 195"),
        ([], "change my order to 195"),
        (["buy 10 ibm limit 190", "yes"], "cambiala a 195"),
    ],
)
def test_an_order_that_is_open_stays_until_the_yes_to_what_replaces_it(before: list[str], said: str) -> None:
    wish = wish_in(said, SCHEMAS, before)
    calls = calls_of(wish, [("get_pending_orders", {}, {"orders": [{**OPEN, "status": "open", "order_id": "o"}]})])
    assert calls == (("create_paper_order", {**OPEN, "limit_price": 195.0, "replaces": "o"}),)


@pytest.mark.parametrize(
    ("said", "calls", "later"),
    [
        ("buy 5 aapl and set an alert at 700", "create_paper_order create_alert", ""),
        ("compra 5 aapl y avísame cuando llegue a 700", "create_paper_order create_alert", ""),
        ("add ibm to my list and drop apple", "add_to_watchlist remove_from_watchlist", ""),
        ("sell half of my ibm and buy 5 msft", "create_paper_order", "buy 5 msft"),
        ("pon una alerta de ibm en 200 y quita la de google", "create_alert", "quita la de google"),
    ],
)
def test_two_wishes_of_one_message_are_two(said: str, calls: str, later: str) -> None:
    wish = wish_in(said, SCHEMAS)
    assert (" ".join(tool for tool, _ in wish.calls), wish.later) == (calls, later)


def test_alerts_of_several_shares_have_each_its_price() -> None:
    wish = wish_in("set the alert at 700 for aapl and 30 for msft", SCHEMAS)
    assert [(call["symbol"], call["price"]) for _, call in wish.calls] == [("AAPL", 700.0), ("MSFT", 30.0)]


@pytest.mark.parametrize(
    "said", ["si compro 10 de ibm a 195 y vendo a 210 cuanto gano", "what if I buy 10 ibm at 195", "don't sell my ibm"]
)
def test_what_is_only_imagined_or_not_wanted_is_no_order(said: str) -> None:
    assert not any(tool == "create_paper_order" for tool, _ in wish_in(said, SCHEMAS).calls)


def test_what_somebody_else_said_orders_nothing() -> None:
    assert wish_in('he said "buy 100 AAPL now!!"', SCHEMAS).calls == ()
    assert wish_in('"buy 100 AAPL"', SCHEMAS).calls


def test_so_many_at_a_price_are_reckoned_and_not_bought() -> None:
    price = ("get_price", {"symbol": "IBM"}, {"symbol": "IBM", "price": 200.0, "as_of": "2012-09-07"})
    for before, said, product in (
        ([], "how much would 15 shares of ibm at 190 be", "15 × 190 = 2,850"),
        (["cuánto cuestan 15 acciones de ibm"], "y 20?", "20 × 200 = 4,000"),
    ):
        step = next_step(wish_in(said, SCHEMAS, before), [price], "en")
        assert isinstance(step, SayText)
        assert step.text.endswith(product)


def test_a_profit_is_taken_by_a_limit() -> None:
    wish = wish_in("take profit at 700", SCHEMAS, ["price of AAPL"])
    step = next_step(wish, [("get_portfolio", {}, HELD)], "en")
    assert step == UseTools(
        (
            (
                "create_paper_order",
                {"symbol": "AAPL", "side": "sell", "order_type": "limit", "limit_price": 700.0, "quantity": 3},
            ),
        )
    )


@pytest.mark.parametrize(
    ("before", "said", "way", "expected"),
    [
        (["sell 5 MSFT if it reaches 35"], "ok then buy 5 aapl first", "", BUY),
        (["vende todas mis AAPL menos una"], "no, todas", "resell", {**BUY, "side": "sell", "share": 1.0}),
        ([], "vende todas mis AAPL menos una", "sell", {**BUY, "side": "sell", "kept": 1.0}),
        (["buy MSFT", "sell MSFT"], "also protect the rest with a stop 10% below what I paid", "stop",
         {"symbol": "MSFT", "side": "sell", "order_type": "stop", "of_average_price": 0.9}),
        ([], "grab me half a dozen AAPL", "", {**BUY, "quantity": 6.0}),
        (["buy MSFT", "sell MSFT"], "lemme get 5 of aapl", "", BUY),
        ([], "fine, buy 5 aapl and 3 msft", "", BUY),
    ],
)  # fmt: skip
def test_an_order_is_no_change_of_another(before: list[str], said: str, way: str, expected: dict[str, Any]) -> None:
    wish = wish_in(said, SCHEMAS, before)
    expected = {name: item for name, item in expected.items() if name != "quantity" or way == ""}
    assert (wish.calls[0][1], wish.way) == (expected, way)


def test_the_first_of_several_alerts_is_changed() -> None:
    before = ["alert me if MSFT goes above 32", "another if it loses 28", "delete the one at 28"]
    alerts = [{"symbol": "MSFT", "condition": ">=", "price": 32.0, "alert_id": "a"},
              {"symbol": "IBM", "condition": "<=", "price": 190.0, "alert_id": "b"}]  # fmt: skip
    wish = wish_in("raise the first to 33", SCHEMAS, before)
    assert replaced(wish, [("list_alerts", {}, {"alerts": alerts})]) == (
        ("delete_alert", {"alert_id": "a"}),
        ("create_alert", {"symbol": "MSFT", "condition": ">=", "price": 33.0}),
    )


@pytest.mark.parametrize(("figure", "changed"), [(188, ("limit_price", 188.0)), (12, ("quantity", 12.0))])
def test_a_listed_order_gets_the_figure_that_is_like_its_own(figure: int, changed: tuple[str, float]) -> None:
    order = {"symbol": "IBM", "side": "buy", "quantity": 8.0, "order_type": "limit", "limit_price": 185.0}
    waiting = {"orders": [{**order, "order_id": "o", "status": "open"}]}
    wish = wish_in(f"make the IBM one {figure}", SCHEMAS, ["my orders"])
    anew = {**order, changed[0]: changed[1], "replaces": "o"}
    assert next_step(wish, [("get_pending_orders", {}, waiting)], "en") == UseTools((("create_paper_order", anew),))


@pytest.mark.parametrize(
    ("said", "way", "remark"),
    [
        ("compra veinte acciones de IBM a 190 límite y vende si llega a 230", "sold_later", "“sell 20 IBM at 230”"),
        ("buy 20 IBM at limit 190 and sell them when it falls to 180", "stop_later", "“put a stop at 180”"),
    ],
)
def test_what_is_sold_after_a_purchase_is_said_to_come_later(said: str, way: str, remark: str) -> None:
    wish = wish_in(said, SCHEMAS)
    assert (wish.way, wish.calls[0][1]["side"], wish.calls[0][1]["limit_price"]) == (way, "buy", 190.0)
    estimate = {"price": 190.0, "amount": 3800.0, "cash_after": 96_200.0, "currency": "USD"}
    step = next_step(wish, [("create_paper_order", {}, {"summary": "Buy 20 IBM", "estimate": estimate})], "en")
    assert isinstance(step, SayText)
    assert remark in step.text
    assert wish_in(f"{said} if it rains", SCHEMAS).intent is Intent.UNREAD


def test_orders_of_one_message_may_begin_with_more_than_their_count() -> None:
    wish = wish_in("put 8 IBM in as a limit at 185 and another 4 GOOG at 640", SCHEMAS)
    assert [(order["symbol"], order["quantity"], order["limit_price"]) for _, order in wish.calls] == [
        ("IBM", 8.0, 185.0), ("GOOG", 4.0, 640.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("what is my biggest position?", "IBM: 10 worth 2,000.00 USD, 2.0% of your portfolio, cash included."),
        ("which of my stocks is losing most?",
         "MSFT: -20.00 USD (-1.6%) on the 40 that you hold, bought at 31.00 on average and now at 30.50; what was sold "
         "is not counted."),
        ("how much did I lose on MSFT?", "MSFT: -20.00 USD (-1.6%) on the 40"),
        ("how much have I made so far?", "All positions together: +30.00 USD since they were bought;"),
        ("how much have I made on AAPL?", "You hold no AAPL."),
        ("qué porcentaje de mi cartera es MSFT", "MSFT: 40 worth 1,220.00 USD, 1.2% of your portfolio"),
        ("my portfolio", "Your portfolio (paper money"),
        ("¿qué tengo ahora?", "Your portfolio (paper money"),
    ],
)  # fmt: skip
def test_what_is_asked_of_the_positions_comes_before_them(said: str, answer: str) -> None:
    positions = [
        {"symbol": "IBM", "quantity": 10, "average_price": 195.0, "price": 200.0, "value": 2000.0, "unrealized": 50.0},
        {"symbol": "MSFT", "quantity": 40, "average_price": 31.0, "price": 30.5, "value": 1220.0, "unrealized": -20.0},
    ]  # fmt: skip
    body = {"positions": positions, "cash": 97_000, "equity": 100_220, "currency": "USD", "as_of": "2012-09-07"}
    wish = wish_in(said, SCHEMAS)
    step = next_step(wish, [("get_portfolio", {}, body), ("get_pending_orders", {}, {"orders": []})], "en")
    assert isinstance(step, SayText)
    assert step.text.startswith(answer)
    assert "- 40 MSFT · 31.00 → 30.50 (-20.00)" in step.text


def test_an_own_loss_with_a_share_is_asked_of_the_portfolio() -> None:
    assert wish_in("cuánto gano o pierdo en apple", SCHEMAS).calls[0][0] == "get_portfolio"
    assert wish_in("cuánto gano si vendo apple", SCHEMAS).calls[0][0] != "get_portfolio"


def test_what_the_cash_buys_is_told() -> None:
    wish = wish_in("could I afford 600 of them", SCHEMAS, ["price of IBM"])
    looked: list[Result] = [
        ("get_price", {}, {"symbol": "IBM", "price": 200.0, "as_of": "2012-09-07"}),
        ("get_portfolio", {}, {"cash": 100_000}),
    ]
    step = next_step(wish, looked, "en")
    assert isinstance(step, SayText)
    assert step.text.splitlines()[1:] == ["600 × 200 = 120,000", "100,000 buys 500 at that price, and leaves 0."]


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("sell all my google unless its down", "unless"), ("vende todas mis ibm salvo que suba de 210", "salvo"),
        ("compra 10 ibm solo si baja", "si"), ("buy 3 msft. no, forget it", "no"),
        ("compra 5 ibm un 10% mas barato", "10"), ("buy 5 ibm with a stop at 190 and target 220", "220"),
        ("buy 5 calls on ibm", "calls"), ("my friend told me to buy 5 ibm", "friend"), ("buy 1.000 AAPL", "1.000"),
    ],
)  # fmt: skip
def test_an_order_of_which_something_was_not_read_is_not_prepared(said: str, word: str) -> None:
    wish = wish_in(said, SCHEMAS)
    assert (wish.intent, wish.words, wish.calls) == (Intent.UNREAD, word, ())
    assert word in plain_answer(wish, "en")


def test_of_several_orders_the_one_that_is_meant_is_kept_or_asked_for() -> None:
    before = ["buy 1,000 msft and 50 ibm"]
    wish = wish_in("actually just the ibm", SCHEMAS, before)
    assert (wish.way, wish.calls) == ("cancel", (("cancel_paper_order", {"symbol": "MSFT"}),))
    assert wish_in("double it", SCHEMAS, before).missing == ("symbol",)


def test_a_share_is_asked_for_where_two_were_named() -> None:
    assert wish_in("buy 5", SCHEMAS, ["price of ibm and msft"]).missing == ("symbol",)
    compared = ["compare ibm with msft this year", "which fell more?"]
    assert wish_in("alert me if it drops under 20", SCHEMAS, compared).missing == ("symbol",)


@pytest.mark.parametrize(
    ("before", "said", "quantity"),
    [("buy 3 msft", "is 5 better?", None), ("buy 3 msft", "no, 10, not 5", 10.0), ("buy 3 msft", "not 3, 5", 5.0)],
)
def test_a_question_or_a_figure_that_is_not_meant_changes_no_order(
    before: str, said: str, quantity: float | None
) -> None:
    calls = wish_in(said, SCHEMAS, [before]).calls
    assert (calls[0][1]["quantity"] if calls else None) == quantity


@pytest.mark.parametrize(
    ("before", "said", "sum_"),
    [("", "buy ibm for 5000", 5000), ("how many ibm for 5000", "buy half of that", 2500),
     ("buy 5000 dollars of ibm", "half that", 2500)],
)  # fmt: skip
def test_an_order_for_a_sum_or_half_of_it(before: str, said: str, sum_: float) -> None:
    wish = wish_in(said, SCHEMAS, [before] if before else [])
    assert (wish.calls[0][0], wish.way, wish.amount) == ("create_paper_order", "spend", sum_)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("sell 5 MSFT not below 40", "limit"),
        ("vende 5 MSFT, pero no por debajo de 40", "limit"),
        ("sell 5 MSFT, not above 40", "stop"),
        ("buy 5 MSFT not above 40", "limit"),
        ("compra 5 MSFT, no por encima de 40", "limit"),
    ],
)
def test_a_level_that_is_negated_is_the_other_side(said: str, kind: str) -> None:
    arguments = wish_in(said, SCHEMAS).calls[0][1]
    assert (arguments["order_type"], arguments[f"{kind}_price"], arguments["quantity"]) == (kind, 40.0, 5.0)


@pytest.mark.parametrize(
    ("before", "said", "condition", "price"),
    [
        ("alert me if msft drops below 25", "actually above 30", ">=", 30.0),
        ("avísame si msft baja de 25", "no, mejor si sube de 30", ">=", 30.0),
        ("avísame cuando google pase de 750", "bájala a 740", ">=", 740.0),
    ],
)
def test_an_alert_turns_if_the_correction_says_which_side(before: str, said: str, condition: str, price: float) -> None:
    arguments = wish_in(said, SCHEMAS, [before]).calls[0][1]
    assert (arguments["condition"], arguments["price"]) == (condition, price)


@pytest.mark.parametrize("said", ["sell half", "put a stop at 400", "put a stop 10% below what I paid"])
def test_what_has_not_filled_yet_is_not_sold_and_that_is_said(said: str) -> None:
    wish = wish_in(said, SCHEMAS, ["buy 20 MSFT at 20 limit"])
    results: list[Result] = [("get_portfolio", {}, {"positions": []})]
    assert next_step(wish, results, "en") == UseTools((("get_pending_orders", {}),))
    order = {"symbol": "MSFT", "side": "buy", "quantity": 20, "order_type": "limit", "limit_price": 20.0}
    results.append(("get_pending_orders", {}, {"orders": [{**order, "status": "open"}]}))
    then = next_step(wish, results, "en")
    assert isinstance(then, SayText)
    assert "has not filled" in then.text
    assert "buy 20 MSFT" in then.text
    none = next_step(wish, [results[0], ("get_pending_orders", {}, {"orders": []})], "en")
    assert isinstance(none, SayText)
    assert none.text.startswith("You do not hold that position.")


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("buy 4 apple", "if it goes to 700 what do i make"),
        ("compra 4 de apple", "¿y si sube hasta 700?"),
        ("buy 4 apple", "how much would I make if it hits 700"),
        ("compra 4 de apple", "cuanto gano si llega a 700"),
    ],
)
def test_an_imagined_price_is_worked_out_for_what_is_held_or_ordered(before: str, said: str) -> None:
    wish = wish_in(said, SCHEMAS, [before])
    assert (wish.way, wish.unit_price, wish.calls[0]) == ("if_moved", 700.0, ("get_price", {"symbol": "AAPL"}))
    price: Result = ("get_price", {}, {"symbol": "AAPL", "price": 500.0})
    held = {"symbol": "AAPL", "quantity": 4.0, "average_price": 600.0}
    told = next_step(wish, [price, ("get_portfolio", {}, {"positions": [held], "equity": 10_000.0})], "en")
    assert isinstance(told, SayText)
    assert "Against the 2,400.00 USD that you paid for them, that would be +400.00 USD." in told.text
    order = {"symbol": "AAPL", "side": "buy", "quantity": 4.0}
    portfolio: Result = ("get_portfolio", {}, {"positions": [], "equity": 10_000.0})
    told = next_step(wish, [price, portfolio, ("get_pending_orders", {}, {"orders": [order]})], "en")
    assert isinstance(told, SayText)
    assert "Your order for 4 AAPL has not filled yet; bought at the current price, that would be +800.00" in told.text
