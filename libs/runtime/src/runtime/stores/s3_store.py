"""The object storage on any server that speaks S3: single requests of its REST API, signed (s3_signature).

The bucket is addressed by path, which every such server understands. S3 accepts only ASCII metadata, so names are
percent-encoded. Importing this requires aiohttp.
"""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

import aiohttp
import structlog
from yarl import URL

from runtime.clock import Clock
from runtime.stores.file_store import LOOKING, PIECE, STORING, FileMetadata, FilesUnavailableError, StoredFile
from runtime.stores.s3_signature import NOTHING, S3Key, encoded, query_of, signed_headers

PAGE = 1000
"""The most keys in one list of the server."""
DELETES = 8
"""Concurrent deletions."""
REFUSED, NOT_FOUND = 300, 404
_KEYS = re.compile(r"<Key>([^<]*)</Key>")

log = structlog.get_logger(__name__)


class S3Store:
    """FileStore over S3."""

    def __init__(self, endpoint: str, bucket: str, key: S3Key, clock: Clock) -> None:
        parts = urlsplit(endpoint.rstrip("/"))
        self._origin, self._host = f"{parts.scheme}://{parts.netloc}", parts.netloc
        self._base = f"{parts.path}/{encoded(bucket)}"
        self._key = key
        self._clock = clock
        self._opened: aiohttp.ClientSession | None = None

    async def put(self, key: str, content: BinaryIO, about: FileMetadata) -> None:
        headers = {
            "content-type": about.type,
            "content-length": str(about.size),
            "x-amz-meta-name": encoded(about.name),
            "x-amz-meta-hash": about.hash,
        }
        limit = _limit(total=STORING)
        body = _pieces(content)
        (await self._ask("PUT", key, headers=headers, body=body, body_hash=about.hash, limit=limit)).release()

    async def about(self, key: str) -> FileMetadata | None:
        answer = await self._ask("HEAD", key)
        answer.release()
        return None if answer.status == NOT_FOUND else _described(answer)

    async def open(self, key: str) -> StoredFile | None:
        # How long it takes to read is its reader's business; each piece comes in time.
        answer = await self._ask("GET", key, limit=_limit(sock_read=LOOKING))
        if answer.status == NOT_FOUND:
            answer.release()
            return None

        async def pieces() -> AsyncGenerator[bytes]:
            try:
                async for piece in answer.content.iter_chunked(PIECE):
                    yield piece
            except (aiohttp.ClientError, TimeoutError) as error:
                raise FilesUnavailableError(f"a file broke off: {error.__class__.__name__}") from error
            finally:
                answer.close()

        return StoredFile(_described(answer), pieces())

    async def list(self, prefix: str, most: int, after: str = "") -> list[str]:
        query = {"list-type": "2", "prefix": prefix, "max-keys": str(min(most, PAGE))}
        if after:
            query["start-after"] = after
        answer = await self._ask("GET", "", query=query)
        if answer.status == NOT_FOUND:
            answer.release()
            raise FilesUnavailableError("the object storage has no such bucket")
        try:
            said = (await answer.read()).decode(errors="replace")
        except (aiohttp.ClientError, TimeoutError) as error:
            raise FilesUnavailableError(f"a list broke off: {error.__class__.__name__}") from error
        if "<ListBucketResult" not in said:
            raise FilesUnavailableError(
                "the object storage answered something else than a list: is it an address of S3?"
            )
        keys = [html.unescape(key) for key in _KEYS.findall(said)]
        if after and keys and min(keys) <= after:
            # Whoever turns the pages would never come to an end.
            raise FilesUnavailableError(
                "the object storage lists from the beginning again: it does not know start-after"
            )
        return keys

    async def delete(self, keys: Sequence[str]) -> None:
        room = asyncio.Semaphore(DELETES)

        async def one(key: str) -> None:
            async with room:
                (await self._ask("DELETE", key)).release()

        await asyncio.gather(*map(one, keys))

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _ask(
        self,
        method: str,
        key: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: AsyncIterator[bytes] | None = None,
        body_hash: str = NOTHING,
        limit: aiohttp.ClientTimeout | None = None,
    ) -> aiohttp.ClientResponse:
        """The response, success or not found; raises FilesUnavailableError otherwise."""
        path, asked = f"{self._base}/{encoded(key, '/')}".rstrip("/"), query_of(query or {})
        signed = {"host": self._host, **(headers or {})}
        sent = signed_headers(self._key, method, path, asked, signed, body_hash, self._clock.now())
        url = URL(f"{self._origin}{path}" + (f"?{asked}" if asked else ""), encoded=True)
        limit = limit or _limit(total=LOOKING)
        try:
            answer = await self._session.request(
                method, url, headers=sent, data=body, timeout=limit, allow_redirects=False
            )
            if answer.status < REFUSED or (answer.status == NOT_FOUND and method != "PUT"):
                return answer
            said = (await answer.content.read(1000)).decode(errors="replace")
            answer.close()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise FilesUnavailableError(f"the object storage does not answer: {error.__class__.__name__}") from error
        code = found[1] if (found := re.search(r"<Code>(\w+)</Code>", said)) else ""
        log.warning("files.refused", method=method, status=answer.status, code=code)
        raise FilesUnavailableError(f"the object storage answered {answer.status} {code}".rstrip())

    @property
    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            self._opened = aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar())
        return self._opened


def _limit(total: float | None = None, sock_read: float | None = None) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=total, sock_connect=LOOKING, sock_read=sock_read)


async def _pieces(content: BinaryIO) -> AsyncIterator[bytes]:
    content.seek(0)
    while piece := await asyncio.to_thread(content.read, PIECE):
        yield piece


def _described(answer: aiohttp.ClientResponse) -> FileMetadata:
    told = answer.headers
    return FileMetadata(
        name=unquote(told.get("x-amz-meta-name", "file")),
        type=told.get("content-type", "application/octet-stream"),
        size=int(told.get("content-length", "0")),
        hash=told.get("x-amz-meta-hash", ""),
    )
