"""One socket's view of one conversation: every durable fact once and in order, live signs in between.

While a gap is read, live frames are buffered; afterwards the buffer is sent, without what was already sent. A gap that
opens during this is not filled by the same reading: frames after it wait for the next one.
"""

from dataclasses import dataclass

MAX_BUFFERED = 5_000
"""Entries that may be buffered; with more, the reading cannot keep up."""


class FeedOverflowError(Exception):
    """Too much arrived while the gap was read."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    frame: bytes
    seq: int | None = None
    turn: str | None = None
    delta_seq: int = -1
    about: str | None = None


class Feed:
    """`cursor` is the sequence of the last durable fact sent; a new feed buffers."""

    __slots__ = ("_gap", "_waiting", "cursor")

    def __init__(self) -> None:
        self.cursor = 0
        self._waiting: list[_Waiting] | None = []
        self._gap: int | None = None
        """The part of the buffer before a gap that the current reading may not fill."""

    @property
    def buffering(self) -> bool:
        """Whether a gap is being read."""
        return self._waiting is not None

    def pause(self) -> None:
        """Buffers from now on: there may be a gap after what has arrived."""
        if self._waiting is None:
            self._waiting = []
        if self._gap is None:
            self._gap = len(self._waiting)

    def fill(self) -> None:
        """Starts a reading, which fills every gap up to now; buffers until `follow`."""
        if self._waiting is None:
            self._waiting = []
        self._gap = None

    def fact(self, seq: int, frame: bytes, about: str | None = None) -> bool:
        """Whether to send the durable fact `seq` now; `about`: the turn that it ends."""
        if self._waiting is not None:
            self._wait(self._waiting, _Waiting(frame, seq=seq, about=about))
            return False
        if seq <= self.cursor:
            return False
        self.cursor = seq
        return True

    def live(self, frame: bytes, turn: str | None = None, delta_seq: int = -1, about: str | None = None) -> bool:
        """Whether to send a live frame now; `turn` and `delta_seq` are those of a delta. `about`: the turn after
        whose final message the frame is pointless."""
        if self._waiting is not None:
            self._wait(self._waiting, _Waiting(frame, turn=turn, delta_seq=delta_seq, about=about))
            return False
        return True

    def read(self, seq: int) -> bool:
        """Whether to send the fact `seq`, read to fill the gap."""
        if seq <= self.cursor:
            return False
        self.cursor = seq
        return True

    def follow(self, up_to: int, turn: str | None = None, delta_seq: int = -1) -> list[bytes]:
        """Ends the reading: the frames to send now, in order. If a gap has opened since, buffering continues after it.

        Args:
            up_to: everything up to this sequence has been sent, or is in the snapshot that was sent.
            turn: the running turn whose text so far was sent, with its last `delta_seq`.
        """
        self.cursor = max(self.cursor, up_to)
        waiting, self._waiting = self._waiting or [], None
        if self._gap is not None:
            waiting, self._waiting = waiting[: self._gap], waiting[self._gap :]
            self._gap = 0
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
