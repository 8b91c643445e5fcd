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
from starlette.requests import ClientDisconnect

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
from gateway.domain.file_kinds import FileRefusedError, detect_kind
from gateway.domain.file_names import clean_name
from gateway.domain.limits import RateLimit, SlidingLog, admit
from gateway.errors import RateLimitedError, RefusedError, TookTooLongError, UnavailableError, found
from gateway.texts import TEXTS
from runtime.clock import Clock
from runtime.stores.file_store import FileMetadata, FileStore, FilesUnavailableError, StoredFile

UPLOAD_SECONDS = 60.0
"""Deadline of an upload in seconds."""
MAX_UPLOADS, MAX_UPLOADS_PER_PERSON = 10, 2
"""Concurrent uploads in this process, and by one person."""
UPLOAD_RATE = RateLimit(20, 60.0)
"""Uploads by one person in a minute."""
LINK_LIFETIME = timedelta(minutes=5)
_MEGABYTES = MAX_FILE_BYTES // (1024 * 1024)
TOO_LARGE = TEXTS["file.too_large"].format(megabytes=_MEGABYTES)
_TOO_SLOW = TEXTS["file.slow"].format(seconds=UPLOAD_SECONDS)
_FULL = TEXTS["file.full"].format(most=MAX_FILES_PER_CONVERSATION)
_EMPTY_FILE = FileMetadata("-", "application/octet-stream", 0, hashlib.sha256(b"").hexdigest())

log = structlog.get_logger(__name__)


class Files:
    """Files of conversations, for callers whose access has been checked. Without a store, uploads are refused."""

    def __init__(self, store: FileStore | None, memory: BusMemory, link_key: bytes, clock: Clock) -> None:
        self._store = store
        self._memory = memory
        self._link_key = link_key
        self._clock = clock
        self._uploads = ConcurrencyLimit(MAX_UPLOADS, "too many files are arriving right now: try again in a while")
        self._uploads_by_person = ConcurrencyLimit(
            MAX_UPLOADS_PER_PERSON, "send one file at a time: wait until the previous one has arrived"
        )
        self._upload_rate = SlidingLog(UPLOAD_RATE)
        self._failure: tuple[str, float] | None = None
        """Why the last file could not be stored, and when."""

    async def check(self) -> str | None:
        """Returns a remark for /readyz if the last file could not be stored. That never makes a gateway not ready: the
        chat goes on."""
        if self._failure is None:
            return None
        reason, since = self._failure
        return f"the last file, sent {self._clock.monotonic() - since:.0f} s ago, could not be stored: {reason}"

    async def upload(
        self, place: ConversationPlace, name: str, body: AsyncIterator[bytes], language: Language = "en"
    ) -> FileRef:
        """Stores a file that a message can then name. `language`: of error messages.

        Raises:
            RefusedError: its kind is not accepted, the conversation has too many files, or the company's storage is
                used up.
            HTTPException: 413, it is too large.
            RateLimitedError: there are too many uploads.
            TookTooLongError: it arrived too slowly.
            UnavailableError: it cannot be stored now.
        """
        store, person = self._require_store(), f"{place.company}/{place.caller.subject}"
        if (wait := admit(self._clock.monotonic(), (self._upload_rate, person))) > 0:
            raise RateLimitedError(TEXTS["file.many"].in_language(language), wait)
        with self._uploads_by_person.slot(person), self._uploads.slot(None):
            try:
                await self._check_room(store, place, language)
                with tempfile.TemporaryFile() as content:
                    file = await self._read_upload(name, body, content, language)
                    await self._store_file(store, place, file, content, language)
                self._failure = None
                return file
            except (FilesUnavailableError, OSError) as error:
                log.warning("files.not_stored", company=place.company, error=str(error)[:300])
                if not isinstance(error.__cause__, ClientDisconnect):
                    self._failure = (str(error)[:300], self._clock.monotonic())
                raise UnavailableError(TEXTS["file.away"].in_language(language)) from error

    async def file_refs(self, place: ConversationPlace, files: Sequence[str] | None) -> list[FileRef] | None:
        """The references that a message stores for the files that it names; raises RefusedError (NOT_FOUND),
        UnavailableError."""
        if not files:
            return None
        refs = await asyncio.gather(*(self._file_ref(place, file) for file in dict.fromkeys(files[:MAX_FILES])))
        return list(refs)

    async def open(self, company: str, conversation: str, file: str) -> StoredFile:
        """A stored file with its content; raises RefusedError (NOT_FOUND), UnavailableError."""
        try:
            stored = await self._store.open(file_key(company, conversation, file)) if self._store is not None else None
        except FilesUnavailableError as error:
            raise UnavailableError("the file cannot be read now: try again in a while") from error
        return found(stored, "file")

    def link(self, place: ConversationPlace, file: str) -> tuple[str, datetime]:
        """A signed path under which anybody can read the file for LINK_LIFETIME, and the time at which it expires."""
        expires = (self._clock.now() + LINK_LIFETIME).astimezone(UTC).replace(microsecond=0)
        path, ends = f"{place.company}/{place.conversation}/{file}", str(int(expires.timestamp()))
        return f"/files/{path}?until={ends}&proof={self._proof(path, ends)}", expires

    async def open_link(self, company: str, conversation: str, file: str, until: str, proof: str) -> StoredFile:
        """The file behind a link; raises RefusedError (NOT_FOUND) if it is forged or has expired, UnavailableError."""
        is_well_formed = (
            is_company(company) and is_id(conversation) and is_id(file) and until.isdecimal() and len(until) < 12
        )
        expected = self._proof(f"{company}/{conversation}/{file}", until)
        is_valid = is_well_formed and hmac.compare_digest(expected.encode(), proof.encode())
        if not is_valid or int(until) < self._clock.now().timestamp():
            raise RefusedError(ErrorCode.NOT_FOUND, "this link has expired: open the file from its conversation again")
        return await self.open(company, conversation, file)

    def _require_store(self) -> FileStore:
        if self._store is None:
            raise RefusedError(ErrorCode.FORBIDDEN, "files cannot be sent here: no storage is set up for them")
        return self._store

    def _proof(self, path: str, until: str) -> str:
        return hmac.digest(self._link_key, f"file/{path}/{until}".encode(), "sha256").hex()

    async def _check_room(self, store: FileStore, place: ConversationPlace, language: Language) -> None:
        keys = await store.list(folder_of(place.company, place.conversation), MAX_FILES_PER_CONVERSATION)
        if len(keys) >= MAX_FILES_PER_CONVERSATION:
            raise RefusedError(ErrorCode.CONFLICT, _FULL.in_language(language))

    async def _read_upload(
        self, name: str, body: AsyncIterator[bytes], content: BinaryIO, language: Language
    ) -> FileRef:
        digest, size = hashlib.sha256(), 0
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                async for part in body:
                    size += len(part)
                    if size > MAX_FILE_BYTES:
                        raise HTTPException(413, TOO_LARGE.in_language(language), headers={"Connection": "close"})
                    digest.update(part)
                    content.write(part)
        except TimeoutError as error:
            raise TookTooLongError(_TOO_SLOW.in_language(language)) from error
        if not size:
            raise _refused(TEXTS["file.empty"].in_language(language))
        try:
            kind = await asyncio.to_thread(detect_kind, content, clean_name(name))
        except FileRefusedError as error:
            raise _refused(error.text.in_language(language)) from error
        return FileRef(id=uuid7(), name=kind.name, type=kind.type, size=size, hash=digest.hexdigest())

    async def _store_file(
        self, store: FileStore, place: ConversationPlace, file: FileRef, content: BinaryIO, language: Language
    ) -> None:
        key = file_key(place.company, place.conversation, file.id)
        unsent = unsent_key(place.company, place.conversation, file.id)
        # The mark first: whatever happens next, the file can be found by it.
        await store.put(unsent, io.BytesIO(), _EMPTY_FILE)
        await self._count_file(store, place, file, language)
        try:
            await store.put(key, content, FileMetadata(file.name, file.type, file.size, file.hash))
        except FilesUnavailableError:
            with suppress(FilesUnavailableError):  # then the mark leads to its deletion in a day
                await store.delete([key, unsent])
            raise

    async def _count_file(self, store: FileStore, place: ConversationPlace, file: FileRef, language: Language) -> None:
        reply = await self._memory.keep_file(place.company, place.conversation, file.id, file.size)
        if reply.kept:
            return
        log.warning("files.share_used_up", company=place.company, bytes=reply.most)
        with suppress(FilesUnavailableError):  # then the mark itself is deleted in a day
            await store.delete([unsent_key(place.company, place.conversation, file.id)])
        raise RefusedError(ErrorCode.CONFLICT, TEXTS["file.no_room"].in_language(language))

    async def _file_ref(self, place: ConversationPlace, file: str) -> FileRef:
        try:
            key = file_key(place.company, place.conversation, file)
            metadata = await self._store.about(key) if self._store is not None else None
        except FilesUnavailableError as error:
            raise UnavailableError("whether the files are there cannot be told now: try again in a while") from error
        if metadata is None:
            fault = FieldFault(field="files", message="there is no such file in this conversation")
            raise RefusedError(ErrorCode.NOT_FOUND, f"files: {fault.message}: send it first", [fault])
        return FileRef(id=file, name=metadata.name, type=metadata.type, size=metadata.size, hash=metadata.hash)


def _refused(reason: str) -> RefusedError:
    return RefusedError(ErrorCode.BAD_FIELD, reason, [FieldFault(field="file", message=reason)])
