"""What most doors have in common: translating an exchange's events, and giving a person time to reply."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Protocol

from gateway.chat.exchange import Ended, Event
from gateway.chat.thread import Thread

Json = dict[str, Any]
PERSON_SECONDS = 60.0
"""How long a request stays open for the reply of a person who has the conversation; a later reply comes with the
next request."""


class Translation(Protocol):
    """Translates one exchange into a protocol."""

    @property
    def ended(self) -> bool:
        """Whether the last event was told, or the turn continues only after the client has run its own tool."""
        ...

    @property
    def left_to_person(self) -> bool:
        """Whether a person has the conversation, or is awaited."""
        ...

    def hear(self, event: Event) -> list[Json]:
        """The protocol's events for an event."""
        ...

    def finish(self) -> list[Json]:
        """The end, if nobody has said anything."""
        ...


async def translated(thread: Thread, asked: int, into: Translation) -> AsyncGenerator[list[Json]]:
    """The outcome of the message at `asked`, as it happens; raises what Thread.events does."""
    async with aclosing(thread.events(asked, patient=True)) as events:
        waiting = asyncio.timeout(None)
        try:
            async with waiting:
                async for event in events:
                    yield into.hear(event)
                    if isinstance(event, Ended) or into.ended:
                        return
                    if into.left_to_person != (waiting.when() is not None):
                        now = asyncio.get_running_loop().time()
                        waiting.reschedule(now + PERSON_SECONDS if into.left_to_person else None)
        except TimeoutError:
            yield into.finish()
