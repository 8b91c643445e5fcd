"""Questions and answers that a page says in JSON-LD (https://schema.org/FAQPage)."""

import json
from collections.abc import Iterator

from contracts.json_values import is_list, is_object
from tool_executor.extraction.markup import one_line, without_tags

LARGEST = 256 * 1024
"""Characters of a page's JSON-LD that are read."""
_MOST = 200
_DEEPEST = 8


def questions_in(text: str) -> list[tuple[str, str]]:
    """Returns each question with its answer; none if the text is no JSON."""
    try:
        held = json.loads(text[:LARGEST])
    except (ValueError, RecursionError):
        return []
    return [pair for pair, _ in zip(_pairs(held, _DEEPEST), range(_MOST), strict=False)]


def _pairs(held: object, deep: int) -> Iterator[tuple[str, str]]:
    if is_list(held) and deep:
        for one in held:
            yield from _pairs(one, deep - 1)
    elif is_object(held) and deep:
        answer = held.get("acceptedAnswer")
        question = held.get("name")
        said = answer.get("text") if is_object(answer) else None
        if isinstance(question, str) and isinstance(said, str) and (told := one_line(without_tags(said))):
            yield one_line(without_tags(question)), told
        for key in ("@graph", "mainEntity"):
            yield from _pairs(held.get(key), deep - 1)
