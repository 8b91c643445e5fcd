"""Who may do what: every operation of the OpenAPI document, by every role, in their own and in a foreign company."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from nats.aio.client import Client

from contracts.ids import turn_id
from contracts.memory_rpc import LongTermMemory
from deploy.documents import openapi
from gateway.testing.harness import AgentStandIn, ChatClient, GatewayUnderTest, MemoryStandIn, conversation_view
from gateway.testing.http import Http, assert_problem
from gateway.testing.knowledge import NAME as KNOWN
from gateway.testing.records import RecordsStandIn
from gateway.testing.tokens import TokenMaker

SECRET = "known-to-acme-alone"
BASIS = 1
"""Of the one answer in each conversation."""
OPERATORS = frozenset({"commercial", "admin"})
CUSTOMERS = frozenset({"user", "service"})
ADMIN = frozenset({"admin"})
SELF = frozenset({"visitor", "user", "service"})
WRITERS = frozenset({"visitor", "user"})
PEOPLE = frozenset({"visitor", "user", "commercial", "admin"})
UNASKED = {
    "id": "m",
    "role": "assistant",
    "parts": [{"type": "dynamic-tool", "state": "approval-responded", "approval": {"id": "a1", "approved": True}}],
}
ROLES = ("visitor", "user", "commercial", "admin", "service", "operator")
FOUNDERS = frozenset({"admin", "operator"})


@dataclass(frozen=True)
class Rule:
    """Who may, and what comes of it: `own` in their company; `foreign`: with what belongs to another one."""

    roles: frozenset[str]
    own: int = 200
    foreign: int | None = None
    """None: the operation names nothing that could be another company's."""
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


CONVERSATION = "/v2/conversations/{conversationId}"
RULES: dict[tuple[str, str], Rule] = {
    ("GET", "/v2/conversations"): Rule(PEOPLE),
    ("POST", "/v2/conversations"): Rule(WRITERS, own=201, body={}),
    ("GET", "/v2/conversations/counts"): Rule(OPERATORS),
    ("GET", CONVERSATION): Rule(PEOPLE, foreign=404),
    ("PATCH", CONVERSATION): Rule(OPERATORS, foreign=404, body={"state": "resolved"}),
    ("GET", f"{CONVERSATION}/notes"): Rule(OPERATORS, foreign=404),
    ("POST", f"{CONVERSATION}/notes"): Rule(OPERATORS, own=201, foreign=404, body={"text": "hi"}),
    ("POST", "/v2/visitors/{visitorId}/merge"): Rule(OPERATORS, body={"into": "eva"}),
    ("DELETE", "/v2/visitors/{visitorId}/merge"): Rule(OPERATORS),
    ("GET", "/v2/colleagues"): Rule(OPERATORS),
    ("GET", "/v2/notes/named"): Rule(OPERATORS),
    ("PUT", "/v2/notes/named"): Rule(OPERATORS, own=204, body={"seenUpTo": "2026-03-02T09:00:00Z"}),
    ("GET", "/v2/replies"): Rule(OPERATORS),
    ("PUT", "/v2/replies/{shortcut}"): Rule(OPERATORS, body={"text": "hi"}),
    ("DELETE", "/v2/replies/{shortcut}"): Rule(OPERATORS, own=204),
    ("GET", f"{CONVERSATION}/messages"): Rule(PEOPLE, foreign=404),
    ("GET", f"{CONVERSATION}/transcript"): Rule(PEOPLE, foreign=404),
    ("POST", f"{CONVERSATION}/messages"): Rule(
        OPERATORS, own=201, foreign=404, body={"text": "hi", "clientMessageId": str(uuid.uuid4())}
    ),
    ("POST", f"{CONVERSATION}/files"): Rule(PEOPLE, own=201, foreign=404, body={}),
    # Nobody has sent it; whose a file is, is tried in test_files.
    ("GET", f"{CONVERSATION}/files/{{fileId}}"): Rule(PEOPLE, own=404, foreign=404),
    ("GET", f"{CONVERSATION}/files/{{fileId}}/link"): Rule(PEOPLE, foreign=404),
    ("POST", f"{CONVERSATION}/owner"): Rule(OPERATORS, foreign=404, body={"owner": "human"}),
    # Nobody but its own user decides an action: here it is nobody's.
    ("POST", f"{CONVERSATION}/actions/{{actionId}}"): Rule(PEOPLE, own=404, foreign=404, body={"decision": "confirm"}),
    ("POST", "/v2/llm/suggestions"): Rule(OPERATORS, foreign=404, body={"conversationId": "{conversationId}"}),
    ("POST", "/v2/llm/improve"): Rule(
        OPERATORS, foreign=404, body={"text": "hi", "conversationId": "{conversationId}"}
    ),
    ("POST", "/v2/llm/config"): Rule(frozenset({"admin"}), own=409, foreign=404, body={"companyId": "acme"}),
    ("GET", "/v2/llm/config/providers"): Rule(frozenset({"admin"})),
    ("GET", "/v2/llm/config/{companyId}"): Rule(frozenset({"admin"}), foreign=404),
    ("PATCH", "/v2/llm/config/{companyId}"): Rule(
        frozenset({"admin"}), foreign=404, body={"temperature": 1}, headers={"If-Match": "*"}
    ),
    ("POST", "/v2/llm/config/{companyId}/prompt"): Rule(frozenset({"admin"}), foreign=404, body={}),
    ("POST", "/v2/llm/config/{companyId}/sandbox"): Rule(frozenset({"admin"}), foreign=404, body={"question": "hi"}),
    ("POST", "/v2/llm/config/{companyId}/person-check"): Rule(frozenset({"admin"}), foreign=404, body={"text": "hi"}),
    ("POST", "/v2/llm/config/{companyId}/site-check"): Rule(frozenset({"admin"}), foreign=404, body={"address": "/x"}),
    ("GET", f"{CONVERSATION}/turns/{{turnId}}"): Rule(OPERATORS, foreign=404),
    ("POST", f"{CONVERSATION}/turns/{{turnId}}/replay"): Rule(ADMIN, foreign=404, body={"model": "offline"}),
    ("GET", f"{CONVERSATION}/turns/{{turnId}}/case"): Rule(ADMIN, foreign=404),
    ("GET", "/v2/turns/failed"): Rule(OPERATORS),
    # Nothing has failed here: what is another company's is not even looked at.
    ("POST", "/v2/turns/failed/{turnId}/replay"): Rule(
        frozenset({"admin"}), own=409, foreign=404, body={"conversationId": "{conversationId}"}
    ),
    # Whoever runs the installation has no company: theirs is every one (see test_companies).
    ("POST", "/v2/companies"): Rule(FOUNDERS, own=409, foreign=404, body={"name": "acme", "site": "https://acme.com"}),
    ("GET", "/v2/companies"): Rule(FOUNDERS),
    ("GET", "/v2/companies/{companyId}"): Rule(FOUNDERS, foreign=404),
    ("PATCH", "/v2/companies/{companyId}"): Rule(
        FOUNDERS, foreign=404, body={"temperature": 1}, headers={"If-Match": "*"}
    ),
    ("POST", "/v2/companies/{companyId}/tool-check"): Rule(FOUNDERS, foreign=404, body={"tool": "order_status"}),
    ("POST", "/v2/companies/{companyId}/model-check"): Rule(
        FOUNDERS, foreign=404, body={"settings": {"ownModel": {"address": "https://m.example/v1", "model": "m"}}}
    ),
    ("POST", "/v2/companies/{companyId}/mcp-tools"): Rule(FOUNDERS, foreign=404, body={"server": "crm"}),
    ("GET", "/v2/usage"): Rule(frozenset({"admin"})),
    ("GET", "/v2/insights"): Rule(OPERATORS),
    ("GET", "/v2/reports"): Rule(OPERATORS),
    ("GET", "/v2/reports/conversations"): Rule(OPERATORS),
    ("GET", f"{CONVERSATION}/rating"): Rule(PEOPLE, foreign=404),
    ("PUT", f"{CONVERSATION}/rating"): Rule(WRITERS, foreign=404, body={"score": 5}),
    ("GET", "/v2/tools"): Rule(CUSTOMERS),
    ("POST", "/v2/tools/{name}"): Rule(CUSTOMERS, own=404, body={"arguments": {}}),
    ("POST", "/v2/analysis"): Rule(CUSTOMERS, own=202, body={"query": "How has IBM done?"}),
    # Nobody's: what is another user's is tried in test_analysis.
    ("GET", "/v2/analysis/{analysisId}"): Rule(CUSTOMERS, own=404),
    ("GET", "/v2/memory"): Rule(CUSTOMERS),
    ("GET", "/v2/users/{userId}/memory"): Rule(OPERATORS),
    ("PATCH", "/v2/memory"): Rule(CUSTOMERS, body={}),
    ("DELETE", "/v2/memory"): Rule(CUSTOMERS, own=204),
    ("GET", "/v2/memory/export"): Rule(CUSTOMERS),
    ("DELETE", "/v2/users/me"): Rule(SELF),
    ("DELETE", "/v2/visitors/me"): Rule(SELF),
    # Whoever it is of another company is nobody of this one's: there is nothing to delete.
    ("DELETE", "/v2/users/{userId}"): Rule(ADMIN),
    ("DELETE", "/v2/visitors/{visitorId}"): Rule(ADMIN),
    ("GET", "/v2/erasures"): Rule(ADMIN),
    ("GET", "/v2/erasures/{receiptId}"): Rule(PEOPLE | {"service"}, own=404),
    ("GET", "/v2/keeping"): Rule(ADMIN),
    ("GET", "/v1/models"): Rule(CUSTOMERS),
    ("GET", "/v1/models/{model}"): Rule(CUSTOMERS),
    ("POST", "/v1/chat/completions"): Rule(
        CUSTOMERS, body={"model": "nexus", "messages": [{"role": "user", "content": "hi"}]}
    ),
    # Nobody's, as the action above; whose a response is, is tried in doors/test_responses.py.
    ("POST", "/v1/responses"): Rule(CUSTOMERS, body={"model": "nexus", "input": "hi", "store": False}),
    ("GET", "/v1/responses/{responseId}"): Rule(CUSTOMERS, own=404),
    ("POST", "/v1/responses/{responseId}/cancel"): Rule(CUSTOMERS, own=404),
    ("DELETE", "/v1/responses/{responseId}"): Rule(CUSTOMERS, own=404),
    ("GET", "/v2/knowledge"): Rule(OPERATORS),
    ("GET", "/v2/knowledge/documents"): Rule(OPERATORS),
    ("POST", "/v2/knowledge/documents"): Rule(ADMIN, own=201, body={"title": "t", "text": "x"}),
    ("GET", "/v2/knowledge/documents/{id}"): Rule(OPERATORS, foreign=404),
    # Another system's ids are each company's own: there it makes a document of that company's.
    ("PUT", "/v2/knowledge/documents/{id}"): Rule(ADMIN, body={"title": "t", "text": "x"}),
    ("DELETE", "/v2/knowledge/documents/{id}"): Rule(ADMIN, own=204, foreign=404),
    ("POST", "/v2/knowledge/search"): Rule(OPERATORS, body={"query": "x"}),
    ("POST", "/v2/knowledge/refresh"): Rule(ADMIN, own=202, body={}),
    ("GET", "/v2/knowledge/runs/{id}"): Rule(OPERATORS, foreign=404),
    ("POST", "/v2/knowledge/runs/{id}"): Rule(ADMIN, foreign=404, body={"remove": True}),
    ("GET", "/v2/knowledge/answers"): Rule(OPERATORS),
    ("POST", "/v2/knowledge/answers"): Rule(ADMIN, own=201, body={"question": "q", "answer": "a"}),
    ("PATCH", "/v2/knowledge/answers/{id}"): Rule(ADMIN, foreign=404, body={}),
    ("DELETE", "/v2/knowledge/answers/{id}"): Rule(ADMIN, own=204, foreign=404),
    ("GET", "/v2/knowledge/gaps"): Rule(OPERATORS),
    ("POST", "/v2/knowledge/gaps/{id}"): Rule(ADMIN, foreign=404, body={"dismiss": True}),
    ("POST", "/v2/ag-ui"): Rule(WRITERS, body={"threadId": "t", "runId": "r", "messages": []}),
    ("POST", "/v2/ui/chat"): Rule(WRITERS, own=404, body={"id": "t", "messages": [UNASKED]}),
    # A chat of that name is the caller's own, or is not there: doors/test_ui.py.
    ("GET", "/v2/ui/chat/{id}/stream"): Rule(WRITERS, own=204),
    ("POST", "/v2/ui/chat/{id}/stop"): Rule(WRITERS, own=204),
    # What is another's is tried in doors/test_a2a.py.
    ("POST", "/a2a"): Rule(
        WRITERS,
        body={"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}},
        headers={"A2A-Version": "1.0"},
    ),
    ("POST", "/v2/principals"): Rule(frozenset({"service"}), own=201, body={"userId": "u1"}),
    # Nobody of any team: who is, is tried in test_team.
    ("GET", "/v2/team"): Rule(ADMIN),
    ("POST", "/v2/team"): Rule(ADMIN, own=201, body={"role": "commercial"}),
    ("PATCH", "/v2/team/{userId}"): Rule(ADMIN, own=404, body={"role": "admin"}),
    ("DELETE", "/v2/team/{userId}"): Rule(ADMIN, own=404),
    ("POST", "/v2/team/{userId}/invitation"): Rule(ADMIN, own=404),
    ("POST", "/v2/team/{userId}/sign-out"): Rule(ADMIN, own=204),
    ("DELETE", CONVERSATION): Rule(WRITERS | ADMIN, foreign=404),
    # The last: nothing of it is left for the others.
    ("DELETE", "/v2/companies/{companyId}"): Rule(FOUNDERS, foreign=404),
}
PUBLIC = {
    ("POST", "/v2/visitors"),
    ("GET", "/.well-known/agent-card.json"),
    # Proved by a code of the company's provider, or by an invitation: test_team.
    ("POST", "/v2/sign-in/start"),
    ("POST", "/v2/sign-in"),
    # Proved by its signature: tests/system/test_chatwoot.py.
    ("POST", "/v2/channels/chatwoot/{channelId}"),
}


def operations() -> set[tuple[str, str]]:
    return {(method.upper(), path) for path, methods in openapi()["paths"].items() for method in methods}


def test_every_operation_has_its_rule() -> None:
    assert operations() == RULES.keys() | PUBLIC


def test_the_document_says_where_a_token_is_needed() -> None:
    document = openapi()
    assert document["components"]["securitySchemes"] == {
        "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    }
    open_to_all = {
        (method.upper(), path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if operation.get("security") != [{"bearer": []}]
    }
    assert open_to_all == PUBLIC


@pytest.mark.parametrize("path", ["/v2/sign-in/start", "/v2/sign-in", "/v2/visitors"])
async def test_a_bad_body_for_which_no_token_is_needed_is_told_its_fields(http: Http, path: str) -> None:
    status, answer, _ = await http("POST", path, json=[])
    assert (status, [error["field"] for error in answer["errors"]]) == (422, ["body"])


async def test_who_may_not_call_is_told_so_whatever_they_send(http: Http, tokens: TokenMaker) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await http("POST", "/v2/principals", token=tokens.user("ana", "user"), data=b"{", headers=headers)
    assert_problem(answer, 403, "FORBIDDEN")


@pytest.fixture
async def conversations(
    no_tools: None, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, nats_client: Client
) -> dict[str, str]:
    """acme's conversations by the role that may see them; what acme holds says SECRET."""
    made: dict[str, str] = {}
    for role, subject, token in (
        ("visitor", "me", tokens.visitor("me")),
        ("user", "me", tokens.user("me", "user")),
    ):
        async with ChatClient(gateway.url) as client:
            made[role] = (await client.hello(token))["conversationId"]
            await client.say(SECRET)
        await AgentStandIn(nats_client, "acme", made[role]).answer(BASIS, SECRET)
        memory.known_conversations[made[role]] = conversation_view(made[role], "acme", subject)

    memory.add_company("acme", customSystemPrompt=SECRET)
    memory.add_company("other")
    return made


async def attempt(http: Http, method: str, path: str, conversation: str, token: str | None) -> tuple[int, str]:
    rule = RULES[method, path]
    where = {
        "conversationId": conversation,
        "actionId": "a1",
        "turnId": turn_id("acme", conversation, BASIS),
        "analysisId": "a1",
        "companyId": "acme",
        "name": "no.such.tool",
        "model": "nexus",
        "id": KNOWN,
        "responseId": "resp_nobodys.1",
        "shortcut": "hello",
        "userId": "somebody",
        "visitorId": "somebody",
        "receiptId": "nobodys",
        "fileId": "nobodys",
    }
    body = rule.body
    if body is not None:
        body = {name: conversation if value == "{conversationId}" else value for name, value in body.items()}
    status, answer, headers = await http(
        method, path.format(**where), token=token, json=body, headers=dict(rule.headers)
    )
    # What says nothing is not said to be JSON: a page that looks for some finds none.
    assert status != 204 or "content-type" not in headers, path
    return status, str(answer)


@pytest.mark.usefixtures("settings", "writers", "completions", "knowledge", "desk", "share")
@pytest.mark.parametrize("role", ROLES)
async def test_a_role_gets_what_is_its_own_and_nothing_of_another_company(
    http: Http, tokens: TokenMaker, records: RecordsStandIn, conversations: dict[str, str], role: str
) -> None:
    records.remembered["acme", "me"] = LongTermMemory(user_notes=[SECRET])
    mine, foreign = (
        tokens.visitor("me", company) if role == "visitor" else tokens.user("me", role, company)
        for company in ("acme", "other")
    )
    conversation = conversations.get(role, conversations["visitor"])
    wrong: list[str] = []
    # Another company's people first: whatever they do, it is still there afterwards. To operators none is foreign.
    for (method, path), rule in RULES.items() if role != "operator" else ():
        expected = 403 if role not in rule.roles else rule.foreign or rule.own
        status, answer = await attempt(http, method, path, conversation, foreign)
        if status != expected or SECRET in answer:
            wrong.append(f"foreign {role}: {method} {path}: {status}, not {expected}: {answer[:200]}")
    assert all(company != "acme" for company, _ in records.forgotten)
    for (method, path), rule in RULES.items():
        expected = rule.own if role in rule.roles else 403
        status, answer = await attempt(http, method, path, conversation, mine)
        if status != expected:
            wrong.append(f"own {role}: {method} {path}: {status}, not {expected}: {answer[:200]}")
    assert wrong == []


@pytest.mark.usefixtures("settings", "writers", "records", "completions", "knowledge", "desk", "share")
async def test_without_a_valid_token_there_is_nothing(
    http: Http, tokens: TokenMaker, conversations: dict[str, str]
) -> None:
    good = tokens.user("me", "admin")
    forged = good.rsplit(".", 1)[0] + ".c2lnbmVk"
    expired = tokens.visitor("me", lifetime=-60)
    for method, path in RULES:
        for token in (None, "nonsense", forged, expired):
            status, answer = await attempt(http, method, path, conversations["visitor"], token)
            assert (status, SECRET in answer) == (401, False), f"{method} {path} with {token}"


@pytest.mark.usefixtures("settings", "writers", "records", "completions", "knowledge", "desk", "share")
@pytest.mark.parametrize("role", ["visitor", "user"])
async def test_nobody_reaches_anothers_conversation_in_their_own_company(
    http: Http, tokens: TokenMaker, conversations: dict[str, str], role: str
) -> None:
    stranger = tokens.visitor("stranger") if role == "visitor" else tokens.user("stranger", "user")
    for (method, path), rule in RULES.items():
        if "{conversationId}" not in path or role not in rule.roles:
            continue
        for conversation in conversations.values():
            status, answer = await attempt(http, method, path, conversation, stranger)
            assert (status, SECRET in answer) == (404, False), f"{method} {path}"
