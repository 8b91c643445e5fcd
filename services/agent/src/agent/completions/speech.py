"""Streams a running answer to the caller: in batches, and held back while the caller reads slowly.

Unlike in a chat, sent text cannot be taken back. If a reply is restarted after part of it was sent, the completion ends
with an error. A caller who does not stream gets only complete replies and never notices a restart.
"""

import asyncio
from collections.abc import Awaitable, Callable

BATCH_SECONDS = 0.03
"""Seconds between two sends. The first piece is sent at once."""


class BrokenOffError(Exception):
    """The model broke off after part of its reply had been sent."""


SendText = Callable[[str], Awaitable[None]]
"""Sends text of the answer to the caller; waits while the caller reads slowly."""


class Speech:
    """A TextSink. `only_complete`: sends the text of a reply only once the reply is complete."""

    def __init__(self, send: SendText, *, only_complete: bool) -> None:
        self._send_text = send
        self._only_complete = only_complete
        self._final: list[str] = []
        self._current: list[str] = []
        self._has_begun = self._is_partly_sent = self._has_text = self._is_finished = False
        self._wake = asyncio.Event()
        self._sender = asyncio.create_task(self._send_loop())

    def text(self, piece: str) -> None:
        if self._has_text and not self._has_begun:
            # Text before and after tool calls becomes two paragraphs.
            piece = f"\n\n{piece}"
        self._has_begun = True
        self._current.append(piece)
        if not self._only_complete:
            self._wake.set()

    def restart(self) -> None:
        """Restarts the reply; raises BrokenOffError if part of it has been sent."""
        if self._is_partly_sent:
            raise BrokenOffError("the model broke off in mid-answer")
        self._current.clear()
        self._has_begun = False

    def finish_reply(self) -> None:
        """Marks the reply as final; further text belongs to the next one."""
        self._has_text = self._has_text or self._has_begun
        self._final += self._current
        self._current.clear()
        self._has_begun = self._is_partly_sent = False
        self._wake.set()

    async def finish(self) -> None:
        """Waits until all final text has been sent."""
        self._is_finished = True
        self._wake.set()
        await self._sender

    def stop(self) -> None:
        self._sender.cancel()

    async def _send_loop(self) -> None:
        while not (self._is_finished and not self._final):
            await self._wake.wait()
            self._wake.clear()
            text = "".join(self._final)
            self._final.clear()
            if self._current and not self._only_complete:
                text += "".join(self._current)
                self._current.clear()
                self._is_partly_sent = True
            if text:
                await self._send_text(text)
                if not self._is_finished:
                    await asyncio.sleep(BATCH_SECONDS)
