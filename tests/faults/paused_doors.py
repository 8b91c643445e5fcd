"""Behind every door: a server or a service stands still, before the question, in mid-answer, or while customers say
yes, stop an answer and are taken over by a person. `make test-paused`.

Its name keeps it out of the suite. Each client goes on in its protocol's own way until it has the answer: the whole of
it, once, in its own eyes and in the log; and what it was told of a yes, a stop or a person is so in the log.
"""

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from a2a.client import Client, ClientConfig, create_client
from a2a.client.errors import A2AClientError
from a2a.helpers.proto_helpers import get_artifact_text
from a2a.types import a2a_pb2 as a2a
from a2a.utils.errors import A2AError
from mcp.shared.exceptions import MCPError
from openai import AsyncOpenAI

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from gateway.domain.conversation_ids import named_conversation_id
from gateway.testing.agui import AgUi, events_in, text
from gateway.testing.ui import UiClients, ui_clients
from nexus_cli.drill.log_reader import FINAL, read_log
from runtime.testing.servers import eventually
from tests.faults.door_customers import (
    ORDER,
    PATIENCE,
    RETRY,
    AtA2a,
    AtAgUi,
    AtChatwoot,
    AtMcp,
    AtResponses,
    AtUi,
)
from tests.support.chatwoot import Chatwoot, chatwoot
from tests.support.mcp_client import Tasks, connected
from tests.support.paused import PROCESSES, frozen
from tests.support.running_stack import RunningStack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(420)]
SAID = "This answer is long enough for somebody to stop a process for a while in the middle of what it says."
TABLE = Path("paused-doors.md")
PAUSE = 12.0
"""Seconds that a process stands still; less where all have done what they do."""
LONG = " ".join(f"word{number}" for number in range(1000))
KEPT = (AtResponses, AtAgUi, AtUi, AtA2a)
"""The doors with a conversation of their own; chat completions keep nothing that could be held against a log."""
BEFORE, AMID = "before", "amid"
Told = list[str]
"""What a client was told on its way to the answer, with the second: refusals, breaks, resumptions."""


class Asked:
    """A client's way to its answer."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.notes: Told = []
        self.text = ""
        self.conversation: str | None = None
        self.first = self.whole = 0.0

    def note(self, what: object) -> None:
        """Something that is no answer, with its moment."""
        self.notes.append(f"{time.monotonic() - self.began:.1f} {type(what).__name__}: {str(what)[:80]}")

    async def tries_again(self, what: object) -> None:
        """Notes why, and waits as a client does that knows no better time."""
        self.note(what)
        await asyncio.sleep(RETRY)

    def says(self, so_far: str) -> None:
        """What the client shows now."""
        if so_far and not self.first:
            self.first = time.monotonic() - self.began
        self.text = so_far


async def responses(stack: RunningStack, token: str, asked: Asked) -> None:
    async with AsyncOpenAI(base_url=f"{stack.url}/v1", api_key=token, timeout=60) as client:
        response, number = "", -1
        key = uuid.uuid4().hex
        while True:
            try:
                stream: Any = (
                    await client.responses.retrieve(response, stream=True, starting_after=number)
                    if response
                    else await client.responses.create(
                        model="nexus", input="tell me", stream=True, extra_headers={"Idempotency-Key": key}
                    )
                )
                async for event in stream:
                    number = event.sequence_number
                    response = response or event.response.id
                    if event.type == "response.output_text.delta":
                        asked.says(asked.text + event.delta)
                    if event.type == "response.completed":
                        asked.conversation = response.removeprefix("resp_").partition(".")[0]
                        assert event.response.output[0].content[0].text == asked.text
                        return
                    if event.type in {"response.failed", "response.incomplete"}:
                        raise AssertionError(f"{event.type} {event.response.error} {event.response.incomplete_details}")
                asked.note(EOFError("the stream ended early"))
            except (openai.APIError, httpx.HTTPError) as error:
                await asked.tries_again(error)


async def completions(stack: RunningStack, token: str, asked: Asked) -> None:
    async with AsyncOpenAI(base_url=f"{stack.url}/v1", api_key=token, timeout=60) as client:
        while True:
            try:
                asked.says("")
                finish = None
                messages: Any = [{"role": "user", "content": "tell me"}]
                async for chunk in await client.chat.completions.create(model="nexus", messages=messages, stream=True):
                    for choice in chunk.choices:
                        asked.says(asked.text + (choice.delta.content or ""))
                        finish = choice.finish_reason or finish
                assert finish == "stop", finish
                return
            except openai.APIError as error:
                await asked.tries_again(error)


async def ag_ui(stack: RunningStack, token: str, asked: Asked) -> None:
    ui = AgUi(stack.url, token)
    ui.add_message("tell me")
    while True:
        seen = b""
        try:
            async with ui.stream(ui.body()) as response:
                if response.status_code != 200:
                    raise httpx.HTTPError(f"{response.status_code} {(await response.aread())[:80]!r}")
                async for piece in response.aiter_bytes():
                    seen += piece
                    asked.says(text(events_in(seen[: seen.rfind(b"\n\n") + 2])))
            last = events_in(seen)[-1]
            if last["type"] == "RUN_FINISHED":
                assert last["outcome"] == {"type": "success"}, last
                asked.conversation = ui.thread
                return
            raise httpx.HTTPError(str(last))
        except httpx.HTTPError as error:
            await asked.tries_again(error)


async def ai_sdk(stack: RunningStack, token: str, asked: Asked, sdk: UiClients) -> None:
    chat = await sdk.chat(stack.url, token, uuid.uuid4().hex)
    await chat.send("send", text="tell me", id=uuid.uuid4().hex)
    times = 1
    while True:
        ended = await chat.wait_for_end(times)
        if not ended["isError"] and chat.text:
            break
        await asked.tries_again(RuntimeError(f"{chat.error} {chat.code}"))
        # Without a status the stream broke, or could not be opened; with one nothing was begun.
        await chat.send("again" if chat.code and not chat.parts else "resume")
        times += 1
    asked.says(chat.text)
    asked.conversation = chat.id


@asynccontextmanager
async def speaking(stack: RunningStack, token: str) -> AsyncGenerator[Client]:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        yield await create_client(stack.url, ClientConfig(httpx_client=http))


async def agents(stack: RunningStack, token: str, asked: Asked) -> None:
    message = a2a.Message(message_id=str(uuid.uuid4()), role=a2a.ROLE_USER, parts=[a2a.Part(text="tell me")])
    task = a2a.Task()
    while True:
        try:
            async with speaking(stack, token) as agent:
                if not task.id:
                    stream = agent.send_message(a2a.SendMessageRequest(message=message))
                else:
                    task = await agent.get_task(a2a.GetTaskRequest(id=task.id))
                    if task.status.state == a2a.TASK_STATE_COMPLETED:
                        asked.says(get_artifact_text(task.artifacts[0]))
                        return
                    stream = agent.subscribe(a2a.SubscribeToTaskRequest(id=task.id))
                async for told in stream:
                    if told.HasField("task"):
                        task = told.task
                        asked.conversation = task.context_id
                        asked.says("".join(map(get_artifact_text, task.artifacts)))
                    if told.HasField("artifact_update"):
                        piece = told.artifact_update
                        asked.says((asked.text if piece.append else "") + get_artifact_text(piece.artifact))
                    if told.status_update.status.state == a2a.TASK_STATE_COMPLETED:
                        return
                asked.note(EOFError("the stream ended early"))
        except (A2AClientError, A2AError, httpx.HTTPError) as error:
            await asked.tries_again(error)


async def mcp(stack: RunningStack, token: str, asked: Asked) -> None:
    """A call of a tool and an analysis as a task, each made again under its key until there is a result."""
    key = uuid.uuid4().hex
    while True:
        try:
            async with connected(stack.url, token, extensions=[Tasks()]) as client:
                meta: Any = {"idempotencyKey": key}
                price = await client.call_tool("get_price", {"symbol": "AAPL"}, meta=meta)
                if price.is_error:
                    key = uuid.uuid4().hex
                    raise ConnectionError(str(price.structured_content))
                report = await client.call_tool("market_analysis", {"query": "AAPL?", "use_llm": False}, meta=meta)
                assert not report.is_error, report
                asked.says(SAID)
                return
        except (MCPError, ConnectionError, TimeoutError, BaseExceptionGroup) as error:
            await asked.tries_again(error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error)


async def woot(there: Chatwoot, asked: Asked) -> None:
    event = there.message(1, "tell me")
    assert await there.send(event) == 200
    assert await there.send(event) == 200
    await eventually(lambda: bool(there.texts(1)), PATIENCE)
    asked.says("".join(there.texts(1)))


@pytest.mark.parametrize("moment", [BEFORE, AMID])
@pytest.mark.parametrize("victim", PROCESSES)
async def test_one_stands_still_behind_every_door(
    stack: RunningStack, model: ScriptedModel, victim: str, moment: str
) -> None:
    model.say(default=ScriptedReply(text=SAID, token_ms=150))
    company = f"c-{uuid.uuid4().hex[:12]}"
    ways: dict[str, Asked] = {}
    users: dict[str, str] = {}
    async with chatwoot() as there, ui_clients() as sdk:
        channel = {**there.settings, "id": f"{company}_shop"}
        await stack.create_company(company, aiAutoResponseEnabled=True, responseDelayMs=50, channels=[channel])
        there.webhook = f"{stack.url}/v2/channels/chatwoot/{company}_shop"
        doors: dict[str, Callable[[str, Asked], Awaitable[None]]] = {
            "responses": lambda token, asked: responses(stack, token, asked),
            "completions": lambda token, asked: completions(stack, token, asked),
            "ag-ui": lambda token, asked: ag_ui(stack, token, asked),
            "ui": lambda token, asked: ai_sdk(stack, token, asked, sdk),
            "a2a": lambda token, asked: agents(stack, token, asked),
            "mcp": lambda token, asked: mcp(stack, token, asked),
            "chatwoot": lambda _, asked: woot(there, asked),
        }

        async def one(name: str) -> None:
            users[name] = f"u-{uuid.uuid4().hex}"
            asked = ways[name] = Asked()
            try:
                async with asyncio.timeout(PATIENCE):
                    await doors[name](stack.mint("user", users[name], company, plan="pro"), asked)
            except Exception as error:  # told in the table; the assertions below fail
                asked.note(error)
            asked.whole = time.monotonic() - asked.began

        async def all_of_them() -> None:
            await asyncio.gather(*map(one, doors))

        async with contextlib.AsyncExitStack() as still:
            if moment == BEFORE:
                await still.enter_async_context(frozen(stack, [victim]))
            asking = asyncio.create_task(all_of_them())
            if moment == AMID:
                await eventually(lambda: any(asked.first for asked in ways.values()), PATIENCE)
                await still.enter_async_context(frozen(stack, [victim]))
            await asyncio.wait([asking], timeout=PAUSE)
        await asking
        slow = max(there.answered_in)
        texts = there.texts(1)
    wrong: list[str] = []
    for name, asked in ways.items():
        if asked.text != SAID:
            wrong.append(f"{name} shows {asked.text!r}")
        conversation = {
            "responses": asked.conversation,
            "a2a": asked.conversation,
            "chatwoot": "cw_shop_1",
            "ag-ui": named_conversation_id(company, users[name], "ag-ui", asked.conversation or ""),
            "ui": named_conversation_id(company, users[name], "ui", asked.conversation or ""),
        }.get(name)
        if conversation is not None:
            facts = await read_log(stack.facts()["urls"]["nats"], company, conversation)
            count = [fact.kind for fact in facts].count("visitor")
            finals = [fact.data["text"] for fact in facts if fact.kind in FINAL]
            if (count, finals) != (1, [SAID]):
                wrong.append(f"{name} log {count} {finals}")
    if len(texts) != 1:
        wrong.append(f"chatwoot {texts}")
    with TABLE.open("a") as table:
        for name, asked in ways.items():
            row = f"| {victim} {moment} | {name} | {asked.first:.1f} | {asked.whole:.1f} | {'; '.join(asked.notes)} |"
            table.write(row + "\n")
        table.write(f"| {victim} {moment} | webhook | {slow:.3f} | | {'; '.join(wrong)} |\n")
    assert wrong == []


@pytest.mark.parametrize("victim", PROCESSES)
async def test_what_is_told_of_a_yes_a_stop_and_a_person_is_so(
    stack: RunningStack, model: ScriptedModel, victim: str
) -> None:
    order = ScriptedReply(tool_calls=[ScriptedCall(name="create_paper_order", arguments=ORDER)])
    model.say(
        Rule(match="buy one", replies=[order, ScriptedReply(text="Shall I?")], again=True),
        Rule(match="long story", replies=[ScriptedReply(text=LONG, token_ms=100)], again=True),
        default=ScriptedReply(text="Hello."),
    )
    company = f"c-{uuid.uuid4().hex[:12]}"
    olga = {"Authorization": f"Bearer {stack.mint('commercial', 'olga', company)}"}
    async with chatwoot() as there, httpx.AsyncClient(base_url=stack.url, headers=olga, timeout=30) as agent:
        channel = {**there.settings, "id": f"{company}_shop"}
        await stack.create_company(company, aiAutoResponseEnabled=True, responseDelayMs=0, channels=[channel])
        there.webhook = f"{stack.url}/v2/channels/chatwoot/{company}_shop"
        buyers, stoppers = [one(stack, company) for one in (*KEPT, AtMcp)], [one(stack, company) for one in KEPT]
        guests = [*(one(stack, company) for one in KEPT), AtChatwoot(stack, company, there)]
        for buyer in buyers:
            await buyer.orders()
        for guest in guests:
            await guest.greets()
        telling = [asyncio.Event() for _ in stoppers]
        streams = [asyncio.create_task(stopper.begins(begun)) for stopper, begun in zip(stoppers, telling, strict=True)]
        await asyncio.gather(*(asyncio.wait_for(begun.wait(), 60) for begun in telling))
        async with frozen(stack, [victim]):
            for stream in streams:
                stream.cancel()
            acting = [
                asyncio.create_task(doing)
                for doing in (
                    *(buyer.until("yes", buyer.says_yes) for buyer in buyers),
                    *(stopper.until("stop", stopper.stops) for stopper in stoppers),
                    *(guest.is_handed_over(agent) for guest in guests),
                )
            ]
            await asyncio.wait(acting, timeout=PAUSE)
        await asyncio.gather(*acting)
        wrong = [
            *[await buyer.untrue_of_a_yes() for buyer in buyers],
            *[await stopper.untrue_of_a_stop() for stopper in stoppers],
            *[await guest.untrue_of_a_person() for guest in guests],
        ]
    with TABLE.open("a") as table:
        for one, untrue in zip((*buyers, *stoppers, *guests), wrong, strict=True):
            told = ", ".join(f"{what} {said!r} {one.seconds.get(what, 0):.1f}" for what, said in one.told.items())
            table.write(f"| {victim} acts | {one.door} | {told} | {untrue} | {'; '.join(one.notes)} |\n")
    assert not any(wrong), wrong
