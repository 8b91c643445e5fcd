"""The common part of most doors: it translates an exchange's events, and gives a person time to reply."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from gateway.chat.exchange import Event
from gateway.chat.thread import EXCHANGE_SECONDS, Thread
from gateway.errors import TookTooLongError

Json = dict[str, Any]
Tell = Callable[[list[Json]], Awaitable[None]]
"""Sends events that belong together to the client."""
PERSON_SECONDS = 60.0
"""Seconds for which a request stays open for the reply of a person who has the conversation; a later reply comes with
the next request."""


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


async def translate(thread: Thread, asked: int, into: Translation, tell: Tell) -> None:
    """Tells the outcome of the message at `asked`, as it happens; raises what Thread.heard does."""
    left = False
    try:
        thread.follow(asked, await_person=True)
        while events := await thread.next_events():
            told: list[Json] = []
            for event in events:
                told += into.hear(event)
                if into.ended:
                    break
            if told:
                await tell(told)
            if into.ended:
                return
            if into.left_to_person != left:
                left = into.left_to_person
                thread.wait_at_most(PERSON_SECONDS if left else EXCHANGE_SECONDS)
    except TookTooLongError:
        if not left:
            raise
        await tell(into.finish())
