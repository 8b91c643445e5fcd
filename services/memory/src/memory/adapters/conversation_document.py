"""Converts a conversation's state to a MongoDB document and back."""

from datetime import UTC, date, datetime
from typing import Any, NotRequired

import orjson
from typing_extensions import TypedDict

from contracts.conversation_rpc import MessageView, VisitorProfile
from contracts.events.chat import Owner, Wait
from contracts.inbox import HandOver
from memory.domain.conversation import ConversationOutcome, InboxConversation, Ownership, Person
from memory.domain.desk import OPEN, DeskState, UpdatePlace
from memory.domain.inbox_index import Findable
from memory.domain.keys import BEGINNING, LogPosition, conversation_key, list_key, milliseconds, position_of, timed_key
from memory.domain.recent import VisitorTraits
from runtime.stores.mongo import Document


class PersonFields(TypedDict):
    """The conversation's visitor or customer."""

    userId: str
    role: str
    plan: str | None


class ConversationFields(TypedDict):
    """A document of `conversations`: wire objects are JSON texts, times ISO 8601, positions `era/seq`."""

    _id: str
    version: int
    settled: str
    taken: list[str]
    person: PersonFields | None
    personPosition: str | None
    startedAt: str | None
    latest: str
    messageCount: int
    lastMessage: str | None
    lastPosition: str
    profile: str
    seenAt: str | None
    seenPosition: str
    owner: str
    ownerPosition: str
    ownerSince: str | None
    ownerBy: str
    ownerReason: str | None
    ownerOpensAt: NotRequired[str | None]
    ownerWait: NotRequired[str | None]
    answered: str
    failed: str
    noticed: str
    answers: NotRequired[int]
    handedOff: NotRequired[bool]
    failures: NotRequired[int]
    inboxKey: str
    stateKey: str
    dayKey: NotRequired[str]
    operatorKey: NotRequired[str]
    personKey: NotRequired[str]
    visitorKey: NotRequired[str]
    waitingSince: NotRequired[int]
    handOver: NotRequired[str | None]
    handOverPosition: NotRequired[str]
    replied: NotRequired[str]
    desk: NotRequired[str]
    heardAt: NotRequired[str | None]
    saidAt: NotRequired[str | None]
    claimed: NotRequired[str]
    claimedAt: NotRequired[str | None]
    farewell: NotRequired[str]
    words: NotRequired[str]
    address: NotRequired[str | None]
    addressPosition: NotRequired[str]
    ratingAsked: NotRequired[bool]
    unassignedKey: NotRequired[str]
    unansweredKey: NotRequired[str]
    quietKey: NotRequired[str]
    dueAt: NotRequired[int]
    writtenKey: NotRequired[str]
    writer: NotRequired[str]


def to_document(state: InboxConversation) -> Document:
    """The document for the version after `state.version`, with the sort keys of its lists."""
    row: Document = {
        "_id": conversation_key(state.company, state.conversation),
        "version": state.version + 1,
        "settled": str(state.settled),
        "taken": sorted(str(position) for position in state.taken),
        "person": _person(state.person),
        "personPosition": _text(state.person_position),
        "startedAt": _time(state.started_at),
        "latest": str(state.latest),
        "messageCount": state.message_count,
        "lastMessage": state.last_message.to_json().decode() if state.last_message else None,
        "lastPosition": str(state.last_position),
        "profile": state.visitor_traits.profile.to_json().decode(),
        "seenAt": _time(state.visitor_traits.last_at),
        "seenPosition": str(state.visitor_traits_position),
        "owner": state.ownership.owner.to_json().decode(),
        "ownerPosition": str(state.ownership.position),
        "ownerSince": _time(state.ownership.since),
        "ownerBy": state.ownership.by,
        "ownerReason": state.ownership.reason,
        "ownerOpensAt": _time(state.ownership.opens_at),
        "ownerWait": state.ownership.wait.to_json().decode() if state.ownership.wait else None,
        "answered": str(state.answered),
        "failed": str(state.failed),
        "noticed": str(state.noticed),
        "replied": str(state.replied),
        "answers": state.answers,
        "handedOff": state.handed_off,
        "failures": state.failures,
        "handOver": state.hand_over.to_json().decode() if state.hand_over else None,
        "handOverPosition": str(state.hand_over_position),
        "desk": _desk_text(state.desk),
        "heardAt": _time(state.visitor_message_at),
        "saidAt": _time(state.last_message_at),
        "claimed": str(state.claimed),
        "claimedAt": _time(state.claimed_at),
        "farewell": str(state.farewell),
        "words": " ".join(sorted(state.words)),
        "address": state.address,
        "addressPosition": str(state.address_position),
        "ratingAsked": state.rating_asked,
    }
    return row | _list_keys(state)


def _list_keys(state: InboxConversation) -> Document:
    """The sort keys of the lists in which the conversation appears; none for one that has desk changes but no facts of
    its own."""
    company, name, latest = state.company, state.conversation, state.latest
    if latest == BEGINNING:
        return {}
    # Waiting conversations are sorted by when they began to wait.
    order = latest if state.waiting_since is None else state.ownership.queue_position
    keys: Document = {
        "inboxKey": list_key(company, latest, name),
        "stateKey": list_key(f"{company}:{state.state}", order, name),
    }
    if state.started_at:
        keys["dayKey"] = f"{company}/{state.started_at.astimezone(UTC).date().isoformat()}"
    if state.status == OPEN:
        assignee = state.assignee[0]
        if assignee:
            keys["operatorKey"] = list_key(f"{company}:{assignee}", latest, name)
        else:
            keys["unassignedKey"] = list_key(company, latest, name)
    if state.is_unanswered:
        keys["unansweredKey"] = list_key(company, state.visitor_traits_position, name)
    if state.person_id:
        keys["personKey"] = list_key(f"{company}:{state.person_id}", latest, name)
    if state.person and state.person.user_id != state.person_id:
        keys["visitorKey"] = list_key(f"{company}:{state.person.user_id}", latest, name)
    if state.due_since:
        keys["waitingSince"] = milliseconds(state.due_since)
    if state.quiet_since:
        keys["quietKey"] = timed_key(company, milliseconds(state.quiet_since), name)
    due = state.wakes_at or (state.quiet_since if state.is_over else None)
    if due:
        keys["dueAt"] = milliseconds(due)
    return keys


def from_document(row: Document) -> InboxConversation:
    """The state that to_document wrote."""
    company, conversation = row["_id"].split("/", 1)
    person: Any = row["person"]
    return InboxConversation(
        company=company,
        conversation=conversation,
        version=row["version"],
        writer=row.get("writer"),
        settled=position_of(row["settled"]),
        taken=frozenset(position_of(position) for position in row["taken"]),
        person=Person(person["userId"], person["role"], person["plan"]) if person else None,
        person_position=position_of(row["personPosition"]) if row["personPosition"] else None,
        started_at=_datetime(row["startedAt"]),
        latest=position_of(row["latest"]),
        message_count=row["messageCount"],
        last_message=MessageView.model_validate_json(row["lastMessage"]) if row["lastMessage"] else None,
        last_position=position_of(row["lastPosition"]),
        visitor_traits=VisitorTraits(VisitorProfile.model_validate_json(row["profile"]), _datetime(row["seenAt"])),
        visitor_traits_position=position_of(row["seenPosition"]),
        ownership=Ownership(
            owner=Owner.model_validate_json(row["owner"]),
            position=position_of(row["ownerPosition"]),
            since=_datetime(row["ownerSince"]),
            by=row["ownerBy"],
            reason=row["ownerReason"],
            opens_at=_datetime(row.get("ownerOpensAt")),
            wait=Wait.model_validate_json(wait) if (wait := row.get("ownerWait")) else None,
        ),
        answered=position_of(row["answered"]),
        failed=position_of(row["failed"]),
        noticed=position_of(row["noticed"]),
        # Documents of earlier releases lack this field: the sweep then reads the log.
        replied=position_of(row.get("replied", "0/0")),
        answers=row.get("answers", 0),
        handed_off=row.get("handedOff", False),
        failures=row.get("failures", 0),
        hand_over=HandOver.model_validate_json(row["handOver"]) if row.get("handOver") else None,
        hand_over_position=position_of(row.get("handOverPosition", "0/0")),
        desk=_desk(row["desk"]) if row.get("desk") else DeskState(),
        visitor_message_at=_datetime(row.get("heardAt")),
        last_message_at=_datetime(row.get("saidAt")),
        claimed=position_of(row.get("claimed", "0/0")),
        claimed_at=_datetime(row.get("claimedAt")),
        farewell=position_of(row.get("farewell", "0/0")),
        words=frozenset(row.get("words", "").split()),
        address=row.get("address"),
        address_position=position_of(row.get("addressPosition", "0/0")),
        rating_asked=row.get("ratingAsked", False),
    )


def outcome_of(row: Document) -> ConversationOutcome:
    """The outcome of a conversation, from its document with a `dayKey`."""
    return ConversationOutcome(
        day=date.fromisoformat(row["dayKey"].rsplit("/", 1)[1]),
        answers=row.get("answers", 0),
        handed_off=row.get("handedOff", False),
        failed=row.get("failures", 0) > 0,
    )


def _desk_text(desk: DeskState) -> str:
    fields = {
        "state": desk.state,
        "stateSince": _update_place_fields(desk.state_since),
        "snoozedUntil": _time(desk.snoozed_until),
        "stateBy": desk.state_by,
        "stateReason": desk.state_reason,
        "assignee": desk.assignee,
        "assigneeName": desk.assignee_name,
        "assigned": _update_place_fields(desk.assigned),
        "labels": desk.labels,
        "topic": desk.topic,
        "previous": desk.previous,
        "person": desk.person,
        "personName": desk.person_name,
        "signedIn": desk.signed_in,
    }
    return orjson.dumps(fields).decode()


def _desk(text: str) -> DeskState:
    fields = orjson.loads(text)
    return DeskState(
        state=fields["state"],
        state_since=_update_place(fields["stateSince"]),
        snoozed_until=_datetime(fields["snoozedUntil"]),
        state_by=fields["stateBy"],
        state_reason=fields["stateReason"],
        assignee=fields["assignee"],
        assignee_name=fields["assigneeName"],
        assigned=_update_place(fields["assigned"]),
        labels=tuple(fields["labels"]),
        topic=fields["topic"],
        previous=fields["previous"],
        person=fields.get("person"),
        person_name=fields.get("personName"),
        signed_in=fields.get("signedIn", False),
    )


def _update_place_fields(place: UpdatePlace | None) -> list[str | None] | None:
    return [_text(place.basis), _time(place.at)] if place else None


def _update_place(fields: list[str | None] | None) -> UpdatePlace | None:
    if fields is None:
        return None
    basis, time = fields
    return UpdatePlace(position_of(basis) if basis else None, datetime.fromisoformat(time or ""))


FINDABLE: Document = dict.fromkeys(
    ("inboxKey", "stateKey", "operatorKey", "personKey", "desk", "saidAt", "words", "writtenKey"), 1
)
"""The fields of the document that a search reads."""


def findable_of(row: Document) -> Findable:
    """The values by which a search finds the conversation."""
    desk = orjson.loads(row["desk"])
    _, latest = row["inboxKey"].split("/", 1)
    said_at = row.get("saidAt")
    return Findable(
        name=row["_id"].split("/", 1)[1],
        latest=latest,
        state=row["stateKey"].split("/", 1)[0].partition(":")[2],
        assignee=_name_in_key(row.get("operatorKey")) or desk["assignee"],
        person=_name_in_key(row.get("personKey")),
        person_name=desk.get("personName"),
        labels=tuple(desk["labels"]),
        topic=desk["topic"],
        last_message_at=datetime.fromisoformat(said_at) if said_at else None,
        words=row["words"],
        written=int(row["writtenKey"].split("/")[1]),
    )


def _name_in_key(key: str | None) -> str | None:
    return key.split("/", 1)[0].partition(":")[2] if key else None


def _person(person: Person | None) -> Document | None:
    return {"userId": person.user_id, "role": person.role, "plan": person.plan} if person else None


def _text(position: LogPosition | None) -> str | None:
    return str(position) if position else None


def _time(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def _datetime(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
