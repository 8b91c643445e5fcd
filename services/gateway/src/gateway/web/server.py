"""Runs uvicorn inside a service that handles signals itself."""

import asyncio
import socket

import uvicorn
from starlette.types import ASGIApp

from gateway.domain.client_frames import MAX_FRAME_BYTES
from gateway.web.http_transport import IDLE_SECONDS, BoundedHttp
from gateway.web.transport import ChatProtocol
from runtime.http.web_server import QuietServer

KERNEL_BYTES = 64 * 1024
"""Bytes that the kernel takes for a connection beyond what it is sending."""
START_DEADLINE = 10.0
"""Seconds for the web server to listen."""


class WebServer:
    """Serves an ASGI application with the chat's websocket protocol."""

    def __init__(self, application: ASGIApp, *, host: str, port: int, heartbeat_seconds: float) -> None:
        self._server = QuietServer(
            uvicorn.Config(
                application,
                interface="asgi3",
                http=BoundedHttp,
                ws=ChatProtocol,
                ws_max_size=MAX_FRAME_BYTES,
                ws_per_message_deflate=False,
                ws_ping_interval=heartbeat_seconds,
                ws_ping_timeout=heartbeat_seconds,
                proxy_headers=False,  # the application handles them (web/proxies.py)
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                backlog=4096,
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=5,
            )
        )
        self._address = (host, port)
        self._serving: asyncio.Task[None] | None = None
        self.port = port

    async def start(self) -> None:
        """Starts listening. Raises OSError if the port is taken."""
        family = socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET
        # The protocol is given so that asyncio sets TCP_NODELAY: otherwise the second of two writes waits for the
        # client's acknowledgement, about 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # Accepted connections inherit it. Otherwise the kernel takes up to 4 MiB for each client that does not
            # read, which counts as this container's memory.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, KERNEL_BYTES)
            listener.bind(self._address)
        except OSError:
            listener.close()
            raise
        self.port = listener.getsockname()[1]
        self._serving = asyncio.get_running_loop().create_task(self._server.serve(sockets=[listener]))
        async with asyncio.timeout(START_DEADLINE):
            while not self._server.started:
                if self._serving.done():
                    await self._serving
                    raise RuntimeError("the web server ended while it started")
                await asyncio.sleep(0.005)

    async def stop(self) -> None:
        self._server.end()
        if self._serving is not None:
            await self._serving
