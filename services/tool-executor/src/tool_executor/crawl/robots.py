"""robots.txt (RFC 9309): what this reader may fetch, how fast, and which sitemaps are named."""

import re

from protego import Protego

from tool_executor.domain.site_address import SiteUrl

AGENT = "NexusSiteReader"
MAX_BYTES = 500 * 1024
"""Bytes of a robots.txt that are read."""
MAX_DELAY_SECONDS = 10.0
"""Longest delay in seconds between two pages, whatever a site asks for; 2,000 pages then take six hours."""
_AGENT_LINE = re.compile(r"\s*user[- ]?agent(?:\s*:|\s|$)\s*([^#]*)", re.IGNORECASE)


class Robots:
    """One origin's rules. An empty text allows everything."""

    def __init__(self, text: str) -> None:
        self._rules = Protego.parse("\n".join(map(_agent_renamed, text.splitlines())))

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


def _agent_renamed(line: str) -> str:
    """Returns a line with every agent that is not this reader under one name: the parser stores each rule once for each
    name above it, which for thousands of names is all memory that there is."""
    match = _AGENT_LINE.match(line)
    agent = match[1].strip() if match else ""
    if not agent or agent == "*":
        return line
    name = agent.lower().replace("*", "")
    return f"User-agent: {name if name and AGENT.lower().startswith(name) else 'other'}"
