"""Channels: checks that a webhook is genuine, and decides what a channel's people are sent.

Signatures are Chatwoot's: `X-Chatwoot-Signature: sha256=<HMAC-SHA256 in hexadecimal over "<timestamp>.<body>">`.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contracts.channel_rpc import PERSON_PREFIX, text_digest
from contracts.json_values import JsonObject

MAX_AGE_SECONDS = 300.0
"""The most seconds that a webhook's age may be: older copies are replays."""
OPEN, PENDING = "open", "pending"
"""Chatwoot's statuses: a person has the conversation; its bot has it."""


@dataclass(frozen=True, slots=True)
class ChannelWords:
    """A text to send to the channel, with the id of our message."""

    id: str
    text: str

    @property
    def digest(self) -> str:
        """Identifies its echo if the id was lost."""
        return text_digest(self.text)


@dataclass(frozen=True, slots=True)
class Status:
    """The new status of the channel's conversation."""

    status: str


def is_genuine(secret: str, timestamp: str, signature: str, body: str, now: float) -> bool:
    """Whether the webhook was sent recently by somebody who knows the secret."""
    if not timestamp.isdecimal() or len(timestamp) > 12 or abs(now - int(timestamp)) > MAX_AGE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), f"{timestamp}.{body}".encode(), hashlib.sha256).hexdigest()
    return hmac.compare_digest(signature.encode(), f"sha256={expected}".encode())


def channel_message(event_type: str, data: Mapping[str, Any]) -> ChannelWords | Status | None:
    """Returns what to send to a channel for a fact. None if nothing, because the fact came from that channel or the AI
    continues."""
    if event_type == "chat.owner.changed.v1":
        if data.get("outside") or data.get("opensAt"):
            return None
        owner: JsonObject = data.get("owner") or {}
        return Status(PENDING if owner.get("kind") == "ai" else OPEN)
    if str(data.get("operatorId", "")).startswith(PERSON_PREFIX):
        return None
    citations: list[JsonObject] = data.get("citations") or []
    sources = [f"{citation['title']}: {citation['url']}" for citation in citations]
    # Files are not carried over, but named, as Chatwoot names its own attachments.
    files = [f"[{citation['type'].partition('/')[0]}: {citation['name']}]" for citation in data.get("files") or ()]
    return ChannelWords(
        str(data["messageId"]), "\n".join([str(data["text"]), *files, *([""] if sources else []), *sources])
    )
