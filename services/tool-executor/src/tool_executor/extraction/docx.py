"""Reads DOCX with python-docx, after checking how large its archive would become."""

import io
import zipfile
import zlib
from typing import Any, cast

import docx as _docx  # pyright: ignore[reportMissingTypeStubs]
from docx.table import Table
from docx.text.paragraph import Paragraph

from contracts.knowledge import Block
from tool_executor.extraction.document import Extracted, UnreadableError, extracted, plain_text
from tool_executor.texts import TEXTS

_MAX_UNPACKED_BYTES = 100 * 1024 * 1024
_MAX_XML_BYTES = 40 * 1024 * 1024
"""Bytes of the document's XML; its parsed tree takes ten times as much."""
_MAX_FILES = 2000
_OLE = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = 1
"""Flag of a file in an archive that needs a password."""
# zipfile raises NotImplementedError for versions and compressions that it cannot read, and passes on zlib's own error.
_BAD_ARCHIVE = (zipfile.BadZipFile, NotImplementedError, zlib.error, ValueError, OSError)


def extract_docx(body: bytes) -> Extracted:
    """Reads a Word document. Raises UnreadableError if it is a zip bomb, encrypted, broken, or without text."""
    if body.startswith(_OLE):
        raise _encrypted()
    _check_archive(body)
    try:
        document: Any = _docx.Document(io.BytesIO(body))
        blocks = _blocks(document)
    except (*_BAD_ARCHIVE, KeyError, SyntaxError, AttributeError) as error:
        raise _broken() from error
    if not plain_text(blocks).strip():
        raise UnreadableError("no_text", TEXTS["document.no_text"])
    top_headings = {block.headings[0] for block in blocks if block.headings}
    title = " ".join(str(document.core_properties.title or "").split()) or (
        top_headings.pop() if len(top_headings) == 1 else ""
    )
    for block in blocks:
        if block.headings[:1] == [title]:
            block.headings.pop(0)
    return extracted(title, blocks)


def _check_archive(body: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            files = archive.infolist()
    except _BAD_ARCHIVE as error:
        raise _broken() from error
    if any(file.flag_bits & _ENCRYPTED for file in files):
        raise _encrypted()
    unpacked = sum(file.file_size for file in files)
    xml = max((file.file_size for file in files if file.filename.endswith((".xml", ".rels"))), default=0)
    if unpacked > _MAX_UNPACKED_BYTES or xml > _MAX_XML_BYTES or len(files) > _MAX_FILES:
        raise UnreadableError("bomb", TEXTS["document.bomb"])


def _blocks(document: Any) -> list[Block]:
    blocks: list[Block] = []
    headings: dict[int, str] = {}
    items: list[str] = []

    def end_list() -> None:
        if items:
            blocks.append(Block(kind="list", text="\n".join(items), headings=list(headings.values())))
            items.clear()

    for part in document.iter_inner_content():
        if isinstance(part, Table):
            end_list()
            rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in part.rows]
            rows = [row for row in rows if any(row)]
            if rows:
                blocks.append(Block(kind="table", rows=rows, headings=list(headings.values())))
            continue
        text = " ".join(cast("Paragraph", part).text.split())
        if not text:
            continue
        style = str(getattr(part.style, "name", "") or "").lower()
        level = _level(style)
        if level is not None:
            end_list()
            headings = {above: words for above, words in headings.items() if above < level} | {level: text}
        elif style.startswith("list") or (part._p.pPr is not None and part._p.pPr.numPr is not None):
            items.append(text)
        else:
            end_list()
            blocks.append(Block(text=text, headings=list(headings.values())))
    end_list()
    return blocks


def _level(style: str) -> int | None:
    """Returns the level of a heading by its style, whose name is English in every language of Word; None for others."""
    if style == "title":
        return 0
    word, _, number = style.partition(" ")
    return int(number) if word == "heading" and number.isdigit() else None


def _encrypted() -> UnreadableError:
    return UnreadableError("encrypted", TEXTS["document.docx_encrypted"])


def _broken() -> UnreadableError:
    return UnreadableError("broken", TEXTS["document.docx_broken"])
