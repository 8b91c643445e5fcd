"""Chooses the reader for a document by its type."""

import csv

from contracts.knowledge import Block
from runtime.documents.document_language import language_of
from tool_executor.extraction.charsets import decoded
from tool_executor.extraction.document import LONGEST_TITLE, Extracted, UnreadableError, bounded
from tool_executor.extraction.html import extract_html
from tool_executor.extraction.paragraphs import paragraphs
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
    """The media type: what the first bytes are is believed before what is said of them. Raises UnreadableError."""
    declared = declared.partition(";")[0].strip().lower()
    by_name = next((kind for ending, kind in _ENDINGS.items() if name.lower().endswith(ending)), None)
    if b"%PDF-" in body[:1024]:
        return "application/pdf"
    if body.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) and DOCX in {declared, by_name}:
        return DOCX
    said = by_name if declared in {"", "application/octet-stream", "text/plain"} and by_name else declared
    binary = b"\x00" in body[:4096] and not body.startswith((b"\xff\xfe", b"\xfe\xff"))
    if said in KNOWN_TYPES and said.startswith(("text/", "application/xhtml")) and not binary:
        return said
    raise UnreadableError("unknown_type", TEXTS["document.unknown_type"])


def extract(body: bytes, declared: str = "", charset: str | None = None, name: str = "") -> Extracted:
    """A document's words. May take long, and much memory, for what was made to: see isolation.py.

    Raises:
        UnreadableError: with reason encrypted, broken, bomb, no_text or unknown_type.
    """
    kind = type_of(body, declared, name)
    # Each library is imported by whom needs it: together they take half a second.
    if kind == "application/pdf":
        from tool_executor.extraction.pdf import extract_pdf

        found = extract_pdf(body)
    elif kind == DOCX:
        from tool_executor.extraction.docx import extract_docx

        found = extract_docx(body)
    elif kind in HTML_TYPES:
        return extract_html(decoded(body, charset))
    elif kind in MARKDOWN_TYPES:
        found = _extract_markdown(decoded(body, charset))
    elif kind == "text/csv":
        found = _extract_csv(decoded(body, charset))
    else:
        found = _extract_text(decoded(body, charset))
    if not found.blocks:
        raise UnreadableError("no_text", TEXTS["document.no_text"])
    if not found.title:
        found.title = (name.rpartition("/")[2].rpartition(".")[0] or found.blocks[0].text.split("\n")[0])[
            :LONGEST_TITLE
        ]
    return found


def _extract_markdown(text: str) -> Extracted:
    from runtime.documents.markdown_blocks import read

    title, blocks = read(text)
    said = " ".join(block.text or " ".join(map(" ".join, block.rows)) for block in blocks)
    return Extracted(title=title[:LONGEST_TITLE], language=language_of(said), blocks=list(bounded(blocks)))


def _extract_csv(text: str) -> Extracted:
    lines = text.lstrip("\ufeff").splitlines()
    between = max(",;\t", key=lines[0].count) if lines else ","
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=between) if any(row)]
    except csv.Error as error:
        raise UnreadableError("unknown_type", TEXTS["document.unknown_type"]) from error
    wide = max(map(len, rows), default=0)
    table = Block(kind="table", rows=[row + [""] * (wide - len(row)) for row in rows], header=True)
    return Extracted(title="", language=language_of(text), blocks=list(bounded([table] if rows else [])))


def _extract_text(text: str) -> Extracted:
    return Extracted(
        title="", language=language_of(text), blocks=list(bounded(Block(text=one) for one in paragraphs(text)))
    )
