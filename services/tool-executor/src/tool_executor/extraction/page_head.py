"""Reads a page's metadata: title, language, robots, links, and questions in JSON-LD."""

import re
from collections.abc import Mapping

from contracts.knowledge import Block
from tool_executor.extraction.document import Extracted
from tool_executor.extraction.markup import IN_HEAD, one_line
from tool_executor.extraction.structured import questions_in

MAX_HEADING_CHARS = 300
_REFRESH = re.compile(r"^\s*\d+\s*;\s*url\s*=\s*['\"]?([^'\"\s]+)", re.IGNORECASE)
_ROBOTS_META_NAMES = {"robots", "nexussitereader"}


class PageHead:
    """Collects the metadata of one page while it is parsed."""

    def __init__(self, page: Extracted) -> None:
        self._page = page
        self.language: str | None = None
        """The language that the page declares."""
        self.is_open = False
        self._in_title = False
        self._title: list[str] = []
        self._og_title = ""
        self._json_ld: list[str] | None = None
        """The text of the open JSON-LD script, None if none is open."""
        self._questions: list[tuple[str, str]] = []

    @property
    def title(self) -> str:
        return one_line("".join(self._title)) or self._og_title

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Notes what a visible element says about the page."""
        if tag == "html":
            self.language = attributes.get("lang") or attributes.get("xml:lang")
        elif tag == "head":
            self.is_open = True
        elif tag not in IN_HEAD:
            self.is_open = False
        elif tag == "title" and self.is_open:
            self._in_title = True
        elif tag == "base" and self._page.base is None:
            self._page.base = attributes.get("href")
        elif tag == "meta":
            name = (attributes.get("name") or attributes.get("property") or "").lower()
            content = attributes.get("content", "")
            if name in _ROBOTS_META_NAMES:
                directives = set(re.split(r"[\s,]+", content.lower()))
                self._page.noindex |= bool(directives & {"noindex", "none"})
                self._page.nofollow |= bool(directives & {"nofollow", "none"})
            elif name == "og:title":
                self._og_title = one_line(content)
            elif attributes.get("http-equiv", "").lower() == "refresh" and (refresh := _REFRESH.match(content)):
                self._page.add_link(refresh[1])

    def end(self, tag: str) -> None:
        """Notes the end of the title or of the head."""
        if tag == "title":
            self._in_title = False
        elif tag == "head":
            self.is_open = False

    def take_head_text(self, text: str) -> bool:
        """Whether a text belongs to the head, which people do not see; the text of the title is kept."""
        if self._in_title:
            self._title.append(text)
        return self._in_title or self.is_open

    def add_link(self, attributes: Mapping[str, str]) -> None:
        """Notes an address that the page links to, or its canonical address."""
        address = attributes.get("href", "").strip()
        relations = attributes.get("rel", "").lower().split()
        if not address or "nofollow" in relations:
            return
        if "canonical" in relations:
            self._page.canonical = self._page.canonical or address
        elif not relations or not {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch"} & set(relations):
            self._page.add_link(address)

    def start_script(self, attributes: Mapping[str, str]) -> None:
        """Starts collecting the text of a script if it is JSON-LD."""
        if attributes.get("type", "").lower() == "application/ld+json":
            self._json_ld = []

    def add_script_text(self, text: str) -> None:
        """Adds a piece of a script's text."""
        if self._json_ld is not None:
            self._json_ld.append(text)

    def end_script(self) -> None:
        """Parses the JSON-LD that ends here and keeps its questions."""
        if self._json_ld is not None:
            self._questions += questions_in("".join(self._json_ld))
            self._json_ld = None

    def missing_answers(self) -> list[Block]:
        """Returns the answers in JSON-LD whose question and answer are both missing from the page's text."""
        blocks = self._page.blocks
        texts = {text.casefold() for block in blocks for text in (*block.headings, one_line(block.text))}
        return [
            Block(text=answer, headings=[question[:MAX_HEADING_CHARS]])
            for question, answer in self._questions
            if not {question.casefold(), answer.casefold()} & texts
        ]
