"""Says in a channel what was said in its conversation: at least once, and nothing twice for whoever reads it there.

Chatwoot knows no message by an id of ours, so that one which may have come already (whoever sent it died before they
could say so) is looked for first: in what Chatwoot has told its bot of its messages (the echo), and in the conversation
itself, where the token may read it.
"""

from collections.abc import Mapping
from typing import Any

import structlog

from contracts.company import Channel
from contracts.ids import place_in_channel
from memory.adapters.chatwoot_api import ChatwootApi
from memory.adapters.redis_echoes import RedisEchoes
from memory.domain.channels import Status, told
from memory.domain.webhooks import EndpointAnswer
from memory.errors import CacheUnavailable

_log = structlog.get_logger(__name__)
DONE = EndpointAnswer(204)


class ChannelDelivery:
    """One for the process."""

    def __init__(self, api: ChatwootApi, echoes: RedisEchoes) -> None:
        self._api = api
        self._echoes = echoes

    async def deliver(
        self, channel: Channel, event: Mapping[str, Any], stored_at: float, *, again: bool
    ) -> EndpointAnswer:
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
