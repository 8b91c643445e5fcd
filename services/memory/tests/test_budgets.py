"""Budgets on a cluster: never over by more than one reservation, nothing held for ever, nothing counted twice."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from contracts.channels import fact
from contracts.envelope import CloudEvent
from contracts.events.chat import Usage
from contracts.events.fact import UsageRecorded, UsageReservation
from contracts.knowledge import KnowledgeQuery
from contracts.knowledge_rpc import DOCUMENT_PUT, DocumentPut
from contracts.memory_rpc import (
    BUDGET_RESERVE,
    BUDGET_SETTLE,
    BudgetReserveRequest,
    BudgetSettleRequest,
    FurtherCall,
)
from contracts.streams import FACTS
from memory.adapters.redis_budgets import MAX_SETTLED_AT_ONCE, RedisBudgets
from memory.application.budgets import DAY, HOUR, BudgetBook
from memory.testing.harness import Replica, Servers, replica
from runtime.bus.publisher import Publisher
from runtime.errors import RpcError
from runtime.stores.redis_client import redis_client
from runtime.testing.cluster import run_valkey_cluster
from runtime.testing.servers import ValkeyServer, eventually

NOON = 20_000 * DAY + DAY // 2


class Ledgers:
    """Budgets of several replicas on one server, with a clock that is set by hand."""

    def __init__(self, url: str, count: int = 4) -> None:
        self.now = float(NOON)
        self.clients = [redis_client(url, 10.0, name="test") for _ in range(count)]
        self.all = [BudgetBook(RedisBudgets(client), lambda: self.now) for client in self.clients]
        self.one = self.all[0]

    async def account(self, name: str) -> tuple[int, int]:
        """(used, held) of company acme's account, e.g. main:day:20000."""
        used, held = await self.clients[0].hmget(f"nexus:budget:{{acme}}:{name}", ["used", "held"])  # pyright: ignore[reportGeneralTypeIssues, reportUnknownMemberType, reportUnknownVariableType]
        return int(used or 0), int(held or 0)  # pyright: ignore[reportUnknownArgumentType]


@pytest.fixture
async def ledgers(tmp_path: Path) -> AsyncIterator[Ledgers]:
    with run_valkey_cluster(tmp_path) as (server,):
        ledgers = Ledgers(server.url)
        yield ledgers
        for client in ledgers.clients:
            await client.aclose()


def ask(
    call: str,
    tokens: int = 100,
    *,
    payer: str | None = "v1",
    daily: int | None = None,
    hourly: int | None = None,
    seconds: float = 60,
) -> BudgetReserveRequest:
    return BudgetReserveRequest(
        company_id="acme",
        reservation_id=call,
        tokens=tokens,
        seconds=seconds,
        payer=payer,
        daily_tokens=daily,
        hourly_tokens=hourly,
    )


def used(
    call: str, tokens: int, reserved: int = 100, *, payer: str | None = "v1", at: int = NOON, company: str = "acme"
) -> BudgetSettleRequest:
    return BudgetSettleRequest(
        company_id=company, reservation_id=call, reserved=reserved, used=tokens, reserved_at=at, payer=payer
    )


async def publish_twice(one: Replica, data: UsageRecorded) -> None:
    """Publishes usage as the bus may deliver it: two copies of one event."""
    event = CloudEvent(source="/test", type="usage.recorded.v1", data=data)
    for copy in range(2):
        subject = fact("usage.recorded.v1", "acme", "v1")
        await Publisher(one.client).append(subject, event, stream=FACTS.name, msg_id=f"{event.id}-{copy}")


async def test_of_64_calls_at_once_the_last_one_granted_passes_the_limit_by_less_than_itself(ledgers: Ledgers) -> None:
    for daily, hourly, payer in ((1000, None, "company"), (None, 1050, "visitor")):
        requests = [ask(f"{payer}-{n}", daily=daily, hourly=hourly) for n in range(64)]
        granted = await asyncio.gather(*(ledgers.all[n % 4].reserve(request) for n, request in enumerate(requests)))
        assert sum(spent is None for spent, _ in granted) == (10 if daily else 11)
        assert {spent for spent, _ in granted} == {None, payer}
        await asyncio.gather(*(ledgers.one.settle(used(request.reservation_id, 0)) for request in requests))


async def test_64_parallel_turns_of_many_calls_end_within_one_reservation_of_the_limit(ledgers: Ledgers) -> None:
    total = 0

    async def turn(number: int) -> None:
        nonlocal total
        for step in range(20):
            call = f"t{number}-{step}"
            budgets = ledgers.all[(number + step) % 4]
            spent, at = await budgets.reserve(ask(call, 100, payer=f"v{number % 8}", daily=20_000))
            if spent:
                return
            tokens = 37 + (number * 7 + step * 13) % 64
            await budgets.settle(used(call, tokens, payer=f"v{number % 8}", at=at))
            total += tokens

    await asyncio.gather(*(turn(number) for number in range(64)))
    assert 20_000 <= total < 20_100
    assert await ledgers.account("main:day:20000") == (total, 0)


async def test_a_thousand_calls_at_once_on_one_replica_are_all_decided(ledgers: Ledgers) -> None:
    granted = await asyncio.gather(*(ledgers.one.reserve(ask(f"n{n}", payer=f"v{n}", hourly=1)) for n in range(1000)))
    assert all(spent is None for spent, _ in granted)
    assert await ledgers.account("main:day:20000") == (0, 100_000)


async def test_what_was_not_used_is_free_again(ledgers: Ledgers) -> None:
    assert (await ledgers.one.reserve(ask("a", daily=100)))[0] is None
    assert (await ledgers.one.reserve(ask("b", daily=100)))[0] == "company"
    assert await ledgers.one.settle(used("a", 40))
    assert (await ledgers.one.reserve(ask("b", daily=100)))[0] is None
    assert await ledgers.account("main:day:20000") == (40, 100)


async def test_a_repeat_reserves_and_counts_nothing_twice(ledgers: Ledgers) -> None:
    for _ in range(3):
        assert (await ledgers.one.reserve(ask("a", daily=100)))[0] is None
    assert await ledgers.account("main:day:20000") == (0, 100)
    assert [await ledgers.one.settle(used("a", 40)) for _ in range(3)] == [True, False, False]
    assert await ledgers.account("main:day:20000") == (40, 0)


async def test_several_are_settled_at_once_each_as_if_alone(ledgers: Ledgers) -> None:
    for call in ("a", "b", "c"):
        assert (await ledgers.one.reserve(ask(call, daily=1000)))[0] is None
    assert await ledgers.one.settle(used("a", 40))
    await ledgers.one.settle_all([used("a", 40), used("b", 7), used("b", 7)])
    assert await ledgers.account("main:day:20000") == (47, 100)
    await ledgers.one.settle_all([])


@pytest.mark.own_servers
async def test_a_companys_calls_are_settled_by_few_scripts(ledgers: Ledgers) -> None:
    calls = [f"c{number}" for number in range(MAX_SETTLED_AT_ONCE + 1)]
    for call in calls[-2:]:
        assert (await ledgers.one.reserve(ask(call, daily=1000, hourly=1000)))[0] is None
    await ledgers.one.settle_all([used(call, 3, company=company) for call in calls for company in ("acme", "other")])
    for account in ("main:day:20000", f"main:hour:{NOON // 3600}:v1"):
        assert await ledgers.account(account) == (3 * len(calls), 0)
    statistics = await ledgers.clients[0].info("commandstats")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    assert statistics["cmdstat_eval"]["calls"] == 4


async def test_a_refused_call_holds_nothing_of_either_purse(ledgers: Ledgers) -> None:
    assert (await ledgers.one.reserve(ask("a", daily=1000, hourly=0)))[0] == "visitor"
    assert await ledgers.account("main:day:20000") == (0, 0)


async def test_a_reservation_whose_caller_was_killed_is_let_go(ledgers: Ledgers) -> None:
    assert (await ledgers.one.reserve(ask("killed", 500, daily=500, seconds=0.05)))[0] is None

    async def free() -> bool:
        return (await ledgers.one.reserve(ask("next", 10, daily=500)))[0] is None

    await eventually(free)
    assert await ledgers.account("main:day:20000") == (0, 10)
    # Its bill comes late, and counts all the same.
    assert await ledgers.one.settle(used("killed", 300, reserved=500))
    assert await ledgers.account("main:day:20000") == (300, 10)


async def test_days_hours_visitors_and_tiers_have_limits_of_their_own(ledgers: Ledgers) -> None:
    one = ledgers.one
    assert (await one.reserve(ask("a", hourly=100)))[0] is None
    assert (await one.reserve(ask("b", hourly=100)))[0] == "visitor"
    assert (await one.reserve(ask("b", hourly=100, payer="v2")))[0] is None
    assert (await one.reserve(ask("c", hourly=100).model_copy(update={"tier": "cheaper"})))[0] is None
    ledgers.now += HOUR
    assert (await one.reserve(ask("d", hourly=100)))[0] is None
    assert (await one.reserve(ask("e", payer=None, daily=100)))[0] == "company"
    ledgers.now += DAY
    assert (await one.reserve(ask("f", payer=None, daily=100)))[0] is None


async def test_a_bill_counts_for_the_day_on_which_it_was_reserved(ledgers: Ledgers) -> None:
    spent, at = await ledgers.one.reserve(ask("a", daily=100))
    ledgers.now += DAY
    assert spent is None
    assert await ledgers.one.settle(used("a", 70, at=at))
    assert await ledgers.account("main:day:20000") == (70, 0)
    assert await ledgers.account("main:day:20001") == (0, 0)


async def test_accounts_do_not_stay_for_ever(ledgers: Ledgers) -> None:
    _, at = await ledgers.one.reserve(ask("a", daily=100))
    await ledgers.one.reserve(ask("b", daily=1000))
    await ledgers.one.settle(used("a", 70, at=at))
    client = ledgers.clients[0]
    keys = await client.keys("nexus:budget:*")  # pyright: ignore[reportUnknownMemberType]
    assert keys
    assert all([0 < await client.ttl(key) <= 2 * DAY for key in keys])


async def test_budgets_are_served_on_the_bus(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers):
        reply = await one.rpc.call(BUDGET_RESERVE, ask("a", daily=50))
        assert (reply.granted, reply.spent) == (True, None)
        refused = await one.rpc.call(BUDGET_RESERVE, ask("b", daily=50))
        assert (refused.granted, refused.spent) == (False, "company")
        assert (await one.rpc.call(BUDGET_SETTLE, used("a", 10, at=reply.reserved_at))).settled
        assert (await one.rpc.call(BUDGET_RESERVE, ask("b", daily=50))).granted


async def test_a_call_that_may_follow_is_reserved_while_half_of_every_limit_stays_free(ledgers: Ledgers) -> None:
    def both(call: str, *, daily: int | None = None, hourly: int | None = None) -> BudgetReserveRequest:
        further = FurtherCall(reservation_id=f"{call}-2", tokens=150)
        return ask(call, 100, daily=daily, hourly=hourly).model_copy(update={"further": further})

    one, day = ledgers.one, f"main:day:{NOON // DAY}"
    assert (await one.reserve(both("a", daily=500)))[0] == "both"
    assert (await one.reserve(both("a", daily=500)))[0] == "both", "asked again it changes nothing"
    assert await ledgers.account(day) == (0, 250)
    held = f"nexus:budget:{{acme}}:{day}:held"
    first, second = [await ledgers.clients[0].zscore(held, one) or 0 for one in ("a:100", "a-2:150")]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownMemberType, reportUnknownVariableType]
    assert second - first == 60_000, "it is made after the first"
    assert (await one.reserve(both("b", daily=500)))[0] is None
    assert await ledgers.account(day) == (0, 350)
    assert (await one.reserve(both("c", daily=10_000, hourly=500)))[0] is None, "the visitor's limit is nearer"
    assert (await one.reserve(both("d", daily=400, hourly=500)))[0] == "company"
    await one.settle(used("a", 40))
    assert await one.settle(used("a-2", 30, 150))
    assert await ledgers.account(day) == (70, 200)
    assert (await one.reserve(both("e")))[0] == "both", "where there is no limit there is room"


async def test_what_the_company_says_comes_with_the_tokens_whether_they_are_granted_or_not(servers: Servers) -> None:
    async with replica(servers) as one:
        await one.rpc.call(DOCUMENT_PUT, DocumentPut(company_id="acme", title="Prices", text="Pro costs 29 USD."))
        query = KnowledgeQuery(text="What does Pro cost?")
        for call, granted in (("a", True), ("b", False)):
            wanted = ask(call, daily=50).model_copy(update={"knowledge": query})
            reply = await one.rpc.call(BUDGET_RESERVE, wanted)
            assert reply.knowledge is not None
            assert (reply.granted, [found.text for found in reply.knowledge.passages]) == (
                granted,
                ["Pro costs 29 USD."],
            )


@pytest.mark.own_servers
async def test_without_redis_nobody_is_told_that_there_is_budget(servers: Servers, valkey_server: ValkeyServer) -> None:
    async with replica(servers) as one:
        valkey_server.kill()
        with pytest.raises(RpcError) as caught:
            await one.rpc.call(BUDGET_RESERVE, ask("a", daily=50))
        assert (caught.value.code, caught.value.retryable) == ("UNAVAILABLE", True)


async def test_a_settlement_that_was_lost_is_made_up_for_by_the_usage_fact_and_counts_once(servers: Servers) -> None:
    async with replica(servers) as one:
        granted = await one.rpc.call(BUDGET_RESERVE, ask("c1", 100, daily=41))
        assert granted.granted
        held = UsageReservation(id="c1", tokens=100, at=granted.reserved_at, payer="v1")
        data = UsageRecorded(
            company_id="acme",
            provider="p",
            model="m",
            usage=Usage(prompt_tokens=30, completion_tokens=10),
            reservation=held,
        )
        await publish_twice(one, data)

        async def room() -> bool:
            return (await one.rpc.call(BUDGET_RESERVE, ask("c2", 1, daily=41))).granted

        await eventually(room)
        settle = BudgetSettleRequest(
            company_id="acme", reservation_id="c1", reserved=100, used=40, reserved_at=granted.reserved_at, payer="v1"
        )
        assert not (await one.rpc.call(BUDGET_SETTLE, settle)).settled
        assert not (await one.rpc.call(BUDGET_RESERVE, ask("c3", 1, daily=41))).granted


async def test_one_fact_of_several_calls_settles_each_of_them_once(servers: Servers) -> None:
    async with replica(servers) as one:
        at = [(await one.rpc.call(BUDGET_RESERVE, ask(call, 100, daily=1_000))).reserved_at for call in ("c1", "c2")]
        first, second = (
            UsageReservation(id=f"c{number}", tokens=100, at=moment, payer="v1") for number, moment in enumerate(at, 1)
        )
        usage = Usage(prompt_tokens=30, completion_tokens=10)
        data = UsageRecorded(
            company_id="acme", provider="p", model="m", usage=usage, reservation=first, further=[second]
        )
        await publish_twice(one, data)

        async def room() -> bool:
            # 200 were held; 40 are used.
            return (await one.rpc.call(BUDGET_RESERVE, ask("c3", 1, daily=41))).granted

        await eventually(room)
        assert not (await one.rpc.call(BUDGET_RESERVE, ask("c4", 1, daily=41))).granted
