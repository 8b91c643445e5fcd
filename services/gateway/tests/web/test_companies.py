"""/v2/companies: made, listed, changed and deleted, by operators of the installation and by admins."""

from typing import Any

import pytest
from nats.aio.client import Client

from contracts.company_rpc import CompanyRequest
from contracts.knowledge import Run
from contracts.knowledge_rpc import (
    DOCUMENTS,
    OVERVIEW,
    REFRESH,
    DocumentsReply,
    DocumentsRequest,
    KnowledgeOverview,
    RefreshAsk,
    RunReply,
)
from gateway.domain.company_names import id_from_name
from gateway.testing.harness import MemoryStandIn
from gateway.testing.http import Http, assert_problem
from gateway.testing.tokens import TokenMaker
from runtime.calls.rpc import RpcServer

SITE = "https://www.acme.example/start"


@pytest.fixture
async def reading(no_tools: None, nats_client: Client) -> list[RefreshAsk]:
    """Memory reads nothing: no page is there."""
    asked: list[RefreshAsk] = []

    def failed(company: str) -> Run:
        return Run.model_validate(
            {"id": "r1", "companyId": company, "state": "failed", "requestedAt": "2026-01-01T00:00:00Z",
             "problem": "No page could be read: the site does not answer"}
        )  # fmt: skip

    async def refresh(request: RefreshAsk) -> RunReply:
        asked.append(request)
        return RunReply(run=failed(request.company_id))

    async def overview(request: CompanyRequest) -> KnowledgeOverview:
        return KnowledgeOverview(sources=[], last_run=failed(request.company_id))

    async def documents(_: DocumentsRequest) -> DocumentsReply:
        return DocumentsReply(items=[])

    server = RpcServer(nats_client)
    await server.serve(REFRESH, refresh)
    await server.serve(OVERVIEW, overview)
    await server.serve(DOCUMENTS, documents)
    await nats_client.flush()
    return asked


@pytest.mark.usefixtures("settings", "writers")
async def test_an_operator_makes_a_company_and_is_told_what_is_missing(
    http: Http, tokens: TokenMaker, memory: MemoryStandIn, reading: list[RefreshAsk]
) -> None:
    operator = tokens.user("ops", "operator", "-")
    body: dict[str, Any] = {"name": "Clínica del Sol", "site": SITE, "languages": ["es", "en"]}
    status, made, _ = await http("POST", "/v2/companies", token=operator, json=body, headers={"Accept-Language": "en"})
    assert status == 201, made
    assert (made["companyId"], made["profile"], made["pages"]) == ("clinica-del-sol", "support", 0)
    assert 'data-company="clinica-del-sol"' in made["snippet"]
    assert {one["step"] for one in made["missing"]} >= {"pages", "widget"}
    assert "No page could be read: the site does not answer" in [one["message"] for one in made["missing"]]
    assert [(one.company_id, one.url) for one in reading] == [("clinica-del-sol", SITE)]
    # Also whoever looks later is told so.
    _, shown, _ = await http("GET", "/v2/companies/clinica-del-sol", token=operator, headers={"Accept-Language": "en"})
    assert [one for one in shown["missing"] if one["step"] == "pages"] == [
        one for one in made["missing"] if one["step"] == "pages"
    ]
    config = memory.companies["clinica-del-sol"].config
    assert (config.name, config.languages, config.ai_auto_response_enabled) == ("Clínica del Sol", ["es", "en"], True)
    assert config.tool_config.allowed_domains == ["https://www.acme.example"]
    again = await http("POST", "/v2/companies", token=operator, json=body)
    assert_problem(again, 409, "CONFLICT")
    _, page, _ = await http("GET", "/v2/companies?limit=1", token=operator)
    _, rest, _ = await http("GET", f"/v2/companies?cursor={page['next']}", token=operator)
    assert [one["companyId"] for one in [*page["items"], *rest["items"]]] == ["acme", "clinica-del-sol"]


@pytest.mark.usefixtures("settings", "writers", "reading")
async def test_a_site_that_is_none_is_refused_by_the_name_of_its_field(http: Http, tokens: TokenMaker) -> None:
    operator = tokens.user("ops", "operator", "-")
    for site in ("http://www.acme.example", "ftp://acme", "https://", "https://user:pass@acme.example"):
        answer = await http("POST", "/v2/companies", token=operator, json={"name": "Acme 2", "site": site})
        assert_problem(answer, 422, "BAD_FIELD")
        assert [one["field"] for one in answer[1]["errors"]] == ["site"], answer[1]
    answer = await http("POST", "/v2/companies", token=operator, json={"name": "A", "site": SITE, "language": "es"})
    assert_problem(answer, 422, "BAD_FIELD")
    assert answer[1]["errors"] == [{"field": "language", "message": "there is no such field"}]
    answer = await http("POST", "/v2/companies", token=operator, json={"name": "日本", "site": "ftp://acme"})
    assert_problem(answer, 422, "BAD_FIELD")
    assert [one["field"] for one in answer[1]["errors"]] == ["site"], answer[1]


@pytest.mark.usefixtures("settings", "writers", "reading")
@pytest.mark.parametrize(
    ("name", "site", "company", "read"),
    [
        ("日本", "www.acme.example", "acme-example", "https://www.acme.example"),
        ("Acme 2", "localhost:3000", "acme-2", "http://localhost:3000"),
        ("Ελλάδα", "127.0.0.1:3000", "127-0-0-1", "http://127.0.0.1:3000"),
    ],
)
async def test_a_company_has_an_id_and_an_address_however_they_are_written(
    http: Http, tokens: TokenMaker, name: str, site: str, company: str, read: str
) -> None:
    operator = tokens.user("ops", "operator", "-")
    status, made, _ = await http("POST", "/v2/companies", token=operator, json={"name": name, "site": site})
    assert (status, made["companyId"], made["site"]) == (201, company, read), made


@pytest.mark.usefixtures("settings", "writers", "reading")
async def test_a_company_is_shown_changed_and_deleted(http: Http, tokens: TokenMaker, memory: MemoryStandIn) -> None:
    operator = tokens.user("ops", "operator", "-")
    status, shown, headers = await http("GET", "/v2/companies/acme", token=operator)
    assert (status, shown["settings"]["companyId"], headers["etag"]) == (200, "acme", '"1"')
    assert_problem(await http("PATCH", "/v2/companies/acme", token=operator, json={}), 428, "PRECONDITION_REQUIRED")
    patch = {"profile": "support", "toolConfig": {"categories": {"customers": {"market": True}}}}
    _, changed, _ = await http(
        "PATCH", "/v2/companies/acme", token=operator, json=patch, headers={"If-Match": "*", "Accept-Language": "en"}
    )
    assert (changed["profile"], changed["settings"]["profile"]) == ("support", "support")
    warned = {one["field"] for one in changed["settings"]["warnings"]}
    assert "toolConfig.categories.customers" in warned
    assert (await http("DELETE", "/v2/companies/acme", token=operator))[:2] == (200, {"removed": []})
    assert "acme" not in memory.companies
    assert_problem(await http("GET", "/v2/companies/nobody", token=operator), 404, "NOT_FOUND")
    assert_problem(await http("DELETE", "/v2/companies/acme", token=operator), 404, "NOT_FOUND")


@pytest.mark.usefixtures("settings", "writers", "reading")
async def test_an_admin_makes_and_sees_their_own_company_alone(http: Http, tokens: TokenMaker) -> None:
    admin = tokens.user("boss", "admin", "mine")
    answer = await http("POST", "/v2/companies", token=admin, json={"name": "Theirs", "site": SITE})
    assert_problem(answer, 404, "NOT_FOUND")
    assert (await http("POST", "/v2/companies", token=admin, json={"name": "Mine", "site": SITE}))[0] == 201
    _, page, _ = await http("GET", "/v2/companies", token=admin)
    assert [one["companyId"] for one in page["items"]] == ["mine"]


@pytest.mark.parametrize(
    ("name", "company"),
    [
        ("Acme Rockets", "acme-rockets"),
        ("  Ñandú & Hijos, S.L. ", "nandu-hijos-s-l"),
        ("x" * 80, "x" * 64),
        ("日本", ""),
    ],
)
def test_an_id_is_made_of_the_name(name: str, company: str) -> None:
    assert id_from_name(name) == company
