"""Replaying recorded turns, and turning them into cases of `nexus eval`; served by agents. No tool is executed."""

from typing import Any

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import Id
from contracts.preview_rpc import TurnRequest
from contracts.rpc import Rpc


class ReplayRequest(TurnRequest):
    """Replays a turn. `model`: its name, `provider:name` or `offline`; `prompt`: instead of the company's own.

    None: as recorded.
    """

    model: str | None = Field(default=None, max_length=200)
    prompt: str | None = Field(default=None, max_length=8000)


class ReplayedCall(Wire):
    """A tool call. `in_record`: its result was recorded; any other is answered NOT_IN_RECORD. `error`: why it
    failed."""

    call_id: Id
    tool: str
    arguments: dict[str, Any]
    success: bool
    in_record: bool
    error: str | None = None


class ReplaySide(Wire):
    """An answer and its cost. `cost` is by today's price list; None: no price is known. `error`: why there is no
    answer."""

    text: str
    model: str
    provider: str
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    cost: float | None = None
    latency_ms: float = Field(ge=0)
    tools: list[ReplayedCall]
    error: str | None = None


class ComparedTurn(Wire):
    """A turn as recorded and as replayed. `identical`: all decisions are the same, byte for byte. `notes`: which
    inputs were not available as they were."""

    turn_id: Id
    question: str
    recorded: ReplaySide
    replayed: ReplaySide
    same_text: bool
    same_tools: bool
    identical: bool
    notes: list[str] = Field(default_factory=list[str])


class ReplayReply(Wire):
    """The turn; None if there is no record of it. Records are kept for 30 days."""

    turn: ComparedTurn | None = None


class MadeCase(Wire):
    """A case of `nexus eval`: its file name and its TOML."""

    name: str
    toml: str


class CaseReply(Wire):
    """The case; None if there is no record of the turn, or it contains no question."""

    case: MadeCase | None = None


# Not safe to repeat: a model would be paid twice.
REPLAY = Rpc("rpc.agent.turn.replay.v1", ReplayRequest, ReplayReply, queue="agent", safe=False)
CASE = Rpc("rpc.agent.turn.case.v1", TurnRequest, CaseReply, queue="agent")
