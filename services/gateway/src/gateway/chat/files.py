"""Files of conversations: uploading, naming in messages, downloading.

A file is read to its end before anything is stored, since its kind and size are not known earlier. Until then it is in
a temporary file without a name, which disappears however this process ends.
"""

import asyncio
import hashlib
import hmac
import io
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import BinaryIO

import structlog
from starlette.exceptions import HTTPException

from contracts.errors import ErrorCode, FieldFault
from contracts.files import (
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_FILES_PER_CONVERSATION,
    FileRef,
    file_key,
    folder_of,
    unsent_key,
)
from contracts.ids import is_company, is_id, uuid7
from contracts.languages import Language
from gateway.adapters.memory import BusMemory
from gateway.chat.commands import ConversationPlace
from gateway.domain.concurrency_limit import ConcurrencyLimit
from gateway.domain.file_kinds import NotTakenError, look
from gateway.domain.file_names import clean_name
from gateway.domain.limits import RateLimit, SlidingLog, admit
from gateway.errors import RateLimitedError, RefusedError, TookTooLongError, UnavailableError, not_found
from gateway.texts import TEXTS
from runtime.clock import Clock
from runtime.stores.file_store import FileMetadata, FileStore, FilesUnavailableError, StoredFile

TAKING = 60.0
"""Deadline in seconds of an upload."""
AT_ONCE, AT_ONCE_EACH = 10, 2
"""Concurrent uploads in this process, and of one person."""
A_MINUTE = RateLimit(20, 60.0)
"""Uploads of one person in a minute."""
LINK_LIFE = timedelta(minutes=5)
_MEGABYTES = MAX_FILE_BYTES // (1024 * 1024)
TOO_LARGE = TEXTS["file.too_large"].format(megabytes=_MEGABYTES)
_SLOW = TEXTS["file.slow"].format(seconds=TAKING)
_FULL = TEXTS["file.full"].format(most=MAX_FILES_PER_CONVERSATION)
_NOTHING = FileMetadata("-", "application/octet-stream", 0, hashlib.sha256(b"").hexdigest())

log = structlog.get_logger(__name__)


class Files:
    """Files of conversations, for callers whose access has been checked. Without a store uploads are refused."""

    def __init__(self, store: FileStore | None, memory: BusMemory, link_key: bytes, clock: Clock) -> None:
        self._store = store
        self._memory = memory
        self._link_key = link_key
        self._clock = clock
        self._all = ConcurrencyLimit(AT_ONCE, "too many files are arriving right now: try again in a while")
        self._each = ConcurrencyLimit(AT_ONCE_EACH, "send one file at a time: wait until the previous one has arrived")
        self._by_person = SlidingLog(A_MINUTE)

    async def take_in(
        self, place: ConversationPlace, name: str, body: AsyncIterator[bytes], language: Language = "en"
    ) -> FileRef:
        """Uploads a file for a message to name. `language`: of an error message.

        Raises:
            RefusedError: the kind is not accepted, the conversation has too many files, or the company no room.
            HTTPException: 413, it is too large.
            RateLimitedError: too many at once.
            TookTooLongError: it came too slowly.
            UnavailableError: it cannot be stored now.
        """
        store, person = self._there(), f"{place.company}/{place.caller.subject}"
        if (wait := admit(self._clock.monotonic(), (self._by_person, person))) > 0:
            raise RateLimitedError(TEXTS["file.many"].in_language(language), wait)
        with self._each.one_more(person), self._all.one_more(None):
            try:
                await self._room(store, place, language)
                with tempfile.TemporaryFile() as content:
                    file = await self._received(name, body, content, language)
                    await self._put(store, place, file, content, language)
                return file
            except (FilesUnavailableError, OSError) as error:
                log.warning("files.not_stored", company=place.company, error=str(error)[:300])
                raise UnavailableError(TEXTS["file.away"].in_language(language)) from error

    async def named(self, place: ConversationPlace, files: Sequence[str] | None) -> list[FileRef] | None:
        """What a message stores about the files that it names; raises RefusedError (NOT_FOUND), UnavailableError."""
        if not files:
            return None
        found = await asyncio.gather(*(self._ref(place, file) for file in dict.fromkeys(files[:MAX_FILES])))
        return list(found)

    async def open(self, company: str, conversation: str, file: str) -> StoredFile:
        """A file's content; raises RefusedError (NOT_FOUND), UnavailableError."""
        try:
            found = await self._store.open(file_key(company, conversation, file)) if self._store is not None else None
        except FilesUnavailableError as error:
            raise UnavailableError("the file cannot be read now: try again in a while") from error
        if found is None:
            raise not_found("file")
        return found

    def link(self, place: ConversationPlace, file: str) -> tuple[str, datetime]:
        """An address at which anybody may read the file for some minutes, and its expiry."""
        until = (self._clock.now() + LINK_LIFE).astimezone(UTC).replace(microsecond=0)
        where, ends = f"{place.company}/{place.conversation}/{file}", str(int(until.timestamp()))
        return f"/files/{where}?until={ends}&proof={self._proof(where, ends)}", until

    async def linked(self, company: str, conversation: str, file: str, until: str, proof: str) -> StoredFile:
        """The file behind a link; raises RefusedError (NOT_FOUND) if it is forged or has expired, UnavailableError."""
        known = is_company(company) and is_id(conversation) and is_id(file) and until.isdecimal() and len(until) < 12
        proven = self._proof(f"{company}/{conversation}/{file}", until)
        right = known and hmac.compare_digest(proven.encode(), proof.encode())
        if not right or int(until) < self._clock.now().timestamp():
            raise RefusedError(ErrorCode.NOT_FOUND, "this link has expired: open the file from its conversation again")
        return await self.open(company, conversation, file)

    def _there(self) -> FileStore:
        if self._store is None:
            raise RefusedError(ErrorCode.FORBIDDEN, "files cannot be sent here: no storage is set up for them")
        return self._store

    def _proof(self, where: str, until: str) -> str:
        return hmac.digest(self._link_key, f"file/{where}/{until}".encode(), "sha256").hex()

    async def _room(self, store: FileStore, place: ConversationPlace, language: Language) -> None:
        kept = await store.list(folder_of(place.company, place.conversation), MAX_FILES_PER_CONVERSATION)
        if len(kept) >= MAX_FILES_PER_CONVERSATION:
            raise RefusedError(ErrorCode.CONFLICT, _FULL.in_language(language))

    async def _received(self, name: str, body: AsyncIterator[bytes], content: BinaryIO, language: Language) -> FileRef:
        digest, size = hashlib.sha256(), 0
        try:
            async with asyncio.timeout(TAKING):
                async for part in body:
                    size += len(part)
                    if size > MAX_FILE_BYTES:
                        raise HTTPException(413, TOO_LARGE.in_language(language), headers={"Connection": "close"})
                    digest.update(part)
                    content.write(part)
        except TimeoutError as error:
            raise TookTooLongError(_SLOW.in_language(language)) from error
        if not size:
            raise _refused(TEXTS["file.empty"].in_language(language))
        try:
            looked = await asyncio.to_thread(look, content, clean_name(name))
        except NotTakenError as error:
            raise _refused(error.text.in_language(language)) from error
        return FileRef(id=uuid7(), name=looked.name, type=looked.type, size=size, hash=digest.hexdigest())

    async def _put(
        self, store: FileStore, place: ConversationPlace, file: FileRef, content: BinaryIO, language: Language
    ) -> None:
        key = file_key(place.company, place.conversation, file.id)
        mark = unsent_key(place.company, place.conversation, file.id)
        # The mark first: whatever comes of the rest, it is found by it.
        await store.put(mark, io.BytesIO(), _NOTHING)
        await self._count(store, place, file, language)
        try:
            await store.put(key, content, FileMetadata(file.name, file.type, file.size, file.hash))
        except FilesUnavailableError:
            with suppress(FilesUnavailableError):  # its mark lets it be found and deleted in a day
                await store.delete([key, mark])
            raise

    async def _count(self, store: FileStore, place: ConversationPlace, file: FileRef, language: Language) -> None:
        kept = await self._memory.keep_file(place.company, place.conversation, file.id, file.size)
        if kept.kept:
            return
        log.warning("files.share_used_up", company=place.company, bytes=kept.most)
        with suppress(FilesUnavailableError):  # as above: the mark is found in a day
            await store.delete([unsent_key(place.company, place.conversation, file.id)])
        raise RefusedError(ErrorCode.CONFLICT, TEXTS["file.no_room"].in_language(language))

    async def _ref(self, place: ConversationPlace, file: str) -> FileRef:
        try:
            key = file_key(place.company, place.conversation, file)
            about = await self._store.about(key) if self._store is not None else None
        except FilesUnavailableError as error:
            raise UnavailableError("whether the files are there cannot be told now: try again in a while") from error
        if about is None:
            fault = FieldFault(field="files", message="there is no such file in this conversation")
            raise RefusedError(ErrorCode.NOT_FOUND, f"files: {fault.message}: send it first", [fault])
        return FileRef(id=file, name=about.name, type=about.type, size=about.size, hash=about.hash)


def _refused(why: str) -> RefusedError:
    return RefusedError(ErrorCode.BAD_FIELD, why, [FieldFault(field="file", message=why)])
