"""``python -m tool_executor.testing.crawler NATS REDIS READY RATE``: starts an executor that tests kill and pause."""

import asyncio
import sys
from pathlib import Path

from tool_executor.adapters.page_fetcher import HEADERS
from tool_executor.settings import ExecutorSettings
from tool_executor.testing.harness import serve_until_killed

if __name__ == "__main__":
    _, nats_url, redis_url, ready, rate = sys.argv
    HEADERS["X-Executor"] = Path(ready).name
    settings = ExecutorSettings(crawl_own_per_second=float(rate))
    asyncio.run(serve_until_killed(nats_url, redis_url, Path(ready), loopback=True, settings=settings))
