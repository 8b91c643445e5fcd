"""Passages that an older release stored have its stems: they are given this release's while everything runs. A store of
a newer release is nothing that this one begins on."""

import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase

from contracts.knowledge import KnowledgeFound
from contracts.knowledge_rpc import (
    ANSWER_CREATE,
    DOCUMENT_PUT,
    SEARCH,
    AnswerCreate,
    AnswerDraft,
    DocumentPut,
    KnowledgeSearch,
)
from contracts.migration_rpc import MIGRATE, MIGRATIONS, MigrateRequest, Migration, MigrationsRequest
from memory.knowledge.texts import StemmedPassage, packed, unpacked
from memory.testing.harness import Replica, Servers, replica
from runtime.errors import NotReadyError, RpcError
from runtime.stores.mongo import Document
from runtime.testing.servers import eventually

STEMS = MigrateRequest(name="knowledge-stems")


@asynccontextmanager
async def stored(servers: Servers) -> AsyncGenerator[AsyncDatabase[Document]]:
    client = AsyncMongoClient[Document](servers.mongo)
    try:
        yield client[servers.database]
    finally:
        await client.close()


async def as_an_older_release_stored_it(servers: Servers) -> None:
    """All passages are found by stems that this release does not make, and no row has their number."""
    async with stored(servers) as database:
        for row in await database["knowledge_texts"].find({}).to_list():
            older = [
                StemmedPassage(
                    one.text, one.sections, {f"older-{stem}": n for stem, n in one.counts.items()}, one.length
                )
                for one in unpacked(zlib.decompress(row["texts"]))
            ]
            await database["knowledge_texts"].delete_one({"_id": row["_id"]})
            await database["knowledge_texts"].insert_one(row | {"texts": zlib.compress(packed(older), 1)})
        await database["knowledge"].update_many({}, {"$unset": {"stems": ""}})


async def put(on: Replica, *names: str) -> None:
    for name in names:
        text = f"# Plans\n\nThe Pro plan of {name} costs 29 USD a month.\n\n## Opening hours\n\nOn weekdays."
        asked = DocumentPut(company_id="acme", id=name, title="Plans and prices", text=text, language="en")
        await on.rpc.call(DOCUMENT_PUT, asked)


async def search(on: Replica, text: str) -> KnowledgeFound:
    return await on.rpc.call(SEARCH, KnowledgeSearch(company_id="acme", text=text, limit=5))


async def pending(on: Replica) -> Migration:
    every = (await on.rpc.call(MIGRATIONS, MigrationsRequest())).migrations
    return next(one for one in every if one.name == STEMS.name)


async def test_passages_with_older_stems_are_found_again_on_every_replica(servers: Servers) -> None:
    async with replica(servers) as one:
        await put(one, "kb-1")
        draft = AnswerDraft(question="Do you deliver to Mars?", answer="Only on Tuesdays.", language="en")
        await one.rpc.call(ANSWER_CREATE, AnswerCreate(company_id="acme", draft=draft))
        before = await search(one, "how much is the pro plan"), await search(one, "delivering to mars")
        assert (await pending(one)).left == 0
    await as_an_older_release_stored_it(servers)
    async with replica(servers) as one, replica(servers) as two:
        assert (await search(two, "how much is the pro plan")).passages == []
        assert (await pending(one)).left == 2
        assert (await one.rpc.call(MIGRATE, STEMS)).left == 0
        for on in (one, two):

            async def as_before(on: Replica = on) -> bool:
                found = await search(on, "how much is the pro plan"), await search(on, "delivering to mars")
                return [each.passages for each in found] == [each.passages for each in before]

            await eventually(as_before)
        assert (await two.rpc.call(MIGRATE, STEMS)).left == 0


async def test_a_migration_is_made_a_few_documents_at_a_time_and_goes_on_where_it_was(servers: Servers) -> None:
    async with replica(servers) as one:
        await put(one, *(f"kb-{number}" for number in range(45)))
    await as_an_older_release_stored_it(servers)
    async with replica(servers) as one:
        assert (await one.rpc.call(MIGRATE, STEMS)).left == 25
        # Somebody writes one of them meanwhile: it is no more to be done.
        await put(one, *(f"kb-{number}" for number in range(45)))
        assert (await pending(one)).left == 0
        await one.rpc.call(MIGRATE, STEMS)
        async with stored(servers) as database:
            editions = {row["edition"] for row in await database["knowledge"].find({}).to_list()}
            texts = {row["_id"].split("/")[2] for row in await database["knowledge_texts"].find({}).to_list()}
        assert texts == editions


async def test_an_unknown_migration_is_refused(servers: Servers) -> None:
    async with replica(servers) as one:
        with pytest.raises(RpcError, match="knows no migration future"):
            await one.rpc.call(MIGRATE, MigrateRequest(name="future"))


async def test_memory_does_not_begin_on_the_store_of_a_newer_release(servers: Servers) -> None:
    async with stored(servers) as database:
        await database["meta"].insert_one({"_id": "format", "format": 7, "release": "9.4.0"})
        with pytest.raises(
            NotReadyError, match=r"of release 9\.4\.0 \(format 7\).*start release 9\.4\.0 or newer, or restore"
        ):
            async with replica(servers):
                pass
        # Nothing was touched: no index, no name.
        assert await database.list_collection_names() == ["meta"]


async def test_a_store_keeps_the_format_that_it_has(servers: Servers) -> None:
    async with replica(servers), stored(servers) as database:
        found = await database["meta"].find_one({"_id": "format"})
        assert found is not None
        assert found["format"] == 1
