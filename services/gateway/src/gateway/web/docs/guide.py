"""The pages of the guide as HTML, and their sections for the search, from docs/guide."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from contracts.languages import LANGUAGES, Language
from gateway.web.words import SITE

_TRANSLATION = re.compile(r"\((?P<language>\w+)/(?P<slug>[\w-]+)\.md\)")
_PAGE = re.compile(r"(?P<slug>[\w-]+)\.md(?P<anchor>#[\w-]+)?")
_EXAMPLE = re.compile(r"(?:\.\./)+examples/(?P<name>[\w.]+)")


@dataclass(frozen=True, slots=True)
class GuideSection:
    """The text under one heading."""

    path: str
    page: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class GuidePage:
    """One page; `body` is HTML."""

    language: Language
    slug: str
    title: str
    body: str
    sections: tuple[GuideSection, ...]

    @property
    def path(self) -> str:
        return page_path(self.language, self.slug)


def page_path(language: Language, slug: str) -> str:
    return f"/docs/{language}/{slug}"


@cache
def slugs() -> tuple[dict[Language, str], ...]:
    """The pages in the order of the guide's table of contents, each with its name in every language."""
    index = (SITE / "guide" / "README.md").read_text(encoding="utf-8")
    rows = (dict(_TRANSLATION.findall(line)) for line in index.splitlines())
    return tuple({language: row[language] for language in LANGUAGES} for row in rows if row)


@cache
def guide(language: Language) -> tuple[GuidePage, ...]:
    """All pages of one language, in order."""
    return tuple(_page(language, names[language]) for names in slugs())


@cache
def example(name: str) -> str | None:
    """The source of an example program that the guide links; None if there is none of that name."""
    linked = {match["name"] for names in slugs() for match in _EXAMPLE.finditer(_source("en", names["en"]))}
    return (SITE / "examples" / name).read_text(encoding="utf-8") if name in linked else None


def _source(language: Language, slug: str) -> str:
    return (SITE / "guide" / language / f"{slug}.md").read_text(encoding="utf-8")


def _page(language: Language, slug: str) -> GuidePage:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(_source(language, slug))
    title, sections = "", list[GuideSection]()
    anchors: set[str] = set()
    heading, anchor, texts = "", "", list[str]()

    def close() -> None:
        path = page_path(language, slug) + (f"#{anchor}" if anchor else "")
        sections.append(GuideSection(path, title, heading, " ".join(texts)))

    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            name = _plain(tokens[index + 1])
            if token.tag == "h1":
                title = name
                continue
            close()
            heading, anchor, texts = name, _anchor(name, anchors), []
            token.attrSet("id", anchor)
        elif token.type == "inline":
            texts.append(_plain(token))
            _convert_links(token, language)
        elif token.type == "fence":
            texts.append(token.content)
        elif token.type == "table_open":
            token.attrSet("tabindex", "0")  # so that the scrolling table can be reached with the keyboard
        elif token.type in {"th_open", "th_close"} and not tokens[index + (1 if token.nesting == 1 else -1)].content:
            token.tag = "td"  # an empty header cell is no header
    close()
    return GuidePage(language, slug, title, markdown.renderer.render(tokens, markdown.options, {}), tuple(sections))


def _plain(token: Token) -> str:
    return "".join(child.content or " " for child in token.children or ())


def _anchor(name: str, taken_anchors: set[str]) -> str:
    """The id of a heading: its words without accents, numbered if another heading has the same words."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    base = "-".join(re.findall(r"\w+", plain)) or "part"
    anchor, number = base, 2
    while anchor in taken_anchors:
        anchor, number = f"{base}-{number}", number + 1
    taken_anchors.add(anchor)
    return anchor


def _convert_links(token: Token, language: Language) -> None:
    """Turns links between files into links between pages; files that are only in the repository are named instead."""
    target = address = ""
    for child in token.children or ():
        if child.type == "link_open":
            address = str(child.attrGet("href") or "")
            target = _target(address, language)
            if target:
                child.attrSet("href", target)
            else:
                child.type = "html_inline"
        elif child.type == "link_close" and not target:
            child.type = "html_inline"
            child.content = f" (<code>{escape(_in_repository(address))}</code>)"


def _in_repository(address: str) -> str:
    """The path of a linked file from the root of the repository; pages are two folders below docs."""
    path = address.replace("../", "")
    return path if address.startswith("../../../") else f"docs/{path}"


def _target(address: str, language: Language) -> str:
    if re.match(r"https?:|#|/", address):
        return address
    if page := _PAGE.fullmatch(address):
        return page_path(language, page["slug"]) + (page["anchor"] or "")
    program = _EXAMPLE.fullmatch(address)
    return f"/docs/examples/{program['name']}" if program else ""
