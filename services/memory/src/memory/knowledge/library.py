"""Stores documents: splits them into passages, and tells every replica."""

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
from memory.knowledge.index import MOST_PASSAGES
from memory.knowledge.indexes import KnowledgeIndexes
from memory.knowledge.mongo_documents import Documents
from memory.knowledge.mongo_state import State
from memory.knowledge.passages import MOST_OF_DOCUMENT, plain
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
from memory.knowledge.segmentation import cut_up, nearest_home, number, repeats, text_of_pair, with_new_stems
from memory.knowledge.texts import STEMS, StemmedPassage, digest
from runtime.clock import Clock
from runtime.documents import markdown_blocks
from runtime.documents.document_language import language_of

TRIES = 8
"""Tries to write a document that others are writing."""
TURNS = 64
"""Documents changed concurrently in one process."""
SOME = 20
"""Documents whose stems are renewed by one request."""
PAGES = 20_000
ELSEWHERE = 60.0
"""Seconds between checks for other replicas' work."""
QUIET = 3_000
"""Milliseconds without a new page after which repeated blocks are determined."""

NEVER = datetime.fromtimestamp(0, UTC)
"""The read time of what is still being read: an executor's clock may be behind this one's."""
Tell = Callable[[str, str | None], Awaitable[None]]


class Library:
    """Companies' documents. `tell` tells all replicas that a document has changed."""

    def __init__(self, documents: Documents, state: State, indexes: KnowledgeIndexes, tell: Tell, clock: Clock) -> None:
        self._documents = documents
        self._state = state
        self._indexes = indexes
        self._tell = tell
        self._clock = clock
        self._turns = [asyncio.Lock() for _ in range(TURNS)]
        self._joining = set[tuple[str, str, str]]()
        self._touched = True
        self._looked = 0.0

    async def upserted(self, company: str, event: DocumentUpserted) -> None:
        """A document from the bus. With no blocks, the text with this hash was read again unchanged."""
        name = _named(company, event)
        read = Record(
            name,
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
        stored = await self._documents.get(company, name)
        if stored is not None and stored.read_at > event.read_at:
            return
        if not event.blocks and event.parts == 1:
            if stored is not None and stored.hash == event.hash:
                await self._again(company, read)
            return
        hashed = digest(event.hash)
        await self._documents.keep_part(company, name, hashed, event.part, event.blocks)
        if event.parts == 1:
            await self._take(company, read, event.blocks)
            return
        # Counted before they are read: reading all that are there at each new part would be quadratic.
        joined = (company, name, hashed)
        if await self._documents.has_parts(*joined) < event.parts or joined in self._joining:
            return
        # Parts arrive together: whoever sees first that all are there joins them.
        self._joining.add(joined)
        try:
            parts = await self._documents.parts(*joined)
            await self._take(company, read, [block for part in parts for block in part])
        finally:
            self._joining.remove(joined)

    async def put_text(
        self,
        company: str,
        name: str,
        external_id: str | None,
        title: str,
        text: str,
        url: str | None,
        tongue: str | None,
    ) -> Record:
        """A document that somebody wrote, plain or in Markdown."""
        now = self._clock.now()
        hashed, language = digest(text), tongue or language_of(text)
        read = Record(name, "document", title, now, now, READY, url, external_id, language, hash=hashed)
        _, blocks = await asyncio.to_thread(markdown_blocks.read, text, title)
        if not any(plain(block) for block in blocks):
            raise BadKnowledgeError("the text says nothing: write something", "text")
        await self._documents.keep_part(company, name, digest(hashed), 1, blocks)
        return await self._take(company, read, blocks)

    async def put_pair(self, company: str, name: str, pair: Pair, language: str) -> Record:
        now = self._clock.now()
        hashed = digest(pair.answer)
        read = Record(name, ANSWER, pair.questions[0], now, now, language=language, hash=hashed, pair=pair)
        return await self._write(company, read, [text_of_pair(pair)])

    async def named(self, company: str, name: str) -> Record | None:
        """The document with this id, or this id in another system."""
        for one in ([name] if is_id(name) else []) + [document_id(company, "document", name)]:
            found = await self._documents.get(company, one)
            if found is not None and found.state != GONE:
                return found
        return None

    async def file_received(self, company: str, file: FileReceived) -> Record:
        """An executor is reading a file; the previous version is still found."""

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
        """The bus reports that a document was removed."""
        await self.remove(company, _named(company, event), at)

    async def remove(self, company: str, name: str, at: datetime | None = None) -> bool:
        """Removes a document; False: there was none. Text that was read earlier does not bring it back."""
        found = False
        when = at or self._clock.now()

        def out(old: Record | None) -> Record | None:
            nonlocal found
            found = old is not None and old.state != GONE and old.read_at <= when
            return old.gone(when) if old is not None and found else None

        await self._change(company, name, out)
        if found:
            await self._documents.empty(company, name)
            await self._unsettle(company)
            await self._told(company, name)
        return found

    async def settle(self) -> None:
        """Leaves out blocks that most pages of a site repeat; called periodically. Reads the store while pages
        arrive here, and every minute for other replicas' work."""
        if not self._touched and time.monotonic() - self._looked < ELSEWHERE:
            return
        self._looked, self._touched = time.monotonic(), False
        now = milliseconds(self._clock.now())
        for company, mark in await self._state.unsettled(now + 1, 20):
            if mark > now - QUIET:
                self._touched = True
                continue
            pages = await self._documents.site_pages(company, PAGES)
            # By language: each has menus and footers of its own, on half of the pages at most.
            groups: dict[str | None, list[Record]] = {}
            for page in pages:
                groups.setdefault(page.language, []).append(page)
            repeated = frozenset[int]().union(*map(repeats, (pages, *groups.values())))
            first = {min(group, key=nearest_home).id for group in groups.values()}
            await self._state.settle(company, mark, repeated)
            for page in pages:
                left_out = frozenset[int]() if page.id in first else repeated
                if len(left_out.intersection(page.blocks)) != page.dropped and page.hash and page.found:
                    await self._cut_anew(company, page, left_out)

    async def renew_stems(self) -> None:
        """Renews the stems of the next few documents with those of an older release."""
        for company, name in await self._documents.older(STEMS, SOME):
            await self._renew_stems(company, name)

    async def _renew_stems(self, company: str, name: str) -> None:
        async def stemmed(old: Record | None) -> Record | None:
            if old is None or not old.found or old.edition is None or old.stems >= STEMS:
                return None
            texts = await self._documents.texts(company, name, old.edition)
            anew = await asyncio.to_thread(with_new_stems, texts, old)
            edition = next_edition(old)
            await self._documents.write_texts(company, name, edition, anew)
            return replace(old, edition=edition, stems=STEMS)

        record = await self._change(company, name, stemmed)
        if record.edition is not None:
            await self._documents.tidy(company, name, record.edition, None)
        await self._told(company, name)

    async def _unsettle(self, company: str) -> None:
        self._touched = True
        await self._state.unsettle(company, milliseconds(self._clock.now()))

    async def _cut_anew(self, company: str, page: Record, repeated: frozenset[int]) -> None:
        parts = await self._documents.parts(company, page.id, digest(page.hash or ""))
        blocks = [block for part in parts for block in part]
        kept = [block for block in blocks if number(block) not in repeated]
        texts = await asyncio.to_thread(cut_up, kept, page.title)
        edition = next_edition(page)
        await self._documents.write_texts(company, page.id, edition, texts)
        after = replace(
            page,
            edition=edition,
            passages=len(texts),
            stems=STEMS,
            dropped=len(repeated.intersection(page.blocks)),
            version=uuid7(),
        )
        if await self._documents.put(company, after, page.version):
            await self._documents.tidy(company, page.id, edition, None)
            await self._told(company, page.id)

    async def _take(self, company: str, read: Record, blocks: Sequence[Block]) -> Record:
        site = read.source == "site"
        repeated = await self._state.repeated(company) if site else frozenset[int]()
        numbers = tuple(dict.fromkeys(number(block) for block in blocks)) if site else ()
        kept = [block for block in blocks if not repeated or number(block) not in repeated]
        texts = await asyncio.to_thread(cut_up, kept, read.title)
        if len(texts) == MOST_OF_DOCUMENT:
            read = replace(read, problem=f"the first {MOST_OF_DOCUMENT} passages are searched: split the document")
        read = replace(read, blocks=numbers, dropped=len(repeated.intersection(numbers)))
        record = await self._write(company, read, texts)
        if site:
            await self._unsettle(company)
        return record

    async def _write(self, company: str, read: Record, texts: Sequence[StemmedPassage]) -> Record:
        replaced: str | None = None

        async def write(old: Record | None) -> Record | None:
            nonlocal replaced
            if old is not None and old.read_at > read.read_at:
                return None
            external = read.external_id or (old.external_id if old else None)
            record = replace(read, updated_at=self._clock.now(), external_id=external)
            index = await self._indexes.of(company, 0.0)
            if len(index.passages) - index.passages.of(read.id) + len(texts) > MOST_PASSAGES:
                problem = f"a company has {MOST_PASSAGES} passages at most: take other documents out first"
                return replace(record, state=FAILED, problem=problem, **_as_before(old))
            replaced = digest(old.hash) if old and old.hash and old.hash != read.hash else None
            edition = next_edition(old)
            await self._documents.write_texts(company, read.id, edition, texts)
            return replace(record, edition=edition, passages=len(texts), stems=STEMS)

        record = await self._change(company, read.id, write)
        if record.edition is not None:
            await self._documents.tidy(company, read.id, record.edition, replaced)
        await self._told(company, read.id)
        return record

    async def _again(self, company: str, read: Record) -> None:
        def seen(old: Record | None) -> Record | None:
            if old is None or old.hash != read.hash or old.read_at > read.read_at or old.state == GONE:
                return None
            etag, modified = read.etag or old.etag, read.last_modified or old.last_modified
            return replace(old, read_at=read.read_at, etag=etag, last_modified=modified)

        await self._change(company, read.id, seen)
        await self._told(company, read.id)

    async def _change(
        self,
        company: str,
        name: str,
        change: Callable[[Record | None], Record | None] | Callable[[Record | None], Awaitable[Record | None]],
    ) -> Record:
        """Changes a document, also with concurrent writers; None from `change` leaves it. Within a process changes
        are sequential, so that only replicas compete."""
        async with self._turns[hash((company, name)) % len(self._turns)]:
            for _ in range(TRIES):
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

    async def _told(self, company: str, name: str) -> None:
        await self._indexes.changed(company, name)
        await self._tell(company, name)


def _named(company: str, event: DocumentUpserted | DocumentRemoved) -> str:
    """The id of an event's document; raises BadKnowledgeError if it has none."""
    if event.document_id:
        return event.document_id
    name = event.external_id or (urldefrag(event.url).url if event.url else None)
    if not name:
        raise BadKnowledgeError("a document needs documentId, externalId or url", "externalId")
    return document_id(company, event.source, name)


def _as_before(old: Record | None) -> dict[str, object]:
    if old is None:
        return {}
    return {"edition": old.edition, "passages": old.passages, "hash": old.hash, "stems": old.stems}
