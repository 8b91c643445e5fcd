"""A simulated MongoDB server with what memory's adapters use of one, under the names of the driver.

test_store.py compares it with the real server. A write can be read at once, is acknowledged when it is in the journal
on disk (w: majority, journal), and is lost when the server dies before. At the rates of the plan commands are slow, not
done, done in part, or done and not answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from pymongo import InsertOne, ReplaceOne, UpdateOne
from pymongo.errors import AutoReconnect, BulkWriteError, DuplicateKeyError, PyMongoError, ServerSelectionTimeoutError
from pymongo.results import BulkWriteResult, InsertOneResult, UpdateResult

from memory.adapters.mongo import Connections
from runtime.stores.mongo import Document
from tests.simulation.loop import PROCESS

DEADLINE = 5.0
"""Seconds until the driver raises for a server that is away."""
JOURNALED = 0.003
"""Maximum seconds until a write is in the journal on disk."""
DUPLICATE_KEY = 11000
Write = InsertOne[Document] | ReplaceOne[Document] | UpdateOne
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda value, bound: value > bound,
    "$gte": lambda value, bound: value >= bound,
    "$lt": lambda value, bound: value < bound,
    "$lte": lambda value, bound: value <= bound,
    "$in": lambda value, wanted: value in wanted,
}


@dataclass
class StoreRates:
    """The probability of each fault of MongoDB and Redis per command, from 0 to 1."""

    slow: float = 0.0
    """A command is answered up to three seconds late."""
    not_done: float = 0.0
    """The connection breaks before the command has arrived."""
    in_part: float = 0.0
    """It breaks in the middle of a bulk: some of its writes are done."""
    unanswered: float = 0.0
    """It breaks when the command is done."""
    cache: float = 0.0
    """A connection to Redis breaks, before or after a command is done."""


class SimulatedMongo:
    """The server."""

    def __init__(self, loop: asyncio.AbstractEventLoop, random: Random, latency: Callable[[], float]) -> None:
        self.rates = StoreRates()
        self.tables: dict[str, dict[str, Document]] = {}
        self._loop = loop
        self._random = random
        self._latency = latency
        self._outside = Context()
        self._written: list[tuple[float, dict[str, Document], str, Document | None]] = []
        """Every write: its time, table and id, and the row before it."""
        self._on_disk = 0
        """How many of the writes are on disk."""
        self._waiting: list[tuple[asyncio.Future[Any], PyMongoError]] = []
        """The commands that wait for the journal, and the error they get if the server dies first."""
        self._journaling = False
        self._up = True
        self._life = 1
        self._since = loop.time()
        self._reached: dict[str, tuple[Connections, int]] = {}
        """For each client process: its connections, and the server life they belong to."""

    def client(self) -> Connections:
        """Returns the connections of the calling process, which break when the server dies."""
        connections = Connections()
        self._reached[PROCESS.get()] = connections, 0
        return connections

    def chance(self, rate: float) -> bool:
        """Returns whether a fault with this probability happens now."""
        return rate > 0 and self._random.random() < rate

    async def away(self, seconds: float, *, back: float = 0.0) -> None:
        """Restarts the server: writes that are not on disk are lost; `back`: so are those of the last `back`
        seconds."""
        self._up = False
        while len(self._written) > self._on_disk or (
            back and self._written and self._written[-1][0] > self._loop.time() - back
        ):
            _, table, name, before = self._written.pop()
            if before is None:
                table.pop(name, None)
            else:
                table[name] = before
        self._on_disk = len(self._written)
        waiting, self._waiting = self._waiting, []
        for done, error in waiting:
            self._answer(done, error)
        await asyncio.sleep(seconds)
        self._up, self._life, self._since = True, self._life + 1, self._loop.time()

    # ------------------------------------------------------------ commands

    async def ask(self, command: Callable[[], Any]) -> Any:
        """Runs a command, even if the caller's process dies; returns its result or raises the driver's error."""
        done: asyncio.Future[Any] = self._loop.create_future()
        self._later(self._latency(), self._arrive, command, done, self._loop.time() + DEADLINE, PROCESS.get())
        return await done

    def _arrive(self, command: Callable[[], Any], done: asyncio.Future[Any], end: float, process: str) -> None:
        if not self._up:
            if self._loop.time() > end:
                self._answer(done, ServerSelectionTimeoutError("connection refused"))
            else:
                self._later(0.5, self._arrive, command, done, end, process)
            return
        if process in self._reached and (reached := self._reached[process])[1] != self._life:
            self._reached[process] = reached[0], self._life
            reached[0].opened += 1
        if self.chance(self.rates.not_done):
            self._answer(done, AutoReconnect("connection closed"))
            return
        wrote = len(self._written)
        try:
            answer = command()
        except PyMongoError as error:
            answer = error
        if self.chance(self.rates.unanswered):
            answer = AutoReconnect("connection closed")
        if len(self._written) == wrote:
            self._answer(done, answer)
            return
        self._later(JOURNALED * self._random.random(), self._journal, done, answer)
        self._waiting.append((done, AutoReconnect("connection closed")))

    def _journal(self, done: asyncio.Future[Any], answer: Any) -> None:
        """Marks all writes so far as on disk."""
        if any(one is done for one, _ in self._waiting):
            self._waiting = [one for one in self._waiting if one[0] is not done]
            self._on_disk = len(self._written)
            self._answer(done, answer)

    def _answer(self, done: asyncio.Future[Any], answer: Any) -> None:
        seconds = self._latency()
        if self.chance(self.rates.slow):
            seconds += self._random.uniform(0.0, 3.0)
        self._later(seconds, _tell, done, answer)

    def _later(self, seconds: float, call: Callable[..., None], *args: Any) -> None:
        self._loop.call_later(seconds, call, *args, context=self._outside)

    # ------------------------------------------------------------ rows

    def put(self, table: dict[str, Document], name: str, row: Document) -> None:
        """Writes a row."""
        self._written.append((self._loop.time(), table, name, table.get(name)))
        table[name] = row

    # ------------------------------------------------------------ pymongo's names

    def __getitem__(self, name: str) -> SimulatedCollection:
        return SimulatedCollection(self, self.tables.setdefault(name, {}))

    async def command(self, name: str) -> Document:
        """Returns the answer to serverStatus."""
        del name
        return await self.ask(
            lambda: {"host": "mongo", "pid": self._life, "uptimeMillis": (self._loop.time() - self._since) * 1000}
        )


class SimulatedCollection:
    """The part of AsyncCollection that memory uses."""

    def __init__(self, server: SimulatedMongo, rows: dict[str, Document]) -> None:
        self._server = server
        self._rows = rows

    def find(self, where: Document, fields: Document | None = None) -> SimulatedCursor:
        """Returns a query that has not run yet."""
        return SimulatedCursor(self._server, self._rows, where, fields)

    async def aggregate(self, stages: Sequence[Document]) -> SimulatedCursor:
        """Returns a query in stages: those that runtime.stores.mongo makes."""
        match, *others = stages
        asked = {name: stage for other in others for name, stage in other.items()}
        cursor = self.find(match["$match"], asked.get("$project"))
        for key, direction in asked.get("$sort", {}).items():
            cursor.sort(key, direction)
        if "$limit" in asked:
            cursor.limit(asked["$limit"])
        return cursor.counted(asked["$count"]) if "$count" in asked else cursor

    async def find_one(self, where: Document, fields: Document | None = None) -> Document | None:
        """Returns the first matching row, or None."""
        return next(iter(await self.find(where, fields).limit(1).to_list()), None)

    async def insert_one(self, row: Document) -> InsertOneResult:
        """Inserts a row; raises DuplicateKeyError if its id exists."""

        def insert() -> InsertOneResult:
            self._insert(row)
            return InsertOneResult(row["_id"], acknowledged=True)

        return await self._server.ask(insert)

    async def replace_one(self, where: Document, row: Document, *, upsert: bool = False) -> UpdateResult:
        """Replaces a row."""
        assert not upsert
        return await self._server.ask(lambda: _updated(self._replace(where, row)))

    async def update_one(self, where: Document, update: Mapping[str, Any], *, upsert: bool = False) -> UpdateResult:
        """Updates one row."""
        assert not upsert
        return await self._server.ask(lambda: _updated(self._update(where, update, upsert=False) is not None))

    async def update_many(self, where: Document, update: Mapping[str, Any]) -> None:
        """Updates all matching rows."""

        def change() -> None:
            for row in _matching(self._rows, where):
                self._update({"_id": row["_id"]}, update, upsert=False)

        await self._server.ask(change)

    async def bulk_write(self, writes: Sequence[Write], *, ordered: bool) -> BulkWriteResult:
        """Makes unordered writes, each independent of the others; raises BulkWriteError."""
        assert not ordered
        return await self._server.ask(lambda: self._bulk(writes))

    def _bulk(self, writes: Sequence[Write]) -> BulkWriteResult:
        counts: dict[str, Any] = {"nInserted": 0, "nMatched": 0, "nModified": 0, "nRemoved": 0, "nUpserted": 0}
        upserted: list[Document] = []
        errors: list[Document] = []
        in_part = self._server.chance(self._server.rates.in_part)
        for index, write in enumerate(writes):
            if in_part and self._server.chance(0.5):
                continue
            document: Document = write._doc  # pyright: ignore
            if isinstance(write, InsertOne):
                try:
                    self._insert(document)
                    counts["nInserted"] += 1
                except DuplicateKeyError as error:
                    errors.append({"index": index, "code": error.code, "errmsg": str(error)})
            elif isinstance(write, ReplaceOne):
                counts["nMatched"] += self._replace(write._filter, document)  # pyright: ignore
            else:
                new = self._update(write._filter, document, upsert=bool(write._upsert))  # pyright: ignore
                if new is True:
                    counts["nUpserted"] += 1
                    upserted.append({"index": index, "_id": write._filter["_id"]})  # pyright: ignore
                counts["nMatched"] += new is False
        if in_part:
            raise AutoReconnect("connection closed")
        if errors:
            raise BulkWriteError({**counts, "upserted": upserted, "writeErrors": errors})
        return BulkWriteResult({**counts, "upserted": upserted}, acknowledged=True)

    def _insert(self, row: Document) -> None:
        if row["_id"] in self._rows:
            raise DuplicateKeyError("E11000 duplicate key", DUPLICATE_KEY)
        self._server.put(self._rows, row["_id"], dict(row))

    def _replace(self, where: Document, row: Document) -> bool:
        found = next(_matching(self._rows, where), None)
        if found is not None:
            self._server.put(self._rows, found["_id"], dict(row))
        return found is not None

    def _update(self, where: Document, update: Mapping[str, Any], *, upsert: bool) -> bool | None:
        """Updates a row; returns True if it was inserted, False if it existed, None if none matches."""
        found = next(_matching(self._rows, where), None)
        if found is None and not upsert:
            return None
        row = dict(found or where)
        for field, value in update.get("$min", {}).items():
            row[field] = min(row.get(field, value), value)
        row |= update.get("$set", {})
        if found is None:
            row |= update.get("$setOnInsert", {})
        for field in update.get("$unset", {}):
            row.pop(field, None)
        if row != found:
            self._server.put(self._rows, row["_id"], row)
        return found is None


class SimulatedCursor:
    """A query."""

    def __init__(
        self, server: SimulatedMongo, rows: dict[str, Document], where: Document, fields: Document | None
    ) -> None:
        self._server = server
        self._rows = rows
        self._where = where
        self._fields = fields
        self._sort: tuple[str, int] | None = None
        self._limit: int | None = None
        self._count_name: str | None = None

    def sort(self, key: str, direction: int) -> Self:
        """Sets the order."""
        self._sort = key, direction
        return self

    def limit(self, most: int) -> Self:
        """Sets the maximum number of rows."""
        self._limit = most
        return self

    def counted(self, name: str) -> Self:
        """Makes the query return only the number of rows, under this name."""
        self._count_name = name
        return self

    async def to_list(self) -> list[Document]:
        """Runs the query."""
        return await self._server.ask(self._found)

    def _found(self) -> list[Document]:
        found = list(_matching(self._rows, self._where))
        if self._count_name is not None:
            return [{self._count_name: len(found)}] if found else []
        if self._sort is not None:
            key, direction = self._sort
            found.sort(key=lambda row: row[key], reverse=direction < 0)
        wanted = None if self._fields is None else {"_id", *self._fields}
        return [
            dict(row) if wanted is None else {name: value for name, value in row.items() if name in wanted}
            for row in found[: self._limit]
        ]


def _matching(rows: dict[str, Document], where: Document) -> Iterator[Document]:
    name = where.get("_id")
    candidates: Iterable[Document] = rows.values()
    if isinstance(name, str):
        candidates = (rows[name],) if name in rows else ()
    return iter([row for row in candidates if all(_satisfies(row.get(key), wanted) for key, wanted in where.items())])


def _satisfies(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return value == wanted
    conditions: dict[str, Any] = wanted  # pyright: ignore[reportUnknownVariableType]
    return value is not None and all(_OPERATORS[name](value, bound) for name, bound in conditions.items())


def _updated(matched: bool) -> UpdateResult:
    return UpdateResult({"n": int(matched), "nModified": int(matched)}, acknowledged=True)


def _tell(done: asyncio.Future[Any], answer: Any) -> None:
    if done.done():
        return
    if isinstance(answer, Exception):
        done.set_exception(answer)
        done.exception()  # the caller's process may be dead
    else:
        done.set_result(answer)
