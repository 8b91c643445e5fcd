"""Turns: the journal (stream TURNS), live progress (core NATS) and failed turns (FACTS)."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.errors import SystemCode
from contracts.events.chat import CancelReason, Citation, Usage
from contracts.ids import Id
from contracts.knowledge import Grounding


class JournalCall(Wire):
    """One tool call of a turn: recorded before it is sent, its result afterwards."""

    call_id: Id
    tool: str
    arguments: dict[str, Any]
    result: dict[str, Any] | None = None
    model_call_id: str | None = Field(default=None, description="the model's own id of the call, for its next prompt")


class JournalStep(Wire):
    """One reply of the model: text, or tool calls by id, in order."""

    text: str = ""
    call_ids: list[Id] = Field(default_factory=list[Id])
    usage: Usage = Field(default_factory=Usage)
    model: str = ""
    provider: str = ""
    basis: int = Field(default=0, ge=0, description="of the turn it was made in; 0: this one. A successor inherits")


class TurnJournal(Wire):
    """The stored state of a conversation's running or last turn, replaced by compare-and-set on its sequence.

    `answer` is the final text once the model has given it; no model is called for this turn after that. `failure` (a
    code) is the other possible end. `forced`: newer visitor messages no longer cancel the turn. `released`: its driver
    has given it up, so that another may continue at once. `messageId`: of the visitor's message at `basis`; `answered`:
    of those that the turns before have answered. `ownerSince`: sequence of the owner fact under which it was opened.
    """

    turn_id: Id
    basis: int = Field(ge=1)
    steps: list[JournalStep] = Field(default_factory=list[JournalStep])
    calls: list[JournalCall] = Field(default_factory=list[JournalCall])
    deadline: datetime
    started_at: datetime
    cancels: int = Field(default=0, ge=0)
    attempts: int = Field(default=0, ge=0)
    forced: bool = False
    released: bool = False
    owner_since: int = Field(default=0, ge=0)
    failures: int = Field(default=0, ge=0, description="rounds in which no provider answered")
    failure: str | None = None
    detail: str = ""
    usage: Usage = Field(default_factory=Usage)
    model: str = ""
    provider: str = ""
    answer: str | None = None
    citations: list[Citation] = Field(default_factory=list[Citation])
    grounding: Grounding | None = Field(default=None, description="what `answer` stands on")
    message_id: Id | None = None
    answered: list[Id] = Field(default_factory=list[Id])
    ended: Annotated[Literal["answered", "failed", "cancelled"], OPEN] | None = None


class RunStarted(Wire):
    """A turn is being driven (again): the client clears what it showed of it."""

    turn_id: Id
    message_id: Id


class ToolStarted(Wire):
    """A tool call went out; `label` is what a person reads, in the conversation's language."""

    turn_id: Id
    call_id: Id
    tool: str
    label: str
    arguments: dict[str, Any] | None = Field(
        default=None, description="of a tool of the client's own: it runs it, and gives its result"
    )
    left: int | None = Field(default=None, ge=0, description="how many more such calls follow this one")


class HandedCall(Wire):
    """A call of a client's own tool that waits for its result."""

    call_id: Id
    tool: str
    arguments: dict[str, Any]


class ClientResult(Wire):
    """The result of a handed call; the first one counts. `result`: {success, data or error}."""

    call_id: Id
    result: dict[str, Any]


class ToolFinished(Wire):
    """A tool call's result is there."""

    turn_id: Id
    call_id: Id
    tool: str
    success: bool
    cached: bool = False


class MessageDelta(Wire):
    """More text of the running answer; deltaSeq counts from 0 in each run."""

    turn_id: Id
    message_id: Id
    delta_seq: int = Field(ge=0)
    delta: str


class RunFinished(Wire):
    """The answer is in the log."""

    turn_id: Id
    usage: Usage


class RunError(Wire):
    """The turn ended without an answer; a message.system says so in the log."""

    turn_id: Id
    code: SystemCode | str
    message: str


class RunStopped(Wire):
    """The run was cancelled (live notice; the durable fact is run.cancelled in CHAT when a person did it)."""

    turn_id: Id
    reason: CancelReason


class Typing(Wire):
    """Somebody is writing."""

    actor: str
    expires_in_ms: int = 5000
    name: str | None = Field(default=None, max_length=200, description="a human agent's, as people see it")


class Receipt(Wire):
    """Somebody has read up to a sequence."""

    actor: str
    up_to_seq: int = Field(ge=0)
    name: str | None = Field(default=None, max_length=200, description="a human agent's, as people see it")


class TurnFailed(Wire):
    """A turn that ended in a visible error, for the operators' inbox."""

    company_id: str
    conversation_id: Id
    turn_id: Id
    basis: int
    code: SystemCode | str
    detail: str
    attempts: int
