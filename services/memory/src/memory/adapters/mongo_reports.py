"""The data of reports: stored conversations, and three collections by company/conversation:

`digests` {of, digest}: its outcome, derived from its facts; `of`: the state of the conversation then. `spendings`
{seen, promptTokens, completionTokens, cost, unpriced}: usage of model calls in it, each event once. `satisfactions`
{score, comment, at (ms, with fractions: two may come within one), user}: its visitor's rating.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from pydantic import TypeAdapter
from pymongo import DESCENDING, ReplaceOne

from memory.adapters.mongo import keys_under, slices, store_errors, store_if_newer
from memory.adapters.mongo_counters import Count, count_once
from memory.adapters.mongo_facts import facts_of
from memory.domain.keys import conversation_key, moment
from memory.domain.rating import Satisfaction
from memory.domain.report import Digest, ReportedConversation, ReportExtras, digest_of
from memory.ports import Spent
from runtime.stores.mongo import Collection, Database, Document

AT_ONCE = 4
"""Conversations whose facts are read concurrently for one report."""
ONE_DAY = timedelta(days=1)
_DIGEST = TypeAdapter(Digest)


class MongoReports:
    """Every method raises StoreUnavailableError."""

    def __init__(self, database: Database) -> None:
        self._conversations = database["conversations"]
        self._facts = database["facts"]
        self._executions = database["executions"]
        self._digests = database["digests"]
        self._spendings = database["spendings"]
        self._satisfactions = database["satisfactions"]

    async def began(self, company: str, since: date, until: date, limit: int, there: tzinfo = UTC) -> list[Document]:
        """The newest conversations begun on these days of a time zone: {_id, latest, version, person, day}."""
        first, last = _utc_day(since, -ONE_DAY, there), _utc_day(until, ONE_DAY, there)
        where = {"dayKey": {"$gte": f"{company}/{first}", "$lte": f"{company}/{last}"}}
        fields = {"latest": 1, "version": 1, "person": 1, "startedAt": 1}
        async with store_errors("read conversations"):
            found = self._conversations.find(where, fields).sort("dayKey", DESCENDING).limit(limit)
            rows = await found.to_list()
        for row in rows:
            row["day"] = datetime.fromisoformat(row["startedAt"]).astimezone(there).date()
        return [row for row in rows if since <= row["day"] <= until]

    async def counted(self, rows: Sequence[Document], make: int) -> tuple[list[ReportedConversation], bool]:
        """The outcomes of conversations that `began` returned. Makes at most `make` digests that are missing; returns
        False if some are still missing."""
        names = [str(row["_id"]) for row in rows]
        digests = await self._known(rows)
        lacking = [row for row in rows if row["_id"] not in digests]
        gate = asyncio.Semaphore(AT_ONCE)

        async def made(row: Document) -> None:
            async with gate:
                digest = await self._made(str(row["_id"]))
            if digest is not None:
                digests[str(row["_id"])] = digest

        # Kept as they are made: a report whose time is over leaves less for the next one.
        for part in slices(lacking[:make]):
            await asyncio.gather(*(made(row) for row in part))
            await self._keep(part, digests)
        extras = await self._extras([name for name in names if name in digests])
        found = [
            ReportedConversation(
                name.split("/", 1)[1], _user(row), replace(digests[name], day=row["day"]), extras[name]
            )
            for name, row in zip(names, rows, strict=True)
            if name in digests
        ]
        return found, len(lacking) <= make

    async def _known(self, rows: Sequence[Document]) -> dict[str, Digest]:
        found: dict[str, Digest] = {}
        newest = {str(row["_id"]): _state(row) for row in rows}
        for names in slices(list(newest)):
            async with store_errors("read digests"):
                kept = await self._digests.find({"_id": {"$in": names}}).to_list()
            found |= {
                row["_id"]: _DIGEST.validate_json(row["digest"]) for row in kept if row["of"] == newest[row["_id"]]
            }
        return found

    async def _made(self, name: str) -> Digest | None:
        where = {"key": keys_under(name)}
        async with store_errors("read facts"):
            return digest_of(facts_of(await self._facts.find(where).sort("key", 1).to_list()))

    async def _keep(self, rows: Sequence[Document], digests: dict[str, Digest]) -> None:
        kept = [
            {"_id": name, "of": _state(row), "digest": _DIGEST.dump_json(digests[name]).decode()}
            for row in rows
            if (name := str(row["_id"])) in digests
        ]
        if kept:
            writes = [ReplaceOne({"_id": row["_id"]}, row, upsert=True) for row in kept]
            async with store_errors("keep digests"):
                await self._digests.bulk_write(writes, ordered=False)

    async def _extras(self, names: Sequence[str]) -> dict[str, ReportExtras]:
        found: dict[str, ReportExtras] = {}
        for part in slices(names):
            spent = await _by_name(self._spendings, part, {"seen": 0})
            rated = await _by_name(self._satisfactions, part, {"score": 1})
            tools = await self._tools(part)
            for name in part:
                one: Document = spent.get(name, {})
                found[name] = ReportExtras(
                    cost=one.get("cost", 0.0),
                    unpriced=one.get("unpriced", 0),
                    prompt_tokens=one.get("promptTokens", 0),
                    completion_tokens=one.get("completionTokens", 0),
                    tools=tools[name],
                    score=rated[name]["score"] if name in rated else None,
                )
        return found

    async def _tools(self, names: Sequence[str]) -> Counter[str]:
        if not names:
            return Counter()
        company = names[0].split("/", 1)[0]
        where = {
            "conversationId": {"$in": [name.split("/", 1)[1] for name in names]},
            "key": keys_under(company),
        }
        async with store_errors("count tool calls"):
            rows = await self._executions.find(where, {"conversationId": 1}).to_list()
        return Counter(f"{company}/{row['conversationId']}" for row in rows)

    async def spend(self, spent: Sequence[Spent]) -> None:
        """Counts the usage of model calls in conversations, each event once; events without a conversation are
        ignored."""
        counts = [_count(one.conversation, one) for one in spent if one.conversation is not None]
        if counts:
            async with store_errors("count usage"):
                await count_once(self._spendings, counts)

    async def rate(self, said: Satisfaction) -> None:
        """Stores a visitor's rating, unless there is a later one."""
        name = conversation_key(said.company, said.conversation)
        row = {
            "_id": name,
            "score": said.score,
            "comment": said.comment,
            "user": said.user,
            "at": said.at.timestamp() * 1000,
        }
        async with store_errors("store a rating"):
            await store_if_newer(self._satisfactions, row)

    async def rating(self, company: str, conversation: str) -> Satisfaction | None:
        """The visitor's rating of a conversation."""
        async with store_errors("read a rating"):
            row = await self._satisfactions.find_one({"_id": conversation_key(company, conversation)})
        if row is None:
            return None
        return Satisfaction(company, conversation, row["user"], row["score"], row["comment"], moment(row["at"]))


def _utc_day(day: date, aside: timedelta, there: tzinfo) -> str:
    """The possible `dayKey`s of a conversation begun on that day in another time zone."""
    at_an_end = day in (date.min, date.max)  # of the calendar, where there is no day aside
    return (day if there is UTC or at_an_end else day + aside).isoformat()


def _user(row: Document) -> str | None:
    person: Any = row.get("person")
    return person["userId"] if person else None


def _state(row: Document) -> str:
    """A value that changes with every fact that a conversation takes in, even a late one."""
    return f"{row['latest']}/{row['version']}"


async def _by_name(collection: Collection, names: Sequence[str], fields: dict[str, Any]) -> dict[str, Document]:
    async with store_errors("read for a report"):
        return {str(row["_id"]): row for row in await collection.find({"_id": {"$in": list(names)}}, fields).to_list()}


def _count(conversation: str, spent: Spent) -> Count:
    add = {
        "promptTokens": spent.prompt_tokens,
        "completionTokens": spent.completion_tokens,
        "cost": spent.cost,
        "unpriced": int(spent.unpriced),
    }
    return Count(conversation_key(spent.company, conversation), spent.event_id, add)
