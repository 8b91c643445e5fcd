"""Reports over HTTP, and what visitors say of their conversations."""

import csv
import io

import orjson
import pytest
from nats.aio.client import Client

from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn
from gateway.testing.http import Http, assert_problem
from gateway.testing.records import FIGURES, RecordsStandIn
from gateway.testing.tokens import TokenMaker

pytestmark = pytest.mark.usefixtures("memory")
DAYS = "from=2026-01-05&to=2026-01-31"


async def test_a_report_is_json_or_a_table(http: Http, tokens: TokenMaker, records: RecordsStandIn) -> None:
    ana = tokens.user("ana", "commercial")
    status, body, _ = await http("GET", f"/v2/reports?{DAYS}&by=door", token=ana)
    assert (status, body["total"] | {"toPersonSeconds": None}) == (200, FIGURES | {"toPersonSeconds": None})
    assert body["rows"][0]["key"] == "2026-01-31"
    asked = records.report_requests[-1]
    assert (asked.company_id, asked.by, asked.since.day, asked.until.day) == ("acme", "door", 5, 31)
    status, table, headers = await http("GET", f"/v2/reports?{DAYS}&by=user", token=ana, headers={"Accept": "text/csv"})
    assert status == 200
    assert headers["content-type"].startswith("text/csv")
    assert 'filename="report-2026-01-05-2026-01-31-user.csv"' in headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(table)))
    # A key is what a visitor may have chosen: no formula for whoever opens the table.
    assert [row["key"] for row in rows] == ["'=1+1", "total"]
    assert {name: rows[1][name] for name in FIGURES} == {name: str(value) for name, value in FIGURES.items()}
    for query in ("by=moon", "from=2026-02-01&to=2026-01-01"):
        assert_problem(await http("GET", f"/v2/reports?{query}", token=ana), 422, "BAD_FIELD")


async def test_while_memory_is_away_nobody_waits_for_a_report(
    http: Http, tokens: TokenMaker, records: RecordsStandIn, memory: MemoryStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = tokens.user("ana", "admin")
    assert (await http("GET", "/v2/llm/config/acme", token=ana))[0] == 200  # its settings are known
    await memory.stop()
    monkeypatch.setattr("runtime.companies.DEADLINE", 0.2)
    for path in ("/v2/reports", "/v2/reports/conversations", "/v2/keeping"):
        assert_problem(await http("GET", path, token=ana), 503, "UNAVAILABLE")
    assert records.report_requests == []


async def test_a_figure_opens_down_to_its_conversations(
    http: Http, tokens: TokenMaker, records: RecordsStandIn
) -> None:
    ana = tokens.user("ana", "commercial")
    query = f"{DAYS}&by=language&key=es&figure=handedOver"
    status, body, _ = await http("GET", f"/v2/reports/conversations?{query}", token=ana)
    assert (status, body) == (200, {"conversationIds": ["c1"], "complete": True})
    asked = records.report_requests[-1].to_wire()
    assert (asked["key"], asked["figure"], asked["by"]) == ("es", "handedOver", "language")
    refused = await http("GET", f"/v2/reports/conversations?{DAYS}&figure=luck", token=ana)
    assert_problem(refused, 422, "BAD_FIELD")


async def test_a_conversation_is_rated_by_whose_it_is_over_both_doors(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn, nats_client: Client
) -> None:
    given = await nats_client.subscribe("conversation.rated.v1.acme.v1")  # pyright: ignore[reportUnknownMemberType]
    await nats_client.flush()
    async with ChatClient(gateway.url) as visitor, ChatClient(gateway.url) as ana:
        mine = (await visitor.hello(tokens.visitor("v1")))["conversationId"]
        await visitor.say("hello")
        await ana.hello(tokens.user("ana", "commercial"))
        await ana.send("conversation.watch", conversationId=mine)
        await ana.until("welcome")
        await visitor.send("conversation.rate", score=4, comment="quick")
        for reader in (visitor, ana):
            rated = await reader.until("conversation.rated")
            assert (rated["conversationId"], rated["score"], rated["comment"]) == (mine, 4, "quick")
        told = orjson.loads((await given.next_msg(timeout=20)).data)["data"]
        assert told == {"companyId": "acme", "conversationId": mine, "userId": "v1", "score": 4, "comment": "quick"}
        await visitor.send("conversation.rate", score=6)
        assert (await visitor.until("error"))["code"] == "BAD_FIELD"
        await ana.send("conversation.rate", conversationId=mine, score=5)
        assert (await ana.until("error"))["code"] == "FORBIDDEN"
    address = f"/v2/conversations/{mine}/rating"
    status, body, _ = await http("PUT", address, token=tokens.visitor("v1"), json={"score": 5})
    assert (status, body["score"]) == (200, 5)
    assert orjson.loads((await given.next_msg(timeout=20)).data)["data"]["score"] == 5
    for other in (tokens.visitor("v2"), tokens.user("v1", "user", company="other")):
        assert_problem(await http("PUT", address, token=other, json={"score": 1}), 404, "NOT_FOUND")
    ana_token = tokens.user("ana", "admin")
    assert_problem(await http("PUT", address, token=ana_token, json={"score": 1}), 403, "FORBIDDEN")
    refused = await http("PUT", address, token=tokens.visitor("v1"), json={"score": 0})
    assert_problem(refused, 422, "BAD_FIELD")
