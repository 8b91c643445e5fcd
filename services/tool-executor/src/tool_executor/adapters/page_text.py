"""Extracts readable text from HTML while it streams by (extraction/markup.py).

Libraries such as trafilatura and readability guess which part of an article matters, and drop a site's pricing table
first. So everything visible is kept in reading order, with headings, list items and table cells marked. Only menus are
left out: nav, and links alone before the first words or after the last.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tool_executor.extraction.markup import BLOCKS, IN_HEAD, MENU, UNSEEN, is_hidden, is_menu, read

_BLOCKS = BLOCKS | {"br"}
_OPENING = {f"h{level}": "#" * level + " " for level in range(1, 7)} | {"li": "- ", "td": " | ", "th": " | "}
_BUTTONS = frozenset(("a", "button"))
_LONGEST_TITLE = 300
_MOST_LINKS = 200
_ENOUGH = 200
"""Characters from which on a page's <main> is believed to hold the page."""


@dataclass(frozen=True, slots=True)
class ReadableText:
    """Paragraphs are lines; headings begin with #, list items with -, cells are parted by |."""

    title: str
    text: str
    links: tuple[tuple[str, str, str | None], ...] = ()
    """(address as written, words, language) of what it leads to, menus included."""


def readable_text(html: str) -> ReadableText:
    """The title and the visible text of a page. What a style or an attribute hides from people is left out."""
    reader = _PageTextTarget()
    read(html, reader)
    return reader.result()


class _PageTextTarget:
    """The parser's target: lxml calls its methods in the order of the markup, each start with its end."""

    def __init__(self) -> None:
        self._title: list[str] = []
        self._heading: list[str] = []
        self._lines: list[str] = []
        self._entries: list[int] = []
        """For each line, the number of links that make up all of it; 0 if it says more."""
        self._line_links = 0
        self._beside_links = False
        self._main_lines: list[str] = []
        self._line: list[str] = []
        self._open = {"title": 0, "main": 0, "h1": 0, "head": 0}
        self._unseen = 0
        self._in_menu = False
        self._links: list[tuple[str, list[str], str | None]] = []
        self._linking = False
        self._parted = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        hidden = is_hidden(attributes)
        if not hidden and (not self._unseen or self._in_menu):
            self._begin_link(tag, attributes)
        if self._unseen or tag in UNSEEN or hidden:
            # A menu's words are no text of the page, and yet it says which pages there are.
            self._in_menu = not hidden and (tag == "nav" if not self._unseen else self._in_menu and tag not in UNSEEN)
            self._unseen += 1
            return
        if tag in _BLOCKS:
            self._end_line()
        if tag not in IN_HEAD:
            self._open["head"] = 0
        if tag in self._open:
            self._open[tag] += 1
        self._line_links += tag == "a"
        # Buttons that stand side by side are apart on the screen, whatever the markup has between them.
        self._line.append(" " if self._parted and tag in _BUTTONS else _OPENING.get(tag, ""))

    def _begin_link(self, tag: str, attributes: Mapping[str, str]) -> None:
        address, language = attributes.get("href"), attributes.get("hreflang")
        named = tag == "a" or (tag == "link" and language is not None and "alternate" in attributes.get("rel", ""))
        if named and address and len(self._links) < _MOST_LINKS:
            self._links.append((address, [], language))
            self._linking = tag == "a"

    def end(self, tag: str) -> None:
        if tag == "a":
            self._linking = False
        self._parted = tag in _BUTTONS
        if self._unseen:
            self._unseen -= 1
            return
        if tag in _BLOCKS:
            self._end_line()
        if self._open.get(tag):
            self._open[tag] -= 1

    def data(self, text: str) -> None:
        if self._linking and (not self._unseen or self._in_menu):
            self._links[-1][1].append(text)
        if self._unseen:
            return
        self._parted = False
        if self._open["title"]:
            self._title.append(text)
        elif not self._open["head"]:
            self._line.append(text)
            self._beside_links |= not self._linking and any(map(str.isalnum, text))
            if self._open["h1"]:
                self._heading.append(text)

    def comment(self, text: str) -> None:
        """Skips a comment, which is not on the page."""

    def close(self) -> None:
        self._end_line()

    def result(self) -> ReadableText:
        title = " ".join("".join(self._title or self._heading).split())[:_LONGEST_TITLE]
        main = "\n".join(self._main_lines)
        links = tuple((address, " ".join("".join(words).split()), lang) for address, words, lang in self._links)
        return ReadableText(title, main if len(main) >= _ENOUGH else "\n".join(self._without_menus()), links)

    def _without_menus(self) -> list[str]:
        """The lines without the links that stand alone before the page's first words and after its last."""
        first, end = 0, len(self._lines)
        while first < end and self._entries[first]:
            first += 1
        while end > first and self._entries[end - 1]:
            end -= 1
        first = first if sum(self._entries[:first]) >= MENU else 0
        headed = end > 0 and self._lines[end - 1].startswith("#")  # they are what their own heading tells
        end = end if sum(self._entries[end:]) >= MENU and not headed else len(self._lines)
        return self._lines[first:end] or self._lines

    def _end_line(self) -> None:
        text = " ".join("".join(self._line).split()).strip("| ")
        self._line.clear()
        links, beside = self._line_links, self._beside_links
        self._line_links, self._beside_links = int(self._linking), False
        if not text.strip("-#| "):
            return
        self._lines.append(text)
        self._entries.append(links if not beside and not text.startswith("#") and is_menu(text, links) else 0)
        if self._open["main"]:
            self._main_lines.append(text)
