"""Tells people what remains of deleted data."""

from contracts.erasure_rpc import Removed
from contracts.texts import TEXTS


def what_remains(one: Removed, language: str) -> str | None:
    """Returns a text about what remains; None if nothing does, or only a newer release has a text for it."""
    words = TEXTS.section("receipt.remains").get(one.remains or "")
    return words.in_language(language) if words else None
