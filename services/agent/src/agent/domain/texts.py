"""Reads what models write around their answers, and says the assistant's own sentences."""

import json
from typing import Literal

from agent.texts import TEXTS
from contracts.languages import Language


def without_thoughts(text: str) -> str:
    """A model's answer without its closed thoughts. Takes linear time for any text."""
    parts: list[str] = []
    end_of_last = 0
    while (begin := text.find("<think>", end_of_last)) >= 0 and (end := text.find("</think>", begin)) >= 0:
        parts.append(text[end_of_last:begin])
        end_of_last = end + len("</think>")
    return "".join([*parts, text[end_of_last:]])


def json_in(answer: str, brackets: Literal["{}", "[]"]) -> object:
    """The JSON value in a model's answer, alone or among other words: from the first to the last of its brackets; None
    if there is none."""
    text = without_thoughts(answer)
    start, end = text.find(brackets[0]), text.rfind(brackets[1])
    try:
        return json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return None


def failure_text(code: str, language: Language) -> str:
    """The text for people of a turn that ended without an answer."""
    return TEXTS.section("failure").get(code, TEXTS["failure.INTERNAL"]).in_language(language)


def declined_text(language: Language) -> str:
    """The answer if the provider's content rules withhold the model's."""
    return TEXTS["model.declined"].in_language(language)
