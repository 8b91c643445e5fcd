"""The effects that the state machine requests from the shell, and the events with which the shell replies."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.domain.turn.journal import Journal, ModelAnswer
from agent.domain.turn.policy import StopReason
from contracts.conversation import Snapshot


@dataclass(frozen=True, slots=True)
class Trigger:
    """The fact that triggered the handling: its stream sequence, and whether it is a visitor message."""

    seq: int
    visitor: bool


# ---------------------------------------------------------------- effects


@dataclass(frozen=True, slots=True)
class ReadConversation:
    """Read the last fact of each kind (one snapshot that includes the sequence `at_least`) and the journal with its
    revision."""

    at_least: int


@dataclass(frozen=True, slots=True)
class Probe:
    """Ask all agents whether one of them is driving this conversation's turn right now."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class CallModel:
    """Call the model with the history up to `view.seq` and the journal's calls, watching for facts after `view.seq`.

    `last`: the tools stay listed but may not be called.
    """

    journal: Journal
    view: Snapshot
    last: bool


@dataclass(frozen=True, slots=True)
class Save:
    """Replace the journal, if its revision is still this one.

    `then`: the model call that follows unless something changes meanwhile. It may be prepared, but is only made when
    requested: attempts are counted before a model is paid.
    """

    journal: Journal
    revision: int
    then: CallModel | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RunCalls:
    """Get the outcome of every unsettled call of the journal, by call id."""

    journal: Journal
    view: Snapshot


@dataclass(frozen=True, slots=True)
class Append:
    """Append the turn's answer or failure to the log, if nothing newer than `fence` is in the conversation's tree."""

    journal: Journal
    fence: int


@dataclass(frozen=True, slots=True)
class ReportFailure:
    """Report a failed turn to the operators and to the dead-letter stream; may happen twice."""

    journal: Journal


@dataclass(frozen=True, slots=True)
class Ack:
    """Acknowledge the delivery and wait for the server's confirmation; the last step. `reason`: for logs and
    metrics."""

    reason: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Return the delivery, to be delivered again after `seconds`."""

    seconds: float
    reason: str


Effect = ReadConversation | Probe | Save | CallModel | RunCalls | Append | ReportFailure | Ack | Retry


# ---------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class ConversationRead:
    """The snapshot and the journal, with the revision to replace (0 if there is no journal)."""

    view: Snapshot
    journal: Journal | None
    revision: int


@dataclass(frozen=True, slots=True)
class DriverProbed:
    """Whether another handler drives the turn, as far as one can tell."""

    driven: bool


@dataclass(frozen=True, slots=True)
class Saved:
    """The journal is stored; `revision` is its new one."""

    revision: int


@dataclass(frozen=True, slots=True)
class SaveRefused:
    """Another agent drives this conversation, or it is unknown whether the journal was stored."""


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """The model's reply."""

    reply: ModelAnswer


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The model call was given up. `seq`: of the fact that caused it (0 if it was no fact)."""

    reason: StopReason
    seq: int = 0


@dataclass(frozen=True, slots=True)
class AskFailed:
    """No provider replied. `final`: a retry is pointless."""

    code: str
    detail: str
    final: bool = False


@dataclass(frozen=True, slots=True)
class ToolsFinished:
    """Outcomes (JSON texts) by call id; every unsettled call has one. `seq`: of the change of owner that one of them
    made (0 if none did)."""

    results: Mapping[str, str]
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Stored:
    """The append is in the log at this sequence."""

    seq: int


@dataclass(frozen=True, slots=True)
class AppendRefused:
    """Something newer than the fence is in the tree, at `seq` if the server reported it (0 otherwise)."""

    seq: int = 0


@dataclass(frozen=True, slots=True)
class AppendUnknown:
    """No acknowledgement came: the append may be stored, or may still arrive."""


@dataclass(frozen=True, slots=True)
class Reported:
    """The failure has been reported."""


Event = (
    ConversationRead
    | DriverProbed
    | Saved
    | SaveRefused
    | ModelReplied
    | Interrupted
    | AskFailed
    | ToolsFinished
    | Stored
    | AppendRefused
    | AppendUnknown
    | Reported
)
