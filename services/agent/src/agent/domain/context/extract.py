"""Makes a summary by rules when there is no time for a model's. Also limits the length of any summary."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from agent.texts import TEXTS
from contracts.expressions import expression
from contracts.languages import Language

MAX_WORDS = 100
MAX_TOKENS = 200
MAX_EARLIER_WORDS = 55
"""How many words of an earlier summary are kept when it is extended by rules."""
MAX_MESSAGES = 24
"""Newest messages that are read; older ones are in the earlier summary."""
MAX_MESSAGE_LENGTH = 600
"""Characters of each message that are read."""
MAX_SENTENCES = 8
_SENTENCE = expression(r"(?:[^.!?¿¡\n]|[.!](?=\S))+[.!?]?")
_SYMBOL = expression(r"(?<![A-Za-z0-9])(?:[A-Z]{2,5}(?:/[A-Z]{3,4})?)(?![A-Za-z0-9])")
_SIGNIFICANT = expression(
    r"\b(buy|sell|bought|sold|decid\w+|prefer\w*|strateg\w+|stop|target|risk|plan\w*|hold\w*|alert|position|"
    r"compr\w+|vend\w+|decid\w+|prefier\w+|estrateg\w+|objetivo|riesgo|manten\w+|alerta|posici[oó]n|analisis|an[aá]lisis|"
    r"analysis|RSI|MACD)\b",
    re.I,
)


def extract(
    earlier: str | None, messages: Sequence[tuple[bool, str]], count: Callable[[str], int], language: Language
) -> str | None:
    """Appends the key points of the messages to an earlier summary: the sentences with symbols, figures, decisions or
    questions, in order. None if there are none. `messages`: for each message, whether it is the assistant's, and its
    text."""
    parts = [_clipped(earlier, MAX_EARLIER_WORDS)] if earlier else []
    remaining = MAX_WORDS - sum(len(part.split()) for part in parts)
    points = [
        _key_sentence(text[:MAX_MESSAGE_LENGTH], is_answer, language) for is_answer, text in messages[-MAX_MESSAGES:]
    ]
    chosen: dict[int, str] = {}
    for index, (_, text) in sorted(enumerate(points), key=lambda point: (-point[1][0], -point[0])):
        words = len(text.split())
        if 0 < words <= remaining and text not in chosen.values():
            chosen[index] = text
            remaining -= words
    parts.extend(chosen[index] for index in sorted(chosen))
    text = " ".join(parts)
    return limit_summary(text, count) if text else None


def limit_summary(text: str, count: Callable[[str], int]) -> str:
    """The summary, cut to 100 words and 200 tokens, on one line."""
    words = text.split()[:MAX_WORDS]
    while words and count(" ".join(words)) > MAX_TOKENS:
        words = words[: max(len(words) * 9 // 10, 0)]
    if words:
        return " ".join(words)
    # One very long word.
    short = text.strip()[:MAX_TOKENS]
    while count(short) > MAX_TOKENS:
        short = short[: len(short) // 2]
    return short


@lru_cache(maxsize=4096)
def _key_sentence(text: str, is_answer: bool, language: Language) -> tuple[float, str]:
    """The score and the text of a message's most significant sentence."""
    best = (-10.0, "")
    for match in list(_SENTENCE.finditer(text))[:MAX_SENTENCES]:
        sentence = _clipped(match[0], 24)
        if not sentence:
            continue
        score = (
            2.0 * bool(_SYMBOL.search(sentence))
            + 1.5 * bool(_SIGNIFICANT.search(sentence))
            + any(c.isdigit() for c in sentence)
            + sentence.endswith("?")
            - 1.5 * is_answer
        )
        if score > best[0]:
            best = (score, sentence)
    speaker = TEXTS["prompt.who.answered" if is_answer else "prompt.who.asked"].in_language(language)
    return (best[0], f"{speaker} {best[1]}") if best[1] else best


def _clipped(text: str, words: int) -> str:
    split = text.split()
    return " ".join(split) if len(split) <= words else " ".join(split[:words]) + " …"
