"""Conversations that wait for a person in vain, swept by many replicas."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

from prometheus_client import REGISTRY
from redis.asyncio import Redis

from contracts.channels import ChatKind
from contracts.company_rpc import COMPANY_CREATE, COMPANY_PATCH, CompanyCreateRequest, CompanyPatchRequest
from contracts.conversation_rpc import CONVERSATIONS, ConversationsRequest, ConversationState
from contracts.desk_rpc import COUNTS, CountsRequest
from contracts.envelope import CloudEvent
from contracts.events.chat import (
    Owner,
    OwnerChanged,
    OwnerKind,
    SystemMessage,
)
from contracts.owner_rpc import OWNER_SEEN, OwnerSeenRequest
from contracts.testing import closed_for_days
from memory.adapters.cache_erasure import CacheErasure
from memory.adapters.redis_looks import RedisLooks
from memory.domain.desk import IN_TURN
from memory.domain.erasure import Erasure
from memory.domain.handoff import (
    IDLE,
    HandoffPolicy,
)
from memory.domain.keys import LogPosition
from memory.testing.handoffs import ClockAhead, due, facts_of, kinds, owners, run_sweeps, sweepers
from memory.testing.harness import Servers, Writer, replica
from runtime.bus.connection import connect
from runtime.settings import NatsSettings
from runtime.testing.servers import eventually

TIMEOUT = HandoffPolicy(handoff=timedelta(seconds=120), idle=timedelta(minutes=15))


async def test_a_message_taken_stays_with_those_who_wait_until_a_person_comes(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers, handoff_sweep=0.1))
        config = {"companyId": "acme", "officeHours": closed_for_days()}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=20)
        writer = Writer(one.client)
        await writer.visitor("a person, please", locale="en")
        asked = OwnerChanged(
            owner=Owner(kind=OwnerKind.AI), by="v1", reason="asked", opens_at=datetime.now(UTC) + timedelta(days=3)
        )
        await writer.put(ChatKind.OWNER, asked, "asked-1")

        async def told() -> bool:
            return kinds(await facts_of(one, writer))[-1] == "message.system.v1"

        await eventually(told)
        await writer.visitor("are you still there?", locale="en")
        await writer.assistant("I am", 4)
        await writer.visitor("thanks", locale="en")

        async def listed(state: ConversationState) -> list[tuple[str, str, str | None]]:
            request = ConversationsRequest(company_id=writer.company, state=state)
            reply = await one.rpc.call(CONVERSATIONS, request, deadline=20)
            return [(v.state, v.owner.kind, v.hand_over.reason if v.hand_over else None) for v in reply.items]

        assert await listed("needs_human") == [("needs_human", "ai", "asked")]
        assert await listed("ai") == []
        await writer.owner(OwnerKind.HUMAN, "op1")
        assert await listed("needs_human") == []
        await writer.owner(OwnerKind.AI)
        assert await listed("needs_human") == []
        assert len([kind for kind in kinds(await facts_of(one, writer)) if kind == "message.system.v1"]) == 1


async def test_many_replicas_give_a_conversation_back_exactly_once(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers, handoff_sweep=3600))
        writers = [Writer(one.client) for _ in range(30)]
        for writer in writers:
            await writer.visitor("a person, please")
            await writer.owner(OwnerKind.WAITING)
        taken = writers.pop()
        await taken.owner(OwnerKind.HUMAN, "op1")
        sweeps = await sweepers(stack, servers, 4)
        total = 0

        async def counted() -> bool:
            await sweeps[0].measure()
            return REGISTRY.get_sample_value("nexus_handovers_waiting") == len(writers)

        await eventually(counted)
        assert (REGISTRY.get_sample_value("nexus_handover_oldest_seconds") or 0) > 0

        async def all_told() -> bool:
            nonlocal total
            total += sum(await asyncio.gather(*(each.sweep() for each in sweeps)))
            return total >= 2 * len(writers) and not await due(sweeps[0])

        await eventually(all_told)
        assert total == 2 * len(writers)
        for writer in writers:
            facts = await facts_of(one, writer)
            assert kinds(facts)[1:] == ["owner.changed.v1", "owner.changed.v1", "message.system.v1"]
            back = CloudEvent[OwnerChanged].model_validate_json(facts[2].event).data
            notice = CloudEvent[SystemMessage].model_validate_json(facts[3].event).data
            assert (back.owner.kind, back.by) == (OwnerKind.AI, "memory")
            assert (notice.code, notice.basis) == ("HANDOFF_TIMEOUT", 0)
        assert kinds(await facts_of(one, taken)) == ["message.visitor.v1", "owner.changed.v1", "owner.changed.v1"]


async def test_who_waits_is_told_whether_anybody_is_at_the_desk(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers, handoff_sweep=3600))
        clock = ClockAhead(timedelta(seconds=-5))
        (sweep,) = await sweepers(stack, servers, 1, clock)

        async def told() -> str | None:
            """What somebody who has just begun to wait is told; None: nothing yet."""
            writer = Writer(one.client)
            await writer.visitor("a person, please", locale="en")
            await writer.owner(OwnerKind.WAITING)
            settled = await sweep.settle(writer.company, writer.conversation, TIMEOUT)
            if not settled.appended:
                assert settled.again is not None
                assert settled.again < datetime.now(UTC) + timedelta(seconds=3)
                return None
            return CloudEvent[SystemMessage].model_validate_json((await facts_of(one, writer))[-1].event).data.text

        assert await told() is None, "open consoles have a moment to say that somebody is there"
        clock.ahead = timedelta(seconds=5)
        assert "nobody is online right now" in (await told() or "")
        here = CountsRequest(company_id="acme", operator_id="op1", present=True)
        await one.rpc.call(COUNTS, here, deadline=20)
        assert "a person will join you here" in (await told() or "")


async def test_a_person_who_comes_in_the_same_moment_keeps_the_conversation(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers))
        (sweep,) = await sweepers(stack, servers, 1)
        for _ in range(30):
            writer = Writer(one.client)
            await writer.visitor("a person, please")
            await writer.owner(OwnerKind.WAITING)
            await asyncio.gather(
                sweep.settle(writer.company, writer.conversation, TIMEOUT), writer.owner(OwnerKind.HUMAN, "op1")
            )
            facts = await facts_of(one, writer)
            owners = [
                CloudEvent[OwnerChanged].model_validate_json(each.event).data.owner.kind
                for each in facts
                if each.subject.endswith(ChatKind.OWNER)
            ]
            # Either nobody had come yet when it was given back, and the person took it after that; or it was not.
            assert owners in ([OwnerKind.WAITING, OwnerKind.HUMAN], [OwnerKind.WAITING, OwnerKind.AI, OwnerKind.HUMAN])


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


async def test_an_owner_who_goes_away_loses_the_visitor_once_and_both_are_told(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers))
        # Long enough that the waiting which follows is not over in the same sweep.
        config = {"companyId": "acme", "aiAutoResponseEnabled": True, "handoffTimeoutSeconds": 3600}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=20)
        writer = Writer(one.client)
        await writer.owner(OwnerKind.HUMAN, "op1")
        await writer.operator("how can I help?")
        await writer.visitor("my invoice is wrong")
        await writer.visitor("hello?")
        sweeps = await sweepers(stack, servers, 3, ClockAhead(minutes(20)))
        assert await run_sweeps(sweeps, writer) == 2
        facts = await facts_of(one, writer)
        changed = CloudEvent[OwnerChanged].model_validate_json(facts[-2].event).data
        assert (changed.owner.kind, changed.by, changed.reason) == (OwnerKind.WAITING, "memory", IDLE)
        # They have waited since the first message without a reply, which is their place in the queue.
        wait = changed.wait
        assert wait is not None
        assert wait.seq == facts[2].seq
        notice = CloudEvent[SystemMessage].model_validate_json(facts[-1].event).data
        assert notice.code == "OWNER_IDLE"
        # What nobody answered stays due: the operator's message alone has settled anything.
        assert notice.basis == facts[1].seq

        async def waits() -> bool:
            request = ConversationsRequest(company_id=writer.company, state="needs_human")
            reply = await one.rpc.call(CONVERSATIONS, request, deadline=20)
            return [(view.id, view.waiting_since) for view in reply.items] == [(writer.conversation, wait.since)]

        await eventually(waits)
        # Nobody comes either: the AI takes it.
        later = await sweepers(stack, servers, 2, ClockAhead(minutes(65)))
        assert await run_sweeps(later, writer) == 2
        assert await owners(one, writer) == [OwnerKind.HUMAN, OwnerKind.WAITING, OwnerKind.AI]


async def test_the_ai_takes_over_at_once_where_the_company_says_so(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers))
        config = {"companyId": "acme", "ownerIdleAction": "ai", "ownerIdleMinutes": 5, "aiAutoResponseEnabled": True}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=20)
        writer = Writer(one.client)
        await writer.visitor("my invoice is wrong")
        await writer.owner(OwnerKind.HUMAN, "op1")
        sweeps = await sweepers(stack, servers, 2, ClockAhead(minutes(6)))
        assert await run_sweeps(sweeps, writer) == 2
        assert await owners(one, writer) == [OwnerKind.HUMAN, OwnerKind.AI]


async def test_what_an_owner_who_leaves_the_team_had_is_back_in_the_queue_at_once(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers, handoff_sweep=0.1))
        config: dict[str, object] = {
            "companyId": "acme",
            "assignment": IN_TURN,
            "handoffTimeoutSeconds": 3600,
            "team": {"members": {"op1": {"role": "commercial"}}},
        }
        created = await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=20)
        here = CountsRequest(company_id="acme", operator_id="op1", present=True)
        await one.rpc.call(COUNTS, here, deadline=20)
        writer = Writer(one.client)
        await writer.visitor("my invoice is wrong")
        await writer.owner(OwnerKind.HUMAN, "op1")
        left = {"team": {"members": {"op1": None}, "signedOut": {"op1": datetime.now(UTC).isoformat()}}}
        change = CompanyPatchRequest(company_id="acme", version=created.settings.version, patch=left)
        await one.rpc.call(COMPANY_PATCH, change, deadline=20)

        async def told() -> bool:
            return kinds(await facts_of(one, writer))[-1] == "message.system.v1"

        await eventually(told)
        assert await owners(one, writer) == [OwnerKind.HUMAN, OwnerKind.WAITING]
        assert not await (await sweepers(stack, servers, 1))[0].looks.is_anybody_here(
            "acme", datetime.fromtimestamp(0, UTC)
        )


async def test_who_waits_where_the_assistant_is_off_stays_in_the_queue_and_is_told_so_once(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers, handoff_sweep=3600))
        config = {"companyId": "acme", "aiAutoResponseEnabled": False}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=20)
        writer = Writer(one.client)
        await writer.visitor("a person, please", locale="en")
        await writer.owner(OwnerKind.WAITING)
        sweeps = await sweepers(stack, servers, 3)
        assert await run_sweeps(sweeps, writer) == 1
        assert await owners(one, writer) == [OwnerKind.WAITING]
        notice = CloudEvent[SystemMessage].model_validate_json((await facts_of(one, writer))[-1].event).data
        assert (notice.code, "still in the queue" in notice.text) == ("HANDOFF_TIMEOUT", True)

        async def at_rest() -> bool:
            """It is looked at no more every second."""
            await sweeps[0].sweep()
            return writer.conversation not in await due(sweeps[0])

        await eventually(at_rest)
        assert await owners(one, writer) == [OwnerKind.WAITING]
        assert len(await facts_of(one, writer)) == 3


async def test_an_owner_who_reads_or_has_nobody_waiting_keeps_the_conversation(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(replica(servers))
        read, answered = Writer(one.client), Writer(one.client)
        for writer in (read, answered):
            await writer.visitor("my invoice is wrong")
            await writer.owner(OwnerKind.HUMAN, "op1")
        await answered.operator("I have looked: it is right")
        (sweep,) = await sweepers(stack, servers, 1, ClockAhead(minutes(20)))
        policy = HandoffPolicy(handoff=minutes(90), idle=minutes(15))
        looks = sweep.looks
        # Somebody else's look does not count; the owner's does, as another replica has noted it.
        await looks.note("acme", read.conversation, "op2", datetime.now(UTC) + minutes(10))
        seen = OwnerSeenRequest(company_id="acme", conversation_id=answered.conversation, operator_id="op1")
        await one.rpc.call(OWNER_SEEN, seen, deadline=20)
        assert await looks.last("acme", answered.conversation, "op1") is not None
        await looks.note("acme", read.conversation, "op1", datetime.now(UTC) + minutes(10))
        for writer in (read, answered):
            assert (await sweep.settle(writer.company, writer.conversation, policy)).appended == 0
        later = await sweepers(stack, servers, 1, ClockAhead(minutes(26)))
        assert (await later[0].settle(read.company, read.conversation, policy)).appended == 2
        assert (await later[0].settle(answered.company, answered.conversation, policy)).appended == 0


async def test_looks_go_with_the_visitor_who_is_deleted(servers: Servers) -> None:
    async with AsyncExitStack() as stack:
        redis: Redis = Redis.from_url(servers.redis)  # pyright: ignore[reportUnknownMemberType]
        stack.push_async_callback(redis.aclose)
        client = await connect(NatsSettings(url=servers.nats), name="eraser")
        stack.push_async_callback(client.close)
        looks, now = RedisLooks(redis), datetime.now(UTC)
        for conversation in ("c1", "c2"):
            await looks.note("acme", conversation, "op1", now, 7)
        await CacheErasure(client, redis, ()).erase(Erasure("acme", "v1", ("c1",), now, LogPosition(0, 0)))
        assert await looks.last("acme", "c1", "op1") is None
        assert await looks.last("acme", "c2", "op1") == now
        assert await looks.read("acme", "op1", ("c1", "c2")) == [0, 7]
