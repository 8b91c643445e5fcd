"""A text sink for tests that records a running answer."""


class RecordingSink:
    """Records the pieces since the last restart, and the number of restarts."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.restarts = 0

    @property
    def said(self) -> str:
        """The text so far."""
        return "".join(self.pieces)

    def text(self, piece: str) -> None:
        """Adds a piece."""
        self.pieces.append(piece)

    def restart(self) -> None:
        """Discards the text so far."""
        self.pieces.clear()
        self.restarts += 1
