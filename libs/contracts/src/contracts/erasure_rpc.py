"""Calls that delete the data of a user or visitor or one conversation, with receipts, and deletion by age."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc

QUEUE = "memory"
ErasureKind = Annotated[Literal["user", "visitor", "conversation", "retention"], OPEN]
ErasedBy = Annotated[Literal["admin", "self", "retention"], OPEN]

Remains = Annotated[
    Literal[
        "freed_space", "store_space", "append_file", "cache", "counters", "records", "ids", "backups", "logs",
        "providers",
    ],
    OPEN,
]  # fmt: skip
"""Where deleted data may remain for a while. freed_space: a stream's file, until the server rewrites it;
store_space: MongoDB's freed pages, journal and oplog; append_file: Redis's, rewritten daily; cache: expires by
itself; counters: hourly and daily limits; records: of tool calls, which prevent a second execution; ids: of turns,
without text; backups made before; logs: of the services, with ids and no text; providers: of models, which received
the prompts."""


class Removed(Wire):
    """The data removed from one store or stream, and how long some of it may remain in freed space or logs."""

    place: str = Field(description="as in 'stream CHAT', 'mongodb facts', 'redis', 'market-adapter'")
    removed: int = Field(ge=0, description="messages, documents or keys")
    at_least: bool | None = Field(
        default=None, description="true: there may have been more; a process ended between their removal and the count"
    )
    gone_after: datetime | None = Field(
        default=None, description="when nothing of it is left in the files either; null: `remains` says what decides it"
    )
    remains: Annotated[Remains, Field(description="what is left until then; null: nothing")] | None = None


class Receipt(Wire):
    """The record of a deletion, without the names of the people concerned. `done`: late data has been looked for too.

    `removed` names every store and stream, with 0 if nothing was there.
    """

    receipt_id: Id
    kind: ErasureKind
    by: ErasedBy
    state: Annotated[Literal["running", "done"], OPEN]
    conversations: int = Field(ge=0)
    requested_at: datetime
    finished_at: datetime | None = None
    removed: list[Removed]


class EraseRequest(Wire):
    """`name`: the user's, visitor's or conversation's id. The same receiptId means the same deletion."""

    company_id: CompanyId
    receipt_id: Id
    kind: Literal["user", "visitor", "conversation"]
    name: Id
    by: ErasedBy


class EraseReply(Wire):
    """The progress of a deletion: what has been removed so far."""

    receipt: Receipt


class ReceiptRef(Wire):
    """Names one of a company's receipts."""

    company_id: CompanyId
    receipt_id: Id


class ReceiptReply(Wire):
    """The receipt; None if there is no such receipt."""

    receipt: Receipt | None = None


class ReceiptsRequest(Wire):
    """Asks for a page of a company's receipts, newest first."""

    company_id: CompanyId
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=512)


class ReceiptsReply(Wire):
    """A page of receipts."""

    items: list[Receipt]
    next: str | None = None


class KeepingRequest(Wire):
    """Asks what retention would delete if it ran now."""

    company_id: CompanyId


class Outdated(Wire):
    """Data of one kind that is older than the company keeps it. `days` None: it is kept for good, or as long as its
    stream holds it.

    `at_least`: there may be more than were counted.
    """

    days: int | None = None
    before: datetime | None = None
    count: int = Field(ge=0)
    at_least: bool = False


class Keeping(Wire):
    """The data that the next daily run of retention will delete."""

    next_run: datetime
    conversations: Outdated
    files: Outdated
    traces: Outdated


class DeletedConversations(Wire):
    """Tells every service which conversations were deleted; each deletion is announced twice."""

    company: str
    conversations: list[str]


FORGOTTEN = "rpc.memory.forgotten.v1"
"""The subject on which Forgotten is published."""
# A caller that got no answer repeats the call with the same receiptId.
ERASE = Rpc("rpc.memory.erasure.begin.v1", EraseRequest, EraseReply, queue=QUEUE)
RECEIPT = Rpc("rpc.memory.erasure.get.v1", ReceiptRef, ReceiptReply, queue=QUEUE)
RECEIPTS = Rpc("rpc.memory.erasure.list.v1", ReceiptsRequest, ReceiptsReply, queue=QUEUE)
KEEPING = Rpc("rpc.memory.keeping.preview.v1", KeepingRequest, Keeping, queue=QUEUE)
