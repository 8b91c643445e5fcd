"""The collection `knowledge_runs`: {_id: company/run, listKey: company/requested (ms)/run, step, site, run, …}.

`run` is the contract's Run; `gone` the ids of pages that a waiting run would remove; `asked` the time (ms) of its last
request.
"""

from dataclasses import dataclass, replace

from pymongo import DESCENDING

from contracts.knowledge import Run
from memory.adapters.mongo import keys_under, replace_version, store_errors
from memory.domain.keys import milliseconds, timed_key
from runtime.stores.mongo import Database, Document

MAX_RUNS = 50
"""Runs of a company that are kept."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run. `step`: of the newest progress; `version` changes with every write."""

    run: Run
    site: str | None = None
    step: int = -1
    requested_at: int = 0
    gone: tuple[str, ...] = ()
    version: int = 0


class RunStore:
    """Every method raises StoreUnavailableError."""

    def __init__(self, database: Database) -> None:
        self._rows = database["knowledge_runs"]

    async def get(self, company: str, run: str) -> StoredRun | None:
        async with store_errors("read a run"):
            row = await self._rows.find_one({"_id": f"{company}/{run}"})
        return _stored_run(row) if row else None

    async def put(self, run: StoredRun, replaced_version: int | None) -> bool:
        """Replaces this version; returns False if another one is there."""
        async with store_errors("store a run"):
            stored = replace(run, version=(replaced_version or 0) + 1)
            return await replace_version(self._rows, _row(stored), replaced_version)

    async def newest(self, company: str, limit: int) -> list[StoredRun]:
        """Returns the newest runs, newest first."""
        async with store_errors("list runs"):
            query = {"listKey": keys_under(company)}
            rows = await self._rows.find(query).sort("listKey", DESCENDING).limit(limit).to_list()
        return [_stored_run(row) for row in rows]

    async def tidy(self, company: str) -> None:
        """Deletes all but the newest."""
        newest = await self.newest(company, MAX_RUNS)
        if len(newest) == MAX_RUNS:
            async with store_errors("delete old runs"):
                await self._rows.delete_many({"listKey": {"$gt": f"{company}/", "$lt": _key(newest[-1].run)}})

    async def forget(self, company: str) -> int:
        """Deletes a company's runs; returns how many."""
        async with store_errors("delete a company's runs"):
            result = await self._rows.delete_many({"_id": keys_under(company)})
        return result.deleted_count


def _key(run: Run) -> str:
    return timed_key(run.company_id, milliseconds(run.requested_at), run.id)


def _row(stored: StoredRun) -> Document:
    return {
        "_id": f"{stored.run.company_id}/{stored.run.id}",
        "version": stored.version,
        "listKey": _key(stored.run),
        "step": stored.step,
        "asked": stored.requested_at,
        "site": stored.site,
        "run": stored.run.model_dump_json(by_alias=True),
        "gone": list(stored.gone),
    }


def _stored_run(row: Document) -> StoredRun:
    run = Run.model_validate_json(row["run"])
    return StoredRun(run, row["site"], row["step"], row["asked"], tuple(row["gone"]), row["version"])
