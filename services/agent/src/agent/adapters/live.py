"""Publishes live events of running turns on core NATS: cheap, in order, and lost if nobody listens."""

import asyncio
from collections.abc import Mapping

from agent.ports import ConversationKey
from contracts.channels import LiveTurnKind, live_turn
from runtime.bus.publisher import Publisher, event_json
from runtime.errors import RuntimeLibraryError

SOURCE = "/nexus/agent"
MAX_UNDER_WAY = 10_000
"""Events not yet handed to the connection; beyond that they are dropped, since the final message tells everything."""


class LiveEvents:
    """Emits without waiting; one event is handed to the connection after the other."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._under_way: set[asyncio.Task[None]] = set()

    def emit(self, key: ConversationKey, kind: str, data: Mapping[str, object]) -> None:
        """Publishes a live event, e.g. of kind message.delta."""
        if len(self._under_way) >= MAX_UNDER_WAY:
            return
        event = event_json(f"live.turn.{kind}.v1", SOURCE, data, subject=f"{key.company}/{key.conversation}")
        subject = live_turn(*key, LiveTurnKind(kind))
        # Nothing overtakes what is under way.
        if not self._under_way and self._publisher.publish_live_now(subject, event):
            return
        # Tasks start in the order they are made, and a publish does not give way before it is in the buffer.
        task = asyncio.create_task(self._send(subject, event))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def flush(self, deadline: float) -> None:
        """Waits until everything has been handed over."""
        if self._under_way:
            await asyncio.wait(tuple(self._under_way), timeout=deadline)

    async def _send(self, subject: str, event: bytes) -> None:
        try:
            await self._publisher.publish_live(subject, event)
        except RuntimeLibraryError:
            return
