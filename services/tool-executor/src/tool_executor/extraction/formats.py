"""Chooses the reader for a document by its type."""

import csv

from contracts.knowledge import Block
from contracts.plain_text import utf16_of
from tool_executor.extraction.charsets import decode
from tool_executor.extraction.document import MAX_TITLE_CHARS, Extracted, UnreadableError, extracted
from tool_executor.extraction.html import extract_html
from tool_executor.extraction.paragraphs import paragraphs
from tool_executor.extraction.tables import evened
from tool_executor.texts import TEXTS

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
MARKDOWN_TYPES = frozenset({"text/markdown", "text/x-markdown"})
_ENDINGS = {
    ".pdf": "application/pdf",
    ".docx": DOCX,
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".csv": "text/csv",
    ".txt": "text/plain",
}
KNOWN_TYPES = frozenset(_ENDINGS.values()) | MARKDOWN_TYPES


def type_of(body: bytes, declared: str = "", name: str = "") -> str:
    """Returns the media type; the first bytes count more than the declared type. Raises UnreadableError."""
    declared = declared.partition(";")[0].strip().lower()
    by_name = next((kind for ending, kind in _ENDINGS.items() if name.lower().endswith(ending)), None)
    if b"%PDF-" in body[:1024]:
        return "application/pdf"
    if body.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) and DOCX in {declared, by_name}:
        return DOCX
    media_type = by_name if declared in {"", "application/octet-stream", "text/plain"} and by_name else declared
    is_binary = b"\x00" in body[:4096] and utf16_of(body) is None
    if media_type in KNOWN_TYPES and media_type.startswith(("text/", "application/xhtml")) and not is_binary:
        return media_type
    raise UnreadableError("unknown_type", TEXTS["document.unknown_type"])


def extract(body: bytes, declared: str = "", charset: str | None = None, name: str = "") -> Extracted:
    """Extracts a document's content. For a malicious document it may need much time and memory: see isolation.py.

    Raises:
        UnreadableError: with reason encrypted, broken, bomb, no_text or unknown_type.
    """
    kind = type_of(body, declared, name)
    # Each library is imported only when it is needed: together they take half a second.
    if kind == "application/pdf":
        from tool_executor.extraction.pdf import extract_pdf

        document = extract_pdf(body)
    elif kind == DOCX:
        from tool_executor.extraction.docx import extract_docx

        document = extract_docx(body)
    elif kind in HTML_TYPES:
        return extract_html(decode(body, charset))
    elif kind in MARKDOWN_TYPES:
        document = _extract_markdown(decode(body, charset))
    elif kind == "text/csv":
        document = _extract_csv(decode(body, charset))
    else:
        document = extracted("", [Block(text=paragraph) for paragraph in paragraphs(decode(body, charset))])
    if not document.blocks:
        raise UnreadableError("no_text", TEXTS["document.no_text"])
    if not document.title:
        document.title = (name.rpartition("/")[2].rpartition(".")[0] or document.blocks[0].text.split("\n")[0])[
            :MAX_TITLE_CHARS
        ]
    return document


def _extract_markdown(text: str) -> Extracted:
    from runtime.documents.markdown_blocks import read

    return extracted(*read(text))


def _extract_csv(text: str) -> Extracted:
    lines = text.lstrip("\ufeff").splitlines()
    delimiter = max(",;\t", key=lines[0].count) if lines else ","
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter) if any(row)]
    except csv.Error as error:
        raise UnreadableError("unknown_type", TEXTS["document.unknown_type"]) from error
    width = max(map(len, rows), default=0)
    table = Block(kind="table", rows=[evened(row, width) for row in rows], header=True)
    return extracted("", [table] if rows else [])
