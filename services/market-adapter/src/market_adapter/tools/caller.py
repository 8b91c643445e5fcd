"""The caller of a tool for personal data, as the executor has verified it; the arguments never say who calls."""

from dataclasses import dataclass

from contracts.ids import derive_id
from contracts.tools_rpc import ToolServiceRequest
from market_adapter.domain.paper.account import Owner
from market_adapter.errors import NoUserError, TooLateError
from market_adapter.texts import TEXTS
from runtime.calls.deadlines import caller_has_gone


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """The caller of a tool: the user, the conversation, and the call's id, by which a repeat is recognised."""

    owner: Owner
    call_id: str
    conversation: str | None
    language: str = "es"

    def id_of(self, kind: str) -> str:
        """The id of the order or alert that this call creates; a repeat of the call has the same."""
        return derive_id(str(self.owner), kind, self.call_id).replace("-", "")

    def check_time(self) -> None:
        """Must be called before each write: a process that was paused must not act for a caller who has gone.

        Raises: TooLateError: the caller no longer waits; nothing is changed.
        """
        if caller_has_gone():
            raise TooLateError(f"the call {self.call_id} came after its deadline: nothing was done")


def caller_of(request: ToolServiceRequest) -> ToolCaller:
    """The caller of a request. Raises NoUserError if they have no account."""
    caller = request.caller
    if caller.user_id is None:
        raise NoUserError("-", TEXTS["caller.needs_a_user"].format(tool=request.tool))
    owner = Owner(caller.company_id, caller.user_id)
    return ToolCaller(owner, request.call_id, caller.conversation_id, caller.language)
