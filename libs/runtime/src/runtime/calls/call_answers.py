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

    A result that the executor has recorded is final, whichever request it answers. An unrecorded one, a refusal or an
    unknown outcome, is valid only for its own request: while another request is still queued, the call may be made or
    looked up after all, so it is not final.
    """

    def __init__(self) -> None:
        self._open: set[str] = set()

    def expect(self, reply_to: str) -> None:
        """Records that a request with this reply subject was sent."""
        self._open.add(reply_to)

    def __call__(self, reply: Msg) -> bool:
        """Whether this reply is final."""
        self._open.discard(reply.subject)
        return not self._open or _is_recorded(reply)


def decisive_reply(replies: Sequence[Msg]) -> Msg:
    """Returns the reply that counts: the first recorded one, else one with an unknown outcome, else the newest. An
    unknown outcome wins, since what one request may have done is not undone by another that did nothing."""
    unknown = next((reply for reply in replies if _outcome_unknown(reply)), replies[-1])
    return next((reply for reply in replies if _is_recorded(reply)), unknown)


def _is_recorded(reply: Msg) -> bool:
    result = _result(reply)
    return result is not None and (
        result.error is None or (result.error.code not in UNRECORDED and result.error.reason != OUTCOME_UNKNOWN)
    )


def _outcome_unknown(reply: Msg) -> bool:
    result = _result(reply)
    return result is not None and result.error is not None and result.error.reason == OUTCOME_UNKNOWN


def _result(reply: Msg) -> ToolResult | None:
    """Returns the result in a reply; None if it is no answer to a call."""
    try:
        return _Completed.model_validate_json(reply.data).data.result
    except ValidationError:
        return None
