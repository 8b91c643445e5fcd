"""The outcome of one page of a run."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from contracts.envelope import Wire
from contracts.knowledge import Left
from contracts.knowledge_rpc import KnownPage

TRIES = 3
"""The number of tries at a page whose site does not answer, or says that it is busy."""


class CrawlItem(Wire):
    """A page that a run is to read. `sure`: its site names it, or memory knows it; links alone may have no end.
    `links_only`: the site begins here, and yet its rules leave the page itself out."""

    url: str
    sure: bool = False
    links_only: bool = False
    tries: int = 0
    known: KnownPage | None = None
    via: list[str] = Field(default_factory=list[str], description="redirects that led here")


Kind = Literal["fetched", "unchanged", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """`gone`: the document that is no longer there. `again`: seconds after which the page is tried once more.

    `look_again`: it is no document, and may be one next time, or lead to one.
    `away`: its server did not answer. `found`: what it leads to. `refused`: what of that is not read.
    """

    kind: Kind
    reason: str = ""
    message: str = ""
    gone: str | None = None
    again: float | None = None
    look_again: bool = False
    away: bool = False
    found: list[CrawlItem] = field(default_factory=list[CrawlItem])
    refused: list[Left] = field(default_factory=list[Left])
