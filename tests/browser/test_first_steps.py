"""A company's first hour in the console, and its chat on pages that change, are late, or are of an older browser."""

import re
import subprocess
import sys
import time
import uuid
from pathlib import Path

import aiohttp
import jwt
import pytest
from playwright.async_api import Page, expect

from memory.testing.openid import SECRET, Account, openid_provider
from nexus_cli.drill.log_reader import read_log
from runtime.testing.servers import eventually
from tests.browser.chat_page import ChatPage
from tests.browser.host_site import host_site
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

GUIDE = Path(__file__).parents[2] / "docs/guide"
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_admin_without_settings_begins_and_sees_the_chat_arrive_on_their_site(
    visits: Visits, stack: RunningStack
) -> None:
    company = f"rockets-{uuid.uuid4().hex[:8]}"
    token = stack.mint("admin", "boss", company)
    async with host_site(stack.url, company) as site:
        page = await visits.open(f"/console#token={token}")
        await expect(page.get_by_role("heading", name="First steps")).to_be_visible()
        assert "token" not in page.url
        await page.get_by_label("Your company's name").fill("Acme Rockets")
        await page.get_by_label("Your site's address").fill(site.origin)
        await page.get_by_role("button", name="Read my site").click()
        await expect(page.get_by_text("Pages read: 1")).to_be_visible()
        await page.get_by_label("Its name").fill("Ada")
        await expect(page.get_by_label("Its greeting (es)")).to_be_visible()
        await page.get_by_label("Languages, yours first").select_option("English")
        await expect(page.get_by_label("Its greeting (es)")).to_be_hidden()
        await page.get_by_label("Its greeting (en)").fill("Ready for lift-off?")
        await expect(page.get_by_label("How it will look")).to_contain_text("Ready for lift-off?")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
        await expect(page.locator("pre")).to_contain_text(f'data-company="{company}"')
        await expect(page.get_by_text("Not seen on your site yet.")).to_be_visible()

        shop = await (await visits.context()).new_page()
        await shop.goto(site.page)
        chat = await ChatPage(shop).open()
        await expect(chat.panel.get_by_role("heading", name="Ada")).to_be_visible()
        await expect(chat.panel).to_contain_text("Ready for lift-off?")
        await chat.ask("¿hola?")
        await expect(chat.answers.locator(".who")).to_have_text("Ada")
        await expect(page.get_by_text(f"Seen on {site.origin}")).to_be_visible()

        # Their server says who is signed in there, with a key of the company's own.
        await page.get_by_role("link", name="Customer keys").click()
        await page.get_by_role("button", name="Create a key").click()
        key = await page.locator("pre.secret").inner_text()
        key_id = await page.locator(".people code").inner_text()
        word = {"sub": "ana-7", "name": "Ana", "aud": company, "exp": int(time.time()) + 1800}
        ana = jwt.encode(word, key, headers={"kid": key_id})
        await shop.evaluate("(token) => Nexus.identify(() => Promise.resolve(token))", ana)
        await chat.ready()
        await chat.ask("hello")
        await page.get_by_role("link", name="Inbox").click()
        await expect(page.locator(".talks a").first).to_contain_text("Ana")
        # A word that is not believed ends in words, not in a wait without end.
        await shop.evaluate("(token) => Nexus.identify(token)", jwt.encode(word, "x" * 40, headers={"kid": key_id}))
        await expect(chat.panel).to_contain_text("Your session has ended.")


async def test_the_parts_of_a_site_are_proposed_while_it_is_read_and_what_is_left_out_stays_out(
    visits: Visits, stack: RunningStack
) -> None:
    company = f"parts-{uuid.uuid4().hex[:8]}"
    token = stack.mint("admin", "boss", company)
    page = await visits.open(f"/console#token={token}")
    await page.get_by_label("Your company's name").fill("Parts")
    await page.get_by_label("Your site's address").fill(stack.url)
    await page.get_by_role("button", name="Read my site").click()
    part = page.get_by_role("checkbox", name="/help")
    await expect(part).to_be_checked()
    await part.uncheck()
    await expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    await page.reload()
    await expect(part).not_to_be_checked()
    # They begin here as long as no page has loaded the chat.
    again = await visits.open(f"/console#token={token}")
    await expect(again.get_by_role("heading", name="First steps")).to_be_visible()
    # A domain that another admin allows meanwhile stays allowed.
    other = "https://other.example"
    address, headers = f"{stack.url}/v2/companies/{company}", {"Authorization": f"Bearer {token}", "If-Match": "*"}
    async with aiohttp.ClientSession(headers=headers, raise_for_status=True) as session:
        await session.patch(address, json={"toolConfig": {"allowedDomains": [stack.url, other]}})
        await page.get_by_role("button", name="Read my site").click()
        await expect(page.get_by_text("Your site is being read")).to_be_visible()
        async with session.get(address) as answer:
            assert (await answer.json())["settings"]["toolConfig"]["allowedDomains"] == [stack.url, other]


async def test_a_tag_without_a_company_is_an_error_of_the_page_and_not_the_demo(
    visits: Visits, stack: RunningStack
) -> None:
    async with host_site(stack.url, "") as site:
        page = await (await visits.context()).new_page()
        await page.goto(site.page)
        await expect(page.get_by_role("heading", name="Shop")).to_be_visible()
        await expect(page.locator("nexus-chat")).to_have_count(0)
    assert [complaint for complaint in visits.complaints if "data-company" in complaint]
    visits.complaints.clear()


async def test_a_pages_rules_for_every_element_stay_outside_the_chat(visits: Visits, stack: RunningStack) -> None:
    rules = "* { color: red !important; font-family: monospace; letter-spacing: 9px; text-transform: uppercase; }"
    tag = f'<script src="{stack.url}/widget.js" data-company="demo" defer></script>'
    shop = await visits.open("/static/icon.svg")
    body = f"<!doctype html><html lang=en><style>{rules}</style><body>{tag}</body></html>"
    await shop.route("**/shop", lambda route: route.fulfill(body=body, content_type="text/html"))
    await shop.goto(f"{stack.url}/shop")
    chat = await ChatPage(shop).open()
    for words in (chat.panel.get_by_text("What would you like to know"), chat.input):
        found = await words.evaluate(
            "(node, names) => names.map((name) => getComputedStyle(node)[name])",
            ["color", "fontFamily", "letterSpacing", "textTransform"],
        )
        assert [found[0] != "rgb(255, 0, 0)", found[2] != "9px"] == [True, True]
        assert (found[1].split(",")[0], found[3]) == ("Inter", "none")


async def test_a_page_has_the_chat_of_its_first_tag(visits: Visits) -> None:
    page = await visits.open("/help")
    begun = await page.evaluate_handle("window.Nexus")
    again = """(company) => new Promise((done, failed) => {
      const script = document.createElement("script");
      Object.assign(script, { src: "/widget.js", onload: done, onerror: failed }).dataset.company = company;
      document.body.append(script);
    })"""
    await page.evaluate(again, "demo")
    assert visits.complaints == []
    await page.evaluate(again, "another")
    await eventually(lambda: "another company's chat" in str(visits.complaints))
    visits.complaints.clear()
    assert await page.evaluate("(begun) => begun === window.Nexus", begun)
    await ChatPage(page).open()


async def test_calls_from_before_the_script_count(visits: Visits) -> None:
    context = await visits.context()
    await context.add_init_script("window.Nexus = { q: [['on', 'open', () => { window.heard = true; }], ['open']] };")
    page = await context.new_page()
    await page.goto(f"{visits.url}/help")
    await expect(ChatPage(page).panel).to_be_visible()
    assert await eventually(lambda: page.evaluate("window.heard"))


@pytest.mark.parametrize("page", ["en/on-your-page.md", "es/en-tu-pagina.md"])
async def test_the_guides_snippets_put_the_chat_on_a_page(visits: Visits, stack: RunningStack, page: str) -> None:
    text = (GUIDE / page).read_text()
    tag, stub = re.findall(r"```html\n(.*?)\n```", text, re.DOTALL)
    (calls,) = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
    tag = re.sub(r'data-company="[^"]*"', 'data-company="demo"', tag).replace("http://127.0.0.1:8080", stack.url)
    shop = await visits.open("/static/icon.svg")
    body = f"<!doctype html><html lang=en><body>{stub}<script>{calls}</script>{tag}</body></html>"
    await shop.route("**/shop", lambda route: route.fulfill(body=body, content_type="text/html"))
    await shop.goto(f"{stack.url}/shop")
    await expect(ChatPage(shop).panel).to_be_visible()


async def test_a_page_that_changes_without_loading_is_noticed_and_keeps_its_chat(
    visits: Visits, stack: RunningStack
) -> None:
    page = await visits.open("/help")
    chat = await ChatPage(page).open()
    await page.evaluate("history.pushState({}, '', '/rockets/7'); document.title = 'Rocket 7'")
    await _asked(page, chat, "hello", 1)
    await page.evaluate("Nexus.page({ url: '/basket', title: 'Basket' })")
    await _asked(page, chat, "hello again", 2)
    await page.evaluate("history.pushState({}, '', '/rockets/8'); document.title = 'Rocket 8'")
    await _asked(page, chat, "and hello", 3)
    key = await page.evaluate("Object.keys(localStorage).find((one) => one.endsWith('visitor:conversation'))")
    conversation = await page.evaluate("(key) => JSON.parse(localStorage.getItem(key))", key)
    facts = await read_log(stack.facts()["urls"]["nats"], "demo", conversation)
    pages = [fact.data["page"] for fact in facts if fact.data.get("clientMessageId")]
    wanted = [("/rockets/7", "Rocket 7"), ("/basket", "Basket"), ("/rockets/8", "Rocket 8")]
    assert pages == [{"url": f"{stack.url}{path}", "title": title} for path, title in wanted]

    await page.evaluate("document.body = document.createElement('body')")
    await expect(page.locator("nexus-chat")).to_have_count(1)
    await expect(chat.panel).to_be_visible()


async def _asked(page: Page, chat: ChatPage, text: str, answers: int) -> None:
    await page.evaluate("(text) => Nexus.send(text)", text)
    await expect(chat.answers.nth(answers - 1).locator("time")).to_be_visible()


async def test_a_browser_without_light_dark_shows_a_chat_in_plain_colours(visits: Visits) -> None:
    context = await visits.context()
    await context.add_init_script("CSS.supports = () => false;")
    page = await context.new_page()
    await page.goto(f"{visits.url}/help")
    chat = await ChatPage(page).open()
    sheet = "document.querySelector('nexus-chat').shadowRoot.adoptedStyleSheets[0]"
    worn = f"[...{sheet}.cssRules].map((rule) => rule.cssText)"
    await eventually(lambda: page.evaluate(f"{worn}.join().includes('.thumbs')"))  # of what comes when a chat is opened
    assert [rule for rule in await page.evaluate(worn) if "light-dark" in rule] == []
    await expect(chat.panel).to_have_css("background-color", "rgb(255, 255, 255)")
    await page.evaluate("Nexus.theme('dark')")
    await expect(chat.panel).to_have_css("background-color", "rgb(19, 26, 24)")
    await page.emulate_media(media="print")
    await expect(chat.panel).to_be_hidden()


async def test_a_team_comes_in_by_its_own_accounts_and_whoever_leaves_is_out_at_once(
    visits: Visits, stack: RunningStack
) -> None:
    company = f"team-{uuid.uuid4().hex[:8]}"
    await stack.create_company(company, aiAutoResponseEnabled=True)
    async with openid_provider(f"{stack.url}/console") as provider:
        boss = await visits.open(f"/console#token={stack.mint('admin', 'boss', company)}")
        await boss.get_by_role("link", name="Team").click()
        await expect(boss.get_by_text(f"{stack.url}/console", exact=True)).to_be_visible()
        for label, value in (
            ("Provider's address (issuer)", provider.issuer),
            ("Client id", provider.client_id),
            ("Client secret", SECRET),
        ):
            await boss.get_by_label(label).fill(value)
        issuer, save = boss.get_by_label("Provider's address (issuer)"), boss.get_by_role("button", name="Save")
        await issuer.fill("http://127.0.0.1:9")
        await save.click()
        await expect(boss.get_by_role("status").filter(has_text="nobody can sign in with it yet")).to_be_visible()
        visits.complaints.clear()  # the browser's, of the answer that nobody is there
        await issuer.fill(provider.issuer)
        await save.click()
        await expect(boss.get_by_role("status").filter(has_text="Your team can sign in")).to_be_visible()
        await boss.get_by_label("Name", exact=True).fill("Bea")
        await boss.get_by_label("E-mail", exact=True).fill("bea@acme.example")
        await boss.get_by_role("button", name="Invite", exact=True).click()
        link = await boss.locator("pre code", has_text="#invite=").text_content()
        await expect(boss.get_by_text("Send this link to Bea.")).to_be_visible()

        # By the e-mail that her provider has checked, from the door; a stranger there is told what to do.
        provider.account = Account("sub-bea", "bea@acme.example")
        hers = await visits.open(f"/console?company={company}")
        await hers.get_by_role("button", name="Continue with your company's account").click()
        await expect(hers.get_by_role("heading", name="Inbox")).to_be_visible()
        assert "code=" not in hers.url
        provider.account = Account("sub-stranger", "stranger@acme.example")
        stranger = await visits.open(f"/console?company={company}")
        await stranger.get_by_role("button", name="Continue with your company's account").click()
        await expect(stranger.get_by_text("Ask an admin for an invitation")).to_be_visible()
        await expect(stranger.get_by_label("Company")).to_have_value(company)

        # By the link, with an account whose e-mail nobody knows here.
        provider.account = Account("sub-bea-too")
        other = await visits.open(str(link).removeprefix(stack.url))
        await expect(other.get_by_text(f"invited to the team of {company}")).to_be_visible()
        await other.get_by_role("button", name="Accept the invitation").click()
        await expect(other.get_by_role("heading", name="Inbox")).to_be_visible()

        await boss.reload()
        await expect(boss.get_by_text("has joined")).to_be_visible()
        await boss.get_by_role("button", name="Remove").click()
        await boss.get_by_role("button", name="Remove Bea?").click()
        for page in (hers, other):
            await expect(page.get_by_text("Your session has ended")).to_be_visible()
            await expect(page.get_by_role("heading", name="Inbox")).to_have_count(0)


async def test_a_key_for_customers_is_made_shown_once_used_and_revoked(visits: Visits, stack: RunningStack) -> None:
    company = f"keys-{uuid.uuid4().hex[:8]}"
    await stack.create_company(company, aiAutoResponseEnabled=True)
    page = await visits.open(f"/console#token={stack.mint('admin', 'boss', company)}")
    await page.get_by_role("link", name="Customer keys").click()
    await page.get_by_label("Name of the new key").fill(" Tienda España, 2 ")
    await page.get_by_role("button", name="Create a key").click()
    await expect(page.locator(".people code")).to_have_text("Tienda-Espana-2")
    secret = str(await page.locator("pre.secret").text_content())
    await page.get_by_label("Language").select_option("Python")
    sample = str(await page.locator("pre", has_text="urlsafe_b64encode").text_content())
    signed = subprocess.run(
        [sys.executable, "-c", sample], env={"NEXUS_KEY": secret}, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert (await stack.visitor(company, identity=signed))[1] == "ana-7"
    await page.reload()
    await expect(page.get_by_role("button", name="Create the next key")).to_be_visible()
    assert secret not in await page.content()
    await page.get_by_role("button", name="Revoke").click()
    await page.get_by_role("button", name="Revoke it?").click()
    await expect(page.get_by_text("There is no key yet.")).to_be_visible()
    with pytest.raises(AssertionError, match="UNAUTHORIZED"):
        await stack.visitor(company, identity=signed)
