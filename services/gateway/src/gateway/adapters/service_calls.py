"""Calls to other services. Errors meant for the caller are passed on; all others become UNAVAILABLE."""

from datetime import UTC, datetime
from typing import TypeVar

import structlog
from pydantic import BaseModel

from contracts import agent_rpc, preview_rpc
from contracts.errors import ErrorCode
from contracts.rpc import Method, Rpc
from gateway.domain.budget_windows import seconds_left
from gateway.errors import GatewayError, RateLimitedError, RefusedError, UnavailableError
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

RequestT = TypeVar("RequestT", bound=BaseModel)
ReplyT = TypeVar("ReplyT", bound=BaseModel)

CALL_SECONDS = 3.0
"""Default deadline of a call, in seconds."""
CHANGE_SECONDS = 9.0
"""Deadline of a change, which memory stores on the bus before it answers."""
REPORT_SECONDS = 20.0
"""Deadline of a report, which may read thousands of conversations."""
OWN_TOOL_SECONDS = 32.0
"""Deadline of a call of a company's own tool (which may take 30 s) or model (20 s)."""
TRY_OUT_SECONDS = preview_rpc.TRY_SECONDS + 1.0
"""Deadline of a try-out: the agent's own, plus some time for the reply."""
SUGGESTION_SECONDS = agent_rpc.DEADLINE + 1.0
"""Deadline of a suggestion: the agent's own, plus some time for the reply."""
_PASSED_ON_CODES = {
    ErrorCode.NOT_FOUND,
    ErrorCode.BAD_FIELD,
    ErrorCode.CONFLICT,
    ErrorCode.PRECONDITION_FAILED,
    ErrorCode.FORBIDDEN,
}
UNDECIDED = "whether this was done cannot be told now: decide again, it is never done twice"
UNSTORED = "whether this was stored cannot be told now: look before you send it again"
_UNAVAILABLE_TEXTS = {
    "rpc.agent.turn": "the record of turns cannot be read right now: try again",
    "rpc.agent.": "no model can answer now: try again",
    "rpc.market.action.decide": UNDECIDED,
    "rpc.tools.action.decide": UNDECIDED,
    "rpc.market.": "market data cannot be reached right now: try again",
    "rpc.tools.": "tools and pages cannot be reached now: try again",
    "rpc.memory.company.create": UNSTORED,
    "rpc.memory.company.patch": UNSTORED,
    "": "conversations and companies cannot be reached right now: try again",
}
"""What a user misses while a service is unavailable, by the prefix of the method's subject; the first match counts."""


async def ask(
    client: RpcClient, method: Rpc[RequestT, ReplyT], request: RequestT, *, deadline: float = CALL_SECONDS
) -> ReplyT:
    """Calls a method and returns its reply.

    Raises:
        UnavailableError: no reply arrived in time.
        RefusedError, RateLimitedError: the service's own error.
    """
    try:
        return await client.call(method, request, deadline=deadline)
    except RpcError as error:
        raise gateway_error(method, error) from error


def gateway_error(method: Method, error: RpcError) -> GatewayError:
    """The error to raise to the caller for another service's error."""
    if error.code in _PASSED_ON_CODES:
        return RefusedError(ErrorCode(error.code), error.message, error.fields)
    if error.code == ErrorCode.RATE_LIMITED:
        return RateLimitedError(error.message, seconds_left(error.reason, datetime.now(UTC)), spent=True)
    log.warning("ask.failed", method=method.subject, code=error.code, error=error.message)
    return UnavailableError(
        next(text for prefix, text in _UNAVAILABLE_TEXTS.items() if method.subject.startswith(prefix))
    )
