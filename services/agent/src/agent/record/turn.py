"""The recorded form of a turn: its inputs and its journal."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import orjson
from pydantic import TypeAdapter

from agent.domain.offered_tool import OfferedTool
from agent.domain.turn.journal import Journal
from agent.ports import ConversationKey, PromptHistory, Requester, TurnSnapshot
from contracts.channels import conversation_tree
from contracts.context_rpc import FullContext
from contracts.knowledge import KnowledgeFound

PROVEN = "recorded"
"""Placeholder for a valid principal; the principal itself is a credential and is not stored."""

TYPE = "turns.recorded.v1"


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a turn's prompts, besides the company's settings, the tools and the journal."""

    seen: TurnSnapshot
    history: PromptHistory
    context: FullContext | None = None
    knowledge: KnowledgeFound | None = None


@dataclass(frozen=True, slots=True)
class EndedTurn:
    """A turn whose end is in the log. `finished_at`: seconds since the epoch by the bus's clock."""

    inputs: Inputs
    journal: Journal
    tools: tuple[OfferedTool, ...]
    config_version: int
    finished_at: float


_INPUTS = TypeAdapter(Inputs)
_ASKER = [field.name for field in fields(Requester) if field.name != "said"]
"""The recorded fields of a requester; `said` is only set outside conversations, so never in a turn."""


def inputs_to_json(inputs: Inputs, key: ConversationKey) -> bytes:
    """Returns the inputs as JSON, without the principal. The field names are those of existing records."""
    snapshot, view = inputs.seen, inputs.seen.view
    recorded: dict[str, Any] = {
        "view": {
            "n": view.seq,
            "newest_visitor": view.newest_visitor,
            "newest_visitor_at": view.newest_visitor_at,
            "basis": view.basis,
            "owner": view.owner,
            "first_unanswered_at": view.first_unanswered_at,
            "owner_since": view.owner_seq,
            "first_unanswered": view.first_unanswered,
        },
        "asker": _asker(snapshot.requester),
        "fence_filter": conversation_tree(*key),
        "text": snapshot.text,
        "asked": snapshot.asked,
    }
    if snapshot.wishes is not None:
        recorded["wishes"] = snapshot.wishes
    other_inputs: dict[str, Any] = {"history": inputs.history, "context": inputs.context}
    if inputs.knowledge is not None:
        other_inputs["knowledge"] = inputs.knowledge
    return orjson.dumps({"seen": recorded, **other_inputs}, default=_to_wire)


def inputs_from_json(data: dict[str, Any]) -> Inputs:
    """Parses recorded inputs; raises ValueError if this version of the agent cannot read them."""
    try:
        recorded: dict[str, Any] = data["seen"]
        view: dict[str, Any] = recorded["view"]
        current_view = {**view, "seq": view["n"], "owner_seq": view.get("owner_since", 0)}
        requester = recorded["asker"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"the inputs of a turn have no {error}") from error
    return _INPUTS.validate_python({**data, "seen": {**recorded, "view": current_view, "requester": requester}})


def hash_of(tools: Iterable[OfferedTool]) -> str:
    """Returns a digest of the tools' names, descriptions and schemas."""
    return hashlib.sha256(b"[%b]" % b",".join(tool.identity for tool in tools)).hexdigest()[:16]


def _asker(requester: Requester) -> dict[str, Any]:
    asker = {name: getattr(requester, name) for name in _ASKER}
    return asker if requester.principal is None else {**asker, "principal": PROVEN}


def _to_wire(value: Any) -> Any:
    """Returns the JSON form of a wire model."""
    return value.to_wire()
