"""What both readers of HTML share: page_text.py, which returns lines for a model, and html.py, which returns blocks.

The parser is lxml's event parser (libxml2). No tree is built, on purpose: pages are hostile input, and tree builders
that follow HTML5 exactly take quadratic time in its nesting (100,000 nested <div> took a minute in Lexbor; here 400,000
take half a second).
"""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any, Protocol, cast

import lxml.etree as _etree  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

_CHUNK_CHARS = 64 * 1024


class MarkupTarget(Protocol):
    """Receives the parser's events in the order of the markup, an end for each start."""

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
"""Elements that may be inside the head. As HTML demands, any other element ends the head even without an end tag; the
parser does not do this for elements that are newer than it, such as main."""

MENU = 3
"""From so many links without other text on, a block outside the header and footer is a menu."""
_MAX_ENTRY_CHARS = 40
"""The most characters of a menu entry; a longer link is content."""
_CONTACT_DETAIL = re.compile(r"[\d@]")
"""Part of a telephone number, an address or a time, which people look for although it is a link."""

_MAX_LABEL_CHARS = 120
_RUN_TOGETHER = re.compile(r"[a-zß-ÿ][A-ZÀ-Þ\d€£$]|[\d)%€£$][A-ZÀ-Þ]")
_TAG = re.compile(r"<[^<>]{0,500}>")
_PAGE = tags("html body main")
_CONSENT = re.compile(
    r"(?:cybot|js-|eu-|gdpr-)?cookies?[-_]?(?:bot(?:dialog)?|banner|consent|notice|law|popup|modal|dialog|overlay)|"
    r"(?:onetrust|didomi|usercentrics)(?:[-_][\w-]*)?|cc-window|cmplz-cookiebanner"
)


def is_label(text: str, *, bold: bool) -> bool:
    """Whether a paragraph is a heading without the tag of one: a single question, or a few words that are all bold."""
    if "\n" in text or len(text) > _MAX_LABEL_CHARS:
        return False
    is_question = text.endswith("?") and not re.search(r"[.!?] ", text)
    return is_question or (bold and (text[-1].isalpha() or text[-1] == ":"))


def are_separate_words(before: str, after: str) -> bool:
    """Whether texts with only a tag between them are separate words, such as "Wheel" and "£12" in two columns."""
    return _RUN_TOGETHER.fullmatch(before + after[:1]) is not None


def without_tags(text: str) -> str:
    """Returns a text without the markup that may be in it, entities decoded."""
    return unescape(_TAG.sub(" ", text))


def is_menu(text: str, links: int) -> bool:
    """Whether a text that consists of links alone could be the entries of a menu."""
    return len(text) <= links * _MAX_ENTRY_CHARS and not _CONTACT_DETAIL.search(text)


def read(html: str, target: MarkupTarget) -> None:
    """Parses the markup and passes its events to the target, in time linear in its size."""
    parser: Any = cast("Any", _etree).HTMLParser(target=target, encoding="utf-8")
    for start in range(0, len(html), _CHUNK_CHARS):
        parser.feed(html[start : start + _CHUNK_CHARS].encode("utf-8", "replace"))
    if html:
        parser.close()


def is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether an element is hidden from people, or asks them for consent to cookies, by the name that its maker gave
    it. The page itself may be named after the banner that it shows."""
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    names = f"{attributes.get('id', '')} {attributes.get('class', '')}".lower().split()
    if tag not in _PAGE and any(map(_CONSENT.fullmatch, names)):
        return True
    style = attributes.get("style", "").replace(" ", "").lower()
    return "display:none" in style or "visibility:hidden" in style


def one_line(text: str) -> str:
    """Returns the text on one line, with single spaces."""
    return " ".join(text.split())


def full_lines(text: str) -> str:
    """Returns the lines that are not blank, each with single spaces."""
    return "\n".join(line for line in (one_line(line) for line in text.split("\n")) if line)
