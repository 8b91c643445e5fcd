"""A shift at the desk: forty conversations and two human agents, who use the console and nothing else."""

import asyncio
import re
import uuid
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
import pytest
from playwright.async_api import FilePayload, Page, expect

from runtime.testing.servers import eventually
from tests.browser.console import row_of
from tests.browser.visits import Visits
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")
VISITORS, WAITING = 40, 8
ASKED = (
    "Does the large backpack fit under an aircraft seat?",
    "My parcel says delivered, but there is nothing at my door",
    "¿Puedo cambiar la talla de un abrigo que ya he abierto?",
    "Do you ship to the Canary Islands, and what does it cost?",
    "The zip of my tent broke on the second night. What can be done?",
    "¿Cuándo llega mi pedido? Lo necesito antes del viernes",
    "Is there a discount for a school class of thirty?",
    "I was charged twice for the same order",
)
REST = ", wherever it may be. As soon as the depot answers, you will read here when it comes."
WISHES = ("a human please", "quiero hablar con alguien", "can I talk to a real person?", "agente por favor")
LISTS = ("Needs a person", "Mine", "Unassigned", "AI", "Stuck", "Snoozed", "Resolved", "All")


@asynccontextmanager
async def opened(stack: RunningStack, company: str) -> AsyncGenerator[list[ChatClient]]:
    """A company whose forty visitors have written; the first eight have asked for a person."""
    await stack.create_company(
        company,
        aiAutoResponseEnabled=True,
        profile="support",
        responseDelayMs=0,
        handoffTimeoutSeconds=3600,
        assistant={"name": "Nora"},
    )
    async with AsyncExitStack() as closing:
        clients: list[ChatClient] = []
        for number in range(VISITORS):
            page = {"url": f"https://shop.example/{number % 5}", "title": f"Shelf {number % 5}"}
            token, _ = await stack.visitor(company, page=page)
            clients.append(await closing.enter_async_context(ChatClient(stack.url, token)))

        async def arrive(number: int, client: ChatClient) -> None:
            await client.hello()
            await client.ask(ASKED[number % len(ASKED)])
            if number < WAITING:
                await client.say(WISHES[number % len(WISHES)])
                await client.wait_for("owner.changed", lambda f: f["owner"]["kind"] == "waiting")

        # One after the other they wait in this order; the others come as they come.
        for number in range(WAITING):
            await arrive(number, clients[number])
        for start in range(WAITING, VISITORS, 8):
            some = enumerate(clients[start : start + 8], start)
            await asyncio.gather(*(arrive(number, client) for number, client in some))
        yield clients


async def at_desk(visits: Visits, stack: RunningStack, company: str, user: str, **options: object) -> Page:
    page = await visits.open("/console", **options)
    await page.get_by_label("Access token").fill(stack.mint("commercial", user, company))
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    return page


async def in_list(page: Page, name: str) -> None:
    await page.locator(".filters").get_by_role("button", name=re.compile(f"^{name}")).click()


async def shown(page: Page) -> dict[str, int]:
    """What the console says of its lists."""
    counts: dict[str, int] = {}
    for name in LISTS:
        button = page.locator(".filters").get_by_role("button", name=re.compile(f"^{name}"))
        found = re.search(r"\d+", await button.inner_text())
        counts[name] = int(found[0]) if found else 0
    return counts


async def recounted(stack: RunningStack, company: str, user: str) -> dict[str, int]:
    """The same from the conversations, one by one."""
    counts: Counter[str] = Counter(dict.fromkeys(LISTS, 0))
    agent = {"Authorization": f"Bearer {stack.mint('commercial', user, company)}"}
    async with aiohttp.ClientSession(stack.url, headers=agent) as http, http.get("/v2/conversations?limit=100") as said:
        items = (await said.json())["items"]
    names = {
        "needs_human": "Needs a person",
        "ai": "AI",
        "stuck": "Stuck",
        "snoozed": "Snoozed",
        "resolved": "Resolved",
    }
    for item in items:
        counts["All"] += 1
        if item["state"] in names:
            counts[names[item["state"]]] += 1
        if item["state"] not in {"snoozed", "resolved"}:
            counts["Mine"] += item.get("assignee") == user
            counts["Unassigned"] += item.get("assignee") is None
    return dict(counts)


async def counts_are(page: Page, stack: RunningStack, company: str, user: str, expected: dict[str, int]) -> None:
    async def agree() -> bool:
        assert await shown(page) == await recounted(stack, company, user) == expected | {"Stuck": 0, "All": VISITORS}
        return True

    await eventually(agree)


async def reply(page: Page, client: ChatClient, text: str) -> None:
    """Takes the conversation and answers."""
    await row_of(page, client.conversation).click()
    await expect(page.locator(".thread .said").first).to_be_visible()
    await page.get_by_label("Your message").fill(text)
    await page.get_by_role("button", name="Take over and send").click()
    await client.wait_for("message.created", lambda f: f["message"]["text"] == text)


async def test_two_agents_work_a_shift_of_forty_conversations(visits: Visits, stack: RunningStack) -> None:
    company = f"shift-{uuid.uuid4().hex[:8]}"
    async with opened(stack, company) as visitors:
        ana, ben = await asyncio.gather(*(at_desk(visits, stack, company, name) for name in ("ana", "ben")))
        begun = {"Needs a person": WAITING, "Mine": 0, "Unassigned": VISITORS, "AI": 32, "Snoozed": 0, "Resolved": 0}
        await counts_are(ana, stack, company, "ana", begun)
        await in_list(ana, "Needs a person")
        await expect(ana.locator(".talks a")).to_have_count(WAITING)
        waiting = await ana.locator(".talks a").evaluate_all("(rows) => rows.map((row) => row.dataset.id)")
        assert waiting == [visitor.conversation for visitor in visitors[:WAITING]], "who has waited longest is first"

        # Ana keeps a ready reply and answers the first of those who wait with it; Ben answers the second.
        await ana.get_by_role("link", name="Saved replies").click()
        await ana.get_by_label("Shortcut, e.g. refund").fill("parcel")
        await ana.get_by_label("Reply", exact=True).fill(f"I am {{agent}} and look for your parcel{REST}")
        await ana.get_by_role("button", name="Save", exact=True).click()
        await expect(ana.locator(".replies")).to_contain_text("/parcel")
        await ana.get_by_role("link", name="Inbox").click()
        await expect(ana.locator(".talks a")).to_have_count(WAITING)  # the list that she had left
        await row_of(ana, visitors[0].conversation).click()
        await ana.get_by_label("Your message").press_sequentially("/par")
        await expect(ana.locator(".picker").get_by_role("option")).to_be_visible()
        await expect(ana.locator(".thread .notice").last).to_be_in_viewport()  # of the thread, which has less room
        assert await ana.locator(".composer").evaluate("(form) => form.scrollWidth <= form.clientWidth")
        await ana.locator(".picker").get_by_role("option").click()
        await ana.get_by_role("button", name="Take over and send").click()
        told = f"I am ana and look for your parcel{REST}"
        await visitors[0].wait_for("message.created", lambda f: f["message"]["text"] == told)
        await in_list(ben, "Needs a person")
        await expect(row_of(ben, visitors[0].conversation)).to_have_count(0)
        await reply(ben, visitors[1], "Hello, this is Ben")

        # A note asks a colleague, who is told and takes it over after a question; both see it.
        await ana.get_by_role("button", name="Private note").click()
        await ana.get_by_label("Your message").press_sequentially("@be")
        await ana.locator(".picker").get_by_role("option").filter(has_text="ben").click()
        await ana.get_by_label("Your message").press_sequentially("the carrier's number?")
        await ana.get_by_role("button", name="Save note").click()
        await ben.get_by_role("link", name="Mentions").click()
        await ben.get_by_role("link", name="Open the conversation").click()
        await expect(ben.locator(".said.note .text")).to_have_text("@ben the carrier's number?")
        await ben.locator(".thread").focus()
        await ben.keyboard.press("t")
        await ben.get_by_role("dialog").get_by_role("button", name="Take over").click()
        await expect(ana.locator(".thread .notice").last).to_contain_text("ben took over the conversation")
        assert "carrier" not in str(visitors[0].frames)

        # A file for the visitor, the conversation resolved, rated, and opened again by the next message.
        await ben.locator(".composer input[type=file]").set_input_files(
            FilePayload(name="label.txt", mimeType="text/plain", buffer=b"return label")
        )
        await expect(ben.locator(".chosen")).to_contain_text("KB")
        await ben.get_by_label("Your message").fill("Your return label")
        await ben.get_by_role("button", name="Send", exact=True).click()
        # At once: it is resolved behind his words, whenever they are stored.
        await ben.locator(".thread").focus()
        await ben.keyboard.press("e")
        await visitors[0].wait_for("message.created", lambda f: bool(f["message"].get("files")))
        await visitors[0].wait_for("message.created", lambda f: f["message"].get("code") == "RATING_ASKED")
        await visitors[0].send_frame("conversation.rate", score=5, comment="quick")
        await visitors[0].wait_for("conversation.rated", lambda f: f["score"] == 5)
        after = begun | {"Needs a person": 6, "Unassigned": 38, "Resolved": 1}
        await counts_are(ana, stack, company, "ana", after)
        await visitors[0].say("one more thing: the zip")
        await counts_are(ben, stack, company, "ben", after | {"Mine": 2, "Resolved": 0})

        # Found by a word of it, labelled, put off until tomorrow.
        await in_list(ana, "All")
        await ana.get_by_label("Search conversations").fill("canary")
        await expect(ana.locator(".talks a")).to_have_count(VISITORS // len(ASKED))
        await ana.get_by_label("Search conversations").fill("")
        await row_of(ana, visitors[2].conversation).click()
        await ana.get_by_label("Add a label").fill("size")
        await ana.keyboard.press("Enter")
        await expect(row_of(ana, visitors[2].conversation).locator(".chip")).to_have_text("size")
        await ana.get_by_label("Snooze").select_option("tomorrow")
        await expect(row_of(ana, visitors[2].conversation)).to_contain_text("Snoozed")

        # The rest of those who wait, one after the other: answered, resolved, the next.
        await in_list(ana, "Needs a person")
        for number, visitor in enumerate(visitors[3:WAITING]):
            await reply(ana, visitor, f"Done, number {number}")
            await ana.locator(".thread").focus()
            await ana.keyboard.press("e")
            await expect(row_of(ana, visitor.conversation)).to_have_count(0)
        await expect(ana.locator(".talks a")).to_have_count(0)
        done = {"Needs a person": 0, "Mine": 0, "Unassigned": 32, "AI": 32, "Snoozed": 1, "Resolved": 5}
        await counts_are(ana, stack, company, "ana", done)
        await counts_are(ben, stack, company, "ben", done | {"Mine": 2})
