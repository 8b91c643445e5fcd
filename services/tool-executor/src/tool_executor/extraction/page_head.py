"""The page's data about itself, beside its text: title, language, robots, links, and questions in JSON-LD."""

import re
from collections.abc import Mapping

from contracts.knowledge import Block
from tool_executor.extraction.document import Extracted
from tool_executor.extraction.markup import IN_HEAD, one_line
from tool_executor.extraction.structured import questions_in

LONGEST_HEADING = 300
_REFRESH = re.compile(r"^\s*\d+\s*;\s*url\s*=\s*['\"]?([^'\"\s]+)", re.IGNORECASE)
_OUR_NAMES = {"robots", "nexussitereader"}


class PageHead:
    """The metadata of one page, while it is read."""

    def __init__(self, page: Extracted) -> None:
        self._page = page
        self.language: str | None = None
        """The language that the page declares."""
        self.is_open = False
        self._in_title = False
        self._title: list[str] = []
        self._og_title = ""
        self._json: list[str] | None = None
        """The text of the JSON-LD element that is open."""
        self._asked: list[tuple[str, str]] = []

    @property
    def title(self) -> str:
        return one_line("".join(self._title)) or self._og_title

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Takes what an element that is seen says of the page."""
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
            if name in _OUR_NAMES:
                said = set(re.split(r"[\s,]+", content.lower()))
                self._page.noindex |= bool(said & {"noindex", "none"})
                self._page.nofollow |= bool(said & {"nofollow", "none"})
            elif name == "og:title":
                self._og_title = one_line(content)
            elif attributes.get("http-equiv", "").lower() == "refresh" and (to := _REFRESH.match(content)):
                self._page.add_link(to[1])

    def end(self, tag: str) -> None:
        """Ends the title, or the head."""
        if tag == "title":
            self._in_title = False
        elif tag == "head":
            self.is_open = False

    def takes(self, text: str) -> bool:
        """Whether a text is of the head: the title, which is kept, or nothing that is seen."""
        if self._in_title:
            self._title.append(text)
        return self._in_title or self.is_open

    def link(self, attributes: Mapping[str, str]) -> None:
        """Takes an address that the page leads to, or its own."""
        address = attributes.get("href", "").strip()
        relations = attributes.get("rel", "").lower().split()
        if not address or "nofollow" in relations:
            return
        if "canonical" in relations:
            self._page.canonical = self._page.canonical or address
        elif not relations or not {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch"} & set(relations):
            self._page.add_link(address)

    def start_script(self, attributes: Mapping[str, str]) -> None:
        """Reads on where a script is JSON-LD."""
        if attributes.get("type", "").lower() == "application/ld+json":
            self._json = []

    def script(self, text: str) -> None:
        """Takes a part of a script."""
        if self._json is not None:
            self._json.append(text)

    def end_script(self) -> None:
        """Keeps the questions of the JSON-LD that ends."""
        if self._json is not None:
            self._asked += questions_in("".join(self._json))
            self._json = None

    def unsaid_answers(self) -> list[Block]:
        """The answers of the JSON-LD of which the page's text has neither the question nor the answer."""
        blocks = self._page.blocks
        said = {words.casefold() for block in blocks for words in (*block.headings, one_line(block.text))}
        return [
            Block(text=answer, headings=[question[:LONGEST_HEADING]])
            for question, answer in self._asked
            if not {question.casefold(), answer.casefold()} & said
        ]
