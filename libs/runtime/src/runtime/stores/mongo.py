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

if TYPE_CHECKING:  # commands ask MongoDB too, and need no service
    from runtime.lifecycle.service import Service

Document = dict[str, Any]
AFRESH_MS = 800
"""Deadline of a new client that tests whether the server is there."""


class DocumentQuery:
    """A query that has not been executed yet."""

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
        ranged = isinstance(keys, dict) and "$in" not in keys
        return await self._limit.run(self._aggregated if ranged else self._found)

    async def _found(self) -> list[Document]:
        cursor = self._rows.find(self._where, self._fields)
        if self._most:
            cursor = cursor.limit(self._most)
        for key, direction in self._sort.items():
            cursor = cursor.sort(key, direction)
        return await cursor.to_list()

    async def _aggregated(self) -> list[Document]:
        """For a range of `_id`: the embedded server answers a find by it from the whole collection, and this from the
        documents in the range. MongoDB makes no difference."""
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
        """The documents that meet one of the conditions, each once. For a find by `$or` the embedded server reads the
        whole collection; here an index serves each condition."""
        first, *others = conditions
        unions = [{"$unionWith": {"coll": self._rows.name, "pipeline": [{"$match": one}]}} for one in others]
        pipeline = [{"$match": first}, *unions, {"$project": fields}]

        async def found() -> list[Document]:
            return await (await self._rows.aggregate(pipeline)).to_list()

        return list({row["_id"]: row for row in await self._limit.run(found)}.values())

    async def find_one(self, where: Document, fields: Document | None = None) -> Document | None:
        return await self._limit.run(lambda: self._rows.find_one(where, fields))

    async def count_documents(self, where: Document) -> int:
        """The number of documents. For the driver's own pipeline the embedded server reads the whole collection."""

        async def counted() -> list[Document]:
            return await (await self._rows.aggregate([{"$match": where}, {"$count": "n"}])).to_list()

        found = await self._limit.run(counted)
        return found[0]["n"] if found else 0

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
    """The driver's error in 300 characters: without documents, which the error of a bulk write contains, the state of
    all servers, and the server's whole answer. Behind it what to do about a certificate, if one was refused."""
    if isinstance(error, BulkWriteError):
        refused: list[Document] = error.details.get("writeErrors") or [{}]
        return str(refused[0].get("errmsg", "a write was refused"))[:300]
    # The driver cancels what a server was asked that has stopped answering.
    said = str(error).replace("operation cancelled", "it has stopped answering")
    said = masked_text(said).partition(", Timeout:")[0].partition(", full error:")[0][:300]
    advice = remedy("MongoDB", said)
    return f"{said}: {advice}" if advice else said


@contextmanager
def url_must_be_valid() -> Generator[None]:
    """For the block that makes a client. Raises NotReadyError if the URL has an option that the driver does not know,
    of which it only warns, or a value that it cannot use."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Unknown option")
        try:
            yield
        except (UserWarning, PyMongoError, ValueError, OSError) as error:
            raise NotReadyError(f"NEXUS_MONGODB_URL: {masked_text(str(error))}") from error


async def ping_afresh(url: str) -> None:
    """Asks the server with a new client; raises PyMongoError."""
    patience = dict.fromkeys(("timeoutMS", "serverSelectionTimeoutMS", "connectTimeoutMS"), AFRESH_MS)
    async with AsyncMongoClient[Document](url, **patience) as client:
        await client.admin.command("ping")


def watch_database(service: "Service", limits: Sequence[CommandLimit], ping: Ask, url: str) -> None:
    """Watches for commands that do not end, and for a client that does not reconnect to an available server."""
    for place, limit in enumerate(limits):
        service.watch(f"commands of mongodb {place}", limit.stuck_because)

    def seems_away() -> bool:
        return any(limit.hanging for limit in limits)

    service.watch_store("mongodb", Store(seems_away, ping, lambda: ping_afresh(url)))


class Database:
    """A database with limited commands."""

    def __init__(self, database: AsyncDatabase[Document], limit: CommandLimit) -> None:
        self._database = database
        self.limit = limit

    def __getitem__(self, name: str) -> Collection:
        return Collection(self._database[name], self.limit)

    async def command(self, name: str) -> Document:
        return await self.limit.run(lambda: self._database.command(name))
