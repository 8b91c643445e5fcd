"""robots.txt (RFC 9309): what this reader may fetch, how fast, and which sitemaps are named."""

import re
from collections.abc import Iterable, Iterator

from protego import Protego

from tool_executor.domain.site_address import SiteUrl

AGENT = "NexusSiteReader"
MAX_BYTES = 500 * 1024
"""Bytes of a robots.txt that are read."""
MAX_DELAY_SECONDS = 10.0
"""Longest delay in seconds between two pages, whatever a site asks for; 2,000 pages then take six hours."""
_AGENT_LINE = re.compile(r"\s*user[- ]?agent(?:\s*:|\s|$)\s*([^#]*)", re.IGNORECASE)


_OTHER = "User-agent: other"
_PATTERN_LINE = re.compile(r"\s*(?P<rule>(?:dis)?allow)\s*:(?P<path>[^#*$]*)[*$]", re.IGNORECASE)
MAX_PATTERNS = 1_000
"""Rules with a wildcard that are obeyed as they are written; each costs 2 µs for every address."""


class Robots:
    """One origin's rules. An empty text allows everything."""

    def __init__(self, text: str) -> None:
        self._rules = Protego.parse("\n".join(_bounded(map(_agent_renamed, text.splitlines()))))

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


def _bounded(lines: Iterable[str]) -> Iterator[str]:
    """Yields the lines with at most MAX_PATTERNS wildcards for this reader. Of further rules, one that forbids holds
    for all that begins like it, and one that allows is left out: so nothing is read that is forbidden."""
    patterns = 0
    agents: list[str] = []
    after_agent = False
    for line in lines:
        is_agent = _AGENT_LINE.match(line) is not None
        agents = ([*agents, line] if after_agent else [line]) if is_agent else agents
        after_agent = is_agent
        match = None if agents and set(agents) == {_OTHER} else _PATTERN_LINE.match(line)
        patterns += match is not None
        if match is None or patterns <= MAX_PATTERNS:
            yield line
        elif match["rule"].lower() == "disallow":
            yield f"Disallow: {match['path'].strip() or '/'}"


def _agent_renamed(line: str) -> str:
    """Returns a line with every agent that is not this reader under one name: the parser stores each rule once for each
    name above it, which for thousands of names is all memory that there is."""
    match = _AGENT_LINE.match(line)
    agent = match[1].strip() if match else ""
    if not agent or agent == "*":
        return line
    name = agent.lower().replace("*", "")
    return f"User-agent: {name}" if name and AGENT.lower().startswith(name) else _OTHER
