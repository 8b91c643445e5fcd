"""A client that comes back: whatever breaks, it connects again, goes on from where it was, and asks again what nobody
has acknowledged, under the same id. What it sent and was shown goes into the ledger.
"""

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import aiohttp

from gateway.testing.http import Http
from nexus_cli.drill.ledger import ConversationLedger, DrillMessage
from runtime.testing.servers import eventually
from tests.faults.effect_ledger import EffectLedger
from tests.faults.networked_stack import NetworkedStack
from tests.support.chat_client import ChatClient, Frame

COMPANY = "acme"
BROKEN = (aiohttp.ClientError, OSError, TimeoutError, AssertionError)
"""What a client meets while something is broken; ConnectionEndedError is an AssertionError."""
CONNECTED_WITHIN = 8.0
ACKNOWLEDGED_WITHIN = 6.0
ANSWERED_WITHIN = 150.0
"""Longer than a turn's own deadline of 120 s; the ledgers report at the end what is not answered by then."""
PAUSE = 0.25
"""Seconds before a refused request is repeated."""


@dataclass(frozen=True, slots=True)
class Wait:
    """How long somebody waited for an answer of the AI, by the monotonic clock."""

    began: float
    ended: float


@dataclass(slots=True)
class Field:
    """The shared state of one round: the stack, the ledgers, and whether the round is over. Each visit has its own
    `random`; everything else is shared.
    """

    stack: NetworkedStack
    http: Http
    random: Random
    over: asyncio.Event = field(default_factory=asyncio.Event)
    waits: list[Wait] = field(default_factory=list[Wait])
    open: dict[str, ConversationLedger] = field(default_factory=dict[str, ConversationLedger])
    """Conversations of visitors that a person may take over."""
    taken: set[str] = field(default_factory=set[str])
    customers: list[Any] = field(default_factory=list[Any])
    people: list["Person"] = field(default_factory=list["Person"])
    effects: EffectLedger = field(default_factory=EffectLedger)

    def token(self) -> str:
        """Returns a token that no other text of the campaign contains."""
        return f"m{self.random.getrandbits(40):010x}"

    def quantity(self) -> str:
        """Returns a quantity of shares that no other order of the round has."""
        return f"{1 + (1 + len(self.effects.prepared.effects)) / 1000:.3f}"

    def identity(self) -> str:
        """Returns an id that depends on the seed."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    async def rest(self, seconds: float) -> None:
        """Waits for some seconds, or until the round is over."""
        try:
            async with asyncio.timeout(seconds):
                await self.over.wait()
        except TimeoutError:
            return


class Person:
    """A visitor or a customer with one socket."""

    def __init__(self, field: Field, token: str) -> None:
        self.field = field
        self.token = token
        self.client = ChatClient(field.stack.url, token)
        self.ledger = ConversationLedger("")
        self._here = False
        field.people.append(self)

    async def be_here(self) -> None:
        """Connects and gets a welcome, unless connected already. Raises one of BROKEN if that fails."""
        if self._here and self.client.close_code is None:
            return
        await self.leave()
        async with asyncio.timeout(CONNECTED_WITHIN):
            if self.client.conversation is None:
                await self.client.connect()
                await self.client.hello(locale="en")
            else:
                await self.client.resume()
        self.ledger.conversation = self.client.conversation or ""
        self._here = True

    async def leave(self) -> None:
        """Cuts the connection; the next `be_here` resumes from the last fact seen."""
        self._here = False
        await self.client.cut()

    async def arrive(self) -> None:
        """Tries to connect until it succeeds."""
        while True:
            try:
                await self.be_here()
            except BROKEN:
                await self.leave()
                await asyncio.sleep(PAUSE)
            else:
                return

    async def say(self, text: str, *, twice: bool = False) -> DrillMessage:
        """Sends a message until it is acknowledged. `twice`: once more after that, like a client that missed the
        ack."""
        message = DrillMessage(text, sent_at=time.monotonic())
        self.ledger.sent.append(message)
        message_id = self.field.identity()
        is_retry = False
        end = time.monotonic() + ANSWERED_WITHIN
        while time.monotonic() < end:
            try:
                await self.be_here()
                reply = await self._send(message_id, text, is_retry)
            except BROKEN:
                await self.leave()
                reply = None
            is_retry = True
            if reply is not None and reply["type"] == "message.ack":
                if message.seq is not None:
                    return message
                message.seq = reply["seq"]
                if not twice:
                    return message
            elif reply is None or reply["retryable"]:
                await asyncio.sleep(max(PAUSE, ((reply or {}).get("retryAfterMs") or 0) / 1000))
            else:
                return message
        return message

    async def _send(self, message_id: str, text: str, again: bool) -> Frame:
        first_new = len(self.client.frames)
        retry = {"retry": True} if again else {}
        await self.client.send_frame("message.send", clientMessageId=message_id, text=text, **retry)

        def find_answer() -> Frame | None:
            self._must_be_open()
            for frame in self.client.frames[first_new:]:
                if frame["type"] == "message.ack" and frame["clientMessageId"] == message_id:
                    return frame
                if frame["type"] == "error" and frame.get("ref") in (message_id, None):
                    return frame
            return None

        async with asyncio.timeout(ACKNOWLEDGED_WITHIN):
            answer = await eventually(find_answer, ACKNOWLEDGED_WITHIN)
        assert answer is not None
        return answer

    def _must_be_open(self) -> None:
        if self.client.close_code is not None:
            raise ConnectionResetError(f"closed with {self.client.close_code}")

    async def see(self, wanted: Callable[[Frame], bool], within: float, after: int = 0) -> Frame | None:
        """Returns the first wanted frame from number `after` on, or None after `within` seconds; reconnects when
        needed."""
        end = time.monotonic() + within
        position = after
        while time.monotonic() < end:
            frames = self.client.frames
            while position < len(frames):
                position += 1
                if wanted(frames[position - 1]):
                    return frames[position - 1]
            try:
                await self.be_here()
            except BROKEN:
                await self.leave()
                await asyncio.sleep(PAUSE)
            await asyncio.sleep(0.02)
        return None

    async def answered(self, said: DrillMessage, token: str | None, mark: int) -> Mapping[str, Any] | None:
        """Returns the answer to a message: the one that names the token, or without a token the first one after it.
        Returns None if something else settled it or nobody answered in time; the ledger reports that."""
        by_people = False

        def settles(frame: Frame) -> bool:
            nonlocal by_people
            if frame["type"] in ("owner.changed", "run.cancelled"):
                by_people = True
                return frame["type"] == "run.cancelled"
            return any(self._settles(message, said, token) for message in _messages(frame))

        frame = await self.see(settles, ANSWERED_WITHIN, mark)
        if frame is None or said.seq is None or frame["type"] == "run.cancelled":
            return None
        message = next(message for message in _messages(frame) if self._settles(message, said, token))
        if not by_people and message["role"] != "operator":
            self.field.waits.append(Wait(said.sent_at, time.monotonic()))
        return message if message["role"] == "assistant" else None

    def _settles(self, message: Mapping[str, Any], said: DrillMessage, token: str | None) -> bool:
        if said.seq is None or message["seq"] <= said.seq:
            return False
        if message["role"] == "assistant":
            return token is None or token in message["text"]
        return message["role"] in ("operator", "system")

    async def close(self) -> None:
        """Closes the client and stores in the ledger what it has shown."""
        self.ledger.shown = [shown_by(self.client.frames)]
        await self.leave()
        await self.client.__aexit__(None, None, None)


def _messages(frame: Frame) -> list[dict[str, Any]]:
    """Returns the messages that a frame shows."""
    if frame["type"] == "snapshot":
        return frame["messages"]
    return [frame["message"]] if frame["type"] == "message.created" else []


def shown_by(frames: list[Frame]) -> list[tuple[int, str]]:
    """Returns (seq, id) of the messages that a client shows; a snapshot replaces the earlier ones."""
    shown: list[tuple[int, str]] = []
    for frame in frames:
        if frame["type"] == "snapshot":
            shown = [(message["seq"], message["id"]) for message in frame["messages"]]
        elif frame["type"] == "message.created":
            shown.append((frame["message"]["seq"], frame["message"]["id"]))
    return shown
