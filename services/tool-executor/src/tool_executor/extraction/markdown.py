"""Markdown by markdown-it: it becomes the HTML that it stands for, and is read as that."""

import re

from markdown_it import MarkdownIt

from tool_executor.extraction.document import Extracted
from tool_executor.extraction.html import extract_html

_FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)\n---\s*\n", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)


def extract_markdown(text: str) -> Extracted:
    """The words of a Markdown document; its first heading is its title, if its front matter names none."""
    front = _FRONT_MATTER.match(text)
    named = _FRONT_TITLE.search(front[1]) if front is not None else None
    body = text[front.end() :] if front is not None else text
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(body)
    return extract_html(html, named[1].strip() if named is not None else "")
