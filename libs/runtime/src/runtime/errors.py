"""Errors between a service and the bus.

    NexusError (contracts)
    └── RuntimeLibraryError
        ├── PublishFailedError         append() did not store the event, or does not know
        │   ├── FenceRefusedError      something newer is in the conversation (10071, 10164)
        │   ├── PublishRefusedError    the server will never accept it: too large, wrong stream, no permission
        │   ├── PublishTimeoutError    no acknowledgement within the deadline: the outcome is unknown
        │   ├── ConversationBusyError  something newer was stored in the conversation before each attempt
        │   └── NotStoredError         nobody accepted it within the deadline; it was certainly not stored
        ├── ReadFailedError            the log could not be read within the deadline
        │   └── LogBehindError         the answering replica stayed older than the reader needs
        ├── RpcError                   an error reply, or no reply in time
        │   └── NobodyServesError      no server of the method exists: nobody has received the request
        ├── FilesUnavailableError      the object storage did not answer in time (file_store)
        │   └── FileDamagedError       the file's metadata cannot be read
        ├── InvalidTokenError          a user's token or a principal that is invalid
        │   └── ExpiredTokenError      it was valid once
        └── NotReadyError              a service could not start: a server is unreachable, or a stream is in conflict

`retryable` says whether the same call may succeed later.
"""

from __future__ import annotations

from collections.abc import Sequence

from contracts.errors import ErrorCode, FieldFault, NexusError


class RuntimeLibraryError(NexusError):
    """Base of everything this library raises on purpose."""


class PublishFailedError(RuntimeLibraryError):
    """An event was not stored, or it is not known to be."""


class FenceRefusedError(PublishFailedError):
    """The log already holds something newer than the fence.

    `maybe_own` is true if an earlier attempt of the same call got no acknowledgement: the newer message may then be
    this very event, since the server checks the sequence before the deduplication id. A fresh snapshot shows which.
    `newest`: the sequence of the newer message, which that snapshot must reach; 0 if the server did not say.
    """

    def __init__(self, message: str, *, code: int, maybe_own: bool, newest: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.maybe_own = maybe_own
        self.newest = newest


class ConversationBusyError(PublishFailedError):
    """Something newer was stored before each attempt; a later attempt with a new decision may succeed."""

    retryable = True


class PublishRefusedError(PublishFailedError):
    """The server will always refuse it: fix the event, the stream or the permissions."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.code = code


class PublishTimeoutError(PublishFailedError):
    """The server sent no acknowledgement within the deadline, so the event may or may not be stored. Publish it again
    with the same id."""

    retryable = True


class NotStoredError(PublishFailedError):
    """The bus did not accept the event within the deadline; it is certainly not stored."""

    retryable = True


class ReadFailedError(RuntimeLibraryError):
    """A direct read got no answer within the deadline."""

    retryable = True


class LogBehindError(ReadFailedError):
    """Every answer was older than the sequence that the reader needs."""


class RpcError(RuntimeLibraryError):
    """An error reply: `code` from the contract, `message` for people, `retryable` as the answering service says.

    Codes made by this library: TIMEOUT (no reply in time), UNAVAILABLE (nobody serves the method, or too many
    requests), BAD_FIELD (the request does not match the contract), INTERNAL. A handler raises RpcError to answer with
    one. `reason` is a finer code if the contract has one; `fields` say what is wrong with each field (BAD_FIELD).
    """

    def __init__(
        self,
        code: ErrorCode | str,
        message: str,
        *,
        retryable: bool = False,
        reason: str | None = None,
        fields: Sequence[FieldFault] = (),
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = str(code)
        self.message = message
        self.retryable = retryable
        self.reason = reason
        self.fields = tuple(fields)


class NobodyServesError(RpcError):
    """UNAVAILABLE, because no server of the method exists: nobody has received the request."""

    def __init__(self, subject: str) -> None:
        super().__init__(ErrorCode.UNAVAILABLE, f"nobody serves {subject}", retryable=True)


class InvalidTokenError(RuntimeLibraryError):
    """The token was not signed by us or not meant for us, is malformed, or names an impossible identity."""


class ExpiredTokenError(InvalidTokenError):
    """The token was signed correctly, but has expired."""


class NotReadyError(RuntimeLibraryError):
    """The service cannot start; the message says which setting, server or stream is at fault and what to do.
    `retryable`: it may start a moment later without intervention."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable
