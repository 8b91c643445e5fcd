"""Reads the questions and answers that a page declares in JSON-LD (https://schema.org/FAQPage)."""

import json
from collections.abc import Iterator

from contracts.json_values import is_list, is_object
from tool_executor.extraction.markup import one_line, without_tags

MAX_CHARACTERS = 256 * 1024
"""The number of characters of a page's JSON-LD that are read."""
_MAX_PAIRS = 200
_MAX_DEPTH = 8


def questions_in(text: str) -> list[tuple[str, str]]:
    """Returns pairs of question and answer; empty if the text is not JSON."""
    try:
        document = json.loads(text[:MAX_CHARACTERS])
    except (ValueError, RecursionError):
        return []
    return [pair for pair, _ in zip(_pairs(document, _MAX_DEPTH), range(_MAX_PAIRS), strict=False)]


def _pairs(value: object, depth: int) -> Iterator[tuple[str, str]]:
    if is_list(value) and depth:
        for entry in value:
            yield from _pairs(entry, depth - 1)
    elif is_object(value) and depth:
        answer = value.get("acceptedAnswer")
        question = value.get("name")
        text = answer.get("text") if is_object(answer) else None
        if isinstance(question, str) and isinstance(text, str) and (plain_text := one_line(without_tags(text))):
            yield one_line(without_tags(question)), plain_text
        for key in ("@graph", "mainEntity"):
            yield from _pairs(value.get(key), depth - 1)
