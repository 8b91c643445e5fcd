"""Whether fetch_page may read an address, told without fetching it."""

import pytest

from contracts.company import ToolConfig
from contracts.preview_rpc import SiteCheckRequest
from tool_executor.site_checks import SiteChecks

SHOP = ToolConfig(
    fetch_page_enabled=True,
    allowed_domains=["https://www.example.com", "https://help.example.com"],
    allowed_paths=["/help", "/pricing"],
)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("/pricing?plan=pro", "https://www.example.com/pricing?plan=pro"),
        ("https://help.example.com/help/refunds", "https://help.example.com/help/refunds"),
    ],
)
async def test_an_allowed_page_is_named_in_full(address: str, url: str) -> None:
    verdict = await SiteChecks(None).check(SiteCheckRequest(tool_config=SHOP, address=address))
    assert (verdict.allowed, verdict.url) == (True, url)


@pytest.mark.parametrize(
    "address",
    [
        "/secret",
        "//evil.example/pricing",
        "/pricing/../secret",
        "https://evil.example/pricing",
        "http://www.example.com/pricing",
        "https://www.example.com@evil.example/pricing",
        "https://169.254.169.254/pricing",
        "https://[::1",
        "javascript://www.example.com/pricing",
    ],
)
async def test_anything_else_is_refused_with_a_reason(address: str) -> None:
    verdict = await SiteChecks(None).check(SiteCheckRequest(tool_config=SHOP, address=address))
    assert (verdict.allowed, verdict.url) == (False, None)
    assert verdict.reason


@pytest.mark.parametrize(
    ("address", "reason"),
    [("https://evil.example/pricing", "no es ninguna dirección del sitio"), ("https://[::1", "no es una dirección")],
)
async def test_the_reason_is_said_in_the_language_of_whoever_asks(address: str, reason: str) -> None:
    request = SiteCheckRequest(tool_config=SHOP, address=address, language="es")
    assert reason in ((await SiteChecks(None).check(request)).reason or "")


async def test_where_pages_are_switched_off_none_may_be_read() -> None:
    off = SHOP.model_copy(update={"fetch_page_enabled": False})
    verdict = await SiteChecks(None).check(SiteCheckRequest(tool_config=off, address="/pricing"))
    assert not verdict.allowed
    assert "fetchPageEnabled" in (verdict.reason or "")
