"""What an MCP host shows beside a result: in a frame without an origin, which nothing but its host is asked by."""

import json
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from gateway.doors.mcp.views import document
from runtime.testing.servers import eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")

Json = dict[str, Any]
HOST = """<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src
'unsafe-inline'; style-src 'unsafe-inline'"><iframe sandbox="allow-scripts" style="width:400px;height:500px"></iframe>
<script>
const frame = document.querySelector("iframe");
window.heard = [];
window.tell = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
window.addEventListener("message", ({ data }) => {
  heard.push(data);
  if (data.method === "ui/initialize") tell({ id: data.id, result: { protocolVersion: "2026-01-26", hostInfo: {},
    hostCapabilities: { serverTools: {} }, hostContext: { theme: "dark" } } });
});
</script>"""
BARS = [
    {"time": f"2026-01-{day:02}T00:00:00Z", "open": 10, "high": 13, "low": 9, "close": 10 + day % 3, "volume": 5}
    for day in range(1, 21)
]
ORDER = {
    "action_id": "a1",
    "status": "pending_confirmation",
    "summary": "Buy 2 <b>IBM</b> at market",
    "order": {"symbol": "IBM", "side": "buy", "quantity": 2, "order_type": "market"},
    "estimate": {"price": 100.0, "amount": 200.0, "cash_after": 800.0, "currency": "USD"},
    "expires_at": "2099-01-01T00:00:00Z",
    "editable": {"quantity": {"type": "number"}},
}


async def test_a_host_shows_prices_and_an_order_that_its_user_decides(browser: Browser) -> None:
    page = await browser.new_page()
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    await page.set_content(HOST)
    await page.evaluate("(view) => { document.querySelector('iframe').srcdoc = view; }", document("en"))
    await eventually(lambda: page.evaluate("heard.some(({ method }) => method === 'ui/notifications/initialized')"))
    view = page.frame_locator("iframe")

    async def shows(data: dict[str, Any], **meta: Any) -> None:
        params: Json = {"content": [], "structuredContent": data, "_meta": meta}
        await page.evaluate("(params) => tell({ method: 'ui/notifications/tool-result', params })", params)

    await shows({"symbol": "IBM", "bars": BARS})
    await expect(view.get_by_role("img")).to_be_visible()
    await expect(view.get_by_text("IBM")).to_be_visible()
    assert await view.locator("html").get_attribute("data-theme") == "dark"

    await shows(ORDER, **{"nexus/confirmation": "sealed"})
    await expect(view.get_by_text("Buy 2 <b>IBM</b> at market")).to_be_visible()
    await view.get_by_role("spinbutton").fill("3")
    await view.get_by_role("button", name="Confirm").click()
    await eventually(lambda: page.evaluate("heard.some(({ method }) => method === 'tools/call')"))
    call = await page.evaluate("heard.find(({ method }) => method === 'tools/call')")
    told = {"action_id": "a1", "confirmation": "sealed", "decision": "confirm", "edits": {"quantity": 3}}
    assert call["params"] == {"name": "decide_order", "arguments": told}
    action: Json = {"id": "a1", "kind": "paper_order", "state": "confirmed", "summary": "Buy 3 IBM", "details": {}}
    answer: Json = {"id": call["id"], "result": {"structuredContent": {"action": action}}}
    await page.evaluate("(answer) => tell(answer)", answer)
    await expect(view.get_by_text("Buy 3 IBM")).to_be_visible()
    await expect(view.get_by_role("button", name="Confirm")).to_have_count(0)
    assert await page.evaluate(
        "heard.some(({ method, params }) => method.endsWith('size-changed') && params.height > 0)"
    )
    assert loaded == [], json.dumps(loaded)
    await page.close()
