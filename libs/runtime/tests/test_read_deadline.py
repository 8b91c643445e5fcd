"""A deadline for what somebody else sends."""

import asyncio
import time

from runtime.read_deadline import GRACE, ReadDeadline


async def test_what_came_while_the_process_stood_still_is_read_first() -> None:
    ended: list[bool] = []
    deadline = ReadDeadline(0.01, lambda: ended.append(True))
    asyncio.get_running_loop().call_later(0.02, deadline.cancel)  # as reading does, behind what is due
    time.sleep(3 * GRACE)  # noqa: ASYNC251 - the process stands still
    await asyncio.sleep(2 * GRACE)
    assert not ended
