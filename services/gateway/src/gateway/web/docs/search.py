"""Full-text search over the documentation: SQLite's FTS5, in memory, best matches first."""

import re
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.web.docs.guide import GuideSection

LONGEST = 100
"""Characters of a query that are used."""
MOST_WORDS = 8
MOST = 20
"""Results."""
MARK = ("\x01", "\x02")
"""The marks before and after a match in an excerpt."""
_TELLING = 3
"""The least letters of a word for it to be searched among others."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Found:
    """A section that contains the words. `excerpt` has MARK around them."""

    path: str
    page: str
    heading: str
    excerpt: str


class Index:
    """An index of sections, ignoring case and accents."""

    def __init__(self, sections: Iterable[GuideSection]) -> None:
        self._lock = threading.Lock()
        self._store = sqlite3.connect(":memory:", check_same_thread=False)
        self._store.execute(
            "CREATE VIRTUAL TABLE part USING fts5(path UNINDEXED, page, heading, text, "
            "tokenize = 'unicode61 remove_diacritics 2')"
        )
        rows = [(one.path, one.page, one.heading, one.text) for one in sections]
        self._store.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", rows)

    def find(self, question: str) -> list[Found]:
        """The sections that contain every word or its beginning; if there are none, those that contain some."""
        asked = _WORD.findall(question[:LONGEST].lower())
        words = [_stem(word) for word in asked if len(word) >= _TELLING or len(asked) == 1][:MOST_WORDS]
        if not words:
            return []
        quoted = [f'"{word}"*' for word in words]
        return self._matches(" AND ".join(quoted)) or self._matches(" OR ".join(quoted))

    def _matches(self, query: str) -> list[Found]:
        statement = (
            "SELECT path, page, heading, snippet(part, 3, ?, ?, '…', 24) FROM part WHERE part MATCH ? "
            "ORDER BY bm25(part, 0, 6, 8, 1) LIMIT ?"
        )
        with self._lock:
            return [Found(*row) for row in self._store.execute(statement, (*MARK, query, MOST))]


def _stem(word: str) -> str:
    """The word without a plural ending, in English and Spanish, for a prefix search."""
    return re.sub(r"(?:es|s)$", "", word) if len(word) > 4 else word
