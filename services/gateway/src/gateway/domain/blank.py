"""Whether a text says anything at all."""

import re
from unicodedata import category

_UNSEEN = frozenset(("Cc", "Cf", "Zs", "Zl", "Zp"))
"""Categories of spaces, and of characters that show nothing: zero-width spaces and joiners, marks of direction."""


_FILLERS = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters, marks and symbols that show nothing either: fillers, the blank Braille pattern, variation selectors."""


def is_blank(text: str) -> bool:
    """Whether nobody would see anything of it."""
    return all(category(char) in _UNSEEN or _FILLERS.match(char) for char in text)
