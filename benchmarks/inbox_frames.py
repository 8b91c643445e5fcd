"""Does the console's inbox stay smooth in Chromium with 5,000 rows, while 50 facts per second change them?

The console's files come from a server with generated answers, so that only the page is measured: how long its frames
last (a script requests each next one), and the CPU of its thread for each frame, which does not depend on the machine's
other load.
"""

import asyncio
import base64
import json
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
from tests.support.chromium import chromium

QUESTION = "inbox in Chromium"
ROWS, FACTS_A_SECOND, BATCH_SECONDS, SECONDS = 5_000, 50, 0.3, 10.0
TYPING_PER_BATCH = 5
"""Visitors who type, in each batch of facts."""
SITE = "http://console.example"
TRACE_CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
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
SCROLL_TO_END = """async () => {
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


class GeneratedInbox:
    """Generates the answers of a gateway with many conversations, some of which have just changed."""

    def __init__(self) -> None:
        self.order = list(range(ROWS))
        self.changed: dict[int, int] = {}
        self._served = {route.path: route for route in console_routes(dev=False) if isinstance(route, Served)}

    def fact(self, number: int) -> None:
        """Records a new message in a conversation, which moves it to the front."""
        self.changed[number] = self.changed.get(number, 0) + 1
        self.order.remove(number)
        self.order.insert(0, number)

    def row(self, number: int) -> dict[str, Any]:
        """Returns a conversation as the inbox shows it."""
        changes = self.changed.get(number, 0)
        changed_at = (
            FIRST_DAY + timedelta(minutes=ROWS - number) + timedelta(days=30 * bool(changes), seconds=changes)
        ).isoformat()
        message = {"id": f"m{number}", "seq": number + changes, "role": "visitor", "text": f"question {changes}"}
        state = ("ai", "needs_human", "human")[number % 3]
        labels = ["billing"] if number % 5 == 0 else []
        return {
            "id": f"c{number}", "state": state, "status": "open", "owner": {"kind": "ai"}, "messageCount": changes + 1,
            "visitor": {"id": f"v{number}", "name": f"Visitor {number}"}, "labels": labels,
            "startedAt": changed_at, "waitingSince": changed_at if state == "needs_human" else None,
            "lastMessage": {**message, "createdAt": changed_at},
        }  # fmt: skip

    async def answer(self, route: Route) -> None:
        """Answers a request for a file or for the API."""
        url = urlsplit(route.request.url)
        path, query = url.path, parse_qs(url.query)
        file_route = self._served.get(path)
        if file_route is not None:
            scope: dict[str, Any] = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
            response = await cast("Any", file_route.endpoint)(Request(scope))
            await route.fulfill(status=200, headers=dict(response.headers), body=bytes(response.body))
        elif path == "/v2/conversations":
            start = int(query.get("cursor", ["0"])[0])
            page = [self.row(number) for number in self.order[start : start + 50]]
            await route.fulfill(json={"items": page, "next": str(start + 50) if start + 50 < ROWS else None})
        elif path == "/v2/conversations/counts":
            unread = {f"c{number}": number for number in self.order[:500]}
            await route.fulfill(json={"needsHuman": 100, "mine": 3, "unassigned": 4, "stuck": 0, "unread": unread})
        elif path.startswith("/v2/conversations/c"):
            await route.fulfill(json=self.row(int(path.rsplit("c", 1)[1])))
        else:
            await route.fulfill(status=404, json={"title": "not here"})


async def run() -> list[Figure]:
    """Returns the milliseconds of the page's frames."""
    inbox, sockets = GeneratedInbox(), list[WebSocketRoute]()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = await browser.new_page()
        await page.route("**/*", inbox.answer)
        await page.route_web_socket("**/v2/chat/ws", lambda socket: serve_socket(socket, sockets))
        await page.goto(f"{SITE}/console#token={token()}")
        await _load_all(page)
        idle_frames = await page.evaluate(FRAMES, 2_000)
        facts_task = asyncio.create_task(_facts(inbox, sockets))
        await browser.start_tracing(page=page, categories=TRACE_CATEGORIES)
        busy_frames = await page.evaluate(FRAMES, SECONDS * 1000)
        cpu_per_frame = _cpu_per_frame(json.loads(await browser.stop_tracing())["traceEvents"])
        await facts_task
        await browser.close()
    note = f"{ROWS:,} rows, {FACTS_A_SECOND} facts a second, {SECONDS:g} s"
    return [
        Figure(QUESTION, "frame at rest, median", percentile(idle_frames, 0.5), "ms"),
        Figure(QUESTION, "frame, median", percentile(busy_frames, 0.5), "ms", note=note),
        Figure(
            QUESTION, "frame, 95 of 100", percentile(busy_frames, 0.95), "ms", note="on this machine, with its load"
        ),
        Figure(QUESTION, "CPU of a frame, median", percentile(cpu_per_frame, 0.5), "ms"),
        Figure(QUESTION, "CPU of a frame, 95 of 100", percentile(cpu_per_frame, 0.95), "ms", 16.0),
        Figure(QUESTION, "CPU of a frame, 99 of 100", percentile(cpu_per_frame, 0.99), "ms", 16.0),
        Figure(QUESTION, "CPU of a frame, the most", max(cpu_per_frame), "ms"),
    ]


def _cpu_per_frame(events: list[dict[str, Any]]) -> list[float]:
    """Returns from a trace the CPU milliseconds of the page's thread between frames, with all of its tasks."""
    main_thread = Counter(
        (event["pid"], event["tid"]) for event in events if event["name"] == "FireAnimationFrame"
    ).most_common(1)[0][0]
    main_events = sorted(
        (event for event in events if (event["pid"], event["tid"]) == main_thread), key=lambda one: one["ts"]
    )
    frames, milliseconds, has_drawn = list[float](), 0.0, False
    for event in main_events:
        if event["name"] == "FireAnimationFrame":
            has_drawn = True
        elif event["name"] == "RunTask" and "tdur" in event:
            if has_drawn:
                frames.append(milliseconds)
                milliseconds, has_drawn = 0.0, False
            milliseconds += event["tdur"] / 1000
    return frames[1:]


def serve_socket(socket: WebSocketRoute, sockets: list[WebSocketRoute]) -> None:
    def on_message(message: str | bytes) -> None:
        kind = json.loads(message)["type"]
        if kind == "hello":
            socket.send(json.dumps({"v": 1, "type": "welcome", "heartbeatMs": 25_000}))
            sockets.append(socket)
        elif kind == "ping":
            socket.send(json.dumps({"v": 1, "type": "pong"}))

    socket.on_message(on_message)


async def _load_all(page: Page) -> None:
    await page.locator(".talks > li").first.wait_for()
    await page.evaluate(SCROLL_TO_END)


async def _facts(inbox: GeneratedInbox, sockets: list[WebSocketRoute]) -> None:
    """Sends facts as the gateway does: in batches."""
    deadline, number = time.monotonic() + SECONDS, 0
    while time.monotonic() < deadline:
        conversation_ids: list[str] = []
        for _ in range(round(FACTS_A_SECOND * BATCH_SECONDS)):
            number += 1
            row_number = number * 37 % ROWS
            inbox.fact(row_number)
            conversation_ids.append(f"c{row_number}")
        for conversation_id in conversation_ids[:TYPING_PER_BATCH]:
            frame = {
                "v": 1,
                "type": "typing",
                "conversationId": conversation_id,
                "actor": "visitor",
                "expiresInMs": 5_000,
            }
            sockets[-1].send(json.dumps(frame))
        sockets[-1].send(json.dumps({"v": 1, "type": "inbox.changed", "conversationIds": conversation_ids}))
        await asyncio.sleep(BATCH_SECONDS)


def token() -> str:
    claims = {"sub": "ana", "role": "commercial", "company": "acme", "name": "Ana", "exp": int(time.time()) + 3600}
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"{body}.{body}.{body}"
