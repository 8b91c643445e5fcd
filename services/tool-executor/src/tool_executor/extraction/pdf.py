"""Reads PDF with PDFium: text in reading order, below the headings of its outline or else its numbered lines."""

import ctypes
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, cast

import pypdfium2 as _pdfium  # pyright: ignore[reportMissingTypeStubs]

from contracts.knowledge import Block
from tool_executor.extraction.document import Extracted, UnreadableError, extracted
from tool_executor.extraction.paragraphs import paragraphs
from tool_executor.texts import TEXTS

_MAX_PAGES = 3000
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})[.)]? (?P<title>[^\W\d_].{1,70})(?<![.:;,])")

pdfium: Any = cast("Any", _pdfium)


def extract_pdf(body: bytes) -> Extracted:
    """Returns the text of a PDF. Raises UnreadableError if it is encrypted, broken, or without text."""
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise UnreadableError("encrypted", TEXTS["document.pdf_encrypted"]) from error
        raise UnreadableError("broken", TEXTS["document.pdf_broken"]) from error
    headings = _headings_by_page(document)
    blocks: list[Block] = []
    current: dict[int, str] = {}
    for number in range(min(len(document), _MAX_PAGES)):
        page_headings = headings.get(number, [])
        pending = dict(reversed([(title.casefold(), (level, title)) for level, title in page_headings]))
        for text in paragraphs(_page_text(document, number)):
            lines: list[str] = []
            paragraph = text.split("\n")
            for line, next_line in zip(paragraph, [*paragraph[1:], ""], strict=True):
                heading = pending.pop(line.casefold(), None)
                if heading is None and not headings:
                    heading = _numbered_heading(line, next_line)
                if heading is None:
                    lines.append(line)
                    continue
                _add_block(blocks, lines, current)
                current = _with_heading(current, *heading)
            _add_block(blocks, lines, current)
        for heading in pending.values():  # titles that the outline words differently from the page
            current = _with_heading(current, *heading)
    if not blocks:
        raise UnreadableError("no_text", TEXTS["document.pdf_without_text"])
    title = " ".join(str(document.get_metadata_dict().get("Title") or "").split())
    return extracted(title, blocks)


def _add_block(blocks: list[Block], lines: list[str], headings: dict[int, str]) -> None:
    if lines:
        blocks.append(Block(text="\n".join(lines), headings=list(headings.values())))
        lines.clear()


def _numbered_heading(line: str, next_line: str) -> tuple[int, str] | None:
    """Returns level and title of a short numbered line such as "2. Delays"; None if the next line continues it."""
    match = _NUMBERED.fullmatch(line)
    is_continued = next_line and not next_line[0].isupper()
    return None if match is None or is_continued else (match["number"].count("."), match["title"])


def _with_heading(headings: dict[int, str], level: int, title: str) -> dict[int, str]:
    return {other: heading for other, heading in headings.items() if other < level} | {level: title}


def _page_text(document: Any, number: int) -> str:
    page = document[number]
    try:
        return str(page.get_textpage().get_text_bounded()).replace("\r\n", "\n").replace("\ufffe", "")
    finally:
        page.close()


def _headings_by_page(document: Any) -> dict[int, list[tuple[int, str]]]:
    """Returns level and title of the outline's entries by page index; empty if the outline is broken."""
    headings: dict[int, list[tuple[int, str]]] = defaultdict(list)
    try:
        for level, page, title in _outline(document):
            headings[page].append((level, title))
    except (pdfium.PdfiumError, ctypes.ArgumentError, ValueError):
        return {}
    return headings


def _outline(document: Any) -> Iterator[tuple[int, int, str]]:
    for entry in document.get_toc(max_depth=6):
        target = entry.get_dest()
        page = None if target is None else target.get_index()
        title = " ".join(str(entry.get_title()).split())
        if page is not None and title:
            yield int(entry.level), int(page), title[:300]
