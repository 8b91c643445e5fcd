"""Full-text search over the parts of the documentation: SQLite's FTS5, in memory, best matches first."""

import re
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.web.docs.guide import GuideSection

LONGEST = 100
"""Characters of a question that are looked at."""
MOST_WORDS = 8
MOST = 20
"""Results."""
MARK = ("\x01", "\x02")
"""Before and behind a word that was found, in an excerpt."""
_TELLING = 3
"""Letters from which on a word among others is looked for."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Found:
    """A part that holds the words. `excerpt` has MARK around them."""

    path: str
    page: str
    heading: str
    excerpt: str


class Index:
    """The words of some sections, regardless of case and accents."""

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
        """The parts that hold every word of it or its beginning; where none does, those that hold some."""
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
    """Without a plural's ending, in English and Spanish: what is left is looked for as a beginning."""
    return re.sub(r"(?:es|s)$", "", word) if len(word) > 4 else word
