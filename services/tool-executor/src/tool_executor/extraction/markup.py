"""The common part of both readers of HTML: page_text.py, which keeps lines for a model, and html.py, which keeps
blocks.

The parser is lxml's event parser (libxml2). No tree is built, on purpose: pages are hostile input, and tree builders
that follow HTML5 exactly take quadratic time in its nesting (100,000 nested <div> took a minute in Lexbor; here 400,000
take half a second).
"""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any, Protocol, cast

import lxml.etree as _etree  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

_PIECE = 64 * 1024


class MarkupTarget(Protocol):
    """lxml calls these in the order of the markup, each start with its end."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...

    def comment(self, text: str) -> None: ...

    def close(self) -> None: ...


def tags(text: str) -> frozenset[str]:
    return frozenset(text.split())


UNSEEN = tags(
    "script style noscript template svg math iframe object embed canvas audio video select datalist nav dialog map "
    "textarea"
)
BLOCKS = tags(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 "
    "h4 h5 h6 header hr li main ol p pre section summary table tbody thead tfoot tr ul caption"
)

IN_HEAD = tags("html head base basefont bgsound link meta title noscript noframes style script template")
"""The elements that leave the head open. All else ends it, as HTML has it, though no tag says so; the parser does not
for elements that are younger than it, such as main."""

MENU = 3
"""Links without other words that are a menu, where nothing frames them."""
_LONGEST_ENTRY = 40
"""Characters of a menu's entry; a longer link says something."""
_TELLING = re.compile(r"[\d@]")
"""A telephone number, an address or a time: people want to know it, though it is a link."""

_LONGEST_LABEL = 120
_RUN_TOGETHER = re.compile(r"[a-zß-ÿ][A-ZÀ-Þ\d€£$]|[\d)%€£$][A-ZÀ-Þ]")
_TAG = re.compile(r"<[^<>]{0,500}>")


def is_label(text: str, *, bold: bool) -> bool:
    """Whether a paragraph heads what follows though no tag says so: one question, or a few words that are all bold."""
    if "\n" in text or len(text) > _LONGEST_LABEL:
        return False
    asks = text.endswith("?") and not re.search(r"[.!?] ", text)
    return asks or (bold and (text[-1].isalpha() or text[-1] == ":"))


def are_separate_words(before: str, after: str) -> bool:
    """Whether two letters that only a tag parts are of two words: "Wheel" and "£12", shown in two columns."""
    return _RUN_TOGETHER.fullmatch(before + after[:1]) is not None


def without_tags(text: str) -> str:
    """A text that may have markup in it, without that."""
    return unescape(_TAG.sub(" ", text))


def is_menu(text: str, links: int) -> bool:
    """Whether a text that is all links could be entries of a menu."""
    return len(text) <= links * _LONGEST_ENTRY and not _TELLING.search(text)


def read(html: str, target: MarkupTarget) -> None:
    """Passes the events of the markup to the target, in time linear in its size."""
    parser: Any = cast("Any", _etree).HTMLParser(target=target, encoding="utf-8")
    for start in range(0, len(html), _PIECE):
        parser.feed(html[start : start + _PIECE].encode("utf-8", "replace"))
    if html:
        parser.close()


def is_hidden(attributes: Mapping[str, str]) -> bool:
    """Whether an element's own attributes hide it from people."""
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style", "").replace(" ", "").lower()
    return "display:none" in style or "visibility:hidden" in style


def one_line(text: str) -> str:
    """A text with single spaces."""
    return " ".join(text.split())


def full_lines(text: str) -> str:
    """The lines of a text that hold something, each with single spaces."""
    return "\n".join(line for line in (one_line(line) for line in text.split("\n")) if line)
