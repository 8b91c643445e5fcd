"""The part of an answer that a client has received. Most protocols can only append text, never take it back."""


class ClientText:
    """The text that one client has so far (`shown`). A turn that is driven again repeats its text; what the client
    already has is not sent twice."""

    def __init__(self, previous_text: str = "") -> None:
        """`previous_text`: the text before a handed call, which the client has from an earlier request."""
        self.shown = ""
        self._received = ""
        self._previous_text = previous_text

    def restart(self) -> None:
        """Notes that the turn starts again, so that its text is repeated from the beginning."""
        self._received = ""

    def add(self, delta: str) -> str:
        """Adds a piece of the turn's text; returns the text to send for it."""
        self._received += delta
        if self._previous_text.startswith(self._received):
            return ""
        return self._advance_to(self._received) or ""

    def complete(self, text: str) -> str | None:
        """The text to send so that the client has the final text; None if that differs from what the client has."""
        return self._advance_to(text)

    def _advance_to(self, text: str) -> str | None:
        if not text.startswith(self.shown):
            return None
        remaining = text[len(self.shown) :]
        self.shown = text
        return remaining
