"""Splits plain text into paragraphs."""

import re
from collections.abc import Iterator

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_MAX_LINES = 40
"""The most lines of a paragraph; a longer one is split."""


def paragraphs(text: str) -> Iterator[str]:
    """Splits a text at blank lines, and longer paragraphs, such as a page of a PDF, after every 40 lines."""
    for part in _BLANK_LINE.split(text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")):
        lines = [line for line in (" ".join(line.split()) for line in part.split("\n")) if line]
        for start in range(0, len(lines), _MAX_LINES):
            yield "\n".join(lines[start : start + _MAX_LINES])
