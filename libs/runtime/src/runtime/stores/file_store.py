"""The port for the object storage: by default a folder, or any server that speaks S3.

contracts.files makes the keys. A storage that does not answer in time raises FilesUnavailableError.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from runtime.errors import RuntimeLibraryError

LOOKUP_TIMEOUT = 3.0
"""Seconds for looking up, deleting or listing files."""
STORE_TIMEOUT = 20.0
"""Seconds for storing a file, or reading a whole one."""
CHUNK_BYTES = 256 * 1024
"""How much of a file is in memory at a time."""


class FilesUnavailableError(RuntimeLibraryError):
    """The object storage did not answer in time, or could not do what was asked."""

    retryable = True


class FileDamagedError(FilesUnavailableError):
    """The file exists, but its metadata cannot be read."""


@dataclass(frozen=True, slots=True)
class FileMetadata:
    """A file's metadata: its name as people gave it, its media type, its length in bytes, its SHA-256 (hex)."""

    name: str
    type: str
    size: int
    hash: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file being read: `pieces` yields its content, and raises if reading breaks off."""

    about: FileMetadata
    pieces: AsyncGenerator[bytes]


class FileStore(Protocol):
    """An object storage. Each method raises FilesUnavailableError."""

    async def put(self, key: str, content: BinaryIO, about: FileMetadata) -> None:
        """Stores `content` from its start, replacing the file under this key; readers see all of it or nothing."""
        ...

    async def about(self, key: str) -> FileMetadata | None:
        """Returns a file's metadata; None if there is no such file."""
        ...

    async def open(self, key: str) -> StoredFile | None:
        """Opens a file; returns None if there is no such file."""
        ...

    async def list(self, prefix: str, most: int, after: str = "") -> list[str]:
        """Returns at most `most` keys with this prefix after `after`, in order."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Deletes files; missing ones are ignored."""
        ...

    async def close(self) -> None: ...


async def read_whole(store: FileStore, key: str, most: int) -> bytes | None:
    """Returns a file's content; None if there is no such file, or it is longer than `most` bytes."""
    file = await store.open(key)
    if file is None or file.about.size > most:
        return None
    return b"".join([piece async for piece in file.pieces])
