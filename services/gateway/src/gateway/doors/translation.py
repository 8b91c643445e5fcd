"""What most doors do with an exchange: each event becomes what the protocol says, and a person has time to reply."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Protocol

from gateway.chat.exchange import Ended, Event
from gateway.chat.thread import Thread

Json = dict[str, Any]
PERSON_SECONDS = 60.0
"""For the words of a person who has the conversation to come while the question is open; later ones come with
the next one."""


class Translation(Protocol):
    """One exchange in a protocol's words."""

    @property
    def ended(self) -> bool:
        """Whether the last of it was told: also where the turn goes on when its client has run a tool of its own."""
        ...

    @property
    def left_to_person(self) -> bool:
        """Whether a person has the conversation, or is awaited."""
        ...

    def hear(self, event: Event) -> list[Json]:
        """What an event becomes."""
        ...

    def finish(self) -> list[Json]:
        """The end, where nobody has said anything."""
        ...


async def translated(thread: Thread, asked: int, into: Translation) -> AsyncGenerator[list[Json]]:
    """What comes of the message at `asked`, as it comes; raises what Thread.events does."""
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
