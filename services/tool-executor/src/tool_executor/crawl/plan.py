"""The plan of a run. It is made once, at the beginning, so that all executors agree."""

import hashlib
from urllib.parse import urlsplit

from pydantic import Field

from contracts.company import CompanyConfig
from contracts.envelope import Wire
from tool_executor.domain.site_address import AddressRefusedError, Origin, Site, SiteUrl, parse_origin, site_of
from tool_executor.texts import TEXTS

READER = 3
"""Goes up when the same bytes become other blocks than before: every page is then read again."""

NO_SITE = TEXTS["site.no_site"]


class CrawlPlan(Wire):
    """`start` is where reading begins; `only`: it is one page, and nothing that it links to is read."""

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
        """Names the rules by which pages are found and read: other rules may find other pages behind the same ones."""
        said = [READER, self.start, self.sitemap, self.origins, self.allowed, self.denied, self.max_pages]
        return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def plan_of(
    config: CompanyConfig, run_id: str, url: str | None, demo: Origin | None, *, loopback: bool
) -> tuple[CrawlPlan, Site, SiteUrl]:
    """The plan, the site that it allows, and where it begins.

    Raises:
        AddressRefusedError: there is no such site, or the page is none of it.
    """
    knowledge = config.knowledge
    if knowledge.site_url is None:
        raise AddressRefusedError("no_site", NO_SITE)
    begins = _origin(knowledge.site_url)
    domains = [str(begins), *config.tool_config.allowed_domains]
    site = site_of(domains, knowledge.allowed_paths, demo, loopback=loopback, denied=knowledge.denied_paths)
    if site.origins[0] != begins:
        raise AddressRefusedError("no_site", TEXTS["site.unreadable"].format(begins=begins))
    # Where it begins is read for its links even where the paths that are kept are others.
    start = address_in(site if url else Site(site.origins), url or knowledge.site_url)
    plan = CrawlPlan(
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
    return plan, site, start


def site_in(plan: CrawlPlan) -> Site:
    return Site(tuple(map(parse_origin, plan.origins)), tuple(plan.allowed), tuple(plan.denied))


def address_in(site: Site, url: str) -> SiteUrl:
    """An absolute address, judged. Raises AddressRefusedError."""
    origin, parts = _origin(url), urlsplit(url)
    path = parts.path or "/"
    return site.at(origin, f"{path}?{parts.query}" if parts.query else path)


def _origin(url: str) -> Origin:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise AddressRefusedError("bad_origin", TEXTS["site.no_address"]) from None
    return parse_origin(f"{parts.scheme}://{parts.netloc}")
