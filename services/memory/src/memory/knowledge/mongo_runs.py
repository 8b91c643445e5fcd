"""The collection `knowledge_runs`: {_id: company/run, listKey: company/requested (ms)/run, step, site, run, …}.

`run` is the contract's Run; `gone` the ids of pages that a waiting run would remove; `asked` when it was last
requested.
"""

from dataclasses import dataclass, replace

from pymongo import DESCENDING

from contracts.knowledge import Run
from memory.adapters.mongo import keys_under, replace_version, store_errors
from memory.domain.keys import milliseconds, timed_key
from runtime.stores.mongo import Database, Document

KEPT = 50
"""Runs of a company that are kept."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run. `step`: of the newest progress; `version` changes with every write."""

    run: Run
    site: str | None = None
    step: int = -1
    asked: int = 0
    gone: tuple[str, ...] = ()
    version: int = 0


class Runs:
    """Every method raises StoreUnavailableError."""

    def __init__(self, database: Database) -> None:
        self._rows = database["knowledge_runs"]

    async def get(self, company: str, run: str) -> StoredRun | None:
        async with store_errors("read a run"):
            row = await self._rows.find_one({"_id": f"{company}/{run}"})
        return _reading(row) if row else None

    async def put(self, reading: StoredRun, over: int | None) -> bool:
        """Replaces the version `over`; False: another one is there."""
        async with store_errors("store a run"):
            stored = replace(reading, version=(over or 0) + 1)
            return await replace_version(self._rows, _row(stored), over)

    async def newest(self, company: str, limit: int) -> list[StoredRun]:
        """The newest runs, newest first."""
        async with store_errors("list runs"):
            where = {"listKey": keys_under(company)}
            rows = await self._rows.find(where).sort("listKey", DESCENDING).limit(limit).to_list()
        return [_reading(row) for row in rows]

    async def tidy(self, company: str) -> None:
        """Deletes all but the newest."""
        kept = await self.newest(company, KEPT)
        if len(kept) == KEPT:
            async with store_errors("delete old runs"):
                await self._rows.delete_many({"listKey": {"$gt": f"{company}/", "$lt": _key(kept[-1].run)}})

    async def forget(self, company: str) -> int:
        """Deletes a company's runs; returns how many."""
        async with store_errors("delete a company's runs"):
            gone = await self._rows.delete_many({"_id": keys_under(company)})
        return gone.deleted_count


def _key(run: Run) -> str:
    return timed_key(run.company_id, milliseconds(run.requested_at), run.id)


def _row(one: StoredRun) -> Document:
    return {
        "_id": f"{one.run.company_id}/{one.run.id}",
        "version": one.version,
        "listKey": _key(one.run),
        "step": one.step,
        "asked": one.asked,
        "site": one.site,
        "run": one.run.model_dump_json(by_alias=True),
        "gone": list(one.gone),
    }


def _reading(row: Document) -> StoredRun:
    run = Run.model_validate_json(row["run"])
    return StoredRun(run, row["site"], row["step"], row["asked"], tuple(row["gone"]), row["version"])
