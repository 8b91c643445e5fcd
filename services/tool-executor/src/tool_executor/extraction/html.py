"""Reads a stream of HTML events into blocks: text, lists, tables with whole rows, code, each below its headings.

What is visible is kept in reading order, without cookie banners and menus: nav, and links alone in header or footer,
before the first words or after the main part. What repeats on most pages is dropped later, by code that sees them all.
"""

import re
from collections.abc import Mapping

from contracts.knowledge import Block
from runtime.documents.document_language import language_of
from tool_executor.extraction.document import MAX_TITLE_CHARS, Extracted, bounded_blocks, plain_text
from tool_executor.extraction.markup import (
    BLOCKS,
    MENU,
    UNSEEN,
    are_separate_words,
    full_lines,
    is_hidden,
    is_label,
    is_menu,
    one_line,
    read,
    tags,
)
from tool_executor.extraction.page_head import MAX_HEADING_CHARS, PageHead
from tool_executor.extraction.tables import Table

_UNSEEN_ROLES = tags("navigation search dialog alertdialog menu menubar")
_BLOCKS = BLOCKS | {"option"}
_HEADINGS = {f"h{level}": level for level in range(1, 7)} | {"summary": 7, "button": 7, "dt": 8}
"""Levels of headings. A summary, a button or a defined term is the heading of its answer."""
_DISCLOSURE_ATTRIBUTES = ("aria-controls", "aria-expanded")
"""Attributes of a button that shows and hides text."""
_BUTTON_LEVEL = _HEADINGS["button"]
_BOLD_TAGS = tags("b strong")
_RAISED_TAGS = tags("sub sup")
_HEADING_SCOPES = {"details": 7, "dl": 8}
"""Elements that end headings, each with the lowest level that it ends."""
_SECTION_TAGS = tags("article section aside")
"""Elements that end the headings inside them, except the page's own (level 1)."""
_FRAME_TAGS = tags("header footer")
_FRAME_ROLES = tags("banner contentinfo")
"""Roles of the page's header and footer, unless they are inside a section of the page."""
_PERMALINK = re.compile(r"(?<!\s)\s*+[¶#🔗]\s*+$")


def extract_html(html: str) -> Extracted:
    """Returns the text of a page and what its metadata say to crawlers."""
    reader = _Reader()
    read(html, reader)
    return reader.result()


class _Reader:
    """The parser's target: lxml calls its methods in the order of the markup, an end for each start."""

    def __init__(self) -> None:
        self.page = Extracted(title="", language=None, blocks=[])
        self._page_head = PageHead(self.page)
        self._text: list[str] = []
        self._headings: list[tuple[int, str]] = []
        self._heading: list[str] | None = None
        self._anchor: str | None = None
        self._heading_id: str | None = None
        self._is_heading_empty = False
        """Whether the last heading has no text below it yet."""
        self._outer_headings: list[list[tuple[int, str]]] = []
        self._items: list[tuple[str, int]] = []
        """The texts of list items, each with the number of links if it consists of links alone, else 0."""
        self._list_depth = 0
        self._tables: list[Table] = []
        self._code_depth = 0
        self._unseen_depth = 0
        self._open_elements = 0
        """The number of visible elements that are open."""
        self._button_text: list[str] | None = None
        self._button_unfolds = False
        self._controlled_ids: set[str] = set()
        """Ids of elements that a button shows when pressed; they are read although they are hidden now."""
        self._is_tab = False
        self._tab_texts: list[str] = []
        """The labels of tabs whose panels have not started yet."""
        self._bold_depth = 0
        self._has_plain_text = False
        """Whether the current block has text that is not bold."""
        self._is_after_tag = False
        self._button_heading_depth: int | None = None
        """The number of elements that were open around the last heading made from a button, tab or label, if any."""
        self._link_depth = 0
        self._link_count = 0
        """The number of links in the current block."""
        self._has_unlinked_text = False
        """Whether the current block has text outside its links."""
        self._menu_entries: list[int] = []
        """For each block, the number of links if it consists of links alone and is outside the main part, else 0."""
        self._frame_depth: int | None = None
        self._main_depth: int | None = None
        """The number of elements that were open at the start of the page's header or footer, and of its main part."""
        self._has_main = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in {"a", "link", "area"}:
            self._page_head.add_link(attributes)
        # A link within the page before any text skips the menu.
        has_text = bool(self.page.blocks or self._headings or self._heading is not None)
        is_skip_link = tag == "a" and not has_text and attributes.get("href", "").startswith("#")
        is_invisible = is_hidden(tag, attributes) and not self._is_shown_by_button(tag, attributes)
        if tag == "script":
            self._page_head.start_script(attributes)
        role = attributes.get("role")
        # A label in the page's header or footer is of a choice of language, or of a switch.
        is_unseen = tag in UNSEEN or role in _UNSEEN_ROLES or (self._frame_depth is not None and tag == "label")
        if self._unseen_depth or is_skip_link or is_invisible or is_unseen:
            self._unseen_depth += 1
            return
        self._open_elements += 1
        if self._button_text is not None:
            return
        self._page_head.start(tag, attributes)
        if tag in _BLOCKS:
            self._flush()
        self._note_frame(tag, attributes)
        if tag == "a":
            self._link_depth, self._link_count = self._link_depth + 1, self._link_count + 1
        self._bold_depth += tag in _BOLD_TAGS
        self._is_after_tag = tag not in _RAISED_TAGS
        if role == "tablist":
            self._tab_texts.clear()
        elif role == "tabpanel" and self._tab_texts:
            self._start_section(self._tab_texts.pop(0))
        if tag == "button":
            self._controlled_ids.update(attributes.get("aria-controls", "").split())
            self._is_tab = role == "tab"
            if self._heading is None:
                self._button_text, self._button_unfolds = [], any(name in attributes for name in _DISCLOSURE_ATTRIBUTES)
        elif tag in _HEADINGS:
            self._emit_list()
            self._heading, self._heading_id = [], attributes.get("id") or self._heading_id
            self._mark_layout_table()
        elif tag == "footer":
            self._end_empty_heading(0)
            self._headings = []
        elif tag in _SECTION_TAGS or (tag == "a" and self._heading is not None):
            # The id of an element around the whole page says nothing about the place on it.
            self._heading_id = attributes.get("id") or attributes.get("name") or self._heading_id
        elif tag == "table":
            self._emit_list()
            self._mark_layout_table()
            self._tables.append(Table())
        elif tag in {"ul", "ol"}:
            self._list_depth += 1
        elif tag == "pre":
            self._code_depth += 1
        elif tag == "br":
            self._text.append("\n")
        if tag in _SECTION_TAGS:
            self._outer_headings.append(list(self._headings))
        if self._tables:
            self._tables[-1].start(tag, attributes)

    def end(self, tag: str) -> None:
        if self._unseen_depth:
            self._unseen_depth -= 1
            if tag == "script":
                self._page_head.end_script()
            return
        self._open_elements -= 1
        if self._button_text is not None and tag != "button":
            return
        if tag == "a" and self._link_depth:
            self._link_depth -= 1
        self._bold_depth -= tag in _BOLD_TAGS and self._bold_depth > 0
        self._is_after_tag = tag not in _RAISED_TAGS
        self._page_head.end(tag)
        if tag == "button":
            self._end_button()
        elif tag in _HEADINGS:
            self._end_heading(_HEADINGS[tag])
        elif tag in {"td", "th"} and self._tables:
            self._flush()
            self._tables[-1].end_cell()
        elif tag in _BLOCKS:
            self._flush()
        if tag in _SECTION_TAGS and self._outer_headings:
            self._end_empty_heading(0)
            outer = self._outer_headings.pop()
            self._headings = [heading for heading in self._headings if heading in outer or heading[0] == 1]
        if tag in _HEADING_SCOPES:
            self._end_empty_heading(_HEADING_SCOPES[tag])
            self._headings = [(level, text) for level, text in self._headings if level < _HEADING_SCOPES[tag]]
        elif tag in {"ul", "ol"} and self._list_depth:
            self._list_depth -= 1
            if not self._list_depth:
                self._emit_list()
        elif tag == "pre" and self._code_depth:
            self._code_depth -= 1
        elif tag == "table" and self._tables:
            self._end_table()
        self._end_button_heading()
        if self._frame_depth is not None and self._open_elements < self._frame_depth:
            self._frame_depth = None
        if self._main_depth is not None and self._open_elements < self._main_depth:
            self._main_depth = None

    def data(self, text: str) -> None:
        if self._unseen_depth:
            self._page_head.add_script_text(text)
            return
        if self._button_text is not None:
            self._button_text.append(text)
            return
        if not self._page_head.take_head_text(text):
            # Whitespace of the markup collapses to one space; only that of code is kept.
            piece = text if self._code_depth else re.sub(r"\s+", " ", text)
            before = self._text[-1][-1:] if self._text and self._is_after_tag and not self._code_depth else ""
            self._text += [" ", piece] if are_separate_words(before, piece) else [piece]
            self._is_after_tag = False
            has_words = any(map(str.isalnum, text))
            self._has_unlinked_text |= not self._link_depth and has_words
            self._has_plain_text |= not self._bold_depth and has_words

    def comment(self, text: str) -> None:
        """Skips a comment, which is not on the page."""

    def close(self) -> None:
        while self._tables:
            self._end_table()
        self._flush()
        self._emit_list()
        self._end_empty_heading(2)

    def result(self) -> Extracted:
        page = self.page
        self._drop_menus()
        # In the order of the page: a set has no order, and the same page would get different titles and hashes.
        top_headings = list(dict.fromkeys(block.headings[0] for block in page.blocks if block.headings))
        title = self._page_head.title or next(iter(top_headings), "")
        page.title = title[:MAX_TITLE_CHARS]
        # The only top heading of a page nearly always repeats its title.
        if len(top_headings) == 1 and top_headings[0].casefold() in title.casefold():
            for block in page.blocks:
                if block.headings[:1] == top_headings:
                    block.headings.pop(0)
        page.blocks += self._page_head.missing_answers()
        page.blocks = list(bounded_blocks(page.blocks))
        page.language = language_of(plain_text(page.blocks[:200]), self._page_head.language)
        return page

    # ------------------------------------------------------------ menus

    def _note_frame(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Notes the start of the page's header, footer or main part."""
        if self._main_depth is not None:
            return
        role = attributes.get("role")
        if tag == "main" or role == "main":
            self._main_depth, self._has_main = self._open_elements, True
        elif self._frame_depth is None and not self._outer_headings and (tag in _FRAME_TAGS or role in _FRAME_ROLES):
            self._frame_depth = self._open_elements

    def _take_menu_entries(self, text: str) -> int:
        """Returns the number of links if the text consists of links alone, as in a menu, else 0; restarts the count."""
        links, has_unlinked_text = self._link_count, self._has_unlinked_text
        self._link_count, self._has_unlinked_text = self._link_depth, False
        looks_like_menu = not has_unlinked_text and is_menu(text, links)
        return links if looks_like_menu and self._main_depth is None and not self._outer_headings else 0

    def _drop_menus(self) -> None:
        """Drops blocks of links alone before the first other text, and those after the main part."""
        blocks, entries = self.page.blocks, self._menu_entries
        first = 0
        while first < len(blocks) and entries[first] and not blocks[first].headings:
            first += 1
        end = len(blocks)
        while self._has_main and end > first + 1 and entries[end - 1]:
            if blocks[end - 1].headings != blocks[end - 2].headings:
                break  # links below a heading of their own are content
            end -= 1
        if sum(entries[end:]) >= MENU:
            del blocks[end:]
        if sum(entries[:first]) >= MENU and first < len(blocks):
            del blocks[:first]

    def _flush(self) -> None:
        """Ends the current block: a paragraph, a list item, or a part of a cell."""
        text = "".join(self._text)
        self._text.clear()
        entries = self._take_menu_entries(one_line(text))
        is_bold, self._has_plain_text = not self._has_plain_text, False
        if self._heading is not None:
            self._heading.append(text)
            return
        text = text.strip("\n").rstrip() if self._code_depth else full_lines(text)
        if not text.strip():
            return
        if entries and self._frame_depth is not None:
            if self._headings and self._headings[-1][0] > 1:
                self._is_heading_empty = False  # the heading of a menu is dropped with the menu
            return
        if self._tables and self._tables[-1].add(text):
            return
        if self._code_depth:
            self._emit(Block(kind="code", text=text))
        elif self._list_depth:
            self._items.append((text.replace("\n", " "), entries))
        elif not (self._tables or entries or self._is_in_definition()) and is_label(text, bold=is_bold):
            self._start_section(text)
        else:
            self._emit(Block(text=text), entries)

    def _is_in_definition(self) -> bool:
        """Whether the text is below a defined term: a question there is part of the definition."""
        return bool(self._headings) and self._headings[-1][0] > _BUTTON_LEVEL

    def _is_shown_by_button(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether a hidden element appears when the button above it, or its tab, is pressed."""
        if attributes.get("id") in self._controlled_ids or attributes.get("role") == "tabpanel":
            return True
        last_level = [level for level, _ in self._headings[-1:]]
        return tag in _BLOCKS and self._is_heading_empty and last_level == [_BUTTON_LEVEL]

    def _emit(self, block: Block, entries: int = 0) -> None:
        headings = [text for _, text in self._headings]
        self.page.blocks.append(block.model_copy(update={"headings": headings, "anchor": self._anchor}))
        self._menu_entries.append(entries)
        self._is_heading_empty = False

    def _end_empty_heading(self, level: int) -> None:
        """Turns the last heading into text if there is nothing below it, such as the heading of a card."""
        if self._is_heading_empty and self._headings and self._headings[-1][0] >= level:
            _, text = self._headings.pop()
            self._emit(Block(text=text))

    def _emit_list(self) -> None:
        if self._items:
            items, self._items = self._items, []
            entries = sum(links for _, links in items) if all(links for _, links in items) else 0
            self._emit(Block(kind="list", text="\n".join(text for text, _ in items)), entries)

    def _end_heading(self, level: int) -> None:
        self._flush()
        if self._heading is None:
            return
        text = _PERMALINK.sub("", one_line(" ".join(self._heading)))[:MAX_HEADING_CHARS]
        self._heading = None
        if text:
            self._end_empty_heading(level)
            self._headings = [(other, heading) for other, heading in self._headings if other < level]
            self._headings.append((level, text))
            self._is_heading_empty = True
            self._anchor, self._heading_id = self._heading_id or self._anchor, None

    def _end_button(self) -> None:
        """Makes a button that unfolds text or asks a question a heading; labels of other buttons are dropped."""
        if self._button_text is None:
            return
        text, self._button_text = one_line("".join(self._button_text)), None
        if self._is_tab:
            self._tab_texts.append(text)
        elif self._button_unfolds or text.endswith("?"):
            self._flush()
            self._mark_layout_table()
            self._start_section(text)

    def _start_section(self, text: str) -> None:
        """Starts a section with this heading; it ends with the element that contains the heading."""
        self._emit_list()
        self._heading = [text]
        self._end_heading(_BUTTON_LEVEL)
        self._button_heading_depth = self._open_elements

    def _end_button_heading(self) -> None:
        """Ends such a heading at the end of the element that contains it and the text below it."""
        if self._button_heading_depth is None or self._open_elements >= self._button_heading_depth:
            return
        if self._is_heading_empty:
            self._button_heading_depth = self._open_elements
        else:
            self._headings = [(level, text) for level, text in self._headings if level < _BUTTON_LEVEL]
            self._button_heading_depth = None

    def _end_table(self) -> None:
        self._flush()
        table = self._tables.pop()
        blocks = table.end()
        for block in blocks:
            self._emit(block)
        if not blocks:
            self._emit_layout_table(table)

    def _mark_layout_table(self) -> None:
        """Marks the innermost open table as layout; the tables around it were marked when it started."""
        if self._tables and not self._tables[-1].is_layout:
            self._emit_layout_table(self._tables[-1])

    def _emit_layout_table(self, table: Table) -> None:
        """Emits the content of a table that contains headings, tables or one column as plain text: it is layout."""
        for text in table.give_up():
            self._emit(Block(text=text))
