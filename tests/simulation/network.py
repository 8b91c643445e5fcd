"""Connections between processes and servers: in order within a connection, with seeded delays, held, cut.

Several writes that are under way at once arrive together, as in TCP. A process that is killed leaves its connections
to be closed by the network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from random import Random
from typing import Any, Protocol

from typing_extensions import override


class Remote(Protocol):
    """The server's end of one connection."""

    def received(self, data: bytes) -> None:
        """Bytes have arrived."""
        ...

    def closed(self) -> None:
        """The connection is gone."""
        ...


Listener = Callable[["Connection"], Remote]


class Network:
    """All connections; `delay` is the usual longest of one way, in seconds."""

    def __init__(self, random: Random, delay: float) -> None:
        self._random = random
        self.delay = delay
        self.listeners: dict[int, Listener] = {}
        self.connections: list[Connection] = []

    def latency(self) -> float:
        """One way of one piece; now and then one takes much longer."""
        random = self._random.random
        return self.delay * random() if random() > 0.01 else self.delay * 20 * random()

    async def connect(
        self, loop: asyncio.AbstractEventLoop, port: int, protocol: asyncio.Protocol, process: str
    ) -> asyncio.Transport:
        """Opens a connection.

        Raises:
            ConnectionRefusedError: nobody listens.
        """
        await asyncio.sleep(self.latency())
        listener = self.listeners.get(port)
        if listener is None:
            raise ConnectionRefusedError(111, "nobody listens")
        connection = Connection(self, loop, protocol, process)
        self.connections.append(connection)
        connection.remote = listener(connection)
        return connection

    def of(self, process: str) -> list[Connection]:
        """The open connections of a process."""
        return [connection for connection in self.connections if connection.process == process]

    def cut(self, process: str) -> None:
        """Both ends learn of it; what was under way is lost."""
        for connection in self.of(process):
            connection.cut()

    def leave(self, process: str, *, flushing: bool) -> None:
        """The process has died; what it had written may have left the machine before (`flushing`)."""
        for connection in self.of(process):
            connection.cut(flushing=flushing)

    def hold(self, process: str, seconds: float) -> None:
        """What a process sends and is sent arrives so much later, and nobody is told."""
        for connection in self.of(process):
            connection.hold(seconds)


class Connection(asyncio.Transport):
    """The process's end; `answer` is the server's."""

    def __init__(
        self, network: Network, loop: asyncio.AbstractEventLoop, protocol: asyncio.Protocol, process: str
    ) -> None:
        super().__init__()
        self.process = process
        self.remote: Remote | None = None
        self._network = network
        self._loop = loop
        self._protocol = protocol
        self._context: Context = copy_context()
        self._outside = Context()
        self._open = True
        self._held_until = 0.0
        self._there: list[bytes] = []
        self._back: list[bytes] = []
        self._there_at = self._back_at = 0.0
        protocol.connection_made(self)

    # ------------------------------------------------------------ the server's end

    def answer(self, data: bytes) -> None:
        """Sends bytes to the process."""
        if not self._open:
            return
        self._back.append(data)
        if len(self._back) == 1:
            at = self._arrival(self._back_at)
            self._back_at = at
            self._loop.call_at(at, self._arrive_back, context=self._outside)

    def cut(self, *, flushing: bool = False) -> None:
        """Resets the connection."""
        if flushing and self._open and self._there and self.remote is not None:
            self.remote.received(b"".join(self._there))
            self._there = []
        self._close(ConnectionResetError(104, "cut"))

    def hold(self, seconds: float) -> None:
        """Nothing arrives on either side for so long."""
        self._held_until = max(self._held_until, self._loop.time() + seconds)

    # ------------------------------------------------------------ the process's end

    @override
    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        if not self._open:
            return
        self._there.append(bytes(data))
        if len(self._there) == 1:
            at = self._arrival(self._there_at)
            self._there_at = at
            self._loop.call_at(at, self._arrive_there, context=self._outside)

    @override
    def close(self) -> None:
        if self._open:
            self._arrive_there()
            self._close(None)

    @override
    def abort(self) -> None:
        self._close(None)

    @override
    def is_closing(self) -> bool:
        return not self._open

    @override
    def get_write_buffer_size(self) -> int:
        return 0

    @override
    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """There is always room."""

    @override
    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    @override
    def pause_reading(self) -> None:
        """Nothing waits here for long."""

    @override
    def resume_reading(self) -> None:
        """Nor is there anything to resume."""

    # ------------------------------------------------------------ the wire

    def _arrival(self, earlier: float) -> float:
        return max(self._loop.time() + self._network.latency(), earlier, self._held_until)

    def _arrive_there(self) -> None:
        if self._open and self._there and self.remote is not None:
            if self._held_until > self._loop.time():
                self._loop.call_at(self._held_until, self._arrive_there, context=self._outside)
                return
            data, self._there = b"".join(self._there), []
            self.remote.received(data)

    def _arrive_back(self) -> None:
        if self._open and self._back:
            if self._held_until > self._loop.time():
                self._loop.call_at(self._held_until, self._arrive_back, context=self._outside)
                return
            data, self._back = b"".join(self._back), []
            self._loop.call_soon(self._protocol.data_received, data, context=self._context)

    def _close(self, error: Exception | None) -> None:
        if not self._open:
            return
        self._open = False
        self._network.connections.remove(self)
        if self.remote is not None:
            self.remote.closed()
        self._loop.call_soon(self._protocol.connection_lost, error, context=self._context)
