"""For tests: a balancer in front of several gateways, as haproxy with `option forwardfor` is one."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle

MOST_HEAD = 64 * 1024


class Balancer:
    """Hands connection after connection to the next gateway, and adds to the first request of each who is calling."""

    def __init__(self, ports: Sequence[int], *, forwards: bool) -> None:
        self._turn = cycle(ports)
        self._forwards = forwards
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until one of its ends is closed."""
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", next(self._turn))
        except (asyncio.IncompleteReadError, OSError):
            writer.close()
            return
        if self._forwards:
            peer = str(writer.get_extra_info("peername")[0])
            head = head[:-2] + f"X-Forwarded-For: {peer}\r\n\r\n".encode()
        to_writer.write(head)
        ways = [asyncio.create_task(_pass(reader, to_writer)), asyncio.create_task(_pass(to_reader, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            to_writer.close()
            writer.close()

    def stop(self) -> None:
        """Cuts what is still open."""
        for task in self._connections:
            task.cancel()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(MOST_HEAD):
        writer.write(data)
        await writer.drain()


@asynccontextmanager
async def balanced(ports: Sequence[int], *, forwards: bool = True) -> AsyncGenerator[Balancer]:
    """A balancer in front of these ports for the length of the block; `forwards`: whether it says who is calling."""
    balancer = Balancer(ports, forwards=forwards)
    server = await asyncio.start_server(balancer.serve, "127.0.0.1", 0, backlog=2048, limit=MOST_HEAD)
    balancer.port = server.sockets[0].getsockname()[1]
    try:
        yield balancer
    finally:
        server.close()
        balancer.stop()
        await server.wait_closed()
