"""The collection `companies`: {_id: company, version, config, hooks?, site?, unannounced?, deleted?}.

`config` is the settings' JSON as text. `unannounced` is the version still to be published on the bus; it is written in
the same document as the change, so neither exists without the other. `hooks`: the company has webhooks or channels;
`site`: it has a site to read; `deleted`: it was deleted with this version.
"""

import orjson
from pymongo import ASCENDING

from contracts.company import CompanySettings, read_config
from memory.adapters.mongo import replace_version, store_errors
from runtime.stores.mongo import Collection, Document


class MongoCompanies:
    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def get(self, company: str) -> CompanySettings | None:
        """The settings; None if there are none."""
        settings = await self.get_with_deleted(company)
        return None if settings is None or settings.deleted else settings

    async def get_with_deleted(self, company: str) -> CompanySettings | None:
        """The settings as `get` returns them, and also the record of a deleted company."""
        async with store_errors("read company settings"):
            row = await self._rows.find_one({"_id": company})
        return _settings(row) if row else None

    async def create(self, settings: CompanySettings, deleted_version: int | None = None) -> bool:
        """Stores the first version, or after a deletion the one after `deleted_version`; returns False if settings
        exist."""
        async with store_errors("create company settings"):
            return await replace_version(self._rows, _row(settings), deleted_version)

    async def replace(self, settings: CompanySettings, version: int | None = None) -> bool:
        """Replaces `version` (by default the one before) by settings.version; returns False if another version is
        stored."""
        async with store_errors("change company settings"):
            return await replace_version(
                self._rows, _row(settings), settings.version - 1 if version is None else version
            )

    async def with_webhooks(self) -> list[CompanySettings]:
        """The settings of all companies with webhooks; raises StoreUnavailableError."""
        async with store_errors("read companies with webhooks"):
            return [_settings(row) for row in await self._rows.find({"hooks": True}).to_list()]

    async def with_site(self) -> list[CompanySettings]:
        async with store_errors("read companies with a site"):
            return [_settings(row) for row in await self._rows.find({"site": True}).to_list()]

    async def after(self, company: str, limit: int) -> list[CompanySettings]:
        """The records of the companies after `company`, in order."""
        async with store_errors("read companies"):
            cursor = self._rows.find({"_id": {"$gt": company}}).sort("_id", ASCENDING).limit(limit)
            return [_settings(row) for row in await cursor.to_list()]

    async def existing_after(self, company: str, limit: int) -> list[CompanySettings]:
        """The records that `after` returns, without deleted companies."""
        async with store_errors("list companies"):
            query = {"_id": {"$gt": company}, "deleted": {"$ne": True}}
            return [
                _settings(row) for row in await self._rows.find(query).sort("_id", ASCENDING).limit(limit).to_list()
            ]

    async def unannounced(self, limit: int) -> list[CompanySettings]:
        """Settings whose latest version may not have been published on the bus."""
        async with store_errors("read unannounced settings"):
            cursor = self._rows.find({"unannounced": {"$gt": 0}}).sort("unannounced", ASCENDING).limit(limit)
            return [_settings(row) for row in await cursor.to_list()]

    async def mark_announced(self, company: str, version: int) -> None:
        async with store_errors("mark company settings as announced"):
            await self._rows.update_one({"_id": company, "version": version}, {"$unset": {"unannounced": ""}})


def _row(settings: CompanySettings) -> Document:
    marks: Document = {"hooks": True} if settings.config.webhooks or settings.config.channels else {}
    if settings.config.knowledge.site_url:
        marks["site"] = True
    if settings.deleted:
        marks["deleted"] = True
    return marks | {
        "_id": settings.config.company_id,
        "version": settings.version,
        "unannounced": settings.version,
        # Unset fields stay unset: if a later release changes a default, it applies to those who never chose. Fields
        # that only a later release knows stay as it has written them.
        "config": settings.config.model_dump_json(by_alias=True, exclude_unset=True),
    }


def _settings(row: Document) -> CompanySettings:
    config = read_config(orjson.loads(row["config"]))
    return CompanySettings(config=config, version=row["version"], deleted=row.get("deleted") or None)
