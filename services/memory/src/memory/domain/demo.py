"""The company `demo` of the development stack."""

from contracts.company import CompanyConfig
from contracts.languages import LANGUAGES
from memory.texts import TEXTS

COMPANY = "demo"
TOOLS = (
    "get_price",
    "get_ohlcv",
    "get_indicators",
    "get_fundamentals",
    "market_snapshot",
    "fundamentals_events",
    "get_market_hours",
    "get_performance",
    "get_correlation",
    "get_crossings",
    "backtest_strategy",
    "calculate_position_size",
    "calculate_risk_reward",
    "explain_concept",
)
"""The free-plan tools of the categories market, calculate and education; watchlists are a customer's."""


def settings(origin: str | None) -> dict[str, object]:
    """Returns settings in the form that an admin sends; `origin` is the demo site's, without which there are no pages
    to fetch."""
    return {
        "companyId": COMPANY,
        "name": "Northwind Markets",
        "aiAutoResponseEnabled": True,
        "assistant": {
            "suggestions": {
                language: TEXTS["demo.suggestions"].in_language(language).splitlines() for language in LANGUAGES
            }
        },
        # The pages about the API are not part of the demo company's knowledge.
        "knowledge": {"siteUrl": origin, "deniedPaths": ["/docs"]} if origin else {},
        "toolConfig": {
            "fetchPageEnabled": origin is not None,
            "allowedDomains": [origin] if origin else [],
            "enabledTools": list(TOOLS),
        },
    }


def moved_site(config: CompanyConfig, origin: str | None) -> dict[str, object] | None:
    """Returns the merge patch that replaces the demo site's old origin by the new one, in first place; None if nothing
    has to change.

    The site's port may change at each start.
    """
    domains = config.tool_config.allowed_domains
    if origin is None or domains[:1] == [origin]:
        return None
    others = [domain for domain in domains if domain != origin and not domain.startswith("http://")]
    patch: dict[str, object] = {"toolConfig": {"fetchPageEnabled": True, "allowedDomains": [origin, *others]}}
    site = config.knowledge.site_url
    if site is None or site.startswith("http://"):
        patch["knowledge"] = {"siteUrl": origin}
    return patch
