"""Builds error replies from a handler's errors, and parses them."""

from collections.abc import Callable
from typing import NotRequired, TypedDict

import orjson
import structlog
from pydantic import TypeAdapter, ValidationError

from contracts.errors import ErrorCode, FieldFault
from contracts.rpc import Method
from runtime.errors import RpcError
from runtime.observability.metrics import RPC_SERVED

log = structlog.get_logger(__name__)

Answers = Callable[[Exception], RpcError | None]
"""Maps a service's own error to a reply; None if the error is unexpected, which becomes INTERNAL."""
EXPIRED = "expired"
"""The reason in the reply to a request that was not read because its caller's deadline had passed."""
_FAULTS = TypeAdapter(list[FieldFault])


class ErrorBody(TypedDict):
    """An error as a reply carries it (contracts.errors.CallError)."""

    code: str
    message: str
    retryable: bool
    reason: NotRequired[str | None]
    fields: NotRequired[list[dict[str, object]]]


def refusal(method: Method, error: Exception, answers: Answers) -> RpcError:
    """Returns the error reply to a request whose handler raised this error."""
    if isinstance(error, RpcError):
        return error
    if isinstance(error, ValidationError):
        return RpcError(ErrorCode.BAD_FIELD, wrong_fields(error))
    if isinstance(error, TimeoutError):
        return RpcError(ErrorCode.TIMEOUT, f"{method.subject} took too long", retryable=method.safe)
    if (reply := answers(error)) is not None:
        return reply
    log.error("rpc.failed", method=method.subject, exc_info=error)
    retryable = bool(getattr(error, "retryable", False))
    return RpcError(ErrorCode.INTERNAL, f"{method.subject} failed", retryable=retryable)


def error_of(error: ErrorBody) -> RpcError:
    return RpcError(
        str(error.get("code", ErrorCode.INTERNAL)),
        str(error.get("message", "")),
        retryable=bool(error.get("retryable", False)),
        reason=error.get("reason"),
        fields=_faults(error.get("fields")),
    )


def _faults(fields: object) -> list[FieldFault]:
    try:
        return _FAULTS.validate_python(fields or [])
    except ValidationError:
        return []


def unread(method: Method, remaining: float | None, running: int, limit: int) -> RpcError | None:
    """Returns the error reply to a request that is not even read, because its caller has gone or too many requests are
    worked on; None if it is read. `remaining`: the seconds that its caller still waits, if they are known."""
    if remaining is not None and remaining <= 0:
        RPC_SERVED.labels(method.subject, "EXPIRED").inc()
        return RpcError(ErrorCode.TIMEOUT, f"{method.subject} was asked too long ago", retryable=True, reason=EXPIRED)
    if running >= limit:
        RPC_SERVED.labels(method.subject, "SHED").inc()
        return RpcError(ErrorCode.UNAVAILABLE, "too many requests at once", retryable=True)
    return None


def error_body(error: RpcError) -> bytes:
    body: ErrorBody = {"code": error.code, "message": error.message, "retryable": error.retryable}
    if error.reason is not None:
        body["reason"] = error.reason
    if error.fields:
        body["fields"] = [fault.to_wire() for fault in error.fields]
    return orjson.dumps(body)


def field_faults(error: ValidationError) -> list[FieldFault]:
    """Returns the first five faults of fields, without the values."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    return [FieldFault(field=".".join(map(str, problem["loc"])), message=problem["msg"]) for problem in problems[:5]]


def wrong_fields(error: ValidationError) -> str:
    """Returns the faults of `field_faults` in one line."""
    return "; ".join(f"{fault.field or 'body'}: {fault.message}" for fault in field_faults(error))
