"""Tools that memory serves: their arguments and results."""

from datetime import datetime

from pydantic import Field

from contracts.envelope import Snake
from contracts.tools.arguments import Words
from contracts.tools.results import NOT_REQUIRED, NonEmpty


class MessageSearchArguments(Snake):
    """Input of search_memory."""

    query: Words = Field(description="What to look for, in the words that may have been used")
    limit: int = Field(default=5, ge=1, le=50, description="How many passages")


class KnowledgeSearchArguments(Snake):
    """Input of search_knowledge."""

    query: Words = Field(description="The question, or the words to look for, in any language")
    limit: int = Field(default=5, ge=1, le=20, description="How many passages")


class FactArguments(Snake):
    """Input of remember."""

    fact: Words = Field(description="The fact, in the user's own words")


class ForgetArguments(Snake):
    """Input of forget."""

    what: Words = Field(description="What to forget: its id, or the words for it")


class UpdateArguments(Snake):
    """Input of update_memory."""

    id: Words = Field(description="Which fact: its id, or the words for it")
    fact: Words = Field(description="The fact as it is now, in the user's own words")


class NeighbourData(Snake):
    """The message right before or after the one that was found."""

    speaker: NonEmpty
    text: str


class SupersededData(Snake):
    """Since when the message is outdated, and what has replaced it."""

    until: datetime
    by: str | None


class FoundMessageData(Snake):
    """A message that was found. `speaker`: user, assistant or operator; `score` is comparable within one reply;
    `superseded` is null if the message may still be true."""

    text: str
    time: datetime
    conversation_id: NonEmpty
    score: float
    speaker: NonEmpty = NOT_REQUIRED
    before: NeighbourData | None = NOT_REQUIRED
    after: NeighbourData | None = NOT_REQUIRED
    superseded: SupersededData | None = NOT_REQUIRED


class MessageSearchData(Snake):
    """Output of search_memory, best first. `searched`: the number of messages; `complete`: none was left out."""

    passages: list[FoundMessageData]
    searched: int = NOT_REQUIRED
    complete: bool = NOT_REQUIRED
    source: NonEmpty
    as_of: datetime


class PassageData(Snake):
    """One passage. `text` is Markdown; `score` 0 to 1: the share of the question that it covers."""

    id: NonEmpty
    title: str
    url: str | None = NOT_REQUIRED
    heading: list[str] = NOT_REQUIRED
    text: str
    score: float
    read_at: datetime
    hash: NonEmpty = NOT_REQUIRED
    source: NonEmpty = NOT_REQUIRED
    exact: bool = NOT_REQUIRED


class SearchData(Snake):
    """Output of search_knowledge, best first. `complete`: all of the company's knowledge was searched."""

    passages: list[PassageData]
    complete: bool
    source: NonEmpty


class FactData(Snake):
    """A fact and its id."""

    id: NonEmpty
    fact: NonEmpty


class UndoData(Snake):
    """A tool call that undoes the change."""

    tool: NonEmpty
    arguments: dict[str, object]


class ChangeData(Snake):
    """Output of all three tools: the facts that were remembered or forgotten, those that became history (`ended`), and
    the calls that undo the change."""

    facts: list[FactData]
    ended: list[FactData]
    undo: list[UndoData]
    source: NonEmpty
    as_of: datetime
