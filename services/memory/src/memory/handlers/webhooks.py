"""Webhooks: from the streams into the endpoints' queues, and from there to the endpoints. Also methods about channels,
whose secrets memory stores."""

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

DELIVERY_LEASE_SECONDS = 15.0
"""A killed replica's delivery goes to another replica after this time."""
RELOAD_SECONDS = 15.0
"""Interval of reading which companies have endpoints. Changes are published, and a reconnect triggers a read too."""


async def build(deps: Deps, table: WebhookTable, companies: CompanyRegistry) -> tuple[WebhookFeed, PeriodicSweep]:
    """Returns the parts to start and stop; the worker that delivers is added to the service."""
    service, settings = deps.service, deps.settings
    feed = WebhookFeed(service.nats, table)
    table.changed = feed.follow
    client = WebhookPosting(seconds=settings.webhook_timeout, local=deps.local)
    service.on_stop(client.close)
    chatwoot, echoes = ChatwootApi(client), RedisEchoes(deps.redis)
    _serve_channels(service, table, chatwoot, echoes)
    channels = ChannelDelivery(chatwoot, echoes)
    deliveries = Deliveries(table, client, channels, give_up=settings.webhook_give_up, gone=companies.stop_webhook)
    service.add_worker(
        PullWorker(
            service.nats,
            WEBHOOKS.name,
            "memory-deliveries",
            (WEBHOOK_DELIVERIES,),
            deliveries.deliver,
            slots=1_024,
            ack_wait=DELIVERY_LEASE_SECONDS,
            service=service.name,
        )
    )

    async def reload() -> None:
        await table.reload()
        await feed.follow()

    await reload()
    sweep = PeriodicSweep("webhooks", RELOAD_SECONDS, reload)

    async def after_reconnect() -> None:
        sweep.hurry()

    service.on_reconnect(after_reconnect)

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
        endpoint = await table.find_channel(request.channel_id)
        if endpoint is None or endpoint.channel is None:
            raise RpcError(ErrorCode.NOT_FOUND, "there is no such channel")
        if not is_genuine(endpoint.channel.secret, request.timestamp, request.signature, request.body, time.time()):
            raise RpcError(ErrorCode.FORBIDDEN, "the signature is not the channel's")
        return channel_rpc.ChannelVerifyReply(company_id=endpoint.company, inbox=endpoint.channel.inbox)

    async def echo(request: channel_rpc.ChannelEchoRequest) -> channel_rpc.ChannelEchoReply:
        await echoes.note(request.company_id, request.conversation_id, request.message_id, request.text)
        return channel_rpc.ChannelEchoReply()

    async def check(request: channel_rpc.ChannelCheckRequest) -> channel_rpc.ChannelCheckReply:
        channels = [
            endpoint.channel for endpoint in await table.read_stored(request.company_id) if endpoint.channel is not None
        ]
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
