"""Who is calling a tool that works on a user's own things: as the executor verified it, never as the arguments say."""

from dataclasses import dataclass

from contracts.rpc import ToolServiceRequest
from market_adapter.domain.paper.account import Owner
from market_adapter.errors import NoUserError


@dataclass(frozen=True, slots=True)
class CallBy:
    """One call: whose, from which conversation, and the id that makes a repeat the same call."""

    owner: Owner
    call_id: str
    conversation: str | None
    language: str = "en"


def call_by(request: ToolServiceRequest) -> CallBy:
    """Who made the call. Raises NoUserError when it is nobody in particular."""
    caller = request.caller
    if caller.user_id is None:
        raise NoUserError("-", f"{request.tool} works on a user's own things: sign in first")
    return CallBy(Owner(caller.company_id, caller.user_id), request.call_id, caller.conversation_id, caller.language)
