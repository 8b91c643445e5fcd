"""Cuts a text to a number of tokens, estimated without any model's vocabulary."""

import re

_WORD = re.compile(r"[^\W_]+|\s+|.", re.DOTALL)
_CHARACTERS_A_TOKEN = 4
_WIDE = 0x2E80
"""From this code point on (CJK, Kana, Hangul, emoji) each character counts as a token."""


def cut(text: str, budget: int) -> tuple[str, bool]:
    """Returns as much of the text as the budget holds, ending at a word, and whether something was cut off.

    A word counts one token for every four characters begun, a sign one, a space none: within about 15 % above what
    common tokenisers count for Spanish and English.
    """
    spent = 0
    for piece in _WORD.finditer(text):
        spent += _tokens(piece.group())
        if spent > budget:
            return text[: piece.start()].rstrip(), True
    return text, False


def _tokens(piece: str) -> int:
    if piece.isspace():
        return 0
    wide = sum(1 for character in piece if ord(character) >= _WIDE)
    return wide + -(-(len(piece) - wide) // _CHARACTERS_A_TOKEN)
