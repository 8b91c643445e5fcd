"""Reads from the record of a turn (turns.recorded.v1) which tools it called, with which arguments and results."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from nats.aio.client import Client

from contracts.streams import FACTS
from runtime.bus.direct import DirectReader

WITHIN = 10.0
PAUSE = 0.05


async def record_of(client: Client, company: str, turn: str) -> dict[str, Any] | None:
    """The turn's record (the newest, when no turn is named), which comes a moment after its answer; None: it has not.

    Raises:
        ReadFailedError: the bus does not answer.
    """
    reader = DirectReader(client, FACTS.name)
    end = asyncio.get_running_loop().time() + WITHIN
    while True:
        for fact in await reader.last_of_each([f"turns.recorded.v1.{company}.*"]):
            data: dict[str, Any] = json.loads(fact.event)["data"]
            if not turn or data["turnId"] == turn:
                return data
        if asyncio.get_running_loop().time() > end:
            return None
        await asyncio.sleep(PAUSE)
