"""Streams a running answer to the caller: in batches, and held back while the caller reads slowly.

Unlike in a chat, sent text cannot be taken back. If a reply is restarted after part of it was sent, the completion ends
with an error. A caller who does not stream gets only complete replies and never notices a restart.
"""

import asyncio
from collections.abc import Awaitable, Callable

BATCH_SECONDS = 0.03
"""The first piece goes out at once, further ones together, at most this often."""


class BrokenOffError(Exception):
    """The model broke off after part of its reply had gone out."""


Say = Callable[[str], Awaitable[None]]
"""Takes the text of the answer; it waits while the caller is behind."""


class Speech:
    """A TextSink. `whole`: the text of a reply waits until the reply is whole."""

    def __init__(self, say: Say, *, whole: bool) -> None:
        self._say = say
        self._whole = whole
        self._standing: list[str] = []
        self._running: list[str] = []
        self._begun = self._out = self._said = self._ended = False
        self._wake = asyncio.Event()
        self._sending = asyncio.create_task(self._send())

    def text(self, piece: str) -> None:
        if self._said and not self._begun:
            # A model that says something, uses tools and goes on: two paragraphs.
            piece = f"\n\n{piece}"
        self._begun = True
        self._running.append(piece)
        if not self._whole:
            self._wake.set()

    def restart(self) -> None:
        """Restarts the reply; raises BrokenOffError if part of it has been sent."""
        if self._out:
            raise BrokenOffError("the model broke off in mid-answer")
        self._running.clear()
        self._begun = False

    def finish_reply(self) -> None:
        """The reply is final; what follows belongs to the next one."""
        self._said = self._said or self._begun
        self._standing += self._running
        self._running.clear()
        self._begun = self._out = False
        self._wake.set()

    async def finish(self) -> None:
        """Waits until everything that is final has been sent."""
        self._ended = True
        self._wake.set()
        await self._sending

    def stop(self) -> None:
        self._sending.cancel()

    async def _send(self) -> None:
        while not (self._ended and not self._standing):
            await self._wake.wait()
            self._wake.clear()
            text = "".join(self._standing)
            self._standing.clear()
            if self._running and not self._whole:
                text += "".join(self._running)
                self._running.clear()
                self._out = True
            if text:
                await self._say(text)
                if not self._ended:
                    await asyncio.sleep(BATCH_SECONDS)
