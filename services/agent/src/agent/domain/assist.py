"""The prompts for helping a human agent, and reading the model's answers."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from agent.domain.context.compression import PromptMessage
from agent.domain.prompt.messages import task_messages
from agent.domain.text_features import language_of
from agent.domain.texts import json_in, without_thoughts
from agent.texts import TEXTS
from contracts.expressions import expression
from contracts.json_values import list_of
from contracts.languages import DEFAULT_LANGUAGE, Language

MAX_SUGGESTIONS = 3
MAX_SUGGESTION_LENGTH = 400
"""Characters of a suggestion; a longer one is cut after its last whole sentence."""
_BULLET = expression(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])\s*")
_SENTENCE_END = expression(r"[.!?…](?=\s|$)")
_PAIRS = {'"': '"', "'": "'", "“": "”", "«": "»"}


def conversation_language(messages: Sequence[PromptMessage]) -> Language:
    """The language of the newest visitor messages or, if they do not show one, of the whole conversation."""
    language = language_of(" ".join(message.text for message in messages), DEFAULT_LANGUAGE)
    newest = [message.text for message in messages if not message.mine][-3:]
    return language_of(" ".join(newest), language)


def suggest_messages(
    base: str, spoken: Iterable[tuple[bool, str]], language: Language, earlier_suggestions: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The messages of a call for suggestions. `base`: the company's prompt; `earlier_suggestions`: not to be
    repeated."""
    request = _transcript(spoken, language)
    if earlier_suggestions:
        others = TEXTS["prompt.suggest_others"].in_language(language)
        request += "\n\n" + "\n".join([others, *(f"- {text}" for text in earlier_suggestions)])
    return task_messages(f"{base}\n\n{TEXTS['prompt.suggest'].in_language(language)}", request)


def improve_messages(
    draft: str,
    language: Language,
    *,
    base: str | None,
    tone: str | None,
    locale: str | None,
    spoken: Iterable[tuple[bool, str]],
) -> list[dict[str, Any]]:
    """The messages of a call to improve a draft. `base`: the company's own prompt; None: it has none."""
    instructions = [TEXTS["prompt.improve"].in_language(language)]
    if tone:
        instructions.append(TEXTS["prompt.improve_tone"].in_language(language).format(tone=" ".join(tone.split())))
    language_instruction = (
        TEXTS["prompt.improve_language"].format(language=" ".join(locale.split())) if locale else None
    )
    instructions.append((language_instruction or TEXTS["prompt.improve_own_language"]).in_language(language))
    system = "\n\n".join(part for part in (base, " ".join(instructions)) if part)
    transcript = _transcript(spoken, language)
    marked = f"<draft>\n{draft.replace('</draft', '< /draft')}\n</draft>"
    return task_messages(system, f"{transcript}\n\n{marked}" if transcript else marked)


def parse_suggestions(answer: str) -> list[str]:
    """The texts in a model's answer: a JSON array, alone or among other words, or else one text per line."""
    answer = without_thoughts(answer)
    texts = [item for item in list_of(json_in(answer, "[]")) if isinstance(item, str)]
    if not texts:
        lines = [line for line in answer.splitlines() if line.strip()]
        bullets = [line for line in lines if _BULLET.match(line)]
        texts = [_BULLET.sub("", line) for line in (bullets or lines)]
    return [text for text in (_shortened(_unquoted(text)) for text in texts) if text]


def distinct(texts: Iterable[str]) -> list[str]:
    """The texts without those that only differ in case, accents or punctuation; at most three."""
    by_key: dict[str, str] = {}
    for text in texts:
        by_key.setdefault(_comparison_key(text), text)
    by_key.pop("", None)
    return list(by_key.values())[:MAX_SUGGESTIONS]


def parse_improved(answer: str) -> str:
    """The text without what models tend to add around it: code fences, the draft's tags, quotation marks."""
    text = re.sub(r"^```\w*\n|\n?```$", "", without_thoughts(answer).strip())
    return _unquoted(text.replace("<draft>", "").replace("</draft>", ""))


def _transcript(spoken: Iterable[tuple[bool, str]], language: Language) -> str:
    visitor, team = (TEXTS[f"prompt.who.{side}"].in_language(language) for side in ("visitor", "team"))
    return "\n".join(f"{team if is_answer else visitor}: {text.strip()}" for is_answer, text in spoken if text.strip())


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and _PAIRS.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        return text[1:-1].strip()
    return text


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= MAX_SUGGESTION_LENGTH:
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, MAX_SUGGESTION_LENGTH)]
    return text[: ends[-1]] if ends else text[:MAX_SUGGESTION_LENGTH].rsplit(" ", 1)[0] + "…"


def _comparison_key(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in folded if c.isalnum())
