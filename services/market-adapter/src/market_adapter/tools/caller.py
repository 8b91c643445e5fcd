"""Who is calling a tool that works on a user's own things: as the executor verified it, never as the arguments say."""

from dataclasses import dataclass

from contracts.rpc import ToolServiceRequest
from contracts.text import Text
from market_adapter.domain.paper.account import Owner
from market_adapter.errors import NoUserError


@dataclass(frozen=True, slots=True)
class CallBy:
    """One call: whose, from which conversation, and the id that makes a repeat the same call."""

    owner: Owner
    call_id: str
    conversation: str | None
    language: str = "es"


def call_by(request: ToolServiceRequest) -> CallBy:
    """Who made the call. Raises NoUserError when it is nobody in particular."""
    caller = request.caller
    if caller.user_id is None:
        text = Text(
            es=f"{request.tool} trabaja con lo que es de un usuario: inicia sesión primero",
            en=f"{request.tool} works on a user's own things: sign in first",
        )
        raise NoUserError("-", text)
    return CallBy(Owner(caller.company_id, caller.user_id), request.call_id, caller.conversation_id, caller.language)
