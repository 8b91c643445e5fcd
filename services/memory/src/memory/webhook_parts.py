"""Composes webhooks: from the streams into endpoints' queues, and from there to the endpoints."""

from contracts.channels import WEBHOOK_DELIVERIES
from contracts.streams import WEBHOOKS
from memory import channel_methods
from memory.adapters.chatwoot_api import ChatwootApi
from memory.adapters.redis_echoes import RedisEchoes
from memory.adapters.webhook_changes import WebhookChanges
from memory.adapters.webhook_client import WebhookPosting
from memory.adapters.webhook_feed import WebhookFeed
from memory.adapters.webhook_table import WebhookTable
from memory.application.channel_delivery import ChannelDelivery
from memory.application.companies import CompanyRegistry
from memory.application.sweeps import PeriodicSweep
from memory.application.webhook_delivery import Deliveries
from memory.settings import MemorySettings
from runtime.pull_worker import PullWorker
from runtime.service import Service

DELIVERY_LEASE = 15.0
"""Seconds after which a killed replica's delivery goes to another."""
EVERY = 15.0
"""Seconds between reads of who has webhooks. Changes are published, and a reconnect triggers a read too."""


async def webhook_parts(
    service: Service,
    settings: MemorySettings,
    table: WebhookTable,
    companies: CompanyRegistry,
    echoes: RedisEchoes,
    *,
    local: bool,
) -> tuple[WebhookFeed, WebhookChanges, PeriodicSweep]:
    """The parts to start and stop; the delivering worker is added to the service."""
    feed = WebhookFeed(service.nats, table)
    table.changed = feed.follow
    posting = WebhookPosting(seconds=settings.webhook_timeout, local=local)
    service.on_stop(posting.close)
    chatwoot = ChatwootApi(posting)
    channel_methods.serve(service, table, chatwoot, echoes)
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
    return feed, WebhookChanges(service.nats, table), sweep
