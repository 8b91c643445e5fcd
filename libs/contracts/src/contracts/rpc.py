"""A method of the bus: a core NATS request to a queue group, which is always answered."""

from typing import Generic, TypeVar

from pydantic import BaseModel

from contracts.envelope import Wire
from contracts.errors import CallError

RequestT = TypeVar("RequestT", bound=BaseModel, covariant=True)
ReplyT = TypeVar("ReplyT", bound=BaseModel, covariant=True)


class Rpc(Generic[RequestT, ReplyT]):
    """One method: its subject, the queue group that serves it (None: every server receives it), and its models."""

    __slots__ = ("queue", "reply", "request", "safe", "subject")

    def __init__(
        self, subject: str, request: type[RequestT], reply: type[ReplyT], *, queue: str | None, safe: bool = True
    ) -> None:
        self.subject = subject
        self.request = request
        self.reply = reply
        self.queue = queue
        self.safe = safe
        """Whether the call may be repeated, so that a caller may retry."""


Method = Rpc[BaseModel, BaseModel]
"""Any method."""


class Reply(Wire, Generic[ReplyT]):
    """The reply on the wire: data or an error."""

    data: ReplyT | None = None
    error: CallError | None = None
