"""robots.txt (RFC 9309): what this reader may fetch, how fast, and which sitemaps are named."""

from protego import Protego

from tool_executor.domain.site_address import SiteUrl

AGENT = "NexusSiteReader"
LARGEST = 500 * 1024
"""Bytes that are read of it."""
SLOWEST = 10.0
"""Seconds between two pages, whatever a site asks for: two thousand pages are then read in six hours."""


class Robots:
    """One origin's rules. An empty text allows everything."""

    def __init__(self, text: str) -> None:
        self._rules = Protego.parse(text)

    def allows(self, address: SiteUrl) -> bool:
        return bool(self._rules.can_fetch(str(address), AGENT))

    @property
    def delay(self) -> float:
        """Seconds between two pages that the site asks for; 0: it does not say."""
        return min(float(self._rules.crawl_delay(AGENT) or 0.0), SLOWEST)

    @property
    def sitemaps(self) -> list[str]:
        """Addresses of sitemaps, as they are written."""
        return [str(address) for address in self._rules.sitemaps][:50]
