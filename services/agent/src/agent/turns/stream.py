"""Streams a running answer to its readers in numbered batches, and keeps the text for readers who join later."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent.ports import ConversationKey, Live

BATCH_SECONDS = 0.05
"""Seconds between two deltas. The first piece goes out at once, together with what came in the same packet."""


@dataclass(slots=True, eq=False)
class Deltas:
    """The streamed text of one run. `restart` clears it for all readers: run.started is sent again and deltaSeq starts
    at 0. No text is sent while `doubtful()` is true."""

    live: Live
    key: ConversationKey
    turn_id: str
    message_id: str
    doubtful: Callable[[], bool] = lambda: False
    _waiting: list[str] = field(init=False, default_factory=list)
    _sent: list[str] = field(init=False, default_factory=list)
    _timer: asyncio.Handle | None = field(init=False, default=None)
    _loop: asyncio.AbstractEventLoop = field(init=False, default_factory=asyncio.get_running_loop)
    next_seq: int = field(init=False, default=0)
    on_first: Callable[[], None] | None = field(init=False, default=None)
    """Called once, when the first text is sent."""
    open: bool = field(init=False, default=False)
    """Whether the run's start was announced, but not its end."""

    def begin(self) -> None:
        """Announces a run without text."""
        self.stop()
        self._sent.clear()
        self.next_seq = 0
        self.open = True
        self.live.emit(self.key, "run.started", {"turnId": self.turn_id, "messageId": self.message_id})

    def end(self, kind: str, data: Mapping[str, object]) -> None:
        """Announces the end of the run (run.finished, run.error or run.cancelled) and drops unsent text."""
        self.stop()
        self.open = False
        self.live.emit(self.key, kind, {"turnId": self.turn_id, **data})

    def text(self, piece: str) -> None:
        """Adds text; ignored after the end of the run."""
        if not self.open:
            return
        self._waiting.append(piece)
        if self._timer is None:
            self._timer = self._loop.call_soon(self._tick)

    def restart(self) -> None:
        """Withdraws the text so far; announces the run anew if there was some."""
        if self.open and (self._sent or self._waiting):
            self.begin()

    def flush(self) -> None:
        if self._waiting:
            self._send()
        self._end_timer()

    def mute(self) -> None:
        """Sends nothing more, not even the end: another agent drives the run now."""
        self.stop()
        self.open = False

    def stop(self) -> None:
        self._waiting.clear()
        self._end_timer()

    @property
    def sent_text(self) -> str:
        """The text that has been sent."""
        return "".join(self._sent)

    def _tick(self) -> None:
        self._timer = None
        if self._waiting:
            self._send()
            self._timer = self._loop.call_later(BATCH_SECONDS, self._tick)

    def _send(self) -> None:
        if self.doubtful():
            return
        if self.on_first is not None and not self._sent:
            self.on_first()
            self.on_first = None
        delta = "".join(self._waiting)
        self._waiting.clear()
        self._sent.append(delta)
        self.live.emit(
            self.key,
            "message.delta",
            {"turnId": self.turn_id, "messageId": self.message_id, "deltaSeq": self.next_seq, "delta": delta},
        )
        self.next_seq += 1

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
