"""Facts of a conversation as memory sees them: checked against the contract, and their view for clients."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from pydantic import ValidationError

from contracts.channels import MESSAGE_KINDS, ChatAddress, ChatKind
from contracts.envelope import CloudEvent
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    OwnerChanged,
    Role,
    RunCancelled,
    SystemMessage,
    VisitorMessage,
)
from contracts.rpc import MessageView
from memory.domain.keys import Position

ChatData = VisitorMessage | AssistantMessage | OperatorMessage | SystemMessage | OwnerChanged | RunCancelled

_EVENTS: dict[ChatKind, type[CloudEvent[Any]]] = {
    ChatKind.VISITOR: CloudEvent[VisitorMessage],
    ChatKind.ASSISTANT: CloudEvent[AssistantMessage],
    ChatKind.OPERATOR: CloudEvent[OperatorMessage],
    ChatKind.SYSTEM: CloudEvent[SystemMessage],
    ChatKind.OWNER: CloudEvent[OwnerChanged],
    ChatKind.CANCEL: CloudEvent[RunCancelled],
}


class BadFactError(ValueError):
    """A stored event that does not fit its contract: it can never be projected."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One durable fact. `at`: when its publisher says it happened; `stored_at`: the log's own stamp."""

    company: str
    conversation: str
    kind: ChatKind
    position: Position
    event_id: str
    at: datetime
    stored_at: datetime
    data: ChatData
    raw: bytes

    @property
    def seq(self) -> int:
        """The sequence in the log."""
        return self.position.seq

    @property
    def is_message(self) -> bool:
        """Whether people read it."""
        return self.kind in MESSAGE_KINDS


def decode(address: ChatAddress, position: Position, stored_at: datetime, raw: bytes) -> Fact:
    """The fact that the log holds at `position`.

    Raises:
        BadFactError: the event does not fit the contract of its kind, or names another kind than its subject.
    """
    try:
        event = _EVENTS[address.kind].model_validate_json(raw)
    except ValidationError as error:
        where = [".".join(str(part) for part in found["loc"]) for found in error.errors(include_input=False)]
        raise BadFactError(f"{address.kind.event_type} at {position.seq} has bad fields: {', '.join(where)}") from None
    if event.type != address.kind.event_type:
        raise BadFactError(f"a {event.type[:80]} was published as {address.kind.event_type}")
    return Fact(
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


def message_id(fact: Fact) -> str | None:
    """The id under which clients know the message; None when it is none."""
    match fact.data:
        case OwnerChanged() | RunCancelled():
            return None
        case data:
            return data.message_id


def view(fact: Fact) -> MessageView | None:
    """The message as clients see it; None when it is none."""
    match fact.data:
        case VisitorMessage() as data:
            return MessageView(
                id=data.message_id,
                seq=fact.seq,
                role=Role(data.role),
                text=data.text,
                client_message_id=data.client_message_id,
                created_at=fact.at,
            )
        case AssistantMessage() as data:
            return MessageView(
                id=data.message_id,
                seq=fact.seq,
                role=Role.ASSISTANT,
                text=data.text,
                citations=data.citations,
                actions=data.actions,
                charts=data.charts,
                turn_id=data.turn_id,
                created_at=fact.at,
            )
        case OperatorMessage() as data:
            return MessageView(
                id=data.message_id,
                seq=fact.seq,
                role=Role.OPERATOR,
                text=data.text,
                operator_id=data.operator_id,
                name=data.name,
                client_message_id=data.client_message_id,
                created_at=fact.at,
            )
        case SystemMessage() as data:
            return MessageView(
                id=data.message_id,
                seq=fact.seq,
                role=Role.SYSTEM,
                text=data.text,
                code=data.code,
                turn_id=data.turn_id,
                created_at=fact.at,
            )
        case OwnerChanged() | RunCancelled():
            return None


def without_principal(raw: bytes) -> str:
    """The event's JSON without the principal: a signed proof of identity has no business in a database."""
    event: dict[str, Any] = orjson.loads(raw)
    data: dict[str, Any] = event["data"]
    data.pop("principal", None)
    return orjson.dumps(event).decode()
