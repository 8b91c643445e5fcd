"""The console's words: in the reader's language, to the point, and there also where there is nothing to show."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Route, expect

from tests.browser.console import a_visitor, opened, row_of, signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

CUT = """(places) => [...document.querySelectorAll(places)]
  .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent || one.placeholder)"""
"""What does not fit into its place."""


async def test_reports_and_names_of_companies_fit_into_a_page_of_1280_points_and_a_phones_rail_shows_what_fits(
    visits: Visits,
) -> None:
    page = await visits.open("/console", locale="es-ES")
    await page.get_by_role("button", name="Administrador").click()
    await page.get_by_role("link", name="Informes").click()
    await expect(page.get_by_role("columnheader", name="Preguntas sin respuesta")).to_be_visible()
    assert await page.evaluate(CUT, ".scroll, .who *") == []
    await page.set_viewport_size({"width": 390, "height": 780})
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    for name in ("Bandeja", "Conocimiento", "Informes"):
        await expect(page.get_by_role("link", name=name)).to_be_in_viewport(ratio=1)


async def test_earlier_messages_that_cannot_be_read_are_read_again_by_themselves(
    visits: Visits, stack: RunningStack
) -> None:
    async def away(route: Route) -> None:
        await route.abort()

    async with a_visitor(stack, locale="en") as visitor:
        await visitor.ask("hello")
        page = await signed_in(visits)
        await page.route("**/messages?latest=true*", away)
        await row_of(page, visitor.conversation).click()
        await expect(page.locator(".thread .said")).to_have_count(2)
        await page.locator(".thread").dispatch_event("scroll")
        told = page.locator(".composer .fault")
        await expect(told).to_have_text("This cannot be loaded right now. Trying again…")
        await page.unroute("**/messages?latest=true*")
        await expect(told).to_be_empty()


async def test_a_setting_that_cannot_be_is_told_in_the_readers_language_until_it_is_changed(visits: Visits) -> None:
    page = await visits.open("/console", locale="es-ES")
    await page.get_by_role("button", name="Administrador").click()
    await expect(page.get_by_text("Elige una conversación.")).to_be_visible()
    await page.get_by_role("link", name="Ajustes").click()
    field = page.get_by_label("Temperatura")
    await expect(field).to_be_enabled()
    before = await field.input_value()
    await field.fill("9")
    await page.get_by_role("button", name="Guardar").click()
    fault = page.get_by_text("debe estar entre 0 y 2")
    await expect(fault).to_be_visible()
    await expect(field).to_be_focused()
    await field.fill(before)
    await expect(fault).to_be_hidden()
    await page.get_by_label("¿Se puede leer esta página?").fill("https://evil.example/x")
    await page.get_by_role("button", name="Comprobar").click()
    await expect(page.get_by_text("no es ninguna dirección del sitio")).to_be_visible()


async def test_a_setting_without_effect_says_so_beside_its_field(visits: Visits) -> None:
    page = await visits.open("/console", locale="es-ES")
    await page.get_by_role("button", name="Administrador").click()
    await page.get_by_role("link", name="Ajustes").click()
    tools = page.get_by_label("Herramientas para visitantes")
    await expect(tools).to_be_enabled()
    before = await tools.input_value()
    await tools.fill(f"{before}\nno_such_tool\ncreate_alert")
    await page.get_by_role("button", name="Guardar").click()
    told = page.locator("#setting-toolConfig-enabledTools-warned")
    await expect(told).to_contain_text("No existe la herramienta no_such_tool.")
    await expect(told).to_contain_text("create_alert necesita el plan")
    await tools.fill(before)
    await page.get_by_role("button", name="Guardar").click()
    await expect(told).to_be_hidden()


async def test_the_providers_that_the_agents_list_can_be_chosen_and_the_stored_one_stays(visits: Visits) -> None:
    async def listed(route: Route) -> None:
        example: dict[str, Any] = {"id": "example", "label": "Example Models", "configured": True, "models": []}
        await route.fulfill(json={"providers": [example]})

    page = await visits.open("/console", locale="es-ES")
    await page.route("**/v2/llm/config/providers", listed)
    await page.get_by_role("button", name="Administrador").click()
    await page.get_by_role("link", name="Ajustes").click()
    provider = page.locator("#setting-preferredProvider")
    await expect(provider.locator("option")).to_have_text(["Example Models", "groq"])
    await expect(provider).to_have_value("groq")
    await expect(page.get_by_role("button", name="Guardar")).to_be_disabled()
    await provider.select_option("Example Models")
    await expect(page.get_by_role("button", name="Guardar")).to_be_enabled()


async def test_a_chart_of_nothing_says_so(visits: Visits) -> None:
    async def nothing(route: Route) -> None:
        await route.fulfill(json={"days": [], "complaints": [], "complete": True})

    page = await visits.open("/console", locale="es-ES")
    await page.route("**/v2/insights?*", nothing)
    await page.get_by_role("button", name="Agente").click()
    await page.get_by_role("link", name="Uso").click()
    chart = page.get_by_role("img", name="Conversaciones iniciadas al día: nada en este periodo")
    await expect(chart).to_be_visible()
    await expect(page.get_by_text("el día con más: 0")).to_have_count(0)


@pytest.mark.parametrize(
    ("cost", "tokens", "shown"), [(0, 0, "–"), (0, 700, "Sin precio"), (0.5, 700, "0,50 US$"), (None, 0, "–")]
)
async def test_what_nobody_paid_for_costs_nothing_and_what_has_no_price_is_not_free(
    visits: Visits, cost: float | None, tokens: int, shown: str
) -> None:
    async def told(route: Route) -> None:
        row = {"key": "2026-11-26", "conversations": 2, "promptTokens": tokens, "completionTokens": 0}
        row |= {} if cost is None else {"costPerConversation": cost}
        await route.fulfill(json={"rows": [row], "total": row, "currency": "USD", "complete": True})

    page = await visits.open("/console", locale="es-ES")
    await page.route("**/v2/reports?*", told)
    await page.get_by_role("button", name="Agente").click()
    await page.get_by_role("link", name="Informes").click()
    column = page.get_by_role("columnheader", name="Coste por conversación")
    place = await column.evaluate("(cell) => cell.cellIndex")
    await expect(page.locator("tbody tr").first.locator("th, td").nth(place)).to_have_text(shown)


async def test_an_agents_words_look_alike_on_both_sides_and_a_customers_stay_as_written(
    visits: Visits, stack: RunningStack
) -> None:
    async with a_visitor(stack) as visitor:
        await visitor.say("Is **this** bold?")
        page = await opened(visits, visitor)
        await expect(page.locator(".thread .said.visitor")).to_contain_text("Is **this** bold?")
        await page.get_by_label("Your message").fill("Yes, **this** one: https://a.example/b")
        await page.get_by_role("button", name="Take over and send").click()
        said = page.locator(".thread .said.operator:not(.waiting)")
        await expect(said.locator("strong")).to_have_text("this")
        await expect(said.get_by_role("link")).to_have_attribute("href", "https://a.example/b")
        row = row_of(page, visitor.conversation)
        await expect(row).to_contain_text("Yes, this one:")


async def test_what_is_on_is_seen_without_the_pages_own_colours(visits: Visits) -> None:
    page = await visits.open("/console", forced_colors="active")
    await page.get_by_role("button", name="Admin").click()
    await page.get_by_role("link", name="Settings").click()
    switch = page.get_by_role("switch", name="Suggested replies for agents")
    await expect(switch).to_be_enabled()
    shown: dict[bool, str] = {}
    for _ in range(2):
        await switch.click()
        shown[await switch.is_checked()] = await switch.evaluate("(node) => getComputedStyle(node).backgroundColor")
    assert shown[True] != shown[False]


async def test_settings_that_cannot_be_read_are_not_shown_as_empty_ones(visits: Visits) -> None:
    async def away(route: Route) -> None:
        await route.fulfill(status=503, json={"title": "away", "status": 503, "code": "UNAVAILABLE"})

    page = await visits.open("/console", locale="es-ES")
    await page.route("**/v2/llm/config/demo", away)
    await page.get_by_role("button", name="Administrador").click()
    await page.get_by_role("link", name="Ajustes").click()
    await expect(page.get_by_text("Ahora mismo no se puede cargar. Reintentando…")).to_be_visible()
    await expect(page.get_by_label("Temperatura")).to_be_hidden()
    await page.unroute("**/v2/llm/config/demo")
    await expect(page.get_by_label("Temperatura")).to_be_enabled()
    assert all("503" in complaint for complaint in visits.complaints)
    visits.complaints.clear()


async def test_a_tall_inbox_reads_on_to_its_end_and_who_writes_is_read_whole_beside_a_long_title(
    visits: Visits,
) -> None:
    async def pages(route: Route) -> None:
        page = int(parse_qs(urlsplit(route.request.url).query).get("cursor", ["0"])[0])
        title = "Plans and prices of everything that can be had from Northwind Markets"
        row = {
            "companyId": "demo",
            "state": "ai",
            "owner": {"kind": "ai"},
            "visitor": {
                "id": "carla-martinez-7",
                "page": {"url": "https://a.example/plans", "title": title},
                "visits": 1,
            },
            "messageCount": 1,
            "startedAt": "2026-01-01T00:00:00Z",
        }
        items = [row | {"id": f"c{page}-{number}"} for number in range(10)]
        await route.fulfill(json={"items": items, "next": str(page + 1) if page < 3 else None})

    page = await visits.open("/console", locale="es-ES", size=(1280, 4000))
    await page.route("**/v2/conversations?*", pages)
    await page.get_by_role("button", name="Agente").click()
    # Its end is in sight all the while.
    await expect(page.locator(".talks a")).to_have_count(40)
    await expect(page.get_by_role("button", name="Más", exact=True)).to_be_hidden()
    name = page.locator(".talks .top b").first
    await expect(name).to_have_text("carla-martinez-7")
    assert await name.evaluate("(name) => name.scrollWidth <= name.clientWidth")
