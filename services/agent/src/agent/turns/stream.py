"""Streams a running answer to everybody who watches: in batches, numbered, and kept for those who join later."""

import asyncio
from collections.abc import Callable, Mapping

from agent.ports import ConversationKey, Live

BATCH_SECONDS = 0.05
"""The first piece goes out at once (with what came in the same packet), further ones together, at most this often."""


class Deltas:
    """The streamed text of one run. `restart` clears it for everybody: run.started is sent again and deltaSeq begins at
    0. While the run is `doubtful`, its text is held back."""

    def __init__(
        self,
        live: Live,
        key: ConversationKey,
        turn_id: str,
        message_id: str,
        doubtful: Callable[[], bool] = lambda: False,
    ) -> None:
        self._live = live
        self._key = key
        self._turn_id = turn_id
        self._message_id = message_id
        self._doubtful = doubtful
        self._waiting: list[str] = []
        self._sent: list[str] = []
        self._timer: asyncio.Handle | None = None
        self._loop = asyncio.get_running_loop()
        self.next_seq = 0
        self.on_first: Callable[[], None] | None = None
        """Called once, when the first text goes out."""
        self.open = False
        """Whether a run was said to have started and not to have ended."""

    def begin(self) -> None:
        """Says that a run starts from nothing."""
        self.stop()
        self._sent.clear()
        self.next_seq = 0
        self.open = True
        self._live.emit(self._key, "run.started", {"turnId": self._turn_id, "messageId": self._message_id})

    def end(self, kind: str, data: Mapping[str, object]) -> None:
        """Says how the run ended: run.finished, run.error or run.cancelled. What still waits is dropped."""
        self.stop()
        self.open = False
        self._live.emit(self._key, kind, {"turnId": self._turn_id, **data})

    def text(self, piece: str) -> None:
        """More text; nobody is told any after the end."""
        if not self.open:
            return
        self._waiting.append(piece)
        if self._timer is None:
            self._timer = self._loop.call_soon(self._tick)

    def restart(self) -> None:
        """Withdraws the text so far, and tells those who heard it."""
        if self.open and (self._sent or self._waiting):
            self.begin()

    def flush(self) -> None:
        if self._waiting:
            self._send()
        self._end_timer()

    def mute(self) -> None:
        """The run is another's: nobody is told anything more, not even its end."""
        self.stop()
        self.open = False

    def stop(self) -> None:
        self._waiting.clear()
        self._end_timer()

    @property
    def sent_text(self) -> str:
        """The text that has gone out."""
        return "".join(self._sent)

    def _tick(self) -> None:
        self._timer = None
        if self._waiting:
            self._send()
            self._timer = self._loop.call_later(BATCH_SECONDS, self._tick)

    def _send(self) -> None:
        if self._doubtful():
            return
        if self.on_first is not None and not self._sent:
            self.on_first()
            self.on_first = None
        delta = "".join(self._waiting)
        self._waiting.clear()
        self._sent.append(delta)
        self._live.emit(
            self._key,
            "message.delta",
            {"turnId": self._turn_id, "messageId": self._message_id, "deltaSeq": self.next_seq, "delta": delta},
        )
        self.next_seq += 1

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
