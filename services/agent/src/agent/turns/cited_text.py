"""Numbers the citations in a streaming answer as the final message will number them, so that readers never see them
change."""

import re

from agent.domain.knowledge import MARK, Numbers
from agent.ports import TextSink

_UNDECIDED = re.compile(r"[ \t]*(?:\[[\d,; \t]*\]?)?$")
"""A beginning that may become a mark or a link with the next piece."""
_LONGEST_MARK = 40


class CitedText:
    """A text sink in front of another one. `numbers` None: no passages were given, and the text is passed on unchanged.
    `flush` sends what was held back."""

    def __init__(self, sink: TextSink, numbers: Numbers | None) -> None:
        self._sink = sink
        self._numbers = numbers
        self._held = ""

    def text(self, piece: str) -> None:
        """More text; what may be a mark waits until it is known."""
        if self._numbers is None:
            self._sink.text(piece)
            return
        self._held += piece
        match = _UNDECIDED.search(self._held, max(len(self._held) - _LONGEST_MARK, 0))
        self._send(match.start() if match else len(self._held))

    def restart(self) -> None:
        self._held = ""
        self._numbers = Numbers(self._numbers.given) if self._numbers else None
        self._sink.restart()

    def flush(self) -> None:
        self._send(len(self._held))

    def _send(self, end: int) -> None:
        ready, self._held = self._held[:end], self._held[end:]
        if self._numbers is not None and (ready := MARK.sub(self._numbers.shown, ready)):
            self._sink.text(ready)
