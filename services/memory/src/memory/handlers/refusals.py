"""Translates errors of use cases to the contract's codes."""

from contracts.errors import ErrorCode, FieldFault
from memory.domain.company import BadSettingsError
from memory.domain.keys import BadCursorError
from memory.domain.remembered import BadMemoryError
from memory.errors import (
    AssignedMeanwhileError,
    BadKnowledgeError,
    CompanyExistsError,
    CorrectionReusedError,
    MemoryMovedError,
    MemoryServiceError,
    NoSuchCompanyError,
    NoSuchConversationError,
    NoSuchKnowledgeError,
    NoSuchPersonError,
    NotMergedError,
    SettingsMovedError,
)
from runtime.errors import ReadFailedError, RpcError

CODES: tuple[tuple[tuple[type[Exception], ...], ErrorCode], ...] = (
    ((BadCursorError, BadMemoryError, BadSettingsError, BadKnowledgeError), ErrorCode.BAD_FIELD),
    ((CompanyExistsError, AssignedMeanwhileError, CorrectionReusedError, NotMergedError), ErrorCode.CONFLICT),
    ((NoSuchConversationError, NoSuchPersonError, NoSuchCompanyError, NoSuchKnowledgeError), ErrorCode.NOT_FOUND),
    ((MemoryMovedError, SettingsMovedError), ErrorCode.PRECONDITION_FAILED),
    ((MemoryServiceError, ReadFailedError), ErrorCode.UNAVAILABLE),
)
"""The first entry that matches counts: MemoryServiceError is the base of most of these errors."""


def reply_for(error: Exception) -> RpcError | None:
    """The reply for an error of this service; None for other errors, which were not raised on purpose."""
    code = next((code for kinds, code in CODES if isinstance(error, kinds)), None)
    if code is None:
        return None
    faults = [FieldFault(field=fault.field, message=fault.message) for fault in getattr(error, "fields", ())]
    return RpcError(code, str(error), retryable=bool(getattr(error, "retryable", False)), fields=faults)
