"""For tests of A2A: a customer's official clients, and what they show of the updates that they receive."""

import asyncio
import uuid
from typing import Any

import httpx
from a2a.client import Client as A2AClient
from a2a.client import ClientConfig, create_client
from a2a.helpers.proto_helpers import get_artifact_text
from a2a.types import a2a_pb2 as a2a
from nats.aio.client import Client

from contracts.events.chat import Action
from gateway.domain.conversation_ids import named_conversation_id
from gateway.testing.harness import AgentStandIn, GatewayUnderTest
from runtime.conversation import ConversationLog
from runtime.testing.servers import eventually

DEADLINE = 20.0


def message(text: str, **fields: Any) -> a2a.Message:
    identity = fields.pop("message_id", None) or str(uuid.uuid4())
    return a2a.Message(message_id=identity, role=a2a.ROLE_USER, parts=[a2a.Part(text=text)], **fields)


class Desk:
    """Ana's clients (one streams, one waits), and the agent that answers the message that begins a context."""

    def __init__(self, gateway: GatewayUnderTest, token: str, client: Client) -> None:
        self.url = gateway.url
        self.log = ConversationLog(client)
        self._token = token
        self._bus = client

    async def start(self) -> None:
        self.http = httpx.AsyncClient(headers={"Authorization": f"Bearer {self._token}"}, timeout=30)
        self.streaming = await create_client(self.url, ClientConfig(httpx_client=self.http, streaming=True))
        self.waiting = await create_client(self.url, ClientConfig(httpx_client=self.http, streaming=False))
        self.first = message("hello")
        self.conversation = self.conversation_of(self.first)
        self.agent = AgentStandIn(self._bus, "acme", self.conversation)
        await self.agent.start()

    @staticmethod
    def conversation_of(first: a2a.Message) -> str:
        return named_conversation_id("acme", "ana", "a2a", f"message {first.message_id}")

    async def asked(self, after: int = 0) -> int:
        """The sequence of the message that the client has sent."""

        async def newest() -> int:
            seq = (await self.log.snapshot("acme", self.conversation)).newest_visitor
            return seq if seq > after else 0

        return await eventually(newest, DEADLINE)

    async def send(self, client: A2AClient, one: a2a.Message, **configuration: Any) -> list[a2a.StreamResponse]:
        """Everything that comes of a message."""
        request = a2a.SendMessageRequest(message=one, configuration=a2a.SendMessageConfiguration(**configuration))
        return [told async for told in client.send_message(request)]

    async def get(self, task: str, **fields: Any) -> a2a.Task:
        return await self.waiting.get_task(a2a.GetTaskRequest(id=task, **fields))

    async def subscribe(self, task: str) -> list[a2a.StreamResponse]:
        request = a2a.SubscribeToTaskRequest(id=task)
        return [told async for told in self.streaming.subscribe(request)]

    async def answered(self, text: str = "Hello.", *actions: Action) -> a2a.Task:
        """The first message's task, answered."""
        running = asyncio.create_task(self.send(self.waiting, self.first))
        await self.agent.answer(await self.asked(), text, *actions)
        (told,) = await running
        return told.task


def shown(told: list[a2a.StreamResponse]) -> str:
    """The text that a client of these updates shows at the end."""
    texts: dict[str, str] = {}
    for one in told:
        for artifact in one.task.artifacts:
            texts[artifact.artifact_id] = get_artifact_text(artifact)
        if one.HasField("artifact_update"):
            update = one.artifact_update
            before = texts.get(update.artifact.artifact_id, "") if update.append else ""
            texts[update.artifact.artifact_id] = before + get_artifact_text(update.artifact)
    return "".join(texts.values())


def states(told: list[a2a.StreamResponse]) -> list[str]:
    found = [
        one.task.status.state if one.HasField("task") else one.status_update.status.state
        for one in told
        if one.HasField("task") or one.HasField("status_update")
    ]
    return [a2a.TaskState.Name(state).removeprefix("TASK_STATE_") for state in found]
