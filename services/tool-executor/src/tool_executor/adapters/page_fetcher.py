"""Fetches one page over HTTP, from the given site only; used by fetch_page and by the crawler.

Every address behind its name must be public, and the name is not resolved again between the check and the connection
(`runtime.http.guarded_http`). The HTTP client follows no redirects: the caller or this module does, and each target is
checked like the first address.
"""

import asyncio
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from yarl import URL

from runtime.http.guarded_http import AddressNotAllowedError, GuardedSessions, Lookup, system_lookup
from runtime.http.retry_after import seconds_in
from tool_executor.domain.declaration import ToolFailedError
from tool_executor.domain.site_address import AddressRefusedError, Origin, Site, SiteUrl
from tool_executor.texts import TEXTS

TEXT_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/markdown"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 5
_CHUNK_BYTES = 64 * 1024
HEADERS = {
    "User-Agent": "NexusSiteReader/1.0",
    "Accept": "text/html, application/xhtml+xml, text/plain;q=0.9, text/markdown;q=0.9",
    "Accept-Encoding": "gzip, deflate",
}


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of one page: bytes as sent, bytes after decompression, and seconds. `cut`: a larger page is read as far as
    that, and not refused."""

    sent: int = 1024 * 1024
    unpacked: int = 2 * 1024 * 1024
    seconds: float = 9.0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A request for a page: accepted media types (empty: any), validators of the last read, and limits."""

    types: frozenset[str] = TEXT_TYPES
    etag: str | None = None
    last_modified: str | None = None
    limits: FetchLimits | None = None


ANY_TEXT = FetchRequest()


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page's decompressed bytes. `url`: after redirects. The other fields are from its headers."""

    url: str
    content_type: str
    charset: str | None
    body: bytes
    etag: str | None = None
    last_modified: str | None = None
    robots: str = ""


@dataclass(frozen=True, slots=True)
class Redirected:
    """The page has moved. `location`: the header's value, not checked yet."""

    location: str


@dataclass(frozen=True, slots=True)
class NotModified:
    """The page has not changed."""


class BadStatusError(ToolFailedError):
    """The site answered with an error status. `retry_after`: in seconds, if the site sent it."""

    def __init__(self, status: int, retry_after: float | None = None) -> None:
        super().__init__("bad_status", TEXTS["page.bad_status"].format(status=status))
        self.status = status
        self.retry_after = retry_after


class PageFetcher:
    """Fetches pages; one instance for the process. `demo`: the only origin that may be on loopback, unless `loopback`
    allows all of them (development only)."""

    def __init__(
        self,
        *,
        demo: Origin | None = None,
        loopback: bool = False,
        lookup: Lookup = system_lookup,
        limits: FetchLimits | None = None,
    ) -> None:
        self._demo = demo
        self._any_loopback = loopback
        self._limits = limits or FetchLimits()
        self._sessions = GuardedSessions(
            loopback=loopback or demo is not None, seconds=self._limits.seconds, headers=HEADERS, lookup=lookup
        )
        self.close = self._sessions.close

    async def fetch(self, site: Site, address: SiteUrl, request: FetchRequest = ANY_TEXT) -> Fetched:
        """Reads a page of a site, wherever on the site it redirects to. `request`: without validators.

        Raises:
            ToolFailedError: with reason page_not_found, bad_status, not_text, too_large, too_slow, unreachable,
                address_refused, redirect_refused, path_not_allowed, too_many_redirects or bad_encoding.
        """
        async with _tool_errors((request.limits or self._limits).seconds):
            for _ in range(_MAX_REDIRECTS + 1):
                answer = await self._get(address, request)
                if isinstance(answer, Fetched):
                    return answer
                # The request had no validators, so the answer is never NotModified.
                address = site.redirected(address, answer.location if isinstance(answer, Redirected) else str(address))
            raise ToolFailedError("too_many_redirects", TEXTS["page.too_many_redirects"].format(most=_MAX_REDIRECTS))

    async def visit(self, address: SiteUrl, request: FetchRequest) -> Fetched | Redirected | NotModified:
        """Makes one request without following redirects. Raises as `fetch` does."""
        async with _tool_errors((request.limits or self._limits).seconds):
            return await self._get(address, request)

    async def _get(self, address: SiteUrl, request: FetchRequest) -> Fetched | Redirected | NotModified:
        limits = request.limits or self._limits
        local = address.origin == self._demo or (self._any_loopback and address.origin.is_loopback)
        url = URL(str(address), encoded=True)
        conditions = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
        headers = {name: value for name, value in conditions.items() if value}
        if request.types != TEXT_TYPES:
            headers["Accept"] = ", ".join(sorted(request.types)) or "*/*"
        limit = aiohttp.ClientTimeout(total=limits.seconds, sock_connect=4.0, sock_read=limits.seconds)
        session = self._sessions.to(local=local)
        async with session.get(url, allow_redirects=False, headers=headers, timeout=limit) as response:
            if response.status == 304 and (request.etag or request.last_modified):
                return NotModified()
            if response.status in _REDIRECTS:
                location = response.headers.get("Location")
                if not location:
                    raise ToolFailedError("bad_status", TEXTS["page.redirects_nowhere"])
                return Redirected(location)
            if response.status in {404, 410}:
                raise ToolFailedError("page_not_found", TEXTS["page.not_found"].format(target=address.target))
            if response.status != 200:
                raise BadStatusError(response.status, seconds_in(response.headers.get("Retry-After")))
            content_type = response.content_type.lower()
            if request.types and ("Content-Type" not in response.headers or content_type not in request.types):
                raise ToolFailedError("not_text", TEXTS["page.not_text"])
            return Fetched(
                url=str(address),
                content_type=content_type,
                charset=response.charset,
                body=await self._body(response, limits),
                etag=response.headers.get("ETag"),
                last_modified=response.headers.get("Last-Modified"),
                robots=", ".join(response.headers.getall("X-Robots-Tag", [])).lower(),
            )

    async def _body(self, response: aiohttp.ClientResponse, limits: FetchLimits) -> bytes:
        unpacker = Unpacker(response.headers.get("Content-Encoding", "identity"), limits.unpacked)
        if (response.content_length or 0) > limits.sent and not limits.cut:
            raise _too_large()
        sent = 0
        try:
            async for piece in response.content.iter_chunked(_CHUNK_BYTES):
                sent += len(piece)
                unpacker.feed(piece)
                if sent > limits.sent:
                    raise _too_large()
        except ToolFailedError as failed:
            if not limits.cut or failed.reason != "too_large":
                raise
        return bytes(unpacker.body[: limits.unpacked])


class Unpacker:
    """Decompresses a body piece by piece; raises ToolFailedError at the limit, so that no small body becomes huge."""

    def __init__(self, encoding: str, limit: int) -> None:
        self.body = bytearray()
        self._limit = limit
        encoding = encoding.strip().lower()
        if encoding not in {"identity", "", "gzip", "x-gzip", "deflate"}:
            raise ToolFailedError("bad_encoding", TEXTS["page.unasked_encoding"])
        # 32 + 15: gzip or zlib, detected by the header.
        self._stream = None if encoding in {"identity", ""} else zlib.decompressobj(wbits=47)

    def feed(self, piece: bytes) -> None:
        if self._stream is None:
            self.body += piece
        else:
            try:
                self.body += self._stream.decompress(piece, self._limit - len(self.body) + 1)
            except zlib.error as error:
                raise ToolFailedError("bad_encoding", TEXTS["page.bad_encoding"]) from error
        if len(self.body) > self._limit:
            raise _too_large()


@asynccontextmanager
async def _tool_errors(seconds: float) -> AsyncGenerator[None]:
    """Turns errors and timeouts within the block into a ToolFailedError with a reason."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except AddressRefusedError as refused:
        raise ToolFailedError(refused.reason, refused.text) from refused
    except AddressNotAllowedError as refused:
        raise ToolFailedError("address_refused", TEXTS["page.address_refused"]) from refused
    except TimeoutError:
        raise ToolFailedError("too_slow", TEXTS["page.too_slow"].format(seconds=seconds)) from None
    except (aiohttp.ClientPayloadError, aiohttp.ClientResponseError) as error:
        raise ToolFailedError("unreachable", TEXTS["page.broken"]) from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise ToolFailedError("unreachable", TEXTS["page.unreachable"]) from error


def _too_large() -> ToolFailedError:
    return ToolFailedError("too_large", TEXTS["page.too_large"])
