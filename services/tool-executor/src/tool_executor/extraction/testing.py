"""Documents that tests make: a PDF by hand, a DOCX by its library."""

import io
import struct
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import docx as _docx  # pyright: ignore[reportMissingTypeStubs]


def pdf_of(
    pages: Sequence[Sequence[str]], outline: Sequence[tuple[str, int]] = (), *, encrypted: bool = False
) -> bytes:
    """Returns a PDF with these lines on its pages. `outline`: titles, each with the index of its page."""
    objects: list[bytes] = []

    def add(body: str | bytes) -> int:
        objects.append(body.encode("cp1252") if isinstance(body, str) else body)
        return len(objects)

    font = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    parent = len(pages) * 2 + 2
    kids: list[int] = []
    for lines in pages:
        operators = "".join(f"({_escaped(line)}) Tj T*\n" for line in lines)
        stream = zlib.compress(f"BT /F1 11 Tf 14 TL 50 780 Td\n{operators}ET".encode("cp1252"))
        content = add(b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(stream) + stream + b"\nendstream")
        kids.append(
            add(
                f"<< /Type /Page /Parent {parent} 0 R /MediaBox [0 0 595 842] "
                f"/Resources << /Font << /F1 {font} 0 R >> >> /Contents {content} 0 R >>"
            )
        )
    add(f"<< /Type /Pages /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] /Count {len(kids)} >>")
    root = f"<< /Type /Catalog /Pages {parent} 0 R"
    if outline:
        first, last = parent + 2, parent + 1 + len(outline)
        add(f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {len(outline)} >>")
        for number, (title, page) in enumerate(outline, first):
            siblings = (f"/Prev {number - 1} 0 R " if number > first else "") + (
                f"/Next {number + 1} 0 R " if number < last else ""
            )
            add(f"<< /Title ({_escaped(title)}) /Parent {parent + 1} 0 R {siblings}/Dest [{kids[page]} 0 R /Fit] >>")
        root += f" /Outlines {parent + 1} 0 R"
    catalog = add(root + " >>")
    trailer = f"/Root {catalog} 0 R"
    if encrypted:  # a standard handler whose keys fit no password
        key = "".join("%02x" % (7 * n % 256) for n in range(32))
        crypt = add(f"<< /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>")
        trailer += f" /Encrypt {crypt} 0 R /ID [<{key}> <{key}>]"
    return _file(objects, trailer)


def _file(objects: Sequence[bytes], trailer: str) -> bytes:
    pdf = bytearray(b"%PDF-1.4\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(pdf))
        pdf += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(pdf)
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    pdf += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    pdf += f"trailer << /Size {len(objects) + 1} {trailer} >>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(pdf)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def docx_of(*parts: tuple[str, Any]) -> bytes:
    """Returns a DOCX. Each part is a paragraph (style, text) or a table ("table", rows)."""
    document: Any = _docx.Document()
    for style, content in parts:
        if style == "table":
            table = document.add_table(rows=0, cols=len(content[0]))
            for row in content:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
        else:
            document.add_paragraph(content, style=style)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def docx_with(*, version: int = 20, encrypted: bool = False, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Returns a DOCX whose archive declares this version, encryption and compression for each of its files."""
    docx = bytearray(docx_of(("Normal", "x")))
    for signature, offset in ((b"PK\x03\x04", 4), (b"PK\x01\x02", 6)):
        position = docx.find(signature)
        while position >= 0:
            struct.pack_into("<HHH", docx, position + offset, version, int(encrypted), compression)
            position = docx.find(signature, position + 4)
    return bytes(docx)


def docx_damaged() -> bytes:
    """Returns a DOCX in which some bytes of the text are overwritten."""
    docx = bytearray(docx_of(("Normal", "x")))
    with zipfile.ZipFile(io.BytesIO(docx)) as archive:
        start = archive.getinfo("word/document.xml").header_offset + 60
    docx[start : start + 20] = b"\xff" * 20
    return bytes(docx)


def docx_bomb(megabytes: int) -> bytes:
    """Returns a small archive whose document unpacks to this many megabytes."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(docx_of(("Normal", "x")))) as plain,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb,
    ):
        for name in plain.namelist():
            body = plain.read(name)
            if name == "word/document.xml":
                body = body.replace(b"</w:body>", b"<!--" + b" " * (megabytes * 1024 * 1024) + b"--></w:body>")
            bomb.writestr(name, body)
    return file.getvalue()
