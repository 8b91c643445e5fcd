"""Calls Chatwoot's application API with the access token of an agent bot, or of a user, which may read too."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from contracts.company import Channel
from contracts.json_values import object_of
from memory.adapters.webhook_client import WebhookPosting
from memory.domain.channels import ChannelWords
from memory.domain.webhooks import EndpointAnswer

ID_ATTRIBUTE = "nexus_message_id"
"""Our marker in a message's content_attributes."""
MAX_REPLY_BYTES = 512 * 1024
_OUTGOING = {1, "outgoing"}


class ChatwootApi:
    """Calls Chatwoot through WebhookPosting: with its deadline, and its guard against addresses that are not public."""

    def __init__(self, posting: WebhookPosting) -> None:
        self._posting = posting

    async def send(self, channel: Channel, number: int, message: ChannelWords) -> EndpointAnswer:
        body = {
            "content": message.text,
            "message_type": "outgoing",
            "private": False,
            "content_type": "text",
            "content_attributes": {ID_ATTRIBUTE: message.id},
        }
        return await self._post(channel, f"conversations/{number}/messages", body)

    async def has_message(self, channel: Channel, number: int, message: ChannelWords, since: float) -> bool | None:
        """Whether the conversation contains this message since then (seconds since the epoch); None if the token may
        not read it."""
        answer, body = await self._posting.ask(
            "GET", _url(channel, f"conversations/{number}/messages"), _headers(channel), None, MAX_REPLY_BYTES
        )
        if answer.status != 200:
            return None
        try:
            return any(_matches(row, message, since) for row in json.loads(body)["payload"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    async def set_status(self, channel: Channel, number: int, status: str) -> EndpointAnswer:
        """Sets the conversation's status, which decides whether the bot or people answer."""
        return await self._post(channel, f"conversations/{number}/toggle_status", {"status": status})

    async def problem(self, channel: Channel) -> str | None:
        """Why Chatwoot cannot be used: "token", "unreachable" or None. Checked by a request that changes nothing: a bot
        may not read the profile, and Chatwoot's answer says so."""
        url = f"{channel.address.rstrip('/')}/api/v1/profile"
        answer, body = await self._posting.ask("GET", url, _headers(channel), None, MAX_REPLY_BYTES)
        if answer.status in {401, 403} and b"bots" not in body:
            return "token"
        return "unreachable" if answer.status == 0 or answer.status >= 500 else None

    async def _post(self, channel: Channel, path: str, body: Mapping[str, object]) -> EndpointAnswer:
        return await self._posting.post(_url(channel, path), _headers(channel), json.dumps(body).encode())


def _url(channel: Channel, path: str) -> str:
    return f"{channel.address.rstrip('/')}/api/v1/accounts/{channel.account}/{path}"


def _headers(channel: Channel) -> dict[str, str]:
    return {"api_access_token": channel.token, "Content-Type": "application/json", "Accept": "application/json"}


def _matches(message: Mapping[str, Any], expected: ChannelWords, since: float) -> bool:
    attributes = object_of(message.get("content_attributes"))
    if attributes.get(ID_ATTRIBUTE):
        return attributes[ID_ATTRIBUTE] == expected.id
    is_same_text = message.get("message_type") in _OUTGOING and message.get("content") == expected.text
    return is_same_text and _seconds(message["created_at"]) >= int(since)


def _seconds(value: str | float) -> float:
    """Seconds since the epoch, from either of Chatwoot's two time formats."""
    if isinstance(value, str):
        return datetime.fromisoformat(value).timestamp()
    return float(value)
