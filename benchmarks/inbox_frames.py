"""Does the console's inbox stay smooth in Chromium with 5,000 rows, while 50 facts a second change them?

The console's own files and a server of made answers, so that only the page is measured: how long its frames last (a
script asks for each next one), and the CPU that its thread takes for each of them, which does not depend on what else
the machine does.
"""

import asyncio
import base64
import json
import os
import shutil
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from playwright.async_api import Page, Route, WebSocketRoute, async_playwright
from starlette.requests import Request
from starlette.routing import Route as Served

from benchmarks.report import Figure, percentile
from gateway.web.console import console_routes

QUESTION = "inbox in Chromium"
ROWS, FACTS_A_SECOND, GATHERED, SECONDS = 5_000, 50, 0.3, 10.0
SIGNS = 5
"""Visitors who type, told each time."""
SITE = "http://console.example"
TRACED = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
FRAMES = """(milliseconds) => new Promise((done) => {
  const frames = [];
  const end = performance.now() + milliseconds;
  let before = performance.now();
  const next = (now) => {
    frames.push(now - before);
    before = now;
    if (now < end) requestAnimationFrame(next); else done(frames.slice(1));
  };
  requestAnimationFrame(next);
})"""
TO_THE_END = """async () => {
  const list = document.querySelector(".list"), more = list.querySelector(".wide");
  const frame = () => new Promise(requestAnimationFrame);
  while (!more.hidden) {
    const before = list.scrollHeight;
    list.scrollTop = before;
    // A busy browser may not have seen that the end was out of sight, and then does not load by itself.
    more.click();
    while (list.scrollHeight === before && !more.hidden) await frame();
  }
  list.scrollTop = 0;
}"""


class MadeInbox:
    """The answers of a gateway with many conversations, some of which have just changed."""

    def __init__(self) -> None:
        self.order = list(range(ROWS))
        self.changed: dict[int, int] = {}
        self._served = {route.path: route for route in console_routes(dev=False) if isinstance(route, Served)}

    def fact(self, number: int) -> None:
        """Something was written in the conversation: it is the first one now."""
        self.changed[number] = self.changed.get(number, 0) + 1
        self.order.remove(number)
        self.order.insert(0, number)

    def row(self, number: int) -> dict[str, Any]:
        """A conversation as the inbox shows it."""
        times = self.changed.get(number, 0)
        at = (BEGUN + timedelta(minutes=ROWS - number) + timedelta(days=30 * bool(times), seconds=times)).isoformat()
        message = {"id": f"m{number}", "seq": number + times, "role": "visitor", "text": f"question {times}"}
        state = ("ai", "needs_human", "human")[number % 3]
        labels = ["billing"] if number % 5 == 0 else []
        return {
            "id": f"c{number}", "state": state, "status": "open", "owner": {"kind": "ai"}, "messageCount": times + 1,
            "visitor": {"id": f"v{number}", "name": f"Visitor {number}"}, "labels": labels,
            "startedAt": at, "waitingSince": at if state == "needs_human" else None,
            "lastMessage": {**message, "createdAt": at},
        }  # fmt: skip

    async def answer(self, route: Route) -> None:
        """Of a file or of the API."""
        asked = urlsplit(route.request.url)
        path, query = asked.path, parse_qs(asked.query)
        served = self._served.get(path)
        if served is not None:
            scope: dict[str, Any] = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
            found = await cast("Any", served.endpoint)(Request(scope))
            await route.fulfill(status=200, headers=dict(found.headers), body=bytes(found.body))
        elif path == "/v2/conversations":
            begin = int(query.get("cursor", ["0"])[0])
            page = [self.row(number) for number in self.order[begin : begin + 50]]
            await route.fulfill(json={"items": page, "next": str(begin + 50) if begin + 50 < ROWS else None})
        elif path == "/v2/conversations/counts":
            unread = {f"c{number}": number for number in self.order[:500]}
            await route.fulfill(json={"needsHuman": 100, "mine": 3, "unassigned": 4, "stuck": 0, "unread": unread})
        elif path.startswith("/v2/conversations/c"):
            await route.fulfill(json=self.row(int(path.rsplit("c", 1)[1])))
        else:
            await route.fulfill(status=404, json={"title": "not here"})


async def run() -> list[Figure]:
    """Milliseconds of frames."""
    program = os.environ.get("NEXUS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    inbox, sockets = MadeInbox(), list[WebSocketRoute]()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = await browser.new_page()
        await page.route("**/*", inbox.answer)
        await page.route_web_socket("**/v2/chat/ws", lambda socket: _serve(socket, sockets))
        await page.goto(f"{SITE}/console#token={_token()}")
        await _load_all(page)
        still = await page.evaluate(FRAMES, 2_000)
        sending = asyncio.create_task(_facts(inbox, sockets))
        await browser.start_tracing(page=page, categories=TRACED)
        busy = await page.evaluate(FRAMES, SECONDS * 1000)
        worked = _worked(json.loads(await browser.stop_tracing())["traceEvents"])
        await sending
        await browser.close()
    note = f"{ROWS:,} rows, {FACTS_A_SECOND} facts a second, {SECONDS:g} s"
    return [
        Figure(QUESTION, "frame at rest, median", percentile(still, 0.5), "ms"),
        Figure(QUESTION, "frame, median", percentile(busy, 0.5), "ms", note=note),
        Figure(QUESTION, "frame, 95 of 100", percentile(busy, 0.95), "ms", note="on this machine, with its load"),
        Figure(QUESTION, "CPU of a frame, median", percentile(worked, 0.5), "ms"),
        Figure(QUESTION, "CPU of a frame, 95 of 100", percentile(worked, 0.95), "ms", 16.0),
        Figure(QUESTION, "CPU of a frame, 99 of 100", percentile(worked, 0.99), "ms", 16.0),
        Figure(QUESTION, "CPU of a frame, the most", max(worked), "ms"),
    ]


def _worked(events: list[dict[str, Any]]) -> list[float]:
    """The CPU milliseconds of the page's thread from each frame to the next, out of a trace: all of its tasks."""
    main = Counter(
        (event["pid"], event["tid"]) for event in events if event["name"] == "FireAnimationFrame"
    ).most_common(1)[0][0]
    own = sorted((event for event in events if (event["pid"], event["tid"]) == main), key=lambda one: one["ts"])
    frames, last, drawn = list[float](), 0.0, False
    for one in own:
        if one["name"] == "FireAnimationFrame":
            drawn = True
        elif one["name"] == "RunTask" and "tdur" in one:
            if drawn:
                frames.append(last)
                last, drawn = 0.0, False
            last += one["tdur"] / 1000
    return frames[1:]


def _serve(socket: WebSocketRoute, sockets: list[WebSocketRoute]) -> None:
    def told(message: str | bytes) -> None:
        kind = json.loads(message)["type"]
        if kind == "hello":
            socket.send(json.dumps({"v": 1, "type": "welcome", "heartbeatMs": 25_000}))
            sockets.append(socket)
        elif kind == "ping":
            socket.send(json.dumps({"v": 1, "type": "pong"}))

    socket.on_message(told)


async def _load_all(page: Page) -> None:
    await page.locator(".talks > li").first.wait_for()
    await page.evaluate(TO_THE_END)


async def _facts(inbox: MadeInbox, sockets: list[WebSocketRoute]) -> None:
    """As the gateway tells of them: gathered for a moment."""
    end, number = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        told: list[str] = []
        for _ in range(round(FACTS_A_SECOND * GATHERED)):
            number += 1
            chosen = number * 37 % ROWS
            inbox.fact(chosen)
            told.append(f"c{chosen}")
        for one in told[:SIGNS]:
            sign = {"v": 1, "type": "typing", "conversationId": one, "actor": "visitor", "expiresInMs": 5_000}
            sockets[-1].send(json.dumps(sign))
        sockets[-1].send(json.dumps({"v": 1, "type": "inbox.changed", "conversationIds": told}))
        await asyncio.sleep(GATHERED)


def _token() -> str:
    said = {"sub": "ana", "role": "commercial", "company": "acme", "name": "Ana", "exp": int(time.time()) + 3600}
    body = base64.urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")
    return f"{body}.{body}.{body}"
