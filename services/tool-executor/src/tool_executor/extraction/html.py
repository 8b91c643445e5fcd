"""Reads a stream of HTML events into blocks: text, lists, tables with whole rows, code, each below its headings.

Everything visible is kept in reading order. Menus are left out: nav, and links alone in the header or footer, before
the first words or after the main part. What repeats on most pages is dropped later, by the code that sees them all.
"""

import re
from collections.abc import Mapping

from contracts.knowledge import Block
from runtime.documents.document_language import language_of
from tool_executor.extraction.document import MAX_TITLE_CHARS, Extracted, bounded_blocks
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
from tool_executor.extraction.page_head import LONGEST_HEADING, PageHead
from tool_executor.extraction.tables import Table

_UNSEEN_ROLES = tags("navigation search dialog alertdialog menu menubar")
_BLOCKS = BLOCKS | {"option"}
_HEADINGS = {f"h{level}": level for level in range(1, 7)} | {"summary": 7, "button": 7, "dt": 8}
"""A question that is unfolded, or defined, heads its answer."""
_UNFOLDS = ("aria-controls", "aria-expanded")
"""Attributes of a button that shows and hides a text."""
_UNFOLDED = _HEADINGS["button"]
_BOLD = tags("b strong")
_RAISED = tags("sub sup")
_ENDS = {"details": 7, "dl": 8}
"""The elements that end such a heading."""
_APART = tags("article section aside")
"""The text below a heading in such a part ends with the part; the page's own heading goes on."""
_FRAME = tags("header footer")
_FRAME_ROLES = tags("banner contentinfo")
"""The roles of elements that frame the page's own words, unless they belong to a part of the page."""
_PERMALINK = re.compile(r"(?<!\s)\s*+[¶#🔗]\s*+$")


def extract_html(html: str) -> Extracted:
    """The text of a page, and what its metadata tell readers like this one."""
    reader = _Reader()
    read(html, reader)
    return reader.result()


class _Reader:
    """The parser's target: lxml calls its methods in the order of the markup, each start with its end."""

    def __init__(self) -> None:
        self.page = Extracted(title="", language=None, blocks=[])
        self._about = PageHead(self.page)
        self._text: list[str] = []
        self._headings: list[tuple[int, str]] = []
        self._heading: list[str] | None = None
        self._anchor: str | None = None
        self._heading_id: str | None = None
        self._bare = False
        """Whether there is no text yet below the last heading."""
        self._parts: list[list[tuple[int, str]]] = []
        self._items: list[tuple[str, int]] = []
        """The texts of the items, each with the number of links that make up all of it."""
        self._lists = 0
        self._tables: list[Table] = []
        self._code = 0
        self._unseen = 0
        self._open = 0
        """Elements that are open and seen."""
        self._button: list[str] | None = None
        self._button_unfolds = False
        self._controlled: set[str] = set()
        """What a button shows when it is pressed: that it is folded now hides it from nobody."""
        self._is_tab = False
        self._tabs: list[str] = []
        """The texts of tabs whose panels have not begun yet."""
        self._bold = 0
        self._beside_bold = False
        """Whether something is not bold since the last block began."""
        self._behind_tag = False
        self._unfolded_in: int | None = None
        """How many elements were open around the heading that a button is, until something is said below it."""
        self._linking = 0
        self._links = 0
        """Links since the last block began that say something."""
        self._beside_links = False
        """Whether something else was said since then."""
        self._entries: list[int] = []
        """For each block outside the main text, the number of links that make up all of it; 0 if it says more."""
        self._framed_in: int | None = None
        self._main_in: int | None = None
        """How many elements were open when the page's header or footer, or its main, began."""
        self._has_main = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in {"a", "link", "area"}:
            self._about.link(attributes)
        # A link within the page, before anything is said, leads past the menu.
        begun = bool(self.page.blocks or self._headings or self._heading is not None)
        skips = tag == "a" and not begun and attributes.get("href", "").startswith("#")
        hidden = is_hidden(attributes) and not self._is_unfolded(tag, attributes)
        if tag == "script":
            self._about.start_script(attributes)
        if self._unseen or skips or hidden or tag in UNSEEN or attributes.get("role") in _UNSEEN_ROLES:
            self._unseen += 1
            return
        self._open += 1
        if self._button is not None:
            return
        self._about.start(tag, attributes)
        if tag in _BLOCKS:
            self._flush()
        self._frame(tag, attributes)
        if tag == "a":
            self._linking, self._links = self._linking + 1, self._links + 1
        self._bold += tag in _BOLD
        self._behind_tag = tag not in _RAISED
        role = attributes.get("role")
        if role == "tablist":
            self._tabs.clear()
        elif role == "tabpanel" and self._tabs:
            self._head(self._tabs.pop(0))
        if tag == "button":
            self._controlled.update(attributes.get("aria-controls", "").split())
            self._is_tab = role == "tab"
            if self._heading is None:
                self._button, self._button_unfolds = [], any(name in attributes for name in _UNFOLDS)
        elif tag in _HEADINGS:
            self._emit_list()
            self._heading, self._heading_id = [], attributes.get("id") or self._heading_id
            self._is_layout()
        elif tag == "footer":
            self._end_bare(0)
            self._headings = []
        elif tag in _APART or (tag == "a" and self._heading is not None):
            # What holds the whole page is no place on it.
            self._heading_id = attributes.get("id") or attributes.get("name") or self._heading_id
        elif tag == "table":
            self._emit_list()
            self._is_layout()
            self._tables.append(Table())
        elif tag in {"ul", "ol"}:
            self._lists += 1
        elif tag == "pre":
            self._code += 1
        elif tag == "br":
            self._text.append("\n")
        if tag in _APART:
            self._parts.append(list(self._headings))
        if self._tables:
            self._tables[-1].start(tag, attributes)

    def end(self, tag: str) -> None:
        if self._unseen:
            self._unseen -= 1
            if tag == "script":
                self._about.end_script()
            return
        self._open -= 1
        if self._button is not None and tag != "button":
            return
        if tag == "a" and self._linking:
            self._linking -= 1
        self._bold -= tag in _BOLD and self._bold > 0
        self._behind_tag = tag not in _RAISED
        self._about.end(tag)
        if tag == "button":
            self._end_button()
        elif tag in _HEADINGS:
            self._end_heading(_HEADINGS[tag])
        elif tag in {"td", "th"} and self._tables:
            self._end_cell()
        elif tag in _BLOCKS:
            self._flush()
        if tag in _APART and self._parts:
            self._end_bare(0)
            before = self._parts.pop()
            self._headings = [heading for heading in self._headings if heading in before or heading[0] == 1]
        if tag in _ENDS:
            self._end_bare(_ENDS[tag])
            self._headings = [(level, text) for level, text in self._headings if level < _ENDS[tag]]
        elif tag in {"ul", "ol"} and self._lists:
            self._lists -= 1
            if not self._lists:
                self._emit_list()
        elif tag == "pre" and self._code:
            self._code -= 1
        elif tag == "table" and self._tables:
            self._end_table()
        self._end_unfolded()
        if self._framed_in is not None and self._open < self._framed_in:
            self._framed_in = None
        if self._main_in is not None and self._open < self._main_in:
            self._main_in = None

    def data(self, text: str) -> None:
        if self._unseen:
            self._about.script(text)
            return
        if self._button is not None:
            self._button.append(text)
            return
        if not self._about.takes(text):
            # Blanks of the markup are blanks; only those of code are kept.
            said = text if self._code else re.sub(r"\s+", " ", text)
            before = self._text[-1][-1:] if self._text and self._behind_tag and not self._code else ""
            self._text += [" ", said] if are_separate_words(before, said) else [said]
            self._behind_tag = False
            tells = any(map(str.isalnum, text))
            self._beside_links |= not self._linking and tells
            self._beside_bold |= not self._bold and tells

    def comment(self, text: str) -> None:
        """Skips a comment, which is not on the page."""

    def close(self) -> None:
        while self._tables:
            self._end_table()
        self._flush()
        self._emit_list()
        self._end_bare(2)

    def result(self) -> Extracted:
        page = self.page
        self._drop_menus()
        # In the page's order: of a set any could be the first, and the same page would have another title and hash.
        firsts = list(dict.fromkeys(block.headings[0] for block in page.blocks if block.headings))
        title = self._about.title or next(iter(firsts), "")
        page.title = title[:MAX_TITLE_CHARS]
        # A page's only top heading is its title again, nearly always.
        if len(firsts) == 1 and firsts[0].casefold() in title.casefold():
            for block in page.blocks:
                if block.headings[:1] == firsts:
                    block.headings.pop(0)
        page.blocks += self._about.unsaid_answers()
        page.blocks = list(bounded_blocks(page.blocks))
        words = " ".join(block.text or " ".join(map(" ".join, block.rows)) for block in page.blocks[:200])
        page.language = language_of(words, self._about.language)
        return page

    # ------------------------------------------------------------ menus

    def _frame(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Notes where the page's header, its footer or its main begins."""
        if self._main_in is not None:
            return
        if tag == "main" or attributes.get("role") == "main":
            self._main_in, self._has_main = self._open, True
        elif self._framed_in is None and not self._parts and (tag in _FRAME or attributes.get("role") in _FRAME_ROLES):
            self._framed_in = self._open

    def _entries_of(self, text: str) -> int:
        """Returns how many links make up the whole text, as in a menu, and starts counting again."""
        links, beside = self._links, self._beside_links
        self._links, self._beside_links = self._linking, False
        menu = not beside and is_menu(text, links)
        return links if menu and self._main_in is None and not self._parts else 0

    def _drop_menus(self) -> None:
        """Drops links that stand alone before the page's first words, and those after its main part."""
        blocks, entries = self.page.blocks, self._entries
        first = 0
        while first < len(blocks) and entries[first] and not blocks[first].headings:
            first += 1
        end = len(blocks)
        while self._has_main and end > first + 1 and entries[end - 1]:
            if blocks[end - 1].headings != blocks[end - 2].headings:
                break  # they are what their own heading tells
            end -= 1
        if sum(entries[end:]) >= MENU:
            del blocks[end:]
        if sum(entries[:first]) >= MENU and first < len(blocks):
            del blocks[:first]

    def _flush(self) -> None:
        """Ends the block that was collected: a paragraph, an item, or a part of a cell."""
        text = "".join(self._text)
        self._text.clear()
        entries = self._entries_of(one_line(text))
        bold, self._beside_bold = not self._beside_bold, False
        if self._heading is not None:
            self._heading.append(text)
            return
        text = text.strip("\n").rstrip() if self._code else full_lines(text)
        if not text.strip():
            return
        if entries and self._framed_in is not None:
            if self._headings and self._headings[-1][0] > 1:
                self._bare = False  # what heads a menu says no more than it
            return
        if self._tables and self._tables[-1].add(text):
            return
        if self._code:
            self._emit(Block(kind="code", text=text))
        elif self._lists:
            self._items.append((text.replace("\n", " "), entries))
        elif not (self._tables or entries or self._is_in_answer()) and is_label(text, bold=bold):
            self._head(text)
        else:
            self._emit(Block(text=text), entries)

    def _is_in_answer(self) -> bool:
        """Whether what is open is below a term that is defined: a question there is part of the definition."""
        return bool(self._headings) and self._headings[-1][0] > _UNFOLDED

    def _is_unfolded(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether hidden text appears when the button above it, or its tab, is pressed."""
        if attributes.get("id") in self._controlled or attributes.get("role") == "tabpanel":
            return True
        return tag in _BLOCKS and self._bare and [level for level, _ in self._headings[-1:]] == [_UNFOLDED]

    def _emit(self, block: Block, entries: int = 0) -> None:
        headings = [text for _, text in self._headings]
        self.page.blocks.append(block.model_copy(update={"headings": headings, "anchor": self._anchor}))
        self._entries.append(entries)
        self._bare = False

    def _end_bare(self, level: int) -> None:
        """A heading with nothing below it, such as a card's, becomes text itself."""
        if self._bare and self._headings and self._headings[-1][0] >= level:
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
        text = _PERMALINK.sub("", one_line(" ".join(self._heading)))[:LONGEST_HEADING]
        self._heading = None
        if text:
            self._end_bare(level)
            self._headings = [(above, words) for above, words in self._headings if above < level]
            self._headings.append((level, text))
            self._bare = True
            self._anchor, self._heading_id = self._heading_id or self._anchor, None

    def _end_button(self) -> None:
        """A button that unfolds a text, or asks a question, heads what follows; what others say is no text."""
        if self._button is None:
            return
        text, self._button = one_line("".join(self._button)), None
        if self._is_tab:
            self._tabs.append(text)
        elif self._button_unfolds or text.endswith("?"):
            self._flush()
            self._is_layout()
            self._head(text)

    def _head(self, text: str) -> None:
        """Starts a section under this heading; it ends with the element that contains the heading."""
        self._emit_list()
        self._heading = [text]
        self._end_heading(_UNFOLDED)
        self._unfolded_in = self._open

    def _end_unfolded(self) -> None:
        """Such a heading ends with what holds it and the text below it."""
        if self._unfolded_in is None or self._open >= self._unfolded_in:
            return
        if self._bare:
            self._unfolded_in = self._open
        else:
            self._headings = [(level, text) for level, text in self._headings if level < _UNFOLDED]
            self._unfolded_in = None

    def _end_cell(self) -> None:
        self._flush()
        self._tables[-1].end_cell()

    def _end_table(self) -> None:
        self._flush()
        table = self._tables.pop()
        blocks = table.end()
        for block in blocks:
            self._emit(block)
        if not blocks:
            self._given_up(table)

    def _is_layout(self) -> None:
        """The table that is open; those around it were found out when it began."""
        if self._tables and not self._tables[-1].given_up:
            self._given_up(self._tables[-1])

    def _given_up(self, table: Table) -> None:
        """The table holds headings, tables or one column: it served the layout. Its content becomes plain text."""
        for text in table.give_up():
            self._emit(Block(text=text))
