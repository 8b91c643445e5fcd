"""Values of a context shared by stores and use cases, and the search in a company's knowledge."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from memory.domain.keys import LogPosition

PassageSearch = Callable[[str, KnowledgeQuery], Coroutine[Any, Any, KnowledgeFound]]
"""Searches a company's knowledge: the best passages of what can be read at once."""


@dataclass(frozen=True, slots=True)
class PastToolCall:
    """A tool call of a conversation, and the symbols that its arguments name."""

    at: datetime
    tool: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A summary of every message up to a position."""

    text: str
    up_to: LogPosition
    messages: int
    version: str
    at: datetime
