"""Determines a file's kind from its content rather than its name, and refuses others with an explanation.

Accepted are pictures, PDF, plain text, Office documents and ZIP. Files that a browser would run, SVG and HTML, are
refused whatever their names. So are those that expand enormously: the unpacked size of archives and pictures is
checked.
"""

import codecs
import re
import struct
import zipfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from contracts.plain_text import utf16_of
from contracts.text import Text
from gateway.texts import TEXTS

HEAD_BYTES = 64 * 1024
"""Bytes at the beginning from which the kind is determined."""
MAX_PIXELS = 50_000_000
MAX_SEGMENTS = 500
"""Segments of a JPEG that may precede its frame header, such as thumbnails and colour profiles."""
MAX_UNPACKED_BYTES = 200 * 1024 * 1024
MAX_ENTRIES = 5_000
MAX_EXPANSION = 200
"""How many times as large as the archive its content may be."""
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Kinds shown inline."""
_OFFICE = {
    "word/": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    "xl/": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    "ppt/": ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
}
_ENDINGS = {
    "image/png": ("png",),
    "image/jpeg": ("jpg", "jpeg"),
    "image/gif": ("gif",),
    "image/webp": ("webp",),
    "application/pdf": ("pdf",),
    "application/zip": ("zip",),
    "text/plain": ("txt", "md", "csv", "tsv", "log", "json", "yaml", "yml"),
    **{media: (ending,) for media, ending in _OFFICE.values()},
}
ACCEPTED_TYPES = ("text/plain", *(media for media in _ENDINGS if media != "text/plain"))
"""The accepted media types."""
_TYPE_BY_ENDING = {ending: media for media, endings in _ENDINGS.items() for ending in endings}
# Possessive: many comments are matched once, without backtracking over the ways in which one can contain the next.
_WEB_PAGE = re.compile(
    r"^(?:\ufeff|\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*+<(?:!doctype\s+(?:html|svg)|html|head|body|script|svg|iframe|\?php)",
    re.IGNORECASE | re.DOTALL,
)
_TEXT_TYPES = frozenset({"application/json", "application/yaml", "application/x-yaml"})
"""Media types that are text, although their names do not begin with text/."""
_ENTRY_SIGNATURE = b"PK\x01\x02"
"""The bytes with which each entry of an archive's directory begins."""
_OUTSIDE = re.compile(r"^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)")
"""A path that leaves the folder into which an archive is unpacked."""
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class FileRefusedError(Exception):
    """The file is refused; `text` says why and what to do."""

    def __init__(self, text: Text, *, list_accepted: bool = False) -> None:
        """`list_accepted`: appends the list of accepted kinds to the text."""
        super().__init__(str(text))
        self.text = TEXTS["file.and_taken"].format(why=text, taken=TEXTS["file.taken"]) if list_accepted else text


@dataclass(frozen=True, slots=True)
class FileKind:
    """A file's media type, and the name under which it is stored."""

    type: str
    name: str


def detect_kind(content: BinaryIO, name: str) -> FileKind:
    """The file's kind by its content; raises FileRefusedError if it is not accepted or its name claims another kind."""
    content.seek(0)
    head = content.read(HEAD_BYTES)
    media = _media_type(head, content)
    ending = PurePosixPath(name).suffix[1:].lower()
    claimed = _TYPE_BY_ENDING.get(ending)
    if claimed is not None and claimed != media:
        raise FileRefusedError(
            TEXTS["file.other_content"].format(ending=ending, media=media),
            list_accepted=True,
        )
    if media in PICTURES:
        _check_pixels(content, head, media)
    # A name without a known ending gets the kind's own, so that a double click opens the file as what it is.
    return FileKind(media, name if claimed else f"{name}.{_ENDINGS[media][0]}")


def may_be_declared(media: str, declared: str) -> bool:
    """Whether content of the type `media` may be declared with the media type `declared`."""
    declared = declared.partition(";")[0].strip().lower()
    if declared in {media, "application/octet-stream", ""}:
        return True
    return media == "text/plain" and (declared.startswith("text/") or declared in _TEXT_TYPES)


def _media_type(head: bytes, content: BinaryIO) -> str:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    if head.startswith(b"PK\x03\x04"):
        return _archive_type(content)
    text = _text_of(head)
    if _WEB_PAGE.match(head.decode("latin-1") if text is None else text):
        raise FileRefusedError(TEXTS["file.web_page"])
    if text is not None:
        return "text/plain"
    raise FileRefusedError(TEXTS["file.not_taken"], list_accepted=True)


def _archive_type(content: BinaryIO) -> str:
    """The media type of a ZIP file. Its unpacked size is read from its directory; nothing is unpacked."""
    if _count_entries(content) > MAX_ENTRIES:
        raise FileRefusedError(TEXTS["file.too_many_inside"].format(most=MAX_ENTRIES))
    size = content.tell()
    try:
        with zipfile.ZipFile(content) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, UnicodeDecodeError) as error:  # the second if a name is not UTF-8
        raise FileRefusedError(TEXTS["file.damaged_archive"]) from error
    except RuntimeError as error:  # raised by zipfile for a version that it cannot read
        raise FileRefusedError(TEXTS["file.unreadable_archive"]) from error
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > min(MAX_UNPACKED_BYTES, MAX_EXPANSION * size):
        raise FileRefusedError(TEXTS["file.grows_too_large"])
    names = [entry.filename for entry in entries]
    if any(map(_OUTSIDE.search, names)):
        raise FileRefusedError(TEXTS["file.leads_out"])
    if "[Content_Types].xml" in names:
        for folder, (media, _) in _OFFICE.items():
            if any(name.startswith(folder) for name in names):
                return media
    return "application/zip"


def _count_entries(content: BinaryIO) -> int:
    """The number of directory entries in an archive and in the archives in it; the number that it states may be wrong.
    Leaves the content at its end."""
    content.seek(0)
    count, overlap = 0, b""
    while chunk := content.read(HEAD_BYTES):
        count += (overlap + chunk).count(_ENTRY_SIGNATURE)
        overlap = chunk[1 - len(_ENTRY_SIGNATURE) :]
    return count


def _text_of(head: bytes) -> str | None:
    """The beginning of a text in UTF-8, UTF-16 or an old 8-bit encoding; None if it is no text."""
    charset = utf16_of(head)
    try:
        # Unlike str.decode it accepts a character that is cut at the end.
        text = codecs.getincrementaldecoder(charset or "utf-8")().decode(head)
    except UnicodeDecodeError:
        text = head.decode("latin-1")
        return None if charset or _BINARY.search(text) or re.search(r"[\x80-\x9f]", text) else text
    return None if _BINARY.search(text) else text


def _check_pixels(content: BinaryIO, head: bytes, media: str) -> None:
    try:
        width, height = _jpeg_size(content) if media == "image/jpeg" else _size(head, media)
    except (struct.error, IndexError) as error:
        raise FileRefusedError(TEXTS["file.damaged_picture"]) from error
    if width * height > MAX_PIXELS:
        millions = MAX_PIXELS // 1_000_000
        raise FileRefusedError(TEXTS["file.too_many_points"].format(width=width, height=height, millions=millions))


def _size(head: bytes, media: str) -> tuple[int, int]:
    """Width and height in pixels; raises struct.error or IndexError if the head does not contain them."""
    match media:
        case "image/png":
            return struct.unpack_from(">II", head, 16)
        case "image/gif":
            return struct.unpack_from("<HH", head, 6)
        case _:
            return _webp_size(head)


def _webp_size(head: bytes) -> tuple[int, int]:
    match head[12:16]:
        case b"VP8X":
            width = int.from_bytes(head[24:27], "little") + 1
            return width, int.from_bytes(head[27:30], "little") + 1
        case b"VP8L":
            bits = struct.unpack_from("<I", head, 21)[0]
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            width, height = struct.unpack_from("<HH", head, 26)
            return width & 0x3FFF, height & 0x3FFF


def _jpeg_size(content: BinaryIO) -> tuple[int, int]:
    """Width and height from the frame header (ITU-T T.81, B.2.2), which follows segments that state their lengths."""
    content.seek(2)
    for _ in range(MAX_SEGMENTS):
        mark, kind, length = struct.unpack(">BBH", content.read(4))
        if mark != 0xFF or length < 2:
            break
        if 0xC0 <= kind <= 0xCF and kind not in {0xC4, 0xC8, 0xCC}:
            _, height, width = struct.unpack(">BHH", content.read(5))
            return width, height
        content.seek(length - 2, 1)
    raise struct.error("no frame header")
