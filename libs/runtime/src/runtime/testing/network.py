"""For tests: a proxy in front of a server that misbehaves on demand."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from runtime.faulty_proxy import Proxy

__all__ = ["Proxy", "proxy_to"]


@asynccontextmanager
async def proxy_to(url: str) -> AsyncGenerator[Proxy]:
    """Runs a proxy to the server at `url` during the block."""
    proxy = Proxy(url)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()
