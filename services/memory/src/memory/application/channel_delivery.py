"""Sends messages of a conversation to its channel, at least once, and so that people there read nothing twice.

Chatwoot knows no message by an id of ours. So a message that may have arrived already (because its sender died before
it could record that) is looked for first: in the echoes that Chatwoot sends its bot, and in the conversation itself, if
the token may read it.
"""

from collections.abc import Mapping
from typing import Any

import structlog

from contracts.company import Channel
from contracts.ids import place_in_channel
from memory.adapters.chatwoot_api import ChatwootApi
from memory.adapters.redis_echoes import RedisEchoes
from memory.domain.channels import Status, channel_message
from memory.domain.webhooks import EndpointAnswer
from memory.errors import RedisUnavailableError

_log = structlog.get_logger(__name__)
DONE = EndpointAnswer(204)


class ChannelDelivery:
    """Sends messages to companies' channels; there is one for the process."""

    def __init__(self, api: ChatwootApi, echoes: RedisEchoes) -> None:
        self._api = api
        self._echoes = echoes

    async def deliver(
        self, channel: Channel, event: Mapping[str, Any], stored_at: float, *, again: bool
    ) -> EndpointAnswer:
        """The outcome for one fact. `again`: it may have been sent before.

        Raises:
            RedisUnavailableError: it may have been sent before, and whether it arrived cannot be determined now.
        """
        company, _, conversation = str(event["subject"]).partition("/")
        place = place_in_channel(company, conversation)
        words = channel_message(str(event["type"]), event["data"])
        if place is None or words is None:
            return DONE
        if isinstance(words, Status):
            return await self._api.set_status(channel, place[1], words.status)
        try:
            has_come = await self._echoes.has(company, conversation, words.id, words.digest, stored_at)
        except RedisUnavailableError:
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
            except RedisUnavailableError as error:
                _log.warning("channel.not_noted", company=company, error=str(error)[:200])
        return answer
