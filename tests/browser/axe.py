"""Finds accessibility problems of a page with axe-core."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.async_api import Page

_AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()

_AT_ONCE = """() => {
  const shadows = [...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? []);
  const moving = [document, ...shadows].flatMap((root) => { void root.firstElementChild?.clientWidth; return root.getAnimations(); });
  for (const one of moving) if (one.effect.getComputedTiming().endTime !== Infinity) one.finish();
}"""  # noqa: E501
"""Brings what moves to its end."""


async def violations(page: Page) -> list[str]:
    """Returns the findings of axe-core, one line each."""
    await page.evaluate(_AXE)  # evaluated by the browser itself: the page's policy lets no other script in
    return await _found(page)


async def violations_in_any_theme(page: Page) -> list[str]:
    """The same of a light page, and what axe-core finds in the colours when the page is dark. Nothing else of a page
    depends on its theme."""
    found = await violations(page)
    await page.emulate_media(color_scheme="dark")
    await page.evaluate(_AT_ONCE)  # a colour would still be on its way
    found += await _found(page, runOnly=["color-contrast", "link-in-text-block"])
    await page.emulate_media(color_scheme="light")
    return found


async def _found(page: Page, **options: Any) -> list[str]:
    options["resultTypes"] = ["violations"]
    found: dict[str, Any] = await page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:200]} {node['any'][:1]}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]
