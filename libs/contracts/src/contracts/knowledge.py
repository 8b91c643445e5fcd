"""A company's knowledge: documents in blocks, passages, searches and their results.

A passage's text is Markdown: a line for each paragraph and list item (`- …`), with a blank line between blocks; tables
as lines of cells (`| a | b |`), the header and a line `| --- | --- |` first, `|` inside a cell as `\\|`.
"""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.ids import CompanyId, Id, derive_id
from contracts.languages import language_in

MAX_FILE = 20 * 1024 * 1024
"""The maximum size of an uploaded document, in bytes."""
MAX_TEXT = 400_000
"""The maximum characters of a document sent as text; a longer one is uploaded as a file."""
MAX_QUERY = 2_000
"""The maximum characters of a question; the caller cuts longer ones."""
MAX_PART = 600_000
"""The maximum bytes of blocks in one event; the bus carries 1 MB."""
MAX_PARTS = 64
MAX_EARLIER = 3
"""How many earlier messages a follow-up question may refer to."""

Source = Annotated[Literal["site", "document", "answer", "service"], OPEN]
"""Where a document comes from: the crawled site, an upload or REST, a question-and-answer pair, another service's
event."""
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f/]+$")]
"""A document's id in another system."""
LanguageTag = Annotated[str, Field(min_length=2, max_length=35)]
WrittenIn = Annotated[LanguageTag, AfterValidator(language_in), Field(examples=["es"])]
"""The tag (BCP 47) of a text's language, stored without its region: en-GB becomes en."""

INDEX_PAGE = re.compile(r"/(?:index|default)\.\w+$")
"""The name of a folder's first page, which says nothing: "/en/index.html" is "/en"."""


class Block(Wire):
    """A piece of a document that always stays with its headings. A table has `rows` (the first is the header if
    `header`, empty where only the rows have names) and no text; a list has one item a line."""

    kind: Annotated[Literal["text", "list", "table", "code"], OPEN] = "text"
    headings: list[str] = Field(default_factory=list[str], description="outermost first, the page's title left out")
    anchor: str | None = Field(default=None, max_length=300, description="the id of the nearest heading, without #")
    text: str = ""
    rows: list[list[str]] = Field(default_factory=list[list[str]])
    header: bool = True


class PassageSection(Wire):
    """The part of a passage below one heading: from `start`, an index into its text, to the start of the next
    section."""

    start: int = Field(ge=0, description="where it begins in the text of the passage, in characters")
    heading: list[str]
    url: str | None = None


class Passage(Wire):
    """Some 200 to 350 tokens of a document, with their position in it. `score`: 0 to 1, the share of the question's
    weight that the passage covers, comparable between questions; `exact`: the question of a pair matched, and `text`
    is its answer, to be used word for word. If a passage has several `sections`, `heading` and `anchor` are those of
    the best match."""

    id: Id
    document_id: Id
    source: Source
    title: str
    url: str | None = Field(default=None, description="of the page, with the anchor of the heading where there is one")
    heading: list[str] = Field(default_factory=list[str])
    anchor: str | None = None
    language: str | None = None
    text: str
    score: float
    read_at: datetime
    hash: str = Field(description="of the document's text as it was read")
    exact: bool = False
    sections: list[PassageSection] | None = Field(
        default=None, description="the parts of a passage that spans several headings"
    )
    near: list[float] | None = Field(
        default=None,
        description="of each section, how near in meaning it is to the question: 0 as texts are on average, 0.2 near, "
        "at most 1; left out without embeddings",
    )


class PageRef(Wire):
    """A page that exists on the site."""

    url: str
    title: str


class KnowledgeQuery(Wire):
    """A search. `earlier`: the person's earlier messages, newest first, for follow-ups that do not name their
    subject. `pages`: how many of the site's pages to name as well."""

    text: str = Field(max_length=MAX_QUERY)
    earlier: list[Annotated[str, Field(max_length=MAX_QUERY)]] = Field(
        default_factory=list[str], max_length=MAX_EARLIER
    )
    language: LanguageTag | None = None
    limit: int = Field(default=8, ge=1, le=50)
    pages: int = Field(default=0, ge=0, le=100)


class KnowledgeFound(Wire):
    """Best match first. `documents`: how many the company has; `complete` False: not all of them could be read in
    time; `reading`: its site is being read for the first time, so that pages may be missing."""

    passages: list[Passage] = Field(default_factory=list[Passage])
    documents: int = 0
    pages: list[PageRef] = Field(default_factory=list[PageRef])
    complete: bool = True
    reading: bool = False


class Grounding(Wire):
    """The sources of an answer. `known` is False if the assistant said that it does not know, or offered a person
    instead."""

    question: str = Field(max_length=MAX_QUERY)
    known: bool
    score: float | None = Field(default=None, description="of the best passage; left out when there was none")
    language: str | None = None


class Counts(Wire):
    """The pages of a run, by outcome."""

    found: int = 0
    fetched: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: int = 0


class Left(Wire):
    """A page that was skipped or failed. `reason`: one word (robots, noindex, too_large, no_text …); `message`: a
    sentence for the admin."""

    url: str = Field(max_length=2048)
    outcome: Annotated[Literal["skipped", "failed"], OPEN]
    reason: str = Field(max_length=64)
    message: str = Field(default="", max_length=500)


class Run(Wire):
    """One reading of the site, or of one of its pages. waiting: it would remove more than half of the pages
    (`gone`), and needs an admin's approval."""

    id: Id
    company_id: CompanyId
    state: Annotated[Literal["queued", "running", "waiting", "finished", "failed"], OPEN]
    url: str | None = Field(default=None, description="the one page; none: the whole site")
    by: str = "schedule"
    requested_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    counts: Counts = Field(default_factory=Counts)
    left: list[Left] = Field(default_factory=list[Left], description="at most 200, the newest last")
    gone: int = Field(default=0, description="pages that are no longer there")
    problem: str | None = Field(default=None, description="why it failed, for the admin")


def document_id(company: str, source: str, name: str) -> str:
    """Returns a document's id, derived from its name in its source (a page's canonical address, an external id)."""
    return derive_id(company, "knowledge", source, name)
