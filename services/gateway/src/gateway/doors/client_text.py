"""The part of an answer that a client has been shown. Most protocols can only append text, never take it back."""


class ClientText:
    """The text that one client has so far. A turn that is driven again repeats its text; what the client already has
    is not sent twice."""

    def __init__(self, before: str = "") -> None:
        """`before`: the text before a handed call, which is not sent again."""
        self.shown = ""
        self._said = ""
        self._before = before

    def restart(self) -> None:
        """The turn begins again: its text comes from the first letter."""
        self._said = ""

    def more(self, delta: str) -> str:
        """Returns what to show for another piece of the text."""
        self._said += delta
        if self._before.startswith(self._said):
            return ""
        return self._rest(self._said) or ""

    def whole(self, text: str) -> str | None:
        """The rest of the final text; None: it differs from what the client was shown."""
        return self._rest(text)

    def _rest(self, text: str) -> str | None:
        if not text.startswith(self.shown):
            return None
        rest = text[len(self.shown) :]
        self.shown = text
        return rest
