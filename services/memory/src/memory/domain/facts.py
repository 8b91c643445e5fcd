"""A conversation's facts in memory: validated against the contract, with the view that clients get."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from contracts.channels import MESSAGE_KINDS, ChatAddress, ChatKind
from contracts.conversation import ChatData, read_fact
from contracts.conversation_rpc import MessageView
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    OwnerChanged,
    Role,
    RunCancelled,
    SystemMessage,
    VisitorMessage,
)
from contracts.inbox import OwnerEvent
from memory.domain.keys import LogPosition


class BadFactError(ValueError):
    """A stored event that does not match its contract and can never be projected."""


@dataclass(frozen=True, slots=True)
class LogFact:
    """One durable fact. `at` is its time by its publisher, `stored_at` by the log."""

    company: str
    conversation: str
    kind: ChatKind
    position: LogPosition
    event_id: str
    at: datetime
    stored_at: datetime
    data: ChatData
    raw: bytes

    @property
    def seq(self) -> int:
        return self.position.seq

    @property
    def is_message(self) -> bool:
        """Whether it is a message to people."""
        return self.kind in MESSAGE_KINDS


@dataclass(frozen=True, slots=True, order=True)
class FactPlace:
    """Which fact has a position of the log."""

    position: LogPosition
    event_id: str


def decode(address: ChatAddress, position: LogPosition, stored_at: datetime, raw: bytes) -> LogFact:
    """Returns the fact at `position` of the log.

    Raises:
        BadFactError: the event does not match its contract (contracts.conversation).
    """
    try:
        orjson.loads(raw)  # stricter than the model: what it refuses, such as an infinite number, cannot be shown
        event = read_fact(address, raw)
    except ValueError as error:
        raise BadFactError(f"at {position.seq}: {error}"[:1000]) from None
    return LogFact(
        company=address.company,
        conversation=address.conversation,
        kind=address.kind,
        position=position,
        event_id=event.id,
        at=event.time,
        stored_at=stored_at,
        data=event.data,
        raw=raw,
    )


def message_id(fact: LogFact) -> str | None:
    """Returns the id under which clients know the message; None if the fact is not a message."""
    match fact.data:
        case OwnerChanged() | RunCancelled():
            return None
        case data:
            return data.message_id


_VIEWED: Mapping[type, tuple[Role, tuple[str, ...]]] = {
    VisitorMessage: (Role.VISITOR, ("client_message_id", "files")),
    AssistantMessage: (Role.ASSISTANT, ("citations", "actions", "charts", "turn_id")),
    OperatorMessage: (Role.OPERATOR, ("operator_id", "name", "client_message_id", "files")),
    SystemMessage: (Role.SYSTEM, ("code", "turn_id")),
}
"""The role of each kind of message, and what clients see of it beside its text."""


def view(fact: LogFact) -> MessageView | None:
    """Returns the message as clients see it; None if the fact is not a message."""
    match fact.data:
        case OwnerChanged() | RunCancelled():
            return None
        case data:
            role, names = _VIEWED[type(data)]
            return MessageView(
                id=data.message_id,
                seq=fact.seq,
                role=Role.USER if isinstance(data, VisitorMessage) and data.role == "user" else role,
                text=data.text,
                created_at=fact.at,
                **{name: getattr(data, name) for name in names},
            )


def owner_event(fact: LogFact) -> OwnerEvent | None:
    """Returns the change of owner as people see it in the thread; None if the fact is not one."""
    match fact.data:
        case OwnerChanged() as data:
            return OwnerEvent(
                id=fact.event_id,
                seq=fact.seq,
                owner=data.owner,
                by=data.by,
                name=data.name,
                reason=data.reason,
                opens_at=data.opens_at,
                created_at=fact.at,
            )
        case _:
            return None


def without_principal(raw: bytes) -> str:
    """Returns the event's JSON without the principal: a signed proof of identity does not belong in a database."""
    event: dict[str, Any] = orjson.loads(raw)
    data: dict[str, Any] = event["data"]
    data.pop("principal", None)
    return orjson.dumps(event).decode()
