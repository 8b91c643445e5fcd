"""kill -9 of the gateway in mid-answer: other people's clients resume in their own way, with the whole answer once."""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx
import pytest
from a2a.client import Client, ClientConfig, create_client
from a2a.client.errors import A2AClientError
from a2a.helpers.proto_helpers import get_artifact_text
from a2a.types import a2a_pb2 as a2a
from a2a.utils.errors import UnsupportedOperationError
from nats.aio.client import Client as Nats

from agent.scripted_model.server import ScriptedModel
from gateway.domain.conversation_ids import named_conversation_id
from gateway.testing.agui import AgUi, events_in, text
from gateway.testing.ui import ui_clients
from nexus_cli.drill.log_reader import FINAL, read_log
from runtime.bus.connection import jetstream
from runtime.testing.servers import eventually
from tests.faults.pulled_plug import IN_MID_ANSWER, SAID, SECONDS_A_CHARACTER, SLOW, Plug, said_once
from tests.support.chatwoot import chatwoot
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


@IN_MID_ANSWER
async def test_agui_runs_again(stack: RunningStack, model: ScriptedModel, heard: int) -> None:
    model.say(default=SLOW)
    user = f"u-{uuid.uuid4().hex}"
    ui = AgUi(stack.url, stack.mint("user", user, "acme"))
    ui.add_message("tell me")
    seen, dead = b"", 0

    async def run() -> None:
        nonlocal seen, dead
        async with ui.stream(ui.body()) as response:
            async for piece in response.aiter_bytes():
                seen += piece
                if not dead and len(text(events_in(seen[: seen.rindex(b"\n\n") + 2]))) >= heard:
                    dead = stack.kill("gateway")

    with pytest.raises(httpx.TransportError):
        await run()
    await stack.back("gateway", dead)
    ui.url = f"{stack.url}/v2/ag-ui"
    told = await ui.run()
    assert (text(told), told[-1]["outcome"]) == (SAID, {"type": "success"})
    assert await said_once(stack, named_conversation_id("acme", user, "ag-ui", ui.thread))


@IN_MID_ANSWER
async def test_the_ai_sdk_resumes_its_stream(stack: RunningStack, model: ScriptedModel, heard: int) -> None:
    model.say(default=SLOW)
    user = f"u-{uuid.uuid4().hex}"
    token = stack.mint("user", user, "acme")
    async with ui_clients() as sdk:
        chat = await sdk.chat(stack.url, token, uuid.uuid4().hex)
        await chat.send("send", text="tell me")
        await chat.until(lambda: len(chat.text) >= heard)
        dead = stack.kill("gateway")
        assert (await chat.wait_for_end())["isError"]
        await stack.back("gateway", dead)
        await chat.send("resume")
        await chat.wait_for_end(2)
        assert (chat.text, [message["role"] for message in chat.messages]) == (SAID, ["user", "assistant"])
    assert await said_once(stack, named_conversation_id("acme", user, "ui", chat.id))


@asynccontextmanager
async def speaking_a2a(stack: RunningStack, token: str) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        yield await create_client(stack.url, ClientConfig(httpx_client=http))


@IN_MID_ANSWER
async def test_a2a_subscribes_again(stack: RunningStack, model: ScriptedModel, heard: int) -> None:
    model.say(default=SLOW)
    token = stack.mint("user", f"u-{uuid.uuid4().hex}", "acme")
    asked = a2a.Message(message_id=str(uuid.uuid4()), role=a2a.ROLE_USER, parts=[a2a.Part(text="tell me")])
    task, dead, said = a2a.Task(), 0, ""

    async def send() -> None:
        nonlocal task, dead, said
        async with speaking_a2a(stack, token) as agent:
            async for told in agent.send_message(a2a.SendMessageRequest(message=asked)):
                if told.HasField("task"):
                    task = told.task
                said += get_artifact_text(told.artifact_update.artifact)
                if not dead and len(said) >= heard:
                    dead = stack.kill("gateway")

    with pytest.raises(A2AClientError):
        await send()
    await stack.back("gateway", dead)
    shown: dict[str, str] = {}
    async with speaking_a2a(stack, token) as agent:
        try:
            async for told in agent.subscribe(a2a.SubscribeToTaskRequest(id=task.id)):
                for artifact in told.task.artifacts:
                    shown[artifact.artifact_id] = get_artifact_text(artifact)
                if told.HasField("artifact_update"):
                    piece = told.artifact_update
                    before = shown.get(piece.artifact.artifact_id, "") if piece.append else ""
                    shown[piece.artifact.artifact_id] = before + get_artifact_text(piece.artifact)
        except UnsupportedOperationError:
            # It has ended meanwhile, and is got instead.
            pass
        got = await agent.get_task(a2a.GetTaskRequest(id=task.id))
    assert list(shown.values()) in ([], [SAID])
    assert (got.status.state, get_artifact_text(got.artifacts[0])) == (a2a.TASK_STATE_COMPLETED, SAID)
    assert await said_once(stack, task.context_id)


async def nothing_waits(stack: RunningStack) -> None:
    """What memory was delivering when it died has been given to it again, and is done with."""
    bus = Nats()
    await bus.connect(stack.facts()["urls"]["nats"])
    try:

        async def done() -> bool:
            now = await jetstream(bus).consumer_info("WEBHOOKS", "memory-deliveries")
            return not now.num_ack_pending and not now.num_pending

        await eventually(done)
    finally:
        await bus.close()


@IN_MID_ANSWER
async def test_chatwoots_reader_has_the_answer_once(stack: RunningStack, model: ScriptedModel, heard: int) -> None:
    """The gateway dies in mid-answer, and memory while Chatwoot takes the answer from it."""
    model.say(default=SLOW)
    company = f"c-{uuid.uuid4().hex[:12]}"
    async with chatwoot() as there:
        channel = {**there.settings, "id": f"{company}_shop"}
        await stack.create_company(company, aiAutoResponseEnabled=True, responseDelayMs=50, channels=[channel])
        there.webhook = f"{stack.url}/v2/channels/chatwoot/{company}_shop"
        dead: list[int] = []
        there.on_message = lambda: dead.append(stack.kill("memory")) if not dead else None
        assert await there.send(there.message(1, "tell me")) == 200
        plug = Plug(stack)
        asyncio.get_running_loop().call_later(heard * SECONDS_A_CHARACTER, plug.pull)
        await there.until(lambda: len(dead) == 1)
        await plug.mended()
        there.webhook = f"{stack.url}/v2/channels/chatwoot/{company}_shop"
        await stack.back("memory", dead[0])
        assert await there.send(there.message(1, "and again")) == 200
        await there.until(lambda: len(there.texts(1)) >= 2)
        await nothing_waits(stack)
        facts = await read_log(stack.facts()["urls"]["nats"], company, "cw_shop_1")
        assert there.texts(1) == [fact.data["text"] for fact in facts if fact.kind in FINAL] == [SAID, SAID]
        assert [fact.kind for fact in facts].count("visitor") == 2
