"""Errors that travel between services.

    ValueError
    └── InvalidIdError (ids.py)      an id that may not become a subject token
    NexusError                       base of the errors that the services raise on purpose (runtime/errors.py)

`retryable` says whether the same call may succeed when it is made again unchanged.
"""

from enum import StrEnum

from contracts.envelope import Wire


class ErrorCode(StrEnum):
    """Codes of error replies, websocket error frames and problem documents."""

    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    BAD_FIELD = "BAD_FIELD"
    TEXT_TOO_LONG = "TEXT_TOO_LONG"
    EMPTY_TEXT = "EMPTY_TEXT"
    NOT_FOUND = "NOT_FOUND"
    FORBIDDEN = "FORBIDDEN"
    UNAUTHORIZED = "UNAUTHORIZED"
    RATE_LIMITED = "RATE_LIMITED"
    UNAVAILABLE = "UNAVAILABLE"
    CONFLICT = "CONFLICT"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    PRECONDITION_REQUIRED = "PRECONDITION_REQUIRED"
    TIMEOUT = "TIMEOUT"
    INTERNAL = "INTERNAL"


class SystemCode(StrEnum):
    """Codes of message.system and of run.error."""

    LLM_UNAVAILABLE = "LLM_UNAVAILABLE"
    DEADLINE = "DEADLINE"
    BUDGET_SPENT = "BUDGET_SPENT"
    INTERNAL = "INTERNAL"
    HANDOFF_TIMEOUT = "HANDOFF_TIMEOUT"


OWNER_IDLE = "OWNER_IDLE"
"""Code of message.system: the human owner has gone. No member of SystemCode, whose frozen schema lists its members."""

HANDOFF_WAITING = "HANDOFF_WAITING"
"""Code of message.system: a person was asked for, and where the visitor stands."""

RATING_ASKED = "RATING_ASKED"
"""Code of message.system: the conversation is over, and whoever wrote is asked whether it helped."""

OFFICE_CLOSED = "OFFICE_CLOSED"
"""Code of message.system: asked for a person when nobody is there: it says when somebody is, and takes a message."""


class ToolCode(StrEnum):
    """Codes of a tool result's error (tools.md)."""

    TOOL_NOT_FOUND = "TOOL_NOT_FOUND"
    PLAN_REQUIRED = "PLAN_REQUIRED"
    RATE_LIMIT = "RATE_LIMIT"
    VALIDATION_ERROR = "VALIDATION_ERROR"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    TIMEOUT = "TIMEOUT"
    INVALID_OUTPUT = "INVALID_OUTPUT"
    CONFLICT = "CONFLICT"
    UNAVAILABLE = "UNAVAILABLE"
    UNAUTHORIZED = "UNAUTHORIZED"
    UNKNOWN_OUTCOME = "UNKNOWN_OUTCOME"


UNRECORDED = frozenset({ToolCode.TOOL_NOT_FOUND, ToolCode.PLAN_REQUIRED, ToolCode.RATE_LIMIT, ToolCode.UNAVAILABLE})
"""Refusals that are no call's result: another request with the same call id may be carried out."""

OUTCOME_UNKNOWN = "outcome_unknown"
"""The reason of a result that is not final: the call may have had its effect; the same id, asked again, tells."""


class FieldFault(Wire):
    """What is wrong with one field; `field` in the wire's names, with dots."""

    field: str
    message: str


class CallError(Wire):
    """The error half of an RPC reply; `fields`, with BAD_FIELD, says which."""

    code: str
    message: str
    retryable: bool = False
    reason: str | None = None
    fields: list[FieldFault] | None = None


class NexusError(Exception):
    """Base of the errors that Nexus raises on purpose; `retryable`: the same call may succeed later."""

    retryable = False
