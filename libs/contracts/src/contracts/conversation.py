"""The facts of a conversation and what follows from them: who must be answered, and who may answer. Every service uses
this code.

An event that does not match its contract is a misfit. Memory's projection, which reads every fact, writes a dead letter
for it. All other readers ignore it: it is not answered, settles nothing, vetoes nothing and is not shown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from contracts.channels import ChatAddress, ChatKind
from contracts.company import CompanySettings
from contracts.envelope import CloudEvent
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    OwnerChanged,
    OwnerKind,
    RunCancelled,
    SystemMessage,
    VisitorMessage,
)
from contracts.json_values import object_of

ChatData = VisitorMessage | AssistantMessage | OperatorMessage | SystemMessage | OwnerChanged | RunCancelled
_EVENTS: dict[ChatKind, type[CloudEvent[Any]]] = {
    ChatKind.VISITOR: CloudEvent[VisitorMessage],
    ChatKind.ASSISTANT: CloudEvent[AssistantMessage],
    ChatKind.OPERATOR: CloudEvent[OperatorMessage],
    ChatKind.SYSTEM: CloudEvent[SystemMessage],
    ChatKind.OWNER: CloudEvent[OwnerChanged],
    ChatKind.CANCEL: CloudEvent[RunCancelled],
}
_ROLES = {ChatKind.ASSISTANT: "assistant", ChatKind.OPERATOR: "operator", ChatKind.SYSTEM: "system"}
_OPTIONAL = ("turnId", "clientMessageId", "code", "operatorId", "name", "files")


class MisfitError(ValueError):
    """An event in a conversation's log does not match its contract; the message names the fields but repeats no
    value."""


def read_fact(address: ChatAddress, raw: bytes) -> CloudEvent[ChatData]:
    """Parses the event published on a subject.

    Raises:
        MisfitError: it does not match the contract of its kind, or belongs to another kind or conversation than its
            subject.
    """
    try:
        event = _EVENTS[address.kind].model_validate_json(raw)
    except ValidationError as error:
        fields = [
            ".".join(map(str, problem["loc"])) for problem in error.errors(include_input=False, include_url=False)
        ]
        raise MisfitError(f"a {address.kind.event_type} has bad fields: {', '.join(fields)[:500]}") from None
    if "id" not in event.model_fields_set:
        raise MisfitError(f"a {address.kind.event_type} has no id")
    if event.type != address.kind.event_type:
        raise MisfitError(f"a {event.type[:80]} was published as {address.kind.event_type}")
    if event.subject not in (None, f"{address.company}/{address.conversation}"):
        raise MisfitError("its subject names another conversation than the one that it was published in")
    return event


@dataclass(frozen=True, slots=True)
class Fact:
    """One durable fact. Facts are equal if they agree on who must be answered.

    `at`: when the log stored it, in seconds since the epoch by the bus's clock; 0.0 if unknown (in the live feed).
    `basis` and `owner` are set for the kinds that have one. `event`: its CloudEvent as published; `checked`: its data
    as the model of its kind, if it has been validated.
    """

    kind: ChatKind
    seq: int
    at: float = 0.0
    basis: int = 0
    owner: OwnerKind = OwnerKind.AI
    event: Mapping[str, Any] = field(default_factory=dict[str, Any], compare=False, repr=False)
    checked: ChatData | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls, kind: ChatKind, seq: int, event: Mapping[str, Any], at: float = 0.0, checked: ChatData | None = None
    ) -> "Fact":
        """Builds the fact from a CloudEvent that was parsed from JSON."""
        data = object_of(event.get("data"))
        if kind is ChatKind.OWNER:
            kind_name = object_of(data.get("owner")).get("kind", OwnerKind.AI)
            owner = OwnerKind(kind_name) if isinstance(kind_name, str) else OwnerKind.unknown()
            return cls(kind, seq, at, owner=owner, event=event, checked=checked)
        basis = data.get("basis", 0)
        return cls(kind, seq, at, basis if isinstance(basis, int) else 0, event=event, checked=checked)

    @property
    def data(self) -> Mapping[str, Any]:
        """The event's data as published; empty if the publisher left it out."""
        return object_of(self.event.get("data"))

    @property
    def typed(self) -> ChatData:
        """The event's data as the model of its kind; raises ValidationError if it does not match."""
        return self.checked or _EVENTS[self.kind].model_validate(self.event).data

    @property
    def settled_up_to(self) -> int:
        """The sequence up to which it settles visitor messages. Answers, notices and cancellations state it as their
        basis; a human agent's message settles all before it."""
        return self.seq if self.kind is ChatKind.OPERATOR else self.basis

    @property
    def stored_at(self) -> datetime:
        """When the log stored the fact (aware, UTC)."""
        return datetime.fromtimestamp(self.at, UTC)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The newest fact of each kind in a conversation, at one moment.

    `seq` is the highest sequence of all, including kinds that this release does not know; it is the fence for decisions
    made from the snapshot. `basis` is the newest settled visitor message. The visitor message at sequence s is answered
    if basis ≥ s; an answer's own sequence proves nothing.
    """

    seq: int = 0
    newest_visitor: int = 0
    newest_visitor_at: float = 0.0
    basis: int = 0
    owner: OwnerKind = OwnerKind.AI
    first_unanswered_at: float | None = None
    """When the first visitor message after `basis` was stored; None if it was not looked up, or all are answered."""
    owner_seq: int = 0
    """Sequence of the newest change of owner; 0 if there is none."""
    first_unanswered: int = 0
    """The sequence of the first visitor message after `basis`; 0 if it was not looked up."""
    last: Mapping[ChatKind, Fact] = field(default_factory=dict[ChatKind, Fact], compare=False, repr=False)

    @property
    def unanswered(self) -> bool:
        """Whether a visitor message waits for an answer."""
        return self.newest_visitor > self.basis

    @property
    def newest_message(self) -> str | None:
        """The id of the newest visitor message, or None."""
        fact = self.last.get(ChatKind.VISITOR)
        identity = fact.data.get("messageId") if fact else None
        return identity if isinstance(identity, str) else None

    @property
    def unanswered_from(self) -> int:
        """The sequence from which visitor messages wait. It may be later than `basis` + 1: if old facts were trimmed
        from the log, those that settled old messages are gone too."""
        return max(self.first_unanswered, self.basis + 1)

    @property
    def replied(self) -> int:
        """The sequence up to which visitor messages have a reply. A cancellation settles messages but is no reply: a
        person may have taken over."""
        return max((fact.settled_up_to for kind, fact in self.last.items() if kind is not ChatKind.CANCEL), default=0)

    @property
    def owner_data(self) -> Mapping[str, Any]:
        """The owner as published: {kind, operatorId?, name?}; the AI if the owner never changed."""
        fact = self.last.get(ChatKind.OWNER)
        return (object_of(fact.data.get("owner")) if fact else {}) or {"kind": OwnerKind.AI.value}


def snapshot_of(facts: Iterable[Fact], seq: int = 0) -> Snapshot:
    """Builds the snapshot of a conversation.

    Args:
        facts: the newest fact of each kind, or any facts in order that include those.
        seq: the highest sequence in the conversation, if it belongs to none of the facts but to a misfit, or to a kind
            of a newer release.
    """
    last = {fact.kind: fact for fact in facts}
    visitor, owner = last.get(ChatKind.VISITOR), last.get(ChatKind.OWNER)
    basis = 0
    for fact in last.values():
        seq, basis = max(seq, fact.seq), max(basis, fact.settled_up_to)
    return Snapshot(
        seq=seq,
        newest_visitor=visitor.seq if visitor else 0,
        newest_visitor_at=visitor.at if visitor else 0.0,
        basis=basis,
        owner=owner.owner if owner else OwnerKind.AI,
        owner_seq=owner.seq if owner else 0,
        last=last,
    )


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """A company's settings about whom the AI answers."""

    enabled: bool
    beside_human: bool = False

    @classmethod
    def of(cls, settings: CompanySettings | None) -> "AnswerRules":
        """Reads the rules from the settings; a company without settings answers nobody."""
        if settings is None:
            return AnswerRules(enabled=False)
        config = settings.config
        return AnswerRules(config.ai_auto_response_enabled, config.ai_respond_with_commercial)


def may_answer(settings: AnswerRules, owner: OwnerKind) -> bool:
    """Whether the AI may answer now; while a conversation waits for a person, it counts as a human's."""
    return settings.enabled and (owner is OwnerKind.AI or settings.beside_human)


def message_view(fact: Fact) -> dict[str, object] | None:
    """Returns the message as clients see it, in JSON (conversation_rpc.MessageView); None if the fact is no message, or
    malformed. Internal fields of the log, above all the principal, are left out."""
    data = fact.data
    if fact.kind is ChatKind.VISITOR:
        role = "user" if data.get("role") == "user" else "visitor"
    elif fact.kind in _ROLES:
        role = _ROLES[fact.kind]
    else:
        return None
    text, identity = data.get("text"), data.get("messageId")
    if not isinstance(text, str) or not isinstance(identity, str):
        return None
    view: dict[str, object] = {
        "id": identity,
        "seq": fact.seq,
        "role": role,
        "text": text,
        "citations": data.get("citations") or [],
        "actions": data.get("actions") or [],
        "charts": data.get("charts") or [],
        "createdAt": fact.event.get("time"),
    }
    return view | {name: data[name] for name in _OPTIONAL if data.get(name) is not None}


def owner_event(fact: Fact) -> dict[str, Any] | None:
    """Returns the change of owner as people see it in the thread, in JSON (inbox.OwnerEvent); None if the fact is no
    change of owner."""
    identity = fact.event.get("id")
    if fact.kind is not ChatKind.OWNER or not isinstance(identity, str):
        return None
    data = fact.data
    view = {"id": identity, "seq": fact.seq, "owner": data.get("owner"), "by": data.get("by")}
    optional = {name: data[name] for name in ("name", "reason", "opensAt") if data.get(name) is not None}
    return view | optional | {"createdAt": fact.event.get("time")}
