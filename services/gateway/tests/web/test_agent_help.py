"""/v2/llm/suggestions and /v2/llm/improve."""

import uuid

import pytest

from contracts.errors import ErrorCode
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn
from gateway.testing.http import Http, assert_problem
from gateway.testing.services import WritersStandIn
from gateway.testing.tokens import TokenMaker
from runtime.errors import RpcError

pytestmark = pytest.mark.usefixtures("memory")


@pytest.fixture
async def conversation(gateway: GatewayUnderTest, tokens: TokenMaker) -> str:
    """A visitor's conversation with one message."""
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor:
        await visitor.say("hello", clientMessageId=str(uuid.uuid4()))
        return visitor.conversation


@pytest.mark.parametrize("role", ["commercial", "admin"])
async def test_three_suggestions_for_a_conversation_of_the_company(
    http: Http, tokens: TokenMaker, writers: WritersStandIn, conversation: str, role: str
) -> None:
    asked = {"conversationId": conversation}
    status, body, _ = await http("POST", "/v2/llm/suggestions", token=tokens.user("ana", role), json=asked)
    assert (status, body) == (200, {"suggestions": ["one", "two", "three"], "model": "scripted"})
    (request,) = writers.suggested
    assert (request.company_id, request.conversation_id) == ("acme", conversation)


async def test_suggestions_that_are_off_are_forbidden(
    http: Http, tokens: TokenMaker, writers: WritersStandIn, conversation: str, memory: MemoryStandIn
) -> None:
    memory.add_company("quiet", aiSuggestionsEnabled=False)
    ana = tokens.user("ana", "commercial", company="quiet")
    refused = await http("POST", "/v2/llm/suggestions", token=ana, json={"conversationId": conversation})
    assert_problem(refused, 403, "FORBIDDEN")
    assert writers.suggested == []


async def test_a_conversation_of_another_company_is_not_found(
    http: Http, tokens: TokenMaker, writers: WritersStandIn, conversation: str, memory: MemoryStandIn
) -> None:
    memory.add_company("other")
    eve = tokens.user("eve", "admin", company="other")
    for path, body in (("suggestions", {}), ("improve", {"text": "hi"})):
        asked = {**body, "conversationId": conversation}
        assert_problem(await http("POST", f"/v2/llm/{path}", token=eve, json=asked), 404, "NOT_FOUND")
    assert writers.suggested == []
    assert writers.improved == []


async def test_a_draft_is_improved(http: Http, tokens: TokenMaker, writers: WritersStandIn, conversation: str) -> None:
    ana = tokens.user("ana", "commercial")
    draft = {"text": "we open at 9", "tone": "friendly", "locale": "en", "conversationId": conversation}
    status, body, _ = await http("POST", "/v2/llm/improve", token=ana, json=draft)
    assert (status, body) == (200, {"text": "WE OPEN AT 9", "model": "scripted"})
    assert writers.improved[0].to_wire() == {"companyId": "acme", **draft}


async def test_an_empty_or_too_long_draft_is_refused(http: Http, tokens: TokenMaker) -> None:
    ana = tokens.user("ana", "commercial")
    for text, code in (("", "BAD_FIELD"), (" \n", "EMPTY_TEXT"), ("x" * 8001, "BAD_FIELD")):
        assert_problem(await http("POST", "/v2/llm/improve", token=ana, json={"text": text}), 422, code)


async def test_a_spent_budget_and_models_that_do_not_answer_are_told_apart(
    http: Http, tokens: TokenMaker, writers: WritersStandIn
) -> None:
    ana = tokens.user("ana", "commercial")
    for code, status, told in (
        (ErrorCode.RATE_LIMITED, 429, "RATE_LIMITED"),
        (ErrorCode.UNAVAILABLE, 503, "UNAVAILABLE"),
        (ErrorCode.INTERNAL, 503, "UNAVAILABLE"),
    ):
        writers.error = RpcError(code, "the budget of the day is spent")
        refused = await http("POST", "/v2/llm/improve", token=ana, json={"text": "hi"})
        assert_problem(refused, status, told)
        assert int(refused[2]["retry-after"]) > 0
