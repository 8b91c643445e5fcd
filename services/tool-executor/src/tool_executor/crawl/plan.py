"""The plan of a run. It is made once, at the beginning, so that all executors agree."""

import hashlib
from urllib.parse import urlsplit

from pydantic import Field

from contracts.company import CompanyConfig
from contracts.envelope import Wire
from tool_executor.domain.site_address import AddressRefusedError, Origin, Site, SiteUrl, parse_origin, site_of
from tool_executor.texts import TEXTS

READER_VERSION = 3
"""Version of the reader. It is increased when the same bytes give other blocks; then every page is read again."""

NO_SITE = TEXTS["site.no_site"]


class CrawlPlan(Wire):
    """The plan of a run. `start`: the first address. `only`: the run reads only this page, without its links."""

    company_id: str
    run_id: str
    start: str
    only: bool = False
    sitemap: str | None = None
    origins: list[str]
    allowed: list[str] = Field(default_factory=list[str])
    denied: list[str] = Field(default_factory=list[str])
    max_pages: int

    @property
    def rules(self) -> str:
        """A digest of the rules by which pages are found and read; other rules may find other pages."""
        values = [READER_VERSION, self.start, self.sitemap, self.origins, self.allowed, self.denied, self.max_pages]
        return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


def plan_of(config: CompanyConfig, run_id: str, url: str | None, demo: Origin | None, *, loopback: bool) -> CrawlPlan:
    """Returns the plan of a run over the company's site, or of one page of it.

    Raises:
        AddressRefusedError: there is no such site, or the page does not belong to it.
    """
    knowledge = config.knowledge
    if knowledge.site_url is None:
        raise AddressRefusedError("no_site", NO_SITE)
    start_origin = _origin(knowledge.site_url)
    domains = [str(start_origin), *config.tool_config.allowed_domains]
    site = site_of(domains, knowledge.allowed_paths, demo, loopback=loopback, denied=knowledge.denied_paths)
    if site.origins[0] != start_origin:
        raise AddressRefusedError("no_site", TEXTS["site.unreadable"].format(begins=start_origin))
    # The start page is read for its links even if it is not among the allowed paths.
    start = address_in(site if url else Site(site.origins), url or knowledge.site_url)
    return CrawlPlan(
        company_id=config.company_id,
        run_id=run_id,
        start=str(start),
        only=url is not None,
        sitemap=knowledge.sitemap,
        origins=[str(origin) for origin in site.origins],
        allowed=list(knowledge.allowed_paths),
        denied=list(knowledge.denied_paths),
        max_pages=knowledge.max_pages,
    )


def site_in(plan: CrawlPlan) -> Site:
    return Site(tuple(map(parse_origin, plan.origins)), tuple(plan.allowed), tuple(plan.denied))


def address_in(site: Site, url: str) -> SiteUrl:
    """Returns a checked absolute address. Raises AddressRefusedError."""
    origin, parts = _origin(url), urlsplit(url)
    path = parts.path or "/"
    return site.at(origin, f"{path}?{parts.query}" if parts.query else path)


def _origin(url: str) -> Origin:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise AddressRefusedError("bad_origin", TEXTS["site.no_address"]) from None
    return parse_origin(f"{parts.scheme}://{parts.netloc}")
