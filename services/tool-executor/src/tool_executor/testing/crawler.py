"""``python -m tool_executor.testing.crawler NATS REDIS READY RATE``: starts an executor that tests kill and pause."""

import asyncio
import sys
from pathlib import Path

import nats

from tool_executor.adapters.page_fetcher import HEADERS
from tool_executor.settings import ExecutorSettings
from tool_executor.testing.harness import running_executor


async def _serve(nats_url: str, redis_url: str, ready: Path, rate: float) -> None:
    client = await nats.connect(nats_url)  # pyright: ignore[reportUnknownMemberType] - untyped options
    HEADERS["X-Executor"] = ready.name
    settings = ExecutorSettings(crawl_own_per_second=rate)
    async with running_executor(client, redis_url, loopback=True, settings=settings):
        await asyncio.to_thread(ready.touch)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], sys.argv[2], Path(sys.argv[3]), float(sys.argv[4])))
