"""Documents, files, answers and gaps over HTTP: what is asked of memory, and what is refused before."""

import uuid
from contextlib import AsyncExitStack
from unittest.mock import Mock

import aiohttp
import pytest
from nats.aio.client import Client

from contracts.channels import upload
from contracts.company_rpc import CompanyRequest
from contracts.knowledge_rpc import OVERVIEW, DocumentPut, FilePut, KnowledgeOverview
from gateway.adapters import knowledge as adapter
from gateway.adapters.knowledge import PIECE_BYTES
from gateway.errors import UnavailableError
from gateway.testing.harness import GatewayUnderTest
from gateway.testing.http import Http, assert_problem
from gateway.testing.knowledge import KnowledgeStandIn
from gateway.testing.tokens import TokenMaker
from runtime.bus.direct import DirectReader
from runtime.calls.rpc import RpcServer

pytestmark = pytest.mark.usefixtures("memory")  # what tokens of a team's members are checked against

DOCUMENTS = "/v2/knowledge/documents"


def form(content: bytes, **fields: str) -> aiohttp.FormData:
    data = aiohttp.FormData()
    data.add_field("file", content, filename="prices.pdf", content_type="application/pdf")
    for name, value in fields.items():
        data.add_field(name, value)
    return data


async def test_why_a_site_was_not_read_is_said_in_the_readers_language(
    http: Http, tokens: TokenMaker, nats_client: Client
) -> None:
    problem = "the site does not answer: https://a.example/robots.txt cannot be read. Nothing is changed."
    run = {
        "id": "r1",
        "companyId": "acme",
        "state": "failed",
        "requestedAt": "2026-01-01T00:00:00Z",
        "problem": problem,
        "left": [{"url": "u", "outcome": "skipped", "reason": "noindex", "message": "It leads to /other."}],
    }
    failed = {"id": "d1", "source": "document", "title": "t", "state": "failed", "updatedAt": "2026-01-01T00:00:00Z"}

    async def overview(_: CompanyRequest) -> KnowledgeOverview:
        failures = [{**failed, "problem": "The document holds no text."}]
        return KnowledgeOverview.model_validate({"sources": [], "lastRun": run, "failures": failures})

    await RpcServer(nats_client).serve(OVERVIEW, overview)
    await nats_client.flush()
    token = tokens.user("me", "commercial")
    for headers, said in (({"Accept-Language": "es"}, "el sitio no responde"), ({"Accept-Language": "en"}, problem)):
        _, body, _ = await http("GET", "/v2/knowledge", token=token, headers=headers)
        assert said in body["lastRun"]["problem"]
        spanish = "es" in headers.values()
        assert body["lastRun"]["left"][0]["message"] == ("Lleva a /other." if spanish else "It leads to /other.")
        assert body["failures"][0]["problem"].startswith("El documento" if spanish else "The document")


async def test_a_text_is_handed_to_memory_under_the_callers_company(
    http: Http, tokens: TokenMaker, knowledge: KnowledgeStandIn
) -> None:
    token = tokens.user("me", "admin")
    sent = {"title": "Plans", "text": "# Plans\n\nPro is 29.", "url": "https://a.example/plans", "language": "en-GB"}
    status, body, headers = await http("PUT", f"{DOCUMENTS}/kb-17", token=token, json=sent)
    assert (status, body["title"]) == (200, "Plans")
    (asked,) = knowledge.requests
    assert isinstance(asked, DocumentPut)
    assert (asked.company_id, asked.id, asked.url) == ("acme", "kb-17", "https://a.example/plans")
    assert asked.language == "en"
    status, _, headers = await http("POST", DOCUMENTS, token=token, json={"title": "t", "text": "x"})
    assert (status, headers["location"]) == (201, f"{DOCUMENTS}/k1")


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"title": "t"},
        {"title": "", "text": "x"},
        {"title": "t", "text": "x", "url": "javascript:x"},
        {"title": "t", "text": "x", "colour": 1},
        {"title": "t", "text": "x", "language": "zz-notalang"},
        {"title": "t", "text": "x", "language": "english"},
    ],
)
@pytest.mark.usefixtures("knowledge")
async def test_a_text_that_is_not_as_it_must_be_is_refused_with_the_field(
    http: Http, tokens: TokenMaker, sent: dict[str, object]
) -> None:
    answer = await http("POST", DOCUMENTS, token=tokens.user("me", "admin"), json=sent)
    assert_problem(answer, 422, "BAD_FIELD")
    assert answer[1]["errors"]


@pytest.mark.usefixtures("knowledge")
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_an_id_with_a_slash_is_refused_as_an_id(http: Http, tokens: TokenMaker, method: str) -> None:
    answer = await http(
        method, f"{DOCUMENTS}/a%2Fb", token=tokens.user("me", "admin"), json={"title": "t", "text": "x"}
    )
    assert_problem(answer, 422, "BAD_FIELD")
    assert [error["field"] for error in answer[1]["errors"]] == ["id"]


async def test_a_file_goes_to_the_executors_in_pieces_and_memory_is_told(
    http: Http, tokens: TokenMaker, knowledge: KnowledgeStandIn, nats_client: Client
) -> None:
    content = b"%PDF-" + bytes(range(256)) * 8 * 600
    token = tokens.user("me", "admin")
    status, body, _ = await http("POST", DOCUMENTS, token=token, data=form(content, title="Prices"))
    assert (status, body["state"]) == (202, "reading")
    (asked,) = knowledge.requests
    assert isinstance(asked, FilePut)
    file = asked.file
    assert (file.company_id, file.title, file.filename, file.size) == ("acme", "Prices", "prices.pdf", len(content))
    assert file.pieces == -(-len(content) // PIECE_BYTES) > 1
    stored = await DirectReader(nats_client, "UPLOADS").last_of_each([upload("acme", file.upload_id)])
    assert sum(len(piece.event) for piece in stored) == len(content)


async def test_an_upload_that_finds_no_place_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "UPLOAD_WAIT_SECONDS", 0)
    uploads = adapter.BusKnowledge(Mock(), Mock())
    async with AsyncExitStack() as running:
        for _ in range(adapter.MAX_UPLOADS):
            await running.enter_async_context(uploads.upload_slot())
        with pytest.raises(UnavailableError, match="too many files are arriving"):
            await running.enter_async_context(uploads.upload_slot())
    async with uploads.upload_slot():
        pass


@pytest.mark.usefixtures("knowledge")
@pytest.mark.parametrize(("size", "status"), [(0, 422), (20 * 1024 * 1024 + 1, 413)])
async def test_an_empty_file_and_one_that_is_too_large_are_refused(
    http: Http, tokens: TokenMaker, size: int, status: int
) -> None:
    answer = await http("POST", DOCUMENTS, token=tokens.user("me", "admin"), data=form(b"x" * size))
    assert_problem(answer, status, "BAD_FIELD" if status == 422 else "TOO_LARGE")


@pytest.mark.usefixtures("knowledge")
async def test_a_form_without_a_file_or_cut_short_is_refused(http: Http, tokens: TokenMaker) -> None:
    token, boundary = tokens.user("me", "admin"), uuid.uuid4().hex
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    for body in (b"", b"nonsense", f"--{boundary}\r\nContent-Disp".encode()):
        answer = await http("POST", DOCUMENTS, token=token, data=body, headers=headers)
        assert_problem(answer, 422, "BAD_FIELD")
    assert_problem(
        await http("POST", DOCUMENTS, token=token, data=b"x", headers={"Content-Type": "multipart/form-data"}),
        422,
        "BAD_FIELD",
    )


@pytest.mark.usefixtures("knowledge")
async def test_a_search_says_where_each_passage_stands(http: Http, tokens: TokenMaker) -> None:
    token = tokens.user("me", "commercial")
    status, body, _ = await http("POST", "/v2/knowledge/search", token=token, json={"query": "prices"})
    assert status == 200
    assert {"title", "heading", "text", "score", "readAt"} <= body["results"][0].keys()


@pytest.mark.usefixtures("knowledge")
async def test_reading_is_for_human_agents_and_changing_for_admins(
    http: Http, tokens: TokenMaker, gateway: GatewayUnderTest
) -> None:
    token = tokens.user("me", "commercial")
    status, body, _ = await http("GET", "/v2/knowledge/gaps", token=token)
    assert (status, body["next"], len(body["items"])) == (200, None, 1)
    answer = await http("POST", "/v2/knowledge/gaps/k1", token=token, json={"answer": "yes"})
    assert_problem(answer, 403, "FORBIDDEN")
    status, body, _ = await http(
        "POST", "/v2/knowledge/gaps/k1", token=tokens.user("me", "admin"), json={"answer": "yes"}
    )
    assert (status, body["answer"]["id"]) == (200, "k1")
