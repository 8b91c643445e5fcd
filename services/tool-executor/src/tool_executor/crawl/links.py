"""The addresses to which a page links, and which of them may be endless."""

import re
from dataclasses import dataclass

from tool_executor.domain.site_address import AddressRefusedError, Site, SiteUrl

_MAX_URL_CHARS = 1024
_MAX_SEGMENTS = 12
"""Segments of a path."""
_OTHER_SCHEMES = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_OTHER_FILES = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif|svg|ico|bmp|tiff?|mp[34]|m4[av]|mov|avi|webm|ogg|wav|zip|gz|tgz|bz2|7z|rar|dmg|exe|"
    r"msi|apk|iso|css|js|mjs|json|xml|rss|atom|woff2?|ttf|eot|xlsx?|pptx?|csv|ics|vcf|epub|wasm)$",
    re.IGNORECASE,
)
_TRACKING = re.compile(r"(?:utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|phpsessid|jsessionid|sessionid|_ga)=", re.IGNORECASE)
_SESSION = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
_NUMBERS = re.compile(r"\d+")
_HEX = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{24,64}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RefusedLink:
    """An address of the site that its rules exclude."""

    url: str


def target_of(site: Site, page: SiteUrl, address: str) -> SiteUrl | RefusedLink | None:
    """Returns the target of a link, or the refused link; None if it is not on the site, or no document."""
    address = address.strip().partition("#")[0].replace(" ", "%20")
    if not address or len(address) > _MAX_URL_CHARS or _OTHER_SCHEMES.match(address):
        return None
    try:
        target = site.redirected(page, address)
    except AddressRefusedError as refused:
        is_excluded = refused.reason == "path_not_allowed"
        return RefusedLink(f"{page.origin}{address}"[:_MAX_URL_CHARS]) if is_excluded else None
    path, _, query = target.target.partition("?")
    path = _SESSION.sub("", path)
    if _OTHER_FILES.search(path):
        return None
    kept_query = "&".join(part for part in query.split("&") if part and not _TRACKING.match(part))
    return SiteUrl(target.origin, f"{path}?{kept_query}" if kept_query else path)


def shape_of(address: SiteUrl) -> str:
    """Returns the common shape of similar addresses: /calendar/2026/11 becomes /calendar/#/#, and a query is reduced to
    its names."""
    path, _, query = address.target.partition("?")
    names = ",".join(sorted({part.partition("=")[0] for part in query.split("&")})) if query else ""
    return f"{address.origin}{_NUMBERS.sub('#', _HEX.sub('#', path))}?{names}"


def max_addresses(shape: str, max_pages: int) -> int:
    """Returns how many addresses of a shape are read if they are known from links only; 0 means any number."""
    if not shape.endswith("?"):
        return max(20, max_pages // 20)
    return max(50, max_pages // 5) if "#" in shape else 0


def repeats_itself(address: SiteUrl) -> bool:
    """Whether a path repeats itself, like relative links that were meant to be absolute."""
    segments = [segment for segment in address.target.partition("?")[0].split("/") if segment]
    return len(segments) > _MAX_SEGMENTS or any(segments.count(segment) >= 3 for segment in set(segments))
