"""Documents in MongoDB.

knowledge        {_id: company/document, …} (records): which texts a document has now, and what lists need
knowledge_texts  {_id: company/document/edition/number, texts}: its passages, in bundles
knowledge_parts  {_id: company/document/hash/part, blocks}: what was read, for splitting it again

A document is replaced by writing its new texts under a new edition, then the row that names it. What no row names any
more is deleted after that, or by the next write if that did not happen.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Sequence

import orjson
from pymongo import ASCENDING, InsertOne
from pymongo.errors import BulkWriteError

from contracts.knowledge import Block
from memory.adapters.mongo import duplicate_writes, keys_under, page_of, replace_version, store_errors
from memory.domain.keys import END
from memory.knowledge.records import GONE, Record, record_of, row_of
from memory.knowledge.texts import StemmedPassage, packed, unpacked
from memory.ports import PageOf
from runtime.stores.mongo import Collection, Database, Document

BUNDLE = 100
"""Passages stored together."""
ROWS_AT_ONCE = 200
"""Rows read at once."""
_WITHOUT_BLOCKS: Document = {"blocks": 0}


def _older(stems: int) -> Document:
    return {"edition": {"$exists": True}, "$or": [{"stems": {"$exists": False}}, {"stems": {"$lt": stems}}]}


def _parts_of(company: str, document: str, hash_digest: str) -> Document:
    return {"_id": keys_under(f"{company}/{document}/{hash_digest}")}


def _blocks_of(rows: Sequence[Document]) -> list[list[Block]]:
    return [[Block.model_validate(block) for block in orjson.loads(zlib.decompress(row["blocks"]))] for row in rows]


async def _rows_of(
    rows: Collection, company: str, action: str, fields: Document | None = None
) -> AsyncIterator[Document]:
    """Yields a company's rows in order of their ids."""
    after = f"{company}/"
    while True:
        async with store_errors(action):
            query = {"_id": {"$gt": after, "$lt": f"{company}/{END}"}}
            page = await rows.find(query, fields).sort("_id", ASCENDING).limit(ROWS_AT_ONCE).to_list()
        for row in page:
            yield row
        if len(page) < ROWS_AT_ONCE:
            return
        after = page[-1]["_id"]


class DocumentStore:
    """Documents of all companies. Every method raises StoreUnavailableError."""

    def __init__(self, database: Database) -> None:
        self._rows: Collection = database["knowledge"]
        self._texts: Collection = database["knowledge_texts"]
        self._parts: Collection = database["knowledge_parts"]

    async def get(self, company: str, document: str) -> Record | None:
        """Returns the document, or the record that it was removed; None if it was never seen."""
        async with store_errors("read a document"):
            row = await self._rows.find_one({"_id": f"{company}/{document}"})
        return record_of(row) if row else None

    async def put(self, company: str, record: Record, replaced_version: str | None) -> bool:
        """Replaces this version (None: there is none yet); returns False if another one is there."""
        async with store_errors("store a document"):
            return await replace_version(self._rows, row_of(company, record), replaced_version)

    async def page(self, company: str, source: str | None, limit: int, cursor: str | None) -> PageOf[Record]:
        """Returns documents, newest first."""
        prefix, key = (f"{company}/{source}", "sourceKey") if source else (company, "listKey")
        async with store_errors("list documents"):
            return (await page_of(self._rows, key, prefix, limit, cursor, fields=_WITHOUT_BLOCKS)).mapped(record_of)

    async def site_pages(self, company: str, limit: int, after: str = "") -> list[Record]:
        """Returns pages of the site, by their ids, with the hashes of their blocks."""
        async with store_errors("list the site's pages"):
            query = {"pageKey": {"$gt": f"{company}/{after}", "$lt": f"{company}/{END}"}}
            rows = await self._rows.find(query).sort("pageKey", ASCENDING).limit(limit).to_list()
        return [record_of(row) for row in rows]

    async def all(self, company: str) -> AsyncIterator[Record]:
        """Yields every document of the company that was not removed."""
        async for row in _rows_of(self._rows, company, "read a company's documents", _WITHOUT_BLOCKS):
            if row["state"] != GONE:
                yield record_of(row)

    async def count_older(self, stems: int) -> int:
        """Returns the number of documents whose passages have older stems than these."""
        async with store_errors("count documents with older stems"):
            return await self._rows.count_documents(_older(stems))

    async def older(self, stems: int, limit: int) -> list[tuple[str, str]]:
        """Returns company and id of some of them."""
        async with store_errors("list documents with older stems"):
            rows = await self._rows.find(_older(stems), {"_id": 1}).limit(limit).to_list()
        return [(company, name) for company, _, name in (str(row["_id"]).partition("/") for row in rows)]

    async def write_texts(self, company: str, document: str, edition: str, texts: Sequence[StemmedPassage]) -> None:
        """Stores texts that no row refers to yet."""
        bundles = [texts[start : start + BUNDLE] for start in range(0, len(texts), BUNDLE)]
        rows = [
            {"_id": f"{company}/{document}/{edition}/{n:04d}", "texts": zlib.compress(packed(bundle), 1)}
            for n, bundle in enumerate(bundles)
        ]
        await self._insert(self._texts, rows, "store passages")

    async def texts(self, company: str, document: str, edition: str) -> list[StemmedPassage]:
        """Returns the passages of an edition, in order."""
        async with store_errors("read passages"):
            query = {"_id": keys_under(f"{company}/{document}/{edition}")}
            rows = await self._texts.find(query).sort("_id", ASCENDING).to_list()
        return [text for row in rows for text in unpacked(zlib.decompress(row["texts"]))]

    async def all_texts(self, company: str) -> AsyncIterator[tuple[str, str, list[StemmedPassage]]]:
        """Yields document, edition and a bundle of its passages, in order; also of outdated editions."""
        async for row in _rows_of(self._texts, company, "read a company's passages"):
            _, document, edition, _ = row["_id"].split("/")
            yield document, edition, unpacked(zlib.decompress(row["texts"]))

    async def put_part(self, company: str, document: str, hash_digest: str, part: int, blocks: Sequence[Block]) -> None:
        body = orjson.dumps([block.model_dump(by_alias=True, exclude_defaults=True) for block in blocks])
        row = {"_id": f"{company}/{document}/{hash_digest}/{part:02d}", "blocks": zlib.compress(body, 1)}
        await self._insert(self._parts, [row], "store a document's blocks")

    async def count_parts(self, company: str, document: str, hash_digest: str) -> int:
        async with store_errors("count a document's parts"):
            return await self._parts.count_documents(_parts_of(company, document, hash_digest))

    async def parts(self, company: str, document: str, hash_digest: str) -> list[list[Block]]:
        """Returns the parts that are stored, in order."""
        async with store_errors("read a document's blocks"):
            rows = await self._parts.find(_parts_of(company, document, hash_digest)).sort("_id", ASCENDING).to_list()
        return await asyncio.to_thread(_blocks_of, rows)

    async def tidy(self, company: str, document: str, edition: str, replaced_hash: str | None) -> None:
        """Deletes texts of editions before this one, and the blocks with the replaced hash. Texts being written at this
        moment have a later number, and stay."""
        prefix = f"{company}/{document}/"
        number, _, _ = edition.partition(".")
        async with store_errors("delete old passages"):
            await self._texts.delete_many({"_id": {"$gt": prefix, "$lt": f"{prefix}{number}"}})
            if replaced_hash is not None:
                await self._parts.delete_many(_parts_of(company, document, replaced_hash))

    async def empty(self, company: str, document: str) -> None:
        """Deletes all texts of a removed document."""
        async with store_errors("delete passages"):
            for rows in (self._texts, self._parts):
                await rows.delete_many({"_id": keys_under(f"{company}/{document}")})

    async def forget(self, company: str) -> int:
        """Deletes everything of a company; returns the number of rows."""
        of_company = {"_id": keys_under(company)}
        async with store_errors("delete a company's documents"):
            results = [await rows.delete_many(of_company) for rows in (self._rows, self._texts, self._parts)]
        return sum(result.deleted_count for result in results)

    async def _insert(self, rows: Collection, documents: Sequence[Document], action: str) -> None:
        """Inserts rows; existing ones stay, since their ids determine their content. (Some servers cannot replace
        bytes.)"""
        async with store_errors(action):
            for start in range(0, len(documents), 10):
                try:
                    await rows.bulk_write([InsertOne(row) for row in documents[start : start + 10]], ordered=False)
                except BulkWriteError as error:
                    duplicate_writes(error)
