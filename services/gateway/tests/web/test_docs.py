"""/docs: the guide in both languages, a search, and a reference in which every field is described."""

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import pytest
from httpx import ASGITransport, AsyncClient
from starlette.applications import Starlette

from contracts.languages import LANGUAGES, Language
from contracts.schemas import schema_of_frame
from contracts.ws import CLIENT_FRAMES, SERVER_FRAMES
from deploy import documents
from gateway.testing.http import Http
from gateway.web.docs.guide import guide, slugs
from gateway.web.docs.reference import chapters
from gateway.web.docs.routes import docs_routes
from gateway.web.docs.schemas import Schemas
from gateway.web.docs.search import Index
from gateway.web.field_words import complete, examples
from gateway.web.words import SITE

ROOT = Path(__file__).parents[4]
pytestmark = pytest.mark.usefixtures("memory")


@pytest.fixture(scope="module")
def openapi() -> dict[str, Any]:
    return documents.openapi()


def missing(document: Any, place: str = "") -> Iterator[str]:
    """Yields the paths of fields and parameters in a document that have no description."""
    if isinstance(document, list):
        for index, entry in enumerate(cast("list[Any]", document)):
            yield from missing(entry, f"{place}/{index}")
    elif isinstance(document, dict):
        node = cast("dict[str, Any]", document)
        fields = node.get("properties")
        if isinstance(fields, dict):
            for name, field_schema in cast("dict[str, Any]", fields).items():
                if not field_schema.get("description"):
                    yield f"{place}/{name}"
        if "in" in node and "schema" in node and not node.get("description"):
            yield f"{place}/{node['name']}"
        for name, child in node.items():
            yield from missing(child, f"{place}/{name}")


def test_every_field_and_parameter_of_the_interface_is_described(openapi: dict[str, Any]) -> None:
    assert list(missing(openapi)) == [], "say what they mean: Field(description=…), or a line in site/fields.toml"
    broken: dict[str, Any] = {
        "properties": {"colour": {"type": "string"}},
        "parameters": [{"name": "q", "in": "query", "schema": {}}],
    }
    assert [one.rpartition("/")[2] for one in missing(broken)] == ["colour", "q"]


@pytest.mark.parametrize("table", [CLIENT_FRAMES, SERVER_FRAMES], ids=["client", "server"])
def test_every_field_of_a_frame_is_described(table: dict[str, Any]) -> None:
    schemas = {kind: complete(schema_of_frame(kind, model)) for kind, model in table.items()}
    assert list(missing(list(schemas.values()))) == []


def test_what_is_shown_as_an_example_fits_its_schema(openapi: dict[str, Any]) -> None:
    named = openapi["components"]["schemas"]
    schemas = Schemas(named, examples())
    wrong = list[str]()
    for name, schema in named.items():
        whole = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": named}}
        errors = jsonschema_rs.validator_for(whole).iter_errors(schemas.example(schema))
        wrong += [f"{name}: {error.message}" for error in errors]
    assert wrong == []


def test_every_operation_has_its_place_in_the_reference(openapi: dict[str, Any]) -> None:
    shown = [name for chapter in chapters(openapi) for name in chapter.names]
    wanted = [f"{method.upper()} {path}" for path, item in openapi["paths"].items() for method in item]
    frames = [f"client {kind}" for kind in CLIENT_FRAMES] + [f"server {kind}" for kind in SERVER_FRAMES]
    assert sorted(shown) == sorted(wanted + frames)
    whole = next(chapter.body for chapter in chapters(openapi) if chapter.slug == "companies")
    assert "1 to 80 characters" in whole
    assert "up to 60000" in whole or "0 to 60000" in whole


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_link_of_every_page_leads_somewhere(http: Http, language: Language) -> None:
    pages = dict[str, str]()
    waiting = [f"/docs/{language}"]
    links = set[str]()
    while waiting:
        path = waiting.pop()
        status, page, headers = await http("GET", path)
        assert status == 200, path
        if "html" not in headers["content-type"]:
            continue
        pages[path] = page
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        marked_up = re.sub(r"<code.*?</code>", "", page, flags=re.DOTALL)
        assert not re.search(r"<script(?! src=\"/)|style=|src=\"https?:| on\w+=", marked_up)
        assert f'<html lang="{language}"' in page
        for link in re.findall(r'(?:href|src|action)="([^"]*)"', page):
            target, _, anchor = link.partition("#")
            target = target or path
            if target.startswith("/docs/"):
                links |= {f"{target}#{anchor}"} if anchor else set()
                if target.startswith((f"/docs/{language}", "/docs/examples")) and target not in {*pages, *waiting}:
                    waiting.append(target)
            elif not target.startswith("https://www.standardwebhooks.com"):
                assert (await http("GET", target))[0] == 200, f"{path}: {link}"
    assert {page.path for page in guide(language)} <= pages.keys()
    assert len(pages) > 30
    lost = [link for link in links if (at := link.split("#"))[0] in pages and f'id="{at[1]}"' not in pages[at[0]]]
    assert lost == []


async def test_a_page_that_the_browser_has_is_not_sent_again(http: Http) -> None:
    path = f"/docs/en/{slugs()[0]['en']}"
    status, page, headers = await http("GET", path)
    assert (status, "make up" in page) == (200, True)
    assert (await http("GET", path, headers={"If-None-Match": headers["etag"]}))[0] == 304


async def test_chats_go_on_while_the_interfaces_document_is_made() -> None:
    others, loop = threading.Event(), asyncio.get_running_loop()

    def document() -> dict[str, object]:
        loop.call_soon_threadsafe(others.set)
        return {"others went on": others.wait(timeout=60)}

    application = ASGITransport(Starlette(routes=docs_routes(document)))
    async with AsyncClient(transport=application, base_url="http://gateway") as http:
        assert (await http.get("/openapi.json")).json() == {"others went on": True}


async def test_the_interfaces_document_is_made_once(http: Http) -> None:
    status, document, headers = await http("GET", "/openapi.json")
    assert (status, document["openapi"], headers["content-type"]) == (200, "3.1.0", "application/json")
    assert (await http("GET", "/openapi.json", headers={"If-None-Match": headers["etag"]}))[0] == 304


async def test_the_beginning_is_in_the_readers_language(http: Http) -> None:
    for given, title in (("es-MX,en;q=0.5", "La primera respuesta"), ("en-GB", "First answer"), ("fr", "First answer")):
        assert title in (await http("GET", "/docs", headers={"Accept-Language": given}))[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_search_finds_what_a_reader_asks_for(language: Language) -> None:
    wanted = {
        "en": {"wordpress": "WordPress", "Office hours?": "When people are there", "backups": "Keep a copy"},
        "es": {
            "wordpress": "WordPress",
            "horario": "Cuándo hay alguien",
            "boton clinica": "React",
            "copias": "Guarda una copia",
        },
    }[language]
    index = Index([part for page in guide(language) for part in page.sections])
    found = {question: [one.heading for one in index.find(question)] for question in wanted}
    assert [question for question, heading in wanted.items() if heading not in found[question]] == [], found


def test_the_search_finds_paths_and_fields(openapi: dict[str, Any]) -> None:
    index = Index([part for chapter in chapters(openapi) for part in chapter.sections])
    assert index.find("responseDelayMs")
    assert "POST /v2/conversations/{conversationId}/owner" in [one.heading for one in index.find("take over")]


async def test_whatever_is_asked_of_the_search_is_answered(http: Http) -> None:
    for question in ('" OR 1', "NEAR(a b", "*", "<script>alert(1)</script>", "", "a" * 5000, "\x00x", "opening"):
        status, page, headers = await http("GET", "/docs/en/search", params={"q": question})
        assert status == 200, question
        assert "<script>alert" not in page
        assert "form-action 'self'" in headers["content-security-policy"]


async def test_what_is_not_there_is_not_found_in_words(http: Http) -> None:
    for path in ("/docs/fr", "/docs/en/nothing", "/docs/en/api/nothing", "/docs/examples/memory.json"):
        status, body, _ = await http("GET", path)
        assert (status, body["code"]) == (404, "NOT_FOUND"), path


@pytest.mark.parametrize(
    ("shipped", "kept"), [("guide/en", "docs/guide/en"), ("guide/es", "docs/guide/es"), ("client", "clients/widget")]
)
def test_whatever_is_served_of_the_repository_is_in_the_package(shipped: str, kept: str) -> None:
    links = {one.name: one.resolve() for one in Path(str(SITE / shipped)).iterdir()}
    assert links == {one.name: one for one in (ROOT / kept).iterdir()}, f"link each file of {kept} in site/{shipped}"
