"""For tests of A2A: the official clients of a customer, and the text and states in the updates that they receive."""

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
from gateway.testing.doors import DoorDesk
from gateway.testing.harness import GatewayUnderTest
from gateway.testing.http import PLAIN


def message(text: str, **fields: Any) -> a2a.Message:
    message_id = fields.pop("message_id", None) or str(uuid.uuid4())
    return a2a.Message(message_id=message_id, role=a2a.ROLE_USER, parts=[a2a.Part(text=text)], **fields)


class Desk(DoorDesk):
    """The clients of the customer Ana (one streams, one waits), and the agent that answers her first message."""

    def __init__(self, gateway: GatewayUnderTest, token: str, client: Client) -> None:
        self.url = gateway.url
        self._token = token
        self.first = message("hello")
        super().__init__(client, self.conversation_of(self.first))

    async def start(self) -> None:
        self.http = httpx.AsyncClient(verify=PLAIN, headers={"Authorization": f"Bearer {self._token}"}, timeout=30)
        self.streaming = await create_client(self.url, ClientConfig(httpx_client=self.http, streaming=True))
        self.waiting = await create_client(self.url, ClientConfig(httpx_client=self.http, streaming=False))
        await self.agent.start()

    @staticmethod
    def conversation_of(first_message: a2a.Message) -> str:
        return named_conversation_id("acme", "ana", "a2a", f"message {first_message.message_id}")

    async def send(self, client: A2AClient, outgoing: a2a.Message, **configuration: Any) -> list[a2a.StreamResponse]:
        """Sends a message and returns all updates that follow."""
        request = a2a.SendMessageRequest(message=outgoing, configuration=a2a.SendMessageConfiguration(**configuration))
        return [update async for update in client.send_message(request)]

    async def get(self, task: str, **fields: Any) -> a2a.Task:
        return await self.waiting.get_task(a2a.GetTaskRequest(id=task, **fields))

    async def subscribe(self, task: str) -> list[a2a.StreamResponse]:
        request = a2a.SubscribeToTaskRequest(id=task)
        return [update async for update in self.streaming.subscribe(request)]

    async def answered(self, text: str = "Hello.", *actions: Action) -> a2a.Task:
        """Sends the first message, lets the agent answer it, and returns the task."""
        sending = asyncio.create_task(self.send(self.waiting, self.first))
        await self.agent.answer(await self.asked(), text, *actions)
        (update,) = await sending
        return update.task


def shown(updates: list[a2a.StreamResponse]) -> str:
    """The text that a client shows after these updates."""
    texts: dict[str, str] = {}
    for response in updates:
        for artifact in response.task.artifacts:
            texts[artifact.artifact_id] = get_artifact_text(artifact)
        if response.HasField("artifact_update"):
            artifact_update = response.artifact_update
            earlier_text = texts.get(artifact_update.artifact.artifact_id, "") if artifact_update.append else ""
            texts[artifact_update.artifact.artifact_id] = earlier_text + get_artifact_text(artifact_update.artifact)
    return "".join(texts.values())


def states(updates: list[a2a.StreamResponse]) -> list[str]:
    task_states = [
        update.task.status.state if update.HasField("task") else update.status_update.status.state
        for update in updates
        if update.HasField("task") or update.HasField("status_update")
    ]
    return [a2a.TaskState.Name(state).removeprefix("TASK_STATE_") for state in task_states]
