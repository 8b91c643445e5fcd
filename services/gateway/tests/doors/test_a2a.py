"""A2A 1.0 over a real socket, with the official SDK."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import pytest
from a2a.helpers.proto_helpers import get_artifact_text
from a2a.types import a2a_pb2 as a2a
from a2a.utils import errors as a2a_errors
from google.protobuf.json_format import MessageToDict
from nats.aio.client import Client

from contracts.agent_rpc import TurnState
from contracts.channels import ChatKind, LiveTurnKind
from contracts.events.chat import OperatorMessage, Owner, OwnerChanged, OwnerKind, SystemMessage
from contracts.ids import answer_id
from gateway.doors.a2a import route
from gateway.testing.a2a import Desk, message, shown, states
from gateway.testing.doors import order
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn, conversation_view
from gateway.testing.http import Http, assert_problem
from gateway.testing.records import RecordsStandIn
from gateway.testing.tokens import TokenMaker
from runtime.testing.servers import eventually

pytestmark = pytest.mark.usefixtures("memory", "records")
VERSION = {"A2A-Version": "1.0"}


@pytest.fixture
async def desk(gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client) -> AsyncIterator[Desk]:
    made = Desk(gateway, tokens.user("ana", "user"), nats_client)
    await made.start()
    yield made
    await made.http.aclose()


async def test_the_card_says_where_and_how(desk: Desk, http: Http) -> None:
    status, card, headers = await http("GET", "/.well-known/agent-card.json")
    assert (status, card["supportedInterfaces"][0]["url"]) == (200, f"{desk.url}/a2a")
    again = await http("GET", "/.well-known/agent-card.json", headers={"If-None-Match": headers["etag"]})
    assert again[0] == 304


async def test_an_answer_is_streamed_with_its_tools(desk: Desk, nats_client: Client) -> None:
    running = asyncio.create_task(desk.send(desk.streaming, desk.first))
    asked = await desk.asked()
    desk.agent.begin(asked)
    await desk.agent.live(LiveTurnKind.RUN_STARTED)
    await desk.agent.live(LiveTurnKind.TOOL_STARTED, callId="c1", tool="get_price", label="Looking at the price")
    await desk.agent.live(LiveTurnKind.TOOL_FINISHED, callId="c1", tool="get_price", success=True)
    await desk.agent.delta(0, "It is ")
    await desk.agent.delta(1, "at 200.")
    await nats_client.flush()
    await desk.agent.answer(asked, "It is at 200.")
    told = await running
    assert states(told) == ["SUBMITTED", "WORKING", "WORKING", "WORKING", "COMPLETED"]
    assert shown(told) == "It is at 200."
    assert told[2].status_update.status.message.parts[0].text == "Looking at the price"
    assert MessageToDict(told[2].status_update.metadata)["nexus"]["tool"] == "get_price"
    assert (told[0].task.context_id, told[0].task.history[0].message_id) == (desk.conversation, desk.first.message_id)


async def test_an_answer_that_takes_long_begins_with_spaces(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # httpx, as the SDK makes it, gives up after 5 s in which it hears nothing.
    monkeypatch.setattr(route, "PAUSE_SECONDS", 0.01)
    await desk.answered("Hello.")
    before = await desk.asked()
    params = {"message": {"messageId": "m9", "role": "ROLE_USER", "parts": [{"text": "Slow?"}]}}
    params["message"]["contextId"] = desk.conversation
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
    async with desk.http.stream("POST", f"{desk.url}/a2a", json=call, headers=VERSION) as response:
        body = response.aiter_raw()
        assert (response.headers["content-type"], await anext(body)) == ("application/json", b" ")
        asked = await desk.asked(before)
        await desk.agent.answer(asked, "Slowly.")
        task = json.loads(b"".join([piece async for piece in body]))["result"]["task"]
    assert task["artifacts"][0]["parts"] == [{"text": "Slowly."}]
    running = asyncio.create_task(desk.send(desk.waiting, message("Again?", context_id=desk.conversation)))
    await desk.agent.answer(await desk.asked(asked), "Yes.")
    (told,) = await running
    assert states([told]) == ["COMPLETED"]
    with pytest.raises(a2a_errors.TaskNotFoundError):
        await desk.get("nobodys-1")


async def test_the_same_message_again_is_the_same_task(desk: Desk) -> None:
    task = await desk.answered()
    before = await desk.snapshot()
    (again,) = await desk.send(desk.waiting, desk.first)
    assert (again.task.id, get_artifact_text(again.task.artifacts[0])) == (task.id, "Hello.")
    assert shown(await desk.send(desk.streaming, desk.first)) == "Hello."
    assert (await desk.snapshot()).seq == before.seq
    got = await desk.get(task.id, history_length=0)
    assert (a2a.TaskState.Name(got.status.state), len(got.history)) == ("TASK_STATE_COMPLETED", 0)
    assert get_artifact_text(got.artifacts[0]) == "Hello."


async def test_a_client_that_waits_for_nothing_asks_and_subscribes_later(desk: Desk) -> None:
    (told,) = await desk.send(desk.waiting, desk.first, return_immediately=True)
    assert states([told]) == ["SUBMITTED"]
    asked = await desk.asked()
    turn = desk.agent.begin(asked)
    desk.agent.state = TurnState(turn_id=turn, message_id=answer_id(turn), text_so_far="Hel", delta_seq=0)
    got = await desk.get(told.task.id)
    assert (states([a2a.StreamResponse(task=got)]), get_artifact_text(got.artifacts[0])) == (["WORKING"], "Hel")
    seen: list[a2a.StreamResponse] = []
    async for one in desk.streaming.subscribe(a2a.SubscribeToTaskRequest(id=told.task.id)):
        seen.append(one)
        if len(seen) == 1:
            await desk.agent.delta(1, "lo")
        elif len(seen) == 2:
            await desk.agent.answer(asked, "Hello")
    assert (states(seen)[0], states(seen)[-1], shown(seen)) == ("WORKING", "COMPLETED", "Hello")
    with pytest.raises(a2a_errors.UnsupportedOperationError):
        await desk.subscribe(told.task.id)


@pytest.mark.parametrize(
    ("approved", "state", "action"),
    [(None, "COMPLETED", "confirmed"), (True, "COMPLETED", "confirmed"), (False, "CANCELED", "rejected")],
)
async def test_an_order_needs_a_yes_which_counts_once(
    desk: Desk, records: RecordsStandIn, memory: MemoryStandIn, approved: bool | None, state: str, action: str
) -> None:
    records.add_action("acme", "ana", "a1")
    task = await desk.answered("Shall I?", order())
    assert states([a2a.StreamResponse(task=task)]) == ["INPUT_REQUIRED"]
    assert task.status.message.parts[0].text == "Buy 1 AAPL"
    (asking,) = MessageToDict(task.status.message.parts[1])["data"]["actions"]
    assert asking["id"] == "a1"
    await memory.stop()  # the log has all that a yes needs
    answer = message("Yes.", task_id=task.id, context_id=task.context_id)
    if approved is not None:
        del answer.parts[:]
        answer.parts.add().data.struct_value.update({"approved": approved})
    (told,) = await desk.send(desk.waiting, answer)
    assert states([told]) == [state]
    assert records.actions["a1"][1].state.value == action
    (again,) = await desk.send(desk.waiting, answer)  # its answer was lost
    assert (again.task.id, states([again])) == (task.id, [state])
    assert records.actions["a1"][1].state.value == action
    later = await desk.get(task.id)
    assert states([a2a.StreamResponse(task=later)]) == [state]
    decided_at = datetime.fromisoformat(records.actions["a1"][1].details["decidedAt"])
    times = {one.status.timestamp.ToMilliseconds() for one in (told.task, again.task, later)}
    assert times == {int(decided_at.timestamp() * 1000)}
    assert task.status.timestamp.ToMilliseconds() < min(times)


async def test_other_words_than_yes_or_no_are_a_task_of_their_own(desk: Desk, records: RecordsStandIn) -> None:
    records.add_action("acme", "ana", "a1")
    task = await desk.answered("Shall I?", order())
    before = await desk.asked()
    change = message("make it 2", task_id=task.id)
    running = asyncio.create_task(desk.send(desk.waiting, change))
    asked = await desk.asked(before)
    records.add_action("acme", "ana", "a2")
    await desk.agent.answer(asked, "Two, then: shall I?", order("a2"))
    (told,) = await running
    assert (told.task.id, states([told])) == (f"{desk.conversation}-{asked}", ["INPUT_REQUIRED"])
    (again,) = await desk.send(desk.waiting, change)
    assert (again.task.id, await desk.asked()) == (told.task.id, asked)
    (told,) = await desk.send(desk.waiting, message("yes", task_id=told.task.id))
    assert [records.actions[one][1].state.value for one in ("a1", "a2")] == ["pending", "confirmed"]
    await desk.send(desk.waiting, message("no", task_id=task.id))
    (again,) = await desk.send(desk.waiting, change)  # its answer was lost, and the first task has ended since
    assert (again.task.id, states([again])) == (told.task.id, ["COMPLETED"])
    with pytest.raises(a2a_errors.UnsupportedOperationError):
        await desk.send(desk.waiting, message("make it 3", task_id=task.id))


async def test_a_yes_may_change_what_the_order_lets_be_changed(desk: Desk, records: RecordsStandIn) -> None:
    waiting = order().model_copy(update={"editable": {"quantity": {"type": "number"}}, "details": {"quantity": "1"}})
    records.actions["a1"] = (("acme", "ana"), waiting)
    task = await desk.answered("Shall I?", waiting)
    (asking,) = MessageToDict(task.status.message.parts[1])["data"]["actions"]
    assert list(asking["editable"]) == ["quantity"]

    def yes(**told: Any) -> a2a.Message:
        answer = message("", task_id=task.id)
        del answer.parts[:]
        answer.parts.add().data.struct_value.update(told)
        return answer

    wrong: list[dict[str, Any]] = [
        {"approved": False, "edits": {"quantity": 2}},
        {"approved": True, "edits": 2},
        {"edits": {"quantity": 2}},
        {"approved": "yes"},
        {"approved": True, "edits": {"symbol": "IBM"}},
    ]
    for told in wrong:
        with pytest.raises(a2a_errors.InvalidParamsError):
            await desk.send(desk.waiting, yes(**told))
        assert states([a2a.StreamResponse(task=await desk.get(task.id))]) == ["INPUT_REQUIRED"]
    (ended,) = await desk.send(desk.waiting, yes(approved=True, edits={"quantity": 2}))
    assert states([ended]) == ["COMPLETED"]
    assert records.actions["a1"][1].details["quantity"] == 2


async def test_a_cancel_stops_the_answer_for_everybody(
    desk: Desk, gateway: GatewayUnderTest, tokens: TokenMaker
) -> None:
    running = asyncio.create_task(desk.send(desk.streaming, desk.first))
    asked = await desk.asked()
    task = f"{desk.conversation}-{asked}"
    async with ChatClient(gateway.url) as widget:
        await widget.hello(tokens.user("ana", "user"), conversationId=desk.conversation)
        canceled = await desk.waiting.cancel_task(a2a.CancelTaskRequest(id=task))
        assert (await widget.until("run.cancelled"))["reason"] == "user"
    assert states([a2a.StreamResponse(task=canceled)]) == ["CANCELED"]
    assert states(await running)[-1] == "CANCELED"
    with pytest.raises(a2a_errors.TaskNotCancelableError):
        await desk.waiting.cancel_task(a2a.CancelTaskRequest(id=task))


async def test_hanging_up_stops_nothing(desk: Desk) -> None:
    async for told in desk.streaming.send_message(a2a.SendMessageRequest(message=desk.first)):
        assert states([told]) == ["SUBMITTED"]
        break
    asked = await desk.asked()
    await desk.agent.answer(asked, "Hello.")
    got = await desk.get(f"{desk.conversation}-{asked}")
    assert get_artifact_text(got.artifacts[0]) == "Hello."


async def test_a_person_who_has_it_is_told_of_and_heard(desk: Desk) -> None:
    olga = Owner(kind=OwnerKind.HUMAN, operator_id="olga", name="Olga")
    running = asyncio.create_task(desk.send(desk.waiting, desk.first))
    await desk.asked()
    await desk.agent.append(ChatKind.OWNER, OwnerChanged(owner=olga, by="olga"), "o1")
    (told,) = await running
    assert states([told]) == ["WORKING"]
    assert told.task.status.message.parts[0].text == "A person has this conversation."
    following = asyncio.create_task(desk.subscribe(told.task.id))
    await eventually(lambda: not following.done())
    spoken = OperatorMessage(message_id="p1", client_message_id="p1", text="I am here", operator_id="olga", name="Olga")
    await desk.agent.append(ChatKind.OPERATOR, spoken, "p1")
    try:
        seen = await following
    except a2a_errors.UnsupportedOperationError:
        seen = [a2a.StreamResponse(task=await desk.get(told.task.id))]
    assert (states(seen)[-1], shown(seen)) == ("COMPLETED", "I am here")


@pytest.mark.parametrize("code", ["LLM_UNAVAILABLE", "BUDGET_SPENT", "DEADLINE"])
async def test_a_turn_without_an_answer_is_a_failed_task(desk: Desk, code: str) -> None:
    running = asyncio.create_task(desk.send(desk.waiting, desk.first))
    asked = await desk.asked()
    notice = SystemMessage(message_id="s1", text="Sorry", code=code, turn_id=desk.agent.begin(asked), basis=asked)
    await desk.agent.append(ChatKind.SYSTEM, notice, "s1")
    (told,) = await running
    assert (states([told]), told.task.status.message.parts[0].text) == (["FAILED"], "Sorry")
    assert MessageToDict(told.task.metadata)["nexus"]["code"] == code


async def test_tasks_are_listed_newest_first(desk: Desk, memory: MemoryStandIn) -> None:
    first = await desk.answered()
    second = message("and more", context_id=desk.conversation)
    running = asyncio.create_task(desk.send(desk.waiting, second))
    asked = await desk.asked(previous=int(first.id.rpartition("-")[2]))
    working = a2a.ListTasksRequest(context_id=desk.conversation, status=a2a.TASK_STATE_WORKING)
    assert [task.id for task in (await desk.waiting.list_tasks(working)).tasks] == [f"{desk.conversation}-{asked}"]
    await desk.agent.answer(asked, "More.")
    (told,) = await running
    assert len((await desk.waiting.list_tasks(working)).tasks) == 0
    memory.known_conversations[desk.conversation] = conversation_view(desk.conversation, "acme", "ana")
    for context in (desk.conversation, ""):
        page = await desk.waiting.list_tasks(a2a.ListTasksRequest(context_id=context, page_size=1))
        assert ([task.id for task in page.tasks], page.total_size) == ([told.task.id], 2)
        assert len(page.tasks[0].artifacts) == 0
        rest = await desk.waiting.list_tasks(
            a2a.ListTasksRequest(context_id=context, page_token=page.next_page_token, include_artifacts=True)
        )
        assert [task.id for task in rest.tasks] == [first.id]
        assert (get_artifact_text(rest.tasks[0].artifacts[0]), rest.next_page_token) == ("Hello.", "")
    none = await desk.waiting.list_tasks(a2a.ListTasksRequest(status=a2a.TASK_STATE_FAILED))
    assert len(none.tasks) == 0


async def test_what_comes_between_two_pages_neither_doubles_nor_drops_a_task(desk: Desk) -> None:
    ids = [(await desk.answered()).id]

    async def stopped() -> None:
        running = asyncio.create_task(desk.send(desk.waiting, message("and more", context_id=desk.conversation)))
        asked = await desk.asked(previous=int(ids[0].rpartition("-")[2]))
        await desk.waiting.cancel_task(a2a.CancelTaskRequest(id=f"{desk.conversation}-{asked}"))
        await running
        ids.insert(0, f"{desk.conversation}-{asked}")

    async def page(token: str = "") -> a2a.ListTasksResponse:
        wanted = a2a.ListTasksRequest(context_id=desk.conversation, page_size=1, page_token=token)
        return await desk.waiting.list_tasks(wanted)

    await stopped()
    first = await page()
    await stopped()
    second = await page(first.next_page_token)
    assert [task.id for told in (first, second) for task in told.tasks] == ids[1:]
    assert second.next_page_token == ""
    newest = await page()
    told = [newest, await page(newest.next_page_token)]
    told.append(await page(told[-1].next_page_token))
    assert [task.id for page in told for task in page.tasks] == ids
    assert newest.tasks[0].status.timestamp == (await desk.get(ids[0])).status.timestamp


async def test_anothers_task_and_context_are_not_there(
    desk: Desk, gateway: GatewayUnderTest, tokens: TokenMaker, nats_client: Client
) -> None:
    task = await desk.answered()
    for token in (tokens.user("bob", "user"), tokens.user("ana", "user", company="globex"), tokens.visitor("v1")):
        other = Desk(gateway, token, nats_client)
        await other.start()
        for call in (
            other.get(task.id),
            other.subscribe(task.id),
            other.waiting.cancel_task(a2a.CancelTaskRequest(id=task.id)),
            other.send(other.waiting, message("hi", task_id=task.id)),
        ):
            with pytest.raises(a2a_errors.TaskNotFoundError):
                await call
        with pytest.raises(a2a_errors.InvalidParamsError):
            await other.send(other.waiting, message("hi", context_id=task.context_id))
        listed = await other.waiting.list_tasks(a2a.ListTasksRequest(context_id=task.context_id))
        assert (len(listed.tasks), listed.total_size, listed.next_page_token) == (0, 0, "")
        await other.http.aclose()
    for forged in ("nonsense", f"{desk.conversation}-{2**40}", f"{desk.conversation}-0", f"{desk.conversation}-*"):
        with pytest.raises(a2a_errors.TaskNotFoundError):
            await desk.get(forged)


async def test_errors_have_the_protocols_shapes(
    desk: Desk, http: Http, tokens: TokenMaker, gateway: GatewayUnderTest
) -> None:
    mine = tokens.user("ana", "user")

    async def call(body: Any, version: dict[str, str] | None = None) -> Any:
        sent = {"data": body} if isinstance(body, str) else {"json": body}
        status, told, _ = await http(
            "POST", "/a2a", token=mine, headers=VERSION if version is None else version, **sent
        )
        assert (status, told["jsonrpc"]) == (200, "2.0")
        assert all(detail["@type"] for detail in told["error"]["data"])
        return told["id"], told["error"]["code"]

    def asking(method: str, params: Any, identity: Any = 7) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}

    def saying(*parts: Any, **configuration: Any) -> dict[str, Any]:
        said = {"messageId": "m", "role": "ROLE_USER", "parts": list(parts)}
        return asking("SendMessage", {"message": said, "configuration": configuration})

    assert await call("{", {**VERSION, "Content-Type": "application/json"}) == (None, -32700)
    assert await call("hello", {**VERSION, "Content-Type": "text/plain"}) == (None, -32005)
    assert await call([asking("GetTask", {"id": "x"})]) == (None, -32600)
    assert await call({"id": "a", "method": "GetTask"}) == ("a", -32600)
    assert await call(asking("GetTask", ["x"])) == (7, -32602)
    assert await call(asking("GetTask", {})) == (7, -32602)
    for moment in ("-1", "0", 5, "2026-01-31", "2026-01-31T12:00:00"):
        assert await call(asking("ListTasks", {"statusTimestampAfter": moment})) == (7, -32602), moment
    assert await call(asking("message/send", {})) == (7, -32601)
    assert await call(asking("GetTask", {"id": "x"}), {}) == (7, -32009)
    assert await call(asking("GetTask", {"id": "x"}), {"A2A-Version": "0.3"}) == (7, -32009)
    assert await call(asking("GetTask", {"id": "x"}), {"A2A-Version": "1.0.1"}) == (7, -32001)
    assert await call(asking("GetExtendedAgentCard", {})) == (7, -32004)
    assert await call(asking("CreateTaskPushNotificationConfig", {})) == (7, -32003)
    assert await call(saying({"text": "hi"}, taskPushNotificationConfig={"url": "http://10.0.0.1"})) == (7, -32003)
    assert await call(saying({"url": "http://10.0.0.1/x.png"})) == (7, -32005)
    assert await call(saying({"text": "hi"}, acceptedOutputModes=["image/png"])) == (7, -32005)
    assert await call(saying()) == (7, -32602)
    assert await call(saying({"text": "x" * 8001})) == (7, -32602)
    assert await call(saying({"text": " "})) == (7, -32602)
    nobody = await http("POST", "/a2a", json=asking("GetTask", {"id": "x"}))
    assert_problem(nobody, 401, "UNAUTHORIZED")
    assert nobody[2]["www-authenticate"] == "Bearer"
    operator = tokens.user("olga", "commercial")
    assert_problem(await http("POST", "/a2a", json=saying({"text": "hi"}), token=operator), 403, "FORBIDDEN")
    limits = gateway.gateway.chat.limits
    for _ in range(limits.settings.messages_per_visitor):
        limits.count_message("acme/ana", "127.0.0.1", opens_conversation=False)
    status, told, headers = await http("POST", "/a2a", json=saying({"text": "hi"}), token=mine, headers=VERSION)
    assert (status, told["error"]["data"][0]["reason"]) == (429, "RATE_LIMITED")
    assert int(headers["retry-after"]) > 0
