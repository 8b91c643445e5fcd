"""The part of an answer that a client has been shown. Most protocols can only append text, never take it back."""


class ClientText:
    """The text that one client has so far. A turn that is driven again repeats its text; what the client already has
    is not sent twice."""

    def __init__(self, previous_text: str = "") -> None:
        """`previous_text`: the text before a handed call, which is not sent again."""
        self.shown = ""
        self._received = ""
        self._previous_text = previous_text

    def restart(self) -> None:
        """The turn begins again: its text comes from the first letter."""
        self._received = ""

    def add(self, delta: str) -> str:
        """Returns what to show for another piece of the text."""
        self._received += delta
        if self._previous_text.startswith(self._received):
            return ""
        return self._advance_to(self._received) or ""

    def complete(self, text: str) -> str | None:
        """The rest of the final text; None: it differs from what the client was shown."""
        return self._advance_to(text)

    def _advance_to(self, text: str) -> str | None:
        if not text.startswith(self.shown):
            return None
        remaining = text[len(self.shown) :]
        self.shown = text
        return remaining
