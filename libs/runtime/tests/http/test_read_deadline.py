"""A deadline for what somebody else sends."""

import asyncio
import threading

from runtime.http.read_deadline import GRACE_SECONDS, ReadDeadline


async def test_what_came_while_the_process_stood_still_is_read_first() -> None:
    ended: list[str] = []
    later = asyncio.Event()
    first = ReadDeadline(0.01, lambda: ended.append("first"))
    asyncio.get_running_loop().call_later(0.02, first.cancel)  # as reading does, behind what is due
    threading.Event().wait(3 * GRACE_SECONDS)  # nothing else runs: the fault itself
    ReadDeadline(2 * GRACE_SECONDS, later.set)  # nobody cancels it; the first would have ended by then
    await asyncio.wait_for(later.wait(), 20)
    assert ended == []
