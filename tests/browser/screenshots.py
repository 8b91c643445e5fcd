"""python -m tests.browser.screenshots: takes the pictures in docs/screenshots on a new stack (`make screenshots`).

Each page in light and dark, wide and narrow, and the chat with everything an answer can show. The model is scripted;
prices, orders and pages are the product's.
"""

import asyncio
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright, expect

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from tests.browser.visits import Scheme, Visits
from tests.support.chromium import chromium
from tests.support.running_stack import RunningStack

OUT = Path(__file__).parents[2] / "docs" / "screenshots"
SIZES: dict[str, tuple[int, int]] = {"wide": (1280, 800), "narrow": (390, 780)}
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
PAGES = {"home": "/", "pricing": "/pricing", "help": "/help", "guide": "/guide"}

CUSTOMERS = ("ana-ruiz", "ben-cole", "carla-marin", "dev-patel")

PLAN = ScriptedReply(text="The **Pro** plan costs 29 USD per month, or 290 USD per year. The first 14 days are free.")
TREND = ScriptedReply(
    text="Over the last 60 sessions IBM ended **about where it began**:\n\n"
    "- it fell to 182 in July\n- it came back to 202 in August and has given up some of that since\n\n"
    "This is not financial advice."
)
ORDER = ScriptedReply(text="Here is the ticket. Nothing happens until you confirm it.")


def _calling(tool: str, **arguments: object) -> ScriptedReply:
    return ScriptedReply(tool_calls=[ScriptedCall(name=tool, arguments=arguments)])


def _script(model: ScriptedModel) -> None:
    bars = _calling("get_ohlcv", symbol="IBM", timeframe="1d", limit=60)
    order = _calling("create_paper_order", symbol="IBM", side="buy", quantity=3, order_type="market")
    page = _calling("fetch_page", path="/pricing")
    model.say(
        Rule(match="Pro plan", replies=[page, PLAN], again=True),
        Rule(match="IBM done", replies=[bars, TREND], again=True),
        Rule(match="Lima", replies=[ScriptedReply(status=503)], again=True),
        Rule(match="Buy 3", replies=[order, ORDER], again=True),
    )


async def _pages(visits: Visits) -> None:
    for name, path in PAGES.items():
        for scheme in SCHEMES:
            for width, size in SIZES.items():
                page = await visits.open(path, scheme=scheme, size=size)
                await _take(page, f"{name}-{scheme}-{width}")
                await page.close()


async def _chats(visits: Visits, stack: RunningStack) -> None:
    customers = iter(CUSTOMERS)
    for scheme in SCHEMES:
        for width, size in SIZES.items():
            token = stack.mint("user", next(customers), plan="premium")
            chat = await visits.chat("/pricing", token=token, scheme=scheme, size=size)
            page = chat.page
            await _take(page, f"chat-begins-{scheme}-{width}")
            await chat.ask("What does the Pro plan cost?")
            await chat.ask("How has IBM done since spring?")
            await _take(page, f"chat-{scheme}-{width}")
            await chat.ask("Buy 3 shares of IBM")
            await expect(chat.panel.get_by_role("button", name="Confirm")).to_be_visible()
            await _take(page, f"chat-order-{scheme}-{width}")
            await page.close()


async def _console(visits: Visits) -> None:
    """Runs after the chats, so that the inbox holds their conversations and one that the model could not answer."""
    chat = await visits.chat("/help")
    await chat.say("Do you have an office in Lima?")
    await expect(chat.panel.get_by_text("the model is not available")).to_be_visible()
    for scheme in SCHEMES:
        for width, size in SIZES.items():
            page = await visits.open("/console", scheme=scheme, size=size)
            await page.get_by_role("button", name="Admin").click()
            talk = page.locator(".talks a", has_text="Here is the ticket").first
            await expect(talk).to_be_visible()
            await _take(page, f"console-inbox-{scheme}-{width}")
            await talk.click()
            await expect(page.locator(".thread .said").last).to_be_visible()
            await expect(page.locator(".head h1")).not_to_have_text("…")
            await _take(page, f"console-conversation-{scheme}-{width}")
            for view in ("Failed answers", "Usage", "Settings"):
                await page.goto(f"{visits.url}/console")
                await page.get_by_role("link", name=view).click()
                await expect(page.get_by_role("heading", name=view).first).to_be_visible()
                await page.wait_for_load_state("networkidle")
                await page.evaluate("document.querySelectorAll('*').forEach((node) => { node.scrollTop = 0; })")
                await _take(page, f"console-{view.split()[0].lower()}-{scheme}-{width}")
            await page.close()


async def _take(page: Page, name: str) -> None:
    # The caret blinks: hidden, two runs give the same picture.
    await page.screenshot(path=OUT / f"{name}.png", caret="hide", animations="disabled")


async def take(browser: Browser, model: ScriptedModel, data: Path) -> None:
    """Starts a stack on `data` and takes all pictures."""
    _script(model)
    with RunningStack(data, model.environment) as stack:
        visits = Visits(browser, stack.url)
        await _pages(visits)
        await _chats(visits, stack)
        await _console(visits)
        await visits.end()


async def main() -> None:
    """Takes all pictures again."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with scripted_model() as model, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            await take(browser, model, Path(folder))
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
