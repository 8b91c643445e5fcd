"""Calls about a company's knowledge, served by memory. The gateway checks who may make them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.company_rpc import CompanyRequest
from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.knowledge import FileReceived
from contracts.ids import CompanyId, Id
from contracts.knowledge import MAX_TEXT, KnowledgeFound, KnowledgeQuery, Name, Passage, Run, Source, WrittenIn
from contracts.memory_rpc import QUEUE
from contracts.plain_text import LINE, PlainText
from contracts.rpc import Rpc

MAX_ALTERNATIVES = 20
Cursor = Annotated[str, Field(max_length=512)]


class KnowledgeSearch(KnowledgeQuery):
    """A search in one company's knowledge. `when_read`: it waits up to 3 s for the first reading of the site to end."""

    company_id: CompanyId
    when_read: bool = False


# ---------------------------------------------------------------- documents


class DocumentView(Wire):
    """One document. reading: an executor is reading its file; failed: `problem` says why, and the previous version
    is still found. ready with a `problem`: not all of it is searched."""

    id: Id
    external_id: str | None = None
    source: Source
    title: str
    url: str | None = None
    language: str | None = None
    state: Annotated[Literal["ready", "reading", "failed"], OPEN] = "ready"
    problem: str | None = None
    passages: int = 0
    hash: str | None = None
    read_at: datetime | None = None
    updated_at: datetime


class DocumentsRequest(Wire):
    """Asks for a page of documents, newest first. `source`: only documents from this source."""

    company_id: CompanyId
    source: Source | None = None
    limit: int = Field(default=50, ge=1, le=200)
    cursor: Cursor | None = None


class DocumentsReply(Wire):
    """`next` is None on the last page."""

    items: list[DocumentView]
    next: str | None = None


class DocumentRequest(Wire):
    """A document, by its id or by its id in another system."""

    company_id: CompanyId
    id: Name


class DocumentReply(Wire):
    """The document; None if there is no such document."""

    document: DocumentView | None = None
    passages: list[Passage] = Field(default_factory=list[Passage])


class DocumentPut(Wire):
    """A document as text (plain or Markdown); the same id again replaces it. No id: a new one."""

    company_id: CompanyId
    id: Name | None = None
    title: str = Field(min_length=1, max_length=500)
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    url: str | None = Field(default=None, max_length=2048)
    language: WrittenIn | None = None


class FilePut(Wire):
    """A file in UPLOADS: memory registers the document and passes the file to the executors."""

    file: FileReceived


class DocumentGone(Wire):
    """`deleted` is true if there was something to delete."""

    deleted: bool


class KnownPage(Wire):
    """A page of the site as it was last read, used to ask whether it has changed."""

    document_id: Id
    url: str
    hash: str
    etag: str | None = None
    last_modified: str | None = None


class KnownPagesRequest(Wire):
    """Asks for all known pages of a company's site, a thousand at a time."""

    company_id: CompanyId
    limit: int = Field(default=1000, ge=1, le=1000)
    cursor: Cursor | None = None


class KnownPagesReply(Wire):
    """`next` is None on the last page."""

    items: list[KnownPage]
    next: str | None = None


# ---------------------------------------------------------------- questions and answers


class AnswerView(Wire):
    """A question with its answer, in one language. `alternatives`: other ways to ask it."""

    id: Id
    question: str
    alternatives: list[str] = Field(default_factory=list[str])
    answer: str
    language: str
    created_at: datetime
    updated_at: datetime


class AnswerDraft(Wire):
    """A pair as its author writes it."""

    question: Annotated[str, Field(min_length=1, max_length=500), LINE]
    alternatives: list[Annotated[str, Field(min_length=1, max_length=500), LINE]] = Field(
        default_factory=list[str], max_length=MAX_ALTERNATIVES
    )
    answer: Annotated[str, Field(min_length=1, max_length=4000), PlainText(lines=True)]
    language: WrittenIn = "es"


class AnswersRequest(Wire):
    """Asks for a page of pairs, newest first."""

    company_id: CompanyId
    limit: int = Field(default=50, ge=1, le=200)
    cursor: Cursor | None = None


class AnswersReply(Wire):
    """`next` is None on the last page."""

    items: list[AnswerView]
    next: str | None = None


class AnswerCreate(Wire):
    """A new pair."""

    company_id: CompanyId
    draft: AnswerDraft


class AnswerPatch(Wire):
    """A merge patch (RFC 7396) of a pair's draft; NOT_FOUND if there is none."""

    company_id: CompanyId
    id: Id
    patch: dict[str, Any]


class AnswerRequest(Wire):
    """Names one pair."""

    company_id: CompanyId
    id: Id


class AnswerReply(Wire):
    """The current pair; None if there is no such pair."""

    answer: AnswerView | None = None


# ---------------------------------------------------------------- gaps


class GapExample(Wire):
    """One occasion on which it was asked."""

    conversation_id: Id
    text: str
    at: datetime
    reason: Annotated[Literal["unknown", "thumbs_down", "handoff"], OPEN]


class GapView(Wire):
    """A question that had no good answer; questions that ask the same are one gap. `proposed`: what an operator
    answered."""

    id: Id
    question: str
    language: str
    state: Annotated[Literal["open", "answered", "dismissed"], OPEN]
    count: int
    first_at: datetime
    last_at: datetime
    examples: list[GapExample] = Field(default_factory=list[GapExample], description="newest first, at most 5")
    proposed: str | None = None
    answer_id: Id | None = None


class GapsRequest(Wire):
    """Asks for a page of gaps, the most asked first."""

    company_id: CompanyId
    state: Literal["open", "answered", "dismissed"] | None = "open"
    limit: int = Field(default=50, ge=1, le=200)
    cursor: Cursor | None = None


class GapsReply(Wire):
    """`next` is None on the last page."""

    items: list[GapView]
    next: str | None = None


class GapDecide(Wire):
    """Answers a gap, which turns it into a pair, or dismisses it."""

    company_id: CompanyId
    id: Id
    answer: str | None = Field(default=None, min_length=1, max_length=4000)
    question: str | None = Field(default=None, min_length=1, max_length=500)
    dismiss: bool = False


class GapReply(Wire):
    """The gap as it is now, with the pair that was made."""

    gap: GapView
    answer: AnswerView | None = None


# ---------------------------------------------------------------- runs


class RefreshAsk(Wire):
    """Reads the site, or one page, now. If a run for the same is already under way, that run is returned."""

    company_id: CompanyId
    url: str | None = Field(default=None, max_length=2048)
    by: str = Field(default="", max_length=200)


class RunRequest(Wire):
    """Names one run."""

    company_id: CompanyId
    id: Id


class RunDecide(Wire):
    """An admin's decision on a waiting run: whether the missing pages are removed."""

    company_id: CompanyId
    id: Id
    remove: bool


class RunReply(Wire):
    """The run; None if there is no such run."""

    run: Run | None = None


class SourceCount(Wire):
    """The number of documents and passages from one source."""

    source: Source
    documents: int
    passages: int
    failed: int = 0


class KnowledgeOverview(Wire):
    """A company's knowledge at a glance."""

    sources: list[SourceCount]
    site_url: str | None = None
    last_run: Run | None = None
    next_run_at: datetime | None = None
    gaps: int = Field(default=0, description="open ones")
    failures: list[DocumentView] = Field(default_factory=list[DocumentView], description="the newest 20")


_AT = "rpc.memory.knowledge."
SEARCH = Rpc(f"{_AT}search.v1", KnowledgeSearch, KnowledgeFound, queue=QUEUE)
OVERVIEW = Rpc(f"{_AT}overview.v1", CompanyRequest, KnowledgeOverview, queue=QUEUE)
DOCUMENTS = Rpc(f"{_AT}documents.list.v1", DocumentsRequest, DocumentsReply, queue=QUEUE)
DOCUMENT_GET = Rpc(f"{_AT}document.get.v1", DocumentRequest, DocumentReply, queue=QUEUE)
DOCUMENT_PUT = Rpc(f"{_AT}document.put.v1", DocumentPut, DocumentReply, queue=QUEUE, safe=False)
DOCUMENT_DELETE = Rpc(f"{_AT}document.delete.v1", DocumentRequest, DocumentGone, queue=QUEUE)
FILE_PUT = Rpc(f"{_AT}file.put.v1", FilePut, DocumentReply, queue=QUEUE)
KNOWN_PAGES = Rpc(f"{_AT}pages.known.v1", KnownPagesRequest, KnownPagesReply, queue=QUEUE)
ANSWERS = Rpc(f"{_AT}answers.list.v1", AnswersRequest, AnswersReply, queue=QUEUE)
ANSWER_CREATE = Rpc(f"{_AT}answer.create.v1", AnswerCreate, AnswerReply, queue=QUEUE, safe=False)
ANSWER_PATCH = Rpc(f"{_AT}answer.patch.v1", AnswerPatch, AnswerReply, queue=QUEUE)
ANSWER_DELETE = Rpc(f"{_AT}answer.delete.v1", AnswerRequest, DocumentGone, queue=QUEUE)
GAPS = Rpc(f"{_AT}gaps.list.v1", GapsRequest, GapsReply, queue=QUEUE)
GAP_DECIDE = Rpc(f"{_AT}gap.decide.v1", GapDecide, GapReply, queue=QUEUE)
REFRESH = Rpc(f"{_AT}refresh.v1", RefreshAsk, RunReply, queue=QUEUE)
RUN_GET = Rpc(f"{_AT}run.get.v1", RunRequest, RunReply, queue=QUEUE)
RUN_DECIDE = Rpc(f"{_AT}run.decide.v1", RunDecide, RunReply, queue=QUEUE)
# Deletes all of a company's knowledge, from every store and stream. A repeat does no harm.
FORGET = Rpc(f"{_AT}forget.v1", CompanyRequest, DocumentGone, queue=QUEUE)
