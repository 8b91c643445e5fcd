"""The contract's codes for errors of use cases."""

from contracts.errors import ErrorCode, FieldFault
from memory.domain.company import BadSettingsError
from memory.domain.keys import BadCursorError
from memory.domain.remembered import BadMemoryError
from memory.errors import (
    AssignedMeanwhile,
    BadKnowledge,
    CompanyExists,
    CorrectionReused,
    MemoryFault,
    MemoryMoved,
    NoSuchCompany,
    NoSuchConversation,
    NoSuchKnowledge,
    NoSuchPerson,
    NotMerged,
    SettingsMoved,
)
from runtime.errors import ReadFailed, RpcError

CODES: tuple[tuple[tuple[type[Exception], ...], ErrorCode], ...] = (
    ((BadCursorError, BadMemoryError, BadSettingsError, BadKnowledge), ErrorCode.BAD_FIELD),
    ((CompanyExists, AssignedMeanwhile, CorrectionReused, NotMerged), ErrorCode.CONFLICT),
    ((NoSuchConversation, NoSuchPerson, NoSuchCompany, NoSuchKnowledge), ErrorCode.NOT_FOUND),
    ((MemoryMoved, SettingsMoved), ErrorCode.PRECONDITION_FAILED),
    ((MemoryFault, ReadFailed), ErrorCode.UNAVAILABLE),
)
"""The first that matches counts: MemoryFault is the base of most of them."""


def refused(error: Exception) -> RpcError | None:
    """The reply for an error of this service; None: it was not raised on purpose."""
    code = next((code for kinds, code in CODES if isinstance(error, kinds)), None)
    if code is None:
        return None
    faults = [FieldFault(field=bad.field, message=bad.message) for bad in getattr(error, "fields", ())]
    return RpcError(code, str(error), retryable=bool(getattr(error, "retryable", False)), fields=faults)
