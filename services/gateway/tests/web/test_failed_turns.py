"""Failed turns over HTTP: listed in pages, and asked again while that still helps somebody."""

import orjson
import pytest
from nats.aio.client import Client

from contracts.channels import ChatKind, chat
from contracts.events.chat import SystemMessage
from contracts.ids import turn_id, uuid7
from gateway.testing.harness import AgentStandIn, ChatClient, GatewayUnderTest, MemoryStandIn
from gateway.testing.http import Answer, Http, assert_problem
from gateway.testing.services import WritersStandIn
from gateway.testing.tokens import TokenMaker
from runtime.bus.direct import DirectReader

pytestmark = pytest.mark.usefixtures("memory")  # what tokens of a team's members are checked against


async def fails(client: Client, conversation: str, basis: int) -> str:
    """The agent gives the message up, and says so; the turn's id."""
    agent = AgentStandIn(client, "acme", conversation)
    turn = agent.begin(basis)
    notice = SystemMessage(message_id=uuid7(), text="No model", code="LLM_UNAVAILABLE", basis=basis, turn_id=turn)
    await agent.append(ChatKind.SYSTEM, notice, turn)
    return turn


async def replay(http: Http, turn: str, conversation: str, token: str) -> Answer:
    return await http("POST", f"/v2/turns/failed/{turn}/replay", token=token, json={"conversationId": conversation})


async def test_they_are_listed_in_pages_for_the_callers_own_company(
    http: Http, tokens: TokenMaker, writers: WritersStandIn
) -> None:
    token = tokens.user("ana", "commercial")
    _, first, _ = await http("GET", "/v2/turns/failed?limit=1", token=token)
    assert [one["turnId"] for one in first["items"]] == ["acme-100"]
    assert first["items"][0]["open"] is True
    _, second, _ = await http("GET", f"/v2/turns/failed?limit=1&cursor={first['next']}", token=token)
    assert [one["turnId"] for one in second["items"]] == ["acme-99"]
    assert_problem(await http("GET", "/v2/turns/failed?cursor=zzz", token=token), 422, "BAD_FIELD")
    assert_problem(await http("GET", "/v2/turns/failed?limit=0", token=token), 422, "BAD_FIELD")


async def test_a_replay_asks_the_same_question_once_more_in_the_name_of_who_asked_it(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, nats_client: Client
) -> None:
    admin = tokens.user("root", "admin")
    async with ChatClient(gateway.url) as client:
        conversation = (await client.hello(tokens.visitor("v1")))["conversationId"]
        seq = (await client.say("What does Pro cost?"))["seq"]
        first = (await client.fact(seq))["message"]
        turn = await fails(nats_client, conversation, seq)
        status, body, _ = await replay(http, turn, conversation, admin)
        assert (status, body["conversationId"]) == (202, conversation)
        again = (await client.fact(body["seq"]))["message"]
        # The same message for whoever shows it, at a new place.
        assert again == first | {"seq": body["seq"]}
    reader = DirectReader(nats_client, "CHAT")
    before, after = [await reader.at(one) for one in (seq, body["seq"])]
    assert before is not None
    assert after is not None
    assert after.subject == chat("acme", conversation, ChatKind.VISITOR)
    old, new = orjson.loads(before.event), orjson.loads(after.event)
    assert old["id"] == new["id"]
    assert {**new["data"], "principal": None} == {**old["data"], "principal": None}
    # It waits for its answer now: neither the old turn nor the new one is to be asked again.
    assert_problem(await replay(http, turn, conversation, admin), 409, "CONFLICT")
    running = turn_id("acme", conversation, body["seq"])
    assert_problem(await replay(http, running, conversation, admin), 409, "CONFLICT")


async def test_what_nobody_would_answer_is_not_asked_again(
    http: Http, gateway: GatewayUnderTest, tokens: TokenMaker, memory: MemoryStandIn, nats_client: Client
) -> None:
    admin = tokens.user("root", "admin")

    async def refused(turn: str, conversation: str, why: str) -> None:
        answer = await replay(http, turn, conversation, admin)
        assert_problem(answer, 409, "CONFLICT")
        assert why in answer[1]["detail"]

    async with ChatClient(gateway.url) as client:
        conversation = (await client.hello(tokens.visitor("v1")))["conversationId"]
        turn = await fails(nats_client, conversation, (await client.say("first"))["seq"])
        newer = await fails(nats_client, conversation, (await client.say("second"))["seq"])
        await refused(turn, conversation, "not the newest message")
        path = f"/v2/conversations/{conversation}/owner"
        await http("POST", path, token=tokens.user("ana", "commercial"), json={"owner": "human"})
        await refused(newer, conversation, "a person has this conversation")
        await http("POST", path, token=tokens.user("ana", "commercial"), json={"owner": "ai"})
        memory.add_company("acme", aiAutoResponseEnabled=False)
        await refused(newer, conversation, "switched off")
        memory.add_company("acme", aiAutoResponseEnabled=True)
        last = (await client.say("third"))["seq"]
        third = await fails(nats_client, conversation, last)
        await AgentStandIn(nats_client, "acme", conversation).answer(last, "there you are")
        await refused(third, conversation, "has an answer")
    assert_problem(await replay(http, turn, "nobody-knows", admin), 404, "NOT_FOUND")
    assert_problem(await replay(http, newer, conversation, tokens.user("ana", "commercial")), 403, "FORBIDDEN")
