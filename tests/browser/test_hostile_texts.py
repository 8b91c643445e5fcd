"""Whatever people, models and pages write is shown as text: nothing of it runs, loads or breaks the page."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute, expect

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import ScriptedModel
from tests.browser.chat_page import ChatPage
from tests.browser.visits import Visits

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE = [
    "<script>window.hacked = 1</script>",
    '<img src=x onerror="window.hacked = 1"><b>bold</b>',
    '"><svg onload=window.hacked=1>',
    "שלום ‮gnp.exe‬ مرحبا",
    "👩‍👩‍👧‍👦 🏳️‍🌈 𝒻𝒶𝓃𝒸𝓎 Z̷̢̛a̸l̶g̵o̷",
    "x" * 3000,
    ("long text " * 800)[:8000].strip(),
    "${window.hacked = 1} {{constructor.constructor('window.hacked=1')()}}",
]
"""Scripts, markup, directions, pictures, one long word, all that fits, templates."""
NOON = "2026-01-05T12:00:00Z"


async def unharmed(page: Page, visits: Visits) -> None:
    """Nothing ran, nothing was loaded from elsewhere, nothing is wider than the panel."""
    assert await page.evaluate("window.hacked") is None
    assert [url for url in visits.requests if not url.startswith((visits.url, visits.url.replace("http", "ws")))] == []
    log = page.get_by_role("log")
    assert await log.evaluate("(node) => node.scrollWidth <= node.clientWidth")


async def test_what_a_visitor_writes_is_shown_as_written(visits: Visits) -> None:
    chat = await visits.chat("/")
    for number, text in enumerate(HOSTILE):
        await chat.say(text)
        await expect(chat.own.nth(number)).to_contain_text("Sent")
    for _ in range(2):
        shown = await chat.own.locator(".body").evaluate_all("(nodes) => nodes.map((node) => node.textContent)")
        assert shown == HOSTILE
        await unharmed(chat.page, visits)
        await chat.page.reload()
        await chat.ready()
        await expect(chat.own).to_have_count(len(HOSTILE))


async def test_what_a_model_writes_is_markdown_and_never_markup(scripted_visits: Visits, model: ScriptedModel) -> None:
    answer = "\n".join(
        [
            "# <img src=x onerror=window.hacked=1>",
            "[click](javascript:window.hacked=1) and [data](data:text/html,<script>window.hacked=1</script>)",
            "![a picture](https://evil.example/pixel.png) [good](https://good.example/page)",
            "",
            "- **bold** and *soft* and `code <b>`",
            "  1. inner",
            "",
            "| a | b |",
            "|---|---|",
            "| <script>window.hacked=1</script> | 2 |",
            "",
            "```html",
            "<script>window.hacked = 1</script>",
            "```",
            "snake_case_name and 2 * 3 * 4",
        ]
    )
    model.say(default=ScriptedReply(text=answer))
    chat = await scripted_visits.chat("/")
    message = await chat.ask("Go")
    await expect(message.locator("strong")).to_have_text("bold")
    await expect(message.locator("pre")).to_have_text("<script>window.hacked = 1</script>")
    await expect(message.locator("td").first).to_have_text("<script>window.hacked=1</script>")
    await expect(message.locator("li li")).to_have_text("inner")
    await expect(message.locator("em")).to_have_text("soft")
    await expect(message).to_contain_text("snake_case_name and 2 * 3 * 4")
    links = await message.locator(".body a").evaluate_all("(all) => all.map((one) => one.href)")
    assert links == ["https://evil.example/pixel.png", "https://good.example/page"]
    assert await message.locator("img, script, iframe").count() == 0
    await unharmed(chat.page, scripted_visits)


async def test_what_stands_beside_an_answer_is_text_too(visits: Visits) -> None:
    """Titles of pages, names of people, orders and prices as a hostile service could send them."""
    evil = '<img src=x onerror="window.hacked=1">'
    message: dict[str, Any] = {
        "id": "m1",
        "seq": 5,
        "role": "assistant",
        "text": "Beside it",
        "createdAt": NOON,
        "citations": [
            {"url": "https://shop.example/a", "title": evil},
            {"url": "javascript:window.hacked=1", "title": "never a link"},
            {"url": "https://shop.example/b", "title": ""},
        ],
        "actions": [
            {"id": "a1", "kind": "paper_order", "state": "failed", "summary": evil, "details": {"reason": evil}}
        ],
        "charts": [
            {"kind": "candles", "symbol": evil, "series": bars(400)},
            {"kind": "line", "symbol": "IBM", "series": [{"time": evil, "close": "evil"}]},
        ],
    }
    page = await visits.open("/")
    await serve(page, [message], {"kind": "human", "operatorId": "o1", "name": evil})
    chat = await ChatPage(page).open()
    await expect(chat.panel.locator(".head")).to_contain_text(evil)
    links = chat.panel.get_by_role("list", name="Pages read for this answer").get_by_role("link")
    await expect(links).to_have_text([evil, "https://shop.example/b"])
    await expect(chat.panel.locator(".card")).to_contain_text(evil)
    await expect(chat.panel.locator("figure")).to_have_count(1)
    await expect(chat.panel.locator("img, script, iframe")).to_have_count(0)
    await unharmed(page, visits)


async def test_a_chart_is_read_with_keys_and_as_a_table(visits: Visits) -> None:
    page = await visits.open("/")
    chart = {"kind": "line", "symbol": "IBM", "series": bars(30)}
    message = {
        "id": "m1",
        "seq": 5,
        "role": "assistant",
        "text": "IBM",
        "charts": [chart],
        "createdAt": NOON,
    }
    await serve(page, [message], {"kind": "ai"})
    chat = await ChatPage(page).open()
    picture = chat.panel.get_by_role("img", name="IBM, Jan 1, 2026 to Jan 30, 2026: from 100.00 to 129.00, +29.00%")
    await picture.focus()
    await picture.press("ArrowLeft")
    await expect(chat.panel.locator("figcaption")).to_contain_text("129.00")
    await picture.press("Home")
    await expect(chat.panel.locator("figcaption")).to_contain_text("100.00")
    await chat.panel.get_by_text("Show the figures").click()
    await expect(chat.panel.locator("figure tbody tr")).to_have_count(30)


def bars(count: int) -> list[dict[str, Any]]:
    """Daily bars that rise by one a day, from the first of January 2026."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        {
            "time": (start + timedelta(days=day)).isoformat(),
            "open": 99.5 + day,
            "high": 102.0 + day,
            "low": 98.0 + day,
            "close": 100.0 + day,
        }
        for day in range(count)
    ]


async def serve(page: Page, messages: list[dict[str, Any]], owner: dict[str, Any]) -> None:
    """In place of the server: a conversation with these messages."""

    def connect(route: WebSocketRoute) -> None:
        def answer(text: str | bytes) -> None:
            if json.loads(text)["type"] == "hello":
                common = {"v": 1, "conversationId": "c1", "epoch": "e1", "seq": 9}
                welcome: dict[str, Any] = {"type": "welcome", "recovered": True, "owner": owner, "pendingActions": []}
                for frame in (welcome, {"type": "snapshot", "messages": messages}):
                    route.send(json.dumps({**common, **frame}))

        route.on_message(answer)

    await page.route_web_socket("**/v2/chat/ws", connect)
