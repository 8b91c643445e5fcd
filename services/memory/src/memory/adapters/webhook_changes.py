"""Changes of settings, received by every replica, so that all know a new endpoint."""

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from pydantic import ValidationError

from contracts.envelope import CloudEvent
from contracts.errors import NexusError
from contracts.events.fact import CompanyConfigChanged
from memory.adapters.announcements import COMPANY_CHANGED
from memory.adapters.webhook_table import WebhookTable
from runtime.connection import subscribe

_log = structlog.get_logger(__name__)


class WebhookChanges:
    """A permanent subscription; what it misses is found when all settings are next read."""

    def __init__(self, client: Client, table: WebhookTable) -> None:
        self._client = client
        self._table = table
        self._subscription: Subscription | None = None

    async def start(self) -> None:
        self._subscription = await subscribe(self._client, f"{COMPANY_CHANGED}.>", self._changed)

    async def stop(self) -> None:
        if self._subscription is not None:
            await self._subscription.unsubscribe()

    async def _changed(self, message: Msg) -> None:
        try:
            event = CloudEvent[CompanyConfigChanged].model_validate_json(message.data)
            await self._table.refresh(event.data)
        except (ValidationError, NexusError) as error:
            _log.warning("webhooks.change_missed", subject=message.subject, error=str(error)[:200])
