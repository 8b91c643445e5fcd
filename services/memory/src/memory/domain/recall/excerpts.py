"""Cuts a long message to the part worth showing."""

from memory.domain.recall.words import sought, stems

CUT = "…"


def excerpt(text: str, question: str, most: int) -> str:
    """The text, or the part of `most` characters that has most of the question's words; a cut is visible."""
    if len(text) <= most:
        return text
    wanted = {stem for one in sought(question) for stem, _ in one.stems}
    room = most - 2 * len(CUT)
    starts = range(0, len(text), max(room // 2, 1))
    best = max(starts, key=lambda start: (len(wanted.intersection(stems(text[start : start + room]))), -start))
    begin = min(best, len(text) - room)
    if begin:
        begin = text.find(" ", begin, begin + 30) + 1 or begin
    part = text[begin : begin + room].rstrip()
    return f"{CUT if begin else ''}{part}{CUT if begin + room < len(text) else ''}"
