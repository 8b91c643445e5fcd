"""The common part of most doors: translates an exchange's events, and gives a person time to reply."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from gateway.chat.exchange import Event
from gateway.chat.thread import EXCHANGE_SECONDS, Thread
from gateway.errors import TookTooLongError

Json = dict[str, Any]
Send = Callable[[list[Json]], Awaitable[None]]
"""Sends events that belong together to the client."""
PERSON_SECONDS = 60.0
"""Seconds for which a request stays open for the reply of a person who has the conversation; a later reply is sent with
the next request."""


class Translation(Protocol):
    """Translates one exchange into a protocol."""

    @property
    def has_ended(self) -> bool:
        """Whether the last event was translated, or the turn continues only after the client has run its own tool."""
        ...

    @property
    def left_to_person(self) -> bool:
        """Whether a person has the conversation or was asked for."""
        ...

    def events_for(self, event: Event) -> list[Json]:
        """The protocol's events for an event of the exchange."""
        ...

    def finish(self) -> list[Json]:
        """The protocol's last events, for the case that nobody has replied."""
        ...


async def translate(thread: Thread, question_seq: int, translation: Translation, send: Send) -> None:
    """Sends the outcome of the message at `question_seq` as it happens; raises what Thread.next_events does."""
    left_to_person = False
    try:
        thread.follow(question_seq, await_person=True)
        while events := await thread.next_events():
            translated: list[Json] = []
            for event in events:
                translated += translation.events_for(event)
                if translation.has_ended:
                    break
            if translated:
                await send(translated)
            if translation.has_ended:
                return
            if translation.left_to_person != left_to_person:
                left_to_person = translation.left_to_person
                thread.wait_at_most(PERSON_SECONDS if left_to_person else EXCHANGE_SECONDS)
    except TookTooLongError:
        if not left_to_person:
            raise
        await send(translation.finish())
