"""AG-UI over a real socket, with the protocol's own types and the public validator."""

import asyncio
import json

import pytest
from ag_ui.core import ResumeEntry
from nats.aio.client import Client

from contracts.agent_rpc import TurnState
from contracts.channels import ChatKind, LiveTurnKind
from contracts.events.chat import OperatorMessage, Owner, OwnerChanged, OwnerKind, SystemMessage
from contracts.ids import answer_id
from gateway.domain.conversation_ids import named_conversation_id
from gateway.testing.agui import AgUi, events_in, judged, kinds, text
from gateway.testing.doors import DoorDesk, order
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn
from gateway.testing.http import Http, assert_problem
from gateway.testing.records import RecordsStandIn
from gateway.testing.tokens import TokenMaker

pytestmark = pytest.mark.usefixtures("memory", "records")


class Desk(DoorDesk):
    """Ana's client, and the agent that answers it."""

    def __init__(self, gateway: GatewayUnderTest, tokens: TokenMaker, client: Client, user: str = "ana") -> None:
        self.ui = AgUi(gateway.url, tokens.user(user, "user"))
        super().__init__(client, named_conversation_id("acme", user, "ag-ui", self.ui.thread))

    async def settled(self) -> None:
        """What was published has been heard."""
        await self.client.flush()


@pytest.fixture
async def desk(gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client) -> Desk:
    made = Desk(gateway, tokens, nats_client)
    await made.agent.start()
    return made


async def test_an_answer_is_streamed_with_its_tools(desk: Desk) -> None:
    desk.ui.add_message("what is AAPL at?")
    running = asyncio.create_task(desk.ui.run())
    asked = await desk.asked()
    desk.agent.begin(asked)
    await desk.agent.live(LiveTurnKind.RUN_STARTED)
    await desk.agent.live(LiveTurnKind.TOOL_STARTED, callId="c1", tool="get_price", label="Price")
    await desk.agent.live(LiveTurnKind.TOOL_FINISHED, callId="c1", tool="get_price", success=True)
    await desk.agent.delta(0, "It is ")
    await desk.agent.delta(1, "at 200.")
    await desk.settled()
    await desk.agent.answer(asked, "It is at 200.")
    told = await running
    assert kinds(told) == [
        "RUN_STARTED",
        *("TOOL_CALL_START", "TOOL_CALL_END", "TOOL_CALL_RESULT"),
        *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"),
        "RUN_FINISHED",
    ]
    assert text(told) == "It is at 200."
    assert (told[0]["threadId"], told[1]["toolCallName"]) == (desk.ui.thread, "get_price")
    assert told[-1]["outcome"] == {"type": "success"}


async def test_the_same_run_again_is_one_message_and_the_same_answer(desk: Desk) -> None:
    desk.ui.add_message("hello", "m/1 of a client with ids of its own")
    running = asyncio.create_task(desk.ui.run())
    await desk.agent.answer(await desk.asked(), "Hello.")
    assert text(await running) == "Hello."
    before = await desk.snapshot()
    again = await desk.ui.run()
    assert (text(again), again[-1]["outcome"]) == ("Hello.", {"type": "success"})
    assert (await desk.snapshot()).seq == before.seq


async def test_a_run_in_mid_answer_has_the_text_so_far_and_the_rest(desk: Desk) -> None:
    desk.ui.add_message("hello")
    first = asyncio.create_task(desk.ui.run())
    asked = await desk.asked()
    turn = desk.agent.begin(asked)
    desk.agent.state = TurnState(turn_id=turn, message_id=answer_id(turn), text_so_far="Hel", delta_seq=0)
    pieces: list[bytes] = []
    async with desk.ui.stream(desk.ui.body()) as second:
        async for piece in second.aiter_bytes():
            pieces.append(piece)
            if text(events_in(b"".join(pieces))) == "Hel":
                await desk.agent.answer(asked, "Hello")
    assert text(await judged(pieces)) == "Hello"
    assert text(await first) == "Hello"


async def test_what_turns_out_otherwise_is_put_right(desk: Desk) -> None:
    """A turn that is driven again says its text anew, and ends with another one."""
    desk.ui.add_message("hello")
    running = asyncio.create_task(desk.ui.run())
    asked = await desk.asked()
    desk.agent.begin(asked)
    for said in (["Hel", "lo A"], ["Hel", "lo B"]):
        await desk.agent.live(LiveTurnKind.RUN_STARTED)
        for number, piece in enumerate(said):
            await desk.agent.delta(number, piece)
    await desk.settled()
    await desk.agent.answer(asked, "Hello B")
    told = await running
    assert text(told) == "Hello A"
    shown = next(one for one in told if one["type"] == "MESSAGES_SNAPSHOT")["messages"]
    assert [(one["role"], one["content"]) for one in shown] == [("user", "hello"), ("assistant", "Hello B")]


async def test_an_order_waits_for_a_yes_which_counts_once(
    desk: Desk, records: RecordsStandIn, memory: MemoryStandIn
) -> None:
    records.add_action("acme", "ana", "a1")
    desk.ui.add_message("buy one AAPL")
    running = asyncio.create_task(desk.ui.run())
    asked = await desk.asked()
    await desk.agent.answer(asked, "Shall I?", order())
    told = await running
    (interrupt,) = told[-1]["outcome"]["interrupts"]
    assert (interrupt["id"], interrupt["reason"], interrupt["message"]) == ("a1", "confirmation", "Buy 1 AAPL")
    assert kinds(told)[-2:] == ["MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    await memory.stop()  # the log has all that a yes needs
    # Asked for again, the run shows its question again.
    assert (await desk.ui.run())[-1]["outcome"]["type"] == "interrupt"
    shown = next(one for one in told if one["type"] == "MESSAGES_SNAPSHOT")["messages"]
    desk.ui.messages = list(shown)
    for wrong, code in (
        ([ResumeEntry(interrupt_id="other", status="resolved", payload={"approved": True})], "NOT_FOUND"),
        ([ResumeEntry(interrupt_id="a1", status="resolved", payload={"yes": True})], "BAD_FIELD"),
        (
            [ResumeEntry(interrupt_id="a1", status="resolved", payload={"approved": True, "editedArgs": {}})],
            "BAD_FIELD",
        ),
        (None, None),
    ):
        ended = (await desk.ui.run(wrong))[-1]
        assert ended.get("code") == code
    assert records.actions["a1"][1].state.value == "pending"
    # Something new must answer what waits.
    desk.ui.add_message("and another thing")
    assert (await desk.ui.run())[-1]["code"] == "CONFLICT"
    assert (await desk.snapshot()).newest_visitor == asked
    desk.ui.messages = list(shown)
    yes = [ResumeEntry(interrupt_id="a1", status="resolved", payload={"approved": True})]
    no = [ResumeEntry(interrupt_id="a1", status="cancelled")]
    for answer in (yes, yes, no):
        (action,) = (await desk.ui.run(answer))[-1]["result"]["actions"]
        assert (action["id"], action["state"]) == ("a1", "confirmed")


async def test_a_question_is_answered_while_the_market_cannot_tell_what_waits(
    desk: Desk, records: RecordsStandIn
) -> None:
    await records.market.drain(1.0)
    desk.ui.add_message("hello")
    running = asyncio.create_task(desk.ui.run())
    await desk.agent.answer(await desk.asked(), "Hello Ana")
    assert text(await running) == "Hello Ana"


async def test_a_yes_may_change_what_the_order_lets_be_changed(desk: Desk, records: RecordsStandIn) -> None:
    waiting = order().model_copy(
        update={"editable": {"quantity": {"type": "number"}}, "details": {"symbol": "AAPL", "quantity": "1"}}
    )
    records.actions["a1"] = (("acme", "ana"), waiting)
    desk.ui.add_message("buy one AAPL")
    running = asyncio.create_task(desk.ui.run())
    await desk.agent.answer(await desk.asked(), "Shall I?", waiting)
    told = await running
    (interrupt,) = told[-1]["outcome"]["interrupts"]
    assert list(interrupt["responseSchema"]["properties"]["editedArgs"]["properties"]) == ["quantity"]
    desk.ui.messages = list(next(one for one in told if one["type"] == "MESSAGES_SNAPSHOT")["messages"])
    for wrong in ({"approved": False, "editedArgs": {"quantity": 2}}, {"approved": True, "editedArgs": 2}):
        ended = (await desk.ui.run([ResumeEntry(interrupt_id="a1", status="resolved", payload=wrong)]))[-1]
        assert ended["code"] == "BAD_FIELD"
    payload = {"approved": True, "editedArgs": {"quantity": 2}}
    ended = (await desk.ui.run([ResumeEntry(interrupt_id="a1", status="resolved", payload=payload)]))[-1]
    (action,) = ended["result"]["actions"]
    assert (action["state"], action["details"]["quantity"]) == ("confirmed", 2)
    # "A resume with the same (threadId, interruptId, status, payload) must be safe to replay": nothing may be changed
    # any more, and nothing is.
    records.actions["a1"] = (("acme", "ana"), records.actions["a1"][1].model_copy(update={"editable": None}))
    ended = (await desk.ui.run([ResumeEntry(interrupt_id="a1", status="resolved", payload=payload)]))[-1]
    assert [one["state"] for one in ended["result"]["actions"]] == ["confirmed"]


async def test_hanging_up_stops_the_answer_for_everybody(
    desk: Desk, gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    desk.ui.add_message("tell me a long story")
    async with ChatClient(gateway.url) as widget:
        async with desk.ui.stream(desk.ui.body()) as response:
            asked = await desk.asked()
            await widget.hello(tokens.user("ana", "user"), conversationId=desk.conversation)
            desk.agent.begin(asked)
            await desk.agent.live(LiveTurnKind.RUN_STARTED)
            await desk.agent.delta(0, "Once")
            async for piece in response.aiter_text():
                if "Once" in piece:
                    break
        assert (await widget.until("run.cancelled"))["reason"] == "user"
    told = await desk.ui.run()
    assert told[-1]["outcome"] == {"type": "cancelled"}


async def test_a_person_who_has_it_is_told_of_and_heard(desk: Desk) -> None:
    olga = Owner(kind=OwnerKind.HUMAN, operator_id="olga", name="Olga")
    desk.ui.add_message("hello")
    running = asyncio.create_task(desk.ui.run())
    await desk.asked()
    await desk.agent.append(ChatKind.OWNER, OwnerChanged(owner=olga, by="olga"), "o1")
    spoken = OperatorMessage(message_id="p1", client_message_id="p1", text="I am here", operator_id="olga", name="Olga")
    await desk.agent.append(ChatKind.OPERATOR, spoken, "p1")
    told = await running
    activity = next(one for one in told if one["type"] == "ACTIVITY_SNAPSHOT")
    assert (activity["activityType"], activity["content"]["kind"]) == ("nexus.owner", "human")
    assert next(one for one in told if one["type"] == "TEXT_MESSAGE_START")["name"] == "Olga"
    assert (text(told), told[-1]["outcome"]["type"]) == ("I am here", "success")


async def test_a_run_without_a_new_message_shows_the_conversation(desk: Desk) -> None:
    desk.ui.add_message("hello", "m1")
    running = asyncio.create_task(desk.ui.run())
    await desk.agent.answer(await desk.asked(), "Hello.")
    await running
    desk.ui.messages = []
    told = await desk.ui.run()
    shown = [(one["id"], one["role"], one["content"]) for one in told[1]["messages"]]
    assert shown == [("m1", "user", "hello"), (shown[1][0], "assistant", "Hello.")]
    assert kinds(told) == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]


@pytest.mark.parametrize("code", ["LLM_UNAVAILABLE", "BUDGET_SPENT", "DEADLINE"])
async def test_a_turn_without_an_answer_is_a_run_error(desk: Desk, code: str) -> None:
    desk.ui.add_message("hello")
    running = asyncio.create_task(desk.ui.run())
    asked = await desk.asked()
    notice = SystemMessage(message_id="s1", text="Sorry", code=code, turn_id=desk.agent.begin(asked), basis=asked)
    await desk.agent.append(ChatKind.SYSTEM, notice, "s1")
    told = await running
    assert (told[-1]["type"], told[-1]["code"], told[-1]["message"]) == ("RUN_ERROR", code, "Sorry")


async def test_a_run_that_nobody_answers_ends(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.chat.thread.EXCHANGE_SECONDS", 0.5)
    desk.ui.add_message("hello")
    assert (await desk.ui.run())[-1]["code"] == "TIMEOUT"


async def test_what_cannot_begin_is_an_http_error(
    http: Http, desk: Desk, tokens: TokenMaker, gateway: GatewayUnderTest
) -> None:
    path, mine = "/v2/ag-ui", tokens.user("ana", "user")
    desk.ui.add_message("hello")
    body = json.loads(desk.ui.body())
    assert_problem(await http("POST", path, json=body), 401, "UNAUTHORIZED")
    assert_problem(await http("POST", path, json=body, token="forged"), 401, "UNAUTHORIZED")
    assert_problem(await http("POST", path, json=body, token=tokens.user("olga", "commercial")), 403, "FORBIDDEN")
    for content, code in (("x" * 8001, "TEXT_TOO_LONG"), (" ", "EMPTY_TEXT"), ([{"type": "image"}], "BAD_FIELD")):
        body["messages"] = [{"id": "m1", "role": "user", "content": content}]
        assert_problem(await http("POST", path, json=body, token=mine), 422, code)
    body["messages"] = [{"id": "m1", "role": "human", "content": "hello"}]
    assert_problem(await http("POST", path, json=body, token=mine), 422, "BAD_FIELD")
    # Another's conversation, by its own id, is not there.
    body["threadId"] = named_conversation_id("acme", "bob", "ag-ui", "t")
    body["messages"] = [{"id": "m1", "role": "user", "content": "hello"}]
    assert_problem(await http("POST", path, json=body, token=mine), 404, "NOT_FOUND")
    limits = gateway.gateway.chat.limits
    for _ in range(limits.settings.messages_per_visitor):
        limits.count_message("acme/ana", "127.0.0.1", opens_conversation=False)
    body |= {"threadId": "mine", "tools": None, "resume": None}
    limited = await http("POST", path, json=body, token=mine)
    assert_problem(limited, 429, "RATE_LIMITED")
    assert int(limited[2]["retry-after"]) > 0


async def test_anothers_thread_of_the_same_name_is_another_conversation(
    desk: Desk, gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    desk.ui.add_message("my secret")
    running = asyncio.create_task(desk.ui.run())
    await desk.agent.answer(await desk.asked(), "Noted.")
    await running
    for stranger in (tokens.user("bob", "user"), tokens.user("ana", "user", company="globex"), tokens.visitor("ana2")):
        ui = AgUi(gateway.url, stranger, desk.ui.thread)
        async with ui.stream(ui.body()) as response:
            seen = (await response.aread()).decode()
        assert "secret" not in seen
        assert "Noted" not in seen
