"""Accounts in the database: many replicas, old orders, what is due."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.monitoring import CommandFailedEvent, CommandListener, CommandStartedEvent, CommandSucceededEvent

from contracts.market_rpc import ActionsRequest
from market_adapter import paper_trading
from market_adapter.adapters.mongo import bounded
from market_adapter.adapters.mongo_accounts import ORDERS, MongoAccounts
from market_adapter.domain.paper.account import Account, Owner
from market_adapter.domain.paper.orders import FINAL, OrderState
from market_adapter.testing.desk import ANN, Desk, market
from runtime.testing.servers import MongoDatabase

KEPT = 20
"""Of finished orders in an account; 200 in a service."""


async def test_many_replicas_fill_an_order_once(store: MongoAccounts) -> None:
    provider = market("100", "100")
    desks = [Desk(provider, store) for _ in range(4)]
    order = await desks[0].order()
    await desks[1].decide(order)
    provider.today += 1
    await asyncio.gather(*[desk.paper_trading.run() for desk in desks])
    assert (await desks[2].paper_trading.current(ANN)).positions["IBM"].quantity == 10
    told = {key for desk in desks for key in desk.published.facts}
    assert len(told) == 2


async def test_old_orders_leave_the_account_and_are_still_known(
    store: MongoAccounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper_trading, "MAX_FINAL_ORDERS", KEPT)
    desk = Desk(market("100", "100"), store)
    filled = await desk.order()
    await desk.decide(filled)
    await desk.bars()
    for number in range(KEPT + 5):
        await desk.call(
            "cancel_paper_order", order_id=await desk.order(call_id=f"x{number}", order_type="limit", limit_price=1)
        )
    account = await desk.paper_trading.current(ANN)
    assert sum(order.state in FINAL for order in account.orders) == KEPT
    assert [one["order_id"] for one in (await desk.call("get_trade_history"))["trades"]] == [filled]
    assert await desk.order() == filled
    assert await desk.decide(filled) == "confirmed"
    assert await store.forget(ANN) == 1 + 6


class Finds(CommandListener):
    """What is asked of the archive."""

    def __init__(self) -> None:
        self.count = 0

    def started(self, event: CommandStartedEvent) -> None:
        self.count += event.command.get("find") == ORDERS

    def succeeded(self, event: CommandSucceededEvent) -> None: ...

    def failed(self, event: CommandFailedEvent) -> None: ...


async def test_how_many_archived_actions_stand_is_one_query(mongo_server: MongoDatabase) -> None:
    finds = Finds()
    async with AsyncMongoClient[dict[str, Any]](mongo_server.url, event_listeners=[finds]) as client:
        desk = Desk(market("100", "100"), MongoAccounts(bounded(client[mongo_server.database])))
        orders = [await desk.order(call_id=f"c{number}") for number in range(4)]
        for order in orders:
            await desk.decide(order, "reject")
        account = await desk.paper_trading.current(ANN)
        await desk.paper_trading.store.archive(ANN, account.orders[:3])
        assert await desk.paper_trading.store.save(replace(account, orders=account.orders[3:]))
        finds.count = 0
        asked = ActionsRequest(company_id="demo", user_id="ann", action_ids=orders)
        found = (await desk.actions.states(asked)).actions
        assert ([one.id for one in found], finds.count) == (orders, 1)


async def test_only_accounts_in_which_something_is_due_are_looked_at(store: MongoAccounts) -> None:
    desk = Desk(market("100", "100", "100"), store)

    async def due() -> list[Owner]:
        return list(await store.due_owners(desk.clock.now(), desk.provider.now()))

    order = await desk.order(order_type="limit", limit_price=50)
    assert await due() == []
    await desk.clock.advance(3600)
    assert await due() == [ANN]  # the hour is over
    await desk.paper_trading.run()
    assert (await due(), await desk.state(order)) == ([], OrderState.EXPIRED)
    await desk.decide(await desk.order(call_id="c2", order_type="limit", limit_price=50))
    assert await due() == []
    desk.provider.today += 1
    assert await due() == [ANN]  # the market has moved
    await desk.paper_trading.run()
    assert await due() == []
    desk.published.away = True
    await desk.decide(await desk.order(call_id="c3"), "reject")
    assert await due() == [ANN]  # a fact is untold
    desk.published.away = False
    await desk.paper_trading.run()
    assert await due() == []


async def test_an_account_of_a_newer_release_is_read_and_keeps_what_is_not_known_here(
    mongo_server: MongoDatabase, store: MongoAccounts
) -> None:
    owner = Owner("demo", "newer-account")
    assert await store.save(Account(owner))
    async with AsyncMongoClient[dict[str, Any]](mongo_server.url) as client:
        rows = client[mongo_server.database]["market_accounts"]
        odd = {"id": "o1", "type": "trailing_stop", "trail": "5"}
        more = {"risk": {"a": 1}, "account.margin": "100", "account.orders": [odd]}
        await rows.update_one({"_id": str(owner)}, {"$set": more})
        for cash in ("1.00", "2.00"):
            account = await store.load(owner)
            assert account.orders == ()
            assert await store.save(replace(account, cash=Decimal(cash)))
        row = await rows.find_one({"_id": str(owner)})
        assert row is not None
        body = row["account"]
        assert (row["risk"], body["margin"], body["orders"], body["cash"]) == ({"a": 1}, "100", [odd], "2.00")
