"""The port of the object storage: by default a folder, or any server that speaks S3.

Keys are made in contracts.files. A storage that does not answer in time raises FilesUnavailableError.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from runtime.errors import RuntimeLibraryError

LOOKING = 3.0
"""Deadline in seconds of looking up, deleting or listing files."""
STORING = 20.0
"""Deadline in seconds of storing a file, or reading a whole one."""
PIECE = 256 * 1024
"""Bytes of a file in memory at a time."""


class FilesUnavailableError(RuntimeLibraryError):
    """The object storage did not answer in time, or could not do it."""

    retryable = True


class FileDamagedError(FilesUnavailableError):
    """The file is there, and its metadata cannot be read."""


@dataclass(frozen=True, slots=True)
class FileMetadata:
    """A file's metadata: its name as people gave it, its media type, its length in bytes, its SHA-256 (hex)."""

    name: str
    type: str
    size: int
    hash: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file being read: `pieces` yields its content, and raises if it breaks off."""

    about: FileMetadata
    pieces: AsyncGenerator[bytes]


class FileStore(Protocol):
    """An object storage. Each method raises FilesUnavailableError."""

    async def put(self, key: str, content: BinaryIO, about: FileMetadata) -> None:
        """Stores `content` from its beginning, replacing what is there; readers see all of it or nothing."""
        ...

    async def about(self, key: str) -> FileMetadata | None:
        """A file's metadata; None: there is no such file."""
        ...

    async def open(self, key: str) -> StoredFile | None:
        """The file itself; None: there is none."""
        ...

    async def list(self, prefix: str, most: int, after: str = "") -> list[str]:
        """The keys with this prefix, in order, after `after`."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Deletes files; missing ones are ignored."""
        ...

    async def close(self) -> None: ...


async def read_whole(store: FileStore, key: str, most: int) -> bytes | None:
    """A file's content; None: there is none, or it is longer than `most` bytes."""
    found = await store.open(key)
    if found is None or found.about.size > most:
        return None
    return b"".join([piece async for piece in found.pieces])
