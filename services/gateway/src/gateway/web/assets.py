"""Files for browsers, held in memory with hash and compressed copies. Unchanged files are not sent again."""

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

SHORT_CACHE = "public, max-age=300, stale-while-revalidate=86400"
"""Cache-Control for addresses that other sites use: a new version arrives within minutes."""
LONG_CACHE = "public, max-age=31536000, immutable"
"""Cache-Control for addresses with a hash (?v=): each version has its own address."""
PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Cache-Control": "no-cache",
}
"""Headers of every page, which may load only files of this server."""
_MIN_COMPRESSED_BYTES = 860
"""Bytes up to which a file is not compressed, since it fits into one packet anyway."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file. `path` is its address; `url` has its hash too, for this server's pages."""

    path: str
    media_type: str
    body: bytes
    packed: bytes | None
    version: str
    lasting: bool = False
    """Whether the path itself contains a version."""
    headers: Mapping[str, str] | None = None
    """Headers of a page of this server; None: a file that pages of any site may load."""

    @property
    def url(self) -> str:
        """The address that may be cached forever."""
        return f"{self.path}?v={self.version}"

    def route(self) -> Route:

        async def endpoint(request: Request) -> Response:
            return await self.answer(request)

        return Route(self.path, endpoint, methods=["GET", "HEAD"])

    async def answer(self, request: Request) -> Response:
        """The response with the file, or 304 if the browser has it."""
        tag = f'W/"{self.version}"'
        is_immutable = self.lasting or request.query_params.get("v") == self.version
        open_headers = {
            "Cache-Control": LONG_CACHE if is_immutable else SHORT_CACHE,
            "Access-Control-Allow-Origin": "*",
            "Cross-Origin-Resource-Policy": "cross-origin",
            "X-Content-Type-Options": "nosniff",
        }
        headers = {"ETag": tag, "Vary": "Accept-Encoding", **(open_headers if self.headers is None else self.headers)}
        if_none_match = request.headers.get("if-none-match", "")
        if if_none_match == "*" or tag.removeprefix("W/") in [
            entry.strip().removeprefix("W/") for entry in if_none_match.split(",")
        ]:
            return Response(status_code=304, headers=headers)
        body, accepted = self.body, _accepted(request.headers.get("accept-encoding", ""))
        if self.packed is not None and "br" in accepted:
            body = await asyncio.to_thread(brotli_compressed, self.body)
            headers["Content-Encoding"] = "br"
        elif self.packed is not None and "gzip" in accepted:
            body = self.packed
            headers["Content-Encoding"] = "gzip"
        return Response(body, media_type=self.media_type, headers=headers)


def _accepted(header: str) -> set[str]:
    """The encodings that a browser accepts (RFC 9110, 12.5.3)."""
    parts = (part.replace(" ", "").lower().partition(";q=") for part in header.split(","))
    return {name for name, _, weight in parts if not weight or weight.strip("0.")}


@lru_cache(maxsize=128)
def brotli_compressed(body: bytes) -> bytes:
    """Compresses with Brotli. It is called on first use, since it takes 0.1 s and few files are requested after a
    start."""
    return cast("bytes", brotli.compress(body))  # pyright: ignore[reportUnknownMemberType] - it has no types


def asset(
    path: str, media_type: str, body: bytes, *, lasting: bool = False, headers: Mapping[str, str] | None = None
) -> Asset:
    """Hashes and compresses a file. `lasting`: the content at this path never changes. `headers`: those of a page."""
    packed = gzip.compress(body, 9, mtime=0) if len(body) > _MIN_COMPRESSED_BYTES else None
    return Asset(path, media_type, body, packed, hashlib.sha256(body).hexdigest()[:16], lasting, headers)
