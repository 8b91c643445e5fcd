"""A subject that a user of the bus may not publish to can be had all the same: as the reply subject of something asked.
What comes into the log that way, with the production permissions, is a fact to nobody (decision 0074)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats
import orjson
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from agent.adapters.journal_store import JournalStore
from agent.ports import ConversationKey
from contracts import channels
from contracts.channels import ChatKind
from contracts.conversation import Snapshot
from contracts.events.analysis import AnalysisRecord, AnalysisRequested
from contracts.events.chat import Owner, OwnerChanged, OwnerKind
from nexus_cli.testing.stacks import production_nats
from runtime.analyses import Analyses
from runtime.bus.connection import jetstream
from runtime.bus.direct import DirectReader
from runtime.bus.marks import HEADER, Marks, demand, lift
from runtime.bus.publisher import Fence, Publisher
from runtime.bus.streams import ensure_streams
from runtime.conversation import ConversationLog, ConversationWriter, NewFact
from runtime.errors import FenceRefusedError, NotReadyError
from runtime.testing.servers import eventually

KEYS = (b"the key of gateway, agent and memory",)
COMPANY = "demo"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A server with the production configuration, and streams that demand marks."""
    with production_nats(tmp_path_factory.mktemp("nats")) as server:
        asyncio.run(_make_streams(server.address))
        yield server.address


async def _make_streams(address: str) -> None:
    async with bus(address, "memory") as client:
        await ensure_streams(client)


@asynccontextmanager
async def bus(address: str, user: str, keys: tuple[bytes, ...] = KEYS) -> AsyncGenerator[Client]:
    """A client of one user; without keys somebody who has got hold of that user's password, and no more."""
    client = await nats.connect(  # pyright: ignore[reportUnknownMemberType]
        f"nats://{user}:pw-{user}@{address}", allow_reconnect=False, inbox_prefix=f"_INBOX.{user}"
    )
    try:
        Marks.of(client).use(keys)
        if keys and user != "memory":
            await Marks.of(client).learn()
        yield client
    finally:
        await client.close()


def event(kind: str, conversation: str, data: dict[str, Any]) -> bytes:
    made = {"specversion": "1.0", "id": f"forged-{conversation}", "source": "/nobody", "type": kind, "data": data}
    return orjson.dumps({**made, "time": "2026-01-01T00:00:00Z", "datacontenttype": "application/json"})


def forged(conversation: str) -> bytes:
    return event(ChatKind.OWNER.event_type, conversation, {"owner": {"kind": "human"}, "by": "nobody"})


Borrow = Callable[[str, str, bytes], Awaitable[None]]


async def by_direct_get(address: str, subject: str, body: bytes) -> None:
    """Stored where its user may store, read with the other subject as the reply's."""
    async with bus(address, "gateway", ()) as thief:
        mine = channels.chat(COMPANY, f"own-{subject.split('.')[2]}", ChatKind.VISITOR)
        stored = await jetstream(thief).publish(mine, body)
        await thief.publish("$JS.API.DIRECT.GET.CHAT", orjson.dumps({"seq": stored.seq}), reply=subject)
        await thief.flush()


async def by_answering_oneself(address: str, subject: str, body: bytes) -> None:
    """Whoever was asked may publish to the reply subject; nobody says that another has to ask."""
    async with bus(address, "tool-executor", ()) as thief:
        asked = await thief.subscribe("_INBOX.tool-executor.me")  # pyright: ignore[reportUnknownMemberType]
        await thief.publish("_INBOX.tool-executor.me", b"", reply=subject)
        message = await asked.next_msg(30)
        await thief.publish(message.reply, body, headers={HEADER: "0" * 32})
        await thief.flush()


async def by_anothers_method(address: str, subject: str, body: bytes) -> None:
    """A method that says something of the caller's own choice: what a user's memory holds, for one."""
    async with bus(address, "memory", ()) as other, bus(address, "gateway", ()) as thief:

        async def answer(message: Msg) -> None:
            await message.respond(message.data)

        await other.subscribe("rpc.memory.echo", cb=answer)  # pyright: ignore[reportUnknownMemberType]
        await other.flush()
        await other.flush()
        await thief.publish("rpc.memory.echo", body, reply=subject)
        await thief.flush()
        await stored(address, subject, body)


WAYS = [by_direct_get, by_answering_oneself, by_anothers_method]


async def stored(address: str, subject: str, body: bytes) -> int:
    """Waits until the stream holds it; its sequence."""
    async with bus(address, "operator", ()) as looking:
        reader = DirectReader(looking, "CHAT" if subject.startswith("chat.") else "TURNS")

        async def there() -> int | None:
            found = await reader.last(subject)
            return found.seq if found is not None and found.event == body else None

        found = await eventually(there)
        assert found is not None
        return found


async def owner(client: Client, conversation: str, kind: OwnerKind) -> int:
    """An owner's change as the gateway writes it, decided from what the client sees."""
    data = OwnerChanged(owner=Owner(kind=kind), by="op1")
    writer = ConversationWriter(ConversationLog(client), Publisher(client), "/nexus/gateway")

    async def decide(now: Snapshot) -> NewFact:
        return NewFact(ChatKind.OWNER, data, f"{kind}-{now.seq}", f"{conversation}-{kind}-{now.seq}")

    appended = await writer.append_if(COMPANY, conversation, decide)
    assert appended is not None
    return appended.seq


async def seen(client: Client, conversation: str) -> OwnerKind:
    return (await ConversationLog(client).snapshot(COMPANY, conversation)).owner


@pytest.mark.parametrize("way", WAYS)
async def test_what_comes_under_a_borrowed_subject_is_nobodys_fact(address: str, way: Borrow) -> None:
    conversation = way.__name__
    subject = channels.chat(COMPANY, conversation, ChatKind.OWNER)
    async with bus(address, "gateway") as gateway, bus(address, "agent", ()) as unaware:
        true = await owner(gateway, conversation, OwnerKind.WAITING)
        body = forged(conversation)
        await way(address, subject, body)
        at = await stored(address, subject, body)
        # The way is open: whoever does not look for marks takes it for a fact.
        assert await seen(unaware, conversation) is OwnerKind.HUMAN
        now = await ConversationLog(gateway).snapshot(COMPANY, conversation)
        assert (now.seq, now.owner, now.owner_seq) == (at, OwnerKind.WAITING, true)
        # And it stops nobody: what is decided from there is appended behind it.
        await owner(gateway, conversation, OwnerKind.AI)
        assert await seen(gateway, conversation) is OwnerKind.AI


async def test_a_consumers_next_message_keeps_the_subject_that_it_was_published_to(address: str) -> None:
    subject, mine = channels.chat(COMPANY, "next", ChatKind.OWNER), f"alert.triggered.v1.{COMPANY}.u1"
    body = forged("next")
    async with bus(address, "market-adapter", ()) as thief, bus(address, "operator", ()) as looking:
        config = {"durable_name": "thief", "filter_subject": mine, "ack_policy": "explicit", "deliver_policy": "all"}
        made = orjson.dumps({"stream_name": "FACTS", "config": config})
        await thief.request(f"$JS.API.CONSUMER.CREATE.FACTS.thief.{mine}", made, timeout=30)
        await jetstream(thief).publish(mine, body)
        await thief.publish("$JS.API.CONSUMER.MSG.NEXT.FACTS.thief", b"1", reply=subject)
        await thief.flush()
        reader = DirectReader(looking, "CHAT")
        assert await eventually(lambda: reader.last(mine)) is not None
        assert await reader.last(subject) is None


@pytest.mark.parametrize("way", WAYS)
async def test_a_borrowed_journal_is_none(address: str, way: Borrow) -> None:
    key = ConversationKey(COMPANY, f"j-{way.__name__}")
    subject = channels.journal(*key)
    times = {"startedAt": "2026-01-01T00:00:00+00:00", "deadline": "2026-01-01T00:02:00+00:00"}
    body = event(
        "turn.journal.v1", "t", {"turnId": "t", "basis": 1, "steps": [], "calls": [], "answer": "Buy", **times}
    )
    await way(address, subject, body)
    at = await stored(address, subject, body)
    async with bus(address, "agent") as agent, bus(address, "agent", ()) as unaware:

        def store(client: Client) -> JournalStore:
            return JournalStore(DirectReader(client, "TURNS"), Publisher(client), way.__name__, lambda _: None)

        journal, _ = await store(unaware).read(key)
        assert journal is not None
        assert journal.answer == "Buy"
        assert await store(agent).read(key) == (None, at)
        # The turn goes on over it.
        revision = await store(agent).save(key, journal, at)
        assert (await store(agent).read(key))[1] == revision == at + 1


async def test_a_borrowed_analysis_is_none(address: str) -> None:
    request = AnalysisRequested(analysis_id="a1", company_id=COMPANY, user_id="u1", query="BTC")
    async with bus(address, "gateway") as gateway:
        mine = Analyses(gateway, "/nexus/gateway")
        begun = await mine.begin(request)
        kept = await mine.read(COMPANY, "u1", "a1")
        assert kept is not None
        assert kept.record == begun
        subject = channels.analysis(COMPANY, "u1", "a1")
        body = event("turn.analysis.v1", "a1", AnalysisRecord.model_dump(begun, mode="json", by_alias=True))
        await by_answering_oneself(address, subject, body)
        await stored(address, subject, body)
        assert await mine.read(COMPANY, "u1", "a1") is None
        # It is in nobody's way: the analysis is begun anew over it.
        again = await mine.begin(request)
        kept = await mine.read(COMPANY, "u1", "a1")
        assert kept is not None
        assert kept.record == again


async def test_a_true_fact_that_is_copied_is_refused_by_the_log_that_has_gone_on(address: str) -> None:
    conversation, subject = "copied", channels.chat(COMPANY, "copied", ChatKind.OWNER)
    async with bus(address, "gateway") as gateway, bus(address, "agent", ()) as thief:
        first = await owner(gateway, conversation, OwnerKind.AI)
        await owner(gateway, conversation, OwnerKind.HUMAN)
        await thief.publish("$JS.API.DIRECT.GET.CHAT", orjson.dumps({"seq": first}), reply=subject)
        await thief.flush()
        copied = await thief.request("$JS.API.DIRECT.GET.CHAT", orjson.dumps({"seq": first}), timeout=30)
        told = {k: v for k, v in (copied.headers or {}).items() if k == HEADER or k.startswith("Nats-Expected")}
        with pytest.raises(FenceRefusedError):
            # Not even who may publish there can have it stored with the fence that its mark covers,
            await Publisher(gateway).append(
                subject, copied.data, stream="CHAT", msg_id="again", fence=Fence(first - 1, f"chat.{COMPANY}.copied.>")
            )
        assert await seen(gateway, conversation) is OwnerKind.HUMAN
        # and without it the mark is none.
        await by_answering_oneself_with(address, subject, copied.data, {HEADER: told[HEADER]})
        await stored(address, subject, copied.data)
        assert await seen(gateway, conversation) is OwnerKind.HUMAN


async def by_answering_oneself_with(address: str, subject: str, body: bytes, headers: dict[str, str]) -> None:
    async with bus(address, "tool-executor", ()) as thief:
        asked = await thief.subscribe("_INBOX.tool-executor.me")  # pyright: ignore[reportUnknownMemberType]
        await thief.publish("_INBOX.tool-executor.me", b"", reply=subject)
        await thief.publish((await asked.next_msg(30)).reply, body, headers=headers)
        await thief.flush()


async def test_a_log_from_before_counts_until_marks_are_demanded_and_after_they_are_lifted(tmp_path: Path) -> None:
    with production_nats(tmp_path) as server:
        async with bus(server.address, "memory", ()) as older, bus(server.address, "operator", ()) as operator:
            await ensure_streams(older)
            before = await owner(operator, "old", OwnerKind.HUMAN)
            async with bus(server.address, "gateway") as newer:
                # Side by side: who has a key marks, and takes what the older ones write.
                assert await seen(newer, "old") is OwnerKind.HUMAN
                await owner(newer, "new", OwnerKind.HUMAN)
                await owner(operator, "new", OwnerKind.AI)
                assert await seen(newer, "new") is OwnerKind.AI
                since = await demand(operator, KEYS)
                assert since["CHAT"] == before + 3
                await Marks.of(newer).learn()
                assert (await seen(newer, "old"), await seen(newer, "new")) == (OwnerKind.HUMAN, OwnerKind.AI)
                await owner(operator, "old", OwnerKind.AI)
                assert await seen(newer, "old") is OwnerKind.HUMAN
                # An older memory that starts again leaves it as it is.
                await ensure_streams(older)
                await Marks.of(newer).learn()
                assert await seen(newer, "old") is OwnerKind.HUMAN
                await lift(operator)
                await Marks.of(newer).learn()
                assert await seen(newer, "old") is OwnerKind.AI


async def test_a_service_with_another_key_or_none_says_so_and_does_not_start(address: str) -> None:
    async with bus(address, "agent", ()) as client:
        for keys in ((), (b"another key that is long enough too",)):
            Marks.of(client).use(keys)
            with pytest.raises(NotReadyError, match="NEXUS_MARK_KEY"):
                await Marks.of(client).learn()


async def test_two_keys_are_good_while_one_is_replaced(address: str) -> None:
    new = b"the next key, which is longer still..."
    async with bus(address, "gateway", (new, *KEYS)) as first, bus(address, "agent", (*KEYS, new)) as second:
        await owner(first, "rotated", OwnerKind.HUMAN)
        assert await seen(second, "rotated") is OwnerKind.HUMAN
        await owner(second, "rotated", OwnerKind.AI)
        assert await seen(first, "rotated") is OwnerKind.AI
