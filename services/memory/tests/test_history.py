"""History and snapshots: never fewer facts than the sequence that is named demands."""

import asyncio
from contextlib import nullcontext
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from contracts.conversation_rpc import (
    FACTS_AFTER,
    HISTORY,
    SNAPSHOT,
    FactsRequest,
    HistoryRequest,
    MessageView,
    SnapshotRequest,
)
from contracts.events.chat import OwnerKind, Role
from memory.application.history import HistoryReader
from memory.domain.conversation import InboxConversation
from memory.domain.facts import LogFact
from memory.domain.recent import WINDOW_SIZE, RecentMessages
from memory.errors import StoreUnavailableError
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.errors import RpcError
from runtime.testing.servers import eventually


async def history(on: Replica, writer: Writer, up_to: int, limit: int = 20) -> list[str]:
    request = HistoryRequest(
        company_id=writer.company, conversation_id=writer.conversation, up_to_seq=up_to, limit=limit
    )
    return [message.text for message in (await on.rpc.call(HISTORY, request)).messages]


async def test_a_message_is_in_the_history_as_soon_as_it_is_stored(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        seq = 0
        for number in range(30):
            seq = await writer.visitor(f"m{number}")
            assert (await history(one, writer, seq))[-1] == f"m{number}"
        assert await history(one, writer, seq) == [f"m{number}" for number in range(10, 30)]


async def test_a_history_ends_at_the_sequence_that_is_named(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        seqs = [await writer.visitor(f"m{number}") for number in range(5)]
        assert await history(one, writer, seqs[-1]) == ["m0", "m1", "m2", "m3", "m4"]
        assert await history(one, writer, seqs[2]) == ["m0", "m1", "m2"]
        assert await history(one, writer, 0) == []


async def test_a_history_tells_the_role_of_each_message_and_what_is_known_of_the_visitor(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        first = await writer.visitor("hola", page="https://acme.example/pricing", locale="es")
        await writer.assistant("buenas", first)
        await writer.owner(OwnerKind.HUMAN, "op1")
        await writer.operator("soy Ana")
        last = await writer.system("INTERNAL", first)
        reply = await one.rpc.call(
            HISTORY,
            HistoryRequest(company_id="acme", conversation_id=writer.conversation, up_to_seq=last),
        )
        assert [message.role for message in reply.messages] == [
            Role.VISITOR,
            Role.ASSISTANT,
            Role.OPERATOR,
            Role.SYSTEM,
        ]
        assert reply.visitor.page is not None
        assert reply.visitor.page.url == "https://acme.example/pricing"
        assert (reply.visitor.locale, reply.visitor.visits) == ("es", 1)


async def test_conversations_are_never_mixed(servers: Servers) -> None:
    async with replica(servers) as one:
        writers = [Writer(one.client, company, "same") for company in ("acme", "acme-2", "b")]
        seqs = [await writer.visitor(f"for {writer.company}") for writer in writers]
        for writer in writers:
            assert await history(one, writer, seqs[-1]) == [f"for {writer.company}"]


async def test_every_reader_of_every_replica_sees_what_it_names(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        writers = [Writer(one.client) for _ in range(20)]

        async def talk(writer: Writer, reader: Replica) -> None:
            seq = 0
            for number in range(15):
                seq = await writer.visitor(f"m{number}")
                assert (await history(reader, writer, seq))[-1] == f"m{number}"
            assert await history(reader, writer, seq) == [f"m{number}" for number in range(15)]

        await asyncio.gather(*(talk(writer, (one, two)[index % 2]) for index, writer in enumerate(writers)))


async def test_a_sequence_that_the_log_has_not_reached_is_an_error_worth_another_try(servers: Servers) -> None:
    async with replica(servers, history_deadline=0.2) as one:
        writer = Writer(one.client)
        seq = await writer.visitor("hello")
        with pytest.raises(RpcError) as refused:
            await history(one, writer, seq + 10)
        assert (refused.value.code, refused.value.retryable) == ("UNAVAILABLE", True)


async def test_a_snapshot_holds_the_last_fifty_messages_up_to_at_least_the_named_sequence(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        seq = [await writer.visitor(f"m{number}") for number in range(60)][-1]
        request = SnapshotRequest(company_id="acme", conversation_id=writer.conversation, min_seq=seq)
        snapshot = await one.rpc.call(SNAPSHOT, request)
        assert [message.text for message in snapshot.messages] == [f"m{number}" for number in range(10, 60)]
        assert snapshot.seq >= seq


async def test_a_snapshot_tells_the_name_under_which_a_person_wrote(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        await writer.visitor("hello")
        seq = await writer.operator("here I am")
        request = SnapshotRequest(company_id="acme", conversation_id=writer.conversation, min_seq=seq)
        (_, said) = (await one.rpc.call(SNAPSHOT, request)).messages
        assert (said.operator_id, said.name) == ("op1", "Ana")


async def test_a_snapshot_that_names_no_sequence_holds_what_is_stored(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        seq = await writer.visitor("hello")
        request = SnapshotRequest(company_id="acme", conversation_id=writer.conversation)

        async def stored() -> bool:
            snapshot = await one.rpc.call(SNAPSHOT, request)
            return [message.text for message in snapshot.messages] == ["hello"] and snapshot.seq >= seq

        assert await eventually(stored)


async def test_durable_facts_come_in_order_and_in_pages(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        first = await writer.visitor("one")
        seqs = [
            await writer.assistant("two", first),
            await writer.owner(OwnerKind.WAITING),
            await writer.cancelled(first),
            await writer.visitor("three"),
        ]
        request = FactsRequest(
            company_id="acme", conversation_id=writer.conversation, since=first, min_seq=seqs[-1], limit=3
        )
        page = await one.rpc.call(FACTS_AFTER, request)
        assert ([fact.seq for fact in page.facts], page.complete) == (seqs[:3], False)
        assert [fact.kind for fact in page.facts] == [
            "message.assistant.v1",
            "owner.changed.v1",
            "run.cancelled.v1",
        ]
        page = await one.rpc.call(FACTS_AFTER, request.model_copy(update={"since": seqs[2]}))
        assert ([fact.seq for fact in page.facts], page.complete) == (seqs[3:], True)
        assert "principal" not in page.facts[0].event["data"]


async def test_a_position_that_the_log_never_had_is_gone(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client)
        seq = await writer.visitor("hello")
        request = FactsRequest(company_id="acme", conversation_id=writer.conversation, since=seq + 1000)
        page = await one.rpc.call(FACTS_AFTER, request)
        assert (page.facts, page.gone) == ([], True)


class Gone:
    """A database that does not answer."""

    async def newest_messages(self, *_: Any, **__: Any) -> list[LogFact]:
        raise StoreUnavailableError("MongoDB is away")

    async def get(self, *_: Any) -> InboxConversation | None:
        raise StoreUnavailableError("MongoDB is away")


class LongLog:
    """A log that nobody reads whole."""

    era = 1
    first_seq = whole_from = 1


class One:
    """One window, of whatever conversation is asked for."""

    def __init__(self, window: RecentMessages | None) -> None:
        self._window = window

    async def get(self, *_: Any) -> RecentMessages | None:
        return self._window


async def test_without_a_database_what_is_at_hand_is_told_when_the_log_is_too_long_to_be_read() -> None:
    seq = 1_000_000
    at = datetime(2026, 1, 1, tzinfo=UTC)
    held = tuple(
        MessageView(id=f"m{number}", seq=number, role=Role.USER, text=f"m{number}", created_at=at)
        for number in range(seq - WINDOW_SIZE + 1, seq + 1)
    )
    gone: Any = Gone()
    floor: Any = SimpleNamespace(seq=seq, same_server=nullcontext)
    log: Any = LongLog()

    def histories(window: RecentMessages | None) -> HistoryReader:
        windows: Any = One(window)
        return HistoryReader(facts=gone, conversations=gone, windows=windows, log=log, floor=floor, deadline=1)

    found = await histories(RecentMessages(seq, held, is_complete=False)).since("acme", "c", 0, seq, 500)
    assert (found.messages, found.complete) == (held, False)
    with pytest.raises(StoreUnavailableError):
        await histories(None).since("acme", "c", 0, seq, 500)


class TrimmedLog:
    """A log that still has a fact of long ago, and not what came after it."""

    era = 1
    first_seq = 1
    whole_from = 500

    async def read(self, *_: Any) -> list[LogFact]:
        raise AssertionError("what was trimmed cannot be read")


async def test_where_the_log_was_trimmed_it_is_not_read_instead_of_the_store() -> None:
    gone: Any = Gone()
    floor: Any = SimpleNamespace(seq=1_000, same_server=nullcontext)
    log: Any = TrimmedLog()
    windows: Any = One(RecentMessages(10, (), is_complete=False))
    histories = HistoryReader(facts=gone, conversations=gone, windows=windows, log=log, floor=floor, deadline=1)
    with pytest.raises(StoreUnavailableError):
        await histories.newest("acme", "c", 20, 20, exact=True)
