"""Files of conversations in a backup: a folder in the format of the object storage, and a list of its files.

They are copied after the log, since a file is stored before a message names it. A bucket is not copied: it may be
larger than one machine, and its owner has other means to back it up.
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
from nexus_cli.backup.streams import BackupFailedError, file_digest
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
"""Key prefixes in the order in which they are copied: a file's mark is stored before the file, so that the marks of all
copied files exist when marks are copied."""
PAGE_SIZE = 500
NOT_IN_BACKUP = "files of conversations are not in this backup: "


@dataclass(frozen=True)
class BackupFiles:
    """The files of a backup. `size` in bytes; `digest` of their list; `gone`: number of files deleted meanwhile."""

    count: int
    size: int
    gone: int
    digest: str


def settings_of(data: Path | None) -> FileSettings:
    """The settings of the object storage: from the environment, else the data directory of a local stack.

    Raises:
        BadSettingError: a variable has an invalid value.
    """
    try:
        settings = FileSettings()
    except ValidationError as error:
        raise BadSettingError(str(error.errors()[0]["msg"])) from None
    if settings.url is None and data is not None:
        return settings.model_copy(update={"url": str(data.absolute() / FOLDER)})
    return settings


async def save(data: Path | None, directory: Path, say: Callable[[str], None]) -> BackupFiles | None:
    """Copies the files into the backup's directory. Returns None if they cannot be part of the backup; `say` tells why.

    Raises:
        BackupFailedError: their folder is missing or cannot be read.
    """
    settings = settings_of(data)
    location = settings.url
    if location is None:
        say(f"{NOT_IN_BACKUP}NEXUS_FILES_URL, which names where they lie, is not set here")
        return None
    if location.startswith("s3://"):
        copy = f"aws s3 sync {location} TARGET --endpoint-url {settings.endpoint}"
        say(f"{NOT_IN_BACKUP}the bucket is for its owner to back up, now that the rest is done, e.g. `{copy}`")
        return None
    folder = Path(location)
    if data is None and not await asyncio.to_thread(folder.is_dir):
        raise BackupFailedError(
            f"the folder of files {location} is not on this machine: mount it, or unset NEXUS_FILES_URL"
        )
    async with _closing(FolderStore(folder)) as source, _closing(FolderStore(directory / FOLDER)) as target:
        saved = await _copy(source, target, directory / LIST, say)
    say(f"{saved.count} files of conversations" + (f"; {saved.gone} were deleted meanwhile" if saved.gone else ""))
    return saved


async def check(directory: Path) -> None:
    """Checks that each listed file is present and unchanged. Raises BackupFailedError."""
    async with _closing(FolderStore(directory / FOLDER)) as store:
        for key, metadata in _list_entries(directory):
            if await _fetch(store, key, metadata) is None:
                raise BackupFailedError(f"{directory / FOLDER / key} is damaged or missing: take another backup")


@contextlib.asynccontextmanager
async def empty_place(saved: BackupFiles | None, data: Path | None) -> AsyncGenerator[FileStore | None]:
    """Yields the empty store into which the files of a backup are loaded; None if the backup has no files.

    Raises:
        BackupFailedError: no store is configured, or it already holds files.
    """
    if saved is None:
        yield None
        return
    try:
        store = file_store(settings_of(data), SystemClock())
    except NotReadyError as error:
        raise BackupFailedError(str(error)) from error
    if store is None:
        raise BackupFailedError(
            f"the backup has {saved.count} files, but there is no place for them: set NEXUS_FILES_URL"
        )
    async with _closing(store):
        for prefix in PREFIXES:
            if await store.list(prefix, 1):
                raise BackupFailedError(
                    "the object storage (NEXUS_FILES_URL) already holds files: restore into an empty one"
                )
        yield store


async def load(target: FileStore, directory: Path) -> int:
    """Loads the files of a backup into the object storage. Returns the number of conversations' files. Raises
    BackupFailedError."""
    count = 0
    async with _closing(FolderStore(directory / FOLDER)) as source:
        for key, metadata in _list_entries(directory):
            content = await _fetch(source, key, metadata)
            if content is None:
                raise BackupFailedError(f"{directory / FOLDER / key} is damaged or missing: take another backup")
            with content:
                await target.put(key, content, metadata)
            count += not key.startswith(UNSENT)
    return count


async def _copy(source: FileStore, target: FileStore, listing: Path, say: Callable[[str], None]) -> BackupFiles:
    count = size = deleted_count = 0
    with listing.open("wb") as list_file:
        for prefix in PREFIXES:
            async for key in _keys(source, prefix):
                try:
                    metadata = await source.about(key)
                    content = None if metadata is None else await _fetch(source, key, metadata)
                    is_damaged = content is None and await source.about(key) is not None
                except FileDamagedError:
                    metadata, content, is_damaged = None, None, True
                if metadata is None or content is None:
                    if is_damaged:
                        say(f"the file {key} is damaged where it lies, and not in the backup")
                    else:
                        deleted_count += prefix != UNSENT
                    continue
                with content:
                    await target.put(key, content, metadata)
                list_file.write(orjson.dumps({"key": key, **asdict(metadata)}) + b"\n")
                count, size = count + (prefix != UNSENT), size + metadata.size
    return BackupFiles(count, size, deleted_count, file_digest(listing))


async def _keys(store: FileStore, prefix: str) -> AsyncIterator[str]:
    last_key = ""
    while page := await store.list(prefix, PAGE_SIZE, last_key):
        for key in page:
            yield key
        last_key = page[-1]


async def _fetch(store: FileStore, key: str, metadata: FileMetadata) -> BinaryIO | None:
    """The content of a file, in an unnamed temporary file. None if it is missing or not what was stored."""
    try:
        stored = await store.open(key)
    except FileDamagedError:
        return None
    if stored is None or stored.about != metadata:
        return None
    digest = hashlib.sha256()
    with contextlib.ExitStack() as closing:
        content = closing.enter_context(tempfile.TemporaryFile())
        async for piece in stored.pieces:
            digest.update(piece)
            content.write(piece)
        if digest.hexdigest() != metadata.hash:
            return None
        closing.pop_all()
    return content


def _list_entries(directory: Path) -> Iterator[tuple[str, FileMetadata]]:
    with (directory / LIST).open("rb") as listing:
        for line in listing:
            entry = orjson.loads(line)
            yield entry.pop("key"), FileMetadata(**entry)


@contextlib.asynccontextmanager
async def _closing(store: FileStore) -> AsyncGenerator[FileStore]:
    """Closes the store after the block. Its errors become BackupFailedError."""
    try:
        yield store
    except FilesUnavailableError as error:
        raise BackupFailedError(f"files: {error}; try again") from error
    finally:
        await store.close()
