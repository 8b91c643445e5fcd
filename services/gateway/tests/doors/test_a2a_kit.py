"""The mandatory cases of the public kit for A2A 1.0 over JSON-RPC (a2aproject/a2a-tck, branch 1.0-dev at 357c4a8, which
no package has): the same calls and what is asked of their answers, each under the name of its requirement. The kit
tells an agent by the id of a message what is to come of it; here its text does.
"""

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import orjson
import pytest
from a2a.types import a2a_pb2 as a2a
from google.protobuf.json_format import ParseDict

from contracts.events.chat import Action
from contracts.events.market import ActionDecided
from gateway.testing.doors import AnsweringAgent, in_two_pieces
from gateway.testing.harness import AgentStandIn, GatewayUnderTest
from gateway.testing.http import PLAIN
from gateway.testing.records import RecordsStandIn, tell
from gateway.testing.tokens import TokenMaker
from runtime.clock import SystemClock

Json = dict[str, Any]
ASKS = "buy "
"""How a text begins to which the agent answers with a question; behind it, the id of the action."""
ENDED = frozenset(f"TASK_STATE_{state}" for state in ("COMPLETED", "FAILED", "CANCELED", "REJECTED"))
ORDERED = ("SUBMITTED", "WORKING", "INPUT_REQUIRED", "COMPLETED")


@dataclass
class Kit:
    """Calls of one user's client, whose every answer is one of the protocol's."""

    http: httpx.AsyncClient
    user: str
    records: RecordsStandIn

    async def raw(self, body: Any, **headers: str) -> httpx.Response:
        sent = body if isinstance(body, bytes) else orjson.dumps(body)
        return await self.http.post("/a2a", content=sent, headers={"Content-Type": "application/json", **headers})

    async def call(self, method: str, params: Json | None = None, **headers: str) -> Json:
        """The response of a call."""
        sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        answer = await self.raw(sent, **headers)
        assert answer.headers["content-type"] == "application/json"
        told = answer.json()
        assert (told["jsonrpc"], told["id"], "result" in told) == ("2.0", 1, "error" not in told)
        if "error" in told:
            assert {"code", "message"} <= told["error"].keys() <= {"code", "message", "data"}
            assert told["error"]["code"] in {*range(-32099, -32000), *range(-32700, -32599)}
        return told

    async def result(self, method: str, params: Json | None = None, **headers: str) -> Json:
        told = await self.call(method, params, **headers)
        assert "result" in told, told
        return told["result"]

    async def error(self, code: int, method: str, params: Json | None = None, **headers: str) -> None:
        told = await self.call(method, params, **headers)
        assert told.get("error", {}).get("code") == code, told
        if -32099 <= code <= -32001:
            (info,) = (one for one in told["error"]["data"] if one["@type"].endswith("google.rpc.ErrorInfo"))
            assert info["domain"] == "a2a-protocol.org"
            assert re.fullmatch("[A-Z_]+", info["reason"])

    async def stream(self, method: str, params: Json, begun: asyncio.Event | None = None) -> list[Json]:
        """The results of a call that streams, to its end; `begun` is set with the first."""
        sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        async with self.http.stream("POST", "/a2a", json=sent) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            told: list[Json] = []
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    told.append(orjson.loads(line[6:]))
                    if begun is not None:
                        begun.set()
        for one in told:
            assert (one["jsonrpc"], one["id"]) == ("2.0", 1)
            ParseDict(one["result"], a2a.StreamResponse())
        return [one["result"] for one in told]

    async def sent(self, text: str = "hello", configuration: Json | None = None, **fields: Any) -> Json:
        """The task of a message."""
        params = {"message": message(text, **fields), "configuration": configuration or {}}
        return (await self.result("SendMessage", params))["task"]

    async def asking(self) -> Json:
        """A task that waits for its user."""
        self.records.add_action("acme", self.user, self.user)
        task = await self.sent(ASKS + self.user)
        assert state(task) == "TASK_STATE_INPUT_REQUIRED"
        return task

    async def decided(self, task: Json, **fields: Any) -> Json:
        """The same when its user has said yes, of which the market tells everybody."""
        ended = await self.sent("Yes.", taskId=task["id"], **fields)
        told: Json = {"action": self.records.actions[self.user][1], "decided_at": SystemClock().now()}
        decided = ActionDecided(company_id="acme", user_id=self.user, conversation_id=task["contextId"], **told)
        await tell(self.records.client, "action.decided.v1", self.user, decided)
        return ended


def message(text: str, **fields: Any) -> Json:
    return {"messageId": uuid.uuid4().hex, "role": "ROLE_USER", "parts": [{"text": text}], **fields}


def state(task: Json) -> str:
    return task["status"]["state"]


def states(told: list[Json]) -> list[str]:
    found = [one.get("task") or one.get("statusUpdate") for one in told]
    return [state(one) for one in found if one is not None]


Case = Callable[[Kit], Awaitable[None]]
CASES: dict[str, Case] = {}


def case(*requirements: str) -> Callable[[Case], Case]:
    def kept(one: Case) -> Case:
        CASES[" ".join(requirements)] = one
        return one

    return kept


@case("CORE-SEND-001", "CORE-EXECUTION-MODE-001", "CORE-MULTI-001a", "CORE-MULTI-003", "JSONRPC-FMT-001")
async def _a_message_becomes_a_task(kit: Kit) -> None:
    one, two = await kit.sent(), await kit.sent(configuration={"returnImmediately": False})
    assert {state(one), state(two)} == {"TASK_STATE_COMPLETED"}
    assert one["id"] != two["id"]
    assert one["contextId"]


@case("CORE-EXECUTION-MODE-002")
async def _it_need_not_be_waited_for(kit: Kit) -> None:
    assert state(await kit.sent(configuration={"returnImmediately": True})) == "TASK_STATE_SUBMITTED"


@case("CORE-SEND-002", "CORE-CANCEL-002", "STREAM-SUB-003")
async def _what_has_ended_is_over(kit: Kit) -> None:
    task = await kit.sent()
    await kit.error(-32004, "SendMessage", {"message": message("more", taskId=task["id"])})
    await kit.error(-32002, "CancelTask", {"id": task["id"]})
    await kit.error(-32004, "SubscribeToTask", {"id": task["id"]})


@case("CORE-SEND-003")
async def _a_kind_of_content_that_is_not_taken_is_named_so(kit: Kit) -> None:
    part = {"raw": "dGNr", "mediaType": "application/x-unsupported-tck-type"}
    await kit.error(-32005, "SendMessage", {"message": {**message(""), "parts": [part]}})


@case("CORE-STREAM-001", "CORE-STREAM-003", "STREAM-ORDER-001", "JSONRPC-SSE-001")
async def _a_stream_begins_with_the_task_and_closes_with_its_end(kit: Kit) -> None:
    told = await kit.stream("SendStreamingMessage", {"message": message("hello")})
    seen = [ORDERED.index(state.removeprefix("TASK_STATE_")) for state in states(told)]
    assert ("task" in told[0], seen) == (True, sorted(seen))
    assert states(told)[-1] in ENDED


@case("CORE-GET-001", "CORE-HIST-002", "DM-SERIAL-001", "DM-SERIAL-002", "DM-SERIAL-003")
async def _a_task_is_got_as_it_stands(kit: Kit) -> None:
    task = await kit.asking()
    for fields in ({}, {"historyLength": 1}, {"history_length": 1}):
        got = await kit.result("GetTask", {"id": task["id"], **fields})
        assert (got["id"], state(got), len(got["history"])) == (task["id"], state(task), 1)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", got["status"]["timestamp"])
    keys = re.findall(r'"(\w+)": ', orjson.dumps({**got, "metadata": None}).decode())
    assert not [key for key in keys if "_" in key]


@case(
    *(f"DM-{name}" for name in ("TASK-001", "TASK-002", "MSG-002", "PART-001", "ART-001", "STATUS-001", "SERIAL-004"))
)
async def _what_is_sent_is_what_the_protocol_describes(kit: Kit) -> None:
    for task in (await kit.sent(), await kit.asking()):
        ParseDict({"task": task}, a2a.SendMessageResponse())
        assert all(part.keys() & {"text", "data"} for one in task["artifacts"] for part in one["parts"])


@case("CORE-GET-002", "CORE-CANCEL-003", "CORE-MULTI-004", "JSONRPC-ERR-001", "JSONRPC-ERR-002", "JSONRPC-ERR-003")
async def _what_is_not_there_is_not_found(kit: Kit) -> None:
    for method in ("GetTask", "CancelTask"):
        await kit.error(-32001, method, {"id": "tck-nonexistent"})
    await kit.error(-32001, "SendMessage", {"message": message("hi", taskId="tck-nonexistent")})


@case("STREAM-SUB-004")
async def _nor_is_it_subscribed_to(kit: Kit) -> None:
    await kit.error(-32001, "SubscribeToTask", {"id": "tck-nonexistent"})


@case("CORE-LIST-001", "CORE-LIST-002", "CORE-LIST-003", "CORE-LIST-004", "CORE-LIST-005")
async def _tasks_are_listed_by_pages(kit: Kit) -> None:
    nothing = await kit.result("ListTasks", {"context_id": "tck-test-context", "page_size": 2})
    assert (nothing["tasks"], nothing["nextPageToken"]) == ([], "")
    first = await kit.sent()
    for _ in range(2):
        await kit.sent(contextId=first["contextId"])
    where: Json = {"contextId": first["contextId"], "page_size": 2}
    page = await kit.result("ListTasks", where)
    rest = await kit.result("ListTasks", {**where, "pageToken": page["nextPageToken"]})
    assert [len(one["tasks"]) for one in (page, rest)] == [2, 1]
    assert (page["nextPageToken"] != "", rest["nextPageToken"]) == (True, "")
    times = [one["status"]["timestamp"] for one in (*page["tasks"], *rest["tasks"])]
    assert times == sorted(times, reverse=True)
    assert not [one for one in page["tasks"] if "artifacts" in one]
    ParseDict(page, a2a.ListTasksResponse())


@case("CORE-CANCEL-001")
async def _a_task_that_waits_can_be_cancelled(kit: Kit) -> None:
    task = await kit.asking()
    ended = await kit.result("CancelTask", {"id": task["id"]})
    assert (ended["id"], state(ended)) == (task["id"], "TASK_STATE_CANCELED")


@case("CORE-MULTI-005", "CORE-MULTI-006")
async def _a_task_knows_its_context(kit: Kit) -> None:
    task = await kit.asking()
    wrong = message("Yes.", taskId=task["id"], contextId="tck-wrong-context")
    assert "error" in await kit.call("SendMessage", {"message": wrong})
    assert (await kit.decided(task))["contextId"] == task["contextId"]


@case("CORE-MULTI-002a")
async def _a_context_that_the_client_names_is_refused_and_not_exchanged(kit: Kit) -> None:
    await kit.error(-32602, "SendMessage", {"message": message("hi", contextId="tck-client-context")})


@case("STREAM-SUB-001", "STREAM-SUB-002", *(f"STREAM-ORDER-00{number}" for number in (2, 3, 4)))
async def _who_subscribes_to_a_task_that_waits_hears_of_its_end(kit: Kit) -> None:
    task = await kit.asking()
    call = {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task["id"]}}
    first: list[Json] = []
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        begun = [asyncio.Event() for _ in range(2)]
        following = [group.create_task(kit.stream("SubscribeToTask", {"id": task["id"]}, one)) for one in begun]
        async with kit.http.stream("POST", "/a2a", json=call) as answer:
            async for line in answer.aiter_lines():
                first.append(orjson.loads(line.removeprefix("data: "))["result"])
                break
        for one in begun:
            await one.wait()
        await kit.decided(task)
    one, two = (following[0].result(), following[1].result())
    for update in (one[-1], two[-1]):
        assert update["statusUpdate"]["status"].pop("timestamp")  # when each has heard of it: not the same millisecond
    assert (first[0]["task"]["id"], one) == (task["id"], two)
    assert ("task" in one[0], states(one)) == (True, ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"])


@case("CORE-ERR-001", "CORE-ERR-002", "CORE-CAP-001", "CORE-CAP-003", "JSONRPC-SSE-002")
async def _each_error_has_its_code(kit: Kit) -> None:
    await kit.error(-32601, "NonExistentMethod")
    await kit.error(-32602, "SendMessage")
    await kit.error(-32003, "CreateTaskPushNotificationConfig", {"taskId": "t", "url": "https://example.com"})
    await kit.error(-32004, "GetExtendedAgentCard")
    told = (await kit.raw(b"hello", **{"Content-Type": "text/plain"})).json()
    assert told["error"]["code"] == -32005


@case("VER-SERVER-001", "VER-SERVER-002", "VER-SERVER-003", "JSONRPC-SVC-002")
async def _the_version_is_heeded_and_extensions_are_no_error(kit: Kit) -> None:
    for version in ("99.0", ""):
        await kit.error(-32009, "SendMessage", {"message": message("hi")}, **{"A2A-Version": version})
    extensions = {"A2A-Extensions": "https://example.com/ext/v1,https://example.com/ext/v2"}
    await kit.result("SendMessage", {"message": message("hi")}, **extensions)


@case("CARD-DISC-001", "CARD-STRUCT-001", "CARD-PROTO-001", "CARD-PROTO-002", "BIND-FIELD-001")
async def _the_card_describes_the_agent(kit: Kit) -> None:
    card = (await kit.http.get("/.well-known/agent-card.json")).json()
    ParseDict(card, a2a.AgentCard())
    needed = "name description supportedInterfaces version capabilities defaultInputModes defaultOutputModes skills"
    assert not set(needed.split()) - card.keys()
    assert [(one["protocolBinding"], one["protocolVersion"]) for one in card["supportedInterfaces"]] == [
        ("JSONRPC", "1.0")
    ]


async def _answers(agent: AnsweringAgent, turn: AgentStandIn, basis: int, text: str) -> None:
    order = {"id": text.removeprefix(ASKS), "kind": "paper_order", "state": "pending", "summary": "Buy 1 AAPL"}
    agent.actions = [Action.model_validate(order)] if text.startswith(ASKS) else []
    await in_two_pieces(agent, turn, basis, text)


@pytest.mark.usefixtures("memory")
async def test_every_mandatory_case_of_the_public_kit_passes(
    gateway: GatewayUnderTest, tokens: TokenMaker, agent: AnsweringAgent, records: RecordsStandIn
) -> None:
    agent.answering = _answers
    wrong: dict[str, str] = {}
    for number, (requirements, item) in enumerate(CASES.items()):
        user = f"u{number}"  # each with the limits of a user
        headers = {"Authorization": f"Bearer {tokens.user(user, 'user')}", "A2A-Version": "1.0"}
        async with httpx.AsyncClient(verify=PLAIN, base_url=gateway.url, headers=headers, timeout=20) as http:
            try:
                await item(Kit(http, user, records))
            except (AssertionError, ExceptionGroup, TimeoutError) as error:
                wrong[requirements] = str(error)
    assert wrong == {}
