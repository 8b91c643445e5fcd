"""A chat client that repeats a request under the same id while a service is away, as the widget does."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import Callable
from typing import Any, Self

import aiohttp

from tests.support.chat_client import FINAL_ROLES, ChatClient, ConnectionEndedError, Frame
from tests.support.running_stack import RunningStack

PAUSE = 0.5
"""Seconds before a repeated request, if the gateway names none."""


class PatientChat:
    """One person's chat. `refused` counts the requests that had to be repeated; `acked` holds the sequence of each
    accepted message and the monotonic time of its ack."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token
        self._client = ChatClient(url, token)
        self.refused = 0
        self.acked: dict[int, float] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.__aexit__(None, None, None)

    @property
    def conversation(self) -> str:
        """Returns the id of the conversation, known after `enter`."""
        assert self._client.conversation is not None
        return self._client.conversation

    async def enter(self) -> Frame:
        """Connects and sends hello until it gets a welcome."""
        while True:
            with contextlib.suppress(aiohttp.ClientError, ConnectionResetError):
                await self._client.cut()
                await self._client.connect()
                first_new = len(self._client.frames)
                conversation = self._client.conversation
                resume_fields: dict[str, Any] = {"conversationId": conversation} if conversation else {}
                if self._client.epoch:
                    resume_fields["since"] = {"epoch": self._client.epoch, "seq": self._client.seq}
                await self._client.send_frame("hello", token=self._token, locale="en", **resume_fields)
                with contextlib.suppress(ConnectionEndedError):
                    reply = await self._next_accepted(first_new, lambda frame: frame["type"] in {"welcome", "error"})
                    if reply["type"] == "welcome":
                        self._client.conversation = reply["conversationId"]
                        self._client.epoch = reply["epoch"]
                        return reply
                    await asyncio.sleep(reply.get("retryAfterMs", 0) / 1000)
            self.refused += 1
            await asyncio.sleep(PAUSE)

    async def say(self, text: str) -> int:
        """Sends the message until it is accepted; returns its sequence."""
        message_id = str(uuid.uuid4())
        fields: dict[str, Any] = {"clientMessageId": message_id, "text": text}
        ack = await self._repeat_until_answered("message.send", "message.ack", "clientMessageId", message_id, fields)
        self.acked[ack["seq"]] = time.monotonic()
        return ack["seq"]

    async def confirm(self, action: str) -> Frame:
        """Confirms until the gateway says how the action stands."""
        return await self._repeat_until_answered("action.confirm", "action.updated", "", action, {"actionId": action})

    async def answer(self, seq: int) -> Frame:
        """Returns the final message after `seq`; connects again if the connection breaks."""
        while True:
            try:
                final = await self._next_accepted(
                    0,
                    lambda frame: (
                        frame["type"] == "message.created"
                        and frame["message"]["seq"] > seq
                        and frame["message"]["role"] in FINAL_ROLES
                    ),
                )
            except ConnectionEndedError:
                await self.enter()
            else:
                return final["message"]

    def finals(self) -> list[str]:
        """Returns the ids of the final messages that were shown, repeated ones too."""
        return [message["id"] for message in self._client.messages() if message["role"] in FINAL_ROLES]

    async def _repeat_until_answered(
        self, type_: str, answer: str, key: str, request_id: str, fields: dict[str, Any]
    ) -> Frame:
        retry: dict[str, Any] = {}
        while True:
            first_new = len(self._client.frames)

            def is_answer(frame: Frame) -> bool:
                if frame["type"] == "error":
                    return frame.get("ref") == request_id
                same = frame.get(key) if key else frame.get("action", {}).get("id")
                return frame["type"] == answer and same == request_id

            try:
                await self._client.send_frame(type_, **fields, **retry)
                frame = await self._next_accepted(first_new, is_answer)
            except (ConnectionEndedError, ConnectionResetError, aiohttp.ClientError):
                await self.enter()
                frame: Frame = {"type": "error"}
            if frame["type"] == answer:
                return frame
            self.refused += 1
            if type_ == "message.send":
                retry = {"retry": True}
            await asyncio.sleep(frame.get("retryAfterMs", 0) / 1000 + PAUSE)

    async def _next_accepted(self, after: int, accept: Callable[[Frame], bool]) -> Frame:
        """Returns the first accepted frame; callers have their own deadline."""
        return await self._client.wait_for("", accept, after=after, deadline=3600)


async def new_visitor(stack: RunningStack, company: str) -> tuple[PatientChat, int]:
    """Returns a new visitor's chat, and how often the gateway refused to create the visitor."""
    refused = 0
    while True:
        try:
            token, _ = await stack.visitor(company, locale="en")
            return PatientChat(stack.url, token), refused
        except (AssertionError, aiohttp.ClientError):
            refused += 1
            await asyncio.sleep(PAUSE)
