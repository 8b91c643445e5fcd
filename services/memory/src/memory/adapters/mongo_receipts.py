"""The collection `receipts` of deletions: {_id: company/receipt, key, version, kind, by, at (ms), conversations, runs
(JSON), finishedAt (ms)?}; `key` sorts a company's receipts by time."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import orjson

from memory.adapters.mongo import page_of, replace_version, store_errors
from memory.domain.keys import milliseconds, moment, timed_key
from memory.domain.receipt import ErasureRecord
from memory.errors import StoreUnavailableError
from memory.ports import PageOf
from runtime.stores.mongo import Database, Document

ATTEMPTS = 10
"""How often changing a receipt is tried while another replica changes it too."""


class MongoReceipts:
    """Receipts of deletions."""

    def __init__(self, database: Database) -> None:
        self._rows = database["receipts"]

    async def begin(self, record: ErasureRecord) -> ErasureRecord:
        """Stores a receipt unless there is one of its name; returns the stored one."""
        async with store_errors("store a receipt"):
            if await replace_version(self._rows, _row(replace(record, version=1)), None):
                return replace(record, version=1)
        return await self.get(record.company, record.receipt) or record

    async def get(self, company: str, receipt: str) -> ErasureRecord | None:
        async with store_errors("read a receipt"):
            row = await self._rows.find_one({"_id": f"{company}/{receipt}"})
        return _record(row) if row else None

    async def note(
        self, company: str, receipt: str, run: int, counts: Mapping[str, int], finished_at: datetime | None = None
    ) -> None:
        """Adds what a run has removed. With `finished_at`, the deletion is complete."""
        for _ in range(ATTEMPTS):
            record = await self.get(company, receipt)
            if record is None:
                return  # a deletion that an earlier release began
            changed = replace(record.noted(run, counts), version=record.version + 1)
            if finished_at is not None:
                changed = replace(changed, finished_at=record.finished_at or finished_at)
            async with store_errors("store a receipt"):
                if await replace_version(self._rows, _row(changed), record.version):
                    return
        raise StoreUnavailableError("a receipt kept changing while it was written: try again")

    async def page(self, company: str, limit: int, cursor: str | None) -> PageOf[ErasureRecord]:
        """A page of a company's receipts, newest first; raises BadCursorError."""
        async with store_errors("read receipts"):
            return (await page_of(self._rows, "key", company, limit, cursor)).mapped(_record)


def _row(record: ErasureRecord) -> Document:
    at = milliseconds(record.at)
    finished: Document = {} if record.finished_at is None else {"finishedAt": milliseconds(record.finished_at)}
    return finished | {
        "_id": f"{record.company}/{record.receipt}",
        "key": timed_key(record.company, at, record.receipt),
        "version": record.version,
        "kind": record.kind,
        "by": record.by,
        "at": at,
        "conversations": record.conversations,
        "runs": orjson.dumps([dict(run) for run in record.runs]).decode(),
    }


def _record(row: Document) -> ErasureRecord:
    company, receipt = row["_id"].split("/", 1)
    finished = row.get("finishedAt")
    return ErasureRecord(
        company=company,
        receipt=receipt,
        kind=row["kind"],
        by=row["by"],
        at=moment(row["at"]),
        conversations=row["conversations"],
        runs=tuple(orjson.loads(row["runs"])),
        finished_at=None if finished is None else moment(finished),
        version=row["version"],
    )
