"""Splits a text into sentences, and the row of a table into cells."""

import re
from collections.abc import Iterator

_END = re.compile(
    r"(?<=[.!?…])(?<!\bvs\.)(?<!\bapprox\.)(?<!\baprox\.)(?<!\bU\.S\.)(?<!\bEE\.)(?<!\bInc\.)(?<!\bNo"
    r"\.)(?<!\A\d\.)(?<!\n\d\.)(?<!\n\d\d\.)[\"”»)]?\s+(?=[^\d\s])|\n+"
)


def cells_of(row: str) -> tuple[str, ...]:
    """The cells of a table's row; none where it is no row."""
    bare = row.strip()
    return tuple(cell.strip(" *_`") for cell in bare.strip("|").split("|")) if bare.count("|") > 1 else ()


def sentences(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence, and the space after it."""
    at = 0
    for match in _END.finditer(text):
        yield text[at : match.start()], match[0]
        at = match.end()
    yield text[at:], ""
