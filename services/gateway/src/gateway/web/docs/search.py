"""Full-text search over the documentation: SQLite's FTS5, in memory, best matches first."""

import re
import sqlite3
import threading
from collections.abc import Iterable

from gateway.web.docs.guide import GuideSection

MAX_QUERY_CHARACTERS = 100
"""Characters of a query that are used at most."""
MAX_WORDS = 8
MAX_RESULTS = 20
"""Number of results at most."""
MARK = ("\x01", "\x02")
"""Marks before and after a match in an excerpt."""
_MIN_WORD_LENGTH = 3
"""Shorter words are ignored in a query of several words."""
_WORD = re.compile(r"\w+")


class Index:
    """A full-text index of sections that ignores case and accents."""

    def __init__(self, sections: Iterable[GuideSection]) -> None:
        self._lock = threading.Lock()
        self._store = sqlite3.connect(":memory:", check_same_thread=False)
        self._store.execute(
            "CREATE VIRTUAL TABLE part USING fts5(path UNINDEXED, page, heading, text, "
            "tokenize = 'unicode61 remove_diacritics 2')"
        )
        rows = [(section.path, section.page, section.heading, section.text) for section in sections]
        self._store.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", rows)

    def find(self, question: str) -> list[GuideSection]:
        """The sections that contain all words, as prefixes; if there are none, those that contain some. Their text is
        an excerpt with MARK around the matched words."""
        typed_words = _WORD.findall(question[:MAX_QUERY_CHARACTERS].lower())
        words = [_stem(word) for word in typed_words if len(word) >= _MIN_WORD_LENGTH or len(typed_words) == 1][
            :MAX_WORDS
        ]
        if not words:
            return []
        quoted = [f'"{word}"*' for word in words]
        return self._matches(" AND ".join(quoted)) or self._matches(" OR ".join(quoted))

    def _matches(self, query: str) -> list[GuideSection]:
        statement = (
            "SELECT path, page, heading, snippet(part, 3, ?, ?, '…', 24) FROM part WHERE part MATCH ? "
            "ORDER BY bm25(part, 0, 6, 8, 1) LIMIT ?"
        )
        with self._lock:
            return [GuideSection(*row) for row in self._store.execute(statement, (*MARK, query, MAX_RESULTS))]


def _stem(word: str) -> str:
    """The word without an English or Spanish plural ending, for the search by prefix."""
    return re.sub(r"(?:es|s)$", "", word) if len(word) > 4 else word
