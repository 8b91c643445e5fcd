"""Chatwoot's application API, with an agent bot's access token (or a user's, which may read too)."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from contracts.company import Channel
from contracts.json_values import object_of
from memory.adapters.webhook_client import WebhookPosting
from memory.domain.channels import ChannelWords
from memory.domain.webhooks import EndpointAnswer

BESIDE = "nexus_message_id"
"""Our marker in a message's content_attributes."""
MOST_READ = 512 * 1024
_OUTGOING = {1, "outgoing"}


class ChatwootApi:
    """Calls Chatwoot with the poster's deadline, and its guard against addresses that are not public."""

    def __init__(self, posting: WebhookPosting) -> None:
        self._posting = posting

    async def say(self, channel: Channel, number: int, words: ChannelWords) -> EndpointAnswer:
        body = {
            "content": words.text,
            "message_type": "outgoing",
            "private": False,
            "content_type": "text",
            "content_attributes": {BESIDE: words.id},
        }
        return await self._post(channel, f"conversations/{number}/messages", body)

    async def holds(self, channel: Channel, number: int, words: ChannelWords, since: float) -> bool | None:
        """Whether the conversation contains this text since then (seconds since the epoch); None: we may not read
        it."""
        answer, said = await self._posting.ask(
            "GET", _url(channel, f"conversations/{number}/messages"), _headers(channel), None, MOST_READ
        )
        if answer.status != 200:
            return None
        try:
            return any(_is(one, words, since) for one in json.loads(said)["payload"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    async def set_status(self, channel: Channel, number: int, status: str) -> EndpointAnswer:
        """Sets who has the conversation."""
        return await self._post(channel, f"conversations/{number}/toggle_status", {"status": status})

    async def problem(self, channel: Channel) -> str | None:
        """Why Chatwoot refuses us. Checked by a request that changes nothing: a bot may not read the profile, and is
        told so."""
        url = f"{channel.address.rstrip('/')}/api/v1/profile"
        answer, said = await self._posting.ask("GET", url, _headers(channel), None, MOST_READ)
        if answer.status in {401, 403} and b"bots" not in said:
            return "token"
        return "unreachable" if answer.status == 0 or answer.status >= 500 else None

    async def _post(self, channel: Channel, path: str, body: Mapping[str, object]) -> EndpointAnswer:
        return await self._posting.post(_url(channel, path), _headers(channel), json.dumps(body).encode())


def _url(channel: Channel, path: str) -> str:
    return f"{channel.address.rstrip('/')}/api/v1/accounts/{channel.account}/{path}"


def _headers(channel: Channel) -> dict[str, str]:
    return {"api_access_token": channel.token, "Content-Type": "application/json", "Accept": "application/json"}


def _is(message: Mapping[str, Any], words: ChannelWords, since: float) -> bool:
    beside = object_of(message.get("content_attributes"))
    if beside.get(BESIDE):
        return beside[BESIDE] == words.id
    same = message.get("message_type") in _OUTGOING and message.get("content") == words.text
    return same and _seconds(message["created_at"]) >= int(since)


def _seconds(value: str | float) -> float:
    """A time in either of Chatwoot's two formats."""
    if isinstance(value, str):
        return datetime.fromisoformat(value).timestamp()
    return float(value)
