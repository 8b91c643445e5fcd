"""A method of the bus: a core NATS request to a queue group, which is always answered."""

from dataclasses import KW_ONLY, dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from contracts.envelope import Wire
from contracts.errors import CallError

RequestT = TypeVar("RequestT", bound=BaseModel, covariant=True)
ReplyT = TypeVar("ReplyT", bound=BaseModel, covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Rpc(Generic[RequestT, ReplyT]):
    """One method: its subject, its models, and the queue group that serves it (None: every server receives it)."""

    subject: str
    request: type[RequestT]
    reply: type[ReplyT]
    _: KW_ONLY
    queue: str | None
    safe: bool = True
    """Whether the call may be repeated, so that a caller may retry."""


Method = Rpc[BaseModel, BaseModel]
"""Any method."""


class Reply(Wire, Generic[ReplyT]):
    """The reply on the wire: data or an error."""

    data: ReplyT | None = None
    error: CallError | None = None
