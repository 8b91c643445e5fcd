"""Receipts of deletions, single conversations, facts that come late, and what goes by its age."""

import asyncio
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from nats.aio.client import Client
from pymongo import AsyncMongoClient

from contracts.channels import fact
from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from contracts.conversation_rpc import CONVERSATION, ConversationRef
from contracts.envelope import CloudEvent
from contracts.erasure_rpc import (
    ERASE,
    KEEPING,
    RECEIPT,
    RECEIPTS,
    EraseRequest,
    KeepingRequest,
    Receipt,
    ReceiptRef,
    ReceiptsRequest,
)
from contracts.events.chat import OwnerKind
from contracts.events.desk import NoteAdded
from contracts.files import FileRef, file_key, folder_of, unsent_key
from contracts.ids import uuid7
from contracts.memory_rpc import MEMORY_GET, MEMORY_PATCH, USER_FORGET, MemoryPatchRequest
from contracts.streams import CHAT, FACTS
from memory.application import late_facts
from memory.domain.receipt import PLACES
from memory.testing.harness import Replica, Servers, Writer, replica, serve_deletions
from runtime.bus.connection import jetstream
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.stores.file_store import FileMetadata
from runtime.stores.folder_store import FolderStore
from runtime.testing.clock import FakeClock
from runtime.testing.servers import NatsServer, eventually

from .test_user_deletion import ANA, SECRET, besides_limits, everything, fill, places_of

RECORDED = "how often may I scrumble the brollet"
"""What a recorded turn was asked."""


def is_written(server: NatsServer, text: str) -> bool:
    """Whether the text stands in a file of FACTS."""
    files = server.directory / "store/jetstream/$G/streams/FACTS"
    return any(text.encode() in file.read_bytes() for file in files.rglob("*") if file.is_file())


def erase(kind: Any, name: str, receipt: str | None = None) -> EraseRequest:
    return EraseRequest(company_id="acme", receipt_id=receipt or uuid7(), kind=kind, name=name, by="admin")


def counts(receipt: Receipt) -> dict[str, int]:
    return {one.place: one.removed for one in receipt.removed}


async def done(one: Replica, receipt: str) -> Receipt:
    found: list[Receipt] = []

    async def finished() -> bool:
        reply = await one.rpc.call(RECEIPT, ReceiptRef(company_id="acme", receipt_id=receipt))
        found[:] = [reply.receipt] if reply.receipt and reply.receipt.state == "done" else []
        return bool(found)

    await eventually(finished)
    return found[0]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderStore:
    """Where the replica's files lie."""
    monkeypatch.setenv("NEXUS_FILES_URL", str(tmp_path / "files"))
    return FolderStore(tmp_path / "files")


async def _holds(files: FolderStore, keys: list[str]) -> bool:
    return await files.list("", 10) == keys


async def keep(files: FolderStore, writer: Writer) -> FileRef:
    """A file that was taken in, and is in no message yet."""
    file = FileRef(id=uuid7(), name="a.txt", type="text/plain", size=len(SECRET), hash="0" * 64)
    about = FileMetadata(file.name, file.type, file.size, file.hash)
    for key in (unsent_key, file_key):
        await files.put(key(writer.company, writer.conversation, file.id), BytesIO(SECRET.encode()), about)
    return file


async def settled(client: Client) -> bool:
    infos = [info for stream in (CHAT, FACTS) for info in await jetstream(client).consumers_info(stream.name)]
    return not any(info.num_pending or info.num_ack_pending for info in infos)


async def test_one_conversation_goes_with_a_receipt_and_the_users_others_stay(
    servers: Servers, files: FolderStore
) -> None:
    async with replica(servers, forgetting_sweep=0.1) as one:
        told = await serve_deletions(one.client)
        gone, stays = Writer(one.client), Writer(one.client)
        await fill(servers, one, gone)
        await stays.visitor("this one stays", user=ANA.user_id)
        lost, kept = await keep(files, gone), await keep(files, stays)
        patch = {"userNotes": [f"My {SECRET}", "I live in Madrid"]}
        await one.rpc.call(MEMORY_PATCH, MemoryPatchRequest(company_id="acme", user_id=ANA.user_id, patch=patch))
        await eventually(lambda: settled(one.client))
        request = erase("conversation", gone.conversation)
        receipt = (await one.rpc.call(ERASE, request)).receipt
        assert (receipt.kind, receipt.conversations, told) == ("conversation", 1, [])
        finished = await done(one, request.receipt_id)
        removed = counts(finished)
        left = {item.place: item.remains for item in finished.removed}
        assert (left["limits"], left["tool-executor"]) == ("counters", "records")
        others = {"stream TRACES", "backups", "service logs", "model providers", "agents", "limits"}
        assert {*PLACES, *others} == removed.keys()
        assert removed["stream CHAT"] == 2
        assert removed["mongodb facts"] == 2
        assert removed["mongodb conversations"] == 1
        assert all(removed[f"stream {name}"] for name in ("TURNS", "FACTS", "TOOLS", "DLQ"))
        assert removed["redis"] > 0
        assert removed["files"] == 1
        assert await files.list(folder_of("acme"), 10) == [file_key("acme", stays.conversation, kept.id)]
        assert await files.about(unsent_key("acme", gone.conversation, lost.id)) is None
        found = await everything(servers, one.client)
        # A note that names the user, and nothing of the conversation, waits to be told, and stays.
        assert besides_limits(places_of(found, gone.conversation)) == set()
        assert {place for place in places_of(found, SECRET) if "stream" not in place} == set()
        view = await one.rpc.call(CONVERSATION, ConversationRef(company_id="acme", conversation_id=stays.conversation))
        assert view.conversation is not None
        remembered = (await one.rpc.call(MEMORY_GET, ANA)).memory
        assert remembered.user_notes == ["I live in Madrid"]
        listed = await one.rpc.call(RECEIPTS, ReceiptsRequest(company_id="acme"))
        assert [item.receipt_id for item in listed.items] == [request.receipt_id]
        assert not any(word in listed.to_json().decode() for word in (gone.conversation, ANA.user_id, SECRET))
        assert (
            await one.rpc.call(RECEIPT, ReceiptRef(company_id="other", receipt_id=request.receipt_id))
        ).receipt is None


async def test_a_deletion_that_is_broken_off_goes_on_with_its_receipt(servers: Servers) -> None:
    async with replica(servers, forgetting_sweep=600) as one:
        writer = Writer(one.client)
        await writer.visitor(SECRET, user=ANA.user_id)
        request = erase("user", ANA.user_id)
        # Nobody answers for the market and the tools: what the process had done so far is that it was written down.
        with pytest.raises(Exception, match=r"UNAVAILABLE|deleted everywhere"):
            await one.rpc.call(ERASE, request, retries=0)
    async with replica(servers, forgetting_sweep=0.1) as two:
        await serve_deletions(two.client)
        removed = counts(await done(two, request.receipt_id))
        assert (removed["stream CHAT"], removed["mongodb facts"], removed["market-adapter"]) == (1, 1, 1)
        assert places_of(await everything(servers, two.client), SECRET, ANA.user_id) == set()
        again = (await two.rpc.call(ERASE, request)).receipt
        assert again.receipt_id == request.receipt_id
        assert counts(again)["stream CHAT"] == 1


async def note(client: Client, conversation: str, text: str, at: datetime) -> None:
    data = NoteAdded(company_id="acme", conversation_id=conversation, note_id=uuid7(), text=text, by="op1")
    event = CloudEvent(id=data.note_id, source="/t", type="note.added.v1", time=at, data=data)
    await Publisher(client).append(fact("note.added.v1", "acme", None), event, stream=FACTS.name, msg_id=data.note_id)


@pytest.mark.parametrize("wait", [late_facts.PROJECTION_TIMEOUT_SECONDS, 0.0], ids=["waited for", "comes again"])
async def test_what_comes_late_does_not_bring_the_deleted_back(
    servers: Servers, wait: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A new note comes before the message that it follows is stored: it is waited for, or the note comes again.
    monkeypatch.setattr(late_facts, "PROJECTION_TIMEOUT_SECONDS", wait)
    async with replica(servers, forgetting_sweep=0.1) as one:
        await serve_deletions(one.client)
        writer = Writer(one.client)
        seq = await writer.visitor(SECRET, user=ANA.user_id)
        stored = await DirectReader(one.client, CHAT.name).at(seq)
        assert stored is not None
        request = erase("user", ANA.user_id)
        await one.rpc.call(ERASE, request)
        await done(one, request.receipt_id)
        await note(one.client, writer.conversation, SECRET, datetime.now(UTC))

        async def gone() -> bool:
            # A consumer's count is made behind the append: that it is settled may be said of what was before.
            found = await everything(servers, one.client)
            return await settled(one.client) and not places_of(found, SECRET, writer.conversation)

        await eventually(gone)
        # Whoever comes back writes anew; what is told of what was before is late all the same.
        before = datetime.now(UTC) - timedelta(minutes=1)
        await writer.visitor("a new start", user=ANA.user_id)
        await note(one.client, writer.conversation, SECRET, before)
        await note(one.client, writer.conversation, "a new note", datetime.now(UTC))

        async def new_alone() -> bool:
            found = await everything(servers, one.client)
            return await settled(one.client) and "mongo notes" in places_of(found, "a new note")

        await eventually(new_alone)
        assert places_of(await everything(servers, one.client), SECRET) == set()


async def test_a_deletion_that_is_over_deletes_nothing_when_it_is_asked_for_again(servers: Servers) -> None:
    async with replica(servers, forgetting_sweep=0.1) as one:
        await serve_deletions(one.client)
        writer = Writer(one.client)
        await writer.visitor(SECRET, user=ANA.user_id)
        request = erase("user", ANA.user_id)
        await one.rpc.call(ERASE, request)
        over = await done(one, request.receipt_id)
        await writer.visitor("a new start", user=ANA.user_id)
        await eventually(lambda: settled(one.client))
        again = (await one.rpc.call(ERASE, request)).receipt
        assert (again.receipt_id, again.state) == (over.receipt_id, "done")
        assert "mongo facts" in places_of(await everything(servers, one.client), "a new start")


@pytest.mark.own_servers
async def test_what_is_old_goes_once_a_day_and_is_counted_before(
    servers: Servers, files: FolderStore, nats_server: NatsServer
) -> None:
    clock = FakeClock(datetime.now(UTC).replace(hour=1))
    async with replica(servers, forgetting_sweep=0.1, keeping_sweep=0.1, clock=clock) as one:
        await serve_deletions(one.client)
        config = {"companyId": "acme", "retention": {"conversationDays": 30, "fileDays": 30, "traceDays": 1}}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config))
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "keeps"}))
        old, kept = Writer(one.client), Writer(one.client, company="keeps")
        await old.visitor(SECRET, user="v1", files=[await keep(files, old)])
        held = Writer(one.client)
        await held.visitor("a person, please", user="v3")
        await held.owner(OwnerKind.WAITING)
        named, forgotten = await keep(files, kept), await keep(files, kept)
        await kept.visitor("for good", user="v2", files=[named])
        event = orjson.dumps({"data": {"companyId": "acme", "conversationId": "c", "question": RECORDED}})
        subject = fact("turns.recorded.v1", "acme", None)
        await Publisher(one.client).append(subject, event, stream=FACTS.name, msg_id=uuid7())
        await eventually(lambda: settled(one.client))
        early = await one.rpc.call(KEEPING, KeepingRequest(company_id="acme"))
        assert (early.conversations.count, early.traces.count, early.files.days, early.files.count) == (0, 0, 30, 0)
        await clock.advance(31 * 86_400)

        async def counted() -> bool:
            now = await one.rpc.call(KEEPING, KeepingRequest(company_id="acme"))
            return (now.conversations.count, now.files.count, now.traces.count) == (1, 1, 1)

        await eventually(counted)
        await clock.advance(3 * 3_600)

        async def gone() -> bool:
            await clock.advance(6)  # a deletion is off its list when it has been swept
            found = await everything(servers, one.client)
            assert places_of(found, SECRET, old.conversation) == set()
            assert "turns.recorded" not in found["stream FACTS"]
            assert not is_written(nats_server, RECORDED)
            return True

        await eventually(gone)
        # The company that says nothing keeps what a message names; what none has named in a day goes.
        left = [file_key("keeps", kept.conversation, named.id)]
        await eventually(lambda: _holds(files, left))
        assert forgotten.id not in left[0]
        async with AsyncMongoClient[dict[str, Any]](servers.mongo) as mongo:
            sums = mongo[servers.database]["file_shares"]

            async def added_up() -> bool:
                return await sums.find_one({"_id": "keeps"}) == {"_id": "keeps", "bytes": len(SECRET)}

            await eventually(added_up)
        listed = await one.rpc.call(RECEIPTS, ReceiptsRequest(company_id="acme"))
        assert [(item.kind, item.by, item.conversations) for item in listed.items] == [("retention", "retention", 1)]
        for company, there in (("keeps", kept), ("acme", held)):  # a person is asked for: not under their hands
            ref = ConversationRef(company_id=company, conversation_id=there.conversation)
            assert (await one.rpc.call(CONVERSATION, ref)).conversation is not None


@pytest.mark.own_servers
async def test_what_is_deleted_message_by_message_is_in_no_file_of_its_stream(
    servers: Servers, nats_server: NatsServer
) -> None:
    async with replica(servers, forgetting_sweep=0.1) as one:
        await serve_deletions(one.client)
        writer = Writer(one.client)
        await writer.visitor("hello", user=ANA.user_id)
        await note(one.client, writer.conversation, SECRET, datetime.now(UTC))
        await eventually(lambda: settled(one.client))
        await eventually(lambda: is_written(nats_server, SECRET))
        request = erase("conversation", writer.conversation)
        await one.rpc.call(ERASE, request)
        facts = next(one for one in (await done(one, request.receipt_id)).removed if one.place == "stream FACTS")
        assert (facts.removed, facts.remains) == (1, None)
        await eventually(lambda: not is_written(nats_server, SECRET))


async def test_what_is_kept_of_the_deleted_names_nobody(servers: Servers) -> None:
    async with replica(servers, forgetting_sweep=0.1) as one:
        await serve_deletions(one.client)
        writer = Writer(one.client)
        await writer.visitor(SECRET, user=ANA.user_id)
        assert (await one.rpc.call(USER_FORGET, ANA)).conversations == 1
        async with AsyncMongoClient[dict[str, Any]](servers.mongo) as mongo:
            stones = await mongo[servers.database]["erased"].find({}).to_list()
        assert len(stones) == 2
        assert not any(word in str(stones) for word in (ANA.user_id, writer.conversation, "acme"))
        await asyncio.gather(*(one.rpc.call(USER_FORGET, ANA) for _ in range(3)))
