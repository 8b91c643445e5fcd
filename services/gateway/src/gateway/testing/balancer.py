"""For tests: a balancer in front of several gateways, like haproxy with `option forwardfor`."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle

MAX_HEAD_BYTES = 64 * 1024


class Balancer:
    """Connects each client to the next gateway, and adds the client's address to its first request."""

    def __init__(self, ports: Sequence[int], *, forwards: bool) -> None:
        self._turn = cycle(ports)
        self._forwards = forwards
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def url(self) -> str:
        """Its address for clients."""
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forwards one connection until one of its ends is closed."""
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            gateway_reader, gateway_writer = await asyncio.open_connection("127.0.0.1", next(self._turn))
        except (asyncio.IncompleteReadError, OSError):
            writer.close()
            return
        if self._forwards:
            peer = str(writer.get_extra_info("peername")[0])
            head = head[:-2] + f"X-Forwarded-For: {peer}\r\n\r\n".encode()
        gateway_writer.write(head)
        directions = [
            asyncio.create_task(_forward(reader, gateway_writer)),
            asyncio.create_task(_forward(gateway_reader, writer)),
        ]
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
            gateway_writer.close()
            writer.close()

    def stop(self) -> None:
        """Closes all open connections."""
        for task in self._connections:
            task.cancel()


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(MAX_HEAD_BYTES):
        writer.write(data)
        await writer.drain()


@asynccontextmanager
async def balanced(ports: Sequence[int], *, forwards: bool = True) -> AsyncGenerator[Balancer]:
    """Runs a balancer in front of these ports for the length of the block. `forwards`: whether it adds
    X-Forwarded-For."""
    balancer = Balancer(ports, forwards=forwards)
    server = await asyncio.start_server(balancer.serve, "127.0.0.1", 0, backlog=2048, limit=MAX_HEAD_BYTES)
    balancer.port = server.sockets[0].getsockname()[1]
    try:
        yield balancer
    finally:
        server.close()
        balancer.stop()
        await server.wait_closed()
