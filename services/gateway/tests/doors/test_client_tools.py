"""The client's own tools, in AG-UI and in the AI SDK: a call is handed to it, and the turn goes on with its result."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import AssistantMessage, FunctionCall, Tool, ToolCall, ToolMessage
from nats.aio.client import Client

from contracts.agent_rpc import TurnState
from contracts.channels import LiveTurnKind, journal
from contracts.events.turn import HandedCall, JournalCall, TurnJournal
from contracts.ids import answer_id
from gateway.domain.conversation_ids import named_conversation_id
from gateway.testing.agui import AgUi, Events, kinds, text
from gateway.testing.doors import AnsweringAgent
from gateway.testing.harness import AgentStandIn, GatewayUnderTest
from gateway.testing.process import GatewayProcess
from gateway.testing.tokens import TokenMaker
from gateway.testing.ui import UiChat, UiClients, ui_clients
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.client_results import ClientResults
from runtime.clock import SystemClock
from runtime.settings import TokenSettings
from runtime.testing.servers import NatsServer

pytestmark = pytest.mark.usefixtures("memory", "records")
NAME, DESCRIPTION = "get_location", "Where the user is."
PLACE = {"city": "Madrid"}


class CallingAgent:
    """An agent that calls the client's tool once for each message, and answers with what it is given."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.results = ClientResults(client, "/nexus/gateway")
        self.given: list[Any] = []
        self.wishes: list[Any] = []
        self.goes_on = asyncio.Event()
        self.goes_on.set()

    async def __call__(self, agent: AnsweringAgent, turn: AgentStandIn, basis: int, said: str) -> None:
        del said
        self.wishes = agent.wishes
        call = f"{turn.turn}-0-0"
        now = SystemClock().now()
        calls = [JournalCall(call_id=call, tool="get_location", arguments={})]
        kept = TurnJournal(turn_id=turn.turn, basis=basis, calls=calls, started_at=now, deadline=now)
        event = json.dumps({"data": kept.to_wire()}).encode()
        subject = journal(turn.company, turn.conversation)
        await Publisher(self.client).append(subject, event, stream="TURNS", msg_id=f"j.{turn.turn}")
        message = answer_id(turn.turn)
        turn.state = TurnState(
            turn_id=turn.turn,
            message_id=message,
            text_so_far="One moment. ",
            delta_seq=0,
            waiting=[HandedCall(call_id=call, tool="get_location", arguments={"exact": True})],
        )
        await turn.delta(0, "One moment. ")
        notice = {"callId": call, "tool": "get_location", "label": "get_location"}
        await turn.live(LiveTurnKind.TOOL_STARTED, **notice, arguments={"exact": True}, left=0)
        result = await self.results.wait(turn.company, turn.conversation, call, 20.0)
        await self.goes_on.wait()
        turn.state = None
        self.given.append(result)
        await turn.live(LiveTurnKind.TOOL_FINISHED, callId=call, tool="get_location", success=True)
        await turn.live(LiveTurnKind.RUN_STARTED)
        answer = f"You are in {(result or {}).get('data', {}).get('city')}."
        await turn.delta(0, answer[:7])
        await turn.answer(basis, answer)


@pytest.fixture
async def calling(nats_client: Client, gateway: GatewayUnderTest) -> CallingAgent:
    del gateway
    made = CallingAgent(nats_client)
    await AnsweringAgent(nats_client, answering=made).start()
    return made


class ToolUser(AgUi):
    """A client of AG-UI that brings a tool, and holds what HttpAgent would hold."""

    def body(self, resume: Any = None) -> str:
        tool = Tool(name=NAME, description=DESCRIPTION, parameters={"type": "object", "properties": {}})
        return json.dumps({**json.loads(super().body(resume)), "tools": [tool.model_dump(by_alias=True)]})

    def holds(self, told: Events) -> str:
        """The call that the run has ended with."""
        started = next(one for one in told if one["type"] == "TOOL_CALL_START")
        arguments = "".join(one["delta"] for one in told if one["type"] == "TOOL_CALL_ARGS")
        said = next((one["messageId"] for one in told if one["type"] == "TEXT_MESSAGE_START"), None)
        if said is not None:
            self.messages.append(AssistantMessage(id=said, content=text(told)))
        call = ToolCall(
            id=started["toolCallId"],
            function=FunctionCall(name=started["toolCallName"], arguments=arguments),
        )
        self.messages.append(AssistantMessage(id=call.id, tool_calls=[call]))
        return call.id

    def gives(self, call: str, content: str) -> None:
        self.messages.append(ToolMessage(id=f"result of {call}", tool_call_id=call, content=content))


@pytest.fixture
def ui(gateway: GatewayUnderTest, tokens: TokenMaker) -> ToolUser:
    return ToolUser(gateway.url, tokens.user("ana", "user"))


async def test_ag_ui_hands_a_call_out_and_goes_on_with_its_result(ui: ToolUser, calling: CallingAgent) -> None:
    ui.add_message("where am I?")
    told = await ui.run()
    assert kinds(told) == [
        "RUN_STARTED",
        *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"),
        *("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"),
        "RUN_FINISHED",
    ]
    assert json.loads(next(one["delta"] for one in told if one["type"] == "TOOL_CALL_ARGS")) == {"exact": True}
    assert [tool["name"] for tool in calling.wishes[0]["tools"]] == ["get_location"]
    call = ui.holds(told)
    waiting = {"type": "success", "pendingToolCallIds": [call]}
    assert told[-1]["outcome"] == waiting
    # The client was away, and asks once more before it has run the tool: the call is the same.
    assert (await ui.run())[-1]["outcome"] == waiting
    ui.gives(call, json.dumps(PLACE))
    # The agent still thinks that it waits: what was given is not asked for again.
    calling.goes_on.clear()
    running = asyncio.create_task(ui.run())
    given = await calling.results.wait("acme", named_conversation_id("acme", "ana", "ag-ui", ui.thread), call, 20.0)
    assert given == {"success": True, "data": PLACE}
    calling.goes_on.set()
    told = await running
    assert (text(told), kinds(told)[-2:]) == ("You are in Madrid.", ["TEXT_MESSAGE_END", "RUN_FINISHED"])
    said = {one["messageId"] for one in told if one["type"] == "TEXT_MESSAGE_START"}
    assert said.isdisjoint({message.id for message in ui.messages})
    # Twice, and with another result: the first one stands, and the answer is shown.
    ui.messages[-1] = ToolMessage(id="again", tool_call_id=call, content="Paris")
    assert text(await ui.run()) == "You are in Madrid."
    assert calling.given == [{"success": True, "data": PLACE}]


async def test_a_gateway_killed_while_the_client_works(
    nats_server: NatsServer, nats_client: Client, keys: TokenSettings, tokens: TokenMaker, tmp_path: Path
) -> None:
    await ensure_streams(nats_client)
    calling = CallingAgent(nats_client)
    await AnsweringAgent(nats_client, answering=calling).start()
    first = GatewayProcess(tmp_path / "first", nats_server.url, keys)
    second = GatewayProcess(tmp_path / "second", nats_server.url, keys)
    await asyncio.gather(asyncio.to_thread(first.start), asyncio.to_thread(second.start))
    try:
        client = ToolUser(first.url, tokens.user("ana", "user"))
        client.add_message("where am I?")
        call = client.holds(await client.run())
        await asyncio.to_thread(first.kill)
        client.gives(call, json.dumps(PLACE))
        client.url = f"{second.url}/v2/ag-ui"
        assert text(await client.run()) == "You are in Madrid."
        assert calling.given == [{"success": True, "data": PLACE}]
    finally:
        first.stop()
        second.stop()


async def test_a_result_for_nothing_that_waits_is_refused(
    ui: ToolUser, calling: CallingAgent, gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    ui.add_message("where am I?")
    call = ui.holds(await ui.run())
    other = ToolUser(gateway.url, tokens.user("bob", "user"), ui.thread)
    for client, name in ((other, call), (ui, "made-up")):
        held = list(client.messages)
        client.gives(name, "x")
        told = await client.run()
        assert (told[-1]["type"], told[-1]["code"]) == ("RUN_ERROR", "NOT_FOUND")
        client.messages[:] = held
    assert calling.given == []
    for content in ("x" * 40_000, '"\\ud800"', "1" + "0" * 30, "[" * 300 + "]" * 300):
        ui.gives(call, content)
        async with ui.stream(ui.body()) as response:
            assert response.status_code == 422, content[:20]
        ui.messages.pop()


@pytest.mark.parametrize(
    ("tool", "named"),
    [
        ({"name": "no name"}, "tools[0].name"),
        ({"name": "a", "parameters": [1]}, "tools[0].parameters"),
        ({"name": "a", "parameters": {"type": "string"}}, "tools[0].parameters"),
        ({"name": "a", "parameters": {"properties": {"x": {"type": "nonsense"}}}}, "tools[0].parameters"),
        ({"name": "a", "parameters": {"properties": {"x": {"$ref": "http://127.0.0.1:1/x"}}}}, "it refers to"),
        ({"name": "a", "parameters": {"maximum": 10**30}}, "tools"),
        ({"name": "a", "description": "\ud800"}, "half a character"),
    ],
)
async def test_a_tool_that_no_model_could_be_offered_is_refused(ui: ToolUser, tool: Any, named: str) -> None:
    ui.add_message("where am I?")
    async with ui.stream(json.dumps({**json.loads(ui.body()), "tools": [tool]})) as response:
        assert (response.status_code, named in (await response.aread()).decode()) == (422, True)


async def test_two_tools_of_one_name_are_refused(ui: ToolUser) -> None:
    ui.add_message("where am I?")
    async with ui.stream(json.dumps({**json.loads(ui.body()), "tools": [{"name": "a"}, {"name": "a"}]})) as response:
        assert (response.status_code, b"two have the name a" in await response.aread()) == (422, True)


@pytest.fixture
async def sdk() -> AsyncGenerator[UiClients]:
    async with ui_clients() as running:
        yield running


async def test_the_ai_sdk_runs_its_tool_and_the_message_goes_on(
    sdk: UiClients, calling: CallingAgent, gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    token = tokens.user("ana", "user")
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    brought = {"tools": [{"name": NAME, "description": DESCRIPTION, "inputSchema": schema}]}
    chat = await sdk.chat(gateway.url, token, body=brought)
    await chat.send("send", text="where am I?")
    assert (await chat.wait_for_end())["finishReason"] == "tool-calls"
    call = handed(chat)
    assert (call["toolName"], call["input"], call["state"]) == ("get_location", {"exact": True}, "input-available")
    assert calling.wishes[0]["tools"][0]["parameters"] == schema
    # Another tab that comes in now is handed the same call.
    other = await sdk.chat(gateway.url, token, chat.id)
    await other.send("resume")
    await other.wait_for_end()
    assert handed(other)["toolCallId"] == call["toolCallId"]
    await chat.send("output", tool="get_location", id=call["toolCallId"], output=PLACE)
    assert (await chat.wait_for_end(2))["finishReason"] == "stop"
    assert chat.text == "One moment. You are in Madrid."
    assert len(chat.messages) == 2
    assert handed(chat)["state"] == "output-available"
    # The other tab's result comes late.
    await other.send("output", tool="get_location", id=call["toolCallId"], output={"city": "Paris"})
    await other.wait_for_end(2)
    assert other.text.endswith("You are in Madrid.")
    assert calling.given == [{"success": True, "data": PLACE}]


def handed(chat: UiChat) -> dict[str, Any]:
    """The client's call in the newest message."""
    return next(part for part in chat.parts if part["type"] == "dynamic-tool")
