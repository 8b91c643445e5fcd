"""Sitemaps and sitemap indexes, plain or compressed, by the protocol of sitemaps.org."""

from dataclasses import dataclass, field
from typing import Any, cast

import lxml.etree as _etree  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

from tool_executor.adapters.page_fetcher import FetchLimits, Unpacker

LIMITS = FetchLimits(sent=10 * 1024 * 1024, unpacked=50 * 1024 * 1024, seconds=30.0)
MAX_FILES = 50
"""Sitemaps of one site that are read."""
_MAX_ADDRESSES = 50_000
"""Addresses in one sitemap, by the protocol."""
_CHUNK_BYTES = 64 * 1024


@dataclass(slots=True)
class Sitemap:
    """The addresses of pages and of further sitemaps, as they are written."""

    pages: list[str] = field(default_factory=list[str])
    sitemaps: list[str] = field(default_factory=list[str])


def parse_sitemap(body: bytes) -> Sitemap:
    """Returns the addresses in a sitemap; of a broken one, those that can be read. Raises ToolFailedError if it
    decompresses to too much."""
    if body.startswith(b"\x1f\x8b"):
        unpacker = Unpacker("gzip", LIMITS.unpacked)
        for start in range(0, len(body), _CHUNK_BYTES):
            unpacker.feed(body[start : start + _CHUNK_BYTES])
        body = bytes(unpacker.body)
    if b"<" not in body[:1024]:
        lines = body.decode("utf-8", "replace").splitlines()
        return Sitemap(pages=[line.strip() for line in lines if line.strip().startswith("http")][:_MAX_ADDRESSES])
    reader = _SitemapTarget()
    etree = cast("Any", _etree)
    parser = etree.XMLParser(target=reader, resolve_entities=False, no_network=True, recover=True, huge_tree=False)
    try:
        for start in range(0, len(body), _CHUNK_BYTES):
            parser.feed(body[start : start + _CHUNK_BYTES])
        parser.close()
    except etree.XMLSyntaxError:
        pass
    return reader.sitemap


class _SitemapTarget:
    """The parser's target: collects the text of each loc, by its parent element."""

    def __init__(self) -> None:
        self.sitemap = Sitemap()
        self._target: list[str] | None = None
        self._text: list[str] | None = None

    def start(self, tag: str, attributes: object) -> None:
        del attributes
        match tag.rpartition("}")[2].lower():
            case "url":
                self._target = self.sitemap.pages
            case "sitemap":
                self._target = self.sitemap.sitemaps
            case "loc":
                # An image's address has a namespace of its own.
                self._text = None if "image" in tag or "video" in tag else []
            case _:
                return

    def end(self, tag: str) -> None:
        if tag.rpartition("}")[2].lower() == "loc" and self._text is not None:
            address, self._text = "".join(self._text).strip(), None
            if address and self._target is not None and len(self._target) < _MAX_ADDRESSES:
                self._target.append(address)

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def comment(self, text: str) -> None:
        """Skips a comment, which is no address."""

    def close(self) -> None:
        """Does nothing: the addresses are in `sitemap`."""
