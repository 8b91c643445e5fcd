"""Lists of conversations."""

from datetime import UTC, datetime, timedelta

import pytest
from pymongo import AsyncMongoClient

from contracts.channels import ChatKind
from contracts.conversation_rpc import (
    CONVERSATION,
    CONVERSATION_MESSAGES,
    CONVERSATIONS,
    LATEST_CONVERSATION,
    SNAPSHOT,
    ConversationRef,
    ConversationsRequest,
    LatestConversationRequest,
    MessagesRequest,
    SnapshotRequest,
)
from contracts.desk_rpc import CONVERSATION_UPDATE, ConversationUpdate
from contracts.events.chat import Owner, OwnerChanged, OwnerKind
from contracts.ids import uuid7
from contracts.migration_rpc import MIGRATE, MigrateRequest
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.errors import RpcError
from runtime.stores.mongo import Document


async def listed(on: Replica, **request: object) -> list[str]:
    found = await on.rpc.call(CONVERSATIONS, ConversationsRequest.model_validate({"companyId": "acme"} | request))
    return [item.id for item in found.items]


async def changed(writer: Writer, data: OwnerChanged) -> None:
    """Another owner, with all that is said of it."""
    await writer.put(ChatKind.OWNER, data, uuid7())


async def test_conversations_are_listed_by_state_newest_activity_first(servers: Servers) -> None:
    async with replica(servers) as one:
        writers = {
            name: Writer(one.client, "acme", name) for name in ("quiet", "waiting", "taken", "other", "failed", "cured")
        }
        for writer in writers.values():
            await writer.visitor("hola", user=f"visitor-{writer.conversation}")
        await writers["waiting"].owner(OwnerKind.WAITING)
        await writers["taken"].owner(OwnerKind.HUMAN, "op1")
        await writers["other"].owner(OwnerKind.HUMAN, "op2")
        await writers["failed"].system("DEADLINE", 5)
        await writers["cured"].system("DEADLINE", 6)
        await writers["cured"].assistant("here", 6)
        await Writer(one.client, "rival", "theirs").visitor("hello")
        assert await listed(one) == ["cured", "failed", "other", "taken", "waiting", "quiet"]
        assert await listed(one, state="needs_human") == ["waiting"]
        assert await listed(one, state="stuck") == ["failed"]
        assert await listed(one, state="ai") == ["cured", "quiet"]
        assert await listed(one, state="mine", operatorId="op1") == ["taken"]
        assert await listed(one, userId="visitor-quiet") == ["quiet"]


async def test_pages_follow_each_other_without_gap_or_repeat(servers: Servers) -> None:
    async with replica(servers) as one:
        for number in range(7):
            await Writer(one.client, "acme", f"c{number}").visitor("hola")
        seen: list[str] = []
        cursor: str | None = None
        while True:
            request = ConversationsRequest(company_id="acme", limit=3, cursor=cursor)
            page = await one.rpc.call(CONVERSATIONS, request)
            seen += [item.id for item in page.items]
            cursor = page.next
            if cursor is None:
                break
        assert seen == [f"c{number}" for number in reversed(range(7))]


async def test_a_cursor_of_nobodys_is_refused(servers: Servers) -> None:
    async with replica(servers) as one:
        with pytest.raises(RpcError) as refused:
            await listed(one, cursor="not a cursor!")
        assert refused.value.code == "BAD_FIELD"
        request = MessagesRequest(company_id="acme", conversation_id="c1", limit=3, cursor="bnVsbA")
        with pytest.raises(RpcError) as refused:
            await one.rpc.call(CONVERSATION_MESSAGES, request)
        assert refused.value.code == "BAD_FIELD"


async def test_the_latest_conversation_of_a_visitor_is_the_one_written_to_last(servers: Servers) -> None:
    async with replica(servers) as one:
        request = LatestConversationRequest(company_id="acme", user_id="v1")
        assert (await one.rpc.call(LATEST_CONVERSATION, request)).conversation_id is None
        first, second = Writer(one.client, "acme", "first"), Writer(one.client, "acme", "second")
        await first.visitor("hola", user="v1")
        await second.visitor("hola", user="v1")
        await Writer(one.client, "acme", "third").visitor("hola", user="v2")
        assert (await one.rpc.call(LATEST_CONVERSATION, request)).conversation_id == "second"
        await first.visitor("otra vez", user="v1")
        assert (await one.rpc.call(LATEST_CONVERSATION, request)).conversation_id == "first"
        elsewhere = LatestConversationRequest(company_id="rival", user_id="v1")
        assert (await one.rpc.call(LATEST_CONVERSATION, elsewhere)).conversation_id is None


async def test_a_hand_over_is_told_with_its_pages_and_each_change_of_owner_stands_between_the_messages(
    servers: Servers,
) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client, "acme", "c1")
        for number, path in enumerate(("/", "/pricing", "/")):
            await writer.visitor(f"m{number}", page=f"https://shop.example{path}")
        handed = OwnerChanged(
            owner=Owner(kind=OwnerKind.WAITING), by="agent", reason="missed", summary=["Asked: m2"], language="en"
        )
        await changed(writer, handed)
        view = (await one.rpc.call(CONVERSATION, ConversationRef(company_id="acme", conversation_id="c1"))).conversation
        assert view is not None
        assert view.hand_over is not None
        assert (view.hand_over.reason, view.hand_over.summary, view.hand_over.language) == (
            "missed",
            ["Asked: m2"],
            "en",
        )
        assert [page.url for page in view.visitor.pages or ()] == [
            "https://shop.example/pricing",
            "https://shop.example/",
        ]
        taken = Owner(kind=OwnerKind.HUMAN, operator_id="ana", name="Ana")
        await changed(writer, OwnerChanged(owner=taken, by="ana", name="Ana"))
        await writer.operator("Hello")
        await changed(writer, OwnerChanged(owner=Owner(kind=OwnerKind.AI), by="ana", name="Ana"))
        told: list[tuple[str, ...]] = []
        cursor: str | None = None
        while True:
            request = MessagesRequest(company_id="acme", conversation_id="c1", limit=3, cursor=cursor)
            page = await one.rpc.call(CONVERSATION_MESSAGES, request)
            told.append(tuple(event.owner.kind.value for event in page.events or ()))
            cursor = page.next
            if cursor is None:
                break
        assert [kind for kinds in told for kind in kinds] == ["waiting", "human", "ai"]
        snapshot = SnapshotRequest(company_id="acme", conversation_id="c1", events=True)
        events = (await one.rpc.call(SNAPSHOT, snapshot)).events or []
        assert [(event.owner.kind.value, event.name) for event in events] == [
            ("waiting", None), ("human", "Ana"), ("ai", "Ana")
        ]  # fmt: skip
        view = (await one.rpc.call(CONVERSATION, ConversationRef(company_id="acme", conversation_id="c1"))).conversation
        assert view is not None
        assert view.hand_over is None


async def test_a_conversation_that_an_older_release_stored_comes_into_its_lists(servers: Servers) -> None:
    newer = ("desk", "heardAt", "saidAt", "claimed", "claimedAt", "farewell", "words", "unassignedKey", "writtenKey")
    async with replica(servers, handoff_sweep=3600) as one:
        writer = Writer(one.client, "acme", "c1")
        await writer.assistant("29", await writer.visitor("how much is the invoice?"))
        assert await listed(one, which="unassigned", operatorId="ana") == ["c1"]
    client = AsyncMongoClient[Document](servers.mongo)
    try:
        rows = client[servers.database]["conversations"]
        await rows.update_one({"_id": "acme/c1"}, {"$unset": dict.fromkeys(newer, "")})
    finally:
        await client.close()
    async with replica(servers, handoff_sweep=3600) as one:
        assert (
            await listed(one, which="unassigned", operatorId="ana"),
            await listed(one, which="all", query="invoice"),
        ) == ([], [])
        request = MigrateRequest(name="conversation-lists")
        assert (await one.rpc.call(MIGRATE, request)).left == 0
        assert (
            await listed(one, which="unassigned", operatorId="ana")
            == await listed(one, which="all", query="invoice")
            == ["c1"]
        )


async def test_conversations_are_found_by_words_names_labels_and_time(servers: Servers) -> None:
    async with replica(servers) as one:
        first, second = Writer(one.client, "acme", "c1"), Writer(one.client, "acme", "c2")
        await first.assistant(
            "El reembolso tarda 3 días", await first.visitor("¿Cuánto tarda la devolución?", user="maria")
        )
        await second.visitor("the invoice of march is wrong", user="john")
        await Writer(one.client, "rival", "c3").visitor("invoice")
        assert await listed(one, which="all", query="devolucion") == ["c1"]
        assert await listed(one, which="all", query="REEMB") == ["c1"]
        assert await listed(one, which="all", query="invoice march") == ["c2"]
        assert await listed(one, which="all", query="invoice reembolso") == []
        assert await listed(one, which="all", query="maria") == ["c1"]
        update = ConversationUpdate(
            company_id="acme", conversation_id="c2", update_id=uuid7(), by="ana", labels=["Billing"], assignee="ana"
        )
        await one.rpc.call(CONVERSATION_UPDATE, update)
        assert await listed(one, which="all", query="billing") == ["c2"]
        assert await listed(one, which="all", label="Billing") == ["c2"]
        assert await listed(one, which="mine", operatorId="ana", query="invoice") == ["c2"]
        # What was said since is found too.
        await second.visitor("y la devolución", user="john")
        assert await listed(one, which="all", query="devolución") == ["c2", "c1"]
        assert await listed(one, which="all", query="devolución", direction="asc", limit=1) == ["c1"]
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        assert await listed(one, which="all", query="devolución", since=tomorrow) == []
        assert await listed(one, which="all", until=tomorrow) == ["c2", "c1"]
