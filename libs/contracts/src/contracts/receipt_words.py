"""Tells people what remains of deleted data."""

from contracts.erasure_rpc import Removed
from contracts.texts import TEXTS


def what_remains(one: Removed, language: str) -> str | None:
    """What remains, as a text; None: nothing, or something that only a newer release has a text for."""
    words = TEXTS.section("receipt.remains").get(one.remains or "")
    return words.said_in(language) if words else None
