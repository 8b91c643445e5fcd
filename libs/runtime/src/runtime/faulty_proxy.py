"""A TCP proxy that holds, delays, cuts and refuses connections on demand, for tests and drills."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

_CHUNK = 64 * 1024


class Proxy:
    """Forwards connections to a server. `url` is the server's URL with the proxy's address."""

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._pumps: set[asyncio.Task[None]] = set()
        self._replies = asyncio.Event()
        self._replies.set()
        self.delay = 0.0
        """Delay of every chunk in seconds, in both directions."""
        self.breaks_after: int | None = None
        """Bytes of a reply after which its connection breaks; None if it does not."""
        self.refusing = False
        """Whether new connections are closed immediately."""
        self.accepted = 0
        """The number of connections so far."""
        self.listener: Callable[[], Callable[[bytes], None]] | None = None
        """Returns for each connection a function that gets the bytes from its client."""

    @property
    def port(self) -> int:
        return int(self._server.sockets[0].getsockname()[1]) if self._server else 0

    @property
    def url(self) -> str:
        """The server's URL with the proxy's address."""
        user, at, _ = self._target.netloc.rpartition("@")
        return self._target._replace(netloc=f"{user}{at}127.0.0.1:{self.port}").geturl()

    def hold_replies(self) -> None:
        """Holds back what the server sends; what clients send still arrives."""
        self._replies.clear()

    def release_replies(self) -> None:
        """Forwards what was held back, and everything after it."""
        self._replies.set()

    def cut(self) -> None:
        """Breaks every connection; data held back is lost. New connections work."""
        for writer in list(self._open):
            writer.transport.abort()
        self._replies.set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        self.cut()
        for pump in list(self._pumps):
            pump.cancel()
        if self._pumps:
            await asyncio.wait(self._pumps, timeout=5)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(self._target.hostname, self._target.port)
        except OSError:
            writer.transport.abort()
            return
        self.accepted += 1
        pair = (writer, far_writer)
        self._open.update(pair)
        for pump in (self._pump(reader, far_writer, pair), self._pump(far_reader, writer, pair, replies=True)):
            task = asyncio.create_task(pump)
            self._pumps.add(task)
            task.add_done_callback(self._pumps.discard)

    async def _pump(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        pair: tuple[asyncio.StreamWriter, asyncio.StreamWriter],
        *,
        replies: bool = False,
    ) -> None:
        listener = self.listener() if self.listener is not None and not replies else None
        with suppress(OSError):
            while chunk := await source.read(_CHUNK):
                if listener is not None:
                    listener(chunk)
                if self.delay:
                    await asyncio.sleep(self.delay)
                if replies:
                    await self._replies.wait()
                if sink.transport.is_closing():
                    break
                must_break = replies and self.breaks_after is not None and len(chunk) > self.breaks_after
                sink.write(chunk[: self.breaks_after] if must_break else chunk)
                await sink.drain()
                if must_break:
                    break
        for writer in pair:
            writer.transport.abort()
            self._open.discard(writer)
