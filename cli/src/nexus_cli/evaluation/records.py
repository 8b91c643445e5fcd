"""Reads the record of a turn (turns.recorded.v1)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from nats.aio.client import Client

from contracts.streams import FACTS
from runtime.bus.direct import DirectReader

RECORD_SECONDS = 10.0
RETRY_SECONDS = 0.05


async def record_of(client: Client, company: str, turn: str) -> dict[str, Any] | None:
    """Waits for the record of a turn, which is written shortly after its answer. None if it does not come in time. If
    `turn` is empty, the newest record is returned.

    Raises:
        ReadFailedError: the bus does not answer.
    """
    reader = DirectReader(client, FACTS.name)
    end = asyncio.get_running_loop().time() + RECORD_SECONDS
    while True:
        for fact in await reader.last_of_each([f"turns.recorded.v1.{company}.*"]):
            data: dict[str, Any] = json.loads(fact.event)["data"]
            if not turn or data["turnId"] == turn:
                return data
        if asyncio.get_running_loop().time() > end:
            return None
        await asyncio.sleep(RETRY_SECONDS)
