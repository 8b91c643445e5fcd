"""Short-term memory: the last hour, in Redis."""

import asyncio
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio import Redis

from contracts.channels import ChatKind, fact
from contracts.context_rpc import (
    SHORT_TERM_CLEAR,
    SHORT_TERM_GET,
    SHORT_TERM_UPDATE,
    ShortTermMemory,
    ShortTermUpdate,
)
from contracts.envelope import CloudEvent
from contracts.events.chat import Action, ActionState, AssistantMessage, VisitorMessage
from contracts.events.market import ActionDecided
from contracts.ids import answer_id, turn_id
from contracts.market_rpc import MARKET_QUOTES, QuotesReply, QuotesRequest, QuoteView
from contracts.memory_rpc import UserRef
from contracts.streams import FACTS
from memory.adapters.redis_short_term import RedisShortTerm, key_of
from memory.application.activity import WORKERS, Activity
from memory.domain.conversation import Person
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from memory.domain.short_term import UserActivity
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import RpcServer
from runtime.clock import SystemClock
from runtime.errors import RpcError
from runtime.testing.clock import FakeClock
from runtime.testing.servers import ValkeyServer, eventually

ANA = UserRef(company_id="acme", user_id="ana")
START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def action(name: str, expires: datetime | None = None) -> Action:
    return Action(id=name, kind="paper_order", state=ActionState.PENDING, summary="Buy", expires_at=expires)


async def get(on: Replica) -> ShortTermMemory:
    return (await on.rpc.call(SHORT_TERM_GET, ANA)).memory


async def update(on: Replica, **fields: Any) -> ShortTermMemory:
    return (await on.rpc.call(SHORT_TERM_UPDATE, ShortTermUpdate(company_id="acme", user_id="ana", **fields))).memory


async def test_it_holds_where_they_write_what_they_named_and_what_waits_for_an_hour(servers: Servers) -> None:
    clock = FakeClock(START)
    async with replica(servers, clock=clock) as one:
        assert await get(one) == ShortTermMemory()
        await update(one, conversation_id="c1", symbols=["AAPL", "MSFT"], add_actions=[action("o1"), action("o2")])
        await clock.advance(60)
        held = await update(one, conversation_id="c2", symbols=["IBM", "AAPL"], clear_actions=["o1"])
        assert held.active_conversation == "c2"
        assert held.recent_symbols == ["IBM", "AAPL", "MSFT"]
        assert held.last_activity == clock.now()
        assert [action.id for action in held.pending_actions] == ["o2"]
        await clock.advance(60)
        held = await update(one, symbols=[f"S{number}" for number in range(9)], add_actions=[action("o1")])
        assert held.recent_symbols == [*(f"S{number}" for number in range(9)), "IBM"]
        assert held.active_conversation == "c2"
        # What has been cleared does not come back.
        assert [action.id for action in held.pending_actions] == ["o2"]
        await clock.advance(3_599)
        assert await get(one) == held
        await clock.advance(1)
        assert await get(one) == ShortTermMemory()
        assert (await update(one, symbols=["GOOG"])).recent_symbols == ["GOOG"]
        assert (await one.rpc.call(SHORT_TERM_CLEAR, ANA)).cleared
        assert not (await one.rpc.call(SHORT_TERM_CLEAR, ANA)).cleared


async def test_an_action_whose_time_is_over_waits_no_longer(servers: Servers) -> None:
    clock = FakeClock(START)
    async with replica(servers, clock=clock) as one:
        await update(one, add_actions=[action("o1", START + timedelta(minutes=5)), action("o2")])
        await clock.advance(300)
        assert [action.id for action in (await get(one)).pending_actions] == ["o2"]


async def test_two_hundred_updates_at_once_lose_nothing(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        await asyncio.gather(
            *(
                update(
                    (one, two)[number % 2],
                    symbols=[f"S{number % 10}"],
                    add_actions=[action(f"o{number}")] if number % 10 == 0 else [],
                )
                for number in range(200)
            )
        )
        held = await get(one)
        assert sorted(held.recent_symbols) == [f"S{number}" for number in range(10)]
        assert sorted(action.id for action in held.pending_actions) == sorted(
            f"o{number}" for number in range(0, 200, 10)
        )


async def test_what_happened_may_come_late_twice_and_in_any_order(valkey_server: ValkeyServer) -> None:
    happenings = [
        UserActivity(START + timedelta(seconds=number), f"c{number}", (f"S{number % 13}",), (action(f"o{number}"),))
        for number in range(15)
    ] + [UserActivity(START + timedelta(seconds=20), clear=("o3", "o7"))]
    clock = FakeClock(START + timedelta(seconds=30))
    async with Redis.from_url(valkey_server.url) as redis:  # pyright: ignore[reportUnknownMemberType]
        store = RedisShortTerm(redis, clock)
        for order in (happenings, happenings[::-1], happenings[::2] + happenings * 2):
            for happening in order:
                await store.update("acme", "ana", happening)
            held = await store.get("acme", "ana")
            assert held.active_conversation == "c14"
            assert held.last_activity == START + timedelta(seconds=20)
            assert held.recent_symbols == ["S1", "S0", *(f"S{number}" for number in range(12, 4, -1))]
            names = [f"o{number}" for number in range(15) if number not in (3, 7)]
            assert [action.id for action in held.pending_actions] == names
            assert await store.clear("acme", "ana")


async def test_redis_itself_lets_go_an_hour_after_the_last_activity(valkey_server: ValkeyServer) -> None:
    async with Redis.from_url(valkey_server.url) as redis:  # pyright: ignore[reportUnknownMemberType]
        store, now = RedisShortTerm(redis, SystemClock()), SystemClock().now()
        await store.update("acme", "ana", UserActivity(now - timedelta(minutes=50), "c1"))
        left = await redis.pttl(key_of("acme", "ana"))
        assert 590_000 < left <= 600_000
        await store.update("acme", "ana", UserActivity(now, "c1"))
        assert 3_590_000 < await redis.pttl(key_of("acme", "ana")) <= 3_600_000
        await store.update("acme", "bob", UserActivity(now - timedelta(hours=2), "c1"))
        assert await redis.exists(key_of("acme", "bob")) == 0


async def test_it_is_fed_from_what_users_write_and_decide(servers: Servers) -> None:
    async with replica(servers) as one:

        async def quotes(request: QuotesRequest) -> QuotesReply:
            known = [name for name in request.symbols if name != "ZZZZ"]
            return QuotesReply(
                quotes=[
                    QuoteView(symbol=name, price=1, change_basis="x", currency="USD", source="test", as_of=START)
                    for name in known
                ]
            )

        await RpcServer(one.client).serve(MARKET_QUOTES, quotes)
        writer = Writer(one.client)
        await writer.visitor("GOOG or ZZZZ?", user="vic", role="visitor")
        writer = Writer(one.client)
        seq = await writer.visitor("AAPL, ZZZZ or btc?", user="ana", role="user")
        turn = turn_id("acme", writer.conversation, seq)
        answer = AssistantMessage(
            message_id=answer_id(turn),
            turn_id=turn,
            basis=seq,
            text="Confirm?",
            model="m",
            config_version=1,
            actions=[action("o1"), action("o2")],
        )
        await writer.put(ChatKind.ASSISTANT, answer, answer_id(turn))

        async def both_wait() -> bool:
            held = await get(one)
            return len(held.pending_actions) == 2 and held.recent_symbols == ["BTC/USD", "AAPL"]

        await eventually(both_wait)
        assert (await get(one)).active_conversation == writer.conversation
        decided = ActionDecided(company_id="acme", user_id="ana", action=action("o1"), decided_at=SystemClock().now())
        event = CloudEvent(source="/test", type="action.decided.v1", data=decided)
        await Publisher(one.client).append(
            fact("action.decided.v1", "acme", "ana"), event, stream=FACTS.name, msg_id="d1"
        )

        async def one_waits() -> bool:
            return [action.id for action in (await get(one)).pending_actions] == ["o2"]

        await eventually(one_waits)
        vic = await one.rpc.call(SHORT_TERM_GET, UserRef(company_id="acme", user_id="vic"))
        assert vic.memory == ShortTermMemory()


@pytest.mark.own_servers
async def test_without_redis_it_says_so(servers: Servers, valkey_server: ValkeyServer) -> None:
    async with replica(servers) as one:
        valkey_server.kill()
        with pytest.raises(RpcError) as refused:
            await get(one)
        assert (refused.value.code, refused.value.retryable) == ("UNAVAILABLE", True)


class Nonsense:
    """Documents of conversations that cannot be read, and a store that is told what is kept."""

    def __init__(self) -> None:
        self.asked = 0
        self.kept: list[str] = []

    async def get(self, *_: Any) -> Any:
        self.asked += 1
        raise KeyError("person")

    async def update(self, company: str, user: str, happening: UserActivity) -> None:
        self.kept.append(f"{company}/{user}")


async def test_whatever_cannot_be_kept_the_next_thing_is() -> None:
    stores: Any = Nonsense()
    known: Any = SimpleNamespace(person=lambda *_: Person("ana", "user"))  # pyright: ignore[reportUnknownLambdaType]
    nowhere: Any = None
    activity = Activity(store=stores, conversations=stores, principals=known, market=nowhere, clock=FakeClock(START))
    answer = AssistantMessage(
        message_id="m", turn_id="t", basis=1, text="Shall I?", model="test", config_version=1, actions=[action("a1")]
    )
    question = VisitorMessage(message_id="m", client_message_id="m", text="hola", principal="ana")

    def noted(kind: ChatKind, data: Any) -> LogFact:
        return LogFact("acme", "c", kind, LogPosition(1, 1), "e", START, START, data, b"")

    await activity.start()
    try:
        activity.note([noted(ChatKind.ASSISTANT, answer)] * (WORKERS + 1))
        await eventually(lambda: stores.asked == WORKERS + 1)
        activity.note([noted(ChatKind.VISITOR, question)])
        await eventually(lambda: stores.kept == ["acme/ana"])
    finally:
        await activity.stop()
