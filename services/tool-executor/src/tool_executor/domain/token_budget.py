"""Cuts a text to a number of tokens, estimated without any model's vocabulary."""

import re

_WORD = re.compile(r"[^\W_]+|\s+|.", re.DOTALL)
_CHARS_PER_TOKEN = 4
_FIRST_WIDE_CODE_POINT = 0x2E80
"""From this code point on (CJK, Kana, Hangul, emoji) each character counts as a token."""


def cut(text: str, budget: int) -> tuple[str, bool]:
    """Returns as much of the text as fits into the budget, ending at a word, and whether something was cut off.

    A word counts one token for every four characters or part of them, a sign one, a space none. That is at most about
    15 % more than common tokenisers count for Spanish and English.
    """
    tokens = 0
    for piece in _WORD.finditer(text):
        tokens += _tokens(piece.group())
        if tokens > budget:
            return text[: piece.start()].rstrip(), True
    return text, False


def _tokens(piece: str) -> int:
    if piece.isspace():
        return 0
    wide = sum(1 for character in piece if ord(character) >= _FIRST_WIDE_CODE_POINT)
    return wide + -(-(len(piece) - wide) // _CHARS_PER_TOKEN)
