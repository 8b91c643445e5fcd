"""Calls about companies' channels. Memory, which keeps their secrets, verifies incoming webhooks and sends replies."""

import hashlib
from typing import Annotated, Literal

from pydantic import Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc

QUEUE = "memory"
MAX_BODY_CHARS = 512 * 1024
PERSON_PREFIX = "cw_"
"""Prefix of the ids of people who write in a channel."""


def text_digest(text: str) -> str:
    """Returns the SHA-256 of a text in hexadecimal, by which an echo of our own message is recognised."""
    return hashlib.sha256(text.strip().encode()).hexdigest()


class ChannelVerifyRequest(Wire):
    """Asks whether this webhook comes from the channel. `signature` and `timestamp` are its header values."""

    channel_id: str = Field(max_length=100)
    timestamp: str = Field(max_length=40)
    signature: str = Field(max_length=200)
    body: str = Field(max_length=MAX_BODY_CHARS)


class ChannelVerifyReply(Wire):
    """The webhook comes from the channel; otherwise the error is NOT_FOUND or FORBIDDEN. `inbox`: the only inbox that
    is answered; null: all."""

    company_id: CompanyId
    inbox: int | None = None


class ChannelEchoRequest(Wire):
    """Chatwoot has reported one of our messages back, so it has arrived and is not sent again. A channel that does not
    keep our marker on a message supplies only its text (`text`, SHA-256 in hexadecimal)."""

    company_id: CompanyId
    conversation_id: Id
    message_id: Id | None = None
    text: str = Field(max_length=64)


class ChannelEchoReply(Wire):
    """The echo was recorded."""


class ChannelCheckRequest(Wire):
    """Asks whether the company's channels can be reached with their tokens."""

    company_id: CompanyId


class ChannelProblem(Wire):
    """The reason why a channel does not work."""

    channel_id: str
    problem: Annotated[Literal["token", "unreachable"], OPEN]


class ChannelCheckReply(Wire):
    """The channels that do not work."""

    problems: list[ChannelProblem] = Field(default_factory=list[ChannelProblem])


CHANNEL_VERIFY = Rpc("rpc.memory.channel.verify.v1", ChannelVerifyRequest, ChannelVerifyReply, queue=QUEUE)
CHANNEL_ECHO = Rpc("rpc.memory.channel.echo.v1", ChannelEchoRequest, ChannelEchoReply, queue=QUEUE)
CHANNEL_CHECK = Rpc("rpc.memory.channel.check.v1", ChannelCheckRequest, ChannelCheckReply, queue=QUEUE)
