"""The outcome of one page of a run."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from contracts.envelope import Wire
from contracts.knowledge import Left
from contracts.knowledge_rpc import KnownPage

MAX_TRIES = 3
"""How often a page is tried whose site does not answer, or says that it is busy."""


class CrawlItem(Wire):
    """A page that a run is to read. `sure`: a sitemap names it or memory knows it; pages known only from links may be
    endless. `links_only`: the run starts at this page, but the site's rules exclude its text."""

    url: str
    sure: bool = False
    links_only: bool = False
    tries: int = 0
    known: KnownPage | None = None
    via: list[str] = Field(default_factory=list[str], description="redirects that led here")


Kind = Literal["fetched", "unchanged", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """The outcome of a page. `gone`: id of the document that no longer exists. `again`: seconds until the next try.

    `look_again`: the page is no document, but the next run reads it again, because it may become or link to one.
    `away`: its server did not answer. `linked_pages`: the pages to which it links. `refused`: links that are not read.
    """

    kind: Kind
    reason: str = ""
    message: str = ""
    gone: str | None = None
    again: float | None = None
    look_again: bool = False
    away: bool = False
    linked_pages: list[CrawlItem] = field(default_factory=list[CrawlItem])
    refused: list[Left] = field(default_factory=list[Left])
