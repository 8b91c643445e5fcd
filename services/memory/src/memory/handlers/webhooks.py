"""Webhooks, from the streams into endpoints' queues and from there to the endpoints; and channels, whose secrets
memory keeps."""

import asyncio
import time

import structlog
from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts import channel_rpc
from contracts.channels import WEBHOOK_DELIVERIES
from contracts.envelope import CloudEvent
from contracts.errors import ErrorCode, NexusError
from contracts.events.fact import CompanyConfigChanged
from contracts.streams import WEBHOOKS
from memory.adapters.announcements import COMPANY_CHANGED
from memory.adapters.chatwoot_api import ChatwootApi
from memory.adapters.redis_echoes import RedisEchoes
from memory.adapters.webhook_client import WebhookPosting
from memory.adapters.webhook_feed import WebhookFeed
from memory.adapters.webhook_table import WebhookTable
from memory.application.channel_delivery import ChannelDelivery
from memory.application.companies import CompanyRegistry
from memory.application.sweeps import PeriodicSweep
from memory.application.webhook_delivery import Deliveries
from memory.deps import Deps
from memory.domain.channels import is_genuine
from runtime.bus.connection import subscribe
from runtime.errors import RpcError
from runtime.lifecycle.service import Service
from runtime.workers.pull_worker import PullWorker

_log = structlog.get_logger(__name__)

DELIVERY_LEASE = 15.0
"""Seconds after which a killed replica's delivery goes to another."""
EVERY = 15.0
"""Seconds between reads of who has webhooks. Changes are published, and a reconnect triggers a read too."""


async def deliver(
    deps: Deps, table: WebhookTable, companies: CompanyRegistry, echoes: RedisEchoes
) -> tuple[WebhookFeed, PeriodicSweep]:
    """The parts to start and stop; the delivering worker is added to the service."""
    service, settings = deps.service, deps.settings
    feed = WebhookFeed(service.nats, table)
    table.changed = feed.follow
    posting = WebhookPosting(seconds=settings.webhook_timeout, local=deps.local)
    service.on_stop(posting.close)
    chatwoot = ChatwootApi(posting)
    _serve_channels(service, table, chatwoot, echoes)
    channels = ChannelDelivery(chatwoot, echoes)
    deliveries = Deliveries(table, posting, channels, give_up=settings.webhook_give_up, gone=companies.webhook_gone)
    service.add_worker(
        PullWorker(
            service.nats,
            WEBHOOKS.name,
            "memory-deliveries",
            (WEBHOOK_DELIVERIES,),
            deliveries.deliver,
            slots=1_024,
            ack_wait=DELIVERY_LEASE,
            service=service.name,
        )
    )

    async def look() -> None:
        await table.reload()
        await feed.follow()

    await look()
    service.watch("webhooks", feed.stuck_because)
    sweep = PeriodicSweep("webhooks", EVERY, look)

    async def missed() -> None:
        sweep.hurry()

    service.on_reconnect(missed)

    async def changed(message: Msg) -> None:
        try:
            event = CloudEvent[CompanyConfigChanged].model_validate_json(message.data)
            await table.refresh(event.data)
        except (ValidationError, NexusError) as error:
            # All settings are read again soon.
            _log.warning("webhooks.change_missed", subject=message.subject, error=str(error)[:200])

    await subscribe(service.nats, f"{COMPANY_CHANGED}.>", changed)
    return feed, sweep


def _serve_channels(service: Service, table: WebhookTable, api: ChatwootApi, echoes: RedisEchoes) -> None:

    async def verify(request: channel_rpc.ChannelVerifyRequest) -> channel_rpc.ChannelVerifyReply:
        endpoint = await table.found_channel(request.channel_id)
        if endpoint is None or endpoint.channel is None:
            raise RpcError(ErrorCode.NOT_FOUND, "there is no such channel")
        if not is_genuine(endpoint.channel.secret, request.timestamp, request.signature, request.body, time.time()):
            raise RpcError(ErrorCode.FORBIDDEN, "the signature is not the channel's")
        return channel_rpc.ChannelVerifyReply(company_id=endpoint.company, inbox=endpoint.channel.inbox)

    async def echo(request: channel_rpc.ChannelEchoRequest) -> channel_rpc.ChannelEchoReply:
        await echoes.note(request.company_id, request.conversation_id, request.message_id, request.text)
        return channel_rpc.ChannelEchoReply()

    async def check(request: channel_rpc.ChannelCheckRequest) -> channel_rpc.ChannelCheckReply:
        channels = [one.channel for one in await table.stored(request.company_id) if one.channel is not None]
        problems = await asyncio.gather(*(api.problem(channel) for channel in channels))
        return channel_rpc.ChannelCheckReply(
            problems=[
                channel_rpc.ChannelProblem.model_validate({"channelId": channel.id, "problem": problem})
                for channel, problem in zip(channels, problems, strict=True)
                if problem is not None
            ]
        )

    service.serve(channel_rpc.CHANNEL_VERIFY, verify)
    service.serve(channel_rpc.CHANNEL_ECHO, echo)
    service.serve(channel_rpc.CHANNEL_CHECK, check)
