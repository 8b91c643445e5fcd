"""The collection `memories`: {_id: company/user, version, state}: what is remembered of one user.

`state` is JSON as text. `version` is random, not a number: a memory that was deleted and recreated can never be
mistaken for the one that a slow writer has read.
"""

from datetime import datetime

import orjson
from pydantic import Field

from contracts.envelope import Wire
from contracts.memory_rpc import LongTermMemory
from memory.adapters.mongo import replace_version, store_errors
from memory.domain.forgotten import Forgotten
from memory.domain.keys import LogPosition
from memory.domain.remembered import Remembered
from memory.ports import Versioned
from runtime.stores.mongo import Collection, Document
from runtime.stores.unknown_fields import UnknownFields


class ForgottenWords(Wire):
    """A forgotten fact, as digests of its words."""

    words: list[str]
    at: datetime


class MemoryRecord(Wire):
    """A memory as stored."""

    memory: LongTermMemory
    asked: dict[str, int] = Field(default_factory=dict[str, int])
    style_since: datetime | None = None
    learned: list[str] = Field(default_factory=list[str])
    since: dict[str, datetime] = Field(default_factory=dict[str, datetime])
    set_since: dict[str, datetime] = Field(default_factory=dict[str, datetime])
    corrections: dict[str, datetime] = Field(default_factory=dict[str, datetime])
    forgotten: tuple[int, int] = (0, 0)
    done: list[str] = Field(default_factory=list[str])
    gone: list[ForgottenWords] = Field(default_factory=list[ForgottenWords])


class MongoMemories:
    """Stores what is remembered about users. Every method raises StoreUnavailableError."""

    def __init__(self, collection: Collection) -> None:
        self._rows = collection
        self._unknown = UnknownFields(("styleSince",))

    async def load(self, company: str, user: str) -> Versioned:
        """The user's memory; empty if nothing is remembered."""
        async with store_errors("read a memory"):
            row = await self._rows.find_one({"_id": f"{company}/{user}"})
        if row is None:
            return Versioned(None, Remembered())
        record = MemoryRecord.model_validate_json(row["state"])
        self._unknown.record(f"{company}/{user}", row["version"], orjson.loads(row["state"]), record.to_wire())
        state = Remembered(
            memory=record.memory,
            symbol_counts=record.asked,
            style_since=record.style_since,
            learned=tuple(record.learned),
            since=record.since,
            set_since=record.set_since,
            corrections=record.corrections,
            forgotten_up_to=LogPosition(*record.forgotten),
            applied_requests=tuple(record.done),
            forgotten_facts=tuple(Forgotten(frozenset(entry.words), entry.at) for entry in record.gone),
        )
        return Versioned(row["version"], state)

    async def save(
        self, company: str, user: str, state: Remembered, previous_version: str | None, version: str
    ) -> bool:
        """Replaces `previous_version` by `version`; returns False if another version is stored."""
        record = MemoryRecord(
            memory=state.memory,
            asked=dict(state.symbol_counts),
            style_since=state.style_since,
            learned=list(state.learned),
            since=dict(state.since),
            set_since=dict(state.set_since),
            corrections=dict(state.corrections),
            forgotten=(state.forgotten_up_to.era, state.forgotten_up_to.seq),
            done=list(state.applied_requests),
            gone=[ForgottenWords(words=sorted(entry.words), at=entry.at) for entry in state.forgotten_facts],
        )
        fields = self._unknown.with_them(f"{company}/{user}", previous_version, record.to_wire())
        row: Document = {"_id": f"{company}/{user}", "version": version, "state": orjson.dumps(fields).decode()}
        async with store_errors("store a memory"):
            return await replace_version(self._rows, row, previous_version)

    async def delete(self, company: str, user: str) -> bool:
        async with store_errors("delete a memory"):
            return (await self._rows.delete_one({"_id": f"{company}/{user}"})).deleted_count == 1
