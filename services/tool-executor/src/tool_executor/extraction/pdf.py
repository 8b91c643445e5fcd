"""Reads PDF with PDFium: text in reading order, below the headings of its outline, or else its numbered lines."""

import ctypes
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, cast

import pypdfium2 as _pdfium  # pyright: ignore[reportMissingTypeStubs]

from contracts.knowledge import Block
from runtime.documents.document_language import language_of
from tool_executor.extraction.document import MAX_TITLE_CHARS, Extracted, UnreadableError, bounded_blocks
from tool_executor.extraction.paragraphs import paragraphs
from tool_executor.texts import TEXTS

_MOST_PAGES = 3000
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})[.)]? (?P<title>[^\W\d_].{1,70})(?<![.:;,])")

pdfium: Any = cast("Any", _pdfium)


def extract_pdf(body: bytes) -> Extracted:
    """The words of a PDF. Raises UnreadableError: encrypted, broken, or with no text in it."""
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise UnreadableError("encrypted", TEXTS["document.pdf_encrypted"]) from error
        raise UnreadableError("broken", TEXTS["document.pdf_broken"]) from error
    headings = _headings(document)
    blocks: list[Block] = []
    current: dict[int, str] = {}
    for number in range(min(len(document), _MOST_PAGES)):
        here = headings.get(number, [])
        waiting = dict(reversed([(title.casefold(), (level, title)) for level, title in here]))
        for text in paragraphs(_text(document, number)):
            lines: list[str] = []
            read = text.split("\n")
            for line, following in zip(read, [*read[1:], ""], strict=True):
                heading = waiting.pop(line.casefold(), None)
                if heading is None and not headings:
                    heading = _numbered(line, following)
                if heading is None:
                    lines.append(line)
                    continue
                _add(blocks, lines, current)
                current = _below(current, *heading)
            _add(blocks, lines, current)
        for heading in waiting.values():  # what the outline calls otherwise than the page does
            current = _below(current, *heading)
    said = " ".join(block.text for block in blocks)
    if not said.strip():
        raise UnreadableError("no_text", TEXTS["document.pdf_without_text"])
    title = " ".join(str(document.get_metadata_dict().get("Title") or "").split())
    return Extracted(title=title[:MAX_TITLE_CHARS], language=language_of(said), blocks=list(bounded_blocks(blocks)))


def _add(blocks: list[Block], lines: list[str], headings: dict[int, str]) -> None:
    if lines:
        blocks.append(Block(text="\n".join(lines), headings=list(headings.values())))
        lines.clear()


def _numbered(line: str, following: str) -> tuple[int, str] | None:
    """The heading that a short line with a number is, "2. Delays", if no item of a list and no sentence goes on."""
    found = _NUMBERED.fullmatch(line)
    goes_on = following and not following[0].isupper()
    return None if found is None or goes_on else (found["number"].count("."), found["title"])


def _below(headings: dict[int, str], level: int, title: str) -> dict[int, str]:
    return {above: words for above, words in headings.items() if above < level} | {level: title}


def _text(document: Any, number: int) -> str:
    page = document[number]
    try:
        return str(page.get_textpage().get_text_bounded()).replace("\r\n", "\n").replace("\ufffe", "")
    finally:
        page.close()


def _headings(document: Any) -> dict[int, list[tuple[int, str]]]:
    """The outline's titles by page, with their level."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    try:
        for level, page, title in _outline(document):
            found[page].append((level, title))
    except (pdfium.PdfiumError, ctypes.ArgumentError, ValueError):
        return {}
    return found


def _outline(document: Any) -> Iterator[tuple[int, int, str]]:
    for entry in document.get_toc(max_depth=6):
        target = entry.get_dest()
        page = None if target is None else target.get_index()
        title = " ".join(str(entry.get_title()).split())
        if page is not None and title:
            yield int(entry.level), int(page), title[:300]
