"""Paper trading over real servers: orders, a person's yes, fills, one rule a test."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from contracts.events.market import ActionDecided
from contracts.market_rpc import ActionDecideRequest, ActionsRequest
from contracts.memory_rpc import UserRef
from market_adapter.adapters.mongo_accounts import MongoAccounts
from market_adapter.domain.bars import Split
from market_adapter.domain.paper.account import OPENING_CASH, Account, Owner, Position
from market_adapter.domain.paper.orders import OrderState
from market_adapter.paper_trading import CONCURRENCY
from market_adapter.testing.desk import ANN, Desk, market
from market_adapter.testing.markets import FIRST_DAY, ScriptedProvider, bar
from runtime.errors import RpcError


async def test_an_order_goes_from_a_question_to_a_fill(store: MongoAccounts) -> None:
    desk = Desk(market("100", "101.50", "103"), store)
    made = await desk.call("create_paper_order", symbol="ibm", side="buy", quantity=10, order_type="market")
    assert (made["status"], made["paper"], made["source"]) == ("pending_confirmation", True, "scripted")
    assert made["estimate"] == {"price": 100, "amount": 1000, "cash_after": 99000, "currency": "USD"}
    pending = await desk.actions.pending(UserRef(company_id="demo", user_id="ann"))
    assert [action.id for action in pending.actions] == [made["action_id"]]
    await desk.bars()
    assert (await desk.call("get_portfolio"))["cash"] == 100000  # nothing is placed before the yes
    assert await desk.decide(made["action_id"], content_hash=made["content_hash"]) == "confirmed"
    assert (await desk.call("get_portfolio"))["buying_power"] == 99000
    await desk.bars()
    assert await desk.call("get_portfolio") == {
        "positions": [{
            "symbol": "IBM", "quantity": 10, "average_price": 103, "cost": 1030, "price": 103, "value": 1030,
            "unrealized": 0,
        }],
        "cash": 98970, "reserved": 0, "buying_power": 98970, "equity": 100000, "realized": 0, "dividends": 0,
        "currency": "USD", "paper": True, "source": "scripted", "as_of": "2024-01-03T21:00:00Z",
    }  # fmt: skip
    trades = (await desk.call("get_trade_history"))["trades"]
    assert [(trade["order_id"], trade["price"], trade["realized"]) for trade in trades] == [
        (made["action_id"], 103, None)
    ]
    (fact,) = desk.published.of("order.filled.v1")
    assert (fact["price"], fact["amount"], fact["state"], fact["source"]) == ("103", "1030.00", "filled", "scripted")
    (decided,) = desk.published.of("action.decided.v1")
    assert (decided["action"]["state"], decided["conversationId"]) == ("confirmed", "talk")


async def test_the_bar_in_which_an_order_came_never_fills_it() -> None:
    desk = Desk(market("100", "90"))
    order = await desk.order(order_type="limit", limit_price=150)
    await desk.decide(order)
    await desk.paper_trading.run()
    assert await desk.state(order) is OrderState.OPEN
    await desk.bars()
    assert await desk.state(order) is OrderState.FILLED


async def test_profit_and_loss_are_exact_to_the_cent() -> None:
    desk = Desk(market("10", "10.01", "10.02", "10.07", "10.07"))
    for call_id in ("a", "b"):
        await desk.decide(await desk.order(call_id=call_id, quantity=3))
        await desk.bars()
    assert (await desk.paper_trading.current(ANN)).positions["IBM"].cost == Decimal("60.09")
    await desk.decide(await desk.order("sell", "c", quantity="1"))
    await desk.bars()
    trades = (await desk.call("get_trade_history", limit=1))["trades"]
    assert (trades[0]["realized"], trades[0]["price"]) == (pytest.approx(10.07 - 10.02, abs=0.006), 10.07)
    account = await desk.paper_trading.current(ANN)
    assert account.cash + account.positions["IBM"].cost - OPENING_CASH == Decimal(str(trades[0]["realized"]))


async def test_the_same_call_again_is_the_same_order(store: MongoAccounts) -> None:
    desk = Desk(market("100", "100"), store)
    first = [await desk.order() for _ in range(3)]
    at_once = await asyncio.gather(*[desk.order(call_id="c2") for _ in range(5)])
    assert len(set(first)) == len(set(at_once)) == 1
    assert len((await desk.call("get_pending_orders"))["orders"]) == 2


async def test_confirming_twice_places_one_order(store: MongoAccounts) -> None:
    desk = Desk(market("100", "100"), store)
    order = await desk.order()
    assert await asyncio.gather(*[desk.decide(order) for _ in range(4)]) == ["confirmed"] * 4
    assert await desk.decide(order, "reject") == "confirmed"  # the first decision stands
    await desk.bars()
    assert (await desk.paper_trading.current(ANN)).positions["IBM"].quantity == 10
    assert len(desk.published.of("action.decided.v1")) == 1


async def test_a_no_places_nothing_and_stays_a_no() -> None:
    desk = Desk(market("100", "100"))
    order = await desk.order()
    assert [await desk.decide(order, "reject"), await desk.decide(order)] == ["rejected", "rejected"]
    assert await desk.state(order) is OrderState.REJECTED


async def test_how_actions_stand_is_told_to_their_own_user_alone() -> None:
    desk = Desk(market("100", "100"))
    order, late = await desk.order(), await desk.order(call_id="c2")
    await desk.decide(order, "reject")

    async def told(user: str) -> list[tuple[str, str]]:
        asked = ActionsRequest(company_id="demo", user_id=user, action_ids=[order, late, "nobodys"])
        return [(action.id, action.state.value) for action in (await desk.actions.states(asked)).actions]

    assert await told("ann") == [(order, "rejected"), (late, "pending")]
    assert await told("bob") == []


async def test_a_yes_after_the_hour_places_nothing() -> None:
    desk = Desk(market("100", "100"))
    order = await desk.order()
    await desk.clock.advance(4000)
    assert await desk.decide(order) == "expired"
    late = await desk.order(call_id="c2")
    await desk.clock.advance(3600)
    await desk.paper_trading.run()  # nobody asks: it runs out by itself, and that is told
    assert await desk.state(late) is OrderState.EXPIRED
    facts = desk.published.of("action.decided.v1")
    actions = [fact["action"] for fact in facts]
    assert [action["state"] for action in actions] == ["expired", "expired"]
    # When it ran out, not when that was seen.
    decided = [ActionDecided.model_validate(fact) for fact in facts]
    assert [one.decided_at for one in decided] == [one.action.expires_at for one in decided]
    assert [one["details"]["decidedAt"] for one in actions] == [one["expiresAt"] for one in actions]


async def test_a_yes_is_bound_to_what_was_shown() -> None:
    desk = Desk(market("100", "100"))
    order = await desk.order()
    with pytest.raises(RpcError, match="not the action that was shown"):
        await desk.decide(order, content_hash="another")
    with pytest.raises(RpcError, match="no es la acción que se mostró"):
        await desk.decide(order, content_hash="another", language="es-ES")
    stored = desk.memory.accounts[str(ANN)]
    forged = replace(stored.orders[0], quantity=Decimal(1000))
    desk.memory.accounts[str(ANN)] = replace(stored, orders=(forged,))
    assert await desk.decide(order) == "failed"
    assert await desk.state(order) is OrderState.REJECTED


async def test_a_yes_while_the_market_is_silent_is_asked_for_again_and_a_no_is_a_no() -> None:
    desk = Desk(market("100", "100"))
    waiting, unwanted = await desk.order(), await desk.order(call_id="c2")
    bars = desk.provider.all_bars.pop("IBM")
    desk.provider.all_bars["MSFT"] = bars
    with pytest.raises(RpcError) as raised:
        await desk.decide(waiting)
    assert (raised.value.code, raised.value.retryable) == ("UNAVAILABLE", True)
    with pytest.raises(RpcError, match="el mercado no dice nada de IBM"):
        await desk.decide(waiting, language="es")
    assert await desk.decide(unwanted, "reject") == "rejected"
    desk.provider.all_bars["IBM"] = bars
    assert await desk.decide(waiting) == "confirmed"


async def test_nobody_decides_about_somebody_elses_order() -> None:
    desk = Desk(market("100"))
    order = await desk.order()
    asked = {"company_id": "demo", "user_id": "bob", "action_id": order, "decision": "confirm"}
    with pytest.raises(RpcError) as raised:
        await desk.actions.decide(ActionDecideRequest.model_validate(asked))
    assert raised.value.code == "NOT_FOUND"
    with pytest.raises(RpcError, match="no tienes ninguna acción"):
        await desk.actions.decide(ActionDecideRequest.model_validate(asked | {"language": "es"}))
    with pytest.raises(RpcError) as raised:
        await desk.call("cancel_paper_order", user="bob", order_id=order)
    assert raised.value.reason == "not_found"


async def test_cash_and_shares_are_promised_once() -> None:
    desk = Desk(market("100", "100", "100"))
    first = await desk.order(quantity=600, order_type="limit", limit_price=100)
    second = await desk.order(call_id="c2", quantity=600, order_type="limit", limit_price=100)
    assert [await desk.decide(first), await desk.decide(second)] == ["confirmed", "failed"]
    await desk.call("cancel_paper_order", order_id=first)
    assert (await desk.call("get_portfolio"))["buying_power"] == 100000
    await desk.decide(await desk.order(call_id="c3"))
    await desk.bars()
    await desk.decide(await desk.order("sell", "c4", quantity=8, order_type="limit", limit_price=200))
    with pytest.raises(RpcError, match="2 IBM are free to sell"):
        await desk.order("sell", "c5", quantity=3)


async def test_a_price_that_ran_away_is_not_paid_with_money_that_is_not_there() -> None:
    desk = Desk(market("100", "150"))
    order = await desk.order(quantity=1000)
    await desk.decide(order)
    await desk.bars()
    assert await desk.state(order) is OrderState.REJECTED
    assert (await desk.call("get_portfolio"))["cash"] == 100000


async def test_a_big_order_is_filled_in_parts() -> None:
    provider = ScriptedProvider({"IBM": [bar(day, "1", "1", "1", "1", volume=400) for day in range(4)]})
    desk = Desk(provider)
    order = await desk.order(quantity=100)
    await desk.decide(order)
    states: list[str] = []
    for _ in range(3):
        await desk.bars()
        states.append((await desk.state(order)).value)
    assert states == ["partially_filled", "partially_filled", "filled"]
    assert [fact["quantity"] for fact in desk.published.of("order.filled.v1")] == ["40", "40", "20"]


async def test_a_stop_goes_before_a_target_in_the_same_bar() -> None:
    wide = bar(2, "100", "120", "80", "100")
    desk = Desk(
        ScriptedProvider({"IBM": [bar(0, "100", "100", "100", "100"), bar(1, "100", "100", "100", "100"), wide]})
    )
    await desk.decide(await desk.order(quantity=20))
    await desk.bars()
    target = await desk.order("sell", "t", order_type="limit", limit_price=110)
    stop = await desk.order("sell", "s", order_type="stop", stop_price=90)
    for order in (target, stop):
        await desk.decide(order)
    await desk.bars()
    assert [fact["orderId"] for fact in desk.published.of("order.filled.v1")][1:] == [stop, target]


async def test_an_order_expires_after_ninety_days_of_the_market() -> None:
    desk = Desk(market(*["100"] * 100))
    order = await desk.order(order_type="limit", limit_price=50)
    await desk.decide(order)
    await desk.bars(89)
    assert await desk.state(order) is OrderState.OPEN
    await desk.bars(1)
    assert await desk.state(order) is OrderState.EXPIRED


async def test_holdings_and_open_orders_follow_a_split() -> None:
    split = Split(FIRST_DAY + timedelta(days=2), Fraction(2))
    desk = Desk(market("100", "100", "50", "40", "40", splits=(split,)))
    await desk.decide(await desk.order())
    await desk.bars()
    stop = await desk.order("sell", "s", order_type="stop", stop_price=90)
    await desk.decide(stop)
    pending = await desk.order("buy", "p")
    await desk.bars()
    assert await desk.state(stop) is OrderState.OPEN  # 50 is no fall below 90: it is 45 now
    held = (await desk.call("get_portfolio"))["positions"][0]
    assert (held["quantity"], held["average_price"], held["value"]) == (20, 50, 1000)
    assert await desk.decide(pending) == "failed"  # ten shares are not what they were when it was shown
    await desk.bars()
    assert await desk.state(stop) is OrderState.FILLED
    account = await desk.paper_trading.current(ANN)
    assert (account.cash, account.positions) == (OPENING_CASH - 1000 + 800, {})


async def test_what_is_final_cannot_be_cancelled_and_what_is_cancelled_stays_so() -> None:
    desk = Desk(market("100", "100"))
    order = await desk.order()
    for _ in range(2):
        assert (await desk.call("cancel_paper_order", order_id=order))["status"] == "cancelled"
    filled = await desk.order(call_id="c2")
    await desk.decide(filled)
    await desk.bars()
    with pytest.raises(RpcError) as raised:
        await desk.call("cancel_paper_order", order_id=filled)
    assert raised.value.reason == "final"


async def test_a_fact_waits_until_the_bus_is_back() -> None:
    desk = Desk(market("100", "100"))
    desk.published.away = True
    await desk.decide(await desk.order())
    await desk.bars()
    assert desk.published.facts == {}
    desk.published.away = False
    await desk.paper_trading.run()
    await desk.paper_trading.run()
    assert desk.published.times == 2  # the decision and the fill, once each


async def test_an_account_that_cannot_be_dealt_with_holds_up_nobody_else() -> None:
    desk = Desk(market("100", "100"))
    spoilt = Owner("demo", "aaa")
    nonsense = Position("A,B", Decimal(1), Decimal(1), FIRST_DAY)
    desk.memory.accounts[str(spoilt)] = Account(spoilt, positions={"A,B": nonsense}, version=1)
    order = await desk.order()
    await desk.decide(order)
    await desk.bars()
    stored = desk.memory.accounts[str(ANN)].order(order)
    assert stored is not None
    assert stored.state is OrderState.FILLED


async def test_an_accounts_symbols_are_asked_for_side_by_side_and_no_more_at_once_than_allowed() -> None:
    names = [f"S{letter}" for letter in "ABCDEFG"]
    desk = Desk(ScriptedProvider({name: [bar(day, "1", "1", "1", "1") for day in range(2)] for name in names}))
    for name in names:
        await desk.decide(await desk.order(call_id=name, symbol=name, order_type="limit", limit_price=0.5))
    daily, inside, most, full = desk.provider.daily_history, 0, 0, asyncio.Event()

    async def asked(symbol: Any, limit: int) -> Any:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        if inside == CONCURRENCY:
            full.set()
        await asyncio.wait_for(full.wait(), 20)
        try:
            return await daily(symbol, limit)
        finally:
            inside -= 1

    desk.provider.daily_history = asked
    await desk.paper_trading.current(Owner("demo", "ann"))
    assert most == CONCURRENCY


async def test_a_caller_without_a_user_has_no_account() -> None:
    with pytest.raises(RpcError) as raised:
        await Desk(market("100")).call("get_portfolio", user=None)
    assert raised.value.reason == "no_user"
