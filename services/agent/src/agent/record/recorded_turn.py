"""Reads a turn from its record."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from agent.domain.turn.journal import Journal
from agent.domain.turn.journal_wire import journal_from_wire, journal_to_wire
from agent.ports import ConversationKey
from agent.record.turn import Inputs, inputs_from_json


@dataclass(frozen=True)
class RecordedTurn:
    """The content of one turns.recorded.v1. Times are in seconds since the epoch by the bus's clock."""

    key: ConversationKey
    user: str | None
    started_at: float
    finished_at: float
    config_version: int
    tools: tuple[str, ...]
    tools_hash: str
    inputs: Inputs
    journal: Journal
    journal_bytes: bytes


def recorded_turn(event: bytes) -> RecordedTurn:
    """Parses a turn from an event's JSON text; raises ValueError if this version cannot read it."""
    try:
        data: dict[str, Any] = orjson.loads(event)["data"]
        return RecordedTurn(
            key=ConversationKey(data["companyId"], data["conversationId"]),
            user=data.get("userId"),
            started_at=datetime.fromisoformat(data["startedAt"]).timestamp(),
            finished_at=datetime.fromisoformat(data["finishedAt"]).timestamp(),
            config_version=int(data["configVersion"]),
            tools=tuple(data["tools"]),
            tools_hash=str(data.get("toolsHash") or ""),
            inputs=inputs_from_json(data["inputs"]),
            journal=journal_from_wire(data["journal"]),
            journal_bytes=orjson.dumps(data["journal"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a record of a turn: {error!r}") from error


def bytes_of(journal: Journal) -> bytes:
    """Returns the journal as stored in TURNS, without the spaces that a model put into its arguments."""
    return orjson.dumps(orjson.loads(orjson.dumps(journal_to_wire(journal))))
