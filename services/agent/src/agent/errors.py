"""What can go wrong in a turn.

    NexusError
    ├── UnreachableError         a service or server that the turn needs does not answer; later it may
    └── ModelError               a provider gave no usable reply
        ├── ModelBusyError       429: asked too often; `retry_after` seconds, where it says so
        ├── ModelDownError       5xx, no connection, a stream cut off
        │   └── ModelSilentError nothing came for too long: asking again would wait as long again
        ├── BadToolCallError     the model's tool call cannot be read, or the provider says so (tool_use_failed)
        └── ModelRefusedError    4xx: the request will never be taken (key, model name, length)

`retryable` says whether the same request may succeed later.
"""

from contracts.errors import NexusError


class UnreachableError(NexusError):
    """Something that the turn needs does not answer within its deadline."""

    retryable = True


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
    """Nothing came in time."""


class BadToolCallError(ModelError):
    """The model's tool call cannot be used."""

    retryable = True


class ModelRefusedError(ModelError):
    """The provider will not take this request, however often."""
