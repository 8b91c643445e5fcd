"""Questions to other services: their own word where it is one for the caller, UNAVAILABLE for everything else."""

from datetime import UTC, datetime
from typing import TypeVar

import structlog
from pydantic import BaseModel

from contracts import agent_rpc, preview_rpc
from contracts.errors import ErrorCode
from contracts.rpc import Method, Rpc
from gateway.domain.budget_windows import seconds_left
from gateway.errors import GatewayError, Limited, Refused, Unavailable
from runtime.errors import RpcError
from runtime.rpc import RpcClient

log = structlog.get_logger(__name__)

RequestT = TypeVar("RequestT", bound=BaseModel)
ReplyT = TypeVar("ReplyT", bound=BaseModel)

DEADLINE = 3.0
"""Seconds for a service's answer where nothing else is said."""
CHANGE_SECONDS = 10.0
"""For a change, which memory stores on the bus before it answers."""
REPORT_SECONDS = 20.0
"""For a report, which may have thousands of conversations to read."""
OWN_TOOL_SECONDS = 32.0
"""For a call of a company's own tool, which may take 30 s itself, and for its model, which has 20."""
TRY_SECONDS = preview_rpc.TRY_SECONDS + 1.0
"""For a try-out: the agent's own, and a moment for its answer to come back."""
WRITING_SECONDS = agent_rpc.DEADLINE + 1.0
"""For a suggestion: the agent's own, and a moment for its answer to come back."""
_PASSED_ON = {
    ErrorCode.NOT_FOUND,
    ErrorCode.BAD_FIELD,
    ErrorCode.CONFLICT,
    ErrorCode.PRECONDITION_FAILED,
    ErrorCode.FORBIDDEN,
}
_AWAY = {
    "agent": "no model can answer now: try again",
    "market-adapter": "what is kept of the market cannot be read now: try again",
}


async def ask(
    client: RpcClient, method: Rpc[RequestT, ReplyT], request: RequestT, *, deadline: float = DEADLINE
) -> ReplyT:
    """The reply; raises Unavailable when there is none in time, Refused or Limited with the service's own code."""
    try:
        return await client.call(method, request, deadline=deadline)
    except RpcError as error:
        raise meaning(method, error) from error


def meaning(method: Method, error: RpcError) -> GatewayError:
    """What another service's error means to a caller of this one."""
    if error.code in _PASSED_ON:
        return Refused(ErrorCode(error.code), error.message, error.fields)
    if error.code == ErrorCode.RATE_LIMITED:
        return Limited(error.message, seconds_left(error.reason, datetime.now(UTC)), spent=True)
    log.warning("ask.failed", method=method.subject, code=error.code, error=error.message)
    away = _AWAY.get(method.queue or "", "what is kept of conversations and companies cannot be read now: try again")
    return Unavailable(away)
