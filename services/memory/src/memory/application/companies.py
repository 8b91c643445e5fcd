"""Company settings: read, created, changed; every change is published on the bus, at least once."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta

from contracts.company import CompanyConfig, CompanySettings
from contracts.errors import NexusError
from contracts.identity_rpc import KnownUser
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.domain.company import checked, patched, resealed, shown, with_secrets
from memory.domain.conversation import NEEDS_HUMAN
from memory.domain.identity import IdentityRefusedError, known_user, with_key_dates
from memory.errors import CompanyExistsError, NoSuchCompanyError, SettingsMovedError
from memory.migrations import MigrationStep
from runtime.auth.seal import Seal

SWEPT = 100
RESEALED = 20
"""Companies whose secrets one call of a migration seals anew."""
RACES = 5
"""How often a deletion is retried if somebody changes the settings meanwhile."""
HANDED_OVER = (NEEDS_HUMAN, "human")
"""The states of conversations in which the settings say what comes when nobody does."""
AGED = timedelta(days=7)
"""Settings published longer ago than this are published again."""
Changed = Callable[[CompanySettings], Awaitable[None]]


class CompanyRegistry:
    """The settings of all companies, returned without secrets or with sealed ones. `changed` is called for each
    change before the caller has the answer; `seal`: of their secrets."""

    def __init__(
        self,
        *,
        store: MongoCompanies,
        announcements: BusAnnouncements,
        conversations: MongoConversations,
        changed: Changed | None = None,
        seal: Seal | None = None,
    ) -> None:
        self._seal = seal
        self._close = seal.close if seal else None
        self._store = store
        self._announcements = announcements
        self._conversations = conversations
        self._changed = changed

    async def get(self, company: str) -> CompanySettings | None:
        """The settings; None: no such company."""
        settings = await self._store.get(company)
        return shown(settings) if settings else None

    async def get_with_deleted(self, company: str) -> CompanySettings | None:
        """The same, or the record of a deleted company."""
        settings = await self._store.get_with_deleted(company)
        return shown(settings) if settings else None

    async def identify(self, company: str, token: str) -> KnownUser:
        """The user in a JWT signed by the company.

        Raises:
            IdentityRefusedError, StoreUnavailableError.
        """
        settings = await self._store.get(company)
        if settings is None:
            raise IdentityRefusedError("there is no such company")
        return known_user(settings.config, token, datetime.now(UTC))

    async def create(self, config: dict[str, object]) -> CompanySettings:
        """A company's first settings.

        Raises:
            BadSettingsError, CompanyExistsError, StoreUnavailableError.
        """
        made = with_key_dates(checked(config, close=self._close), (), datetime.now(UTC))
        before = await self._store.get_with_deleted(made.company_id)
        # Continues after the last version of a deleted company of this name: readers that know it accept this one.
        ended = before.version if before is not None and before.deleted else None
        settings = CompanySettings(config=made, version=(ended or 0) + 1)
        if not await self._store.create(settings, ended):
            raise CompanyExistsError(f"{settings.config.company_id} has settings: change them with a patch")
        await self._announce(settings)
        return shown(settings)

    async def page(self, after: str, limit: int) -> tuple[list[CompanySettings], bool]:
        """The companies after `after` in order, and whether there are more."""
        found = await self._store.existing_after(after, limit + 1)
        return [shown(settings) for settings in found[:limit]], len(found) > limit

    async def delete(self, company: str) -> bool:
        """Deletes a company's settings; a record of the deletion remains. False: there was none.

        Raises:
            SettingsMovedError, StoreUnavailableError.
        """
        version = 0
        for _ in range(RACES):
            old = await self._store.get(company)
            if old is None:
                return False
            version = old.version
            config = CompanyConfig(company_id=company, ai_auto_response_enabled=False)
            ended = CompanySettings(config=config, version=version + 1, deleted=True)
            if await self._store.replace(ended):
                await self._announce(ended)
                return True
        raise SettingsMovedError("the settings keep changing: try again", version + 1)

    async def patch(self, company: str, version: int, patch: Mapping[str, object]) -> CompanySettings:
        """The settings after a merge patch on `version`.

        Raises:
            BadSettingsError, NoSuchCompanyError, SettingsMovedError, StoreUnavailableError.
        """
        old = await self._store.get(company)
        if old is None:
            raise NoSuchCompanyError(f"{company} has no settings: create them first")
        if old.version != version:
            raise SettingsMovedError(
                f"the settings are at version {old.version}, not {version}: read them again", old.version
            )
        config = with_key_dates(patched(old.config, patch, self._close), old.config.identity.keys, datetime.now(UTC))
        settings = CompanySettings(config=config, version=version + 1)
        if not await self._store.replace(settings):
            raise SettingsMovedError(
                f"somebody changed version {version} just now: read the settings again", version + 1
            )
        await self._announce(settings)
        return shown(settings)

    async def webhook_gone(self, company: str, url: str) -> None:
        """Stops sending to this address until an admin changes that; raises StoreUnavailableError."""
        while (old := await self._store.get(company)) is not None:
            now = datetime.now(UTC)
            hooks = [
                hook.model_copy(update={"gone_at": now}) if hook.url == url and hook.gone_at is None else hook
                for hook in old.config.webhooks
            ]
            if hooks == old.config.webhooks:
                return
            config = old.config.model_copy(update={"webhooks": hooks})
            settings = CompanySettings(config=config, version=old.version + 1)
            if await self._store.replace(settings):
                await self._announce(settings)
                return

    def sealed_anew(self) -> MigrationStep:
        """After a replacement of NEXUS_SECRETS_KEY: what an older key sealed is sealed with the first."""
        what = "companies' secrets are sealed with the first key of NEXUS_SECRETS_KEY"
        return MigrationStep("company-secrets", what, self._older_seals, self._seal_some)

    async def _older_seals(self) -> int:
        return len([old async for old, _ in self._to_reseal()])

    async def _seal_some(self) -> None:
        done = 0
        async for old, config in self._to_reseal():
            settings = CompanySettings(config=config, version=old.version + 1)
            if await self._store.replace(settings):
                await self._announce(settings)
            done += 1
            if done == RESEALED:
                return

    async def _to_reseal(self) -> AsyncGenerator[tuple[CompanySettings, CompanyConfig]]:
        """The settings in which an older key has sealed something, and what is to replace them."""
        if self._seal is not None:
            async for old in self._every():
                new = resealed(old.config, self._seal.renewed)
                if new is not None:
                    yield old, new

    async def sweep(self) -> int:
        """Publishes changes that were stored but perhaps not published, because a process or the bus failed in
        between."""
        untold = await self._store.unannounced(SWEPT)
        for settings in untold:
            await self._tell(settings)
        return len(untold)

    async def refresh(self) -> int:
        """Publishes each company's newest settings again, since facts expire after a month: services that start while
        the store is away read them from the bus. Settings on the bus that a restored store lacks are stored again.
        Returns how many companies were published or restored.

        Raises:
            StoreUnavailableError, and what the bus raises.
        """
        count = 0
        async for settings in self._every():
            count += await self._agree(settings)
        for told in await self._announcements.all_published_settings():
            if await self._store.get_with_deleted(told.config.company_id) is None:
                config = with_secrets(told.config, CompanyConfig(company_id=told.config.company_id))
                back = CompanySettings(config=config, version=told.version, deleted=told.deleted)
                count += await self._store.create(back)
        return count

    async def _every(self) -> AsyncGenerator[CompanySettings]:
        """The settings of all companies, in order; raises StoreUnavailableError."""
        last = ""
        while page := await self._store.after(last, SWEPT):
            for settings in page:
                yield settings
            last = page[-1].config.company_id

    async def _agree(self, settings: CompanySettings) -> bool:
        found, since, seq = await self._announcements.published_settings(settings.config.company_id)
        now = datetime.now(UTC)
        if found is None or found.version < settings.version or now - since > AGED:
            # Fenced by what was read: if that was out of date, a newer version must not be overwritten.
            await self._announcements.company_changed(shown(settings), again=now.date().isoformat(), over=seq)
            return True
        if found.version == settings.version:
            return False
        newer = with_secrets(found.config, settings.config)
        told = CompanySettings(config=newer, version=found.version, deleted=found.deleted)
        return await self._store.replace(told, settings.version)

    async def _announce(self, settings: CompanySettings) -> None:
        # The change is stored; if telling fails now, the sweep tells it. The caller's answer must not depend on that.
        try:
            async with asyncio.timeout(2):
                await self._tell(settings)
                if self._changed is not None:
                    await self._changed(settings)
        except (TimeoutError, NexusError):
            return

    async def _tell(self, settings: CompanySettings) -> None:
        await self._announcements.company_changed(shown(settings))
        for state in HANDED_OVER:
            await self._conversations.look_again(settings.config.company_id, state)
        await self._store.announced(settings.config.company_id, settings.version)
