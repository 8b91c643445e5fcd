"""The channel methods: memory, which keeps channels' secrets, verifies webhooks and checks whether channels work."""

import asyncio
import time

from contracts.channel_rpc import (
    CHANNEL_CHECK,
    CHANNEL_ECHO,
    CHANNEL_VERIFY,
    ChannelCheckReply,
    ChannelCheckRequest,
    ChannelEchoReply,
    ChannelEchoRequest,
    ChannelProblem,
    ChannelVerifyReply,
    ChannelVerifyRequest,
)
from contracts.errors import ErrorCode
from memory.adapters.chatwoot_api import ChatwootApi
from memory.adapters.redis_echoes import RedisEchoes
from memory.adapters.webhook_table import WebhookTable
from memory.domain.channels import genuine
from runtime.errors import RpcError
from runtime.service import Service


def serve(service: Service, table: WebhookTable, api: ChatwootApi, echoes: RedisEchoes) -> None:

    async def verify(request: ChannelVerifyRequest) -> ChannelVerifyReply:
        endpoint = await table.found_channel(request.channel_id)
        if endpoint is None or endpoint.channel is None:
            raise RpcError(ErrorCode.NOT_FOUND, "there is no such channel")
        if not genuine(endpoint.channel.secret, request.timestamp, request.signature, request.body, time.time()):
            raise RpcError(ErrorCode.FORBIDDEN, "the signature is not the channel's")
        return ChannelVerifyReply(company_id=endpoint.company, inbox=endpoint.channel.inbox)

    async def echo(request: ChannelEchoRequest) -> ChannelEchoReply:
        await echoes.note(request.company_id, request.conversation_id, request.message_id, request.text)
        return ChannelEchoReply()

    async def check(request: ChannelCheckRequest) -> ChannelCheckReply:
        channels = [one.channel for one in await table.stored(request.company_id) if one.channel is not None]
        problems = await asyncio.gather(*(api.problem(channel) for channel in channels))
        return ChannelCheckReply(
            problems=[
                ChannelProblem.model_validate({"channelId": channel.id, "problem": problem})
                for channel, problem in zip(channels, problems, strict=True)
                if problem is not None
            ]
        )

    service.serve(CHANNEL_VERIFY, verify)
    service.serve(CHANNEL_ECHO, echo)
    service.serve(CHANNEL_CHECK, check)
