"""Orders in place of others: the old one waits until the yes to its successor, and is never filled beside it."""

from typing import Any

import pytest

from market_adapter.domain.paper.orders import OrderState
from market_adapter.testing.desk import ANN, Crash, Desk, market
from runtime.errors import RpcError

LIMIT: dict[str, Any] = {"order_type": "limit", "limit_price": 90}


async def opened(desk: Desk, quantity: int = 900) -> str:
    """An open order that holds back most of the cash."""
    order = await desk.order(call_id="old", quantity=quantity, **LIMIT)
    await desk.decide(order)
    return order


@pytest.mark.parametrize(
    ("decision", "old", "new"),
    [("confirm", OrderState.CANCELLED, OrderState.OPEN), ("reject", OrderState.OPEN, OrderState.REJECTED)],
)
async def test_the_old_order_stays_until_the_yes(decision: str, old: OrderState, new: OrderState) -> None:
    desk = Desk(market("100", "100"))
    first = await opened(desk)
    asked = await desk.call(
        "create_paper_order", "new", symbol="IBM", side="buy", quantity=800, replaces=first, **LIMIT
    )
    assert (await desk.state(first), asked["summary"]) == (
        OrderState.OPEN,
        "Buy 800 IBM limit 90 (paper), in place of the one that waits",
    )
    assert asked["estimate"]["cash_after"] == 100_000 - 800 * 90  # what the old one holds back is free then
    await desk.decide(asked["action_id"], decision)
    assert (await desk.state(first), await desk.state(asked["action_id"])) == (old, new)


async def test_what_was_filled_before_the_yes_is_not_bought_again() -> None:
    desk = Desk(market("100", "80", "100"))
    first = await opened(desk, 10)
    second = await desk.order(call_id="new", quantity=12, replaces=first, **LIMIT)
    await desk.bars()
    assert await desk.decide(second) == "failed"
    assert (await desk.state(first), await desk.state(second)) == (OrderState.FILLED, OrderState.REJECTED)
    with pytest.raises(RpcError) as raised:
        await desk.order(call_id="third", quantity=12, replaces=first, **LIMIT)
    assert raised.value.reason == "changed"


async def test_a_question_that_waits_gives_way_to_its_successor_which_replaces_what_it_would_have() -> None:
    desk = Desk(market("100", "100"))
    first = await opened(desk)
    second = await desk.order(call_id="second", quantity=800, replaces=first, **LIMIT)
    third = await desk.order(call_id="third", quantity=700, replaces=second, **LIMIT)
    assert (await desk.state(first), await desk.state(second)) == (OrderState.OPEN, OrderState.CANCELLED)
    await desk.decide(third)
    assert (await desk.state(first), await desk.state(third)) == (OrderState.CANCELLED, OrderState.OPEN)


@pytest.mark.parametrize("die", ["before", "after"])
async def test_a_crash_at_the_yes_leaves_one_of_the_two_and_its_repetition_the_new_one(die: str) -> None:
    desk = Desk(market("100", "100"))
    first = await opened(desk)
    desk.memory.die = die
    with pytest.raises(Crash):
        await desk.order(call_id="new", quantity=800, replaces=first, **LIMIT)
    desk.memory.die = ""
    second = await desk.order(call_id="new", quantity=800, replaces=first, **LIMIT)
    desk.memory.die = die
    with pytest.raises(Crash):
        await desk.decide(second)
    desk.memory.die = ""
    account = await desk.memory.load(ANN)
    assert [order.live for order in account.orders].count(True) == 1
    await desk.decide(second)
    assert (await desk.state(first), await desk.state(second)) == (OrderState.CANCELLED, OrderState.OPEN)
    assert len((await desk.memory.load(ANN)).orders) == 2
