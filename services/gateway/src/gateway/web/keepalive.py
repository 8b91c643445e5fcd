"""A response in server-sent events: pieces as they come, and a comment after a pause."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

PAUSE = 10.0
"""Seconds of silence after which a comment is sent, so that no proxy closes the connection."""
COMMENT = b": still at it\n\n"
AHEAD = 16
"""Pieces that may be queued for the reader."""
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class EventStream(StreamingResponse):
    """The pieces; those ready together go out in one write, and a comment after each PAUSE of silence.

    The source runs in one task of its own, to its end or to this one's, so its own deadlines work. It is closed when
    the client goes.
    """

    def __init__(self, parts: AsyncGenerator[bytes], headers: Mapping[str, str] = HEADERS) -> None:
        super().__init__(parts, media_type="text/event-stream", headers=headers)
        self._parts = parts
        self._ready: list[bytes] = []
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._gone = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # It begins whatever comes: what it holds open is closed by itself alone.
        taking = asyncio.create_task(self._take())
        taking.add_done_callback(lambda _: self._changed.set())
        watching = asyncio.create_task(self._watch(receive))
        try:
            await asyncio.sleep(0)  # what is ready at once goes out with the headers
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await self._deliver(taking, send)
        finally:
            watching.cancel()
            taking.cancel()
            await asyncio.wait((taking,))  # what fails in it behind a client that has gone, asyncio logs

    async def _deliver(self, taking: asyncio.Task[None], send: Send) -> None:
        while True:
            if not (self._ready or self._gone or taking.done()):
                pause = asyncio.get_running_loop().call_later(PAUSE, self._changed.set)
                await self._changed.wait()
                pause.cancel()
                if not (self._ready or self._gone or taking.done()):
                    self._changed.clear()
                    await send(_body(COMMENT))
                    continue
            self._changed.clear()
            if self._gone:
                return
            ended = taking.done()
            whole = ended and not taking.cancelled() and taking.exception() is None
            piece = b"".join(self._ready)
            self._ready.clear()
            self._room.set()
            if piece or whole:
                await send(_body(piece, more=not whole))
            if ended:
                taking.result()
                return

    async def _take(self) -> None:
        async with aclosing(self._parts) as parts:
            async for part in parts:
                if not self._ready:
                    self._changed.set()
                self._ready.append(part)
                if len(self._ready) >= AHEAD:
                    self._room.clear()
                    await self._room.wait()

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._changed.set()


def _body(piece: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": piece, "more_body": more}
