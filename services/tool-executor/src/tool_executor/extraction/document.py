"""The extracted text of a document of any format."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urljoin

from pydantic import TypeAdapter

from contracts.knowledge import MAX_PART, Block
from contracts.text import Text
from runtime.documents.document_language import language_of

MAX_TEXT_CHARS = 4000
"""Characters of a block of text; a longer block is split at a space."""
MAX_CELL_CHARS = 2000
MAX_TITLE_CHARS = 300
MAX_LINKS = 2000
MAX_ROWS = 100
"""Rows of one block of a table; further rows go into another block with the same header."""


class UnreadableError(Exception):
    """A document that cannot be read. `reason` is a word for programs, `text` a sentence for the admin."""

    def __init__(self, reason: str, text: Text) -> None:
        super().__init__(str(text))
        self.reason = reason
        self.text = text


@dataclass(slots=True)
class Extracted:
    """The content of a document. Fields that only web pages have are empty for others; addresses are as written."""

    title: str
    language: str | None
    blocks: list[Block]
    links: list[str] = field(default_factory=list[str])
    base: str | None = None
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False

    def add_link(self, address: str) -> None:
        """Adds an address that the page links to, unless it is not an address or there are too many."""
        if len(self.links) < MAX_LINKS:
            with suppress(ValueError):
                self.links.append(urljoin(self.base, address) if self.base else address)

    def hash(self) -> str:
        """Returns a hash of the whole content: documents with the same hash have the same text in the same order."""
        content = [self.title, self.language, *(block.model_dump(mode="json") for block in self.blocks)]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:32]


EXTRACTED = TypeAdapter(Extracted)


def bounded_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Splits blocks into blocks of limited size; the rows of a table stay whole. Names of columns that are longer than
    a block's text are an ordinary row: repeated above each part, they would be most of the document."""
    for block in blocks:
        if block.rows:
            rows = [[cell[:MAX_CELL_CHARS] for cell in row] for row in block.rows]
            has_names = block.header and sum(len(cell) + 1 for cell in rows[0]) <= MAX_TEXT_CHARS
            head = [rows.pop(0)] if has_names else []
            for start in range(0, len(rows) or 1, MAX_ROWS):
                part = [*head, *rows[start : start + MAX_ROWS]]
                yield block.model_copy(update={"rows": part, "header": has_names})
        else:
            for text in _pieces(block.text, "\n" if block.kind in {"code", "list"} else " "):
                yield block.model_copy(update={"text": text})


def extracted(title: str, blocks: Sequence[Block]) -> Extracted:
    """Returns a document of these blocks, in the language of their text."""
    return Extracted(title[:MAX_TITLE_CHARS], language_of(plain_text(blocks)), list(bounded_blocks(blocks)))


def plain_text(blocks: Iterable[Block]) -> str:
    """Returns the text of the blocks on one line, those of a table cell by cell."""
    return " ".join(block.text or " ".join(map(" ".join, block.rows)) for block in blocks)


def in_parts(blocks: list[Block]) -> list[list[Block]]:
    """Splits the blocks into parts that each fit into one event; returns at least one part."""
    parts: list[list[Block]] = [[]]
    size = 0
    for block in blocks:
        length = len(block.to_json())
        if parts[-1] and size + length > MAX_PART:
            parts.append([])
            size = 0
        parts[-1].append(block)
        size += length
    return parts


def _pieces(text: str, separator: str) -> Iterator[str]:
    start = 0
    while len(text) - start > MAX_TEXT_CHARS:
        end = text.rfind(separator, start + MAX_TEXT_CHARS // 2, start + MAX_TEXT_CHARS)
        end = start + MAX_TEXT_CHARS if end < 0 else end
        yield text[start:end].rstrip()
        while text.startswith(separator, end):
            end += 1
        start = end
    if start < len(text):
        yield text[start:]
