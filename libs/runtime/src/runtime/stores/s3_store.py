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
from runtime.stores.file_store import (
    CHUNK_BYTES,
    LOOKUP_TIMEOUT,
    STORE_TIMEOUT,
    FileMetadata,
    FilesUnavailableError,
    StoredFile,
)
from runtime.stores.s3_signature import EMPTY_HASH, S3Key, encoded, query_of, signed_headers

PAGE_SIZE = 1000
"""The maximum number of keys in one of the server's lists."""
DELETIONS_AT_ONCE = 8
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
        self._open_session: aiohttp.ClientSession | None = None

    async def put(self, key: str, content: BinaryIO, about: FileMetadata) -> None:
        headers = {
            "content-type": about.type,
            "content-length": str(about.size),
            "x-amz-meta-name": encoded(about.name),
            "x-amz-meta-hash": about.hash,
        }
        limit = _limit(total=STORE_TIMEOUT)
        body = _pieces(content)
        (await self._request("PUT", key, headers=headers, body=body, body_hash=about.hash, limit=limit)).release()

    async def about(self, key: str) -> FileMetadata | None:
        response = await self._request("HEAD", key)
        response.release()
        return None if response.status == NOT_FOUND else _parse_metadata(response)

    async def open(self, key: str) -> StoredFile | None:
        # The reader decides how long reading takes in all, so only each piece has a deadline.
        response = await self._request("GET", key, limit=_limit(sock_read=LOOKUP_TIMEOUT))
        if response.status == NOT_FOUND:
            response.release()
            return None

        async def pieces() -> AsyncGenerator[bytes]:
            try:
                async for piece in response.content.iter_chunked(CHUNK_BYTES):
                    yield piece
            except (aiohttp.ClientError, TimeoutError) as error:
                raise FilesUnavailableError(f"a file broke off: {error.__class__.__name__}") from error
            finally:
                response.close()

        return StoredFile(_parse_metadata(response), pieces())

    async def list(self, prefix: str, most: int, after: str = "") -> list[str]:
        query = {"list-type": "2", "prefix": prefix, "max-keys": str(min(most, PAGE_SIZE))}
        if after:
            query["start-after"] = after
        response = await self._request("GET", "", query=query)
        if response.status == NOT_FOUND:
            response.release()
            raise FilesUnavailableError("the object storage has no such bucket")
        try:
            text = (await response.read()).decode(errors="replace")
        except (aiohttp.ClientError, TimeoutError) as error:
            raise FilesUnavailableError(f"a list broke off: {error.__class__.__name__}") from error
        if "<ListBucketResult" not in text:
            raise FilesUnavailableError(
                "the object storage answered something else than a list: is it an address of S3?"
            )
        keys = [html.unescape(key) for key in _KEYS.findall(text)]
        if after and keys and min(keys) <= after:
            # A caller that reads page after page would never reach the end.
            raise FilesUnavailableError(
                "the object storage lists from the beginning again: it does not know start-after"
            )
        return keys

    async def delete(self, keys: Sequence[str]) -> None:
        slots = asyncio.Semaphore(DELETIONS_AT_ONCE)

        async def delete_file(key: str) -> None:
            async with slots:
                (await self._request("DELETE", key)).release()

        await asyncio.gather(*map(delete_file, keys))

    async def close(self) -> None:
        if self._open_session is not None:
            await self._open_session.close()

    async def _request(
        self,
        method: str,
        key: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: AsyncIterator[bytes] | None = None,
        body_hash: str = EMPTY_HASH,
        limit: aiohttp.ClientTimeout | None = None,
    ) -> aiohttp.ClientResponse:
        """Returns the response if it is a success or "not found"; raises FilesUnavailableError otherwise."""
        path, query_text = f"{self._base}/{encoded(key, '/')}".rstrip("/"), query_of(query or {})
        signed = {"host": self._host, **(headers or {})}
        signed_request_headers = signed_headers(
            self._key, method, path, query_text, signed, body_hash, self._clock.now()
        )
        url = URL(f"{self._origin}{path}" + (f"?{query_text}" if query_text else ""), encoded=True)
        limit = limit or _limit(total=LOOKUP_TIMEOUT)
        try:
            response = await self._session.request(
                method, url, headers=signed_request_headers, data=body, timeout=limit, allow_redirects=False
            )
            if response.status < REFUSED or (response.status == NOT_FOUND and method != "PUT"):
                return response
            error_text = (await response.content.read(1000)).decode(errors="replace")
            response.close()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise FilesUnavailableError(f"the object storage does not answer: {error.__class__.__name__}") from error
        code = match[1] if (match := re.search(r"<Code>(\w+)</Code>", error_text)) else ""
        log.warning("files.refused", method=method, status=response.status, code=code)
        raise FilesUnavailableError(f"the object storage answered {response.status} {code}".rstrip())

    @property
    def _session(self) -> aiohttp.ClientSession:
        if self._open_session is None:
            self._open_session = aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar())
        return self._open_session


def _limit(total: float | None = None, sock_read: float | None = None) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=total, sock_connect=LOOKUP_TIMEOUT, sock_read=sock_read)


async def _pieces(content: BinaryIO) -> AsyncIterator[bytes]:
    content.seek(0)
    while piece := await asyncio.to_thread(content.read, CHUNK_BYTES):
        yield piece


def _parse_metadata(response: aiohttp.ClientResponse) -> FileMetadata:
    headers = response.headers
    return FileMetadata(
        name=unquote(headers.get("x-amz-meta-name", "file")),
        type=headers.get("content-type", "application/octet-stream"),
        size=int(headers.get("content-length", "0")),
        hash=headers.get("x-amz-meta-hash", ""),
    )
