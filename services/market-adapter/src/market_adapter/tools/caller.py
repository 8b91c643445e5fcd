"""The caller of a tool for personal data, as the executor has verified it; the arguments never say who calls."""

from dataclasses import dataclass

from contracts.tools_rpc import ToolServiceRequest
from market_adapter.domain.paper.account import Owner
from market_adapter.errors import NoUserError, TooLateError
from market_adapter.texts import TEXTS
from runtime.calls.deadlines import caller_has_gone


@dataclass(frozen=True, slots=True)
class CallBy:
    """The caller of a tool: the user, the conversation, and the id that makes a repeat the same call."""

    owner: Owner
    call_id: str
    conversation: str | None
    language: str = "es"

    def check_time(self) -> None:
        """Must be called before each write: a process that was paused meanwhile must not act for a caller who has gone.

        Raises: TooLateError: the caller no longer waits; nothing is changed.
        """
        if caller_has_gone():
            raise TooLateError(f"the call {self.call_id} came after its deadline: nothing was done")


def call_by(request: ToolServiceRequest) -> CallBy:
    """Returns the account of the caller. Raises NoUserError if it was nobody with an account."""
    caller = request.caller
    if caller.user_id is None:
        raise NoUserError("-", TEXTS["caller.needs_a_user"].format(tool=request.tool))
    owner = Owner(caller.company_id, caller.user_id)
    return CallBy(owner, request.call_id, caller.conversation_id, caller.language)
