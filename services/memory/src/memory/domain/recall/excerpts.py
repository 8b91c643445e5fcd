"""Cuts a long message to the part worth showing."""

from memory.domain.recall.words import query_terms, stems

CUT = "…"


def excerpt(text: str, question: str, max_length: int) -> str:
    """Returns the text, or the part of `max_length` characters that contains most of the question's words, with marks
    where it is cut."""
    if len(text) <= max_length:
        return text
    wanted_stems = {stem for term in query_terms(question) for stem, _ in term.stems}
    length = max_length - 2 * len(CUT)
    starts = range(0, len(text), max(length // 2, 1))
    best_start = max(
        starts, key=lambda start: (len(wanted_stems.intersection(stems(text[start : start + length]))), -start)
    )
    begin = min(best_start, len(text) - length)
    if begin:
        begin = text.find(" ", begin, begin + 30) + 1 or begin
    part = text[begin : begin + length].rstrip()
    return f"{CUT if begin else ''}{part}{CUT if begin + length < len(text) else ''}"
