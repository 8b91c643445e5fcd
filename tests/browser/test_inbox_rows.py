"""The inbox of a busy company: rows that change together are drawn a few in each frame, and in the server's order."""

import json

import pytest
from playwright.async_api import Browser, WebSocketRoute, expect

from benchmarks.inbox_frames import SITE, GeneratedInbox, serve_socket, token

pytestmark = pytest.mark.asyncio(loop_scope="session")
MAX_CHANGES = 4
CHANGED = 30
"""Rows that change together: more than are read one by one."""
COUNTING = """() => {
  window.perFrame = [0];
  const next = () => { window.perFrame.push(0); requestAnimationFrame(next); };
  requestAnimationFrame(next);
  new MutationObserver((all) => {
    for (const one of all) window.perFrame[window.perFrame.length - 1] += one.addedNodes.length;
  }).observe(document.querySelector(".talks"), { childList: true });
}"""


async def test_many_rows_that_change_together_are_drawn_a_few_in_each_frame(browser: Browser) -> None:
    inbox, sockets = GeneratedInbox(), list[WebSocketRoute]()
    page = await browser.new_page()
    await page.route("**/*", inbox.answer)
    await page.route_web_socket("**/v2/chat/ws", lambda socket: serve_socket(socket, sockets))
    await page.goto(f"{SITE}/console#token={token()}")
    rows = page.locator(".talks a")
    await expect(rows.first).to_have_attribute("data-id", "c0")
    await page.evaluate(COUNTING)
    for number in range(CHANGED):
        inbox.fact(number)
    changed = [f"c{number}" for number in range(CHANGED)]
    sockets[-1].send(json.dumps({"v": 1, "type": "inbox.changed", "conversationIds": changed}))
    await expect(rows.nth(CHANGED - 1)).to_have_attribute("data-id", "c0")
    names = await rows.evaluate_all("(all) => all.map((row) => row.dataset.id)")
    assert names[:CHANGED] == changed[::-1]
    drawn = [count for count in await page.evaluate("window.perFrame") if count]
    assert max(drawn) <= MAX_CHANGES
    assert sum(drawn) <= 2 * CHANGED  # no row is drawn again because another has moved
    await page.close()
