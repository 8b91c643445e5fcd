"""Converts plain text and Markdown into the blocks of a document (contracts.knowledge.Block), with markdown-it,
whose time is linear in the text. Text without Markdown becomes paragraphs; of HTML only the text is kept."""

import re
from collections.abc import Iterable, Iterator
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from contracts.knowledge import Block

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
_MAX_FRONT_MATTER_LINES = 100
"""The most lines of front matter."""
_FRONT_TITLE = re.compile(r"title:\s*[\"']?([^\"']+)")
_TAG = re.compile(r"<[^<>]*>")
_NOT_ANCHOR = re.compile(r"[^\w\- ]+")


def read(text: str, title: str = "") -> tuple[str, list[Block]]:
    """Returns the title, and the blocks in order, each with the headings above it. If no title is given it is that of
    the front matter, else the first heading. A first heading that equals the title and is above all blocks is left out
    of their headings."""
    front, body = _split_front_matter(text.replace("\x00", ""))
    front_title = next((named[1].strip() for line in front if (named := _FRONT_TITLE.match(line))), "")
    blocks = list(_read(_MARKDOWN.parse(body)))
    firsts = [block.headings[0] if block.headings else "" for block in blocks]
    title = title or front_title or next(filter(None, firsts), "")
    if len(set(firsts)) == 1 and firsts[0].casefold() == title.casefold():
        blocks = [block.model_copy(update={"headings": block.headings[1:]}) for block in blocks]
    return title, blocks


def _split_front_matter(text: str) -> tuple[list[str], str]:
    """Returns the lines of front matter, between two lines of three dashes at the start, and the text after them."""
    lines = text.split("\n", _MAX_FRONT_MATTER_LINES)
    bare = [line.strip() for line in lines[:_MAX_FRONT_MATTER_LINES]]
    if bare[0] != "---" or "---" not in bare[1:]:
        return [], text
    end = bare.index("---", 1)
    return bare[1:end], "\n".join(lines[end + 1 :])


def _read(tokens: Iterable[Token]) -> Iterator[Block]:
    headings_above: list[tuple[int, str]] = []
    is_empty = False
    """Whether the last heading has no text yet."""
    level = list_depth = 0
    items: list[str] = []
    rows: list[list[str]] | None = None

    def block(kind: str, text: str, rows: list[list[str]] | None = None) -> Block:
        texts = [words for _, words in headings_above]
        anchor = _anchor(texts[-1]) if texts else None
        return Block(kind=kind, headings=texts, anchor=anchor, text=text, rows=rows or [])  # pyright: ignore[reportArgumentType] - an open list

    for token in tokens:
        text = _token_text(token)
        if items and (not list_depth or token.type in {"heading_open", "table_open", "fence", "code_block"}):
            yield block("list", "\n".join(items))
            items, is_empty = [], False
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type == "inline" and level:
            # A heading with nothing below it becomes a text block.
            if is_empty and headings_above[-1][0] >= level:
                yield block("text", headings_above.pop()[1])
            if text:
                headings_above = [heading for heading in headings_above if heading[0] < level] + [
                    (level, " ".join(text.split()))
                ]
                is_empty = True
            level = 0
        elif token.type in {"bullet_list_open", "ordered_list_open"}:
            list_depth += 1
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            list_depth -= 1
        elif token.type == "table_open":
            rows = []
        elif token.type == "table_close":
            yield block("table", "", rows)
            rows, is_empty = None, False
        elif token.type == "tr_open" and rows is not None:
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(text.replace("\n", " "))
        elif text and list_depth and token.type in {"inline", "html_block"}:
            items.append(" ".join(text.split()))
        elif text:
            yield block("text" if token.type in {"inline", "html_block"} else "code", text)
            is_empty = False
    if items:
        yield block("list", "\n".join(items))
    elif is_empty:
        yield block("text", headings_above.pop()[1])


def _token_text(token: Token) -> str:
    """Returns a token's own text; most tokens only mark a start or an end."""
    if token.type in {"fence", "code_block"}:
        return token.content.strip("\n")
    if token.type == "html_block":
        return _html_text(token.content)
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


def _html_text(markup: str) -> str:
    if markup.lstrip().lower().startswith(("<script", "<style")):
        return ""
    if markup.lstrip().startswith("<!--"):
        markup = markup.rpartition("-->")[2]
    return " ".join(unescape(_TAG.sub(" ", markup)).split())


def _anchor(heading: str) -> str:
    """Returns the anchor that Markdown renderers give a heading."""
    return _NOT_ANCHOR.sub("", heading.lower()).strip().replace(" ", "-")[:300]
