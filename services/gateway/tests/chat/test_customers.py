"""What the market tells a customer's sockets: actions that wait for a yes, decisions, alerts."""

import json
from datetime import UTC, datetime

import pytest
from nats.aio.client import Client

from contracts.channels import fact
from contracts.conversation_rpc import MessageView
from contracts.events.chat import Action, ActionState
from contracts.events.market import ActionDecided, AlertTriggered, TriggeredAlert
from contracts.events.registry import BY_TYPE
from contracts.market_rpc import UntoldAlertsReply
from contracts.schemas import examples
from gateway.adapters.identity import IdentityKeys
from gateway.testing.harness import (
    AgentStandIn,
    ChatClient,
    Frame,
    GatewayUnderTest,
    MemoryStandIn,
    conversation_view,
    run_gateway,
)
from gateway.testing.http import Http, assert_problem
from gateway.testing.records import RecordsStandIn, tell
from gateway.testing.tokens import TokenMaker
from runtime.testing.servers import NatsServer, eventually

pytestmark = pytest.mark.usefixtures("memory")
WHEN = datetime(2026, 1, 2, 15, tzinfo=UTC)


def alert(number: int) -> TriggeredAlert:
    return TriggeredAlert(
        id=f"alert{number}", symbol="AAPL", condition=">=", price=200.0, triggered_price=201.5, triggered_at=WHEN
    )


async def test_a_welcome_holds_what_waits_for_a_yes_and_a_decision_is_told(
    gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn
) -> None:
    records.add_action("acme", "ana", "a1")
    records.add_action("acme", "bob", "a2")
    async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as ana:
        assert [(one["id"], one["state"]) for one in ana.welcome["pendingActions"]] == [("a1", "pending")]
        await ana.send("action.confirm", actionId="a1")
        updated = await ana.until("action.updated")
        assert updated["conversationId"] == ana.conversation
        assert (updated["action"]["id"], updated["action"]["state"]) == ("a1", "confirmed")
        await ana.send("action.reject", actionId="a1")
        assert (await ana.until("action.updated"))["action"]["state"] == "confirmed"
        # A frame may name its conversation, which can only be the socket's own.
        await ana.send("action.confirm", actionId="a1", conversationId=ana.conversation)
        assert (await ana.until("action.updated"))["conversationId"] == ana.conversation
        for action, named in (("a2", ana.conversation), ("a1", "bobs")):
            await ana.send("action.confirm", actionId=action, conversationId=named)
            error = await ana.until("error")
            assert (error["code"], error["conversationId"]) == ("NOT_FOUND", named)
        assert records.actions["a2"][1].state == "pending"


async def test_a_yes_may_change_what_the_action_lets_be_changed(
    gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn, http: Http
) -> None:
    token = tokens.user("ana", "user")
    for identity in ("a1", "a2"):
        records.add_action("acme", "ana", identity)
        owner, action = records.actions[identity]
        records.actions[identity] = (owner, action.model_copy(update={"editable": {"quantity": {"type": "number"}}}))
    async with ChatClient(gateway.url, hello=token) as ana:
        assert ana.welcome["pendingActions"][0]["editable"] == {"quantity": {"type": "number"}}
        await ana.say("hello")
        await ana.send("action.confirm", actionId="a1", edits={"side": "sell"})
        assert (await ana.until("error"))["code"] == "BAD_FIELD"
        await ana.send("action.confirm", actionId="a1", edits={"quantity": 2})
        updated = (await ana.until("action.updated"))["action"]
        assert (updated["state"], updated["details"]["quantity"]) == ("confirmed", 2)
    path = f"/v2/conversations/{ana.welcome['conversationId']}/actions/a2"
    for wrong in (
        {"decision": "reject", "edits": {"quantity": 2}},
        {"decision": "confirm", "edits": {"side": "sell"}},
        {"decision": "confirm", "edits": 2},
    ):
        assert_problem(await http("POST", path, token=token, json=wrong), 422, "BAD_FIELD")
    assert records.actions["a2"][1].state == "pending"
    status, action, _ = await http("POST", path, token=token, json={"decision": "confirm", "edits": {"quantity": 3}})
    assert (status, action["state"], action["details"]["quantity"]) == (200, "confirmed", 3)


@pytest.mark.usefixtures("records")
@pytest.mark.parametrize(
    ("locale", "told"), [("es-ES", "no tienes esa acción"), ("en", "there is no such action of yours")]
)
async def test_why_a_decision_is_refused_is_said_in_the_customers_language(
    gateway: GatewayUnderTest, tokens: TokenMaker, http: Http, locale: str, told: str
) -> None:
    token = tokens.user("ana", "user")
    async with ChatClient(gateway.url) as ana:
        welcome = await ana.hello(token, locale=locale)
        await ana.say("hello")
        await ana.send("action.confirm", actionId="a2")
        assert (await ana.until("error"))["message"] == told
    path, headers = f"/v2/conversations/{welcome['conversationId']}/actions/a2", {"Accept-Language": locale}
    refused = await http("POST", path, token=token, headers=headers, json={"decision": "confirm"})
    assert_problem(refused, 404, "NOT_FOUND")
    assert refused[1]["detail"] == told


async def test_every_socket_of_the_customer_hears_of_a_decision_and_nobody_elses(
    gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn, nats_client: Client
) -> None:
    records.add_action("acme", "ana", "a1")
    action = records.actions["a1"][1].model_copy(update={"state": ActionState.EXPIRED})
    decided = ActionDecided(company_id="acme", user_id="ana", action=action, decided_at=WHEN)
    async with ChatClient(gateway.url) as one, ChatClient(gateway.url) as two, ChatClient(gateway.url) as bob:
        for client, user in ((one, "ana"), (two, "ana"), (bob, "bob")):
            await client.hello(tokens.user(user, "user"))
            await client.send("ping")
            await client.until("pong")
        await tell(nats_client, "action.decided.v1", "ana", decided)
        for client in (one, two):
            assert (await client.until("action.updated"))["action"]["state"] == "expired"
        await tell(nats_client, "action.decided.v1", "bob", decided.model_copy(update={"user_id": "bob"}))
        await bob.until("action.updated")
        assert [frame["type"] for frame in bob.seen].count("action.updated") == 1


async def test_a_human_agent_who_watches_sees_what_the_customer_decided(
    gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn, nats_client: Client
) -> None:
    records.add_action("acme", "ana", "a1")
    action = records.actions["a1"][1].model_copy(update={"state": ActionState.CONFIRMED})
    async with ChatClient(gateway.url) as ana, ChatClient(gateway.url) as agent:
        talk = (await ana.hello(tokens.user("ana", "user")))["conversationId"]
        await ana.say("hello")
        await agent.hello(tokens.user("ben", "commercial"))
        await agent.send("conversation.watch", conversationId=talk)
        await agent.until("welcome")
        elsewhere = ActionDecided(
            company_id="acme", user_id="ana", conversation_id="another", action=action, decided_at=WHEN
        )
        await tell(nats_client, "action.decided.v1", "ana", elsewhere)
        await tell(nats_client, "action.decided.v1", "ana", elsewhere.model_copy(update={"conversation_id": talk}))
        updated = await agent.until("action.updated")
        assert (updated["conversationId"], updated["action"]["state"]) == (talk, "confirmed")
        await agent.send("ping")
        await agent.until("pong")
        assert [frame["type"] for frame in agent.seen].count("action.updated") == 1


async def test_alerts_are_told_when_they_fire_or_when_their_customer_comes_back(
    gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn, nats_client: Client
) -> None:
    records.unreported_alerts["acme", "ana"] = [alert(1), alert(2)]
    async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as ana:
        missed = [await ana.until("alert.triggered") for _ in range(2)]
        assert [frame["alert"]["id"] for frame in missed] == ["alert1", "alert2"]
        assert missed[0]["alert"]["triggeredPrice"] == 201.5
        fired = AlertTriggered(company_id="acme", user_id="ana", alert=alert(3), source="sample")
        await tell(nats_client, "alert.triggered.v1", "ana", fired)
        assert (await ana.until("alert.triggered"))["alert"]["id"] == "alert3"
        await eventually(lambda: records.reported_ids == ["alert1", "alert2", "alert3"])


def made_of(records: RecordsStandIn, state: ActionState, outcome: str) -> Action:
    """What the market has made of the action a1."""
    action = records.actions["a1"][1]
    details = {"status": "rejected", "filledQuantity": "0", "outcome": outcome}
    return action.model_copy(update={"state": state, "details": details})


@pytest.mark.parametrize("kind", ["order.filled.v1", "order.closed.v1"])
async def test_what_the_market_makes_of_an_order_is_told_to_its_customer_and_marked_as_told(
    gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn, nats_client: Client, kind: str
) -> None:
    records.add_action("acme", "ana", "a1")
    event = next(body for _, valid, body in examples(BY_TYPE[kind]) if valid)
    state = ActionState.CONFIRMED if kind == "order.filled.v1" else ActionState.FAILED
    data = event["data"] | {"action": made_of(records, state, "as it went").to_wire(), "conversationId": None}
    async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as ana, ChatClient(gateway.url) as agent:
        await ana.say("hello")
        await agent.hello(tokens.user("ben", "commercial"))
        await agent.send("conversation.watch", conversationId=ana.conversation)
        await agent.until("welcome")
        data["conversationId"] = ana.conversation
        await nats_client.publish(fact(kind, "acme", "ana"), json.dumps(event | {"data": data}).encode())
        for client in (ana, agent):
            updated = await client.until("action.updated")
            assert (updated["conversationId"], updated["action"]["state"]) == (ana.conversation, state)
            assert updated["action"]["details"]["outcome"] == "as it went"
        await eventually(lambda: records.reported_ids == ["a1"])


async def test_a_socket_is_told_each_state_of_an_order_once(
    gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn, nats_client: Client
) -> None:
    records.add_action("acme", "ana", "a1")
    records.unreported_actions = ["a1"]
    filled = next(body for _, valid, body in examples(BY_TYPE["order.filled.v1"]) if valid)

    async def fill(outcome: str) -> None:
        records.actions["a1"] = (("acme", "ana"), made_of(records, ActionState.CONFIRMED, outcome))
        event = filled | {"data": filled["data"] | {"action": records.actions["a1"][1].to_wire()}}
        await nats_client.publish(fact("order.filled.v1", "acme", "ana"), json.dumps(event).encode())

    def told(client: ChatClient) -> list[str]:
        return [one["action"]["details"].get("outcome") for one in client.seen if one["type"] == "action.updated"]

    records.actions["a1"] = (("acme", "ana"), made_of(records, ActionState.CONFIRMED, "1 of 2"))
    async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as first:
        await first.until("action.updated")
        await fill("1 of 2")
        # Another chat of the customer's is caught up, while the market does not know yet that they were told.
        await eventually(lambda: records.reported_ids == ["a1", "a1"])
        records.unreported_actions = ["a1"]
        async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as second:
            await second.until("action.updated")
            for outcome in ("2 of 2", "2 of 2", "the end"):
                await fill(outcome)
            for client in (first, second):
                await client.until("action.updated", lambda one: one["action"]["details"]["outcome"] == "the end")
                assert told(client) == ["1 of 2", "2 of 2", "the end"]
            # Who decides again is answered, and once, though the decision's fact comes as well.
            await first.send("action.confirm", actionId="a1")
            await first.until("action.updated")
            await fill("the end")
            await first.send("ping")
            await first.until("pong")
            assert told(first) == ["1 of 2", "2 of 2", "the end", "the end"]


async def test_a_state_that_was_read_before_a_newer_one_came_is_not_told_after_it(
    gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    records.add_action("acme", "ana", "a1")
    customers, outcomes = gateway.gateway.chat.customers, ["2 of 2", "3 of 3"]

    async def late(company: str, user: str) -> UntoldAlertsReply:
        older = made_of(records, ActionState.CONFIRMED, "1 of 2")
        newer = made_of(records, ActionState.CONFIRMED, outcomes.pop(0))
        customers.action_changed(company, user, None, newer, by_market=True)
        return UntoldAlertsReply(alerts=[], actions=[older])

    monkeypatch.setattr(customers.actions, "untold", late)
    async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as ana:
        await ana.until("action.updated")
        await customers.catch_up("acme", "ana")
        await ana.send("ping")
        await ana.until("pong")
        told = [frame["action"]["details"]["outcome"] for frame in ana.seen if frame["type"] == "action.updated"]
        assert told == ["2 of 2", "3 of 3"]


async def test_what_became_of_an_order_while_nobody_was_there_is_told_to_the_next_chat(
    gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn
) -> None:
    records.add_action("acme", "ana", "a1")
    records.actions["a1"] = (("acme", "ana"), made_of(records, ActionState.EXPIRED, "it ran out"))
    records.unreported_actions = ["a1"]
    async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as ana:
        action = (await ana.until("action.updated"))["action"]
        assert (action["id"], action["state"], action["details"]["outcome"]) == ("a1", "expired", "it ran out")
        await eventually(lambda: records.reported_ids == ["a1"])


async def test_while_the_market_is_away_a_customer_chats_all_the_same(
    gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as ana:
        assert ana.welcome["pendingActions"] == []
        await ana.say("hello")


async def test_every_open_chat_hears_of_an_alert_once_however_often_and_by_whichever_way_it_comes(
    gateway: GatewayUnderTest,
    nats_server: NatsServer,
    identity: IdentityKeys,
    tokens: TokenMaker,
    records: RecordsStandIn,
    nats_client: Client,
) -> None:
    async with (
        run_gateway(nats_server.url, identity) as other,
        ChatClient(gateway.url) as one,
        ChatClient(other.url) as two,
    ):
        # Untold when the chats are opened, and its fact comes twice beside that.
        records.unreported_alerts["acme", "ana"] = [alert(1)]
        for client in (one, two):
            await client.hello(tokens.user("ana", "user"))
            await client.send("ping")
            await client.until("pong")
        for number in (1, 1, 2):
            fired = AlertTriggered(company_id="acme", user_id="ana", alert=alert(number), source="sample")
            await tell(nats_client, "alert.triggered.v1", "ana", fired)
        for client in (one, two):
            await client.until("alert.triggered", lambda frame: frame["alert"]["id"] == "alert2")
            heard = [frame["alert"]["id"] for frame in client.seen if frame["type"] == "alert.triggered"]
            assert heard == ["alert1", "alert2"]


@pytest.mark.own_servers
async def test_what_fired_while_the_bus_was_away_is_told_to_an_open_chat_when_it_is_back(
    gateway: GatewayUnderTest, nats_server: NatsServer, tokens: TokenMaker, records: RecordsStandIn
) -> None:
    async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as ana:
        await eventually(lambda: records.unreported_requests == 1)
        records.unreported_alerts["acme", "ana"] = [alert(1)]
        nats_server.restart()
        assert (await ana.until("alert.triggered"))["alert"]["id"] == "alert1"
        await eventually(lambda: "alert1" in records.reported_ids)


async def test_a_history_tells_how_its_actions_stand_now(
    gateway: GatewayUnderTest,
    tokens: TokenMaker,
    records: RecordsStandIn,
    memory: MemoryStandIn,
    http: Http,
    nats_client: Client,
) -> None:
    records.add_action("acme", "ana", "a1")
    told = records.actions["a1"][1].model_copy(update={"details": {"estimate": {"price": "200"}}})

    def states(messages: list[Frame]) -> list[str]:
        return [action["state"] for message in messages for action in message["actions"]]

    async def snapshot(token: str, conversation: str) -> list[Frame]:
        async with ChatClient(gateway.url) as client:
            await client.hello(token, conversationId=conversation)
            return (await client.until("snapshot"))["messages"]

    async with ChatClient(gateway.url) as ana:
        talk = (await ana.hello(tokens.user("ana", "user")))["conversationId"]
        memory.known_conversations[talk] = conversation_view(talk, "acme", "ana")
        ack = await ana.say("buy 1 AAPL")
        await AgentStandIn(nats_client, "acme", talk).answer(ack["seq"], "shall I?", told)
        assert states([(await ana.until("message.created", lambda f: bool(f["message"]["actions"])))["message"]])
        readers = [tokens.user("ana", "user"), tokens.user("carl", "commercial")]
        for token in readers:
            assert states(await snapshot(token, talk)) == ["pending"]
        await ana.send("action.confirm", actionId="a1")
        await ana.until("action.updated")
    for token in readers:
        messages = await snapshot(token, talk)
        assert states(messages) == ["confirmed"]
        # What the person saw when they were asked stays.
        assert messages[-1]["actions"][0]["details"]["estimate"] == {"price": "200"}
        _, page, _ = await http("GET", f"/v2/conversations/{talk}/messages", token=token)
        assert states(page["items"]) == ["confirmed"]
        last = MessageView.model_validate(messages[-1] | {"actions": [told]})
        memory.known_conversations[talk] = conversation_view(talk, "acme", "ana").model_copy(
            update={"last_message": last}
        )
        _, conversations, _ = await http("GET", "/v2/conversations", token=token)
        _, view, _ = await http("GET", f"/v2/conversations/{talk}", token=token)
        assert states([conversations["items"][0]["lastMessage"], view["lastMessage"]]) == ["confirmed"] * 2
    _, transcript, _ = await http("GET", f"/v2/conversations/{talk}/transcript", token=readers[0])
    assert states(transcript["messages"]) == ["confirmed"]
    await records.market.drain(1.0)
    assert states(await snapshot(readers[0], talk)) == ["pending"]


async def test_what_was_asked_and_decided_while_a_client_was_away_comes_as_it_is_when_it_resumes(
    gateway: GatewayUnderTest, tokens: TokenMaker, records: RecordsStandIn, memory: MemoryStandIn, nats_client: Client
) -> None:
    records.add_action("acme", "ana", "a1")
    told = records.actions["a1"][1].model_copy(update={"details": {"estimate": {"price": "200"}}})
    async with ChatClient(gateway.url, hello=tokens.user("ana", "user")) as ana:
        talk = ana.conversation
        memory.known_conversations[talk] = conversation_view(talk, "acme", "ana")
        ack = await ana.say("buy 1 AAPL")
    away = {"conversationId": talk, "since": {"epoch": ana.welcome["epoch"], "seq": ack["seq"]}}
    await AgentStandIn(nats_client, "acme", talk).answer(ack["seq"], "shall I?", told)

    async def resumed() -> Frame:
        async with ChatClient(gateway.url) as client:
            assert (await client.hello(tokens.user("ana", "user"), **away))["recovered"]
            created = await client.until("message.created", lambda f: bool(f["message"]["actions"]))
            return created["message"]["actions"][0]

    assert (await resumed())["state"] == "pending"
    records.actions["a1"] = (records.actions["a1"][0], told.model_copy(update={"state": ActionState.CONFIRMED}))
    action = await resumed()
    assert (action["state"], action["details"]) == ("confirmed", {"estimate": {"price": "200"}})
    await records.market.drain(1.0)
    # The market is away: as it was told.
    assert (await resumed())["state"] == "pending"


@pytest.mark.parametrize("kind", ["action.confirm", "action.reject"])
async def test_an_action_that_nobody_knows_is_not_found(
    gateway: GatewayUnderTest, tokens: TokenMaker, kind: str
) -> None:
    async with ChatClient(gateway.url, hello=tokens.visitor("v1")) as visitor:
        await visitor.send(kind, actionId="a1")
        error = await visitor.until("error")
        assert (error["code"], error["ref"]) == ("NOT_FOUND", "a1")
