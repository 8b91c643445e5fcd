"""What human agents send from their desk: checked at the door, and passed on with who they are."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import orjson
import pytest
from nats.aio.client import Client

from contracts.events.chat import Owner, OwnerKind
from contracts.inbox import VisitorView
from gateway.domain.conversation_ids import following_conversation_id, is_issued_to
from gateway.testing.desk import DeskStandIn
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn, conversation_view
from gateway.testing.http import Http
from gateway.testing.tokens import TokenMaker
from runtime.testing.servers import eventually

PATH = "/v2/conversations/c1"


@pytest.fixture(autouse=True)
def known(memory: MemoryStandIn) -> None:
    memory.known_conversations["c1"] = conversation_view("c1", "acme", "me")


async def test_a_change_says_only_what_was_sent_and_who_sent_it(
    http: Http, tokens: TokenMaker, desk: DeskStandIn
) -> None:
    ana = tokens.user("ana", "commercial")
    later = (datetime.now(UTC) + timedelta(hours=1)).astimezone(timezone(timedelta(hours=-7))).isoformat()
    for body in (
        {"state": "snoozed", "snoozedUntil": later},
        {"assignee": "me", "labels": [" vip ", "vip", "billing"]},
        {"assignee": None, "topic": None},
        {"assignee": "ben", "assigneeName": "Somebody else"},
        {"assignee": "not-here-yet", "assigneeName": "Carla"},
        {"addLabels": [" vip "], "removeLabels": ["late"]},
    ):
        status, answer, _ = await http("PATCH", PATH, token=ana, json=body)
        assert status == 200, answer
    snoozed, mine, nobodys, bens, carlas, labelled = desk.updates
    assert (snoozed.state, snoozed.assignee, snoozed.labels, snoozed.topic, snoozed.by) == (
        "snoozed", None, None, None, "ana"
    )  # fmt: skip
    assert snoozed.snoozed_until == datetime.fromisoformat(later)
    assert str(snoozed.snoozed_until).endswith("+00:00")  # times leave in UTC
    assert (mine.assignee, mine.labels, mine.state) == ("ana", ["vip", "billing"], None)
    assert (nobodys.assignee, nobodys.topic) == ("", "")
    assert (bens.assignee, bens.assignee_name) == ("ben", "Ben Ortiz")
    assert (labelled.labels, labelled.add_labels, labelled.remove_labels) == (None, ["vip"], ["late"])
    assert (carlas.assignee, carlas.assignee_name) == ("not-here-yet", "Carla")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "say what is to change"),
        ({"state": "closed"}, "state"),
        ({"state": None}, "state"),
        ({"state": "open", "snoozedUntil": "2099-01-01T00:00:00Z"}, "snoozedUntil"),
        ({"state": "snoozed", "until": "2099-01-01T00:00:00Z"}, "until"),
        ({"state": "snoozed", "snoozedUntil": "2001-01-01T00:00:00Z"}, "a time to come"),
        ({"state": "snoozed", "snoozedUntil": "2099-01-01T00:00:00"}, "time zone"),
        ({"state": "snoozed", "snoozedUntil": 4_070_908_800}, "must be a time such as"),
        ({"state": "snoozed", "snoozedUntil": "9999-12-31T23:59:59-14:00"}, "in UTC"),
        ({"assignee": "no such id!"}, "assignee"),
        ({"assignee": "a-leaver"}, "nobody at this company's desk has this id"),
        ({"labels": ["x" * 41]}, "labels"),
        ({"addLabels": [" "]}, "addLabels"),
        ({"removeLabels": None}, "removeLabels"),
        ({"labels": [" "]}, "labels"),
        ({"labels": [str(number) for number in range(21)]}, "labels"),
        ({"topic": "a\nb"}, "write it on one line"),
        ({"topic": "bill\u202egnp"}, "take out the invisible character U+202E"),
        ({"labels": ["\u200b\u2060"]}, "write something"),
        ({"labels": ["half \ud83d"]}, "contains half a character"),
    ],
)
async def test_what_is_wrong_with_a_change_is_said_in_words(
    http: Http,
    tokens: TokenMaker,
    desk: DeskStandIn,
    memory: MemoryStandIn,
    body: dict[str, Any],
    says: str,
) -> None:
    memory.add_company("acme", team={"members": {"ben": {"role": "commercial"}}})
    status, answer, _ = await http("PATCH", PATH, token=tokens.user("ana", "commercial"), json=body)
    assert (status, says in str(answer)) == (422, True), answer
    assert desk.updates == []


async def test_what_agents_tell_each_other_is_not_told_to_the_visitor(
    http: Http, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    view = conversation_view("c1", "acme", "me")
    memory.known_conversations["c1"] = view.model_copy(
        update={"labels": ["SECRET"], "assignee": "ana", "state": "snoozed", "status": "snoozed", "previous": "c0"}
    )
    token = tokens.visitor("me")
    for path in ("/v2/conversations", PATH):
        status, answer, _ = await http("GET", path, token=token)
        assert (status, "SECRET" in str(answer), "ana" in str(answer), "snoozed" in str(answer)) == (
            200, False, False, False
        ), answer  # fmt: skip
        assert "c0" in str(answer)
    assert (await http("GET", f"{PATH}/notes", token=token))[0] == 403


@pytest.mark.usefixtures("desk")
async def test_the_id_of_another_note_is_a_conflict(http: Http, tokens: TokenMaker) -> None:
    note = {"noteId": str(uuid4()), "text": "one"}
    assert (await http("POST", f"{PATH}/notes", token=tokens.user("ana", "commercial"), json=note))[0] == 201
    for who, text, status in (("ana", "one", 201), ("ana", "two", 409), ("ben", "one", 409)):
        token = tokens.user(who, "commercial")
        assert (await http("POST", f"{PATH}/notes", token=token, json={**note, "text": text}))[0] == status


@pytest.mark.usefixtures("desk")
async def test_the_inbox_hears_of_what_was_done_at_a_desk_and_the_visitor_whether_it_is_resolved(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, nats_client: Client
) -> None:
    async with ChatClient(gateway.url) as ana, ChatClient(gateway.url) as visitor:
        await ana.hello(tokens.user("ana", "commercial"))
        await ana.send("inbox.watch")
        await ana.until("inbox.changed")
        for kind in ("conversation.updated.v1", "note.added.v1"):
            event = b'{"data": {"companyId": "other", "conversationId": "c1"}}'
            await nats_client.publish(f"{kind}.acme.-", event)
            assert (await ana.until("inbox.changed"))["conversationIds"] == ["c1"]
        token = tokens.visitor("v1")
        mine: str = (await visitor.hello(token))["conversationId"]
        for state in ("resolved", "open"):
            update = {"data": {"conversationId": mine, "state": state, "basis": 3}}
            await nats_client.publish("conversation.updated.v1.acme.-", orjson.dumps(update))
            told = await visitor.until("conversation.updated")
            assert (told["resolved"], told["seq"]) == (state == "resolved", 3)
        # Who comes back later is told what a person has left resolved.
        seq, now = (await visitor.say("hello"))["seq"], datetime.now(UTC).isoformat()
        last = {"id": "m1", "seq": seq, "role": "visitor", "text": "hello", "createdAt": now}
        memory.known_conversations[mine] = conversation_view(mine, "acme", "v1", resolvedAt=now, lastMessage=last)
        await ana.send("owner.take", conversationId=mine)
        await visitor.until("owner.changed")
    async with ChatClient(gateway.url) as visitor:
        await visitor.hello(token, conversationId=mine)
        assert (await visitor.until("conversation.updated"))["resolved"]


async def test_a_conversation_that_was_over_for_a_week_is_followed_by_a_new_one_that_is_linked_when_it_is_written_in(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, desk: DeskStandIn
) -> None:
    token = tokens.visitor("me")
    now = datetime.now(UTC)
    over = conversation_view("c1", "acme", "me").model_copy(update={"owner": Owner(kind=OwnerKind.AI)})
    memory.latest["acme", "me"] = "c1"
    memory.known_conversations["c1"] = over.model_copy(update={"resolved_at": now - timedelta(days=6, hours=23)})
    async with ChatClient(gateway.url) as client:
        assert (await client.hello(token))["conversationId"] == "c1"
    memory.known_conversations["c1"] = over.model_copy(update={"resolved_at": now - timedelta(days=7, hours=1)})
    found: list[str] = []
    for _ in range(2):
        async with ChatClient(gateway.url) as client:
            found.append((await client.hello(token))["conversationId"])
            assert desk.updates == []
    assert found[0] == found[1] != "c1"
    async with ChatClient(gateway.url) as client:
        await client.hello(token)
        await client.say("hello again")

        async def linked() -> bool:
            return [(update.conversation_id, update.previous) for update in desk.updates] == [(found[0], "c1")]

        await eventually(linked)


async def test_a_conversation_whose_link_could_not_be_stored_is_linked_with_the_next_message(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, desk: DeskStandIn
) -> None:
    ended = conversation_view("c1", "acme", "me").model_copy(update={"owner": Owner(kind=OwnerKind.AI)})
    memory.latest["acme", "me"] = "c1"
    memory.known_conversations["c1"] = ended.model_copy(
        update={"resolved_at": datetime.now(UTC) - timedelta(days=7, hours=1)}
    )
    desk.failing_updates = 1
    async with ChatClient(gateway.url, hello=tokens.visitor("me")) as client:
        (session,) = gateway.gateway.chat.sessions
        await client.say("hello again")
        await eventually(lambda: desk.failing_updates == 0 and session.previous == "c1")
        assert desk.updates == []
        await client.say("are you there?")
        await eventually(lambda: [update.previous for update in desk.updates] == ["c1"])


async def test_what_a_customer_began_as_a_visitor_is_linked_to_them_with_the_visitors_own_token_alone(
    gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, desk: DeskStandIn
) -> None:
    memory.latest["acme", "me"] = "c1"
    customer, mine = tokens.user("u-1"), tokens.visitor("me")
    others = (tokens.visitor("me", company="other"), tokens.user("me"), "nonsense", mine[:-2])
    for token, visitor in ((mine, mine), *((customer, other) for other in others)):
        async with ChatClient(gateway.url) as client:
            await client.hello(token, visitor=visitor)
    assert desk.merges == []
    async with ChatClient(gateway.url) as client:
        welcome = await client.hello(customer, visitor=mine)
        assert welcome["conversationId"] != "c1"  # which the visitor's token goes on opening
        (told,) = desk.merges
        assert (told.company_id, told.person_id, told.into, told.by) == ("acme", "me", "u-1", "u-1")
        await client.say("and now as myself")

        async def linked() -> bool:
            return [(update.conversation_id, update.previous) for update in desk.updates] == [
                (welcome["conversationId"], "c1")
            ]

        await eventually(linked)


async def test_who_has_signed_in_reads_what_they_wrote_as_a_visitor_and_nobody_reads_what_an_agent_merged(
    http: Http, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    view = conversation_view("c1", "acme", "u-1")
    signed_in = view.model_copy(update={"visitor": VisitorView(id="u-1", was="me", signed_in=True)})
    merged = view.model_copy(update={"visitor": VisitorView(id="u-1", was="me")})
    for state, status in ((signed_in, 200), (merged, 404)):
        memory.known_conversations["c1"] = state
        for path in ("c1", "c1/messages", "c1/transcript"):
            assert (await http("GET", f"/v2/conversations/{path}", token=tokens.user("u-1")))[0] == status
            assert (await http("GET", f"/v2/conversations/{path}", token=tokens.user("u-2")))[0] == 404
        _, listed, _ = await http("GET", "/v2/conversations", token=tokens.user("u-1"))
        assert [one["id"] for one in listed["items"]] == ["c1"] * (status == 200)
        # Nothing that is told to a customer goes where the visitor's token leads.
        for method, path, body in (
            ("PUT", "rating", {"score": 5}), ("POST", "files", None), ("POST", "actions/a1", {"decision": "confirm"})
        ):  # fmt: skip
            token = tokens.user("u-1")
            assert (await http(method, f"/v2/conversations/c1/{path}", token=token, json=body))[0] == 404


async def test_a_new_topic_is_the_callers_own_and_knows_the_one_before(
    gateway: GatewayUnderTest, http: Http, tokens: TokenMaker, memory: MemoryStandIn, desk: DeskStandIn
) -> None:
    memory.latest["acme", "me"] = "c1"
    status, begun, _ = await http("POST", "/v2/conversations", token=tokens.visitor("me"), json={"topic": "My invoice"})
    assert (status, begun["previous"]) == (201, "c1")
    (told,) = desk.updates
    assert (told.conversation_id, told.topic, told.previous, told.begins) == (
        begun["conversationId"], "My invoice", "c1", True
    )  # fmt: skip
    async with ChatClient(gateway.url) as client:
        welcome = await client.hello(tokens.visitor("me"), conversationId=begun["conversationId"])
        assert welcome["conversationId"] == begun["conversationId"]


def test_the_following_conversation_is_the_same_whenever_it_is_asked_for_and_its_persons_own() -> None:
    key = b"0" * 32
    one = following_conversation_id(key, "acme", "me", "c1", 1_767_000_000_000)
    assert one == following_conversation_id(key, "acme", "me", "c1", 1_767_000_000_000)
    assert is_issued_to([key], "acme", "me", one)
    assert not is_issued_to([key], "acme", "you", one)
    assert one != following_conversation_id(key, "acme", "me", "c2", 1_767_000_000_000)


async def test_a_human_agent_merges_and_separates_visitors_of_their_own_company(
    http: Http, tokens: TokenMaker, desk: DeskStandIn
) -> None:
    ana = tokens.user("ana", "commercial")
    status, answer, _ = await http("POST", "/v2/visitors/v1/merge", token=ana, json={"into": "eva"})
    assert (status, answer) == (200, {"personId": "v1", "into": "eva", "conversations": ["c1"], "left": False})
    assert (await http("DELETE", "/v2/visitors/v1/merge", token=ana))[0] == 200
    there, back = desk.merges
    assert (there.company_id, there.person_id, there.into, there.by) == ("acme", "v1", "eva", "ana")
    assert (back.person_id, back.into, back.by) == ("v1", None, "ana")
    assert there.merge_id != back.merge_id
    for body in ({}, {"into": None}, {"into": "no such id!"}, {"to": "eva"}):
        assert (await http("POST", "/v2/visitors/v1/merge", token=ana, json=body))[0] == 422
    assert len(desk.merges) == 2
