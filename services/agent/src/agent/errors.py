"""What can go wrong in a turn.

    NexusError
    ├── UnreachableError          a service or server that the turn needs does not answer; later it may
    ├── BudgetSpentError          what the company or the visitor may use is used: no model is called
    ├── HelpRefusedError          a human agent asked for something that cannot be had; `code` says why
    └── ModelError                a provider gave no usable reply
        ├── ModelBusyError        429: asked too often; `retry_after` seconds, where it says so
        ├── ModelDownError        5xx, no connection, a stream cut off
        │   └── ModelSilentError  nothing came for too long: asking again would wait as long again
        ├── BadToolCallError      the model's tool call cannot be read, or the provider says so (tool_use_failed)
        ├── ModelDeclinedError    the provider's rules about content withhold the answer: this is what people are told
        └── ModelRefusedError     4xx: the request will never be taken (key, model name, length)

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
    """Help that cannot be given: `code` is NOT_FOUND, FORBIDDEN, UNAUTHORIZED or BAD_FIELD."""

    def __init__(self, code: str, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason


class ModelError(NexusError):
    """A provider gave no usable reply."""


class ModelBusyError(ModelError):
    """Asked too often."""

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
    """The provider will not take this request, however often."""


class ModelDeclinedError(ModelError):
    """The provider's rules about content withhold the answer. No other provider is asked in its place."""
