"""Errors that travel between services.

    ValueError
    └── InvalidIdError  (ids.py)      an id that may not become a subject token
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
"""Code of message.system: the human owner has left. It is not in SystemCode, whose frozen schema lists its members."""

HANDOFF_WAITING = "HANDOFF_WAITING"
"""Code of message.system: a person was asked for, and the visitor's place in the queue."""

RATING_ASKED = "RATING_ASKED"
"""Code of message.system: the conversation is over, and the visitor is asked whether it helped."""

OFFICE_CLOSED = "OFFICE_CLOSED"
"""Code of message.system: a person was asked for outside office hours; says when somebody is back, and takes a
message."""


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
"""Refusals that are not recorded as a call's result: a later request with the same call id may still be executed."""

OUTCOME_UNKNOWN = "outcome_unknown"
"""The reason of a result that is not final: the call may have had its effect. A repeat with the same id shows
whether."""


class FieldFault(Wire):
    """What is wrong with one field; `field` is its name on the wire, with dots."""

    field: str
    message: str


class CallError(Wire):
    """The error half of an RPC reply; with BAD_FIELD, `fields` names the fields."""

    code: str
    message: str
    retryable: bool = False
    reason: str | None = None
    fields: list[FieldFault] | None = None


class NexusError(Exception):
    """Base of the errors that Nexus raises on purpose; `retryable`: the same call may succeed later."""

    retryable = False
