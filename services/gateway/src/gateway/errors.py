"""The errors that the gateway answers with.

NexusError                      contracts/errors.py
└── GatewayError           has a code of contracts.errors.ErrorCode and says what to do
    ├── RefusedError       the caller may not, or what is asked for is not there
    ├── RateLimitedError   too much at once: `retry_after` seconds
    ├── UnavailableError   a service or the bus does not answer; retryable
    ├── TookTooLongError   what was asked for takes more time than there is
    ├── TokenInvalidError  not a token of ours
    └── TokenExpiredError  was one
"""

import math
from collections.abc import Sequence

import structlog

from contracts.errors import ErrorCode, FieldFault, NexusError

log = structlog.get_logger(__name__)

RETRY_AFTER = 2
"""Seconds after which to retry what failed because a dependency is away."""


class GatewayError(NexusError):
    """Base of the gateway's errors."""

    code: ErrorCode = ErrorCode.INTERNAL
    wait_ms: int | None = None
    """Milliseconds after which a client is told to try again."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def wait(self) -> int | None:
        """Whole seconds until a retry may help; None: it does not."""
        return RETRY_AFTER if self.retryable else None


class RefusedError(GatewayError):
    """The request is not found, not allowed or invalid, as the code says; `fields` name the faults."""

    def __init__(self, code: ErrorCode, message: str, fields: Sequence[FieldFault] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.fields = tuple(fields)


class RateLimitedError(GatewayError):
    """A limit is reached; it has room again after `retry_after` seconds."""

    code = ErrorCode.RATE_LIMITED
    retryable = True

    def __init__(self, message: str, retry_after: float, *, spent: bool = False) -> None:
        """`spent`: it is a budget, so that retrying soon does not help."""
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
    wait_ms = 1000 * RETRY_AFTER


class TookTooLongError(GatewayError):
    """The work was begun but not finished in time."""

    code = ErrorCode.TIMEOUT


class TokenInvalidError(GatewayError):
    """There is no token, or it is forged, or somebody else's."""

    code = ErrorCode.UNAUTHORIZED


class TokenExpiredError(TokenInvalidError):
    """The token has expired."""


def not_found(what: str) -> RefusedError:
    """The error for what does not exist and for what is somebody else's; they must look alike."""
    return RefusedError(ErrorCode.NOT_FOUND, f"there is no such {what}")


def bad_field(field: str, message: str, code: ErrorCode = ErrorCode.BAD_FIELD) -> RefusedError:
    """The error for one field that is wrong."""
    return RefusedError(code, f"{field}: {message}", [FieldFault(field=field, message=message)])


def unexpected(failure: Exception) -> UnavailableError:
    """Logs a fault of the gateway itself, and returns the error for the client."""
    log.error("chat.failed", exc_info=failure)
    return UnavailableError("something went wrong here: try again")
