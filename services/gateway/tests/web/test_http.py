"""HTTP: visitors' tokens, conversations, problem documents, pages."""

import asyncio
import json
import re
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import jwt
import pytest
from starlette.requests import Request

from gateway.adapters.identity import IdentityKeys
from gateway.adapters.visitor_tokens import RENEWABLE_SECONDS
from gateway.errors import TokenInvalidError
from gateway.settings import GatewaySettings
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn, conversation_view, run_gateway
from gateway.testing.http import Http, assert_problem
from gateway.testing.tokens import TokenMaker
from gateway.web.deps import bearer
from runtime.testing.servers import NatsServer

pytestmark = pytest.mark.usefixtures("memory")


# ---------------------------------------------------------------- visitors


async def test_a_visitors_token_is_a_short_lived_jwt_bound_to_company_and_visitor(http: Http) -> None:
    status, body, _ = await http("POST", "/v2/visitors", json={"companyId": "acme", "page": {"url": "https://a/"}})
    assert status == 201
    claims = jwt.decode(body["token"], options={"verify_signature": False})
    assert (claims["sub"], claims["role"], claims["company"]) == (body["visitorId"], "visitor", "acme")
    expires = datetime.fromisoformat(body["expiresAt"])
    assert 0 < (expires - datetime.now(UTC)).total_seconds() <= 3600
    assert claims["exp"] == expires.timestamp()


@pytest.mark.parametrize("age", [0, 3600 + 10, RENEWABLE_SECONDS])
async def test_with_the_old_token_the_visitor_stays_the_same(http: Http, tokens: TokenMaker, age: int) -> None:
    old = tokens.visitor("v_known", lifetime=3600 - age)
    status, body, _ = await http("POST", "/v2/visitors", token=old, json={"companyId": "acme"})
    assert (status, body["visitorId"]) == (201, "v_known")


async def test_an_old_token_that_is_too_old_foreign_or_no_visitors_is_refused(
    http: Http, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    memory.add_company("other")
    for old in (
        tokens.visitor("v1", lifetime=-RENEWABLE_SECONDS - 60),
        tokens.visitor("v1", company="other"),
        tokens.user("ana", "commercial"),
        "nonsense",
    ):
        headers = {"Origin": "https://shop.example"}
        refused = await http("POST", "/v2/visitors", token=old, headers=headers, json={"companyId": "acme"})
        assert_problem(refused, 401, "UNAUTHORIZED")
        # What the page cannot read it takes for a broken line, and tries for ever.
        assert refused[2]["access-control-allow-origin"] == "https://shop.example"


async def test_only_the_companys_origins_get_a_token(http: Http) -> None:
    allowed = await http("POST", "/v2/visitors", headers={"Origin": "https://shop.example"}, json={"companyId": "acme"})
    assert allowed[0] == 201
    assert allowed[2]["access-control-allow-origin"] == "https://shop.example"
    for origin in ("https://evil.example", "null", "http://shop.example"):
        refused = await http("POST", "/v2/visitors", headers={"Origin": origin}, json={"companyId": "acme"})
        assert_problem(refused, 403, "FORBIDDEN")
        assert "access-control-allow-origin" not in refused[2]


async def test_without_allowed_origins_the_companys_own_domains_are_allowed(http: Http, memory: MemoryStandIn) -> None:
    memory.add_company("shop", toolConfig={"allowedDomains": ["https://www.shop.example"]})
    for origin, status in (("https://www.shop.example", 201), ("https://shop.example", 403)):
        answer = await http("POST", "/v2/visitors", headers={"Origin": origin}, json={"companyId": "shop"})
        assert answer[0] == status


async def test_no_company_no_token(http: Http) -> None:
    assert_problem(await http("POST", "/v2/visitors", json={"companyId": "nobody"}), 404, "NOT_FOUND")


@pytest.mark.parametrize("body", [{}, {"companyId": "A.B"}, {"companyId": "*"}, {"companyId": 7}, [], "text"])
async def test_bad_fields_are_named(http: Http, body: Any) -> None:
    answer = await http("POST", "/v2/visitors", json=body)
    assert_problem(answer, 422, "BAD_FIELD")
    assert answer[1]["errors"][0].keys() == {"field", "message"}


@pytest.mark.parametrize("path", ["/v2/conversations?since=", "/v2/usage?to=", "/v2/reports?from="])
@pytest.mark.parametrize("number", ["0", "2026", "-1", "1795966577"])
async def test_a_number_is_no_date_and_no_time(http: Http, tokens: TokenMaker, path: str, number: str) -> None:
    refused = await http("GET", f"{path}{number}", token=tokens.user("olga", "admin"))
    assert_problem(refused, 422, "BAD_FIELD")
    assert "must be a " in refused[1]["errors"][0]["message"]


@pytest.mark.parametrize("sent_as", ["application/x-www-form-urlencoded", "text/plain"])
async def test_json_that_is_not_sent_as_json_is_told_how_to_be(http: Http, sent_as: str) -> None:
    headers = {"Content-Type": sent_as, "Accept-Language": "es"}
    status, document, _ = await http("POST", "/v2/visitors", headers=headers, data=b'{"companyId": "demo"}')
    assert status == 422
    assert document["errors"] == [
        {"field": "body", "message": "debe ser un objeto JSON: envía Content-Type: application/json"}
    ]


async def test_an_address_gets_a_limited_number_of_tokens(nats_server: NatsServer, identity: IdentityKeys) -> None:
    settings = GatewaySettings(tokens_per_address=2)
    async with run_gateway(nats_server.url, identity, settings) as gateway, aiohttp.ClientSession() as session:
        call = Http(gateway.url, session)
        for _ in range(2):
            assert (await call("POST", "/v2/visitors", json={"companyId": "acme"}))[0] == 201
        refused = await call("POST", "/v2/visitors", json={"companyId": "acme"})
        assert_problem(refused, 429, "RATE_LIMITED")
        assert 0 < int(refused[2]["retry-after"]) <= 61


async def test_while_memory_is_away_the_answer_is_503_and_says_when_to_try_again(
    http: Http, memory: MemoryStandIn
) -> None:
    await memory.stop()
    answer = await http("POST", "/v2/visitors", json={"companyId": "never-seen"})
    assert_problem(answer, 503, "UNAVAILABLE")
    assert int(answer[2]["retry-after"]) > 0


# ---------------------------------------------------------------- conversations


async def talk(gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, *texts: str) -> str:
    """A conversation of the visitor v1 with these messages, which memory knows too."""
    async with ChatClient(gateway.url) as client:
        conversation = (await client.hello(tokens.visitor("v1")))["conversationId"]
        for text in texts:
            await client.say(text)
    memory.known_conversations[conversation] = conversation_view(conversation, "acme", "v1")
    return conversation


READS = ["", "/messages", "/transcript"]


@pytest.mark.parametrize("tail", READS)
async def test_a_conversation_is_for_its_visitor_and_the_companys_human_agents(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, tail: str
) -> None:
    memory.add_company("other")
    path = f"/v2/conversations/{await talk(gateway, tokens, memory, 'hello')}{tail}"
    for token in (tokens.visitor("v1"), tokens.user("ana", "commercial"), tokens.user("root", "admin")):
        assert (await http("GET", path, token=token))[0] == 200
    for token in (
        tokens.visitor("v2"),
        tokens.user("u1"),
        tokens.user("spy", "admin", company="other"),
        tokens.visitor("v1", company="other"),
    ):
        assert_problem(await http("GET", path, token=token), 404, "NOT_FOUND")
    assert_problem(await http("GET", path, token=tokens.user("robot", "service")), 403, "FORBIDDEN")
    tokenless, forged = await http("GET", path), await http("GET", path, token="nonsense")
    assert_problem(tokenless, 401, "UNAUTHORIZED")
    assert_problem(forged, 401, "UNAUTHORIZED")
    challenges = [answer[2]["www-authenticate"] for answer in (tokenless, forged)]
    assert challenges == ["Bearer", 'Bearer error="invalid_token"']


def test_several_tokens_are_none() -> None:
    headers = [(b"authorization", b"Bearer a"), (b"accept", b"*/*"), (b"authorization", b"Bearer b")]
    assert bearer(Request({"type": "http", "headers": headers[:2]})) == "a"
    with pytest.raises(TokenInvalidError):
        bearer(Request({"type": "http", "headers": headers}))


async def test_the_inbox_is_the_companys_for_human_agents_and_ones_own_for_visitors(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    mine = await talk(gateway, tokens, memory, "hello")
    memory.known_conversations["c2"] = conversation_view("c2", "acme", "v2")
    memory.known_conversations["c3"] = conversation_view("c3", "other", "v1")
    _, inbox, _ = await http("GET", "/v2/conversations?state=ai&limit=10", token=tokens.user("ana", "commercial"))
    assert {item["id"] for item in inbox["items"]} == {mine, "c2"}
    assert inbox["items"][0].keys() >= {"companyId", "state", "owner", "visitor", "messageCount", "startedAt"}
    _, own, _ = await http("GET", "/v2/conversations", token=tokens.visitor("v1"))
    assert [item["id"] for item in own["items"]] == [mine]
    bad = await http("GET", "/v2/conversations?state=no-such", token=tokens.user("ana", "commercial"))
    assert_problem(bad, 422, "BAD_FIELD")


async def test_messages_come_in_pages_oldest_first(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    conversation = await talk(gateway, tokens, memory, "a", "b", "c")
    token, path = tokens.visitor("v1"), f"/v2/conversations/{conversation}/messages?limit=2"
    _, first, _ = await http("GET", path, token=token)
    _, second, _ = await http("GET", f"{path}&cursor={first['next']}", token=token)
    assert [item["text"] for item in first["items"] + second["items"]] == ["a", "b", "c"]
    assert second["next"] is None
    assert "principal" not in str(first)


async def test_a_transcript_is_text_or_json_as_asked_for(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    path = f"/v2/conversations/{await talk(gateway, tokens, memory, 'hello', '<b>bye</b>')}/transcript"
    token = tokens.user("ana", "commercial")
    _, text, headers = await http("GET", path, token=token, headers={"Accept": "text/plain"})
    assert headers["content-type"].startswith("text/plain")
    assert re.fullmatch(r"\[[^]]+\] visitor: hello\n\[[^]]+\] visitor: <b>bye</b>\n", text)
    _, document, headers = await http("GET", path, token=token, headers={"Accept": "application/json"})
    assert headers["content-type"] == "application/json"
    assert [message["text"] for message in document["messages"]] == ["hello", "<b>bye</b>"]


async def test_a_human_agents_message_over_http_is_in_the_chat_once(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    conversation = await talk(gateway, tokens, memory, "hello")
    body = {"text": "I am Ana", "clientMessageId": str(uuid.uuid4())}
    path, ana = f"/v2/conversations/{conversation}/messages", tokens.user("ana", "commercial", name="Ana Ruiz")
    async with ChatClient(gateway.url) as client:
        await client.hello(tokens.visitor("v1"), conversationId=conversation)
        status, made, _ = await http("POST", path, token=ana, json=body)
        assert status == 201
        told = (await client.fact(made["seq"]))["message"]
        assert told == made
        assert (made["operatorId"], made["name"]) == ("ana", "Ana Ruiz")
        _, again, _ = await http("POST", path, token=ana, json=body)
        assert again == made
        other = await http("POST", path, token=ana, json=body | {"text": "I am Eva"})
        assert_problem(other, 409, "CONFLICT")
    for token, status, code in ((tokens.visitor("v1"), 403, "FORBIDDEN"), (None, 401, "UNAUTHORIZED")):
        assert_problem(await http("POST", path, token=token, json=body), status, code)
    assert_problem(await http("POST", path, token=ana, json=body | {"text": " "}), 422, "EMPTY_TEXT")
    assert_problem(await http("POST", path, token=ana, json=body | {"text": "x" * 8001}), 422, "BAD_FIELD")
    missing = await http("POST", "/v2/conversations/nobody-knows/messages", token=ana, json=body)
    assert_problem(missing, 404, "NOT_FOUND")


async def test_owner_is_taken_and_released_over_http(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    conversation = await talk(gateway, tokens, memory, "hello")
    path, ana = f"/v2/conversations/{conversation}/owner", tokens.user("ana", "commercial")
    async with ChatClient(gateway.url) as client:
        await client.hello(tokens.visitor("v1"), conversationId=conversation)
        for wanted, owner in (("human", {"kind": "human", "operatorId": "ana"}), ("ai", {"kind": "ai"})):
            status, body, _ = await http("POST", path, token=ana, json={"owner": wanted})
            assert (status, body) == (200, {"owner": owner})
            assert (await client.until("owner.changed"))["owner"] == owner
    assert_problem(await http("POST", path, token=tokens.visitor("v1"), json={"owner": "ai"}), 403, "FORBIDDEN")
    assert_problem(await http("POST", path, token=ana, json={"owner": "me"}), 422, "BAD_FIELD")


@pytest.mark.usefixtures("desk")
async def test_who_is_given_a_conversation_that_a_person_answers_is_the_one_who_answers(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn
) -> None:
    conversation = await talk(gateway, tokens, memory, "hello")
    path, ana = f"/v2/conversations/{conversation}", tokens.user("ana", "commercial")
    ben = {"kind": "human", "operatorId": "ben", "name": "Ben Ortiz"}
    async with ChatClient(gateway.url) as client, ChatClient(gateway.url) as desk:
        await client.hello(tokens.visitor("v1"), conversationId=conversation)
        await desk.hello(tokens.user("ben", "commercial"))
        await desk.send("conversation.watch", conversationId=conversation)
        # Nobody answers in it yet: it is given away, and the AI goes on.
        assert (await http("PATCH", path, token=ana, json={"assignee": "ben"}))[1]["owner"] == {"kind": "ai"}
        await http("POST", f"{path}/owner", token=ana, json={"owner": "human"})
        for told in (client, desk):
            assert (await told.until("owner.changed"))["owner"]["operatorId"] == "ana"
        assert (await http("PATCH", path, token=ana, json={"assignee": "ben"}))[1]["owner"] == ben
        for told in (client, desk):
            assert (await told.until("owner.changed"))["owner"] == ben
        # Nobody's again, it is still whose it is to answer.
        assert (await http("PATCH", path, token=ana, json={"assignee": None}))[0] == 200
        assert (await http("PATCH", path, token=ana, json={"labels": ["vip"]}))[0] == 200


@pytest.mark.parametrize("wanted", ["a.b", "a%20b", "%2A", "%3E", "x" * 65])
async def test_an_id_that_cannot_be_one_is_a_bad_field(http: Http, tokens: TokenMaker, wanted: str) -> None:
    for tail in READS:
        answer = await http("GET", f"/v2/conversations/{wanted}{tail}", token=tokens.user("ana", "commercial"))
        assert_problem(answer, 422, "BAD_FIELD")


# ---------------------------------------------------------------- the rest of the door


async def test_what_is_not_there_is_a_problem_too(http: Http) -> None:
    for method, path, status in (
        ("GET", "/v2/no-such", 404),
        ("PUT", "/v2/knowledge/answers/a/b", 404),
        ("PUT", "/a2a", 405),
    ):
        assert_problem(told := await http(method, path), status, {404: "NOT_FOUND"}.get(status, "METHOD_NOT_ALLOWED"))
        assert f"there is no {method} {path}: GET /openapi.json" in str(told)
    assert_problem(await http("DELETE", "/v2/visitors"), 405, "METHOD_NOT_ALLOWED")
    assert (await http("POST", "/v2/memory"))[2]["allow"] == "DELETE, GET, HEAD, PATCH"


@pytest.mark.parametrize("path", ["/v2/memory", "/v1/responses", "/v2/ui/chat", "/v2/ag-ui", "/docs/en", "/healthz"])
async def test_a_path_with_a_slash_at_its_end_is_not_the_path_without(http: Http, path: str) -> None:
    for method in ("GET", "DELETE", "POST"):
        status, told, headers = await http(method, f"{path}/", allow_redirects=False)
        assert (status, "location" in headers) == (404, False)
        assert f"there is no {method} {path}/: no path ends with a slash" in str(told)


@pytest.mark.parametrize(("path", "page"), [("/console/", "/console"), ("/docs/", "/docs/en")])
async def test_a_page_that_people_open_is_found_with_a_slash_at_its_end(http: Http, path: str, page: str) -> None:
    status, _, headers = await http("GET", path, allow_redirects=False)
    assert (status, headers["location"]) == (307, page)


async def test_head_is_answered_as_get_without_the_content(http: Http, tokens: TokenMaker) -> None:
    token = tokens.user("ana", "admin")
    for path in (
        "/v2/llm/config/acme",
        "/v2/visitors",
        "/openapi.json",
        "/.well-known/agent-card.json",
        "/console",
        "/none",
    ):
        head, got = [await http(method, path, token=token) for method in ("HEAD", "GET")]
        assert (head[0], head[1] or "") == (got[0], "")
        assert head[2].get("content-length") == got[2].get("content-length")
        assert head[2].get("etag") == got[2].get("etag")


async def test_the_openapi_document_names_the_errors_of_a_route(http: Http) -> None:
    _, document, _ = await http("GET", "/openapi.json")
    made = document["paths"]["/v2/visitors"]["post"]["responses"]
    assert set(made) == {"201", "401", "403", "404", "408", "413", "422", "429", "503"}
    assert made["403"] == {"$ref": "#/components/responses/Problem403"}
    assert list(document["components"]["responses"]["Problem403"]["content"]) == ["application/problem+json"]
    status, page, _ = await http("GET", "/docs/en/api")
    assert status == 200
    assert "/v2/conversations/{conversationId}/owner" in page


async def test_the_asyncapi_document_is_the_committed_one(http: Http) -> None:
    status, document, _ = await http("GET", "/asyncapi")
    committed = Path(__file__).parents[4] / "docs/asyncapi/asyncapi.json"
    assert (status, document) == (200, json.loads(committed.read_text()))


async def test_many_requests_at_once_are_all_answered(http: Http) -> None:
    answers = await asyncio.gather(*(http("POST", "/v2/visitors", json={"companyId": "acme"}) for _ in range(50)))
    assert {answer[0] for answer in answers} == {201}
    assert len({answer[1]["visitorId"] for answer in answers}) == 50
