"""A chat client that does what the widget does when something is away: it tries again, under the same id."""

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
"""Seconds before another try, where the gateway names none."""


class PatientChat:
    """One person's chat. `refused` counts what was not done and had to be asked for again; `acked` holds the sequence
    of each message that was accepted, with the moment (monotonic) at which it was told to be."""

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
        """Known after `enter`."""
        assert self._client.conversation is not None
        return self._client.conversation

    async def enter(self) -> Frame:
        """Connects and says hello until there is a welcome."""
        while True:
            with contextlib.suppress(aiohttp.ClientError, ConnectionResetError):
                await self._client.cut()
                await self._client.connect()
                mark = len(self._client.frames)
                conversation = self._client.conversation
                known: dict[str, Any] = {"conversationId": conversation} if conversation else {}
                if self._client.epoch:
                    known["since"] = {"epoch": self._client.epoch, "seq": self._client.seq}
                await self._client.send_frame("hello", token=self._token, locale="en", **known)
                with contextlib.suppress(ConnectionEndedError):
                    told = await self._any(mark, lambda f: f["type"] in {"welcome", "error"})
                    if told["type"] == "welcome":
                        self._client.conversation = told["conversationId"]
                        self._client.epoch = told["epoch"]
                        return told
                    await asyncio.sleep(told.get("retryAfterMs", 0) / 1000)
            self.refused += 1
            await asyncio.sleep(PAUSE)

    async def say(self, text: str) -> int:
        """Sends the message until it is accepted; its sequence."""
        identity = str(uuid.uuid4())
        fields: dict[str, Any] = {"clientMessageId": identity, "text": text}
        ack = await self._asked("message.send", "message.ack", "clientMessageId", identity, fields)
        self.acked[ack["seq"]] = time.monotonic()
        return ack["seq"]

    async def confirm(self, action: str) -> Frame:
        """Confirms until the gateway says how the action stands."""
        return await self._asked("action.confirm", "action.updated", "", action, {"actionId": action})

    async def answer(self, seq: int) -> Frame:
        """The final message after `seq`, whatever happens to the connection."""
        while True:
            try:
                found = await self._any(
                    0,
                    lambda f: (
                        f["type"] == "message.created"
                        and f["message"]["seq"] > seq
                        and f["message"]["role"] in FINAL_ROLES
                    ),
                )
            except ConnectionEndedError:
                await self.enter()
            else:
                return found["message"]

    def finals(self) -> list[str]:
        """The ids of the final messages that were shown, as often as they were."""
        return [m["id"] for m in self._client.messages() if m["role"] in FINAL_ROLES]

    async def _asked(self, type_: str, answer: str, key: str, identity: str, fields: dict[str, Any]) -> Frame:
        retry: dict[str, Any] = {}
        while True:
            mark = len(self._client.frames)

            def told(frame: Frame) -> bool:
                if frame["type"] == "error":
                    return frame.get("ref") == identity
                same = frame.get(key) if key else frame.get("action", {}).get("id")
                return frame["type"] == answer and same == identity

            try:
                await self._client.send_frame(type_, **fields, **retry)
                frame = await self._any(mark, told)
            except (ConnectionEndedError, ConnectionResetError, aiohttp.ClientError):
                await self.enter()
                frame: Frame = {"type": "error"}
            if frame["type"] == answer:
                return frame
            self.refused += 1
            if type_ == "message.send":
                retry = {"retry": True}
            await asyncio.sleep(frame.get("retryAfterMs", 0) / 1000 + PAUSE)

    async def _any(self, after: int, accept: Callable[[Frame], bool]) -> Frame:
        """The first frame that is accepted; who waits has a deadline of their own."""
        return await self._client.wait_for("", accept, after=after, deadline=3600)


async def new_visitor(stack: RunningStack, company: str) -> tuple[PatientChat, int]:
    """A visitor's chat, and how often the door refused the token."""
    refused = 0
    while True:
        try:
            token, _ = await stack.visitor(company, locale="en")
            return PatientChat(stack.url, token), refused
        except (AssertionError, aiohttp.ClientError):
            refused += 1
            await asyncio.sleep(PAUSE)
