"""robots.txt (RFC 9309): what this reader may fetch, how fast, and which sitemaps are named."""

from protego import Protego

from tool_executor.domain.site_address import SiteUrl

AGENT = "NexusSiteReader"
MAX_BYTES = 500 * 1024
"""Bytes of a robots.txt that are read."""
MAX_DELAY_SECONDS = 10.0
"""Longest delay in seconds between two pages, whatever a site asks for; 2,000 pages then take six hours."""


class Robots:
    """One origin's rules. An empty text allows everything."""

    def __init__(self, text: str) -> None:
        self._rules = Protego.parse(text)

    def allows(self, address: SiteUrl) -> bool:
        return bool(self._rules.can_fetch(str(address), AGENT))

    @property
    def delay(self) -> float:
        """The seconds between two pages that the site asks for; 0 if it names none."""
        return min(float(self._rules.crawl_delay(AGENT) or 0.0), MAX_DELAY_SECONDS)

    @property
    def sitemaps(self) -> list[str]:
        """The addresses of sitemaps, as written."""
        return [str(address) for address in self._rules.sitemaps][:50]
