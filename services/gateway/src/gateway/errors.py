"""The errors that the gateway answers with.

NexusError                      contracts/errors.py
└── GatewayError                has a code of contracts.errors.ErrorCode and says what to do
    ├── Refused                 the caller may not, or what is asked for is not there
    ├── Limited                 too much at once: `retry_after` seconds
    ├── Unavailable             a service or the bus does not answer; retryable
    ├── TookTooLong             what was asked for takes more time than there is
    ├── TokenInvalid            not a token of ours
    └── TokenExpired            was one
"""

import math
from collections.abc import Sequence

from contracts.errors import ErrorCode, FieldFault, NexusError

RETRY_AFTER = 2
"""Seconds after which to retry what failed because a dependency is away."""


class GatewayError(NexusError):
    """Base of the gateway's errors."""

    code: ErrorCode = ErrorCode.INTERNAL

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def wait(self) -> int | None:
        """Whole seconds until a retry may help; None: it does not."""
        return RETRY_AFTER if self.retryable else None


class Refused(GatewayError):  # noqa: N818 - reads as an event, as all of these do
    """Not found, not allowed, or invalid, as the code says; `fields` say what is wrong with which."""

    def __init__(self, code: ErrorCode, message: str, fields: Sequence[FieldFault] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.fields = tuple(fields)


class Limited(GatewayError):  # noqa: N818 - reads as an event, as all of these do
    """A limit is reached; it has room again after `retry_after` seconds."""

    code = ErrorCode.RATE_LIMITED
    retryable = True

    def __init__(self, message: str, retry_after: float, *, spent: bool = False) -> None:
        """`spent`: it is a budget, so that retrying soon does not help."""
        super().__init__(message)
        self.retry_after = retry_after
        self.spent = spent

    @property
    def wait(self) -> int:
        return math.ceil(self.retry_after)


class Unavailable(GatewayError):  # noqa: N818 - reads as an event, as all of these do
    """A service or the bus did not answer in time."""

    code = ErrorCode.UNAVAILABLE
    retryable = True


class TookTooLong(GatewayError):  # noqa: N818 - reads as an event, as all of these do
    """The work was begun but not finished in time."""

    code = ErrorCode.TIMEOUT


class TokenInvalid(GatewayError):  # noqa: N818 - reads as an event, as all of these do
    """No token, a forged one, or one of somebody else's."""

    code = ErrorCode.UNAUTHORIZED


class TokenExpired(TokenInvalid):
    """The token has expired."""


def not_found(what: str) -> Refused:
    """The error for what does not exist and for what is somebody else's; they must look alike."""
    return Refused(ErrorCode.NOT_FOUND, f"there is no such {what}")


def bad_field(field: str, message: str, code: ErrorCode = ErrorCode.BAD_FIELD) -> Refused:
    """The error for one field that is wrong."""
    return Refused(code, f"{field}: {message}", [FieldFault(field=field, message=message)])
