"""A company's knowledge: facts about documents and runs (FACTS), and the work that produces them (KNOWLEDGE).

Memory requests a run (`knowledge.refresh.requested.v1`) or the reading of a file (`knowledge.file.received.v1`). A run
is shared work: a tool-executor that holds its request reads pages for some seconds, gives the request back, and asks
for further requests for the same run, so that it continues if an executor dies. What they read comes back as facts,
which other services may publish too. A finished run names the documents that are gone; memory removes them, or waits
for an admin's approval. A file's bytes wait in the stream UPLOADS for an hour, one message a piece
(`uploads.v1.<company>.<upload>.<piece, from 0>`); whoever has read them purges the subject.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.knowledge import MAX_FILE, MAX_PARTS, Block, Counts, LanguageTag, Left, Name, Source


class DocumentUpserted(Wire):
    """A document as it is from now on. Its id is `documentId`, or derived from source and `externalId` (or `url`).

    A document too large for one event comes in parts with the same `hash` and counts once all are there. `hash` is that
    of the whole text as read. With no blocks and the previous hash, it was read again and is unchanged.
    """

    company_id: CompanyId
    document_id: Id | None = None
    external_id: Name | None = None
    source: Source = "service"
    title: str = Field(min_length=1, max_length=500)
    url: str | None = Field(default=None, max_length=2048, description="canonical, without fragment")
    language: LanguageTag | None = None
    blocks: list[Block]
    hash: str = Field(min_length=1, max_length=128)
    read_at: datetime
    part: int = Field(default=1, ge=1, le=MAX_PARTS)
    parts: int = Field(default=1, ge=1, le=MAX_PARTS)
    run_id: Id | None = None
    etag: str | None = Field(default=None, max_length=500)
    last_modified: str | None = Field(default=None, max_length=100)


class DocumentRemoved(Wire):
    """A document was removed. Named as in DocumentUpserted."""

    company_id: CompanyId
    document_id: Id | None = None
    external_id: Name | None = None
    source: Source = "service"
    url: str | None = Field(default=None, max_length=2048)


class DocumentFailed(Wire):
    """A document could not be read: encrypted, no text, wrong format …"""

    company_id: CompanyId
    document_id: Id
    reason: str = Field(max_length=64)
    message: str = Field(max_length=500)


class KnowledgeChanged(Wire):
    """Search results have changed: replicas of memory load the knowledge again. No document: more than one."""

    company_id: CompanyId
    document_id: Id | None = None


class RunProgressed(Wire):
    """The complete progress of a run; the event with the highest `step` counts. `gone`, once it has finished: ids of
    the site's documents that no longer exist (404, 410, noindex, denied by now), never those that merely did not
    answer."""

    company_id: CompanyId
    run_id: Id
    step: int = Field(ge=0)
    state: Annotated[Literal["running", "finished", "failed"], OPEN]
    url: str | None = None
    counts: Counts
    left: list[Left] = Field(default_factory=list[Left], max_length=200)
    gone: list[Id] = Field(default_factory=list[str], max_length=20_000)
    problem: str | None = Field(default=None, max_length=500)


class RefreshRequested(Wire):
    """Read the company's site again, or one page of it. The same `runId` means the same run."""

    company_id: CompanyId
    run_id: Id
    url: str | None = Field(default=None, max_length=2048)
    by: str = Field(default="service", max_length=200)


class FileReceived(Wire):
    """A file, whose bytes are in UPLOADS in this many pieces, is to become the document `documentId`."""

    company_id: CompanyId
    document_id: Id
    upload_id: Id
    pieces: int = Field(ge=1, le=100)
    size: int = Field(ge=1, le=MAX_FILE)
    filename: str = Field(default="", max_length=300)
    content_type: str = Field(default="", max_length=200)
    title: str | None = Field(default=None, max_length=500)
    url: str | None = Field(default=None, max_length=2048)
    external_id: Name | None = None
