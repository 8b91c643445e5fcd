"""The log as a window: what goes, what stays, and that nobody who reads a conversation notices."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from nats.js.api import AckPolicy, ConsumerConfig

from contracts.channels import ChatKind
from contracts.conversation import Snapshot
from contracts.conversation_rpc import (
    CONVERSATION,
    FACTS_AFTER,
    HISTORY,
    SNAPSHOT,
    ConversationRef,
    FactsRequest,
    HistoryRequest,
    SnapshotRequest,
)
from contracts.events.chat import OwnerKind
from contracts.streams import CHAT
from memory.adapters.chat_log import StreamLog
from memory.adapters.trimmed_chat import TrimmedChat
from memory.application.log_trimmer import LogTrimmer
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.connection import jetstream
from runtime.bus.publisher import Publisher
from runtime.conversation import ConversationLog
from runtime.testing.servers import eventually

MONTHS = timedelta(days=90)


class ClockAhead:
    """The log's clock, months later."""

    def __init__(self, ahead: timedelta) -> None:
        self._ahead = ahead

    async def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead


@asynccontextmanager
async def trimming(memory: Replica, ahead: timedelta = MONTHS, kept: int = 0) -> AsyncGenerator[LogTrimmer]:
    """Trimming as it will be in a while, once all that is written now is projected."""
    log = StreamLog(ConversationLog(memory.client), Publisher(memory.client))
    await log.refresh()
    trimmed = TrimmedChat(memory.client, log)

    async def all_read() -> bool:
        state = await trimmed.state(0)
        return state is not None and state.read_up_to == state.last_seq

    await eventually(all_read)
    yield LogTrimmer(trimmed, ClockAhead(ahead), CHAT.window, always_kept=kept)


async def held(memory: Replica, writer: Writer) -> list[tuple[ChatKind | None, int]]:
    log = ConversationLog(memory.client)
    facts = await log.read(writer.company, writer.conversation, 0, (await log.bounds()).last_seq)
    prefix = len(f"chat.{writer.company}.{writer.conversation}.")
    return [(ChatKind(fact.subject[prefix:]), fact.seq) for fact in facts]


async def test_a_conversation_that_lies_still_is_served_from_the_store_alone(servers: Servers) -> None:
    async with replica(servers) as memory:
        writer = Writer(memory.client)
        first = await writer.visitor("hello")
        await writer.assistant("hi", first)
        second = await writer.visitor("and now?")
        last = await writer.assistant("that", second)
        # The replica knows that all of it is stored, as it does of what is a month old.
        await memory.rpc.call(CONVERSATION, ConversationRef(company_id="acme", conversation_id=writer.conversation))
        async with trimming(memory) as trim:
            assert await trim.sweep() == 4
        assert await held(memory, writer) == []
        request = SnapshotRequest(company_id="acme", conversation_id=writer.conversation, limit=50)
        snapshot = await memory.rpc.call(SNAPSHOT, request)
        assert [message.text for message in snapshot.messages] == ["hello", "hi", "and now?", "that"]
        after = FactsRequest(company_id="acme", conversation_id=writer.conversation, since=first, min_seq=last)
        facts = await memory.rpc.call(FACTS_AFTER, after)
        assert ([fact.seq for fact in facts.facts], facts.complete, facts.gone) == (
            [first + 1, second, last],
            True,
            False,
        )
        # The visitor comes back: an empty log, the AI the owner, the new message alone waits; the history is whole.
        again = await writer.visitor("I am back")
        view = await ConversationLog(memory.client).snapshot("acme", writer.conversation)
        assert (view.seq, list(view.last)) == (again, [ChatKind.VISITOR])
        history = HistoryRequest(company_id="acme", conversation_id=writer.conversation, up_to_seq=again, limit=20)
        told = await memory.rpc.call(HISTORY, history)
        assert [message.text for message in told.messages] == ["hello", "hi", "and now?", "that", "I am back"]


def whole(snapshot: Snapshot) -> tuple[Snapshot, dict[ChatKind, Mapping[str, Any]]]:
    """A snapshot with what it was judged from, to the letter."""
    return snapshot, {kind: fact.event for kind, fact in snapshot.last.items()}


async def test_a_humans_and_a_waiting_conversation_keep_what_decides(servers: Servers) -> None:
    async with replica(servers) as memory:
        theirs, waiting = Writer(memory.client), Writer(memory.client)
        for number in range(3):
            await theirs.assistant("a", await theirs.visitor(f"v{number}"))
        await theirs.owner(OwnerKind.WAITING)
        taken = await theirs.owner(OwnerKind.HUMAN, "op1")
        await theirs.operator("I am here")
        await theirs.operator("Bye")
        await waiting.assistant("a", await waiting.visitor("answered"))
        unanswered = [await waiting.visitor("one"), await waiting.visitor("two")]
        log = ConversationLog(memory.client)
        before = [whole(await log.snapshot("acme", one.conversation)) for one in (theirs, waiting)]
        async with trimming(memory) as trim:
            assert await trim.sweep() == 6 + 1
            assert await trim.sweep() == 0
        assert [whole(await log.snapshot("acme", one.conversation)) for one in (theirs, waiting)] == before
        assert (ChatKind.OWNER, taken) in await held(memory, theirs)
        kept = await held(memory, waiting)
        assert [seq for kind, seq in kept if kind is ChatKind.VISITOR] == unanswered


async def test_what_somebody_has_not_read_stays(servers: Servers) -> None:
    async with replica(servers) as memory:
        js = jetstream(memory.client)
        config = ConsumerConfig(durable_name="reader", filter_subject="chat.>", ack_policy=AckPolicy.EXPLICIT)
        writer = Writer(memory.client)
        await writer.assistant("a", await writer.visitor("v"))
        async with trimming(memory) as trim:
            await js.add_consumer(CHAT.name, config)  # pyright: ignore[reportUnknownMemberType]
            assert await trim.sweep() == 0
            for message in await (await js.pull_subscribe_bind("reader", stream=CHAT.name)).fetch(2):
                await message.ack_sync()
            assert await trim.sweep() == 2


async def test_what_is_young_or_near_the_end_stays(servers: Servers) -> None:
    async with replica(servers) as memory:
        writer = Writer(memory.client)
        for number in range(5):
            await writer.assistant("a", await writer.visitor(f"v{number}"))
        async with trimming(memory, ahead=timedelta(hours=23)) as trim:
            assert await trim.sweep() == 0
        async with trimming(memory, kept=10) as trim:
            assert await trim.sweep() == 0
        async with trimming(memory, kept=3) as trim:
            await trim.sweep()
        assert [seq for _, seq in await held(memory, writer)] == [8, 9, 10]
