"""One socket's view of one conversation: every durable fact once and in order, live signs in between.

While a gap is read, live frames are buffered; afterwards the buffer is sent, without what was already sent. A gap that
opens meanwhile is not filled by the same reading: frames after it wait for the next one.
"""

from dataclasses import dataclass

MAX_BUFFERED = 5_000
"""Frames that may be buffered; with more, the reading cannot keep up."""


class FeedOverflowError(Exception):
    """Too much arrived while the gap was read."""


@dataclass(frozen=True, slots=True)
class _BufferedFrame:
    frame: bytes
    seq: int | None = None
    """The sequence of a durable fact; None for a live sign."""
    turn: str | None = None
    """The turn that a fact ends; of a sign, the turn after whose end it is pointless."""
    delta_seq: int | None = None
    """The number of a delta in its turn; None for other frames."""


class Feed:
    """The frames of one conversation for one socket; a new feed buffers. `cursor`: the sequence of the last durable
    fact sent."""

    __slots__ = ("_buffer", "_gap_index", "cursor")

    def __init__(self) -> None:
        self.cursor = 0
        self._buffer: list[_BufferedFrame] | None = []
        self._gap_index: int | None = None
        """The index in the buffer of a gap that the current reading may not fill; None if there is none."""

    @property
    def is_buffering(self) -> bool:
        """Whether frames are buffered because a gap is being read."""
        return self._buffer is not None

    def pause(self) -> None:
        """Buffers from now on, because there may be a gap after what has arrived."""
        if self._buffer is None:
            self._buffer = []
        if self._gap_index is None:
            self._gap_index = len(self._buffer)

    def start_reading(self) -> None:
        """Starts a reading, which fills all gaps up to now. Frames are buffered until `finish_reading`."""
        if self._buffer is None:
            self._buffer = []
        self._gap_index = None

    def accept_fact(self, seq: int, frame: bytes, turn: str | None = None) -> bool:
        """Buffers a durable fact, or returns True if it must be sent now. `turn`: the turn that it ends."""
        if self._buffer is not None:
            self._append(self._buffer, _BufferedFrame(frame, seq=seq, turn=turn))
            return False
        return self.accept_read_fact(seq)

    def accept_sign(self, frame: bytes, turn: str | None = None, delta_seq: int | None = None) -> bool:
        """Buffers a live sign, or returns True if it must be sent now. `turn`: the turn after whose final message the
        sign is pointless. `delta_seq`: the number of a delta in its turn."""
        if self._buffer is not None:
            self._append(self._buffer, _BufferedFrame(frame, turn=turn, delta_seq=delta_seq))
            return False
        return True

    def accept_read_fact(self, seq: int) -> bool:
        """Whether to send the fact `seq`, which was read to fill the gap."""
        if seq <= self.cursor:
            return False
        self.cursor = seq
        return True

    def finish_reading(self, up_to: int, turn: str | None = None, delta_seq: int = -1) -> list[bytes]:
        """Ends the reading and returns the buffered frames to send now, in order. If a gap has opened meanwhile, the
        frames after it stay buffered.

        Args:
            up_to: everything up to this sequence has been sent, or is in the snapshot that was sent.
            turn: the running turn whose text so far was sent, with its last `delta_seq`.
        """
        self.cursor = max(self.cursor, up_to)
        entries, self._buffer = self._buffer or [], None
        if self._gap_index is not None:
            entries, self._buffer = entries[: self._gap_index], entries[self._gap_index :]
            self._gap_index = 0
        frames: list[bytes] = []
        ended_turns = {entry.turn for entry in entries if entry.seq is not None and entry.seq <= self.cursor} - {None}
        for entry in entries:
            if entry.seq is None:
                if entry.turn in ended_turns:
                    continue
                if turn is None or entry.turn != turn or entry.delta_seq is None or entry.delta_seq > delta_seq:
                    frames.append(entry.frame)
            elif entry.seq > self.cursor:
                self.cursor = entry.seq
                frames.append(entry.frame)
        return frames

    def _append(self, buffer: list[_BufferedFrame], entry: _BufferedFrame) -> None:
        if len(buffer) >= MAX_BUFFERED:
            raise FeedOverflowError
        buffer.append(entry)
