"""Company settings: read, created, changed; every change is published on the bus, at least once."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from contracts.company import CompanyConfig, CompanySettings
from contracts.company_rpc import CompaniesReply, CompaniesRequest
from contracts.errors import NexusError
from contracts.identity_rpc import IdentifyReply, IdentifyRequest
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.domain.company import Close, checked, patched, resealed, shown, with_secrets
from memory.domain.conversation import NEEDS_HUMAN
from memory.domain.identity import IdentityRefusedError, known_user, with_key_dates
from memory.errors import ConflictError, MovedError, NotFoundError
from memory.migrations import MigrationStep
from runtime.auth.seal import Seal

PAGE_SIZE = 100
RESEAL_BATCH = 20
"""Companies whose secrets one call of a migration seals anew."""
DELETE_ATTEMPTS = 5
"""How often a deletion is tried if somebody changes the settings meanwhile."""
HANDED_OVER_STATES = (NEEDS_HUMAN, "human")
"""The states of conversations in which the settings decide what happens if nobody comes."""
REPUBLISH_AFTER = timedelta(days=7)
"""Settings published longer ago than this are published again."""
ChangeListener = Callable[[CompanySettings], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyRegistry:
    """The settings of all companies, returned without secrets or with sealed ones. `changed` is called for each
    change before the caller gets the answer; `seal` encrypts their secrets."""

    store: MongoCompanies
    announcements: BusAnnouncements
    conversations: MongoConversations
    changed: ChangeListener | None = None
    seal: Seal | None = None

    @property
    def _close(self) -> Close | None:
        return self.seal.close if self.seal else None

    async def get(self, company: str) -> CompanySettings | None:
        """The settings; None if there is no such company."""
        settings = await self.store.get(company)
        return shown(settings) if settings else None

    async def get_with_deleted(self, company: str) -> CompanySettings | None:
        """The settings, or the record of a deleted company; None if there was never such a company."""
        settings = await self.store.get_with_deleted(company)
        return shown(settings) if settings else None

    async def identify(self, request: IdentifyRequest) -> IdentifyReply:
        """Returns the user of a JWT signed by the company; raises StoreUnavailableError."""
        settings = await self.store.get(request.company_id)
        if settings is None:
            return IdentifyReply(problem="there is no such company")
        try:
            return IdentifyReply(user=known_user(settings.config, request.token, datetime.now(UTC)))
        except IdentityRefusedError as error:
            return IdentifyReply(problem=str(error))

    async def create(self, config: dict[str, object]) -> CompanySettings:
        """Creates a company with these settings, and returns them.

        Raises:
            BadFieldsError, ConflictError, StoreUnavailableError.
        """
        new_config = with_key_dates(checked(config, close=self._close), (), datetime.now(UTC))
        previous = await self.store.get_with_deleted(new_config.company_id)
        # Continues after the last version of a deleted company of this name, so that readers who know it accept this
        # one.
        deleted_version = previous.version if previous is not None and previous.deleted else None
        settings = CompanySettings(config=new_config, version=(deleted_version or 0) + 1)
        if not await self.store.create(settings, deleted_version):
            raise ConflictError(f"{settings.config.company_id} has settings: change them with a patch")
        await self._announce(settings)
        return shown(settings)

    async def page(self, request: CompaniesRequest) -> CompaniesReply:
        """A page of companies, in order."""
        page = await self.store.existing_after(request.after, request.limit + 1)
        items = [shown(settings) for settings in page[: request.limit]]
        return CompaniesReply(items=items, more=len(page) > request.limit)

    async def delete(self, company: str) -> bool:
        """Deletes a company's settings; a record of the deletion remains. Returns False if there is no such company.

        Raises:
            MovedError, StoreUnavailableError.
        """
        for _ in range(DELETE_ATTEMPTS):
            old = await self.store.get(company)
            if old is None:
                return False
            config = CompanyConfig(company_id=company, ai_auto_response_enabled=False)
            deletion = CompanySettings(config=config, version=old.version + 1, deleted=True)
            if await self.store.replace(deletion):
                await self._announce(deletion)
                return True
        raise MovedError("the settings keep changing: try again")

    async def patch(self, company: str, version: int, patch: Mapping[str, object]) -> CompanySettings:
        """Applies a merge patch to `version`, and returns the settings after it.

        Raises:
            BadFieldsError, NotFoundError, MovedError, StoreUnavailableError.
        """
        old = await self.store.get(company)
        if old is None:
            raise NotFoundError(f"{company} has no settings: create them first")
        if old.version != version:
            raise MovedError(f"the settings are at version {old.version}, not {version}: read them again")
        config = with_key_dates(patched(old.config, patch, self._close), old.config.identity.keys, datetime.now(UTC))
        settings = CompanySettings(config=config, version=version + 1)
        if not await self.store.replace(settings):
            raise MovedError(f"somebody changed version {version} just now: read the settings again")
        await self._announce(settings)
        return shown(settings)

    async def stop_webhook(self, company: str, url: str) -> None:
        """Stops webhooks to this URL, which reports itself gone, until an admin changes that; raises
        StoreUnavailableError."""
        while (old := await self.store.get(company)) is not None:
            now = datetime.now(UTC)
            hooks = [
                hook.model_copy(update={"gone_at": now}) if hook.url == url and hook.gone_at is None else hook
                for hook in old.config.webhooks
            ]
            if hooks == old.config.webhooks:
                return
            config = old.config.model_copy(update={"webhooks": hooks})
            settings = CompanySettings(config=config, version=old.version + 1)
            if await self.store.replace(settings):
                await self._announce(settings)
                return

    def reseal_step(self) -> MigrationStep:
        """The migration after a replacement of NEXUS_SECRETS_KEY: seals with the first key what an older key has
        sealed."""
        description = "companies' secrets are sealed with the first key of NEXUS_SECRETS_KEY"
        return MigrationStep("company-secrets", description, self._count_to_reseal, self._reseal_batch)

    async def _count_to_reseal(self) -> int:
        return len([old async for old, _ in self._to_reseal()])

    async def _reseal_batch(self) -> None:
        count = 0
        async for old, config in self._to_reseal():
            settings = CompanySettings(config=config, version=old.version + 1)
            if await self.store.replace(settings):
                await self._announce(settings)
            count += 1
            if count == RESEAL_BATCH:
                return

    async def _to_reseal(self) -> AsyncGenerator[tuple[CompanySettings, CompanyConfig]]:
        """Settings that contain secrets sealed with an older key, each with the configuration that replaces it."""
        if self.seal is not None:
            async for old in self._all_settings():
                new = resealed(old.config, self.seal.renewed)
                if new is not None:
                    yield old, new

    async def sweep(self) -> int:
        """Publishes changes that were stored but perhaps not published, because a process or the bus failed in
        between."""
        unannounced = await self.store.unannounced(PAGE_SIZE)
        for settings in unannounced:
            await self._publish(settings)
        return len(unannounced)

    async def refresh(self) -> int:
        """Publishes each company's newest settings again, since facts expire after a month: services that start while
        the store is away read them from the bus. Settings on the bus that a restored store lacks are stored again.
        Returns how many companies were published or restored.

        Raises:
            StoreUnavailableError, and what the bus raises.
        """
        count = 0
        async for settings in self._all_settings():
            count += await self._reconcile(settings)
        for published in await self.announcements.all_published_settings():
            if await self.store.get_with_deleted(published.config.company_id) is None:
                config = with_secrets(published.config, CompanyConfig(company_id=published.config.company_id))
                restored = CompanySettings(config=config, version=published.version, deleted=published.deleted)
                count += await self.store.create(restored)
        return count

    async def _all_settings(self) -> AsyncGenerator[CompanySettings]:
        """The settings of all companies, in order; raises StoreUnavailableError."""
        last = ""
        while page := await self.store.after(last, PAGE_SIZE):
            for settings in page:
                yield settings
            last = page[-1].config.company_id

    async def _reconcile(self, settings: CompanySettings) -> bool:
        published, published_at, seq = await self.announcements.published_settings(settings.config.company_id)
        now = datetime.now(UTC)
        if published is None or published.version < settings.version or now - published_at > REPUBLISH_AFTER:
            # Fenced by what was read: if that was out of date, a newer version must not be overwritten.
            await self.announcements.company_changed(shown(settings), repeat=now.date().isoformat(), last_seen_seq=seq)
            return True
        if published.version == settings.version:
            return False
        config = with_secrets(published.config, settings.config)
        restored = CompanySettings(config=config, version=published.version, deleted=published.deleted)
        return await self.store.replace(restored, settings.version)

    async def _announce(self, settings: CompanySettings) -> None:
        # The change is stored: if publishing fails now, the sweep repeats it. The caller's answer must not depend on
        # that.
        try:
            async with asyncio.timeout(2):
                await self._publish(settings)
                if self.changed is not None:
                    await self.changed(settings)
        except (TimeoutError, NexusError):
            return

    async def _publish(self, settings: CompanySettings) -> None:
        await self.announcements.company_changed(shown(settings))
        for state in HANDED_OVER_STATES:
            await self.conversations.look_now(settings.config.company_id, state)
        await self.store.mark_announced(settings.config.company_id, settings.version)
