"""Finds accessibility problems of a page with axe-core."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.async_api import Page

_AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


async def violations(page: Page) -> list[str]:
    """Returns the findings of axe-core, one line each."""
    await page.evaluate(_AXE)  # evaluated by the browser itself: the page's policy lets no other script in
    found: dict[str, Any] = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:200]} {node['any'][:1]}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]
