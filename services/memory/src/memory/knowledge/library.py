"""Stores documents: splits them into passages, and announces changes to every replica."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urldefrag

from contracts.events.knowledge import DocumentFailed, DocumentRemoved, DocumentUpserted, FileReceived
from contracts.ids import is_id, uuid7
from contracts.knowledge import Block, document_id
from memory.domain.keys import milliseconds
from memory.errors import BadKnowledgeError, StoreUnavailableError
from memory.knowledge.index import MAX_COMPANY_PASSAGES
from memory.knowledge.indexes import KnowledgeIndexes
from memory.knowledge.mongo_documents import DocumentStore
from memory.knowledge.mongo_state import SiteStateStore
from memory.knowledge.passages import MAX_DOCUMENT_PASSAGES, plain
from memory.knowledge.records import (
    ANSWER,
    FAILED,
    GONE,
    READING,
    READY,
    Pair,
    Record,
    next_edition,
)
from memory.knowledge.segmentation import (
    block_numbers,
    split_document,
    text_of_pair,
    with_new_stems,
    without_repeated,
)
from memory.knowledge.texts import STEMS, StemmedPassage, digest
from runtime.clock import Clock
from runtime.documents import markdown_blocks
from runtime.documents.document_language import language_of

MAX_ATTEMPTS = 8
"""Attempts to write a document that others are writing."""
LOCKS = 64
"""Locks for changes in one process; documents that share one are changed in sequence."""
RENEWED_AT_ONCE = 20
"""Documents whose stems are renewed by one request."""
MAX_PAGES = 20_000
CHECK_SECONDS = 60.0
"""Seconds between checks for other replicas' work."""
SETTLE_MS = 3_000
"""Milliseconds without a new page after which repeated blocks are determined."""

NEVER = datetime.fromtimestamp(0, UTC)
"""The read time of a document that is still being read: an executor's clock may be behind this one's."""
Tell = Callable[[str, str | None], Awaitable[None]]


class Library:
    """Companies' documents. `tell` announces to all replicas that a document has changed."""

    def __init__(
        self, documents: DocumentStore, state: SiteStateStore, indexes: KnowledgeIndexes, tell: Tell, clock: Clock
    ) -> None:
        self._documents = documents
        self._state = state
        self._indexes = indexes
        self._tell = tell
        self._clock = clock
        self._turns = [asyncio.Lock() for _ in range(LOCKS)]
        self._joining = set[tuple[str, str, str]]()
        self._touched = True
        self._looked = 0.0

    async def upserted(self, company: str, event: DocumentUpserted) -> None:
        """Stores a document from the bus. An event without blocks says that the text with this hash was read again
        unchanged."""
        document = _document_id(company, event)
        record = Record(
            document,
            event.source,
            event.title,
            event.read_at,
            self._clock.now(),
            url=urldefrag(event.url).url if event.url else None,
            external_id=event.external_id,
            language=language_of("", event.language),
            hash=event.hash,
            etag=event.etag,
            last_modified=event.last_modified,
        )
        stored = await self._documents.get(company, document)
        if stored is not None and stored.read_at > event.read_at:
            return
        if not event.blocks and event.parts == 1:
            if stored is not None and stored.hash == event.hash:
                await self._mark_reread(company, record)
            return
        hash_digest = digest(event.hash)
        await self._documents.put_part(company, document, hash_digest, event.part, event.blocks)
        if event.parts == 1:
            await self._store_blocks(company, record, event.blocks)
            return
        # Counted first: reading all stored parts at each new one would be quadratic.
        part_key = (company, document, hash_digest)
        if await self._documents.count_parts(*part_key) < event.parts or part_key in self._joining:
            return
        # Parts arrive together: whoever first sees that all are there joins them.
        self._joining.add(part_key)
        try:
            parts = await self._documents.parts(*part_key)
            await self._store_blocks(company, record, [block for part in parts for block in part])
        finally:
            self._joining.remove(part_key)

    async def put_text(
        self,
        company: str,
        name: str,
        external_id: str | None,
        title: str,
        text: str,
        url: str | None,
        language_tag: str | None,
    ) -> Record:
        """Stores a document that somebody wrote, plain or in Markdown."""
        now = self._clock.now()
        text_hash, language = digest(text), language_tag or language_of(text)
        record = Record(name, "document", title, now, now, READY, url, external_id, language, hash=text_hash)
        _, blocks = await asyncio.to_thread(markdown_blocks.read, text, title)
        if not any(plain(block) for block in blocks):
            raise BadKnowledgeError("the text says nothing: write something", "text")
        await self._documents.put_part(company, name, digest(text_hash), 1, blocks)
        return await self._store_blocks(company, record, blocks)

    async def put_pair(self, company: str, name: str, pair: Pair, language: str) -> Record:
        now = self._clock.now()
        answer_hash = digest(pair.answer)
        record = Record(name, ANSWER, pair.questions[0], now, now, language=language, hash=answer_hash, pair=pair)
        return await self._write(company, record, [text_of_pair(pair)])

    async def named(self, company: str, name: str) -> Record | None:
        """Returns the document with this id, or with this id in another system."""
        for candidate in ([name] if is_id(name) else []) + [document_id(company, "document", name)]:
            record = await self._documents.get(company, candidate)
            if record is not None and record.state != GONE:
                return record
        return None

    async def file_received(self, company: str, file: FileReceived) -> Record:
        """Notes that an executor is reading a file; until then searches find the previous version."""

        def reading(old: Record | None) -> Record:
            now = self._clock.now()
            if old is not None and old.state != GONE:
                return replace(old, state=READING, problem=None, updated_at=now)
            title = file.title or file.filename or file.document_id
            return Record(
                file.document_id,
                "document",
                title,
                NEVER,
                now,
                READING,
                file.url,
                file.external_id,
                version=old.version if old else "",
            )

        return await self._change(company, file.document_id, reading)

    async def failed(self, company: str, event: DocumentFailed) -> None:

        def broken(old: Record | None) -> Record | None:
            if old is None or old.state == GONE:
                return None
            return replace(old, state=FAILED, problem=event.message, updated_at=self._clock.now())

        await self._change(company, event.document_id, broken)

    async def removed(self, company: str, event: DocumentRemoved, at: datetime) -> None:
        """Removes a document that was removed according to the bus."""
        await self.remove(company, _document_id(company, event), at)

    async def remove(self, company: str, name: str, at: datetime | None = None) -> bool:
        """Removes a document; returns False if there was none. Text that was read earlier does not bring it back."""
        was_found = False
        removed_at = at or self._clock.now()

        def removed_record(old: Record | None) -> Record | None:
            nonlocal was_found
            was_found = old is not None and old.state != GONE and old.read_at <= removed_at
            return old.gone(removed_at) if old is not None and was_found else None

        await self._change(company, name, removed_record)
        if was_found:
            await self._documents.empty(company, name)
            await self._mark_unsettled(company)
            await self._announce(company, name)
        return was_found

    async def settle(self) -> None:
        """Leaves out blocks that most pages of a site repeat; called periodically. It reads the store while pages
        arrive here, and every minute for other replicas' work."""
        if not self._touched and time.monotonic() - self._looked < CHECK_SECONDS:
            return
        self._looked, self._touched = time.monotonic(), False
        now = milliseconds(self._clock.now())
        for company, changed_at in await self._state.unsettled(now + 1, 20):
            if changed_at > now - SETTLE_MS:
                self._touched = True
                continue
            pages = await self._documents.site_pages(company, MAX_PAGES)
            repeated, changed = await asyncio.to_thread(without_repeated, pages)
            await self._state.settle(company, changed_at, repeated)
            for page, left_out in changed:
                await self._resplit(company, page, left_out)

    async def renew_stems(self) -> None:
        """Renews the stems of the next few documents that have those of an older release."""
        for company, name in await self._documents.older(STEMS, RENEWED_AT_ONCE):
            await self._renew_stems(company, name)

    async def _renew_stems(self, company: str, name: str) -> None:
        async def stemmed(old: Record | None) -> Record | None:
            if old is None or not old.found or old.edition is None or old.stems >= STEMS:
                return None
            texts = await self._documents.texts(company, name, old.edition)
            new_texts = await asyncio.to_thread(with_new_stems, texts, old)
            edition = next_edition(old)
            await self._documents.write_texts(company, name, edition, new_texts)
            return replace(old, edition=edition, stems=STEMS)

        record = await self._change(company, name, stemmed)
        if record.edition is not None:
            await self._documents.tidy(company, name, record.edition, None)
        await self._announce(company, name)

    async def _mark_unsettled(self, company: str) -> None:
        self._touched = True
        await self._state.unsettle(company, milliseconds(self._clock.now()))

    async def _resplit(self, company: str, page: Record, repeated: frozenset[int]) -> None:
        parts = await self._documents.parts(company, page.id, digest(page.hash or ""))
        blocks = [block for part in parts for block in part]
        numbers = await asyncio.to_thread(block_numbers, blocks)
        texts = await asyncio.to_thread(split_document, blocks, page.title, numbers, repeated)
        edition = next_edition(page)
        await self._documents.write_texts(company, page.id, edition, texts)
        new_record = replace(
            page,
            edition=edition,
            passages=len(texts),
            stems=STEMS,
            dropped=len(repeated.intersection(page.blocks)),
            version=uuid7(),
        )
        if await self._documents.put(company, new_record, page.version):
            await self._documents.tidy(company, page.id, edition, None)
            await self._announce(company, page.id)

    async def _store_blocks(self, company: str, read: Record, blocks: Sequence[Block]) -> Record:
        is_site = read.source == "site"
        repeated = await self._state.repeated(company) if is_site else frozenset[int]()
        numbers = await asyncio.to_thread(block_numbers, blocks) if is_site else []
        texts = await asyncio.to_thread(split_document, blocks, read.title, numbers, repeated)
        if len(texts) == MAX_DOCUMENT_PASSAGES:
            read = replace(read, problem=f"the first {MAX_DOCUMENT_PASSAGES} passages are searched: split the document")
        read = replace(read, blocks=tuple(dict.fromkeys(numbers)), dropped=len(repeated.intersection(numbers)))
        record = await self._write(company, read, texts)
        if is_site:
            await self._mark_unsettled(company)
        return record

    async def _write(self, company: str, new_record: Record, texts: Sequence[StemmedPassage]) -> Record:
        replaced_hash: str | None = None

        async def write(old: Record | None) -> Record | None:
            nonlocal replaced_hash
            if old is not None and old.read_at > new_record.read_at:
                return None
            external_id = new_record.external_id or (old.external_id if old else None)
            record = replace(new_record, updated_at=self._clock.now(), external_id=external_id)
            index = await self._indexes.loaded(company, 0.0)
            if len(index.passages) - index.passages.passage_count(new_record.id) + len(texts) > MAX_COMPANY_PASSAGES:
                problem = f"a company has {MAX_COMPANY_PASSAGES} passages at most: take other documents out first"
                return replace(record, state=FAILED, problem=problem, **_unchanged_texts(old))
            replaced_hash = digest(old.hash) if old and old.hash and old.hash != new_record.hash else None
            edition = next_edition(old)
            await self._documents.write_texts(company, new_record.id, edition, texts)
            return replace(record, edition=edition, passages=len(texts), stems=STEMS)

        record = await self._change(company, new_record.id, write)
        if record.edition is not None:
            await self._documents.tidy(company, new_record.id, record.edition, replaced_hash)
        await self._announce(company, new_record.id)
        return record

    async def _mark_reread(self, company: str, record: Record) -> None:
        def seen(old: Record | None) -> Record | None:
            if old is None or old.hash != record.hash or old.read_at > record.read_at or old.state == GONE:
                return None
            etag, modified = record.etag or old.etag, record.last_modified or old.last_modified
            return replace(old, read_at=record.read_at, etag=etag, last_modified=modified)

        await self._change(company, record.id, seen)
        await self._announce(company, record.id)

    async def _change(
        self,
        company: str,
        name: str,
        change: Callable[[Record | None], Record | None] | Callable[[Record | None], Awaitable[Record | None]],
    ) -> Record:
        """Changes a document, also with concurrent writers; None from `change` leaves it unchanged. Within a process
        changes are sequential, so that only replicas compete."""
        async with self._turns[hash((company, name)) % len(self._turns)]:
            for _ in range(MAX_ATTEMPTS):
                old = await self._documents.get(company, name)
                new = change(old)
                if isinstance(new, Awaitable):
                    new = await new
                if new is None:
                    now = self._clock.now()
                    return old or Record(name, "document", name, now, now, GONE)
                new = replace(new, version=uuid7())
                if await self._documents.put(company, new, old.version if old else None):
                    return new
        raise StoreUnavailableError("too many changes of the same document at once: try again")

    async def _announce(self, company: str, name: str) -> None:
        await self._indexes.refresh(company, name)
        await self._tell(company, name)


def _document_id(company: str, event: DocumentUpserted | DocumentRemoved) -> str:
    """Returns the id of an event's document; raises BadKnowledgeError if it has none."""
    if event.document_id:
        return event.document_id
    name = event.external_id or (urldefrag(event.url).url if event.url else None)
    if not name:
        raise BadKnowledgeError("a document needs documentId, externalId or url", "externalId")
    return document_id(company, event.source, name)


def _unchanged_texts(old: Record | None) -> dict[str, object]:
    if old is None:
        return {}
    return {"edition": old.edition, "passages": old.passages, "hash": old.hash, "stems": old.stems}
