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
_MAX_TITLE_CHARS = 300
_MAX_LINKS = 200
_MIN_MAIN_CHARS = 200
"""Characters from which a page's <main> counts as the whole page."""


@dataclass(frozen=True, slots=True)
class ReadableText:
    """A page as text: paragraphs are lines, headings begin with #, list items with -, and cells are separated by |."""

    title: str
    text: str
    links: tuple[tuple[str, str, str | None], ...] = ()
    """(address as written, words, language) of each link, including those of menus."""


def readable_text(html: str) -> ReadableText:
    """Returns the title, visible text and links of a page. Content hidden by a style or an attribute is left out."""
    reader = _PageTextTarget()
    read(html, reader)
    return reader.result()


class _PageTextTarget:
    """The parser's target: lxml calls its methods in the order of the markup, with an end for each start."""

    def __init__(self) -> None:
        self._title: list[str] = []
        self._heading: list[str] = []
        self._lines: list[str] = []
        self._menu_links: list[int] = []
        """For each line, its number of links if it consists of links only, else 0."""
        self._line_links = 0
        self._has_text_beside = False
        self._main_lines: list[str] = []
        self._line: list[str] = []
        self._open = {"title": 0, "main": 0, "h1": 0, "head": 0}
        self._hidden_depth = 0
        self._in_menu = False
        self._links: list[tuple[str, list[str], str | None]] = []
        self._is_in_link = False
        self._after_button = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        hidden = is_hidden(tag, attributes)
        if not hidden and (not self._hidden_depth or self._in_menu):
            self._begin_link(tag, attributes)
        if self._hidden_depth or tag in UNSEEN or hidden:
            # A menu is not part of the text, but its links are collected.
            self._in_menu = not hidden and (
                tag == "nav" if not self._hidden_depth else self._in_menu and tag not in UNSEEN
            )
            self._hidden_depth += 1
            return
        if tag in _BLOCKS:
            self._end_line()
        if tag not in IN_HEAD:
            self._open["head"] = 0
        if tag in self._open:
            self._open[tag] += 1
        self._line_links += tag == "a"
        # Buttons side by side are separate on the screen, even without space between them in the markup.
        self._line.append(" " if self._after_button and tag in _BUTTONS else _OPENING.get(tag, ""))

    def _begin_link(self, tag: str, attributes: Mapping[str, str]) -> None:
        address, language = attributes.get("href"), attributes.get("hreflang")
        is_link = tag == "a" or (tag == "link" and language is not None and "alternate" in attributes.get("rel", ""))
        if is_link and address and len(self._links) < _MAX_LINKS:
            self._links.append((address, [], language))
            self._is_in_link = tag == "a"

    def end(self, tag: str) -> None:
        if tag == "a":
            self._is_in_link = False
        self._after_button = tag in _BUTTONS
        if self._hidden_depth:
            self._hidden_depth -= 1
            return
        if tag in _BLOCKS:
            self._end_line()
        if self._open.get(tag):
            self._open[tag] -= 1

    def data(self, text: str) -> None:
        if self._is_in_link and (not self._hidden_depth or self._in_menu):
            self._links[-1][1].append(text)
        if self._hidden_depth:
            return
        self._after_button = False
        if self._open["title"]:
            self._title.append(text)
        elif not self._open["head"]:
            self._line.append(text)
            self._has_text_beside |= not self._is_in_link and any(map(str.isalnum, text))
            if self._open["h1"]:
                self._heading.append(text)

    def comment(self, text: str) -> None:
        """Skips a comment, which is not on the page."""

    def close(self) -> None:
        self._end_line()

    def result(self) -> ReadableText:
        title = " ".join("".join(self._title or self._heading).split())[:_MAX_TITLE_CHARS]
        main = "\n".join(self._main_lines)
        links = tuple((address, " ".join("".join(words).split()), language) for address, words, language in self._links)
        return ReadableText(title, main if len(main) >= _MIN_MAIN_CHARS else "\n".join(self._without_menus()), links)

    def _without_menus(self) -> list[str]:
        """Returns the lines without the lines of links before the page's first words and after its last ones."""
        first, end = 0, len(self._lines)
        while first < end and self._menu_links[first]:
            first += 1
        while end > first and self._menu_links[end - 1]:
            end -= 1
        first = first if sum(self._menu_links[:first]) >= MENU else 0
        has_heading = end > 0 and self._lines[end - 1].startswith("#")  # links under a heading of their own are content
        end = end if sum(self._menu_links[end:]) >= MENU and not has_heading else len(self._lines)
        return self._lines[first:end] or self._lines

    def _end_line(self) -> None:
        text = " ".join("".join(self._line).split()).strip("| ")
        self._line.clear()
        links, has_text_beside = self._line_links, self._has_text_beside
        self._line_links, self._has_text_beside = int(self._is_in_link), False
        if not text.strip("-#| "):
            return
        self._lines.append(text)
        self._menu_links.append(
            links if not has_text_beside and not text.startswith("#") and is_menu(text, links) else 0
        )
        if self._open["main"]:
            self._main_lines.append(text)
