"""Webhooks: what an endpoint receives for a fact, its signature, and retries. Pure functions.

Signatures follow Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md):
`webhook-signature: v1,<base64 of HMAC-SHA256 over "<id>.<timestamp>.<body>">`, several of them separated by spaces.
"""

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass

import orjson

from contracts.channels import parse_chat
from contracts.company import Channel, CompanyConfig, Webhook, channel_id
from contracts.ids import NOBODY, derive_id, place_in_channel
from contracts.webhooks import is_subscribed

MIN_PAUSE_SECONDS = 1.0
"""Seconds between the first and the second attempt of a delivery."""
MAX_PAUSE_SECONDS = 3_600.0
"""The longest pause between two attempts, in seconds."""
PREFIX = "whsec_"
CHANNEL_EVENTS = ("message.assistant", "message.operator", "message.system", "owner.changed")
"""The events that a channel receives."""
_HEADER_SAFE = re.compile(r"[!-~]{1,128}")


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """An endpoint's response. `status` 0: no response, for the reason in `problem`; `forbidden`: the address must not
    be called at all; `retry_after` in seconds, if given."""

    status: int
    problem: str = ""
    retry_after: float | None = None
    forbidden: bool = False


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """One endpoint in a company's settings. `id` is derived from its address, so that it survives changes.

    `channel`: only that channel's conversations are sent to it, through its API.
    """

    id: str
    company: str
    hook: Webhook
    channel: Channel | None = None


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """A fact on its way to endpoints: its event's type and id, and the body that is sent."""

    company: str
    event_type: str
    event_id: str
    body: bytes
    about: str
    """Company/conversation, or company/user."""


class NoWebhookEventError(ValueError):
    """An event that no endpoint receives; the message says why."""


def endpoints_of(config: CompanyConfig) -> list[WebhookEndpoint]:
    """Returns the endpoints in use, only the first of each address."""
    company = config.company_id
    by_address: dict[str, WebhookEndpoint] = {}
    for hook in config.webhooks:
        if hook.gone_at is None:
            by_address.setdefault(hook.url, WebhookEndpoint(endpoint_id(company, hook.url), company, hook))
    return [*by_address.values(), *(_channel_endpoint(company, channel) for channel in config.channels)]


def _channel_endpoint(company: str, channel: Channel) -> WebhookEndpoint:
    identity = channel_id(company, channel)
    hook = Webhook(url=channel.address, events=list(CHANNEL_EVENTS), secret=channel.secret)
    return WebhookEndpoint(endpoint_id(company, identity), company, hook, channel.model_copy(update={"id": identity}))


def endpoint_id(company: str, url: str) -> str:
    """Returns the same 32 hexadecimal characters for the same address of the same company."""
    return derive_id(company, "webhook", url).replace("-", "")


def subscribed(endpoints: list[WebhookEndpoint], event_type: str, subject: str) -> list[WebhookEndpoint]:
    """Returns the endpoints that receive such events about this subject (company/conversation or company/user)."""
    company, _, about = subject.partition("/")
    place = place_in_channel(company, about)
    return [
        endpoint
        for endpoint in endpoints
        if is_subscribed(endpoint.hook.events, event_type)
        and (endpoint.channel is None or (place is not None and place[0] == endpoint.channel.id))
    ]


def company_of(subject: str) -> str | None:
    """The company in a subject of CHAT or FACTS."""
    parts = subject.split(".")
    if parts[0] == "chat":
        return parts[1] if len(parts) > 3 else None
    return parts[-2] if len(parts) > 3 else None


def webhook_event(subject: str, seq: int, raw: bytes) -> WebhookEvent:
    """Returns the event to send for the fact at `seq`: as on the bus, without the principal. `subject` says what it is
    about (company/conversation or company/user), like the bus's own subject, and `sequence` orders the facts of a
    conversation (https://github.com/cloudevents/spec/blob/main/cloudevents/extensions/sequence.md).

    Raises:
        NoWebhookEventError: it is no event for endpoints.
    """
    try:
        event: dict[str, object] = orjson.loads(raw)
        event_id, data = event["id"], event["data"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise NoWebhookEventError(f"the message on {subject} is not an event") from error
    address = parse_chat(subject)
    parts = subject.split(".")
    company, about = (address.company, address.conversation) if address else (parts[-2], parts[-1])
    event_type = address.kind.event_type if address else ".".join(parts[:-2])
    if not isinstance(event_id, str) or not isinstance(data, dict):
        raise NoWebhookEventError(f"the message on {subject} is not an event")
    if not _HEADER_SAFE.fullmatch(event_id):
        event_id = derive_id(company, about, event_id)
    shown: dict[str, object] = {name: value for name, value in data.items() if name != "principal"}  # pyright: ignore[reportUnknownVariableType]
    event |= {"id": event_id, "type": event_type, "data": shown}
    event["subject"] = company if about == NOBODY else f"{company}/{about}"
    if address:
        # Twenty digits: as texts they are in the same order as the numbers.
        event["sequence"] = f"{seq:020d}"
    return WebhookEvent(company, event_type, event_id, orjson.dumps(event), event["subject"])


def signed_headers(secret: str, event_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of Standard Webhooks; `timestamp` in seconds since the epoch."""
    signatures = [f"v1,{_signature(key, event_id, timestamp, body)}" for key in keys_of(secret)]
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def keys_of(secret: str) -> list[bytes]:
    """Returns the keys of a secret. `whsec_…` is Base64, as the standard says. Any other secret is used as it is, and
    also decoded if it could be Base64 without the prefix, since receivers' libraries do that."""
    bare = secret.removeprefix(PREFIX)
    try:
        decoded = base64.b64decode(bare, validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    if bare != secret:
        return [decoded or secret.encode()]
    return [secret.encode(), decoded] if decoded else [secret.encode()]


def pause_after(age: float) -> float:
    """Returns the seconds until the next attempt for a fact that has waited `age` seconds: as long again, from 1 s to 1
    h."""
    return min(max(age, MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS)


def _signature(key: bytes, event_id: str, timestamp: int, body: bytes) -> str:
    signed = f"{event_id}.{timestamp}.".encode() + body
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
