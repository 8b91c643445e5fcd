"""Companies' channels: who keeps their secrets checks what comes in, and sends what goes out."""

import hashlib
from typing import Annotated, Literal

from pydantic import Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Method, Rpc

QUEUE = "memory"
MOST_BODY = 512 * 1024
PERSON = "cw_"
"""How the ids of a channel's own people begin."""


def text_digest(text: str) -> str:
    """By which a text is recognised that has come back: SHA-256 in hexadecimal."""
    return hashlib.sha256(text.strip().encode()).hexdigest()


class ChannelVerifyRequest(Wire):
    """A webhook as it came: is it the channel's? `signature` and `timestamp` are the values of its headers."""

    channel_id: str = Field(max_length=100)
    timestamp: str = Field(max_length=40)
    signature: str = Field(max_length=200)
    body: str = Field(max_length=MOST_BODY)


class ChannelVerifyReply(Wire):
    """NOT_FOUND, FORBIDDEN: it is not. `inbox`: the only one that is answered; null: all."""

    company_id: CompanyId
    inbox: int | None = None


class ChannelEchoRequest(Wire):
    """A message of ours has come to the channel: Chatwoot itself says so. It is not sent again. One that does not
    keep what we put beside a text tells the text alone (`text`, as SHA-256 in hexadecimal)."""

    company_id: CompanyId
    conversation_id: Id
    message_id: Id | None = None
    text: str = Field(max_length=64)


class ChannelEchoReply(Wire):
    """Noted."""


class ChannelCheckRequest(Wire):
    """Do the company's channels let us in?"""

    company_id: CompanyId


class ChannelProblem(Wire):
    """What keeps a channel from working."""

    channel_id: str
    problem: Annotated[Literal["token", "unreachable"], OPEN]


class ChannelCheckReply(Wire):
    """Those that do not."""

    problems: list[ChannelProblem] = Field(default_factory=list[ChannelProblem])


CHANNEL_VERIFY = Rpc("rpc.memory.channel.verify.v1", ChannelVerifyRequest, ChannelVerifyReply, queue=QUEUE)
CHANNEL_ECHO = Rpc("rpc.memory.channel.echo.v1", ChannelEchoRequest, ChannelEchoReply, queue=QUEUE)
CHANNEL_CHECK = Rpc("rpc.memory.channel.check.v1", ChannelCheckRequest, ChannelCheckReply, queue=QUEUE)
METHODS: tuple[Method, ...] = (CHANNEL_VERIFY, CHANNEL_ECHO, CHANNEL_CHECK)
