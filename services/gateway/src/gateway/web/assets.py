"""Files for browsers, held in memory with their hash and compressed copies, and not sent again if unchanged."""

import asyncio
import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import brotli
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

BRIEFLY = "public, max-age=300, stale-while-revalidate=86400"
"""The caching of addresses that other sites use: a new version is everywhere within minutes."""
FOREVER = "public, max-age=31536000, immutable"
"""The caching of addresses with a hash (?v=): another version has another address."""
PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Cache-Control": "no-cache",
}
"""The headers of every page, which may load only this server's files."""
_SMALL = 860
"""Bytes up to which compression gains nothing: it is one packet anyway."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file. `path` is its address; `url` the same with its hash, for this server's pages."""

    path: str
    media_type: str
    body: bytes
    packed: bytes | None
    version: str
    lasting: bool = False
    """Whether its path itself contains a version."""
    headers: Mapping[str, str] | None = None
    """The headers of one of this server's pages; None: any site's pages may load it."""

    @property
    def url(self) -> str:
        """The address that may be cached forever."""
        return f"{self.path}?v={self.version}"

    def route(self) -> Route:

        async def endpoint(request: Request) -> Response:
            return await self.answer(request)

        return Route(self.path, endpoint, methods=["GET", "HEAD"])

    async def answer(self, request: Request) -> Response:
        """The file, or that the browser has it."""
        tag = f'W/"{self.version}"'
        known_by_hash = self.lasting or request.query_params.get("v") == self.version
        shared = {
            "Cache-Control": FOREVER if known_by_hash else BRIEFLY,
            "Access-Control-Allow-Origin": "*",
            "Cross-Origin-Resource-Policy": "cross-origin",
            "X-Content-Type-Options": "nosniff",
        }
        headers = {"ETag": tag, "Vary": "Accept-Encoding", **(shared if self.headers is None else self.headers)}
        known = request.headers.get("if-none-match", "")
        if known == "*" or tag.removeprefix("W/") in [one.strip().removeprefix("W/") for one in known.split(",")]:
            return Response(status_code=304, headers=headers)
        body, accepted = self.body, _accepted(request.headers.get("accept-encoding", ""))
        if self.packed is not None and "br" in accepted:
            body = await asyncio.to_thread(smallest, self.body)
            headers["Content-Encoding"] = "br"
        elif self.packed is not None and "gzip" in accepted:
            body = self.packed
            headers["Content-Encoding"] = "gzip"
        return Response(body, media_type=self.media_type, headers=headers)


def _accepted(header: str) -> set[str]:
    """The encodings that a browser names and does not refuse (RFC 9110, 12.5.3)."""
    named = (one.replace(" ", "").lower().partition(";q=") for one in header.split(","))
    return {name for name, _, weight in named if not weight or weight.strip("0.")}


@lru_cache(maxsize=128)
def smallest(body: bytes) -> bytes:
    """Compressed by Brotli on first use: it takes a tenth of a second, and few files are requested after a start."""
    return cast("bytes", brotli.compress(body))  # pyright: ignore[reportUnknownMemberType] - it has no types


def asset(
    path: str, media_type: str, body: bytes, *, lasting: bool = False, headers: Mapping[str, str] | None = None
) -> Asset:
    """Hashes and compresses a file. `lasting`: the content at this path never changes. `headers`: a page's."""
    packed = gzip.compress(body, 9, mtime=0) if len(body) > _SMALL else None
    return Asset(path, media_type, body, packed, hashlib.sha256(body).hexdigest()[:16], lasting, headers)
