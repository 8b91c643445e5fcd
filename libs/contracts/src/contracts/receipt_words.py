"""Texts for people about what remains of deleted data."""

from contracts.erasure_rpc import Removed
from contracts.texts import TEXTS


def remains_text(removed: Removed, language: str) -> str | None:
    """Returns a text about what remains of deleted data; None if nothing does, or only a newer release has a text for
    it."""
    text = TEXTS.section("receipt.remains").get(removed.remains or "")
    return text.in_language(language) if text else None
