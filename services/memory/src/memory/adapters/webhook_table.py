"""All endpoints: every company's webhooks with their secrets, as known to this replica."""

from collections.abc import Awaitable, Callable

from contracts.company import CompanySettings
from contracts.ids import channel_of
from memory.adapters.mongo_companies import MongoCompanies
from memory.domain.webhooks import WebhookEndpoint, endpoints_of


class WebhookTable:
    """Read completely at the start and every few seconds; one company's as soon as it has changed."""

    def __init__(self, store: MongoCompanies) -> None:
        self._store = store
        self._endpoints: dict[str, list[WebhookEndpoint]] = {}
        self.changed: Callable[[], Awaitable[None]] | None = None
        """Called after each change of a company that has or had webhooks."""

    @property
    def empty(self) -> bool:
        """Whether nobody has webhooks."""
        return not self._endpoints

    def of(self, company: str) -> list[WebhookEndpoint]:
        """A company's endpoints that are still in use."""
        return self._endpoints.get(company, [])

    def find(self, company: str, endpoint: str) -> WebhookEndpoint | None:
        """The endpoint; None: it does not exist any more, or wants nothing."""
        return next((one for one in self.of(company) if one.id == endpoint), None)

    async def stored(self, company: str) -> list[WebhookEndpoint]:
        """A company's endpoints from the store; raises StoreUnavailableError."""
        settings = await self._store.get(company)
        return endpoints_of(settings.config) if settings else []

    async def found_channel(self, channel: str) -> WebhookEndpoint | None:
        """The endpoint of a channel, by the channel's id; an unknown one is looked up in the store, since it may be
        new. Raises StoreUnavailableError."""
        company = channel_of(channel) or ""
        return _of_channel(self.of(company), channel) or _of_channel(await self.stored(company), channel)

    async def reload(self) -> None:
        """Reads all; raises StoreUnavailableError."""
        found = [endpoints_of(settings.config) for settings in await self._store.with_webhooks()]
        self._endpoints = {endpoints[0].company: endpoints for endpoints in found if endpoints}

    async def refresh(self, settings: CompanySettings) -> None:
        """Reads a company again that has just changed; `settings` may lack secrets. Raises StoreUnavailableError."""
        company = settings.config.company_id
        if not (settings.config.webhooks or settings.config.channels) and company not in self._endpoints:
            return
        stored = await self._store.get(company)
        endpoints = endpoints_of(stored.config) if stored else []
        if endpoints:
            self._endpoints[company] = endpoints
        else:
            self._endpoints.pop(company, None)
        if self.changed is not None:
            await self.changed()


def _of_channel(endpoints: list[WebhookEndpoint], channel: str) -> WebhookEndpoint | None:
    return next((one for one in endpoints if one.channel is not None and one.channel.id == channel), None)
