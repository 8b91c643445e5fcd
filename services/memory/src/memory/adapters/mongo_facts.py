"""The collection `facts`: every durable fact of every conversation.

A row is {_id: company/conversation/event id, key, messageKey?, messageId?, kind, storedAt, event}. `key` orders all
facts, `messageKey` (the same value) only the messages. `event` is the CloudEvent's JSON as text, so that other
services' data can neither clash with the database's field names nor lose digits.

The row {_id: "furthest", place} names the fact with the highest position: `position event id`. It is written by the
same command as the facts, before them.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

import structlog
from pymongo import ASCENDING, DESCENDING, UpdateOne

from contracts.channels import ChatAddress, ChatKind
from memory.adapters.mongo import store_errors
from memory.domain.facts import FactPlace, LogFact, decode, message_id, without_principal
from memory.domain.keys import END, LogPosition, conversation_key, fact_key, from_cursor, position_of, to_cursor
from memory.ports import PageOf
from runtime.stores.mongo import Collection, Document

FURTHEST = "furthest"
_log = structlog.get_logger(__name__)


class MongoFacts:
    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def add(self, facts: Sequence[LogFact]) -> frozenset[LogPosition]:
        """Stores facts with one bulk write; returns the positions of those that are copies of a stored fact. There is a
        second query only if some existed already."""
        if not facts:
            return frozenset()
        async with store_errors("store facts"):
            result = await self._rows.bulk_write([_furthest(facts), *map(_upsert, facts)], ordered=False)
            inserted = result.upserted_ids or {}
            existing = [fact for index, fact in enumerate(facts, 1) if index not in inserted]
            if not existing:
                return frozenset()
            cursor = self._rows.find({"_id": {"$in": sorted({_id(fact) for fact in existing})}}, {"key": 1})
            positions = {row["_id"]: position_of(row["key"]) for row in await cursor.to_list()}
        # The row has the earliest position of its copies, wherever that is in the batch; every other fact is a copy.
        return frozenset(fact.position for fact in facts if positions.get(_id(fact), fact.position) != fact.position)

    async def are_stored(self, facts: Sequence[LogFact]) -> bool:
        """Whether all of these facts are stored."""
        ids = sorted({_id(fact) for fact in facts})
        async with store_errors("look for facts"):
            return len(await self._rows.find({"_id": {"$in": ids}}, {"_id": 1}).to_list()) == len(ids)

    async def furthest(self) -> FactPlace | None:
        """The fact with the highest position of all that were ever stored; None in a new database."""
        async with store_errors("read the furthest fact"):
            row = await self._rows.find_one({"_id": FURTHEST})
        if row is None:
            return None
        position, event_id = row["place"].split(" ", 1)
        return FactPlace(position_of(position), event_id)

    async def newest_messages(
        self, company: str, conversation: str, up_to: LogPosition, limit: int, since: LogPosition | None = None
    ) -> list[LogFact]:
        """The newest messages at or before `up_to` (and after `since`), oldest first."""
        prefix = conversation_key(company, conversation)
        start = "" if since is None else str(since)
        query = {"messageKey": {"$gt": f"{prefix}/{start}", "$lte": f"{prefix}/{up_to}"}}
        async with store_errors("read messages"):
            rows = await self._rows.find(query).sort("messageKey", DESCENDING).limit(limit).to_list()
        return facts_of(reversed(rows))

    async def after(
        self, company: str, conversation: str, since: LogPosition, up_to: LogPosition, limit: int
    ) -> list[LogFact]:
        """The facts with since < position ≤ up_to, in order, at most `limit`."""
        query = {"key": {"$gt": fact_key(company, conversation, since), "$lte": fact_key(company, conversation, up_to)}}
        async with store_errors("read facts"):
            return facts_of(await self._rows.find(query).sort("key", ASCENDING).limit(limit).to_list())

    async def messages(
        self, company: str, conversation: str, limit: int, cursor: str | None, *, latest: bool = False
    ) -> PageOf[LogFact]:
        """A page of messages, oldest first. `latest`: the last page, or with its cursor the one before."""
        prefix = conversation_key(company, conversation)
        key = from_cursor(cursor, prefix) if cursor else None
        end = f"{prefix}/{END}"
        # A cursor is the key of its page's last message; with `latest`, of the message before its first.
        key_range = {"$gt": f"{prefix}/", "$lte": key or end} if latest else {"$gt": key or f"{prefix}/", "$lt": end}
        async with store_errors("read messages"):
            matching_rows = self._rows.find({"messageKey": key_range}).sort(
                "messageKey", DESCENDING if latest else ASCENDING
            )
            rows = await matching_rows.limit(limit + 1).to_list()
        has_more = len(rows) > limit
        next_row = rows[-1 if latest else limit - 1] if has_more else None
        rows = rows[:limit]
        page = facts_of(reversed(rows) if latest else rows)
        return PageOf(page, to_cursor(next_row["messageKey"], prefix) if next_row else None)

    async def owner_changes(
        self, company: str, conversation: str, since: LogPosition, up_to: LogPosition | None, limit: int
    ) -> list[LogFact]:
        """The newest changes of owner with since < position ≤ up_to, oldest first."""
        prefix = conversation_key(company, conversation)
        query = {
            "key": {"$gt": f"{prefix}/{since}", "$lte": f"{prefix}/{END if up_to is None else up_to}"},
            "kind": ChatKind.OWNER.value,
        }
        async with store_errors("read changes of owner"):
            rows = await self._rows.find(query).sort("key", DESCENDING).limit(limit).to_list()
        return facts_of(reversed(rows))

    async def message(self, company: str, conversation: str, message_id: str) -> LogFact | None:
        async with store_errors("read a message"):
            row = await self._rows.find_one({"messageId": f"{conversation_key(company, conversation)}/{message_id}"})
        return next(iter(facts_of([row] if row else [])), None)


def _id(fact: LogFact) -> str:
    return f"{fact.company}/{fact.conversation}/{fact.event_id}"


def _furthest(facts: Iterable[LogFact]) -> UpdateOne:
    place = max(f"{fact.position} {fact.event_id}" for fact in facts)
    return UpdateOne({"_id": FURTHEST}, {"$max": {"place": place}}, upsert=True)


def _upsert(fact: LogFact) -> UpdateOne:
    key = fact_key(fact.company, fact.conversation, fact.position)
    sort_keys = {"key": key}
    row: Document = {
        "kind": fact.kind.value,
        "storedAt": fact.stored_at.isoformat(),
        "event": without_principal(fact.raw),
    }
    identity = message_id(fact)
    if identity is not None:
        sort_keys["messageKey"] = key
        row["messageId"] = f"{conversation_key(fact.company, fact.conversation)}/{identity}"
    # A copy can be stored after the bus has forgotten the first one's id: the earliest position wins.
    return UpdateOne({"_id": _id(fact)}, {"$min": sort_keys, "$setOnInsert": row}, upsert=True)


def facts_of(rows: Iterable[Document]) -> list[LogFact]:
    """Decodes the facts in rows, and skips those that this release cannot read."""
    facts: list[LogFact] = []
    for row in rows:
        try:
            facts.append(_fact(row))
        except ValueError as error:
            _log.warning("a stored fact cannot be read", id=row["_id"], error=str(error)[:200])
    return facts


def _fact(row: Document) -> LogFact:
    company, conversation = row["_id"].split("/", 2)[:2]
    return decode(
        ChatAddress(company, conversation, ChatKind(row["kind"])),
        position_of(row["key"]),
        datetime.fromisoformat(row["storedAt"]),
        row["event"].encode(),
    )
