"""Recorded turns done again, and made into cases of `nexus eval`: asked of agents. Nothing is executed."""

from typing import Any

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import Id
from contracts.preview_rpc import TurnRequest
from contracts.rpc import Method, Rpc


class ReplayRequest(TurnRequest):
    """The turn once more. `model`: its name, `provider:name` or `offline`; `prompt`: instead of the company's own.

    None: as recorded.
    """

    model: str | None = Field(default=None, max_length=200)
    prompt: str | None = Field(default=None, max_length=8000)


class ReplayedCall(Wire):
    """A tool call. `in_record`: its result was known; any other is answered NOT_IN_RECORD. `error`: why it failed."""

    call_id: Id
    tool: str
    arguments: dict[str, Any]
    success: bool
    in_record: bool
    error: str | None = None


class ReplaySide(Wire):
    """An answer and what it took. `cost` is by today's price list; None: it has no price. `error`: why there is no
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
    """A turn as it was, and as it went this time. `identical`: decided alike, byte for byte. `notes`: what could not be
    had as it was then."""

    turn_id: Id
    question: str
    recorded: ReplaySide
    replayed: ReplaySide
    same_text: bool
    same_tools: bool
    identical: bool
    notes: list[str] = Field(default_factory=list[str])


class ReplayReply(Wire):
    """None: there is no record of the turn, which are kept for 30 days."""

    turn: ComparedTurn | None = None


class MadeCase(Wire):
    """A case of `nexus eval`: the name of its file, and its TOML."""

    name: str
    toml: str


class CaseReply(Wire):
    """None: there is no record of the turn, or nothing was asked in it."""

    case: MadeCase | None = None


# Asked once: a repeat would be a second bill for a model.
REPLAY = Rpc("rpc.agent.turn.replay.v1", ReplayRequest, ReplayReply, queue="agent", safe=False)
CASE = Rpc("rpc.agent.turn.case.v1", TurnRequest, CaseReply, queue="agent")

METHODS: tuple[Method, ...] = (REPLAY, CASE)
