"""Questions as templates, and whether two of them are the same question.

Overlapping words are not enough: "should I buy BTC or wait" and "should I sell BTC or wait" overlap by 0.8. Side,
numbers and negation must agree first.
"""

import re

from contracts.calendar_names import NUMBERS
from memory.domain.mentions import without_symbols
from memory.domain.recall.words import words

MAX_LENGTH = 100
MIN_OVERLAP = 0.8
_AMOUNT = re.compile(
    r"(?:[$€£]\s?)?\b\d[\d.,]{0,20}(?:\s\d{3}\b)*(?:\s?(?:k|mil|thousand|million|millones|m)\b)?(?:\s(?:de|of))?\s?"
    r"(?:%|k\b|usd\b|usdt\b|eur\b|gbp\b|mxn\b|d[oó]lares\b|dollars?\b|pesos\b|euros?\b|pounds\b|€|£)",
    re.I,
)
_MONEY = re.compile(r"[$€£]\s?\d[\d.,]*(?:\s?(?:k|mil|thousand|million|m)\b)?\b")
_SENTENCE = re.compile(r"(?<![^.!?\n])[^.!?\n]*+\?")
_WORD = re.compile(r"\[[A-Z]+\]|[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBER_WORDS = frozenset(NUMBERS) | frozenset(
    words(
        "first second third fourth fifth last next previous primer primero primera segundo segunda tercer tercero "
        "tercera cuarto cuarta ultimo ultima proximo proxima anterior half double mitad doble"
    )
)
_BUY = frozenset(
    {"buy", "buying", "bought", "compra", "compro", "comprar", "comprarlo", "comprando", "compré", "compre"}
)
_SELL = frozenset({"sell", "selling", "sold", "vende", "vendo", "vender", "venderlo", "vendiendo", "vendí", "venda"})
_NOT = frozenset(
    {"not", "no", "never", "don't", "dont", "doesn't", "isn't", "shouldn't", "can't", "won't", "without"}
    | {"nunca", "jamás", "ni", "sin", "tampoco"}
)


def questions(text: str) -> list[str]:
    """Returns each question of a text, as it was asked."""
    if "?" not in text:
        return []
    texts = [match[0].strip(" ¿\t") for match in _SENTENCE.finditer(text)]
    return [question for question in texts if _WORD.search(question)]


def template(question: str) -> str:
    """Returns the question with [AMOUNT] for amounts and [SYMBOL] for symbols, at most 100 characters."""
    masked = _MONEY.sub("[AMOUNT]", _AMOUNT.sub("[AMOUNT]", question))
    return " ".join(without_symbols(masked).split())[:MAX_LENGTH].strip()


def are_same_question(one: str, other: str) -> bool:
    """Whether two templates are the same question."""
    if _sides(one) != _sides(other) or _numbers(one) != _numbers(other) or _negated(one) != _negated(other):
        return False
    words, other_words = set(_words(one)), set(_words(other))
    return bool(words | other_words) and len(words & other_words) / len(words | other_words) > MIN_OVERLAP


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("[amount]", "[AMOUNT]").replace("[symbol]", "[SYMBOL]"))


def _sides(text: str) -> tuple[bool, bool]:
    words = set(_words(text))
    return bool(words & _BUY), bool(words & _SELL)


def _numbers(text: str) -> list[str]:
    return sorted([*_NUMBER.findall(text), *(word for word in words(text) if word in _NUMBER_WORDS)])


def _negated(text: str) -> bool:
    words = {word.strip(".,;:!?¿¡") for word in text.lower().replace("’", "'").split()}
    return bool(words & _NOT)
