"""What becomes of a confirmed order is told: filled, ended by the market, taken back; once, or until it was heard."""

from datetime import timedelta
from typing import Any

import pytest

from contracts.events.registry import BY_TYPE
from contracts.market_rpc import AlertsToldRequest
from contracts.memory_rpc import UserRef
from market_adapter.domain.paper.account import CLOSED, FILLED
from market_adapter.testing.desk import Desk, market
from market_adapter.testing.markets import FIRST_DAY, ScriptedProvider, bar
from market_adapter.unseen_news import UnseenNews

ANN_REF = UserRef(company_id="demo", user_id="ann")


class NoAlerts:
    """A user without alerts."""

    async def untold(self, owner: Any) -> list[Any]:
        del owner
        return []


def untold(desk: Desk) -> UnseenNews:
    return UnseenNews(NoAlerts(), desk.paper_trading)  # pyright: ignore[reportArgumentType] - of alerts it asks nothing else


def expiring() -> ScriptedProvider:
    """A market that never reaches a limit of 50, for longer than an order is good."""
    return ScriptedProvider({"IBM": [bar(day, "100", "100", "100", "100") for day in range(100)]})


async def test_a_gap_above_the_cash_is_told_with_its_reason() -> None:
    desk = Desk(market("100", "100", "100.50"))
    order = await desk.order(quantity=999)
    await desk.decide(order)
    desk.provider.all_bars["IBM"] = [bar(0, "100", "100", "100", "100"), bar(1, "101", "101", "101", "101")]
    await desk.bars()
    (fact,) = desk.published.of(CLOSED)
    BY_TYPE[CLOSED].data.model_validate(fact)
    assert (fact["order"]["state"], fact["order"]["reason"]) == ("rejected", "insufficient_cash")
    assert (fact["action"]["state"], fact["action"]["details"]["outcome"]) == (
        "failed",
        "Not executed: the price went beyond the cash that was free",
    )
    (closed,) = (await desk.call("get_pending_orders"))["closed"]
    assert (closed["order_id"], closed["status"], closed["reason"]) == (order, "rejected", "insufficient_cash")


async def test_an_order_that_ran_out_of_time_is_told() -> None:
    desk = Desk(expiring())
    order = await desk.order(order_type="limit", limit_price=50)
    await desk.decide(order)
    await desk.bars(99)
    (fact,) = desk.published.of(CLOSED)
    BY_TYPE[CLOSED].data.model_validate(fact)
    assert (fact["order"]["state"], fact["action"]["state"], fact["action"]["id"]) == ("expired", "expired", order)
    assert fact["order"]["time"].startswith((FIRST_DAY + timedelta(days=90)).isoformat())


async def test_an_order_that_is_taken_back_after_its_yes_is_told_to_other_chats() -> None:
    desk = Desk(expiring())
    order = await desk.order(order_type="limit", limit_price=50)
    await desk.decide(order)
    for _ in range(2):
        await desk.call("cancel_paper_order", "c2", order_id=order)
    (fact,) = desk.published.of(CLOSED)
    assert (fact["order"]["state"], fact["action"]["details"]["outcome"]) == ("cancelled", "Cancelled")
    assert (await untold(desk).untold(ANN_REF)).actions == []  # whoever took it back knows


@pytest.mark.parametrize("language", ["es", "en"])
async def test_a_fill_carries_the_action_as_it_is_in_the_callers_language(language: str) -> None:
    desk = Desk(market("100", "101.50", "103"))
    desk.language = language
    await desk.decide(await desk.order())
    await desk.bars()
    (fact,) = desk.published.of(FILLED)
    BY_TYPE[FILLED].data.model_validate(fact)
    assert (fact["action"]["state"], fact["action"]["details"]["filledQuantity"]) == ("confirmed", "10")
    said = {"es": "Ejecutada: 10 a 101,5 USD", "en": "Filled: 10 at 101.5 USD"}
    assert fact["action"]["details"]["outcome"] == said[language]


async def test_what_nobody_has_heard_waits_until_somebody_has() -> None:
    desk = Desk(market("100", "101", "102"))
    order = await desk.order()
    await desk.decide(order)
    assert (await untold(desk).untold(ANN_REF)).actions == []  # a yes is its own answer
    await desk.bars()
    (action,) = (await untold(desk).untold(ANN_REF)).actions
    assert (action.id, action.details["status"]) == (order, "filled")
    mine = AlertsToldRequest(company_id="demo", user_id="ann", action_ids=[order, "other"])
    assert [(await untold(desk).mark_told(mine)).told for _ in range(2)] == [1, 0]
    assert (await untold(desk).untold(ANN_REF)).actions == []
