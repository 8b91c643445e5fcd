"""What human agents do at their desk: facts, whatever order they come in, and what the inbox makes of them."""

from datetime import UTC, datetime, timedelta

import pytest
from pymongo import AsyncMongoClient

from contracts.channels import fact
from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from contracts.conversation_rpc import (
    CONVERSATION,
    CONVERSATION_MESSAGES,
    CONVERSATIONS,
    LATEST_CONVERSATION,
    ConversationRef,
    ConversationsRequest,
    ConversationView,
    LatestConversationRequest,
    MessagesRequest,
)
from contracts.desk_rpc import (
    CONVERSATION_UPDATE,
    COUNTS,
    NAMED,
    NOTE_ADD,
    NOTES,
    ConversationUpdate,
    CountsRequest,
    NamedNote,
    NamedRequest,
    NoteRequest,
)
from contracts.envelope import CloudEvent
from contracts.events.chat import OwnerKind
from contracts.events.desk import ConversationUpdated, NoteAdded
from contracts.ids import uuid7
from contracts.memory_rpc import USER_FORGET, UserRef
from contracts.owner_rpc import OWNER_SEEN, OwnerSeenRequest
from contracts.streams import FACTS
from memory.testing.harness import Replica, Servers, Writer, replica, serve_deletions
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.errors import RpcError
from runtime.stores.mongo import Document
from runtime.testing.servers import eventually

LATEST_OF_EVA = LatestConversationRequest(company_id="acme", user_id="eva")


async def update(on: Replica, conversation: str = "c1", **fields: object) -> ConversationView:
    request = {"companyId": "acme", "conversationId": conversation, "updateId": uuid7(), "by": "ana", **fields}
    found = (await on.rpc.call(CONVERSATION_UPDATE, ConversationUpdate.model_validate(request))).conversation
    assert found is not None
    return found


async def view(on: Replica, conversation: str = "c1") -> ConversationView:
    found = await on.rpc.call(CONVERSATION, ConversationRef(company_id="acme", conversation_id=conversation))
    assert found.conversation is not None
    return found.conversation


async def listed(on: Replica, which: str, **request: object) -> list[str]:
    asked = {"companyId": "acme", "which": which, "operatorId": "ana", **request}
    return [item.id for item in (await on.rpc.call(CONVERSATIONS, ConversationsRequest.model_validate(asked))).items]


async def test_where_it_is_set_those_who_wait_are_given_in_turn_to_the_people_at_the_desk(servers: Servers) -> None:
    async with (
        replica(servers, handoff_sweep=0.2) as one,
        replica(servers, handoff_sweep=0.2) as two,
    ):
        config = {"companyId": "acme", "assignment": "in_turn", "handoffTimeoutSeconds": 3600}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=20)
        early = Writer(one.client, "acme", "w0")
        await early.visitor("a person, please", user="w0")
        await early.owner(OwnerKind.WAITING)

        async def told_that_nobody_is_here() -> bool:
            return (await view(one, "w0")).message_count == 2

        await eventually(told_that_nobody_is_here)
        for replica_asked, name in ((one, "ana"), (two, "ben"), (one, "ana")):
            here = {"companyId": "acme", "operatorId": name, "operatorName": name.title(), "present": True}
            await replica_asked.rpc.call(COUNTS, CountsRequest.model_validate(here))
        for name in ("w1", "w2", "w3", "w4"):
            waiting = Writer(one.client, "acme", name)
            await waiting.visitor("a person, please", user=name)
            await waiting.owner(OwnerKind.WAITING)
        # Whoever was given one by hand keeps it, and whoever only looks on is given none.
        await update(one, "w4", assignee="eva")
        await one.rpc.call(COUNTS, CountsRequest(company_id="acme", operator_id="eva"))

        async def given() -> list[str | None]:
            return [(await view(one, name)).assignee_name for name in ("w1", "w2", "w3")]

        async def all_given() -> bool:
            return (await view(one, "w0")).assignee is not None and None not in await given()

        await eventually(all_given)
        assert sorted(name or "" for name in await given()) in (["Ana", "Ana", "Ben"], ["Ana", "Ben", "Ben"])
        assert ((await view(two, "w4")).assignee, len(await listed(two, "needs_human"))) == ("eva", 5)
        notes = await one.rpc.call(NOTES, ConversationRef(company_id="acme", conversation_id="w1"))
        assert [(change.by, change.reason) for change in notes.changes] == [("memory", "in_turn")]


async def unread_by(on: Replica, operator: str) -> dict[str, int] | None:
    return (await on.rpc.call(COUNTS, CountsRequest(company_id="acme", operator_id=operator))).unread


async def named(on: Replica, who: NamedRequest) -> list[NamedNote]:
    return (await on.rpc.call(NAMED, who)).items


async def named_count(on: Replica, who: NamedRequest) -> int | None:
    asked = CountsRequest(company_id=who.company_id, operator_id=who.operator_id, operator_name=who.operator_name)
    return (await on.rpc.call(COUNTS, asked)).named


async def put(on: Replica, kind: str, data: ConversationUpdated | NoteAdded, name: str, copy: int = 0) -> None:
    event = CloudEvent(id=name, source="/test", type=kind, data=data)
    await Publisher(on.client).append(fact(kind, "acme", None), event, stream=FACTS.name, msg_id=f"{name}-{copy}")


async def test_a_conversation_is_resolved_opened_by_the_next_message_and_is_in_the_lists_that_its_state_says(
    servers: Servers,
) -> None:
    # No notice to those who wait comes in between.
    async with replica(servers, handoff_sweep=3600) as one, replica(servers, handoff_sweep=3600) as two:
        writer = Writer(one.client, "acme", "c1")
        await writer.assistant("29", await writer.visitor("how much?"))
        for name in ("w1", "w2"):
            waiting = Writer(one.client, "acme", name)
            await waiting.visitor("a person, please", user=name)
            await waiting.owner(OwnerKind.WAITING)
        # What is written later to the first does not take its place in the queue from it.
        hello = await Writer(one.client, "acme", "w1").visitor("hello?", user="w1")
        assert await listed(one, "needs_human") == ["w1", "w2"]
        assert await listed(two, "needs_human", direction="desc") == ["w2", "w1"]
        assert await listed(one, "unassigned") == ["w1", "w2", "c1"]
        # Whom nobody has answered is unread to each agent who has not read as far, whichever replica they ask.
        unread = (await unread_by(one, "ana")) or {}
        assert (list(unread), unread["w1"], await unread_by(two, "ben")) == (["w1", "w2"], hello, unread)
        for up_to in (hello, hello - 1):
            seen = {"companyId": "acme", "conversationId": "w1", "operatorId": "ana", "upToSeq": up_to}
            await one.rpc.call(OWNER_SEEN, OwnerSeenRequest.model_validate(seen))
        assert await unread_by(two, "ana") == {"w2": unread["w2"]}
        assert await unread_by(two, "ben") == unread

        found = await update(one, state="resolved", labels=["billing", "vip"], topic="Prices", name="Ana")
        assert (found.state, found.status, found.labels, found.topic) == (
            "resolved", "resolved", ["billing", "vip"], "Prices"
        )  # fmt: skip
        assert found.resolved_by == "ana"
        # Whichever replica is asked, at once.
        assert await listed(two, "resolved") == ["c1"]
        assert (await listed(two, "ai"), await listed(two, "unassigned")) == ([], ["w1", "w2"])
        assert await listed(two, "all") == ["w1", "w2", "c1"]
        assert (await update(two, "w2", assignee="ana", assigneeName="Ana")).assignee_name == "Ana"
        assert (await listed(one, "mine"), await listed(one, "unassigned")) == (["w2"], ["w1"])
        counts = await one.rpc.call(COUNTS, CountsRequest(company_id="acme", operator_id="ana"))
        assert counts.model_dump(exclude={"unread", "named"}) == {
            "all": 3, "needs_human": 2, "mine": 1, "unassigned": 1, "ai": 0, "stuck": 0, "snoozed": 0, "resolved": 1
        }  # fmt: skip

        await writer.visitor("and in euros?")
        assert (await view(one)).state == "ai"
        assert (await listed(one, "resolved"), await listed(one, "ai")) == ([], ["c1"])
        assert (await view(one)).labels == ["billing", "vip"]
        with pytest.raises(RpcError) as refused:
            await update(one, "w2", assignee="ben", expectedAssignee="")
        assert (refused.value.code, "Ana" in refused.value.message) == ("CONFLICT", True)

        # Who settles it before they have seen the newest message has not settled that one.
        unseen = await writer.visitor("are you there?")
        assert (await update(one, state="resolved", seenSeq=unseen - 1)).state == "ai"
        assert (await update(one, state="resolved", seenSeq=unseen)).state == "resolved"
        # Their own take-over is nothing that they have not seen; a colleague's is.
        await writer.owner(OwnerKind.HUMAN, "ana")
        assert (await update(one, state="resolved", seenSeq=unseen)).state == "resolved"
        taken = await writer.owner(OwnerKind.HUMAN, "ben")
        assert (await update(one, state="resolved", seenSeq=unseen)).state == "human"
        assert (await update(one, state="resolved", seenSeq=taken)).state == "resolved"
        with pytest.raises(RpcError) as refused:
            await update(one, "nobody-wrote-here", state="resolved")
        assert refused.value.code == "NOT_FOUND"


async def test_facts_in_any_order_and_more_than_once_come_to_the_same(servers: Servers) -> None:
    async with replica(servers) as one:
        told = ConversationUpdated(company_id="acme", conversation_id="c1", by="ana", labels=["early"])
        # Before anybody has written there: it is in no list, and counts when somebody does.
        await put(one, "conversation.updated.v1", told, "u1")
        assert await listed(one, "all") == []
        writer = Writer(one.client, "acme", "c1")
        seq = await writer.visitor("hola")
        await put(one, "conversation.updated.v1", told.model_copy(update={"labels": ["late"]}), "u2")
        resolved = ConversationUpdated(company_id="acme", conversation_id="c1", by="ana", state="resolved", basis=seq)
        await put(one, "conversation.updated.v1", resolved, "u3")
        # Copies that the bus does not know any more.
        await put(one, "conversation.updated.v1", told, "u1", copy=1)
        note = NoteAdded(company_id="acme", conversation_id="c1", note_id="n1", text="hello", by="ana")
        for copy in range(3):
            await put(one, "note.added.v1", note, "n1", copy=copy)

        async def taken_in() -> bool:
            found = await one.rpc.call(NOTES, ConversationRef(company_id="acme", conversation_id="c1"))
            state = await view(one)
            return len(found.items) == 1 and state.labels == ["late"] and state.state == "resolved"

        await eventually(taken_in)
        found = await one.rpc.call(NOTES, ConversationRef(company_id="acme", conversation_id="c1"))
        assert [change.id for change in found.changes] == ["u1", "u2", "u3"]
        # One of another company, whatever it says itself, is that company's.
        foreign = told.model_copy(update={"company_id": "acme", "labels": ["theirs"]})
        event = CloudEvent(id="u9", source="/test", type="conversation.updated.v1", data=foreign)
        subject = fact("conversation.updated.v1", "rival", None)
        await Publisher(one.client).append(subject, event, stream=FACTS.name, msg_id="u9")
        assert (await update(one, topic="x")).labels == ["late"]


async def test_a_snoozed_conversation_wakes_at_its_time_and_one_whose_visitor_says_that_this_was_all_is_resolved(
    servers: Servers,
) -> None:
    async with replica(servers, handoff_sweep=0.1) as one:
        sleeper, done, asked = (Writer(one.client, "acme", name) for name in ("sleeper", "done", "asked"))
        await sleeper.visitor("hola")
        soon = datetime.now(UTC) + timedelta(seconds=1.5)
        assert (await update(one, "sleeper", state="snoozed", snoozedUntil=soon)).state == "snoozed"
        assert await listed(one, "snoozed") == ["sleeper"]
        await asked.visitor("hola")
        await update(one, "asked", state="snoozed")
        await asked.visitor("hello?")
        assert (await view(one, "asked")).state == "ai"
        await done.assistant("29", await done.visitor("how much?"))
        last = await done.visitor("Eso es todo, gracias")
        assert (await view(one, "done")).state == "ai"
        await done.assistant("De nada", last)

        async def settled() -> bool:
            return (await view(one, "sleeper")).state == "ai" and (await view(one, "done")).state == "resolved"

        await eventually(settled)
        changes = (await one.rpc.call(NOTES, ConversationRef(company_id="acme", conversation_id="done"))).changes
        assert [(change.state, change.by, change.reason) for change in changes] == [("resolved", "memory", "confirmed")]


async def test_24_hours_of_silence_after_an_answer_resolve_a_conversation_and_nothing_else_does(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = [23.9]

    async def later(self: object) -> datetime:
        return datetime.now(UTC) + timedelta(hours=hours[0])

    monkeypatch.setattr("memory.adapters.projection_floor.ProjectionFloor.now", later)
    # Waiting conversations are another sweep's.
    async with replica(servers, dev=None, handoff_sweep=3600, quiet_sweep=0.1) as one:
        await company(one)
        answered, unanswered, waiting = (Writer(one.client, "acme", name) for name in ("answered", "open", "waiting"))
        await answered.assistant("29", await answered.visitor("how much?"))
        await unanswered.visitor("hola")
        await waiting.assistant("29", await waiting.visitor("how much?"))
        await waiting.owner(OwnerKind.WAITING)
        assert await listed(one, "resolved") == []
        hours[0] = 24.1

        async def resolved() -> bool:
            return await listed(one, "resolved") == ["answered"]

        await eventually(resolved)
        assert set(await listed(one, "unassigned")) == {"open", "waiting"}


async def test_what_somebody_had_who_left_the_team_is_nobodys_and_the_ai_answers_where_nobody_waits(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = [timedelta()]

    async def shifted(self: object) -> datetime:
        return datetime.now(UTC) + later[0]

    monkeypatch.setattr("memory.adapters.projection_floor.ProjectionFloor.now", shifted)
    async with replica(servers, dev=None, handoff_sweep=3600, quiet_sweep=0.1) as one:
        names = ("theirs", "given", "waits", "colleague")
        theirs, given, waits, colleague = (Writer(one.client, "acme", name) for name in names)
        for writer in (theirs, waits, colleague):
            await writer.visitor("my invoice?")
            await writer.owner(OwnerKind.HUMAN, "ben" if writer is colleague else "op1")
        for writer in (theirs, colleague):
            await writer.operator("it is on its way", "ben" if writer is colleague else "op1")
        await given.assistant("29", await given.visitor("how much?"))
        for name in ("theirs", "given"):
            await update(one, name, assignee="op1")
        team = {"members": {"ben": {"role": "commercial"}}, "signedOut": {"op1": datetime.now(UTC).isoformat()}}
        config = {"companyId": "acme", "resolveAfterHours": 0, "team": team}
        await one.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config))
        assert len(await listed(one, "mine", operatorId="op1")) == 3
        later[0] = timedelta(minutes=16)

        async def freed() -> bool:
            return await listed(one, "mine", operatorId="op1") == ["waits"]

        await eventually(freed)
        assert sorted(await listed(one, "unassigned")) == ["given", "theirs"]
        owner, notes = (await view(one, "theirs")).owner, ConversationRef(company_id="acme", conversation_id="theirs")
        assert owner.kind == OwnerKind.AI
        changes = (await one.rpc.call(NOTES, notes)).changes
        assert [(change.assignee, change.by, change.reason) for change in changes][1:] == [("", "memory", "left")]
        assert await listed(one, "mine", operatorId="ben") == ["colleague"]


async def company(on: Replica) -> None:
    await on.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config={"companyId": "acme"}))


async def test_notes_name_people_and_the_last_page_of_a_long_thread_leads_to_all_of_it(servers: Servers) -> None:
    async with replica(servers) as one:
        writer = Writer(one.client, "acme", "c1")
        for number in range(7):
            await writer.visitor(f"m{number}")
        request = NoteRequest(
            company_id="acme",
            conversation_id="c1",
            note_id="n1",
            text="@ben ask @eva.m, not a@b.com",
            by="ana",
            name="Ana",
        )
        added = (await one.rpc.call(NOTE_ADD, request)).note
        again = (await one.rpc.call(NOTE_ADD, request)).note
        assert (added.mentions, again) == (["ben", "eva.m"], added)
        other = request.model_copy(update={"text": "something else"})
        assert (await one.rpc.call(NOTE_ADD, other)).note == added
        found = await one.rpc.call(NOTES, ConversationRef(company_id="acme", conversation_id="c1"))
        assert [note.text for note in found.items] == [request.text]
        # Each of them is told of it, whoever else is named in it, until they have seen it.
        for operator, name in (("ben", "Benjamín Ruiz"), ("u-7", "Éva M")):
            who = NamedRequest(company_id="acme", operator_id=operator, operator_name=name)
            for _ in range(2):
                assert [(one.conversation_id, one.note, one.unseen) for one in await named(one, who)] == [
                    ("c1", added, True)
                ]
            assert await named_count(one, who) == 1
            seen = who.model_copy(update={"seen_up_to": added.created_at})
            for asked in (seen, who, seen.model_copy(update={"seen_up_to": datetime(2026, 1, 1, tzinfo=UTC)})):
                assert [one.unseen for one in await named(one, asked)] == [False]
            assert await named_count(one, who) == 0
            # By the first name too, without its accents; and in a note that names others before.
            later = request.model_copy(update={"note_id": f"n-{operator}", "text": f"@zoe and @{name[:3].upper()}..."})
            await one.rpc.call(NOTE_ADD, later)
            assert await named_count(one, who) == 1
        for nobody in (("ana", "Ana"), ("b", None), ("ben", "Ben")):
            company = "rival" if nobody[0] == "ben" else "acme"
            who = NamedRequest(company_id=company, operator_id=nobody[0], operator_name=nobody[1])
            assert (await named(one, who), await named_count(one, who)) == ([], 0)
        pages: list[list[str]] = []
        cursor: str | None = None
        while True:
            asked = MessagesRequest(company_id="acme", conversation_id="c1", limit=3, cursor=cursor, latest=True)
            page = await one.rpc.call(CONVERSATION_MESSAGES, asked)
            pages.append([message.text for message in page.items])
            cursor = page.next
            if cursor is None:
                break
        assert pages == [["m4", "m5", "m6"], ["m1", "m2", "m3"], ["m0"]]


async def test_what_was_done_with_a_deleted_users_conversations_goes_with_them(servers: Servers) -> None:
    async with replica(servers) as one:
        await Writer(one.client, "acme", "c1").visitor("hello", user="eva", role="user")
        await update(one, labels=["vip"])
        # A visitor who turns out to be her is among her conversations, and goes with her.
        await Writer(one.client, "acme", "c2").visitor("hello from outside", user="v9")
        known = await update(one, "c2", person="eva")
        assert (known.visitor.id, known.visitor.was, known.visitor.plan) == ("eva", "v9", None)
        assert await listed(one, "all", userId="eva") == ["c2", "c1"]
        assert (await one.rpc.call(LATEST_CONVERSATION, LATEST_OF_EVA)).conversation_id == "c1"
        assert (await update(one, "c2", person="")).visitor.id == "v9"
        await update(one, "c2", person="eva")
        secret = NoteRequest(company_id="acme", conversation_id="c1", note_id="n1", text="her secret", by="ana")
        await one.rpc.call(NOTE_ADD, secret)
        assert await listed(one, "all", query="hello") == ["c2", "c1"]
        await serve_deletions(one.client)
        await one.rpc.call(USER_FORGET, UserRef(company_id="acme", user_id="eva"))
        assert await listed(one, "all", query="hello") == []
        client = AsyncMongoClient[Document](servers.mongo)

        async def gone() -> bool:
            counts = [await client[servers.database][name].count_documents({}) for name in ("notes", "updates")]
            return counts == [0, 0]

        try:
            # What a consumer was storing in that moment goes when the deletion is swept once more.
            await eventually(gone)
        finally:
            await client.close()
        held = await DirectReader(one.client, FACTS.name).batch("note.added.v1.>", 1, 10)
        assert held.facts == []
