"""The collection `conversations`: one document each, replaced as a whole if its version is unchanged, with a sort key
for each list.

`inboxKey` company/latest/id; `stateKey` company:state/latest/id (while it waits for a person, the position at which it
began to wait instead of `latest`); `operatorKey` company:assignee/latest/id and `unassignedKey` company/latest/id (only
open ones); `personKey` company:person/latest/id, `visitorKey` the same for the visitor that this customer was;
`unansweredKey` company/visitor's newest message/id; `dayKey` company/first day; `quietKey` company/quiet since/id.
`latest` is the position of the newest fact.

`dueAt` exists while a state is to change by itself. `waitingSince` exists while a visitor waits for a person or a
notice: the time, in ms since the epoch, from which the hand-off sweep checks the conversation. Each store of the
conversation sets it to the time when the wait began, and each check moves it on. If there is nothing left to do while
the visitor waits, it is that time plus ENDLESS.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from random import randrange
from uuid import uuid4

from pymongo import ASCENDING, DESCENDING, InsertOne, ReplaceOne, UpdateOne
from pymongo.errors import BulkWriteError

from contracts.events.chat import OwnerKind
from memory.adapters.conversation_document import (
    FINDABLE,
    ConversationFields,
    findable_of,
    from_document,
    outcome_of,
    to_document,
)
from memory.adapters.mongo import began_by, duplicate_writes, keys_under, page_of, store_errors
from memory.domain.conversation import NEEDS_HUMAN, STATES, ConversationOutcome, InboxConversation
from memory.domain.inbox_index import Findable, InboxQuery
from memory.domain.keys import (
    BEGINNING,
    END,
    LogPosition,
    conversation_key,
    list_key,
    milliseconds,
    position_of,
    timed_key,
)
from memory.ports import PageOf
from runtime.stores.mongo import Collection, Document
from runtime.stores.unknown_fields import UnknownFields

OLDER: Document = {"writtenKey": {"$exists": False}, "inboxKey": {"$exists": True}}
"""Conversations stored only by releases without a desk."""


ENDLESS = 10**15
"""In ms: later than every time at which there is something to do."""
MAX_COUNTED = 2_000
"""Conversations with something left to do that are read to count those that wait for a person."""
UPDATE_BATCH = 1_000
"""Conversations that one command makes due."""


class MongoConversations:
    def __init__(self, collection: Collection) -> None:
        self._rows = collection
        self._unknown = UnknownFields(ConversationFields.__annotations__)

    async def get(self, company: str, conversation: str) -> InboxConversation | None:
        """The stored state of one conversation; None if nothing of it is stored."""
        return (await self.load([(company, conversation)])).get((company, conversation))

    async def load(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], InboxConversation]:
        """The stored states, by (company, conversation)."""
        if not keys:
            return {}
        query = {"_id": {"$in": [conversation_key(*key) for key in keys]}}
        async with store_errors("read conversations"):
            rows = await self._rows.find(query).to_list()
        states = [self._read(row) for row in rows]
        return {(state.company, state.conversation): state for state in states}

    async def save(self, states: Sequence[InboxConversation]) -> list[InboxConversation]:
        """Stores each state whose version is still the stored one (0: not stored yet) as version + 1. Returns the
        states that were stored, without those that another replica has changed meanwhile."""
        if not states:
            return []
        token = uuid4().hex
        writes: list[InsertOne[Document] | ReplaceOne[Document]] = []
        for state in states:
            row = self._unknown.with_them(_key(state), state.version, to_document(state)) | {"writer": token}
            if state.latest > BEGINNING:
                row["writtenKey"] = timed_key(state.company, int(time.time() * 1000), state.conversation)
            # A restored database continues from an earlier version: the writer distinguishes two states of one version.
            condition: Document = {"_id": row["_id"], "version": state.version, "writer": state.writer}
            writes.append(ReplaceOne(condition, row) if state.version else InsertOne(row))
        written = [replace(state, version=state.version + 1, writer=token) for state in states]
        async with store_errors("store conversations"):
            try:
                result = await self._rows.bulk_write(writes, ordered=False)
                if result.inserted_count + result.matched_count == len(states):
                    return written
            except BulkWriteError as error:
                duplicate_writes(error)
            # Another replica was faster for some of them: the token shows for which. A state that was stored and then
            # changed at once looks refused; that is harmless, since the fold knows which facts it has processed.
            keys = [_key(state) for state in states]
            stored = await self._rows.find({"_id": {"$in": keys}, "writer": token}, {"_id": 1}).to_list()
        ours = {row["_id"] for row in stored}
        return [state for state in written if _key(state) in ours]

    async def latest_of(self, company: str, user_id: str) -> str | None:
        """The most recently active conversation that the person began under this id, even if it was merged with another
        person's."""
        prefix = f"{company}:{user_id}"
        async with store_errors("read a person's conversations"):
            keys = await began_by(self._rows, prefix, 1)
            as_visitor = self._rows.find({"visitorKey": keys_under(prefix)}, {"visitorKey": 1}).sort(
                "visitorKey", DESCENDING
            )
            keys += [row["visitorKey"] for row in await as_visitor.limit(1).to_list()]
        return max(keys).rsplit("/", 1)[1] if keys else None

    async def of_person(
        self, company: str, user_id: str, limit: int, *, handed_over: bool = False
    ) -> list[InboxConversation]:
        """The person's conversations at the desk, or with `handed_over` those that they began and that were merged with
        another person's. Latest activity first."""
        key, prefix = "visitorKey" if handed_over else "personKey", f"{company}:{user_id}"
        query = {key: keys_under(prefix)}
        async with store_errors("read a person's conversations"):
            rows = await self._rows.find(query).sort(key, DESCENDING).limit(limit).to_list()
        return [self._read(row) for row in rows]

    async def page(
        self, company: str, query: InboxQuery, limit: int, cursor: str | None, *, is_reversed: bool = False
    ) -> PageOf[InboxConversation]:
        """A page of the list that a query without words names, latest activity first (`needs_human`: longest wait
        first) unless `is_reversed`."""
        index, prefix = _index(company, query)
        ascending = is_reversed != (query.state == NEEDS_HUMAN)
        async with store_errors("read the inbox"):
            return (await page_of(self._rows, index, prefix, limit, cursor, ascending=ascending)).mapped(self._read)

    async def counts(self, company: str, operator: str) -> dict[str, int]:
        """The number of conversations in each list, by name; `mine` are this human agent's."""
        lists = {name: InboxQuery(state=name) for name in STATES} | {
            "all": InboxQuery(),
            "mine": InboxQuery(assignee=operator),
            "unassigned": InboxQuery(unassigned=True),
        }
        async with store_errors("count the inbox"):
            numbers = await asyncio.gather(*(self._count(*_index(company, query)) for query in lists.values()))
        return dict(zip(lists, numbers, strict=True))

    async def _count(self, index: str, prefix: str) -> int:
        return await self._rows.count_documents({index: keys_under(prefix)})

    async def unanswered(self, company: str, limit: int) -> dict[str, int]:
        """Open conversations whose visitor waits for an answer, with the sequence of their newest message; newest
        first."""
        query = {"unansweredKey": keys_under(company)}
        async with store_errors("read unanswered conversations"):
            cursor = self._rows.find(query, {"seenPosition": 1}).sort("unansweredKey", DESCENDING).limit(limit)
            rows = await cursor.to_list()
        return {row["_id"].split("/", 1)[1]: position_of(row["seenPosition"]).seq for row in rows}

    async def due(self, now_ms: int, limit: int) -> list[InboxConversation]:
        """Snoozed conversations that are due, and those whose visitor said farewell."""
        async with store_errors("read conversations that are due"):
            cursor = self._rows.find({"dueAt": {"$lte": now_ms}}).sort("dueAt", ASCENDING).limit(limit)
            rows = await cursor.to_list()
        return [self._read(row) for row in rows]

    async def quiet(self, company: str, until_ms: int, limit: int) -> list[InboxConversation]:
        """Open conversations in which nobody has written since an answer before then, the longest quiet first."""
        query = {"quietKey": {"$gt": f"{company}/", "$lt": timed_key(company, until_ms, "")}}
        async with store_errors("read quiet conversations"):
            rows = await self._rows.find(query).sort("quietKey", ASCENDING).limit(limit).to_list()
        return [self._read(row) for row in rows]

    async def findable(self, company: str, since_ms: int, after: str, limit: int) -> tuple[list[Findable], str]:
        """Conversations stored at or after a time and after a key, in that order, and the key of the last one."""
        start = after or timed_key(company, max(since_ms, 0), "")
        query = {"writtenKey": {"$gt": start, "$lt": f"{company}/{END}"}}
        async with store_errors("read what the inbox search needs"):
            cursor = self._rows.find(query, FINDABLE).sort("writtenKey", ASCENDING).limit(limit)
            rows = await cursor.to_list()
        return [findable_of(row) for row in rows], rows[-1]["writtenKey"] if rows else after

    async def count_older(self) -> int:
        """Counts the conversations that are still to be migrated."""
        async with store_errors("count older conversations"):
            return await self._rows.count_documents(OLDER)

    async def older(self, limit: int) -> list[InboxConversation]:
        """Some conversations that are still to be migrated."""
        async with store_errors("read older conversations"):
            return [self._read(row) for row in await self._rows.find(OLDER).limit(limit).to_list()]

    async def outcomes(self, company: str, since: date, until: date, limit: int) -> list[ConversationOutcome]:
        """The outcomes of the conversations begun on these days, both included; latest days first."""
        query = {"dayKey": {"$gte": f"{company}/{since.isoformat()}", "$lte": f"{company}/{until.isoformat()}"}}
        fields = {"dayKey": 1, "answers": 1, "handedOff": 1, "failures": 1}
        async with store_errors("count conversations"):
            rows = await self._rows.find(query, fields).sort("dayKey", DESCENDING).limit(limit).to_list()
        return [outcome_of(row) for row in rows]

    async def due_for_look(
        self, until_ms: int, limit: int, *, latest_first: bool = False
    ) -> list[tuple[InboxConversation, int]]:
        """The conversations that the hand-off sweep must check by then, each with its due time in ms; earliest
        first."""
        direction = DESCENDING if latest_first else ASCENDING
        query = {"waitingSince": {"$gt": 0, "$lte": until_ms}}
        async with store_errors("read waiting conversations"):
            rows = await self._rows.find(query).sort("waitingSince", direction).limit(limit).to_list()
        return [(self._read(row), row["waitingSince"]) for row in rows]

    async def store_next_looks(self, looks: Sequence[tuple[InboxConversation, int, int | None]]) -> None:
        """Stores when to check each conversation next; None: not before it, its company's settings or the people at the
        desk change. If that has happened since it was read with its due time, nothing is stored."""
        async with store_errors("store when to look at waiting conversations"):
            await self._rows.bulk_write([_next_look_update(*look) for look in looks], ordered=False)

    async def look_now(self, company: str, state: str) -> None:
        """Makes the sweep check now all of the company's conversations in this state in which it has something to do,
        now or later."""
        key = f"{company}:{state}"
        last_key = f"{key}/"
        # A time that is past on every clock, and not the one that a running check has read: its result is then not
        # stored.
        due_ms = randrange(1, 10**9)
        async with store_errors("let waiting conversations be looked at"):
            while True:
                cursor = self._rows.find({"stateKey": {"$gt": last_key, "$lt": f"{key}/{END}"}}, {"stateKey": 1})
                rows = await cursor.sort("stateKey", ASCENDING).limit(UPDATE_BATCH).to_list()
                if not rows:
                    return
                query = {"stateKey": {"$gt": last_key, "$lte": rows[-1]["stateKey"]}, "waitingSince": {"$gt": 0}}
                await self._rows.update_many(query, {"$set": {"waitingSince": due_ms}})
                last_key = rows[-1]["stateKey"]

    async def waiting(self, company: str) -> list[str]:
        """The keys (waiting_key) of a company's conversations that wait for a person, in the order of the queue."""
        key = f"{company}:{NEEDS_HUMAN}"
        query = {"stateKey": {"$gt": f"{key}/", "$lt": f"{key}/{END}"}, "waitingSince": {"$gt": 0}}
        async with store_errors("read who waits for a person"):
            rows = await self._rows.find(query, {"stateKey": 1}).sort("stateKey", ASCENDING).to_list()
        return [row["stateKey"] for row in rows]

    async def queue(self) -> tuple[int, int | None]:
        """How many conversations wait for a person, and when the first began to wait, in ms since the epoch."""
        endless: Document = {"waitingSince": {"$gte": ENDLESS}}
        active: Document = {"waitingSince": {"$gt": 0, "$lt": ENDLESS}}
        async with store_errors("count waiting conversations"):
            count = await self._rows.count_documents(endless)
            first = (
                await self._rows.find(endless, {"waitingSince": 1}).sort("waitingSince", ASCENDING).limit(1).to_list()
            )
            rows = await self._rows.find(active, {"stateKey": 1, "ownerSince": 1}).limit(MAX_COUNTED).to_list()
        waiting = [row["ownerSince"] for row in rows if f":{NEEDS_HUMAN}/" in row.get("stateKey", "")]
        starts_ms = [milliseconds(datetime.fromisoformat(text)) for text in waiting if text]
        starts_ms += [row["waitingSince"] - ENDLESS for row in first]
        return count + len(waiting), min(starts_ms, default=None)

    def _read(self, row: Document) -> InboxConversation:
        state = from_document(row)
        extra_fields = {name: row[name] for name in ("version", "writer", "writtenKey", "waitingSince") if name in row}
        self._unknown.record(row["_id"], state.version, row, to_document(state) | extra_fields)
        return state


def waiting_key(company: str, conversation: str, since: LogPosition) -> str:
    """The key in the company's queue of a conversation that began to wait at this position."""
    return list_key(f"{company}:{NEEDS_HUMAN}", since, conversation)


def _next_look_update(state: InboxConversation, due_ms: int, again_ms: int | None) -> UpdateOne:
    waiting_since = state.due_since if state.ownership.owner.kind == OwnerKind.WAITING else None
    if again_ms is None and waiting_since is not None:
        again_ms = ENDLESS + milliseconds(waiting_since)
    query = {"_id": _key(state), "version": state.version, "writer": state.writer, "waitingSince": due_ms}
    return UpdateOne(query, {"$set": {"waitingSince": again_ms}} if again_ms else {"$unset": {"waitingSince": ""}})


def _key(state: InboxConversation) -> str:
    return conversation_key(state.company, state.conversation)


def _index(company: str, query: InboxQuery) -> tuple[str, str]:
    if query.assignee is not None:
        return "operatorKey", f"{company}:{query.assignee}"
    if query.unassigned:
        return "unassignedKey", company
    if query.person is not None:
        return "personKey", f"{company}:{query.person}"
    if query.state is not None:
        return "stateKey", f"{company}:{query.state}"
    return "inboxKey", company
