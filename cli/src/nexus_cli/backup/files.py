"""Files of conversations in a backup: a folder in the object storage's own form, and a list of what is in it.

They are copied behind the log: whatever a message of it names was stored before. A bucket is not copied: it is larger
than one machine, and whoever has it has the means to.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

import orjson
from pydantic import ValidationError

from contracts.files import UNSENT
from nexus_cli.backup.streams import BackupFailedError
from nexus_cli.stack.errors import BadSettingError
from runtime.clock import SystemClock
from runtime.errors import NotReadyError
from runtime.settings import FileSettings
from runtime.stores.file_store import FileDamagedError, FileMetadata, FileStore, FilesUnavailableError
from runtime.stores.file_stores import file_store
from runtime.stores.folder_store import FolderStore

FOLDER, LIST = "files", "files.jsonl"
"""Names in a backup: the folder of the files, and the list with a line for each."""
PREFIXES = ("files/", UNSENT)
"""Prefixes in the order in which they are listed: a file's mark is stored before the file, so it is there when marks
are listed."""
PAGE = 500
NOT_IN_IT = "files of conversations are not in this backup: "


@dataclass(frozen=True)
class BackupFiles:
    """The files of a backup. `digest` is that of their list; `gone`: deleted while the backup was made."""

    count: int
    size: int
    gone: int
    digest: str


def settings_of(data: Path | None) -> FileSettings:
    """Returns where files are stored: the environment says it, else it is the data directory of a local stack.

    Raises:
        BadSettingError: a variable has a value that it cannot have.
    """
    try:
        settings = FileSettings()
    except ValidationError as error:
        raise BadSettingError(str(error.errors()[0]["msg"])) from None
    if settings.url is None and data is not None:
        return settings.model_copy(update={"url": str(data.absolute() / FOLDER)})
    return settings


async def save(data: Path | None, directory: Path, say: Callable[[str], None]) -> BackupFiles | None:
    """Copies the files into the backup's directory and says what was done; None: they are not in it.

    Raises:
        BackupFailedError: their folder is not there, or cannot be read.
    """
    settings = settings_of(data)
    place = settings.url
    if place is None:
        say(f"{NOT_IN_IT}NEXUS_FILES_URL, which names where they lie, is not set here")
        return None
    if place.startswith("s3://"):
        copy = f"aws s3 sync {place} TARGET --endpoint-url {settings.endpoint}"
        say(f"{NOT_IN_IT}the bucket is for its owner to back up, now that the rest is done, e.g. `{copy}`")
        return None
    folder = Path(place)
    if data is None and not await asyncio.to_thread(folder.is_dir):
        raise BackupFailedError(
            f"the folder of files {place} is not on this machine: mount it, or unset NEXUS_FILES_URL"
        )
    async with _opened(FolderStore(folder)) as source, _opened(FolderStore(directory / FOLDER)) as target:
        kept = await _copied(source, target, directory / LIST, say)
    say(f"{kept.count} files of conversations" + (f"; {kept.gone} were deleted meanwhile" if kept.gone else ""))
    return kept


async def check(kept: BackupFiles, directory: Path) -> None:
    """Whether each file is there as it was stored; raises BackupFailedError."""
    with (directory / LIST).open("rb") as listed:
        if hashlib.file_digest(listed, "sha256").hexdigest() != kept.digest:
            raise BackupFailedError(f"{directory / LIST} is damaged: take another backup")
    async with _opened(FolderStore(directory / FOLDER)) as store:
        for key, about in _listed(directory):
            if await _fetched(store, key, about) is None:
                raise BackupFailedError(f"{directory / FOLDER / key} is damaged or missing: take another backup")


@contextlib.asynccontextmanager
async def empty_place(kept: BackupFiles | None, data: Path | None) -> AsyncGenerator[FileStore | None]:
    """Yields the store for the files of a backup; None if it has none.

    Raises:
        BackupFailedError: no place is known, or it holds files already.
    """
    if kept is None:
        yield None
        return
    try:
        store = file_store(settings_of(data), SystemClock())
    except NotReadyError as error:
        raise BackupFailedError(str(error)) from error
    if store is None:
        raise BackupFailedError(
            f"the backup has {kept.count} files, but there is no place for them: set NEXUS_FILES_URL"
        )
    async with _opened(store):
        for prefix in PREFIXES:
            if await store.list(prefix, 1):
                raise BackupFailedError(
                    "the object storage (NEXUS_FILES_URL) already holds files: restore into an empty one"
                )
        yield store


async def load(target: FileStore, directory: Path) -> int:
    """Puts the files of a backup into the object storage; how many of conversations. Raises BackupFailedError."""
    count = 0
    async with _opened(FolderStore(directory / FOLDER)) as source:
        for key, about in _listed(directory):
            content = await _fetched(source, key, about)
            if content is None:
                raise BackupFailedError(f"{directory / FOLDER / key} is damaged or missing: take another backup")
            with content:
                await target.put(key, content, about)
            count += not key.startswith(UNSENT)
    return count


async def _copied(source: FileStore, target: FileStore, listing: Path, say: Callable[[str], None]) -> BackupFiles:
    count = size = gone = 0
    with listing.open("wb") as out:
        for prefix in PREFIXES:
            async for key in _keys(source, prefix):
                try:
                    about = await source.about(key)
                    content = None if about is None else await _fetched(source, key, about)
                    damaged = content is None and await source.about(key) is not None
                except FileDamagedError:
                    about, content, damaged = None, None, True
                if about is None or content is None:
                    if damaged:
                        say(f"the file {key} is damaged where it lies, and not in the backup")
                    else:
                        gone += prefix != UNSENT
                    continue
                with content:
                    await target.put(key, content, about)
                out.write(orjson.dumps({"key": key, **asdict(about)}) + b"\n")
                count, size = count + (prefix != UNSENT), size + about.size
    with listing.open("rb") as done:
        return BackupFiles(count, size, gone, hashlib.file_digest(done, "sha256").hexdigest())


async def _keys(store: FileStore, prefix: str) -> AsyncIterator[str]:
    after = ""
    while page := await store.list(prefix, PAGE, after):
        for key in page:
            yield key
        after = page[-1]


async def _fetched(store: FileStore, key: str, about: FileMetadata) -> BinaryIO | None:
    """The content, in a temporary file without a name; None: it is not there, or not what was stored."""
    try:
        found = await store.open(key)
    except FileDamagedError:
        return None
    if found is None or found.about != about:
        return None
    digest = hashlib.sha256()
    with contextlib.ExitStack() as closing:
        content = closing.enter_context(tempfile.TemporaryFile())
        async for piece in found.pieces:
            digest.update(piece)
            content.write(piece)
        if digest.hexdigest() != about.hash:
            return None
        closing.pop_all()
    return content


def _listed(directory: Path) -> Iterator[tuple[str, FileMetadata]]:
    with (directory / LIST).open("rb") as listing:
        for line in listing:
            about = orjson.loads(line)
            yield about.pop("key"), FileMetadata(**about)


@contextlib.asynccontextmanager
async def _opened(store: FileStore) -> AsyncGenerator[FileStore]:
    """The storage for the length of the block; its errors become BackupFailedError."""
    try:
        yield store
    except FilesUnavailableError as error:
        raise BackupFailedError(f"files: {error}; try again") from error
    finally:
        await store.close()
