"""Splits plain text into paragraphs."""

import re
from collections.abc import Iterator

_BLANK = re.compile(r"\n[ \t]*\n")
_LINES = 40
"""Lines of a text without blank lines that are taken together."""


def paragraphs(text: str) -> Iterator[str]:
    """Split at blank lines; a text without any, such as a page of a PDF, is split into its lines."""
    for part in _BLANK.split(text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")):
        lines = [line for line in (" ".join(line.split()) for line in part.split("\n")) if line]
        for start in range(0, len(lines), _LINES):
            yield "\n".join(lines[start : start + _LINES])
