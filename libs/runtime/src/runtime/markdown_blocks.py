"""Plain text and Markdown as the blocks of a document (contracts.knowledge.Block): headings, paragraphs, lists, tables
of pipes, code. What is no Markdown is paragraphs."""

import re
from collections.abc import Iterator

from contracts.knowledge import Block

_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_ITEM = re.compile(r"^\s{0,6}(?:[-*+•]|\d{1,3}[.)])\s+(.*)$")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_NOT_ANCHOR = re.compile(r"[^\w\- ]+")


def blocks(text: str) -> list[Block]:
    """The blocks in order, each with the headings above it."""
    return list(_read(text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").split("\n")))


def anchor(heading: str) -> str:
    """The anchor that Markdown's renderers give a heading."""
    return _NOT_ANCHOR.sub("", heading.lower()).strip().replace(" ", "-")[:300]


def _read(lines: list[str]) -> Iterator[Block]:
    above: list[tuple[int, str]] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
            continue
        if found := _HEADING.match(line):
            depth = len(found[1])
            above = [one for one in above if one[0] < depth] + [(depth, found[2])]
            place += 1
            continue
        headings = [name for _, name in above]
        at = anchor(headings[-1]) if headings else None
        if _FENCE.match(line):
            end = next((n for n in range(place + 1, len(lines)) if _FENCE.match(lines[n])), len(lines))
            yield Block(kind="code", headings=headings, anchor=at, text="\n".join(lines[place + 1 : end]))
            place = end + 1
        elif "|" in line and place + 1 < len(lines) and _RULE.match(lines[place + 1]) and "|" in lines[place + 1]:
            rows = [_cells(line)]
            place += 2
            while place < len(lines) and "|" in lines[place]:
                rows.append(_cells(lines[place]))
                place += 1
            yield Block(kind="table", headings=headings, anchor=at, rows=rows)
        elif _ITEM.match(line):
            items: list[str] = []
            while place < len(lines) and lines[place].strip() and not _HEADING.match(lines[place]):
                if item := _ITEM.match(lines[place]):
                    items.append(item[1].strip())
                else:
                    items[-1] += " " + lines[place].strip()
                place += 1
            yield Block(kind="list", headings=headings, anchor=at, text="\n".join(items))
        else:
            start = place
            while place < len(lines) and lines[place].strip() and not _starts(lines[place]):
                place += 1
            place = max(place, start + 1)
            yield Block(headings=headings, anchor=at, text=" ".join(one.strip() for one in lines[start:place]))


def _starts(line: str) -> bool:
    return bool(_HEADING.match(line) or _ITEM.match(line) or _FENCE.match(line))


def _cells(line: str) -> list[str]:
    bare = line.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(bare)]
