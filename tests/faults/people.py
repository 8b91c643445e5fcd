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
"""Longer than a turn's own deadline of 120 s: what is not answered then is looked at at the end, by the ledgers."""
PAUSE = 0.25
"""Seconds before somebody who was refused tries again."""


@dataclass(frozen=True, slots=True)
class Wait:
    """How long somebody waited for an answer of the AI, by the monotonic clock."""

    began: float
    ended: float


@dataclass(slots=True)
class Field:
    """Where all people of one round meet: the stack, what is to be booked, and whether to begin more. `random`: of the
    one visit that is given it; all else is everybody's.
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
        """Words that no other text of the campaign has."""
        return f"m{self.random.getrandbits(40):010x}"

    def quantity(self) -> str:
        """How many shares no other order of the round is about."""
        return f"{1 + (1 + len(self.effects.prepared.effects)) / 1000:.3f}"

    def identity(self) -> str:
        """An id that the seed chooses."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    async def rest(self, seconds: float) -> None:
        """A person's pause; it ends with the round."""
        try:
            async with asyncio.timeout(seconds):
                await self.over.wait()
        except TimeoutError:
            return


class Person:
    """One socket's owner: a visitor, or a customer."""

    def __init__(self, field: Field, token: str) -> None:
        self.field = field
        self.token = token
        self.client = ChatClient(field.stack.url, token)
        self.ledger = ConversationLedger("")
        self._here = False
        field.people.append(self)

    async def be_here(self) -> None:
        """Connected and welcomed. Raises one of BROKEN when that is not to be had now."""
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
        """Gone without a word; the next to be here goes on from the last fact seen."""
        self._here = False
        await self.client.cut()

    async def arrive(self) -> None:
        """Tries until it is here."""
        while True:
            try:
                await self.be_here()
            except BROKEN:
                await self.leave()
                await asyncio.sleep(PAUSE)
            else:
                return

    async def say(self, text: str, *, twice: bool = False) -> DrillMessage:
        """Sends until it is acknowledged. `twice`: once more after that, as a client does that did not see it."""
        said = DrillMessage(text, sent_at=time.monotonic())
        self.ledger.sent.append(said)
        identity = self.field.identity()
        again = False
        end = time.monotonic() + ANSWERED_WITHIN
        while time.monotonic() < end:
            try:
                await self.be_here()
                reply = await self._send(identity, text, again)
            except BROKEN:
                await self.leave()
                reply = None
            again = True
            if reply is not None and reply["type"] == "message.ack":
                if said.seq is not None:
                    return said
                said.seq = reply["seq"]
                if not twice:
                    return said
            elif reply is None or reply["retryable"]:
                await asyncio.sleep(max(PAUSE, ((reply or {}).get("retryAfterMs") or 0) / 1000))
            else:
                return said
        return said

    async def _send(self, identity: str, text: str, again: bool) -> Frame:
        mark = len(self.client.frames)
        retry = {"retry": True} if again else {}
        await self.client.send_frame("message.send", clientMessageId=identity, text=text, **retry)

        def told() -> Frame | None:
            self._must_be_open()
            for frame in self.client.frames[mark:]:
                if frame["type"] == "message.ack" and frame["clientMessageId"] == identity:
                    return frame
                if frame["type"] == "error" and frame.get("ref") in (identity, None):
                    return frame
            return None

        async with asyncio.timeout(ACKNOWLEDGED_WITHIN):
            found = await eventually(told, ACKNOWLEDGED_WITHIN)
        assert found is not None
        return found

    def _must_be_open(self) -> None:
        if self.client.close_code is not None:
            raise ConnectionResetError(f"closed with {self.client.close_code}")

    async def see(self, wanted: Callable[[Frame], bool], within: float, after: int = 0) -> Frame | None:
        """The first frame, from number `after` on, that is wanted; comes back as often as it takes. None: none came."""
        end = time.monotonic() + within
        looked = after
        while time.monotonic() < end:
            frames = self.client.frames
            while looked < len(frames):
                looked += 1
                if wanted(frames[looked - 1]):
                    return frames[looked - 1]
            try:
                await self.be_here()
            except BROKEN:
                await self.leave()
                await asyncio.sleep(PAUSE)
            await asyncio.sleep(0.02)
        return None

    async def answered(self, said: DrillMessage, token: str | None, mark: int) -> Mapping[str, Any] | None:
        """The message that answers: it names the token, or (None) is the first after what was said. None: something
        else has settled it, or nobody answered in time; the ledger will tell."""
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
        """Gone for good; what was shown goes into the ledger."""
        self.ledger.shown = [shown_by(self.client.frames)]
        await self.leave()
        await self.client.__aexit__(None, None, None)


def _messages(frame: Frame) -> list[dict[str, Any]]:
    """The messages that a frame brings to the screen."""
    if frame["type"] == "snapshot":
        return frame["messages"]
    return [frame["message"]] if frame["type"] == "message.created" else []


def shown_by(frames: list[Frame]) -> list[tuple[int, str]]:
    """(seq, id) of the messages that a client has on its screen: a snapshot begins anew."""
    shown: list[tuple[int, str]] = []
    for frame in frames:
        if frame["type"] == "snapshot":
            shown = [(message["seq"], message["id"]) for message in frame["messages"]]
        elif frame["type"] == "message.created":
            shown.append((frame["message"]["seq"], frame["message"]["id"]))
    return shown
