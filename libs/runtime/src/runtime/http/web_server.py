"""uvicorn without polling.

uvicorn's own loop checks ten times a second whether to end, which is a sixth of an idle service's cost.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator

import uvicorn


class QuietServer(uvicorn.Server):
    """A server that ends when `end` is called; the service handles signals. If responses carry a date, it is updated
    every second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()

    def end(self) -> None:
        """Ends the server, from any thread."""
        self.should_exit = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._end.set)

    async def main_loop(self) -> None:
        """Waits for the end."""
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0 if self.config.date_header else None):
                    await self._end.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Captures none: the service handles signals itself."""
        yield
