"""Decides which answer ends the wait for a tool call that was requested more than once."""

from collections.abc import Sequence

from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts.envelope import CloudEvent
from contracts.errors import OUTCOME_UNKNOWN, UNRECORDED
from contracts.events.tool import ToolCallCompleted, ToolResult

_Completed = CloudEvent[ToolCallCompleted]


class CallAnswers:
    """Decides for each reply whether it is the last one (replies.Pending).

    What the executor has recorded stands, whichever request it answers. A refusal that is not recorded is good for its
    own request alone: while another one still lies in the queue, the call may be made all the same, and whoever said
    before that it was not would have said something false.
    """

    def __init__(self) -> None:
        self._open: set[str] = set()

    def expect(self, reply_to: str) -> None:
        """A request with this name to reply to is on its way."""
        self._open.add(reply_to)

    def __call__(self, reply: Msg) -> bool:
        """Whether this reply is final."""
        self._open.discard(reply.subject)
        return not self._open or _stands(reply)


def decisive_reply(replies: Sequence[Msg]) -> Msg:
    """The reply that counts: the first that stands, else one that does not know what the call has done, else the
    newest. What one request may have done is not taken back by another that has done nothing."""
    unknown = next((reply for reply in replies if _outcome_unknown(reply)), replies[-1])
    return next((reply for reply in replies if _stands(reply)), unknown)


def _stands(reply: Msg) -> bool:
    result = _result(reply)
    return result is not None and (result.error is None or result.error.code not in UNRECORDED)


def _outcome_unknown(reply: Msg) -> bool:
    result = _result(reply)
    return result is not None and result.error is not None and result.error.reason == OUTCOME_UNKNOWN


def _result(reply: Msg) -> ToolResult | None:
    """None: it is no answer to a call."""
    try:
        return _Completed.model_validate_json(reply.data).data.result
    except ValidationError:
        return None
