"""Customers at each door who order, stop an answer and listen to a person, with the requests their clients send.

A request without an answer is repeated, as a client does; the answers are recorded and compared with the log.
"""

import asyncio
import json
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import httpx
from mcp.shared.exceptions import MCPError
from nats.errors import Error as BusError

from gateway.domain.conversation_ids import named_conversation_id
from nexus_cli.drill.log_reader import LoggedFact, read_log
from runtime.testing.servers import eventually
from tests.support.chatwoot import Chatwoot, Json
from tests.support.mcp_client import Person, connected
from tests.support.running_stack import RunningStack

ORDER = {"symbol": "IBM", "side": "buy", "quantity": 1, "order_type": "limit", "limit_price": 1}
WORDS = "I am Olga, and I am here."
"""What the person who takes a conversation over writes."""
CHANGED = 2
"""The quantity to which a confirmation changes the order, at the doors that allow it."""
PATIENCE, RETRY = 150.0, 1.0
_AGAIN = (httpx.HTTPError, OSError, MCPError, BaseExceptionGroup, TimeoutError, BusError)


class DoorCustomer:
    """A customer at one door, with one conversation. `told`: the outcome of each request, by its name; `seconds`: how
    long it took."""

    door = ""

    def __init__(self, stack: RunningStack, company: str) -> None:
        self.stack, self.company = stack, company
        self.user = f"u-{uuid.uuid4().hex}"
        self.token = stack.mint("user", self.user, company, plan="pro")
        self.name = uuid.uuid4().hex
        self.reference: str = ""
        self.notes: list[str] = []
        self.told: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    @property
    def conversation(self) -> str:
        return named_conversation_id(self.company, self.user, self.door, self.name)

    async def log(self) -> list[LoggedFact]:
        """All facts of the conversation."""
        return await read_log(self.stack.facts()["urls"]["nats"], self.company, self.conversation)

    def http(self, key: str = "") -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.token}", "A2A-Version": "1.0"}
        named = {"Idempotency-Key": key} if key else {}
        return httpx.AsyncClient(base_url=self.stack.url, headers=headers | named, timeout=60)

    async def answer(self, path: str, body: Json | None, key: str = "") -> Any:
        """Returns the door's answer: JSON, or the events of a stream. Raises httpx.HTTPError for an error status."""
        async with self.http(key) as http:
            answer = await (http.get(path) if body is None else http.post(path, json=body))
        if not answer.is_success:
            raise httpx.HTTPError(f"{answer.status_code} {answer.text[:80]}")
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            return answer.json() if answer.content else None
        return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]

    async def until(self, what: str, attempt: Callable[[], Awaitable[str]]) -> None:
        """Repeats the attempt until it returns an outcome, and stores it in `told`; after PATIENCE seconds stores
        none."""
        began = again = time.monotonic()

        async def told() -> str:
            nonlocal again
            if time.monotonic() < again:
                return ""  # a client waits before it repeats a request
            try:
                return await attempt()
            except _AGAIN as error:
                self.notes.append(f"{what} {time.monotonic() - began:.1f} {type(error).__name__} {str(error)[:80]}")
                return ""
            finally:
                again = time.monotonic() + RETRY

        with suppress(AssertionError):  # no outcome in time: the comparison with the log fails then
            self.told[what] = await eventually(told, PATIENCE)
        self.seconds[what] = time.monotonic() - began


class Buyer(DoorCustomer, ABC):
    """A customer who confirms an order."""

    quantity = CHANGED
    """The quantity of the order after the confirmation."""
    action = ""

    async def orders(self) -> None:
        """Prepares an order that waits for confirmation; does nothing where one call does both."""

    @abstractmethod
    async def says_yes(self) -> str:
        """Confirms the order; returns its state."""

    async def untrue_of_a_yes(self) -> str:
        """Returns how the stored orders differ from what was told: one order, confirmed."""
        async with connected(self.stack.url, self.token) as client:
            orders = (await client.call_tool("get_pending_orders", {})).structured_content["orders"]
        placed = [order["quantity"] for order in orders if order["status"] != "pending_confirmation"]
        told = self.told.get("yes")
        return "" if (told, placed) == ("confirmed", [self.quantity]) else f"yes {told!r}, orders {placed}"


class Guest(DoorCustomer, ABC):
    """A customer whose conversation a person takes over."""

    @abstractmethod
    async def greets(self) -> None:
        """Begins a conversation and gets an answer."""

    @abstractmethod
    async def is_handed_over(self, agent: httpx.AsyncClient) -> None:
        """A human agent takes the conversation, gets a question, and answers."""

    async def untrue_of_a_person(self) -> str:
        """Returns what is wrong after a person took over: only the person may answer, once, and the answer arrives
        complete."""

        async def spoken() -> list[LoggedFact] | None:
            found = await self.log()
            return found if "operator" in [fact.kind for fact in found] else None

        found = await eventually(spoken, PATIENCE) or []
        kinds, told = [fact.kind for fact in found], self.told.get("heard")
        texts = [fact.data["text"] for fact in found if fact.kind == "operator"]
        is_right = kinds[:2] == ["visitor", "assistant"] and sorted(kinds[2:]) == ["operator", "owner", "visitor"]
        return "" if is_right and texts == [WORDS] and told == WORDS else f"heard {told!r}, log {kinds}"


class Talker(Buyer, Guest):
    """A customer with a conversation at their door, who can stop its answers."""

    async def begins(self, telling: asyncio.Event) -> None:
        """Reads a long answer as it streams, until it ends."""
        path, body = self.asks("tell me a long story", stream=True)
        seen = ""
        async with self.http() as http, http.stream("POST", path, json=body) as answer:
            async for piece in answer.aiter_text():
                seen += piece
                if "word2" in seen and not telling.is_set():
                    self.refers_to(
                        [json.loads(line[6:]) for line in seen.splitlines() if line.startswith('data: {"')][:1]
                    )
                    telling.set()

    async def greets(self) -> None:
        self.refers_to(await self.answer(*self.asks("hello")))

    async def is_handed_over(self, agent: httpx.AsyncClient) -> None:
        place = f"/v2/conversations/{self.conversation}"

        async def posted(path: str, body: Json) -> str:
            answer = await agent.post(f"{place}/{path}", json=body)
            if not answer.is_success:
                raise httpx.HTTPError(f"{answer.status_code} {answer.text[:80]}")
            return "done"

        async def asked() -> str:
            return "done" if [fact.kind for fact in await self.log()].count("visitor") == 2 else ""

        await self.until("taken", lambda: posted("owner", {"owner": "human"}))
        path, body = self.asks("are you there?")
        hearing = asyncio.create_task(self.until("heard", lambda: self.hears(path, body)))
        await self.until("asked", asked)
        said = {"clientMessageId": str(uuid.uuid4()), "text": WORDS}
        await self.until("spoken", lambda: posted("messages", said))
        await hearing

    async def untrue_of_a_stop(self) -> str:
        """Returns how the log differs from what was told: the answer stopped, nothing else written."""

        async def ended() -> list[str] | None:
            found = [fact.kind for fact in await self.log()]
            return found if len(found) > 1 else None

        told, found = self.told.get("stop"), await eventually(ended, PATIENCE)
        return "" if (told, found) == ("cancelled", ["visitor", "run"]) else f"stop {told!r}, log {found}"

    @abstractmethod
    def asks(self, text: str, *, stream: bool = False) -> tuple[str, Json]:
        """Returns the path and body of a request with this message."""

    def refers_to(self, told: Any) -> None:
        """Stores the reference that the door gives in an answer or in its first event, if it gives one."""

    @abstractmethod
    async def stops(self) -> str:
        """Stops the answer; returns its state."""

    @abstractmethod
    async def hears(self, path: str, body: Json) -> str:
        """Sends the message; returns the answer's text, empty if there is none yet."""


class AtResponses(Talker):
    """A customer of /v1/responses, whose confirmations cannot change the order."""

    door = "responses"
    quantity = 1

    @property
    def conversation(self) -> str:
        return self.reference.removeprefix("resp_").partition(".")[0]

    def asks(self, text: str, *, stream: bool = False) -> tuple[str, Json]:
        before = {"previous_response_id": self.reference} if self.reference else {}
        return "/v1/responses", {"model": "nexus", "input": text, "stream": stream, **before}

    def refers_to(self, told: Any) -> None:
        self.reference = told[0]["response"]["id"] if isinstance(told, list) else told["id"]

    async def orders(self) -> None:
        told = await self.answer(*self.asks("buy one IBM"))
        self.refers_to(told)
        self.action = next(item["id"] for item in told["output"] if item["type"] == "mcp_approval_request")

    async def says_yes(self) -> str:
        answer = {"type": "mcp_approval_response", "approval_request_id": self.action, "approve": True}
        path, body = self.asks("")
        told = await self.answer(path, {**body, "input": [answer]})
        return str(told["output"][0]["content"][0]["text"]).rpartition(": ")[2]

    async def stops(self) -> str:
        return (await self.answer(f"/v1/responses/{self.reference}/cancel", {}))["status"]

    async def hears(self, path: str, body: Json) -> str:
        told = await self.answer(path, body, key=self.name)
        told = await self.answer(f"/v1/responses/{told['id']}", None)
        return "".join(part["text"] for item in told["output"] for part in item["content"])


class AtAgUi(Talker):
    """A customer of AG-UI, which has no request to stop: the client closes the connection."""

    door = "ag-ui"

    def asks(self, text: str, *, stream: bool = False) -> tuple[str, Json]:
        run: Json = {"threadId": self.name, "runId": uuid.uuid4().hex, "state": {}, "tools": [], "context": []}
        messages = [{"id": uuid.uuid4().hex, "role": "user", "content": text}]
        return "/v2/ag-ui", {**run, "messages": messages, "forwardedProps": {}}

    async def orders(self) -> None:
        self.action = (await self.answer(*self.asks("buy one IBM")))[-1]["outcome"]["interrupts"][0]["id"]

    async def says_yes(self) -> str:
        path, body = self.asks("")
        payload = {"approved": True, "editedArgs": {"quantity": CHANGED}}
        resume = [{"interruptId": self.action, "status": "resolved", "payload": payload}]
        last = (await self.answer(path, {**body, "messages": [], "resume": resume}))[-1]
        if last["type"] == "RUN_ERROR":
            raise httpx.HTTPError(str(last))
        return last["result"]["actions"][0]["state"]

    async def stops(self) -> str:
        return "cancelled"

    async def hears(self, path: str, body: Json) -> str:
        told = await self.answer(path, body)
        return "".join(event["delta"] for event in told if event["type"] == "TEXT_MESSAGE_CONTENT")


class AtUi(Talker):
    door = "ui"

    def asks(self, text: str, *, stream: bool = False) -> tuple[str, Json]:
        message = {"id": uuid.uuid4().hex, "role": "user", "parts": [{"type": "text", "text": text}]}
        return "/v2/ui/chat", {"id": self.name, "message": message}

    async def orders(self) -> None:
        told = await self.answer(*self.asks("buy one IBM"))
        self.action = next(event for event in told if event["type"] == "tool-approval-request")["approvalId"]

    async def says_yes(self) -> str:
        part = {"type": "tool-paper_order", "toolCallId": self.action, "state": "approval-responded"}
        changed = {"input": {"quantity": CHANGED}, "approval": {"id": self.action, "approved": True}}
        messages = [{"id": "a", "role": "assistant", "parts": [part | changed]}]
        told = await self.answer("/v2/ui/chat", {"id": self.name, "messages": messages})
        return next((event["output"]["state"] for event in told if event["type"] == "tool-output-available"), str(told))

    async def stops(self) -> str:
        await self.answer(f"/v2/ui/chat/{self.name}/stop", {})
        return "cancelled"

    async def hears(self, path: str, body: Json) -> str:
        told = await self.answer(path, body)
        return "".join(event["delta"] for event in told if event["type"] == "text-delta")


class AtA2a(Talker):
    door = "a2a"

    @property
    def conversation(self) -> str:
        return self.reference.rpartition("-")[0]

    def asks(self, text: str, *, stream: bool = False) -> tuple[str, Json]:
        context = {"contextId": self.conversation} if self.reference else {}
        message = {"messageId": uuid.uuid4().hex, "role": "ROLE_USER", "parts": [{"text": text}], **context}
        return "/a2a", _call("SendStreamingMessage" if stream else "SendMessage", message=message)

    def refers_to(self, told: Any) -> None:
        self.reference = (told[0] if isinstance(told, list) else told)["result"]["task"]["id"]

    async def _task(self, method: str, **params: object) -> Json:
        """Returns the task in a method's answer; after an error, the task as it is now."""
        told = await self.answer("/a2a", _call(method, **params))
        if "error" in told:
            told = await self.answer("/a2a", _call("GetTask", id=self.reference))
        return told["result"].get("task", told["result"])

    async def orders(self) -> None:
        self.refers_to(await self.answer(*self.asks("buy one IBM")))

    async def says_yes(self) -> str:
        data = {"data": {"approved": True, "edits": {"quantity": CHANGED}}}
        message = {"messageId": self.name, "role": "ROLE_USER", "parts": [data], "taskId": self.reference}
        task = await self._task("SendMessage", message=message)
        if task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED":
            return ""
        return task["metadata"]["nexus"]["actions"][0]["state"]

    async def stops(self) -> str:
        state = (await self._task("CancelTask", id=self.reference))["status"]["state"]
        return "cancelled" if state == "TASK_STATE_CANCELED" else ""

    async def hears(self, path: str, body: Json) -> str:
        told = await self.answer(path, body)
        task = await self.answer("/a2a", _call("GetTask", id=told["result"]["task"]["id"]))
        artifacts = task["result"].get("artifacts", [])
        return "".join(part["text"] for artifact in artifacts for part in artifact["parts"])


class AtMcp(Buyer):
    """A customer of MCP, which has only tools: one call makes and confirms the order."""

    door = "mcp"

    async def says_yes(self) -> str:
        async with connected(self.stack.url, self.token, Person(quantity=CHANGED)) as client:
            meta: Any = {"idempotencyKey": self.name}
            done = await client.call_tool("create_paper_order", ORDER, meta=meta)
        if done.is_error:
            raise ConnectionError(str(done.structured_content)[:80])
        told: Json = done.structured_content
        return str(told["status"])


class AtChatwoot(Guest):
    """A contact of a Chatwoot: what is said comes there by itself."""

    door = "chatwoot"
    number = 9

    def __init__(self, stack: RunningStack, company: str, there: Chatwoot) -> None:
        super().__init__(stack, company)
        self.there = there

    @property
    def conversation(self) -> str:
        return f"cw_shop_{self.number}"

    async def tells(self, event: Json) -> str:
        """A webhook, which is sent again until it is taken."""
        status = await self.there.send(event)
        return "taken" if status == 200 else ""

    async def greets(self) -> None:
        await self.tells(self.there.message(self.number, "hello"))
        await self.there.until(lambda: len(self.there.texts(self.number)) == 1)

    async def is_handed_over(self, agent: httpx.AsyncClient) -> None:
        person = {"id": 1, "name": "Olga", "type": "user"}
        taken = self.there.changed(self.number, "open", person)
        asked = self.there.message(self.number, "are you there?")
        spoken = self.there.message(self.number, WORDS, message_type="outgoing", sender=person)
        for what, event in (("taken", taken), ("asked", asked), ("spoken", spoken)):
            await self.until(what, lambda event=event: self.tells(event))
        self.told["heard"] = WORDS  # the contact has it from Chatwoot


def _call(method: str, **params: object) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
