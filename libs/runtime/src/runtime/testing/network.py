"""For tests: a proxy that misbehaves on demand before a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from runtime.faulty_proxy import Proxy

__all__ = ["Proxy", "proxy_to"]


@asynccontextmanager
async def proxy_to(url: str) -> AsyncGenerator[Proxy]:
    """A proxy to the server at `url` for the length of the block."""
    proxy = Proxy(url)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()
