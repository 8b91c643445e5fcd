"""A MongoDB database with limited commands (see command_limit), under the driver's own names."""

import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from pymongo import AsyncMongoClient, IndexModel, InsertOne, ReplaceOne, UpdateOne
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import BulkWriteError, PyMongoError
from pymongo.results import BulkWriteResult, DeleteResult, InsertOneResult, UpdateResult

from runtime.errors import NotReadyError
from runtime.liveness import Ask, Store
from runtime.observability.logging import masked_text
from runtime.stores.command_limit import CommandLimit
from runtime.tls import remedy

if TYPE_CHECKING:  # the CLI's commands use MongoDB too, and need no service
    from runtime.lifecycle.service import Service

Document = dict[str, Any]
PROBE_TIMEOUT_MS = 800
"""Deadline of a new client that tests whether the server is reachable."""


class DocumentQuery:
    """A query that is executed by `to_list`."""

    def __init__(
        self, rows: AsyncCollection[Document], limit: CommandLimit, where: Document, fields: Document | None
    ) -> None:
        self._rows = rows
        self._limit = limit
        self._where = where
        self._fields = fields
        self._sort: Document = {}
        self._most = 0

    def sort(self, key: str, direction: int) -> Self:
        self._sort = {key: direction}
        return self

    def limit(self, most: int) -> Self:
        self._most = most
        return self

    async def to_list(self) -> list[Document]:
        keys = self._where.get("_id")
        is_range = isinstance(keys, dict) and "$in" not in keys
        return await self._limit.run(self._aggregate if is_range else self._find)

    async def _find(self) -> list[Document]:
        cursor = self._rows.find(self._where, self._fields)
        if self._most:
            cursor = cursor.limit(self._most)
        for key, direction in self._sort.items():
            cursor = cursor.sort(key, direction)
        return await cursor.to_list()

    async def _aggregate(self) -> list[Document]:
        """Runs the query as an aggregation, for a range of `_id`: the embedded server reads the whole collection for a
        find, but only the range for this. For MongoDB both cost the same."""
        stages = {"$match": self._where, "$sort": self._sort, "$limit": self._most, "$project": self._fields}
        cursor = await self._rows.aggregate(
            [{name: stage} for name, stage in stages.items() if stage or name == "$match"]
        )
        return await cursor.to_list()


class Collection:
    """The operations that services use on a collection, each limited (see command_limit)."""

    def __init__(self, rows: AsyncCollection[Document], limit: CommandLimit) -> None:
        self._rows = rows
        self._limit = limit

    def find(self, where: Document, fields: Document | None = None) -> DocumentQuery:
        return DocumentQuery(self._rows, self._limit, where, fields)

    async def find_any(self, conditions: Sequence[Document], fields: Document) -> list[Document]:
        """Returns the documents that meet one of the conditions, each once. For a find with `$or` the embedded server
        reads the whole collection; here each condition uses an index."""
        first, *others = conditions
        other_stages = [
            {"$unionWith": {"coll": self._rows.name, "pipeline": [{"$match": condition}]}} for condition in others
        ]
        pipeline = [{"$match": first}, *other_stages, {"$project": fields}]

        async def aggregate() -> list[Document]:
            return await (await self._rows.aggregate(pipeline)).to_list()

        return list({row["_id"]: row for row in await self._limit.run(aggregate)}.values())

    async def find_one(self, where: Document, fields: Document | None = None) -> Document | None:
        return await self._limit.run(lambda: self._rows.find_one(where, fields))

    async def count_documents(self, where: Document) -> int:
        """Returns the number of documents. For the driver's own pipeline the embedded server reads the whole
        collection."""

        async def count() -> list[Document]:
            return await (await self._rows.aggregate([{"$match": where}, {"$count": "n"}])).to_list()

        rows = await self._limit.run(count)
        return rows[0]["n"] if rows else 0

    async def insert_one(self, row: Document) -> InsertOneResult:
        return await self._limit.run(lambda: self._rows.insert_one(row))

    async def update_one(self, where: Document, update: Mapping[str, Any], *, upsert: bool = False) -> UpdateResult:
        return await self._limit.run(lambda: self._rows.update_one(where, update, upsert=upsert))

    async def update_many(self, where: Document, update: Mapping[str, Any]) -> UpdateResult:
        return await self._limit.run(lambda: self._rows.update_many(where, update))

    async def replace_one(self, where: Document, row: Document, *, upsert: bool = False) -> UpdateResult:
        return await self._limit.run(lambda: self._rows.replace_one(where, row, upsert=upsert))

    async def bulk_write(
        self, writes: Sequence[InsertOne[Document] | ReplaceOne[Document] | UpdateOne], *, ordered: bool
    ) -> BulkWriteResult:
        return await self._limit.run(lambda: self._rows.bulk_write(writes, ordered=ordered))

    async def delete_one(self, where: Document) -> DeleteResult:
        return await self._limit.run(lambda: self._rows.delete_one(where))

    async def delete_many(self, where: Document) -> DeleteResult:
        return await self._limit.run(lambda: self._rows.delete_many(where))

    async def create_indexes(self, keys: Sequence[str]) -> None:
        await self._limit.run(lambda: self._rows.create_indexes([IndexModel(key) for key in keys]))


def driver_message(error: PyMongoError) -> str:
    """Returns the driver's error in at most 300 characters, without documents (which a bulk write's error contains),
    the state of all servers, and the server's whole answer. If a certificate was refused, advice follows."""
    if isinstance(error, BulkWriteError):
        write_errors: list[Document] = error.details.get("writeErrors") or [{}]
        return str(write_errors[0].get("errmsg", "a write was refused"))[:300]
    # The driver cancels operations on a server that has stopped answering.
    text = str(error).replace("operation cancelled", "it has stopped answering")
    text = text.replace("The resolution lifetime expired", "the DNS gave no answer")
    text = masked_text(text).partition(", Timeout:")[0].partition(", full error:")[0][:300]
    advice = remedy("MongoDB", text)
    return f"{text}: {advice}" if advice else text


@contextmanager
def url_must_be_valid() -> Generator[None]:
    """Wraps the creation of a client. Raises NotReadyError if the URL has an unknown option, of which the driver only
    warns, or an unusable value."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Unknown option")
        try:
            yield
        except (UserWarning, PyMongoError, ValueError, OSError) as error:
            raise NotReadyError(f"NEXUS_MONGODB_URL: {masked_text(str(error))}") from error


async def ping_with_new_client(url: str) -> None:
    """Pings the server with a new client; raises PyMongoError."""
    timeouts = dict.fromkeys(("timeoutMS", "serverSelectionTimeoutMS", "connectTimeoutMS"), PROBE_TIMEOUT_MS)
    async with AsyncMongoClient[Document](url, **timeouts) as client:
        await client.admin.command("ping")


def watch_database(service: "Service", limits: Sequence[CommandLimit], ping: Ask, url: str) -> None:
    """Watches for commands that do not end, and for a client that does not reconnect to a reachable server."""
    for index, limit in enumerate(limits):
        service.watch(f"commands of mongodb {index}", limit.stuck_because)

    def seems_away() -> bool:
        return any(limit.hanging for limit in limits)

    service.watch_store("mongodb", Store(seems_away, ping, lambda: ping_with_new_client(url)))


class Database:
    """A database with limited commands."""

    def __init__(self, database: AsyncDatabase[Document], limit: CommandLimit) -> None:
        self._database = database
        self.limit = limit

    def __getitem__(self, name: str) -> Collection:
        return Collection(self._database[name], self.limit)

    async def command(self, name: str) -> Document:
        return await self.limit.run(lambda: self._database.command(name))
