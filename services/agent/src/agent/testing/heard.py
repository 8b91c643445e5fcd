"""For tests: a text sink that records a running answer."""


class RecordingSink:
    """A sink that keeps the pieces that count, and how often it was begun again."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.restarts = 0

    @property
    def said(self) -> str:
        """All of it."""
        return "".join(self.pieces)

    def text(self, piece: str) -> None:
        """A piece more."""
        self.pieces.append(piece)

    def restart(self) -> None:
        """What was said is void."""
        self.pieces.clear()
        self.restarts += 1
