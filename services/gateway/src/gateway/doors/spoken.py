"""What a client was shown of an answer. Most protocols can only add to a text: what was said cannot be taken back."""


class ClientText:
    """The text that one client has so far. A turn that is driven again says its text anew: what the client has already
    is not said twice.
    """

    def __init__(self, before: str = "") -> None:
        """`before`: what was said in front of a call that the client has run, and is not told again."""
        self.shown = ""
        self._said = ""
        self._before = before

    def restart(self) -> None:
        """The turn begins again: its text comes from the first letter."""
        self._said = ""

    def more(self, delta: str) -> str:
        """What to show of another piece of the text."""
        self._said += delta
        if self._before.startswith(self._said):
            return ""
        return self._rest(self._said) or ""

    def whole(self, text: str) -> str | None:
        """What is still to be shown of the final text; None: it is another one than the client was shown."""
        return self._rest(text)

    def _rest(self, text: str) -> str | None:
        if not text.startswith(self.shown):
            return None
        rest = text[len(self.shown) :]
        self.shown = text
        return rest
