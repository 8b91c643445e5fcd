"""A conversation's state as a MongoDB document, and back."""

from datetime import UTC, date, datetime
from typing import Any, NotRequired

from typing_extensions import TypedDict

from contracts.events.chat import Owner, OwnerKind
from contracts.inbox import HandOver
from contracts.rpc import MessageView, VisitorProfile
from memory.domain.conversation import Conversation, Outcome, Ownership, Person
from memory.domain.keys import Position, conversation_key, list_key
from memory.domain.recent import Seen
from runtime.mongo import Document


class PersonFields(TypedDict):
    """Whose conversation it is."""

    userId: str
    role: str
    plan: str | None


class ConversationFields(TypedDict):
    """A row of `conversations`; objects of the wire are JSON as text, times ISO 8601, positions era/seq."""

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
    waitingSince: NotRequired[int]
    handOver: NotRequired[str | None]
    handOverPosition: NotRequired[str]
    writer: NotRequired[str]


def to_document(state: Conversation) -> Document:
    """The document for the version after `state.version`, with the keys of the lists that it is in."""
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
        "profile": state.seen.profile.to_json().decode(),
        "seenAt": _time(state.seen.last_at),
        "seenPosition": str(state.seen_position),
        "owner": state.ownership.owner.to_json().decode(),
        "ownerPosition": str(state.ownership.position),
        "ownerSince": _time(state.ownership.since),
        "ownerBy": state.ownership.by,
        "ownerReason": state.ownership.reason,
        "answered": str(state.answered),
        "failed": str(state.failed),
        "noticed": str(state.noticed),
        "replied": str(state.replied),
        "answers": state.answers,
        "handedOff": state.handed_off,
        "failures": state.failures,
        "handOver": state.hand_over.to_json().decode() if state.hand_over else None,
        "handOverPosition": str(state.hand_over_position),
    }
    return row | _list_keys(state)


def _list_keys(state: Conversation) -> Document:
    company, name, at = state.company, state.conversation, state.latest
    keys: Document = {
        "inboxKey": list_key(company, at, name),
        "stateKey": list_key(f"{company}:{state.state}", at, name),
    }
    if state.started_at:
        keys["dayKey"] = f"{company}/{state.started_at.astimezone(UTC).date().isoformat()}"
    owner = state.ownership.owner
    if owner.kind == OwnerKind.HUMAN and owner.operator_id:
        keys["operatorKey"] = list_key(f"{company}:{owner.operator_id}", at, name)
    if state.person:
        keys["personKey"] = list_key(f"{company}:{state.person.user_id}", at, name)
    if state.due_since:
        keys["waitingSince"] = int(state.due_since.timestamp() * 1000)
    return keys


def from_document(row: Document) -> Conversation:
    """The state that to_document wrote."""
    company, conversation = row["_id"].split("/", 1)
    person: Any = row["person"]
    return Conversation(
        company=company,
        conversation=conversation,
        version=row["version"],
        settled=_position(row["settled"]),
        taken=frozenset(_position(position) for position in row["taken"]),
        person=Person(person["userId"], person["role"], person["plan"]) if person else None,
        person_position=_position(row["personPosition"]) if row["personPosition"] else None,
        started_at=_datetime(row["startedAt"]),
        latest=_position(row["latest"]),
        message_count=row["messageCount"],
        last_message=MessageView.model_validate_json(row["lastMessage"]) if row["lastMessage"] else None,
        last_position=_position(row["lastPosition"]),
        seen=Seen(VisitorProfile.model_validate_json(row["profile"]), _datetime(row["seenAt"])),
        seen_position=_position(row["seenPosition"]),
        ownership=Ownership(
            owner=Owner.model_validate_json(row["owner"]),
            position=_position(row["ownerPosition"]),
            since=_datetime(row["ownerSince"]),
            by=row["ownerBy"],
            reason=row["ownerReason"],
        ),
        answered=_position(row["answered"]),
        failed=_position(row["failed"]),
        noticed=_position(row["noticed"]),
        # Stored before it was kept: the sweep then looks into the log.
        replied=_position(row.get("replied", "0/0")),
        answers=row.get("answers", 0),
        handed_off=row.get("handedOff", False),
        failures=row.get("failures", 0),
        hand_over=HandOver.model_validate_json(row["handOver"]) if row.get("handOver") else None,
        hand_over_position=_position(row.get("handOverPosition", "0/0")),
    )


def outcome_of(row: Document) -> Outcome:
    """What came of the conversation of a document with a `dayKey`."""
    return Outcome(
        day=date.fromisoformat(row["dayKey"].rsplit("/", 1)[1]),
        answers=row.get("answers", 0),
        handed_off=row.get("handedOff", False),
        failed=row.get("failures", 0) > 0,
    )


def _person(person: Person | None) -> Document | None:
    return {"userId": person.user_id, "role": person.role, "plan": person.plan} if person else None


def _position(text: str) -> Position:
    era, seq = text.split("/")
    return Position(int(era), int(seq))


def _text(position: Position | None) -> str | None:
    return str(position) if position else None


def _time(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _datetime(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
