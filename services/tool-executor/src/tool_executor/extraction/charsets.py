"""Decodes bytes: as UTF-8 if they are valid, else by the charset that the header or the document names, else as
Windows-1252. Pages that name ISO-8859-1 or ASCII are Windows-1252, too (WHATWG Encoding): they mean its € and “."""

import re

from contracts.plain_text import utf16_of

_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{1,40})", re.IGNORECASE)
_CHARSETS = re.compile(
    r"utf-?8|utf-16(?:le|be)?|iso-?8859-(?!1$)\d{1,2}|windows-125\d|cp125\d|koi8-[ru]|shift[_-]jis|euc-(?:jp|kr)|"
    r"gbk|gb2312|gb18030|big5",
    re.IGNORECASE,
)
"""The charsets that a page may name; Python also has codecs that are no charsets, and slow ones."""
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def decode(body: bytes, declared: str | None) -> str:
    """Returns the text. A byte order mark decides first; then valid UTF-8 is UTF-8, whatever charset is declared."""
    for mark, charset in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(charset, "replace")
    if declared is None and (match := _META_CHARSET.search(body[:2048])) is not None:
        declared = match[1].decode("ascii")
    if declared is not None and _CHARSETS.fullmatch(declared) is None:
        declared = None
    if declared is None:
        declared = utf16_of(body)
    if declared is None or not declared.lower().startswith("utf-16"):
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            pass
    if declared is not None:
        try:
            text = body.decode(declared, "replace")
        except LookupError:
            text = ""
        # A few broken bytes are tolerated; many mean that the declared charset is wrong.
        if text and text.count("\ufffd") <= 1 + len(text) // 500:
            return text
    return body.decode("windows-1252", "replace")
