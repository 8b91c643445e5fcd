"""Tombstones, so that late facts do not bring deleted data back (the collection `erased`): {_id: digest, at (ms), era,
seq}.

Names are stored as digests with a random key of this database: nobody can read the names in the collection, but whether
a given name is in it can be checked.
"""

import contextlib
import hashlib
import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pymongo import ReplaceOne
from pymongo.errors import DuplicateKeyError

from memory.adapters.mongo import store_errors
from memory.domain.erasure import Erasure
from memory.domain.keys import LogPosition, milliseconds, moment
from runtime.stores.mongo import Database

KEY_ROW = "erased"
"""The row of the collection `meta` with the digests' key."""
BATCH = 500
"""Tombstones in one write."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Records when something was deleted, and up to which position of the log. `name` is company/conversation or
    company:user."""

    name: str
    at: datetime
    up_to: LogPosition

    @property
    def conversation(self) -> bool:
        return "/" in self.name


class MongoTombstones:
    def __init__(self, database: Database) -> None:
        self._rows = database["erased"]
        self._meta = database["meta"]
        self._key = b""

    async def keep(self, job: Erasure, time: datetime) -> None:
        """Records that the user and the conversations were deleted."""
        digest = await self._digests()
        names = [f"{job.company}/{conversation}" for conversation in job.conversations]
        names += [f"{job.company}:{job.user}"] if job.user else []
        row = {"at": milliseconds(time), "era": job.up_to.era, "seq": job.up_to.seq}
        async with store_errors("store tombstones"):
            for start in range(0, len(names), BATCH):
                rows = [row | {"_id": digest(name)} for name in names[start : start + BATCH]]
                await self._rows.bulk_write(
                    [ReplaceOne({"_id": tombstone["_id"]}, tombstone, upsert=True) for tombstone in rows], ordered=False
                )

    async def conversations(self, names: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], Tombstone]:
        """The conversations among these (company, name) that were deleted."""
        by_name = {f"{company}/{name}": (company, name) for company, name in names}
        return {by_name[tombstone.name]: tombstone for tombstone in await self.of(by_name)}

    async def drop(self, before: datetime) -> None:
        """Removes tombstones that are so old that no late fact can arrive any more."""
        async with store_errors("delete old tombstones"):
            await self._rows.delete_many({"at": {"$lt": milliseconds(before)}})

    async def of(self, names: Collection[str]) -> list[Tombstone]:
        """The tombstones of users and conversations."""
        if not names:
            return []
        digest = await self._digests()
        by_digest = {digest(name): name for name in names}
        async with store_errors("read tombstones"):
            rows = await self._rows.find({"_id": {"$in": list(by_digest)}}).to_list()
        return [
            Tombstone(
                name=by_digest[row["_id"]],
                at=moment(row["at"]),
                up_to=LogPosition(row["era"], row["seq"]),
            )
            for row in rows
        ]

    async def _digests(self) -> "_Digest":
        if not self._key:
            async with store_errors("read the tombstones' key"):
                row = await self._meta.find_one({"_id": KEY_ROW})
                if row is None:
                    with contextlib.suppress(DuplicateKeyError):  # another replica's
                        await self._meta.insert_one({"_id": KEY_ROW, "key": secrets.token_hex(16)})
                    row = await self._meta.find_one({"_id": KEY_ROW})
            self._key = str(row["key"] if row else "").encode()
        return _Digest(self._key)


@dataclass(frozen=True, slots=True)
class _Digest:
    key: bytes

    def __call__(self, name: str) -> str:
        return hashlib.blake2b(name.encode(), digest_size=16, key=self.key).hexdigest()
