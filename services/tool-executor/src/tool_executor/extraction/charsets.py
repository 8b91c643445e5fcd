"""Decodes bytes: as UTF-8 if they are valid, else by the charset that the header or the document names, else as
Windows-1252."""

import re

_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{1,40})", re.IGNORECASE)
_CHARSETS = re.compile(
    r"utf-?8|utf-16(?:le|be)?|us-ascii|ascii|iso-?8859-\d{1,2}|latin-?1|windows-125\d|cp125\d|koi8-[ru]|shift[_-]jis|"
    r"euc-(?:jp|kr)|gbk|gb2312|gb18030|big5",
    re.IGNORECASE,
)
"""Python knows codecs that are no charsets, and slow ones: a page may name only these."""
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def decoded(body: bytes, named: str | None) -> str:
    """The text. A byte order mark is believed first, and a wrong name not at all: what is valid UTF-8 is UTF-8."""
    for mark, charset in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(charset, "replace")
    if named is None and (found := _META_CHARSET.search(body[:2048])) is not None:
        named = found[1].decode("ascii")
    if named is not None and _CHARSETS.fullmatch(named) is None:
        named = None
    if named is None or not named.lower().startswith("utf-16"):
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            pass
    if named is not None:
        try:
            text = body.decode(named, "replace")
        except LookupError:
            text = ""
        # One broken byte is a slip; many are a charset that was never true.
        if text and text.count("\ufffd") <= 1 + len(text) // 500:
            return text
    return body.decode("windows-1252", "replace")
