"""widget.js and what it asks of the server before anybody is in the chat."""

import gzip
import re
from typing import Any

import aiohttp
import brotli
import pytest
from nats.aio.client import Client

from contracts import company_rpc
from gateway.domain.close_codes import CloseCode
from gateway.testing.harness import GatewayUnderTest, MemoryStandIn
from gateway.testing.http import Http, assert_problem
from gateway.web.assets import brotli_compressed
from gateway.web.script import LATER_PATH, later_script, widget_script
from gateway.web.words import SITE
from runtime.calls.rpc import RpcServer
from runtime.testing.servers import eventually

MOST_BYTES = 22_000
FOREIGN = "https://shop.example"


def test_what_a_page_loads_at_first_is_small_on_the_wire() -> None:
    assert len(brotli_compressed(widget_script())) <= MOST_BYTES


def test_each_module_of_the_widget_is_in_the_script_and_says_what_it_takes_from_others() -> None:
    assert not re.search(r"^(import|export) ", widget_script().decode(), re.MULTILINE)
    script = (widget_script() + later_script()).decode()
    for module in (SITE / "widget").iterdir():
        source = module.read_text()
        if not module.name.endswith(".js"):
            continue
        for exported in re.findall(r"^export (?:const|function|class|async function) (\w+)", source, re.MULTILINE):
            assert re.search(rf"\b{exported}\b", script), f"{module.name}: {exported}"
        for names, other in re.findall(r'^import \{([^}]*)\} from "\./([a-z0-9]+\.js)";', source, re.MULTILINE):
            if other in {"words.js", "style.js", "later.js"}:
                continue
            target = (SITE / "widget" / other).read_text()
            for name in re.findall(r"\w+", names):
                assert re.search(rf"^export (?:const|function|class|async function) {name}\b", target, re.MULTILINE), (
                    name
                )


def test_every_final_close_code_has_words_of_its_own() -> None:
    chat = (SITE / "widget" / "chat.js").read_text()
    for code in CloseCode:
        if code >= 4500:
            assert f"{int(code)}:" in chat, code


def test_what_the_later_script_takes_of_the_first_is_handed_to_it() -> None:
    first, later = widget_script().decode(), later_script().decode()
    handed, taken = (
        re.search(r"shared=\(\)=>\(\{(.*?)\}\)", first),
        re.match(r"export const beside=\(\{(.*?)\}\)", later),
    )
    assert handed
    assert taken
    assert handed[1].split(",") == taken[1].split(",")
    for name in taken[1].split(","):
        assert re.search(rf"^(?:const|let|function|class|async function) {name}\b", first, re.MULTILINE), name
        assert not re.search(rf"^(?:const|let|function|class|async function) {name}\b", later, re.MULTILINE), name


async def test_the_smallest_form_that_a_browser_takes_is_sent(gateway: GatewayUnderTest) -> None:
    address = re.search(rf'"({LATER_PATH}\?v=\w+)"', widget_script().decode())
    assert address
    script = later_script()
    packed = {"br": brotli_compressed(script), "gzip": gzip.compress(script, 9, mtime=0), None: script}
    forms = {"gzip, deflate, br": "br", "gzip, br;q=0": "gzip", "br;q=0.0,identity": None}
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        for asked, form in forms.items():
            async with session.get(f"{gateway.url}{address[1]}", headers={"Accept-Encoding": asked}) as answer:
                assert (answer.status, answer.headers.get("content-encoding")) == (200, form), asked
                assert "immutable" in answer.headers["cache-control"]
                assert answer.headers["access-control-allow-origin"] == "*"
                assert await answer.read() == packed[form]
    assert brotli.decompress(packed["br"]) == script  # pyright: ignore[reportUnknownMemberType]


async def test_what_a_browser_holds_already_is_not_sent_again(gateway: GatewayUnderTest) -> None:
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        async with session.get(f"{gateway.url}/widget.js", headers={"Accept-Encoding": "gzip"}) as packed:
            assert packed.headers["content-encoding"] == "gzip"
            assert packed.headers["access-control-allow-origin"] == "*"
            assert "max-age" in packed.headers["cache-control"]
            assert gzip.decompress(await packed.read()) == widget_script()
            tag = packed.headers["etag"]
        async with session.get(f"{gateway.url}/widget.js", headers={"Accept-Encoding": "identity"}) as plain:
            assert "content-encoding" not in plain.headers
            assert await plain.read() == widget_script()
        async with session.get(f"{gateway.url}/widget.js", headers={"If-None-Match": tag}) as again:
            assert (again.status, await again.read()) == (304, b"")


@pytest.mark.usefixtures("nats_client")
async def test_a_page_keeps_its_files_for_as_long_as_they_are_the_same(http: Http, memory: MemoryStandIn) -> None:
    _, page, _ = await http("GET", "/pricing")
    styles = re.findall(r'href="(/static/[^"]+\.css\?v=\w+)"', page)
    assert len(styles) == 2
    for address in styles:
        assert "immutable" in (await http("GET", address))[2]["cache-control"]
        assert "immutable" not in (await http("GET", address.partition("?")[0]))[2]["cache-control"]


async def test_any_site_learns_how_the_chat_of_a_company_looks(http: Http, memory: MemoryStandIn) -> None:
    memory.add_company("shop", aiAutoResponseEnabled=True, brandColor="#c2410c")
    status, look, headers = await http("GET", "/widget.json?company=shop", headers={"Origin": FOREIGN})
    silent: dict[str, Any] = {"name": None, "greeting": {}, "suggestions": {}}
    told: dict[str, Any] = {"brandColor": "#c2410c", "ai": True, "allowed": False, "assistant": silent, "proactive": []}
    assert (status, look) == (200, told)
    assert headers["access-control-allow-origin"] == "*"
    memory.add_company(
        "acme",
        aiAutoResponseEnabled=True,
        name="Acme",
        assistant={"greeting": {"en": "Hi!"}, "suggestions": {"en": ["When do you open?"]}},
        proactive=[{"text": "Questions?", "pages": ["/pricing"]}],
    )
    said = {"name": "Acme", "greeting": {"en": "Hi!"}, "suggestions": {"en": ["When do you open?"]}}
    look = (await http("GET", "/widget.json?company=acme"))[1]
    first = [{"text": "Questions?", "pages": ["/pricing"], "afterSeconds": 20, "language": None}]
    assert look == {"brandColor": None, "ai": True, "allowed": True, "assistant": said, "proactive": first}


async def test_a_companys_site_is_seen_also_where_this_server_serves_it(
    http: Http, memory: MemoryStandIn, gateway: GatewayUnderTest, nats_client: Client
) -> None:
    seen: list[tuple[str, str]] = []

    async def note(sighting: company_rpc.SightingNoted) -> company_rpc.SightingsReply:
        seen.append((sighting.company_id, sighting.origin))
        return company_rpc.SightingsReply(items=[])

    await RpcServer(nats_client).serve(company_rpc.SIGHTING_NOTE, note)
    memory.add_company("elsewhere", knowledge={"siteUrl": "https://www.example.com"})
    memory.add_company("demo", knowledge={"siteUrl": f"{gateway.url}/"})
    for company in ("elsewhere", "demo"):
        await http("GET", f"/widget.json?company={company}")  # not by a page
        await http("GET", f"/widget.json?company={company}", headers={"Sec-Fetch-Site": "same-origin"})

    async def noted() -> bool:
        return bool(seen)

    await eventually(noted)
    assert seen == [("demo", gateway.url)]


@pytest.mark.usefixtures("memory")
async def test_a_company_that_is_not_there_looks_like_nothing(http: Http) -> None:
    answer = await http("GET", "/widget.json?company=nobody")
    assert_problem(answer, 404, "NOT_FOUND")
    assert answer[2]["access-control-allow-origin"] == "*"
    assert_problem(await http("GET", "/widget.json?company=No.pe"), 422, "BAD_FIELD")
