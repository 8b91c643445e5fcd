"""Ends a process and its connection, even if something in it hangs."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError

log = structlog.get_logger(__name__)

OVERDUE_EXIT_CODE = 70
"""Exit code of a process that was ended at its drain deadline (sysexits.h: an internal error)."""


def force_end_after(seconds: float) -> None:
    """Kills the process after this many seconds, whatever it still waits for: a thread in a system call, a hanging
    event loop, an exporter's last batch. None of them can be cancelled."""

    def end() -> None:
        # In a thread, since writing the log may be what hangs.
        threading.Thread(target=log.error, args=("service.overdue",), kwargs={"after": seconds}, daemon=True).start()
        time.sleep(0.1)
        os._exit(OVERDUE_EXIT_CODE)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


async def close(client: Client, deadline: float) -> None:
    """Closes a connection after sending what is queued, if that takes at most `deadline` seconds."""
    if client.is_connected:
        with suppress(NatsError, TimeoutError):
            async with asyncio.timeout(deadline):
                await client.drain()
    if not client.is_closed:
        with suppress(NatsError, TimeoutError):
            async with asyncio.timeout(1):
                await client.close()


async def run_hooks(hooks: Sequence[Callable[[], Awaitable[None]]], deadline: float) -> None:
    """Runs the hooks one after another, within `deadline` seconds in all."""
    end = time.monotonic() + deadline
    for hook in hooks:
        await run_within(hook(), max(end - time.monotonic(), 0.1))


async def run_within(work: Awaitable[object], deadline: float) -> None:
    """Awaits the work for at most `deadline` seconds; logs what it raises."""
    try:
        async with asyncio.timeout(deadline):
            await work
    except TimeoutError:
        log.warning("service.drain_timeout", after=round(deadline, 1))
    except Exception:
        log.exception("service.stop_failed")
