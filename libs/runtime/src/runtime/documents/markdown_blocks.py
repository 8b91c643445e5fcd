"""Converts plain text and Markdown into the blocks of a document (contracts.knowledge.Block), with markdown-it,
whose time is linear in the text. Text without Markdown becomes paragraphs; of HTML only the words are kept."""

import re
from collections.abc import Iterable, Iterator
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from contracts.knowledge import Block

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
_MOST_FRONT = 100
"""The most lines of front matter."""
_FRONT_TITLE = re.compile(r"title:\s*[\"']?([^\"']+)")
_TAG = re.compile(r"<[^<>]*>")
_NOT_ANCHOR = re.compile(r"[^\w\- ]+")


def read(text: str, title: str = "") -> tuple[str, list[Block]]:
    """The title and the blocks in order, each with the headings above it. Without a given title it is the front
    matter's, else the first heading, which is then left out of the blocks' headings if it is above all of them."""
    front, body = _parted(text.replace("\x00", ""))
    named = next((found[1].strip() for line in front if (found := _FRONT_TITLE.match(line))), "")
    blocks = list(_read(_MARKDOWN.parse(body)))
    firsts = [block.headings[0] if block.headings else "" for block in blocks]
    title = title or named or next(filter(None, firsts), "")
    if len(set(firsts)) == 1 and firsts[0].casefold() == title.casefold():
        blocks = [block.model_copy(update={"headings": block.headings[1:]}) for block in blocks]
    return title, blocks


def _parted(text: str) -> tuple[list[str], str]:
    """The lines between the first line and the next line of three dashes, and the lines after it."""
    lines = text.split("\n", _MOST_FRONT)
    bare = [line.strip() for line in lines[:_MOST_FRONT]]
    if bare[0] != "---" or "---" not in bare[1:]:
        return [], text
    end = bare.index("---", 1)
    return bare[1:end], "\n".join(lines[end + 1 :])


def _read(tokens: Iterable[Token]) -> Iterator[Block]:
    above: list[tuple[int, str]] = []
    bare = False
    """There is no text yet below the last heading."""
    level = lists = 0
    items: list[str] = []
    rows: list[list[str]] | None = None

    def made(kind: str, text: str, rows: list[list[str]] | None = None) -> Block:
        headings = [words for _, words in above]
        anchor = _anchor(headings[-1]) if headings else None
        return Block(kind=kind, headings=headings, anchor=anchor, text=text, rows=rows or [])  # pyright: ignore[reportArgumentType] - an open list

    for token in tokens:
        text = _words(token)
        if items and (not lists or token.type in {"heading_open", "table_open", "fence", "code_block"}):
            yield made("list", "\n".join(items))
            items, bare = [], False
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type == "inline" and level:
            # A heading with nothing below it is all that is said there.
            if bare and above[-1][0] >= level:
                yield made("text", above.pop()[1])
            if text:
                above = [one for one in above if one[0] < level] + [(level, " ".join(text.split()))]
                bare = True
            level = 0
        elif token.type in {"bullet_list_open", "ordered_list_open"}:
            lists += 1
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            lists -= 1
        elif token.type == "table_open":
            rows = []
        elif token.type == "table_close":
            yield made("table", "", rows)
            rows, bare = None, False
        elif token.type == "tr_open" and rows is not None:
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(text.replace("\n", " "))
        elif text and lists and token.type in {"inline", "html_block"}:
            items.append(" ".join(text.split()))
        elif text:
            yield made("text" if token.type in {"inline", "html_block"} else "code", text)
            bare = False
    if items:
        yield made("list", "\n".join(items))
    elif bare:
        yield made("text", above.pop()[1])


def _words(token: Token) -> str:
    """A token's own words; most tokens only mark a beginning or an end."""
    if token.type in {"fence", "code_block"}:
        return token.content.strip("\n")
    if token.type == "html_block":
        return _of_html(token.content)
    if token.type != "inline":
        return ""
    return "".join(_inline(child) for child in token.children or ()).strip()


def _inline(token: Token) -> str:
    match token.type:
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n"
        case "html_inline":
            return "\n" if token.content.lower().startswith("<br") else ""
        case _:
            return token.content


def _of_html(markup: str) -> str:
    if markup.lstrip().lower().startswith(("<script", "<style")):
        return ""
    if markup.lstrip().startswith("<!--"):
        markup = markup.rpartition("-->")[2]
    return " ".join(unescape(_TAG.sub(" ", markup)).split())


def _anchor(heading: str) -> str:
    """The anchor that Markdown's renderers give a heading."""
    return _NOT_ANCHOR.sub("", heading.lower()).strip().replace(" ", "-")[:300]
