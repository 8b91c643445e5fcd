"""Says in a channel what was said in its conversation: at least once, and nothing twice for whoever reads it there.

Chatwoot knows no message by an id of ours, so that one which may have come already (whoever sent it died before they
could say so) is looked for first: in what Chatwoot has told its bot of its messages (the echo), and in the conversation
itself, where the token may read it.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import structlog

from contracts.company import Channel
from contracts.ids import place_in_channel
from memory.application.webhook_answers import Answer
from memory.domain.channels import Status, Words, told
from memory.errors import CacheUnavailable

_log = structlog.get_logger(__name__)
DONE = Answer(204)


class ChannelApi(Protocol):
    """A Chatwoot. Nothing raises for what it or the network does."""

    async def say(self, channel: Channel, number: int, words: Words) -> Answer:
        """A message of the bot's."""
        ...

    async def holds(self, channel: Channel, number: int, words: Words, since: float) -> bool | None:
        """Whether the conversation has these words since then (seconds since the epoch); None: it may not be read."""
        ...

    async def set_status(self, channel: Channel, number: int, status: str) -> Answer:
        """Who has the conversation."""
        ...


class Echoes(Protocol):
    """Which of our messages are known to have come. Every method raises CacheUnavailable."""

    async def note(self, company: str, conversation: str, message: str | None, digest: str) -> None:
        """This one has."""
        ...

    async def has(self, company: str, conversation: str, message: str, digest: str, since: float) -> bool:
        """Whether it has; where its id has got lost, its words since then."""
        ...


class ChannelDelivery:
    """One for the process."""

    def __init__(self, api: ChannelApi, echoes: Echoes) -> None:
        self._api = api
        self._echoes = echoes

    async def deliver(self, channel: Channel, event: Mapping[str, Any], stored_at: float, *, again: bool) -> Answer:
        """What came of one fact. `again`: it may have been sent before.

        Raises:
            CacheUnavailable: it may have been sent before, and whether it has come cannot be told now.
        """
        company, _, conversation = str(event["subject"]).partition("/")
        place = place_in_channel(company, conversation)
        words = told(str(event["type"]), event["data"])
        if place is None or words is None:
            return DONE
        if isinstance(words, Status):
            return await self._api.set_status(channel, place[1], words.status)
        try:
            has_come = await self._echoes.has(company, conversation, words.id, words.digest, stored_at)
        except CacheUnavailable:
            if again:
                raise
            has_come = False
        if has_come or (again and await self._api.holds(channel, place[1], words, stored_at)):
            _log.info("channel.has_come_already", company=company, message=words.id)
            return DONE
        answer = await self._api.say(channel, place[1], words)
        if answer.status // 100 == 2:
            try:
                await self._echoes.note(company, conversation, words.id, words.digest)
            except CacheUnavailable as error:
                _log.warning("channel.not_noted", company=company, error=str(error)[:200])
        return answer
