"""Sends a conversation's messages to its channel, at least once, while people there see each only once.

Chatwoot does not store our message ids. So a message that may have arrived already (because its sender died before
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
NOTHING_TO_SEND = EndpointAnswer(204)


class ChannelDelivery:
    """Sends messages to companies' channels; one instance per process."""

    def __init__(self, api: ChatwootApi, echoes: RedisEchoes) -> None:
        self._api = api
        self._echoes = echoes

    async def deliver(
        self, channel: Channel, event: Mapping[str, Any], stored_at: float, *, again: bool
    ) -> EndpointAnswer:
        """Sends one fact and returns the outcome. `again`: it may have been sent before.

        Raises:
            RedisUnavailableError: it may have been sent before, and whether it arrived cannot be determined now.
        """
        company, _, conversation = str(event["subject"]).partition("/")
        ids = place_in_channel(company, conversation)
        message = channel_message(str(event["type"]), event["data"])
        if ids is None or message is None:
            return NOTHING_TO_SEND
        if isinstance(message, Status):
            return await self._api.set_status(channel, ids[1], message.status)
        try:
            has_arrived = await self._echoes.has(company, conversation, message.id, message.digest, stored_at)
        except RedisUnavailableError:
            if again:
                raise
            has_arrived = False
        if has_arrived or (again and await self._api.has_message(channel, ids[1], message, stored_at)):
            _log.info("channel.has_come_already", company=company, message=message.id)
            return NOTHING_TO_SEND
        answer = await self._api.send(channel, ids[1], message)
        if answer.status // 100 == 2:
            try:
                await self._echoes.note(company, conversation, message.id, message.digest)
            except RedisUnavailableError as error:
                _log.warning("channel.not_noted", company=company, error=str(error)[:200])
        return answer
