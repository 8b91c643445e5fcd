"""Translates errors of use cases to the contract's codes."""

from contracts.errors import ErrorCode, FieldFault
from memory.domain.keys import BadCursorError
from memory.errors import (
    BadFieldsError,
    BadKnowledgeError,
    ConflictError,
    MemoryServiceError,
    MovedError,
    NotFoundError,
)
from runtime.errors import ReadFailedError, RpcError

CODES: tuple[tuple[tuple[type[Exception], ...], ErrorCode], ...] = (
    ((BadCursorError, BadFieldsError, BadKnowledgeError), ErrorCode.BAD_FIELD),
    ((ConflictError,), ErrorCode.CONFLICT),
    ((NotFoundError,), ErrorCode.NOT_FOUND),
    ((MovedError,), ErrorCode.PRECONDITION_FAILED),
    ((MemoryServiceError, ReadFailedError), ErrorCode.UNAVAILABLE),
)
"""The first entry that matches counts: MemoryServiceError is the base of most of these errors."""


def reply_for(error: Exception) -> RpcError | None:
    """The reply for an error of this service; None for other errors, which were not raised on purpose."""
    code = next((code for kinds, code in CODES if isinstance(error, kinds)), None)
    if code is None:
        return None
    faults: list[FieldFault] = getattr(error, "fields", [])
    return RpcError(code, str(error), retryable=bool(getattr(error, "retryable", False)), fields=faults)
