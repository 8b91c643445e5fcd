"""One socket's view of one conversation: every durable fact once and in order, live signs in between.

While a gap is being read, what arrives live is buffered; afterwards the buffer follows, without what was sent already.
"""

from dataclasses import dataclass

MAX_BUFFERED = 5_000
"""Entries that may wait behind a gap; more means that the reading cannot keep up."""


class FeedOverflowError(Exception):
    """Too much arrived while the gap was being read."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    frame: bytes
    seq: int | None = None
    turn: str | None = None
    delta_seq: int = -1
    about: str | None = None


class Feed:
    """`cursor` is the sequence of the last durable fact that was sent; it starts buffering."""

    __slots__ = ("_waiting", "cursor")

    def __init__(self) -> None:
        self.cursor = 0
        self._waiting: list[_Waiting] | None = []

    @property
    def buffering(self) -> bool:
        """Whether a gap is being read."""
        return self._waiting is not None

    def pause(self) -> None:
        """Buffers from now on: a gap may have opened behind the cursor."""
        if self._waiting is None:
            self._waiting = []

    def fact(self, seq: int, frame: bytes, about: str | None = None) -> bool:
        """Whether the frame of the durable fact `seq` is to be sent now; `about`: the turn that it ends."""
        if self._waiting is not None:
            self._wait(self._waiting, _Waiting(frame, seq=seq, about=about))
            return False
        if seq <= self.cursor:
            return False
        self.cursor = seq
        return True

    def live(self, frame: bytes, turn: str | None = None, delta_seq: int = -1, about: str | None = None) -> bool:
        """Whether a live frame is to be sent now; `turn` and `delta_seq` are those of a delta. `about`: the turn after
        whose final message it says nothing any more."""
        if self._waiting is not None:
            self._wait(self._waiting, _Waiting(frame, turn=turn, delta_seq=delta_seq, about=about))
            return False
        return True

    def read(self, seq: int) -> bool:
        """Whether the fact `seq`, read to fill the gap, is to be sent."""
        if seq <= self.cursor:
            return False
        self.cursor = seq
        return True

    def follow(self, up_to: int, turn: str | None = None, delta_seq: int = -1) -> list[bytes]:
        """Ends the buffering: the frames to send now, in order.

        Args:
            up_to: everything up to this sequence has been sent, or is in the snapshot that was sent.
            turn: the running turn whose text so far was sent, with its last `delta_seq`.
        """
        self.cursor = max(self.cursor, up_to)
        waiting, self._waiting = self._waiting or [], None
        frames: list[bytes] = []
        told = {entry.about for entry in waiting if entry.seq is not None and entry.seq <= self.cursor} - {None}
        for entry in waiting:
            if entry.seq is None:
                if entry.about in told:
                    continue
                if turn is None or entry.turn != turn or entry.delta_seq > delta_seq:
                    frames.append(entry.frame)
            elif entry.seq > self.cursor:
                self.cursor = entry.seq
                frames.append(entry.frame)
        return frames

    def _wait(self, waiting: list[_Waiting], entry: _Waiting) -> None:
        if len(waiting) >= MAX_BUFFERED:
            raise FeedOverflowError
        waiting.append(entry)
