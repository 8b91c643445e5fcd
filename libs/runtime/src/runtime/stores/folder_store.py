"""The object storage in a folder: for one machine, or a volume that all replicas share.

Each stored file is one file: a line of JSON with its metadata, then its content. It is written to a draft and renamed,
so that nobody sees half of it; drafts of dead processes are deleted. The store has its own threads, so that a hanging
disk blocks nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, TypeVar
from uuid import uuid4

import orjson

from runtime.stores.file_store import (
    CHUNK_BYTES,
    LOOKUP_TIMEOUT,
    STORE_TIMEOUT,
    FileDamagedError,
    FileMetadata,
    FilesUnavailableError,
    StoredFile,
)

T = TypeVar("T")
MAX_AT_ONCE = 4
"""The number of threads; further operations wait, within their deadline."""
DRAFTS = ".drafts"
DRAFT_TTL_SECONDS = 3600.0
"""Seconds after which a draft counts as abandoned; storing a file ends long before."""


class FolderStore:
    """FileStore over a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._threads = ThreadPoolExecutor(MAX_AT_ONCE, thread_name_prefix="files")

    async def put(self, key: str, content: BinaryIO, about: FileMetadata) -> None:
        await self._do(lambda: self._put(key, content, about), STORE_TIMEOUT)

    async def about(self, key: str) -> FileMetadata | None:
        def look() -> FileMetadata | None:
            with contextlib.suppress(FileNotFoundError), self._path(key).open("rb") as file:
                return _read_metadata(file)
            return None

        return await self._do(look, LOOKUP_TIMEOUT)

    async def open(self, key: str) -> StoredFile | None:
        def open_file() -> tuple[FileMetadata, BinaryIO] | None:
            try:
                file = self._path(key).open("rb")
            except FileNotFoundError:
                return None
            return _read_metadata(file), file

        opened = await self._do(open_file, LOOKUP_TIMEOUT)
        return StoredFile(opened[0], self._pieces(opened[1])) if opened else None

    async def list(self, prefix: str, most: int, after: str = "") -> list[str]:
        def walk() -> list[str]:
            keys: list[str] = []
            for key in self._keys(prefix, after):
                keys.append(key)
                if len(keys) == most:
                    break
            return keys

        return await self._do(walk, LOOKUP_TIMEOUT)

    async def delete(self, keys: Sequence[str]) -> None:
        def remove() -> None:
            for key in keys:
                path = self._path(key)
                path.unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # a folder that still holds files stays
                    for folder in path.parents:
                        if folder == self._folder:
                            break
                        folder.rmdir()
            self._drop_dead_drafts()

        await self._do(remove, LOOKUP_TIMEOUT)

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _do(self, work: Callable[[], T], seconds: float) -> T:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except (OSError, ValueError) as error:  # TimeoutError is an OSError
            # Its name alone does not tell a full disk from a read-only one.
            reason = getattr(error, "strerror", None) or error.__class__.__name__
            raise FilesUnavailableError(f"the folder for files cannot be used: {reason}") from error

    async def _pieces(self, file: BinaryIO) -> AsyncGenerator[bytes]:
        try:
            while piece := await self._do(lambda: file.read(CHUNK_BYTES), LOOKUP_TIMEOUT):
                yield piece
        finally:
            file.close()

    def _put(self, key: str, content: BinaryIO, about: FileMetadata) -> None:
        path, draft = self._path(key), self._folder / DRAFTS / uuid4().hex
        draft.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._drop_dead_drafts()
        try:
            with draft.open("xb") as file:
                file.write(orjson.dumps(asdict(about)) + b"\n")
                content.seek(0)
                shutil.copyfileobj(content, file, CHUNK_BYTES)
                file.flush()
                os.fsync(file.fileno())
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        path = self._folder.joinpath(*key.split("/"))
        if not path.resolve().is_relative_to(self._folder.resolve()):
            raise ValueError("a key points outside the folder")
        return path

    def _keys(self, prefix: str, after: str) -> Generator[str]:
        """Yields all keys with the prefix after `after`, in order."""
        parent, _, name_prefix = prefix.rpartition("/")
        folder = self._path(parent) if parent else self._folder
        try:
            names = sorted(entry.name + "/" * entry.is_dir() for entry in folder.iterdir() if entry.name != DRAFTS)
        except (FileNotFoundError, NotADirectoryError):
            return
        for name in names:
            key = f"{parent}/{name}" if parent else name
            if not name.startswith(name_prefix) or (key <= after and not after.startswith(key)):
                continue
            if name.endswith("/"):
                yield from self._keys(key, after)
            elif key > after:
                yield key

    def _drop_dead_drafts(self) -> None:
        with contextlib.suppress(FileNotFoundError):  # another process deleted it first, and deletes the others too
            for draft in (self._folder / DRAFTS).iterdir():
                if time.time() - draft.stat().st_mtime > DRAFT_TTL_SECONDS:
                    draft.unlink(missing_ok=True)


def _read_metadata(file: BinaryIO) -> FileMetadata:
    try:
        return FileMetadata(**orjson.loads(file.readline(16 * 1024)))
    except (TypeError, ValueError) as error:
        raise FileDamagedError("the file's metadata cannot be read") from error
