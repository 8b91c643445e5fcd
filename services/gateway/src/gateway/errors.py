"""The errors with which the gateway answers.

NexusError                      contracts/errors.py
└── GatewayError           has a code of contracts.errors.ErrorCode and says what to do
    ├── RefusedError       the request is not allowed, invalid, or for something that does not exist
    ├── RateLimitedError   too many requests; may be repeated after `retry_after` seconds
    ├── UnavailableError   a service or the bus does not answer; retryable
    │   └── OverloadedError   too much waits already; retryable after half a minute
    ├── TookTooLongError   the work was not finished in time
    └── TokenInvalidError  the token is missing, forged or somebody else's
        └── TokenExpiredError  the token has expired
"""

import math
from collections.abc import Sequence
from typing import TypeVar

import structlog

from contracts.errors import ErrorCode, FieldFault, NexusError
from contracts.plain_text import is_blank

log = structlog.get_logger(__name__)
ValueT = TypeVar("ValueT")

RETRY_AFTER_SECONDS = 2
"""Seconds after which to retry when a dependency was unavailable."""
OVERLOADED_SECONDS = 30
"""Seconds after which to retry when too much waited."""


class GatewayError(NexusError):
    """Base of the gateway's errors."""

    code: ErrorCode = ErrorCode.INTERNAL
    wait_ms: int | None = None
    """Milliseconds after which a client is told to try again."""
    fields: Sequence[FieldFault] = ()
    """The faulty fields, if any are to blame."""
    spent = False
    """Whether a budget is spent, so that retrying soon does not help."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def wait(self) -> int | None:
        """Whole seconds until a retry may help; None if it cannot help."""
        return RETRY_AFTER_SECONDS if self.retryable else None


class RefusedError(GatewayError):
    """The request is not allowed, invalid, or for something that does not exist, as `code` says."""

    def __init__(self, code: ErrorCode, message: str, fields: Sequence[FieldFault] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.fields = tuple(fields)


class RateLimitedError(GatewayError):
    """A limit is reached; it allows requests again after `retry_after` seconds."""

    code = ErrorCode.RATE_LIMITED
    retryable = True

    def __init__(self, message: str, retry_after: float, *, spent: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.wait_ms = int(retry_after * 1000) + 1
        self.spent = spent

    @property
    def wait(self) -> int:
        return math.ceil(self.retry_after)


class UnavailableError(GatewayError):
    """A service or the bus did not answer in time."""

    code = ErrorCode.UNAVAILABLE
    retryable = True
    wait_ms = 1000 * RETRY_AFTER_SECONDS


class OverloadedError(UnavailableError):
    """Too much waits already. What is refused now is welcome later, and what was accepted is kept."""

    wait_ms = 1000 * OVERLOADED_SECONDS

    @property
    def wait(self) -> int:
        return OVERLOADED_SECONDS


class TookTooLongError(GatewayError):
    """The work was started but not finished in time."""

    code = ErrorCode.TIMEOUT


class TokenInvalidError(GatewayError):
    """The token is missing, forged or somebody else's."""

    code = ErrorCode.UNAUTHORIZED


class TokenExpiredError(TokenInvalidError):
    """The token has expired."""


def not_found(what: str) -> RefusedError:
    """The error for what does not exist and for what is somebody else's: the two must look alike."""
    return RefusedError(ErrorCode.NOT_FOUND, f"there is no such {what}")


def found(value: ValueT | None, what: str) -> ValueT:
    """Returns what was looked up; raises NOT_FOUND if it is None."""
    if value is None:
        raise not_found(what)
    return value


def check_not_blank(text: str) -> None:
    """Raises EMPTY_TEXT if nobody would see anything of the text."""
    if is_blank(text):
        raise RefusedError(ErrorCode.EMPTY_TEXT, "text: write something")


def bad_field(field: str, message: str, code: ErrorCode = ErrorCode.BAD_FIELD) -> RefusedError:
    """The error for one wrong field."""
    return RefusedError(code, f"{field}: {message}", [FieldFault(field=field, message=message)])


def unexpected(error: Exception) -> UnavailableError:
    """Logs an unexpected exception and returns the error for the client."""
    log.error("chat.failed", exc_info=error)
    return UnavailableError("something went wrong here: try again")
