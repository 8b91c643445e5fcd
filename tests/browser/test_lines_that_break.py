"""Offline, reconnecting, reloading: what was written is sent once, in order, and the reader sees how it stands."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute, expect

from tests.browser.chat_page import ChatPage
from tests.browser.console import a_visitor
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_what_is_written_offline_waits_in_sight_and_is_sent_online_in_order(visits: Visits) -> None:
    context = await visits.context()
    page = await context.new_page()
    await page.goto(f"{visits.url}/pricing")
    chat = await ChatPage(page).open()
    await context.set_offline(True)
    await expect(chat.panel).to_contain_text("You are offline.")
    await chat.say("What does the Pro plan cost?")
    await chat.say("And the Premium plan?")
    await expect(chat.panel).to_contain_text("What you wrote will be sent as soon as possible.")
    await expect(chat.own.first).to_contain_text("Waiting to be sent")
    # The words about the line, and a keyboard on the screen, take of the room: the newest stays in sight.
    await expect(chat.own.last.locator(".delivery")).to_be_in_viewport()
    await page.set_viewport_size({"width": 360, "height": 460})
    await expect(chat.own.last.locator(".delivery")).to_be_in_viewport()
    await context.set_offline(False)
    await chat.ready()
    await expect(chat.own).to_contain_text(["What does the Pro plan cost?", "And the Premium plan?"])
    await expect(chat.own.last).to_contain_text("Sent")
    await expect(chat.answers.first.locator("time")).to_be_visible()
    await page.reload()
    await chat.ready()
    await expect(chat.own.locator(".body")).to_have_text(["What does the Pro plan cost?", "And the Premium plan?"])


async def test_what_waits_survives_a_reload_with_its_id(visits: Visits) -> None:
    line = Line()
    page = await line.page(visits)
    chat = await ChatPage(page).open()
    line.down = True
    await line.cut()
    await expect(chat.panel).to_contain_text("Connecting…")
    await chat.say("What does the Pro plan cost?")
    await page.reload()
    await expect(chat.own).to_contain_text("Waiting to be sent")
    kept = await page.evaluate("Object.keys(localStorage).find((key) => key.includes(':out:'))")
    line.down = False
    await chat.ready()
    await expect(chat.own).to_contain_text("Sent")
    await expect(chat.own).to_have_count(1)
    sent = [frame for frame in line.sent if frame["type"] == "message.send"]
    assert {kept.rpartition(":")[2]} == {frame["clientMessageId"] for frame in sent}


async def test_a_message_whose_acknowledgement_was_lost_is_stored_once(visits: Visits) -> None:
    line = Line()
    chat = await ChatPage(await line.page(visits)).open()
    line.swallow = lambda frame: frame["type"] in {"message.ack", "message.created"}
    await chat.say("What does the Pro plan cost?")
    await expect(chat.own).to_contain_text("Sending…")
    await asyncio.wait_for(line.swallowed.wait(), 40)
    line.swallow = lambda _: False
    await line.cut()
    await chat.ready()
    await expect(chat.own).to_contain_text("Sent")
    await expect(chat.answers.locator("time")).to_have_count(1)
    await expect(chat.own).to_have_count(1)
    tries = [frame for frame in line.sent if frame["type"] == "message.send"]
    assert [frame.get("retry", False) for frame in tries] == [False, True]


@pytest.mark.parametrize("begun", [False, True])
async def test_whoever_waits_for_an_answer_of_which_nothing_comes_is_told_that_it_takes_longer(
    visits: Visits, *, begun: bool
) -> None:
    line = Line()
    page = await line.page(visits, stopped_clock=True)
    chat = await ChatPage(page).open()

    def of_the_answer(frame: dict[str, Any]) -> bool:
        of_the_run = ("run.f", "message.delta") if begun else ("run.", "tool.", "message.delta")
        return frame["type"].startswith(of_the_run) or frame.get("message", {}).get("role") == "assistant"

    line.swallow = of_the_answer
    await chat.say("What does the Pro plan cost?")
    await expect(chat.own).to_contain_text("Sent")
    if begun:
        await expect(chat.answers).to_have_count(1)
    await expect(chat.panel.locator(".banner")).to_be_hidden()
    await page.clock.run_for(11_000)
    await expect(chat.panel).to_contain_text("Your message has arrived. The answer is taking longer than usual.")
    line.swallow = lambda _: False
    await chat.say("And the Premium plan?")
    await expect(chat.answers.last.locator("time")).to_be_visible()
    await expect(chat.panel.locator(".banner")).to_be_hidden()


async def test_a_line_that_has_fallen_silent_is_noticed_by_what_is_sent_over_it(visits: Visits) -> None:
    line = Line()
    page = await line.page(visits, stopped_clock=True)
    chat = await ChatPage(page).open()
    line.swallow = but_the_beginning
    await chat.say("What does the Pro plan cost?")
    await expect(chat.own).to_contain_text("Sending…")
    await asyncio.wait_for(line.swallowed.wait(), 40)
    line.down = True
    await page.clock.run_for(11_000)
    await expect(chat.panel.locator(".banner")).to_contain_text("What you wrote will be sent as soon as possible.")
    line.swallow = lambda _: False
    line.down = False
    await chat.ready()
    await expect(chat.own).to_contain_text("Sent")
    await expect(chat.answers.locator("time")).to_have_count(1)
    await expect(chat.own).to_have_count(1)


async def test_a_new_line_that_says_nothing_is_given_up_for_another(visits: Visits) -> None:
    line = Line()
    page = await line.page(visits, stopped_clock=True)
    line.swallow = lambda _: True
    await page.get_by_role("button", name="Open the chat").click()
    await asyncio.wait_for(line.swallowed.wait(), 40)
    line.swallow = lambda _: False
    await page.clock.run_for(40_000)
    await ChatPage(page).ready()


async def test_an_agents_line_that_has_fallen_silent_is_noticed_by_what_is_sent_over_it(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.ask("hello")
        line = Line()
        page = await line.page(visits, f"/console#/inbox/{visitor.conversation}", stopped_clock=True)
        await page.get_by_role("button", name="Agent").click()
        await expect(page.locator(".banner button")).to_be_visible()
        line.swallow = but_the_beginning
        await page.get_by_label("Your message").fill("Here I am")
        await page.keyboard.press("Control+Enter")
        await visitor.wait_for("message.created", lambda f: f["message"]["text"] == "Here I am")
        line.down = True
        await page.clock.run_for(11_000)
        await expect(page.locator(".line").first).to_contain_text("Connection lost")
        line.swallow = lambda _: False
        line.down = False
        await expect(page.locator(".said.operator:not(.waits)")).to_have_count(1)
        await expect(page.locator(".said.waits")).to_have_count(0)


async def test_what_cannot_be_stored_yet_is_said_to_wait_and_what_is_refused_says_why(visits: Visits) -> None:
    line = Line()
    page = await line.page(visits)
    chat = await ChatPage(page).open()
    line.refusal = {"code": "UNAVAILABLE", "message": "not now", "retryable": True}
    await chat.say("What does the Pro plan cost?")
    await expect(chat.panel.locator(".banner")).to_have_text("What you wrote will be sent as soon as possible.")
    line.refusal = None
    await expect(chat.own).to_contain_text("Sent")
    await expect(chat.panel.locator(".banner")).to_be_hidden()
    line.refusal = {"code": "TEXT_TOO_LONG", "message": "too long", "retryable": False}
    await chat.say("And the Premium plan?")
    await expect(chat.own.last.locator(".delivery")).to_have_text("Not sent: shorten it to 8000 characters")


def but_the_beginning(frame: dict[str, Any]) -> bool:
    return frame["type"] not in {"welcome", "snapshot"}


class Line:
    """The line between the widget and the server: it can be cut, be down, and lose frames of the server."""

    def __init__(self) -> None:
        self.down = False
        self.refusal: dict[str, Any] | None = None
        """What the server says of each message, which it does not get then."""
        self.sent: list[dict[str, Any]] = []
        self.swallow: Callable[[dict[str, Any]], bool] = lambda _: False
        self.swallowed = asyncio.Event()
        self._open: list[WebSocketRoute] = []

    async def page(self, visits: Visits, path: str = "/pricing", *, stopped_clock: bool = False) -> Page:
        """A page whose websocket is this line. `stopped_clock`: its time passes only as the test says."""
        context = await visits.context()
        await context.route_web_socket("**/v2/chat/ws", self._connect)
        page = await context.new_page()
        if stopped_clock:
            await page.clock.install()
        await page.goto(visits.url + path)
        return page

    async def cut(self) -> None:
        """Breaks what is open."""
        for route in self._open:
            await route.close(code=4010)
        self._open.clear()

    async def _connect(self, route: WebSocketRoute) -> None:
        if self.down:
            await route.close(code=4001)
            return
        server = route.connect_to_server()
        self._open.append(route)

        def up(message: str | bytes) -> None:
            frame = json.loads(message)
            self.sent.append(frame)
            if self.refusal and frame["type"] == "message.send":
                refused = {"v": 1, "type": "error", "ref": frame["clientMessageId"], **self.refusal}
                route.send(json.dumps(refused))
            else:
                server.send(message)

        def down(message: str | bytes) -> None:
            frame = json.loads(message)
            if self.swallow(frame):
                self.swallowed.set()
            else:
                route.send(message)

        route.on_message(up)
        server.on_message(down)
