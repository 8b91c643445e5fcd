"""Splits a text into sentences, and the row of a table into cells."""

from collections.abc import Iterator

from contracts.expressions import expression

_END = expression(
    r"(?<=[.!?…])(?<!\bvs\.)(?<!\bapprox\.)(?<!\baprox\.)(?<!\bU\.S\.)(?<!\bEE\.)(?<!\bInc\.)(?<!\bNo"
    r"\.)(?<!\A\d\.)(?<!\n\d\.)(?<!\n\d\d\.)[\"”»)]?\s+(?=[^\d\s])|\n+"
)


def cells_of(row: str) -> tuple[str, ...]:
    """The cells of a table's row; empty if the text is no row."""
    stripped = row.strip()
    return tuple(cell.strip(" *_`") for cell in stripped.strip("|").split("|")) if stripped.count("|") > 1 else ()


def sentences(text: str) -> Iterator[tuple[str, str]]:
    """Yields each sentence with the space after it."""
    start = 0
    for match in _END.finditer(text):
        yield text[start : match.start()], match[0]
        start = match.end()
    yield text[start:], ""
