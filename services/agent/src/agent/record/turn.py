"""The recorded form of a turn: its inputs as the agent holds them, and its journal."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
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
"""Stands for a principal that was good: the principal itself is a key, and is not kept."""

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


def inputs_to_json(inputs: Inputs, key: ConversationKey) -> bytes:
    """The inputs as JSON, without the principal. The names are those of the records that are kept already."""
    seen, view = inputs.seen, inputs.seen.view
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
        # What somebody wrote where no conversation keeps it is never of a turn.
        "asker": {name: value for name, value in asdict(_anonymous(seen.requester)).items() if name != "said"},
        "fence_filter": conversation_tree(*key),
        "text": seen.text,
        "asked": seen.asked,
    }
    if seen.wishes is not None:
        recorded["wishes"] = seen.wishes
    rest: dict[str, Any] = {"history": inputs.history, "context": inputs.context}
    if inputs.knowledge is not None:
        rest["knowledge"] = inputs.knowledge
    return orjson.dumps({"seen": recorded, **rest}, default=_plain)


def inputs_from_json(data: dict[str, Any]) -> Inputs:
    """The inputs as they were; raises ValueError when this version of the agent cannot read them."""
    try:
        seen: dict[str, Any] = data["seen"]
        view: dict[str, Any] = seen["view"]
        known = {**view, "seq": view["n"], "owner_seq": view.get("owner_since", 0)}
        requester = seen["asker"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"the inputs of a turn have no {error}") from error
    return _INPUTS.validate_python({**data, "seen": {**seen, "view": known, "requester": requester}})


def hash_of(tools: Iterable[OfferedTool]) -> str:
    """Changes when a name, a description or a schema of the tools does."""
    return hashlib.sha256(b"[%b]" % b",".join(tool.identity for tool in tools)).hexdigest()[:16]


def _anonymous(requester: Requester) -> Requester:
    return requester if requester.principal is None else replace(requester, principal=PROVEN)


def _plain(value: Any) -> Any:
    """Wire models among the inputs."""
    return value.to_wire()
