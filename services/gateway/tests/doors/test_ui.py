"""POST /v2/ui/chat over a real socket, with chats of the AI SDK under node."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from nats.aio.client import Client

from contracts.agent_rpc import TurnState
from contracts.channels import ChatKind, LiveTurnKind
from contracts.events.chat import (
    ActionState,
    AssistantMessage,
    Citation,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    SystemMessage,
)
from contracts.ids import answer_id
from gateway.domain.conversation_ids import named_conversation_id
from gateway.testing.doors import DoorDesk, order
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn
from gateway.testing.http import Http, assert_problem
from gateway.testing.records import RecordsStandIn
from gateway.testing.tokens import TokenMaker
from gateway.testing.ui import UiChat, UiClients, ui_clients
from runtime.testing.servers import eventually

pytestmark = pytest.mark.usefixtures("memory", "records")
ORDER = order(details={"symbol": "AAPL", "quantity": "1"})


@pytest.fixture
async def sdk() -> AsyncIterator[UiClients]:
    async with ui_clients() as clients:
        yield clients


class Desk(DoorDesk):
    """Ana's chat, and the agent that answers it."""

    def __init__(self, chat: UiChat, client: Client) -> None:
        super().__init__(client, named_conversation_id("acme", "ana", "ui", chat.id))
        self.chat = chat

    async def asks(self, text: str, **more: str) -> int:
        before = (await self.snapshot()).newest_visitor
        await self.chat.send("send", text=text, **more)
        return await self.asked(before)


@pytest.fixture
async def desk(sdk: UiClients, gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client) -> Desk:
    made = Desk(await sdk.chat(gateway.url, tokens.user("ana", "user")), nats_client)
    await made.agent.start()
    return made


async def test_an_answer_is_streamed_with_its_tools_and_sources(desk: Desk) -> None:
    asked = await desk.asks("what is AAPL at?")
    turn = desk.agent.begin(asked)
    await desk.agent.live(LiveTurnKind.RUN_STARTED)
    await desk.agent.live(LiveTurnKind.TOOL_STARTED, callId="c1", tool="get_price", label="Price")
    await desk.chat.until(lambda: any(part.get("state") == "input-available" for part in desk.chat.parts))
    await desk.agent.live(LiveTurnKind.TOOL_FINISHED, callId="c1", tool="get_price", success=True)
    await desk.agent.delta(0, "It is ")
    await desk.chat.until(lambda: desk.chat.text == "It is ")
    await desk.agent.delta(1, "at 200.")
    said = AssistantMessage(
        message_id=answer_id(turn),
        turn_id=turn,
        basis=asked,
        text="It is at 200.",
        citations=[Citation(url="https://acme.example/a", title="A")],
        model="m",
        config_version=1,
    )
    await desk.agent.append(ChatKind.ASSISTANT, said, turn)
    assert await desk.chat.wait_for_end() == {"isAbort": False, "isError": False, "finishReason": "stop"}
    assert desk.chat.text == "It is at 200."
    assert desk.chat.messages[-1]["id"] == answer_id(turn)
    tool = next(part for part in desk.chat.parts if part["type"] == "dynamic-tool")
    assert (tool["toolName"], tool["title"], tool["state"]) == ("get_price", "Price", "output-available")
    assert (tool["output"], tool["providerExecuted"]) == ({"success": True}, True)
    assert next(part for part in desk.chat.parts if part["type"] == "source-url")["url"] == "https://acme.example/a"


async def test_what_turns_out_otherwise_is_put_right(desk: Desk) -> None:
    """A turn that is driven again says its text anew, and ends with another one."""
    asked = await desk.asks("hello")
    desk.agent.begin(asked)
    await desk.agent.live(LiveTurnKind.TOOL_STARTED, callId="c1", tool="get_price", label="Price")
    for said in (["Hel", "lo A"], ["Hel", "lo B"]):
        await desk.agent.live(LiveTurnKind.RUN_STARTED)
        for number, piece in enumerate(said):
            await desk.agent.delta(number, piece)
    await desk.chat.until(lambda: desk.chat.text == "Hello A")
    await desk.agent.answer(asked, "Hello B")
    await desk.chat.wait_for_end()
    assert desk.chat.text == "Hello B"
    assert [part["type"] for part in desk.chat.parts] == ["step-start", "dynamic-tool", "text"]


async def test_the_same_message_again_is_one_and_a_new_answer_is_asked_for_as_a_message(desk: Desk) -> None:
    asked = await desk.asks("hello", id="m/1")
    await desk.agent.answer(asked, "Hello.")
    await desk.chat.wait_for_end()
    before = await desk.snapshot()
    await desk.chat.send("send", text="hello", id="m/1")
    await desk.chat.wait_for_end(2)
    assert (desk.chat.text, (await desk.snapshot()).seq) == ("Hello.", before.seq)
    await desk.chat.send("again")
    await desk.agent.answer(await desk.asked(asked), "Hello again.")
    await desk.chat.wait_for_end(3)
    assert desk.chat.text == "Hello again."


async def test_a_chat_is_read_on_from_its_beginning_and_not_twice(
    desk: Desk, sdk: UiClients, gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    token = tokens.user("ana", "user")
    nobody = await sdk.chat(gateway.url, token, "a chat in which nobody has asked")
    await nobody.send("resume")
    asked = await desk.asks("hello")
    turn = desk.agent.begin(asked)
    desk.agent.state = TurnState(turn_id=turn, message_id=answer_id(turn), text_so_far="Hel", delta_seq=0)
    elsewhere = await sdk.chat(gateway.url, token, desk.chat.id)
    await elsewhere.send("resume")
    await elsewhere.until(lambda: elsewhere.text == "Hel")
    await desk.agent.answer(asked, "Hello")
    for chat in (elsewhere, desk.chat):
        await chat.wait_for_end()
        assert chat.text == "Hello"
    await desk.chat.send("resume")
    other = await sdk.chat(gateway.url, tokens.user("bob", "user"), desk.chat.id)
    await other.send("resume")
    await desk.chat.until(lambda: desk.chat.status == "ready")
    assert (nobody.messages, other.messages, [message["role"] for message in desk.chat.messages]) == (
        [], [], ["user", "assistant"]
    )  # fmt: skip


async def test_an_order_waits_for_a_yes_which_counts_once(
    desk: Desk, records: RecordsStandIn, memory: MemoryStandIn, http: Http, tokens: TokenMaker
) -> None:
    records.add_action("acme", "ana", "a1")
    asked = await desk.asks("buy one AAPL")
    await desk.agent.answer(asked, "Shall I?", ORDER)
    assert (await desk.chat.wait_for_end())["finishReason"] == "tool-calls"
    card = desk.chat.parts[-1]
    assert (card["toolName"], card["state"], card["input"]["symbol"]) == ("paper_order", "approval-requested", "AAPL")
    assert card["approval"] == {"id": "a1", "requestReason": "Buy 1 AAPL"}
    await memory.stop()  # the log has all that a yes needs
    forged = {"type": "dynamic-tool", "state": "approval-responded", "approval": {"id": "other", "approved": True}}
    body = {"id": desk.chat.id, "messages": [{"id": "x", "role": "assistant", "parts": [forged]}]}
    assert_problem(await http("POST", "/v2/ui/chat", json=body, token=tokens.user("ana", "user")), 404, "NOT_FOUND")
    forged["approval"] = {"id": "a1", "approved": "yes"}
    assert_problem(await http("POST", "/v2/ui/chat", json=body, token=tokens.user("ana", "user")), 422, "BAD_FIELD")
    forged["approval"] = {"id": "a1", "approved": True}
    assert_problem(await http("POST", "/v2/ui/chat", json=body, token=tokens.user("bob", "user")), 404, "NOT_FOUND")
    assert records.actions["a1"][1].state is ActionState.PENDING
    await desk.chat.send("approve", id="a1", approved=True)
    await desk.chat.wait_for_end(2)
    assert (desk.chat.parts[-1]["state"], desk.chat.parts[-1]["output"]["state"]) == ("output-available", "confirmed")
    # The same again changes nothing, nor does a no.
    for approved in (True, False):
        forged["approval"] = {"id": "a1", "approved": approved}
        status, said, _ = await http("POST", "/v2/ui/chat", json=body, token=tokens.user("ana", "user"))
        assert status == 200
        assert "confirmed" in str(said)
    assert (await desk.snapshot()).newest_visitor == asked


async def test_what_the_logs_end_does_not_hold_is_asked_of_memory_unless_the_yes_needs_none_of_it(
    desk: Desk,
    records: RecordsStandIn,
    memory: MemoryStandIn,
    http: Http,
    tokens: TokenMaker,
    gateway: GatewayUnderTest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.chat.threads.MAX_STREAM_DISTANCE", 0)
    records.add_action("acme", "ana", "a1")
    await desk.agent.answer(await desk.asks("buy one AAPL"), "Shall I?", ORDER)
    await desk.chat.wait_for_end()

    async def decide(action: str) -> int:
        answer = {"type": "dynamic-tool", "state": "approval-responded", "approval": {"id": action, "approved": True}}
        body = {"id": desk.chat.id, "messages": [{"id": "x", "role": "assistant", "parts": [answer]}]}
        gateway.gateway.chat.log.forget_bounds()
        return (await http("POST", "/v2/ui/chat", json=body, token=tokens.user("ana", "user")))[0]

    memory.requested_methods.clear()
    assert await decide("other") == 404
    assert "snapshot" in memory.requested_methods
    await memory.stop()
    assert (await decide("other"), await decide("a1")) == (503, 200)


async def test_a_yes_may_change_what_the_order_lets_be_changed(
    desk: Desk, records: RecordsStandIn, http: Http, tokens: TokenMaker
) -> None:
    waiting = ORDER.model_copy(update={"editable": {"quantity": {"type": "number"}}})
    records.actions["a1"] = (("acme", "ana"), waiting)
    await desk.agent.answer(await desk.asks("buy one AAPL"), "Shall I?", waiting)
    await desk.chat.wait_for_end()
    assert desk.chat.parts[-1]["approval"]["descriptor"] == {"editable": {"quantity": {"type": "number"}}}
    part: dict[str, Any] = {**desk.chat.parts[-1], "state": "approval-responded"}
    part["approval"] = {"id": "a1", "approved": True}
    part["input"] = {**part["input"], "limitPrice": 4}  # not the order that waits
    body = {"id": desk.chat.id, "messages": [{"id": "m", "role": "assistant", "parts": [part]}]}
    assert_problem(await http("POST", "/v2/ui/chat", token=tokens.user("ana", "user"), json=body), 422, "BAD_FIELD")
    await desk.chat.send("change", id="a1", input={"quantity": 2, "limitPrice": None})
    await desk.chat.send("approve", id="a1", approved=True)
    await desk.chat.wait_for_end(2)
    shown = desk.chat.parts[-1]
    assert (shown["state"], shown["output"]["details"]["quantity"]) == ("output-available", 2)


async def test_hanging_up_stops_the_answer_unless_somebody_reads_on(
    desk: Desk, sdk: UiClients, gateway: GatewayUnderTest, tokens: TokenMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tokens.user("ana", "user")
    asked = await desk.asks("tell me a long story")
    desk.agent.begin(asked)
    await desk.agent.live(LiveTurnKind.RUN_STARTED)
    await desk.agent.delta(0, "Once")
    await desk.chat.until(lambda: desk.chat.text == "Once")
    await desk.chat.send("stop")
    await desk.chat.wait_for_end()
    again = await sdk.chat(gateway.url, token, desk.chat.id)
    await again.send("resume")
    await again.until(lambda: again.status == "submitted")
    background = gateway.gateway.chat.background
    await eventually(lambda: not background)
    assert (await desk.snapshot()).unanswered
    async with ChatClient(gateway.url) as widget:
        await widget.hello(token, conversationId=desk.conversation)
        monkeypatch.setattr("gateway.chat.thread.RESUME_SECONDS", 0.1)
        await again.send("stop")
        assert (await widget.until("run.cancelled"))["reason"] == "user"


async def test_a_stop_stops_at_once_for_everybody(desk: Desk, http: Http, tokens: TokenMaker) -> None:
    asked = await desk.asks("tell me a long story")
    desk.agent.begin(asked)
    path = "/v2/ui/chat/chat-0%2Fof%20a%20client/stop"
    status, _, _ = await http("POST", path, token=tokens.user("bob", "user"))
    assert (status, (await desk.snapshot()).unanswered) == (204, True)
    status, _, _ = await http("POST", path, token=tokens.user("ana", "user"))
    assert status == 204
    await desk.chat.wait_for_end()
    assert not (await desk.snapshot()).unanswered
    status, _, _ = await http("POST", path, token=tokens.user("ana", "user"))
    assert status == 204


async def test_a_person_who_has_it_is_told_of_and_heard(desk: Desk) -> None:
    olga = Owner(kind=OwnerKind.HUMAN, operator_id="olga", name="Olga")
    await desk.asks("hello")
    await desk.agent.append(ChatKind.OWNER, OwnerChanged(owner=olga, by="olga"), "o1")
    await desk.chat.until(lambda: any(part["type"] == "data-owner" for part in desk.chat.parts))
    spoken = OperatorMessage(message_id="p1", client_message_id="p1", text="I am here", operator_id="olga", name="Olga")
    await desk.agent.append(ChatKind.OPERATOR, spoken, "p1")
    await desk.chat.wait_for_end()
    assert desk.chat.text == "I am here"
    assert desk.chat.messages[-1]["metadata"] == {"role": "operator", "name": "Olga"}


async def test_a_turn_without_an_answer_is_an_error(desk: Desk) -> None:
    asked = await desk.asks("hello")
    turn = desk.agent.begin(asked)
    notice = SystemMessage(message_id="s1", text="Sorry", code="BUDGET_SPENT", turn_id=turn, basis=asked)
    await desk.agent.append(ChatKind.SYSTEM, notice, "s1")
    assert (await desk.chat.wait_for_end())["isError"]
    assert (desk.chat.status, desk.chat.error) == ("error", "Sorry")
    assert [part["data"] for part in desk.chat.data] == [{"code": "BUDGET_SPENT"}]


async def test_what_cannot_begin_is_an_http_error(
    http: Http, desk: Desk, tokens: TokenMaker, gateway: GatewayUnderTest, sdk: UiClients
) -> None:
    path, mine = "/v2/ui/chat", tokens.user("ana", "user")

    def asking(*parts: object, chat: str = "mine") -> dict[str, object]:
        return {"id": chat, "messages": [{"id": "m1", "role": "user", "parts": list(parts)}]}

    hello = {"type": "text", "text": "hello"}
    assert_problem(await http("POST", path, json=asking(hello)), 401, "UNAUTHORIZED")
    assert_problem(await http("POST", path, json=asking(hello), token=tokens.user("o", "commercial")), 403, "FORBIDDEN")
    wrong: list[tuple[dict[str, object], str]] = [
        ({"type": "text", "text": "x" * 8001}, "TEXT_TOO_LONG"),
        ({"type": "text", "text": " "}, "EMPTY_TEXT"),
        ({"type": "file", "url": "data:,x", "mediaType": "image/png"}, "BAD_FIELD"),
    ]
    for part, code in wrong:
        assert_problem(await http("POST", path, json=asking(part), token=mine), 422, code)
    assert_problem(await http("POST", path, json={"id": "mine", "messages": []}, token=mine), 422, "BAD_FIELD")
    theirs = named_conversation_id("acme", "bob", "ui", "t")
    assert_problem(await http("POST", path, json=asking(hello, chat=theirs), token=mine), 404, "NOT_FOUND")
    assert_problem(await http("GET", f"{path}/{theirs}/stream", token=mine), 404, "NOT_FOUND")
    limits = gateway.gateway.chat.limits
    for _ in range(limits.settings.messages_per_visitor):
        limits.count_message("acme/ana", "127.0.0.1", opens_conversation=False)
    limited = await http("POST", path, json=asking(hello), token=mine)
    assert_problem(limited, 429, "RATE_LIMITED")
    assert int(limited[2]["retry-after"]) > 0
    stranger = await sdk.chat(gateway.url, "forged")
    await stranger.send("send", text="hello")
    await stranger.wait_for_end()
    assert (stranger.status, stranger.code) == ("error", 401)
