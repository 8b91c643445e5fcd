"""Publishes live events of running turns on core NATS: cheap, in order, and lost if nothing listens."""

import asyncio
from collections.abc import Mapping

from agent.ports import ConversationKey
from contracts.channels import LiveTurnKind, live_turn
from runtime.background import start_task
from runtime.bus.publisher import Publisher, event_json
from runtime.errors import RuntimeLibraryError

SOURCE = "/nexus/agent"
MAX_UNDER_WAY = 10_000
"""Events not yet handed to the connection; further ones are dropped, because the final message contains everything."""


class LiveEvents:
    """Emits events without waiting, and hands them to the connection in order."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._under_way: set[asyncio.Task[None]] = set()

    def emit(self, key: ConversationKey, kind: str, data: Mapping[str, object]) -> None:
        """Publishes a live event, e.g. of kind message.delta."""
        if len(self._under_way) >= MAX_UNDER_WAY:
            return
        event = event_json(f"live.turn.{kind}.v1", SOURCE, data, subject=f"{key.company}/{key.conversation}")
        subject = live_turn(*key, LiveTurnKind(kind))
        # Sent directly only if no earlier event is still under way, which it would overtake.
        if not self._under_way and self._publisher.publish_live_now(subject, event):
            return
        # The order is kept: tasks start in the order of their creation, and a publish does not suspend before its event
        # is in the buffer.
        start_task(self._send(subject, event), self._under_way)

    async def flush(self, deadline: float) -> None:
        """Waits until all events have been handed over, at most `deadline` seconds."""
        if self._under_way:
            await asyncio.wait(tuple(self._under_way), timeout=deadline)

    async def _send(self, subject: str, event: bytes) -> None:
        try:
            await self._publisher.publish_live(subject, event)
        except RuntimeLibraryError:
            return
