"""Numbers the citations of a streaming answer as the final message will number them, so that readers never see a number
change."""

from agent.domain.knowledge import MARK, CitationNumbers
from agent.ports import TextSink
from contracts.expressions import expression

_UNDECIDED = expression(r"[ \t]*(?:\[[\d,; \t]*\]?)?$")
"""The end of a text that may become a citation mark or a link with the next piece."""
_LONGEST_MARK = 40


class CitedText:
    """A text sink in front of another one. `numbers`: None if no passages were given; then text is passed on unchanged.
    `flush` sends what was held back."""

    def __init__(self, sink: TextSink, numbers: CitationNumbers | None) -> None:
        self._sink = sink
        self._numbers = numbers
        self._buffer = ""

    def text(self, piece: str) -> None:
        """Passes text on; an end that may be part of a mark waits for the next piece."""
        if self._numbers is None:
            self._sink.text(piece)
            return
        self._buffer += piece
        match = _UNDECIDED.search(self._buffer, max(len(self._buffer) - _LONGEST_MARK, 0))
        self._send(match.start() if match else len(self._buffer))

    def restart(self) -> None:
        self._buffer = ""
        self._numbers = CitationNumbers(self._numbers.given) if self._numbers else None
        self._sink.restart()

    def flush(self) -> None:
        self._send(len(self._buffer))

    def _send(self, end: int) -> None:
        ready, self._buffer = self._buffer[:end], self._buffer[end:]
        if self._numbers is not None and (ready := MARK.sub(self._numbers.shown, ready)):
            self._sink.text(ready)
