"""Whether a text says anything at all."""

from unicodedata import category

_UNSEEN = frozenset(("Cc", "Cf", "Zs", "Zl", "Zp"))
"""Categories of spaces, and of characters that show nothing: zero-width spaces and joiners, marks of direction."""


def is_blank(text: str) -> bool:
    """Whether nobody would see anything of it."""
    return all(category(char) in _UNSEEN for char in text)
