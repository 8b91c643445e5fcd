"""What can go wrong in a turn.

    NexusError
    ├── UnreachableError          a service or server that the turn needs does not answer at the moment
    ├── BudgetSpentError          a token budget is spent: no model is called
    ├── HelpRefusedError          help for a human agent that cannot be given; `code` says why
    └── ModelError                a provider gave no usable reply
        ├── ModelBusyError        429: too many requests; `retry_after` seconds, if the provider says so
        ├── ModelDownError        5xx, no connection, a stream cut off
        │   └── ModelSilentError  no data for too long: a repeat would wait just as long
        ├── BadToolCallError      the model's tool call cannot be parsed, or the provider says so (tool_use_failed)
        ├── ModelDeclinedError    the provider's content rules withhold the answer; the user is told so
        └── ModelRefusedError     4xx: the request will never be accepted (key, model name, length)

`retryable` says whether the same request may succeed later.
"""

from typing import Literal

from contracts.errors import NexusError


class UnreachableError(NexusError):
    """A service or server that the turn needs did not answer in time."""

    retryable = True


class BudgetSpentError(NexusError):
    """A token budget is spent: the company's until the end of the day, or the visitor's until the end of the hour
    (UTC)."""

    def __init__(self, message: str, until: Literal["day", "hour"] = "day") -> None:
        super().__init__(message)
        self.until = until


class HelpRefusedError(NexusError):
    """The help cannot be given: `code` is NOT_FOUND, FORBIDDEN, UNAUTHORIZED or BAD_FIELD."""

    def __init__(self, code: str, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason


class ModelError(NexusError):
    """A provider gave no usable reply."""


class ModelBusyError(ModelError):
    """The provider received too many requests."""

    retryable = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelDownError(ModelError):
    """The provider failed, or its stream was cut off."""

    retryable = True


class ModelSilentError(ModelDownError):
    """The provider sent nothing for too long."""


class BadToolCallError(ModelError):
    """The model's tool call cannot be used."""

    retryable = True


class ModelRefusedError(ModelError):
    """The provider will never accept this request."""


class ModelDeclinedError(ModelError):
    """The provider's content rules withhold the answer. No other provider is tried."""
