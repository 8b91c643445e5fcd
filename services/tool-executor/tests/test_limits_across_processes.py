"""Three executor processes and one limit: 64 tasks never get more through than it allows, by Redis's own clock."""

import asyncio
import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from nats.aio.client import Client
from redis import Redis

from contracts.errors import ToolCode
from runtime.testing.servers import NatsServer, ValkeyServer
from tool_executor.testing.harness import Someone, ToolRequester, executor_processes
from tool_executor.testing.process import PER_SECOND

SECONDS = 30.0
TASKS, PROCESSES = 64, 3
MICRO = 1_000_000


async def test_three_processes_never_let_more_through_than_the_limit(
    nats_server: NatsServer, nats_client: Client, valkey_server: ValkeyServer, tmp_path: Path
):
    async with executor_processes("process", nats_server.url, valkey_server.url, tmp_path, PROCESSES):
        outcomes, admitted, opening = await _hammer(ToolRequester(nats_client))
    assert set(outcomes) == {"ok", ToolCode.RATE_LIMIT}, outcomes
    redis: Any = Redis.from_url(valkey_server.url)  # pyright: ignore[reportUnknownMemberType]
    kept = redis.zrange("tool:limit:demo:user-1:counted", 0, -1, withscores=True)
    redis.close()
    # Redis holds the calls that were let through, and no others: who was refused consumed nothing.
    assert {member.decode() for member, _ in kept} == admitted
    times = [score for _, score in kept]
    for first, at in enumerate(times):
        last = first + PER_SECOND
        assert last >= len(times) or times[last] - at >= MICRO, "more than the limit within a second"
    # And the limit is not below what it says: whoever was refused met all that it allows within the second that begins
    # with the call that they were told to wait for.
    oldest: defaultdict[int, list[int]] = defaultdict(list)
    for first, at in enumerate(times):
        oldest[math.ceil((at + MICRO) / 1000)].append(first)
    for reset_at in opening:
        full = [first for first in oldest[reset_at] if first + PER_SECOND <= len(times)]
        assert any(times[first + PER_SECOND - 1] - times[first] < MICRO for first in full), "refused below the limit"


async def _hammer(asker: ToolRequester) -> tuple[Counter[str], set[str], set[int]]:
    """Asks as fast as 64 tasks can; what came of it, the calls that were let through, and when the others were told
    that the limit opens (milliseconds since the epoch)."""
    outcomes: Counter[str] = Counter()
    admitted: set[str] = set()
    opening: set[int] = set()
    loop = asyncio.get_running_loop()
    end = loop.time() + SECONDS

    async def task(number: int) -> None:
        calls = 0
        while loop.time() < end:
            call_id = f"{number}-{calls}"
            calls += 1
            error = (await asker.call("counted", {}, Someone(), call_id=call_id)).result.error
            outcomes["ok" if error is None else str(error.code)] += 1
            if error is None:
                admitted.add(call_id)
            elif error.reset_at is not None:
                opening.add(error.reset_at)

    async with asyncio.timeout(SECONDS + 60):
        await asyncio.gather(*(task(number) for number in range(TASKS)))
    assert opening
    return outcomes, admitted, opening
