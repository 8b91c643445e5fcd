"""The collection `conversations`: one document each, replaced whole under its version, and a key for each list.

`inboxKey` company/latest/id, `stateKey` company:state/latest/id (who waits: /since when/), `operatorKey`
company:assignee/latest/id and `unassignedKey` company/latest/id (only open ones), `personKey` company:person/latest/id,
`visitorKey` the same of the visitor that this customer was, `unansweredKey` company/visitor's newest message/id,
`dayKey` company/first day, `quietKey` company/since when/id; `latest` is the position of the newest fact.
`dueAt` is there while a state is to change by itself, `waitingSince` while a visitor waits for a person or for a
notice: the time, in ms since the epoch, from which the hand-off sweep looks at it. Each store of the conversation sets
it to since when that is, and a look moves it on. Of who waits with nothing left to do it is ENDLESS more than that.
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
from memory.domain.inbox_index import Findable
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
from memory.ports import InboxFilter, PageOf
from runtime.stores.mongo import Collection, Document
from runtime.stores.unknown_fields import UnknownFields

OLDER: Document = {"writtenKey": {"$exists": False}, "inboxKey": {"$exists": True}}
"""Conversations stored only by releases without a desk."""


ENDLESS = 10**15
"""Ms; later than every time at which there is something to do."""
MEASURED = 2_000
"""Conversations in which something is still to happen, of which those that wait for a person are counted."""
AT_ONCE = 1_000
"""Conversations that one command lets be looked at again."""


class MongoConversations:
    def __init__(self, collection: Collection) -> None:
        self._rows = collection
        self._unknown = UnknownFields(ConversationFields.__annotations__)

    async def get(self, company: str, conversation: str) -> InboxConversation | None:
        """The stored state of one conversation; None: nothing of it is stored."""
        return (await self.load([(company, conversation)])).get((company, conversation))

    async def load(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], InboxConversation]:
        """The stored states, by (company, conversation)."""
        if not keys:
            return {}
        where = {"_id": {"$in": [conversation_key(*key) for key in keys]}}
        async with store_errors("read conversations"):
            rows = await self._rows.find(where).to_list()
        states = [self._read(row) for row in rows]
        return {(state.company, state.conversation): state for state in states}

    async def save(self, states: Sequence[InboxConversation]) -> list[InboxConversation]:
        """Stores each state whose version is still the stored one (0: not stored yet) as version + 1. Returns the
        stored ones, without those that somebody else changed meanwhile."""
        if not states:
            return []
        token = uuid4().hex
        writes: list[InsertOne[Document] | ReplaceOne[Document]] = []
        for state in states:
            row = self._unknown.with_them(_key(state), state.version, to_document(state)) | {"writer": token}
            if state.latest > BEGINNING:
                row["writtenKey"] = timed_key(state.company, int(time.time() * 1000), state.conversation)
            # A restored database counts on from an earlier version: the writer tells two of the same number apart.
            read: Document = {"_id": row["_id"], "version": state.version, "writer": state.writer}
            writes.append(ReplaceOne(read, row) if state.version else InsertOne(row))
        written = [replace(state, version=state.version + 1, writer=token) for state in states]
        async with store_errors("store conversations"):
            try:
                result = await self._rows.bulk_write(writes, ordered=False)
                if result.inserted_count + result.matched_count == len(states):
                    return written
            except BulkWriteError as error:
                duplicate_writes(error)
            # Somebody else was faster somewhere: the token tells where. Taking a state that was stored and changed
            # again at once for a refused one does no harm, for the fold knows the facts that it has taken.
            keys = [_key(state) for state in states]
            stored = await self._rows.find({"_id": {"$in": keys}, "writer": token}, {"_id": 1}).to_list()
        ours = {row["_id"] for row in stored}
        return [state for state in written if _key(state) in ours]

    async def latest_of(self, company: str, user_id: str) -> str | None:
        """The most recently active conversation that the person began under this id, even if it belongs to another
        person at the desk."""
        prefix = f"{company}:{user_id}"
        async with store_errors("read a person's conversations"):
            found = await began_by(self._rows, prefix, 1)
            lent = self._rows.find({"visitorKey": keys_under(prefix)}, {"visitorKey": 1}).sort("visitorKey", DESCENDING)
            found += [row["visitorKey"] for row in await lent.limit(1).to_list()]
        return max(found).rsplit("/", 1)[1] if found else None

    async def of_person(self, company: str, user_id: str, limit: int, *, lent: bool = False) -> list[InboxConversation]:
        """The person's conversations at the desk; `lent`: those they began that belong to another. Latest activity
        first."""
        key, prefix = "visitorKey" if lent else "personKey", f"{company}:{user_id}"
        where = {key: keys_under(prefix)}
        async with store_errors("read a person's conversations"):
            rows = await self._rows.find(where).sort(key, DESCENDING).limit(limit).to_list()
        return [self._read(row) for row in rows]

    async def page(
        self, company: str, filter_by: InboxFilter, limit: int, cursor: str | None
    ) -> PageOf[InboxConversation]:
        """A page of conversations, latest activity first (`needs_human`: longest wait first)."""
        index, prefix = _index(company, filter_by)
        ascending = filter_by.turned != (filter_by.state == NEEDS_HUMAN)
        async with store_errors("read the inbox"):
            return (await page_of(self._rows, index, prefix, limit, cursor, ascending=ascending)).mapped(self._read)

    async def counts(self, company: str, operator: str) -> dict[str, int]:
        """The number in each list, by name; `mine`: this human agent's."""
        lists = {name: InboxFilter(state=name) for name in STATES} | {
            "all": InboxFilter(),
            "mine": InboxFilter(operator_id=operator),
            "unassigned": InboxFilter(unassigned=True),
        }
        async with store_errors("count the inbox"):
            counted = await asyncio.gather(*(self._count(*_index(company, chosen)) for chosen in lists.values()))
        return dict(zip(lists, counted, strict=True))

    async def _count(self, index: str, prefix: str) -> int:
        return await self._rows.count_documents({index: keys_under(prefix)})

    async def unanswered(self, company: str, limit: int) -> dict[str, int]:
        """Open conversations whose visitor waits for an answer, with their newest message's position; newest first."""
        where = {"unansweredKey": keys_under(company)}
        async with store_errors("read unanswered conversations"):
            found = self._rows.find(where, {"seenPosition": 1}).sort("unansweredKey", DESCENDING).limit(limit)
            rows = await found.to_list()
        return {row["_id"].split("/", 1)[1]: position_of(row["seenPosition"]).seq for row in rows}

    async def due(self, now_ms: int, limit: int) -> list[InboxConversation]:
        """Snoozed conversations whose time has come, and those whose visitor said farewell."""
        async with store_errors("read conversations that are due"):
            found = self._rows.find({"dueAt": {"$lte": now_ms}}).sort("dueAt", ASCENDING).limit(limit)
            rows = await found.to_list()
        return [self._read(row) for row in rows]

    async def quiet(self, company: str, until_ms: int, limit: int) -> list[InboxConversation]:
        """Open conversations in which nobody has written since an answer before then; longest first."""
        where = {"quietKey": {"$gt": f"{company}/", "$lt": timed_key(company, until_ms, "")}}
        async with store_errors("read quiet conversations"):
            rows = await self._rows.find(where).sort("quietKey", ASCENDING).limit(limit).to_list()
        return [self._read(row) for row in rows]

    async def findable(self, company: str, since_ms: int, after: str, limit: int) -> tuple[list[Findable], str]:
        """Conversations written at or after a time and after a key, in that order, and the key of the last one."""
        begin = after or timed_key(company, max(since_ms, 0), "")
        where = {"writtenKey": {"$gt": begin, "$lt": f"{company}/{END}"}}
        async with store_errors("read what the inbox search needs"):
            found = self._rows.find(where, FINDABLE).sort("writtenKey", ASCENDING).limit(limit)
            rows = await found.to_list()
        return [findable_of(row) for row in rows], rows[-1]["writtenKey"] if rows else after

    async def left(self) -> int:
        """Counts those that are left."""
        async with store_errors("count older conversations"):
            return await self._rows.count_documents(OLDER)

    async def older(self, limit: int) -> list[InboxConversation]:
        """A few of them."""
        async with store_errors("read older conversations"):
            return [self._read(row) for row in await self._rows.find(OLDER).limit(limit).to_list()]

    async def outcomes(self, company: str, since: date, until: date, limit: int) -> list[ConversationOutcome]:
        """The outcomes of the conversations begun on these days, both included; latest days first."""
        where = {"dayKey": {"$gte": f"{company}/{since.isoformat()}", "$lte": f"{company}/{until.isoformat()}"}}
        wanted = {"dayKey": 1, "answers": 1, "handedOff": 1, "failures": 1}
        async with store_errors("count conversations"):
            rows = await self._rows.find(where, wanted).sort("dayKey", DESCENDING).limit(limit).to_list()
        return [outcome_of(row) for row in rows]

    async def to_look_at(
        self, until_ms: int, limit: int, *, latest_first: bool = False
    ) -> list[tuple[InboxConversation, int]]:
        """The conversations that the hand-off sweep is to look at by then, with the time of each; earliest first."""
        direction = DESCENDING if latest_first else ASCENDING
        where = {"waitingSince": {"$gt": 0, "$lte": until_ms}}
        async with store_errors("read waiting conversations"):
            rows = await self._rows.find(where).sort("waitingSince", direction).limit(limit).to_list()
        return [(self._read(row), row["waitingSince"]) for row in rows]

    async def looked_at(self, looks: Sequence[tuple[InboxConversation, int, int | None]]) -> None:
        """Stores when to look at each of these next; None: not before it, its company's settings or who is at the desk
        change. Nothing is stored of one in which that has happened since it was read with this `due_ms`."""
        async with store_errors("store when to look at waiting conversations"):
            await self._rows.bulk_write([_looked_at(*one) for one in looks], ordered=False)

    async def look_again(self, company: str, state: str) -> None:
        """Lets the sweep look now at all of the company's conversations of this state in which it has something to do
        or wait for."""
        key = f"{company}:{state}"
        last = f"{key}/"
        # Past by every clock; and another than a look that goes on has read, whose result is then not stored.
        due_ms = randrange(1, 10**9)
        async with store_errors("let waiting conversations be looked at"):
            while True:
                found = self._rows.find({"stateKey": {"$gt": last, "$lt": f"{key}/{END}"}}, {"stateKey": 1})
                rows = await found.sort("stateKey", ASCENDING).limit(AT_ONCE).to_list()
                if not rows:
                    return
                where = {"stateKey": {"$gt": last, "$lte": rows[-1]["stateKey"]}, "waitingSince": {"$gt": 0}}
                await self._rows.update_many(where, {"$set": {"waitingSince": due_ms}})
                last = rows[-1]["stateKey"]

    async def waiting(self, company: str) -> list[str]:
        """The keys (waiting_key) of those who wait for a person in a company, in their order."""
        key = f"{company}:{NEEDS_HUMAN}"
        where = {"stateKey": {"$gt": f"{key}/", "$lt": f"{key}/{END}"}, "waitingSince": {"$gt": 0}}
        async with store_errors("read who waits for a person"):
            rows = await self._rows.find(where, {"stateKey": 1}).sort("stateKey", ASCENDING).to_list()
        return [row["stateKey"] for row in rows]

    async def queue(self) -> tuple[int, int | None]:
        """How many conversations wait for a person, and since when the first does, in ms since the epoch."""
        endless: Document = {"waitingSince": {"$gte": ENDLESS}}
        active: Document = {"waitingSince": {"$gt": 0, "$lt": ENDLESS}}
        async with store_errors("count waiting conversations"):
            count = await self._rows.count_documents(endless)
            first = (
                await self._rows.find(endless, {"waitingSince": 1}).sort("waitingSince", ASCENDING).limit(1).to_list()
            )
            rows = await self._rows.find(active, {"stateKey": 1, "ownerSince": 1}).limit(MEASURED).to_list()
        waiting = [row["ownerSince"] for row in rows if f":{NEEDS_HUMAN}/" in row.get("stateKey", "")]
        since = [milliseconds(datetime.fromisoformat(at)) for at in waiting if at]
        since += [row["waitingSince"] - ENDLESS for row in first]
        return count + len(waiting), min(since, default=None)

    def _read(self, row: Document) -> InboxConversation:
        state = from_document(row)
        kept = {name: row[name] for name in ("version", "writer", "writtenKey", "waitingSince") if name in row}
        self._unknown.found(row["_id"], state.version, row, to_document(state) | kept)
        return state


def waiting_key(company: str, conversation: str, since: LogPosition) -> str:
    """The place in the company's queue of a conversation that began to wait with this fact."""
    return list_key(f"{company}:{NEEDS_HUMAN}", since, conversation)


def _looked_at(state: InboxConversation, due_ms: int, again_ms: int | None) -> UpdateOne:
    waits = state.due_since if state.ownership.owner.kind == OwnerKind.WAITING else None
    if again_ms is None and waits is not None:
        again_ms = ENDLESS + milliseconds(waits)
    where = {"_id": _key(state), "version": state.version, "writer": state.writer, "waitingSince": due_ms}
    return UpdateOne(where, {"$set": {"waitingSince": again_ms}} if again_ms else {"$unset": {"waitingSince": ""}})


def _key(state: InboxConversation) -> str:
    return conversation_key(state.company, state.conversation)


def _index(company: str, filter_by: InboxFilter) -> tuple[str, str]:
    if filter_by.operator_id is not None:
        return "operatorKey", f"{company}:{filter_by.operator_id}"
    if filter_by.unassigned:
        return "unassignedKey", company
    if filter_by.user_id is not None:
        return "personKey", f"{company}:{filter_by.user_id}"
    if filter_by.state is not None:
        return "stateKey", f"{company}:{filter_by.state}"
    return "inboxKey", company
