"""The people of a drill: visitors who chat, and a human agent who takes over and hands back.

What they send and are shown goes into the ledger of their conversation, which is compared with the log at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

import aiohttp
from nats.errors import Error as NatsError

from nexus_cli.chat.client import (
    ChatConnection,
    ChatFailedError,
    Frame,
    LimitedError,
    SessionRefusedError,
    conversation,
    visitor_token,
)
from nexus_cli.drill.ledger import ConversationLedger, DrillMessage, settled_at
from nexus_cli.drill.log_reader import LoggedFact, read_log
from nexus_cli.drill.stack import RunningStack
from runtime.errors import RuntimeLibraryError

COMPANY = "demo"
LOCALE = "en"
ACKNOWLEDGED_WITHIN = 150.0
ANSWERED_WITHIN = 150.0
"""Longer than a turn's own deadline of 120 s: what is not answered then is looked at at the end, by the ledgers."""
AFTER_PEOPLE = 5.0
AFTER_A_REFUSAL = 5.0
AT_REST_WITHIN = 150.0
ASKED_WITHIN = 10.0
PAUSE = 0.25
"""Seconds before somebody who was refused tries again."""
QUESTIONS = ("What does the Pro plan cost?", "What is IBM trading at?", "What is a drawdown?", "And the free plan?")
T = TypeVar("T")


class GaveUpError(Exception):
    """A person could not continue for as long as they tried."""


@dataclass(frozen=True)
class Wait:
    """One wait of a person for an answer of the AI, by the monotonic clock: how long it took, when the message was
    acknowledged, when a turn began, and how often the connection was lost meanwhile."""

    began: float
    ended: float
    acknowledged: float = 0.0
    turn_began: float = 0.0
    reconnects: int = 0
    turn: str = ""

    def __str__(self) -> str:
        at = {"acknowledged": self.acknowledged, "turn": self.turn_began, "answered": self.ended}
        parts = [f"{name} {when - self.began:.2f}" for name, when in at.items() if when >= self.began]
        return ", ".join([*parts, *([f"{self.reconnects} reconnects"] if self.reconnects else [])])


@dataclass
class Scene:
    """The state that all people of a drill share. `over`: nobody begins anything new."""

    stack: RunningStack
    company: str = COMPANY
    over: asyncio.Event = field(default_factory=asyncio.Event)
    ledgers: list[ConversationLedger] = field(default_factory=list[ConversationLedger])
    open: list[ConversationLedger] = field(default_factory=list[ConversationLedger])
    """Conversations that a person may take over."""
    taken: list[ConversationLedger] = field(default_factory=list[ConversationLedger])
    left: list[ConversationLedger] = field(default_factory=list[ConversationLedger])
    """Conversations whose visitor left before they were at rest."""
    waits: list[Wait] = field(default_factory=list[Wait])
    takeovers: int = 0
    gave_up: list[str] = field(default_factory=list[str])
    limited: str = ""
    """What a limit of the gateway's said, when it let nobody in for a while."""

    async def rest(self, seconds: float) -> None:
        """A person's pause; it ends with the drill."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.over.wait()

    async def log(self, ledger: ConversationLedger) -> list[LoggedFact]:
        """Returns what really is in the conversation."""
        return await read_log(self.stack.nats, self.company, ledger.conversation)


class Visitor:
    """One visit: a conversation of a few messages, of which each is answered before the next."""

    def __init__(self, scene: Scene, chat: ChatConnection, ledger: ConversationLedger) -> None:
        self._scene, self._chat, self.ledger = scene, chat, ledger
        self._waiting: dict[str, DrillMessage] = {}
        self._shown: list[tuple[int, str]] = []
        self._settled = 0
        self._answered = 0
        """Up to here by the AI; what a person settles has waited for that person."""
        self._handed_over = False
        self._acknowledged = self._turn_began = 0.0
        self._reconnects, self._turn = 0, ""
        self._news = asyncio.Condition()
        self._resending: set[asyncio.Task[None]] = set()
        ledger.shown = [self._shown]

    async def read(self) -> None:
        """Records the frames that are shown, until the visit ends."""
        async for frame in self._chat.frames():
            match frame["type"]:
                case "message.ack":
                    said = self._waiting.pop(frame["clientMessageId"], None)
                    if said is not None:
                        said.seq, self._acknowledged = frame["seq"], time.monotonic()
                case "run.started":
                    self._turn_began, self._turn = time.monotonic(), frame["turnId"]
                case "welcome":
                    self._reconnects += 1
                case "message.created":
                    message = frame["message"]
                    self._shown.append((message["seq"], message["id"]))
                    if message["role"] in ("assistant", "system", "operator"):
                        self._settled = message["seq"]
                        self._answered = self._answered if message["role"] == "operator" else self._settled
                case "owner.changed":
                    self._handed_over = True
                case "error" if frame.get("ref") in self._waiting:
                    task = asyncio.create_task(self._again(frame["ref"], frame))
                    self._resending.add(task)
                    task.add_done_callback(self._resending.discard)
                case _:
                    continue
            async with self._news:
                self._news.notify_all()

    async def say(self, text: str) -> None:
        """Sends a message, and waits until it is acknowledged and answered. Raises GaveUpError if it is not
        acknowledged."""
        said, self._handed_over = DrillMessage(text, sent_at=time.monotonic()), False
        self._reconnects = 0
        self.ledger.said.append(said)
        self._waiting[await self._chat.say(text)] = said
        if not await self._until(lambda: said.seq is not None, ACKNOWLEDGED_WITHIN):
            raise GaveUpError(f"{text!r} was not acknowledged within {ACKNOWLEDGED_WITHIN:g} s")

        def settled() -> bool:
            return self._settled > (said.seq or 0)

        await self._until(lambda: settled() or self._handed_over, ANSWERED_WITHIN)
        if self._handed_over:
            # A person may give it back without a word: then nobody answers.
            await self._until(settled, AFTER_PEOPLE)
        elif self._answered > (said.seq or 0):
            now = time.monotonic()
            met = (self._acknowledged, self._turn_began, self._reconnects, self._turn)
            self._scene.waits.append(Wait(said.sent_at, now, *met))

    async def come_to_rest(self) -> None:
        """Waits until everything is settled and shown; the ledger reports what is not."""
        end = time.monotonic() + AT_REST_WITHIN
        while time.monotonic() < end:
            if self.ledger in self._scene.taken:
                await asyncio.sleep(PAUSE)
                continue
            with contextlib.suppress(RuntimeLibraryError, NatsError, OSError, TimeoutError):
                log = await asyncio.wait_for(self._scene.log(self.ledger), ASKED_WITHIN)
                newest = max((fact.seq for fact in log if fact.kind == "visitor"), default=0)
                last = max((fact.seq for fact in log if "messageId" in fact.data), default=0)
                if newest <= settled_at(log) and max((seq for seq, _ in self._shown), default=0) >= last:
                    return
            await asyncio.sleep(PAUSE)

    async def _again(self, identity: str, refused: Frame) -> None:
        await asyncio.sleep(max(PAUSE, (refused.get("retryAfterMs") or 0) / 1000))
        if identity in self._waiting:
            await self._chat.say(self._waiting[identity].text, identity)

    async def _until(self, done: Callable[[], bool], within: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within), self._news:
                await self._news.wait_for(done)
        return done()


async def a_visitor(scene: Scene) -> str:
    """The token of a new visitor. Raises as `retry_until_done` does."""
    return await retry_until_done(lambda: visitor_token(scene.stack.url, scene.company, LOCALE))


async def visit(scene: Scene, random: Random) -> None:
    """One visitor from the first word to the last."""
    token = await a_visitor(scene)
    async with contextlib.AsyncExitStack() as stack:

        async def open_one() -> tuple[ChatConnection, Frame]:
            return await stack.enter_async_context(conversation(scene.stack.url, token, LOCALE))

        chat, welcome = await retry_until_done(open_one)
        ledger = ConversationLedger(welcome["conversationId"], echoes=False)
        scene.ledgers.append(ledger)
        visitor = Visitor(scene, chat, ledger)
        reading = asyncio.create_task(visitor.read())
        scene.open.append(ledger)
        try:
            for _ in range(random.randint(2, 4)):
                if scene.over.is_set():
                    break
                await _or_end(visitor.say(f"{random.choice(QUESTIONS)} m{random.getrandbits(40):010x}"), reading)
                await scene.rest(random.uniform(0.1, 1.5))
            scene.open.remove(ledger)
            await _or_end(visitor.come_to_rest(), reading)
        except asyncio.CancelledError:
            scene.left.append(ledger)
            raise
        finally:
            if ledger in scene.open:
                scene.open.remove(ledger)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


async def take_over(scene: Scene, random: Random) -> None:
    """Takes a visitor's conversation, writes into it, and gives it back."""
    await scene.rest(random.uniform(0.5, 3.0))
    if scene.over.is_set() or not scene.open:
        return
    ledger = random.choice(scene.open)
    scene.taken.append(ledger)
    try:
        await _speak_in(scene, random, ledger)
    finally:
        scene.taken.remove(ledger)


async def _speak_in(scene: Scene, random: Random, ledger: ConversationLedger) -> None:
    path = f"/v2/conversations/{ledger.conversation}"
    token = scene.stack.token("commercial", f"ana-{random.getrandbits(24):06x}", scene.company)
    await _post(scene, token, f"{path}/owner", {"owner": "human"})
    scene.takeovers += 1
    try:
        await scene.rest(random.uniform(0.2, 2.0))
        said = DrillMessage(f"this is Ana, m{random.getrandbits(40):010x}")
        ledger.said.append(said)
        body = {"text": said.text, "clientMessageId": str(uuid.UUID(int=random.getrandbits(128), version=4))}
        said.seq = (await _post(scene, token, f"{path}/messages", body))["seq"]
        await scene.rest(random.uniform(0.2, 2.0))
    finally:
        await _post(scene, token, f"{path}/owner", {"owner": "ai"})


async def retry_until_done(ask: Callable[[], Awaitable[T]]) -> T:
    """Repeats the request until it succeeds; every request here may be repeated.

    Raises:
        LimitedError, SessionRefusedError: an answer that trying again does not change soon, or at all.
        GaveUpError: no other answer for too long.
    """
    end = time.monotonic() + ACKNOWLEDGED_WITHIN
    while True:
        try:
            return await asyncio.wait_for(ask(), ASKED_WITHIN)
        except (LimitedError, SessionRefusedError):
            raise
        except (ChatFailedError, aiohttp.ClientError, OSError, TimeoutError) as error:
            if time.monotonic() > end:
                raise GaveUpError(f"nobody answered within {ACKNOWLEDGED_WITHIN:g} s: {error}") from error
            await asyncio.sleep(PAUSE)


async def _post(scene: Scene, token: str, path: str, body: dict[str, Any]) -> Any:
    async def post() -> Any:
        async with (
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as http,
            http.post(f"{scene.stack.url}{path}", json=body) as answer,
        ):
            if answer.status not in (200, 201):
                raise ChatFailedError(f"{path} was refused with {answer.status}: {(await answer.text())[:200]}")
            return await answer.json()

    return await retry_until_done(post)


async def _or_end(work: Awaitable[None], reading: asyncio.Task[None]) -> None:
    """The work, unless the conversation ends first. Raises GaveUpError, ChatFailedError."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task, reading], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await reading
    finally:
        task.cancel()
    await task
