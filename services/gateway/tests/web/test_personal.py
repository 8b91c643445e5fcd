"""What is kept of a customer, what a company used, principals for services, decisions on actions."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.memory_rpc import LongTermMemory
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn, conversation_view
from gateway.testing.http import Http, assert_problem
from gateway.testing.records import RecordsStandIn
from gateway.testing.tokens import TokenMaker
from runtime.auth.principals import PrincipalVerifier
from runtime.settings import TokenSettings

pytestmark = pytest.mark.usefixtures("memory")


@pytest.fixture
def ana(tokens: TokenMaker) -> str:
    return tokens.user("ana", "user")


async def test_memory_is_the_callers_own(http: Http, tokens: TokenMaker, ana: str, records: RecordsStandIn) -> None:
    records.remembered["acme", "ana"] = LongTermMemory(favorite_symbols=["AAPL"], trading_style="swing")
    assert (await http("GET", "/v2/memory", token=ana))[1]["favoriteSymbols"] == ["AAPL"]
    for other in (tokens.user("bob", "user"), tokens.user("ana", "user", company="other")):
        assert (await http("GET", "/v2/memory", token=other))[1]["favoriteSymbols"] == []


async def test_memory_is_corrected_by_a_merge_patch_and_forgotten(
    http: Http, ana: str, records: RecordsStandIn
) -> None:
    sent = {"Content-Type": "application/merge-patch+json"}
    status, body, _ = await http(
        "PATCH", "/v2/memory", token=ana, headers=sent, json={"userNotes": ["no leverage"], "tradingStyle": "long_term"}
    )
    assert (status, body["userNotes"], body["tradingStyle"]) == (200, ["no leverage"], "long_term")
    refused = await http("PATCH", "/v2/memory", token=ana, json={"tradingStyle": "gambling"})
    assert_problem(refused, 422, "BAD_FIELD")
    assert refused[1]["errors"][0]["field"] == "tradingStyle"
    assert (await http("DELETE", "/v2/memory", token=ana))[:2] == (204, "")
    assert ("acme", "ana") not in records.remembered
    assert records.forgotten == []


async def test_a_correction_of_what_has_changed_since_it_was_read_is_refused(
    http: Http, ana: str, records: RecordsStandIn
) -> None:
    version = (await http("GET", "/v2/memory", token=ana))[2]["etag"]
    over = {"If-Match": version}
    assert (await http("PATCH", "/v2/memory", token=ana, headers=over, json={"userNotes": ["one"]}))[0] == 200
    late = await http("PATCH", "/v2/memory", token=ana, headers=over, json={"userNotes": ["two"]})
    assert_problem(late, 412, "PRECONDITION_FAILED")
    assert records.remembered["acme", "ana"].user_notes == ["one"]
    read = await http("GET", "/v2/memory", token=ana)
    assert (read[1]["userNotes"], read[2]["etag"] != version) == (["one"], True)
    anyway = {"If-Match": "*"}
    assert (await http("PATCH", "/v2/memory", token=ana, headers=anyway, json={"userNotes": ["two"]}))[0] == 200


async def test_a_correction_without_an_answer_may_have_been_made_and_is_sent_again_under_its_key(
    http: Http, ana: str, records: RecordsStandIn
) -> None:
    key = {"Idempotency-Key": "clave ñ".encode().decode("latin-1")}
    records.unavailable = True
    status, body, headers = await http("PATCH", "/v2/memory", token=ana, headers=key, json={"userNotes": ["one"]})
    assert (status, "may have been made" in body["detail"], headers["retry-after"]) == (503, True, "2")
    records.unavailable = False
    assert (await http("PATCH", "/v2/memory", token=ana, headers=key, json={"userNotes": ["one"]}))[0] == 200
    assert (len(records.correction_ids), len(set(records.correction_ids))) == (3, 1)
    other = await http("PATCH", "/v2/memory", token=ana, headers=key, json={"userNotes": ["two"]})
    assert_problem(other, 409, "CONFLICT")
    assert (await http("GET", "/v2/memory", token=ana))[1]["userNotes"] == ["one"]
    assert (await http("PATCH", "/v2/memory", token=ana, json={"userNotes": ["two"]}))[0] == 200


async def test_an_export_is_one_document_of_all_pages(http: Http, ana: str, records: RecordsStandIn) -> None:
    records.remembered["acme", "ana"] = LongTermMemory(user_notes=["hi"])
    status, body, headers = await http("GET", "/v2/memory/export", token=ana)
    assert status == 200
    assert "attachment" in headers["content-disposition"]
    assert body["memory"]["userNotes"] == ["hi"]
    assert [part["conversation"]["id"] for part in body["conversations"]] == ["c0", "c1", "c2"]
    assert (body["holdings"]["watchlist"], body["missing"]) == (["ana"], [])


async def test_an_export_says_what_it_could_not_get(http: Http, ana: str, records: RecordsStandIn) -> None:
    await records.market.drain(1)
    await records.client.flush()
    status, body, _ = await http("GET", "/v2/memory/export", token=ana)
    assert (status, body["missing"]) == (200, ["holdings"])
    assert "holdings" not in body


async def test_a_user_is_deleted_everywhere_or_told_to_ask_again(http: Http, ana: str, records: RecordsStandIn) -> None:
    assert (await http("DELETE", "/v2/users/me", token=ana))[0] == 200
    assert records.forgotten == [("acme", "ana")]


async def test_a_conversation_that_is_gone_has_its_receipt_under_the_same_key(
    http: Http, tokens: TokenMaker, records: RecordsStandIn, memory: MemoryStandIn
) -> None:
    admin, key = tokens.user("root", "admin"), {"Idempotency-Key": "one"}
    memory.known_conversations["c1"] = conversation_view("c1", "acme", "v1")
    status, receipt, _ = await http("DELETE", "/v2/conversations/c1", token=admin, headers=key)
    assert (status, records.forgotten) == (200, [("acme", "c1")])
    del memory.known_conversations["c1"]
    status, again, headers = await http("DELETE", "/v2/conversations/c1", token=admin, headers=key)
    assert (status, again["receiptId"]) == (200, receipt["receiptId"])
    assert headers["location"] == f"/v2/erasures/{receipt['receiptId']}"
    for other, sent in ((admin, {}), (admin, {"Idempotency-Key": "two"}), (tokens.user("eve", "admin"), key)):
        gone = await http("DELETE", "/v2/conversations/c1", token=other, headers=sent)
        assert_problem(gone, 404, "NOT_FOUND")


async def test_usage_is_asked_for_by_days(http: Http, tokens: TokenMaker, records: RecordsStandIn) -> None:
    admin = tokens.user("root", "admin")
    status, body, _ = await http("GET", "/v2/usage?from=2026-01-05&to=2026-01-31", token=admin)
    assert status == 200
    assert body["days"] == [
        {
            "date": "2026-01-31",
            "turns": 2,
            "promptTokens": 90,
            "completionTokens": 10,
            "cost": 0.01,
            "currency": "USD",
            "unpricedTokens": None,
        }
    ]
    assert body["budget"] == {"dailyTokens": None, "usedToday": 100}
    await http("GET", "/v2/usage", token=admin)
    today = datetime.now(UTC).date()
    assert records.usage_requests[-1].since in {today - timedelta(days=29), today - timedelta(days=30)}
    for query in ("from=2026-02-01&to=2026-01-01", "from=2020-01-01&to=2026-01-01", "from=yesterday"):
        refused = await http("GET", f"/v2/usage?{query}", token=admin)
        assert_problem(refused, 422, "BAD_FIELD")
        assert refused[1]["errors"][0]["field"] == "from"


async def test_insights_are_for_human_agents_and_asked_for_by_days(
    http: Http, tokens: TokenMaker, records: RecordsStandIn
) -> None:
    agent = tokens.user("ben", "commercial")
    status, body, _ = await http("GET", "/v2/insights?from=2026-01-05&to=2026-01-31", token=agent)
    assert (status, body["complaints"], body["complete"]) == (200, [], True)
    assert body["days"] == [
        {
            "date": "2026-01-31",
            "conversations": 4,
            "answers": 9,
            "handedOff": 1,
            "failed": 0,
            "thumbsUp": 2,
            "thumbsDown": 1,
        }
    ]
    assert_problem(await http("GET", "/v2/insights?from=2026-02-01&to=2026-01-01", token=agent), 422, "BAD_FIELD")


async def test_a_service_gets_principals_for_itself_and_its_own_companys_customers(
    http: Http, tokens: TokenMaker, keys: TokenSettings
) -> None:
    service = tokens.user("crm", "service", plan="pro")
    verifier = PrincipalVerifier(keys)
    for body, who in (
        (None, ("crm", "service", None)),
        ({}, ("crm", "service", None)),
        ({"userId": "ana", "conversationId": "c1"}, ("ana", "user", "c1")),
    ):
        status, answer, _ = await http("POST", "/v2/principals", token=service, json=body)
        assert status == 201
        principal = verifier.verify(answer["principal"])
        assert (principal.sub, principal.role, principal.conversation) == who
        assert (principal.company, principal.plan) == ("acme", "pro")
        assert datetime.fromisoformat(answer["expiresAt"]).timestamp() == principal.exp
    refused = await http("POST", "/v2/principals", token=service, json={"userId": "a.b"})
    assert_problem(refused, 422, "BAD_FIELD")


async def test_an_action_is_decided_once_by_its_own_user(
    http: Http, tokens: TokenMaker, gateway: GatewayUnderTest, records: RecordsStandIn, ana: str
) -> None:
    async with ChatClient(gateway.url) as socket:
        conversation = (await socket.hello(ana))["conversationId"]
        await socket.say("buy one")
    records.add_action("acme", "ana", "a1")
    path = f"/v2/conversations/{conversation}/actions"
    for token in (tokens.user("bob", "user"), tokens.user("eve", "user", company="other"), tokens.user("op", "admin")):
        refused = await http("POST", f"{path}/a1", token=token, json={"decision": "confirm"})
        assert_problem(refused, 404, "NOT_FOUND")
    status, body, _ = await http("POST", f"{path}/a1", token=ana, json={"decision": "confirm"})
    assert (status, body["state"], body["summary"]) == (200, "confirmed", "Buy 1 AAPL")
    assert (await http("POST", f"{path}/a1", token=ana, json={"decision": "reject"}))[1]["state"] == "confirmed"
    assert_problem(await http("POST", f"{path}/a2", token=ana, json={"decision": "reject"}), 404, "NOT_FOUND")
