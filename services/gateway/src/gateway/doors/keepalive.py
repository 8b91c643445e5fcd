"""A response in server-sent events: pieces as they come, and a comment where nothing comes for a while."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TypeVar

PAUSE = 10.0
"""Seconds without a word, after which a comment says that somebody is still here: nobody on the way hangs up."""
COMMENT = b": still at it\n\n"
AHEAD = 16
"""Items that may wait for whoever reads."""
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
ItemT = TypeVar("ItemT")


async def with_pauses(source: AsyncGenerator[ItemT], pause: float = PAUSE) -> AsyncGenerator[ItemT | None]:
    """The items; None after each `pause` seconds without one. The source runs in one task of its own, to its end or to
    this one's: what it waits for with a deadline is its own.
    """
    items: asyncio.Queue[ItemT] = asyncio.Queue(AHEAD)

    async def take() -> None:
        async with aclosing(source):
            async for item in source:
                await items.put(item)

    taking = asyncio.create_task(take())
    try:
        while not (taking.done() and items.empty()):
            if items.empty():
                getting = asyncio.ensure_future(items.get())
                await asyncio.wait((getting, taking), timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                if getting.done():
                    yield getting.result()
                    continue
                getting.cancel()
                if not taking.done():
                    yield None
            else:
                yield items.get_nowait()
        await taking
    finally:
        taking.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await taking
