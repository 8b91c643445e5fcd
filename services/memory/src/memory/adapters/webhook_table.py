"""The endpoints that this replica knows: every company's webhooks and channels, with their secrets."""

from collections.abc import Awaitable, Callable

from contracts.company import CompanySettings
from contracts.ids import channel_of
from memory.adapters.mongo_companies import MongoCompanies
from memory.domain.webhooks import WebhookEndpoint, endpoints_of


class WebhookTable:
    """The endpoints of all companies. All are read at the start and every few seconds; one company's when it
    changes."""

    def __init__(self, store: MongoCompanies) -> None:
        self._store = store
        self._endpoints: dict[str, list[WebhookEndpoint]] = {}
        self.changed: Callable[[], Awaitable[None]] | None = None
        """Called after each change of a company that has or had webhooks."""

    @property
    def empty(self) -> bool:
        """Whether no company has endpoints."""
        return not self._endpoints

    def of(self, company: str) -> list[WebhookEndpoint]:
        """A company's endpoints that are still in use."""
        return self._endpoints.get(company, [])

    def find(self, company: str, endpoint: str) -> WebhookEndpoint | None:
        """The endpoint; None if it does not exist any more, or is switched off."""
        return next((candidate for candidate in self.of(company) if candidate.id == endpoint), None)

    async def read_stored(self, company: str) -> list[WebhookEndpoint]:
        """A company's endpoints from the store; raises StoreUnavailableError."""
        settings = await self._store.get(company)
        return endpoints_of(settings.config) if settings else []

    async def find_channel(self, channel: str) -> WebhookEndpoint | None:
        """The endpoint of a channel, by the channel's id. An unknown one is looked up in the store, since it may be
        new; raises StoreUnavailableError."""
        company = channel_of(channel) or ""
        return _find_channel(self.of(company), channel) or _find_channel(await self.read_stored(company), channel)

    async def reload(self) -> None:
        """Reads the endpoints of all companies; raises StoreUnavailableError."""
        by_company = [endpoints_of(settings.config) for settings in await self._store.with_webhooks()]
        self._endpoints = {endpoints[0].company: endpoints for endpoints in by_company if endpoints}

    async def refresh(self, settings: CompanySettings) -> None:
        """Reads a company that has just changed again, since `settings` may lack secrets; raises
        StoreUnavailableError."""
        company = settings.config.company_id
        if not (settings.config.webhooks or settings.config.channels) and company not in self._endpoints:
            return
        endpoints = await self.read_stored(company)
        if endpoints:
            self._endpoints[company] = endpoints
        else:
            self._endpoints.pop(company, None)
        if self.changed is not None:
            await self.changed()


def _find_channel(endpoints: list[WebhookEndpoint], channel: str) -> WebhookEndpoint | None:
    return next(
        (endpoint for endpoint in endpoints if endpoint.channel is not None and endpoint.channel.id == channel), None
    )
