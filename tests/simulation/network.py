"""Connections between processes and servers: ordered within a connection, with seeded delays; they can be held or cut.

Writes that are under way at the same time arrive together, as in TCP. The network closes the connections of a killed
process.
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
        """Handles bytes that have arrived."""
        ...

    def closed(self) -> None:
        """Handles the end of the connection."""
        ...


Listener = Callable[["Connection"], Remote]


class Network:
    """All connections; `delay` is the usual maximum of the one-way latency, in seconds."""

    def __init__(self, random: Random, delay: float) -> None:
        self._random = random
        self.delay = delay
        self.listeners: dict[int, Listener] = {}
        self.connections: list[Connection] = []

    def latency(self) -> float:
        """Returns a one-way latency in seconds; one in a hundred is much longer."""
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
        """Returns the open connections of a process."""
        return [connection for connection in self.connections if connection.process == process]

    def cut(self, process: str) -> None:
        """Cuts the connections of a process; both ends see it, bytes under way are lost."""
        for connection in self.of(process):
            connection.cut()

    def leave(self, process: str, *, flushing: bool) -> None:
        """Closes the connections of a process that died; `flushing`: bytes it had written still arrive."""
        for connection in self.of(process):
            connection.cut(flushing=flushing)

    def hold(self, process: str, seconds: float) -> None:
        """Delays everything a process sends and receives; neither end notices."""
        for connection in self.of(process):
            connection.hold(seconds)


class Connection(asyncio.Transport):
    """The process's end of a connection; `answer` is for the server's end."""

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
        self._to_server: list[bytes] = []
        self._to_process: list[bytes] = []
        self._to_server_at = self._to_process_at = 0.0
        protocol.connection_made(self)

    # ------------------------------------------------------------ the server's end

    def answer(self, data: bytes) -> None:
        """Sends bytes to the process."""
        if not self._open:
            return
        self._to_process.append(data)
        if len(self._to_process) == 1:
            at = self._arrival(self._to_process_at)
            self._to_process_at = at
            self._loop.call_at(at, self._deliver_to_process, context=self._outside)

    def cut(self, *, flushing: bool = False) -> None:
        """Resets the connection."""
        if flushing and self._open and self._to_server and self.remote is not None:
            self.remote.received(b"".join(self._to_server))
            self._to_server = []
        self._close(ConnectionResetError(104, "cut"))

    def hold(self, seconds: float) -> None:
        """Holds the bytes of both directions for some seconds."""
        self._held_until = max(self._held_until, self._loop.time() + seconds)

    # ------------------------------------------------------------ the process's end

    @override
    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        if not self._open:
            return
        self._to_server.append(bytes(data))
        if len(self._to_server) == 1:
            at = self._arrival(self._to_server_at)
            self._to_server_at = at
            self._loop.call_at(at, self._deliver_to_server, context=self._outside)

    @override
    def close(self) -> None:
        if self._open:
            self._deliver_to_server()
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
        """Does nothing: the buffer is never full."""

    @override
    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    @override
    def pause_reading(self) -> None:
        """Does nothing: reading is never paused."""

    @override
    def resume_reading(self) -> None:
        """Does nothing: reading is never paused."""

    # ------------------------------------------------------------ the wire

    def _arrival(self, earlier: float) -> float:
        return max(self._loop.time() + self._network.latency(), earlier, self._held_until)

    def _deliver_to_server(self) -> None:
        if self._open and self._to_server and self.remote is not None:
            if self._held_until > self._loop.time():
                self._loop.call_at(self._held_until, self._deliver_to_server, context=self._outside)
                return
            data, self._to_server = b"".join(self._to_server), []
            self.remote.received(data)

    def _deliver_to_process(self) -> None:
        if self._open and self._to_process:
            if self._held_until > self._loop.time():
                self._loop.call_at(self._held_until, self._deliver_to_process, context=self._outside)
                return
            data, self._to_process = b"".join(self._to_process), []
            self._loop.call_soon(self._protocol.data_received, data, context=self._context)

    def _close(self, error: Exception | None) -> None:
        if not self._open:
            return
        self._open = False
        self._network.connections.remove(self)
        if self.remote is not None:
            self.remote.closed()
        self._loop.call_soon(self._protocol.connection_lost, error, context=self._context)
