"""Arguments of the tools that memory serves."""

from pydantic import Field

from contracts.envelope import Snake
from contracts.tools.arguments import Words


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
