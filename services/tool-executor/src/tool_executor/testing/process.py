"""``python -m tool_executor.testing.process NATS REDIS READY``: starts an executor for tests with several of them.

Besides the catalogue it serves the tool `counted`, with two limits: 20 calls in any *second*, so that the window slides
many times within a test, and a million in a day, so that Redis keeps the time of every admitted call. It creates the
file READY when it can be called.
"""

import asyncio
import sys
from pathlib import Path

from tool_executor.domain import limits
from tool_executor.testing.harness import CountingHandler, serve_until_killed, tool_named

PER_SECOND = 20


if __name__ == "__main__":
    limits.WINDOW_SECONDS["minute"] = 1
    counted = tool_named("counted", CountingHandler(), per_minute=PER_SECOND, per_day=1_000_000)
    asyncio.run(serve_until_killed(sys.argv[1], sys.argv[2], Path(sys.argv[3]), tools=(counted,)))
