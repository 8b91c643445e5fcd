"""The people of a drill: visitors who chat, and a human agent who takes over and hands back.

What they send and see is noted in the ledger of their conversation, which is compared with the log at the end.
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
from runtime.background import start_task
from runtime.errors import RuntimeLibraryError

COMPANY = "demo"
LOCALE = "en"
ACKNOWLEDGEMENT_SECONDS = 150.0
ANSWER_SECONDS = 150.0
"""Longer than a turn's own deadline of 120 s. A message without an answer by then is judged at the end, by the
ledger."""
LIMITED_SECONDS = 5.0
REST_SECONDS = 150.0
REQUEST_SECONDS = 10.0
RETRY_SECONDS = 0.25
"""Seconds before a refused request is repeated."""
QUESTIONS = ("What does the Pro plan cost?", "What is IBM trading at?", "What is a drawdown?", "And the free plan?")
T = TypeVar("T")


class GaveUpError(Exception):
    """A person repeated a request for too long without success."""


@dataclass(frozen=True)
class Wait:
    """One wait of a visitor for an answer, of the AI or of a human agent. Times are by the monotonic clock: when
    the message was sent, answered and acknowledged, and when the turn began. `reconnects`: how often the connection was
    lost meanwhile."""

    began: float
    ended: float
    acknowledged: float = 0.0
    turn_began: float = 0.0
    reconnects: int = 0
    turn: str = ""

    def __str__(self) -> str:
        times = {"acknowledged": self.acknowledged, "turn": self.turn_began, "answered": self.ended}
        parts = [f"{name} {time - self.began:.2f}" for name, time in times.items() if time >= self.began]
        return ", ".join([*parts, *([f"{self.reconnects} reconnects"] if self.reconnects else [])])


@dataclass
class Scene:
    """The state that all people of a drill share. Once `over` is set, nobody begins anything new."""

    stack: RunningStack
    company: str = COMPANY
    over: asyncio.Event = field(default_factory=asyncio.Event)
    ledgers: list[ConversationLedger] = field(default_factory=list[ConversationLedger])
    open: list[ConversationLedger] = field(default_factory=list[ConversationLedger])
    """Conversations that a person may take over."""
    taken: list[ConversationLedger] = field(default_factory=list[ConversationLedger])
    unfinished: list[ConversationLedger] = field(default_factory=list[ConversationLedger])
    """Conversations whose visitor left before they were at rest."""
    waits: list[Wait] = field(default_factory=list[Wait])
    takeovers: int = 0
    gave_up: list[str] = field(default_factory=list[str])
    limited: str = ""
    """Message of the gateway's limit that kept people out for a while; empty if none did."""

    async def rest(self, seconds: float) -> None:
        """Pauses; returns early when the drill is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.over.wait()

    async def log(self, ledger: ConversationLedger) -> list[LoggedFact]:
        """The facts that the log of the conversation contains."""
        return await read_log(self.stack.nats, self.company, ledger.conversation)


class Visitor:
    """A visitor in one conversation of a few messages, each sent after the answer to the one before."""

    def __init__(self, scene: Scene, chat: ChatConnection, ledger: ConversationLedger) -> None:
        self._scene, self._chat, self.ledger = scene, chat, ledger
        self._waiting: dict[str, DrillMessage] = {}
        self._shown: list[tuple[int, str]] = []
        self._settled = 0
        """Sequence of the newest message that answers: the AI's, a human agent's, or the reason why there is none."""
        self._acknowledged = self._turn_began = 0.0
        self._reconnects, self._turn = 0, ""
        self._news = asyncio.Condition()
        self._resending: set[asyncio.Task[None]] = set()
        ledger.shown = [self._shown]

    async def read(self) -> None:
        """Records the frames that the visitor sees, until the visit ends."""
        async for frame in self._chat.frames():
            match frame["type"]:
                case "message.ack":
                    message_ = self._waiting.pop(frame["clientMessageId"], None)
                    if message_ is not None:
                        message_.seq, self._acknowledged = frame["seq"], time.monotonic()
                case "run.started":
                    self._turn_began, self._turn = time.monotonic(), frame["turnId"]
                case "welcome":
                    self._reconnects += 1
                case "message.created":
                    message = frame["message"]
                    self._shown.append((message["seq"], message["id"]))
                    if message["role"] in ("assistant", "system", "operator"):
                        self._settled = message["seq"]
                case "error" if frame.get("ref") in self._waiting:
                    start_task(self._resend(frame["ref"], frame), self._resending)
                case _:
                    continue
            async with self._news:
                self._news.notify_all()

    async def say(self, text: str) -> None:
        """Sends a message, and waits until it is acknowledged and answered. Raises GaveUpError if it is not
        acknowledged."""
        message = DrillMessage(text, sent_at=time.monotonic())
        self._reconnects = 0
        self.ledger.sent.append(message)
        self._waiting[await self._chat.say(text)] = message
        if not await self._wait_until(lambda: message.seq is not None, ACKNOWLEDGEMENT_SECONDS):
            raise GaveUpError(f"{text!r} was not acknowledged within {ACKNOWLEDGEMENT_SECONDS:g} s")

        if await self._wait_until(lambda: self._settled > (message.seq or 0), ANSWER_SECONDS):
            details = (self._acknowledged, self._turn_began, self._reconnects, self._turn)
            self._scene.waits.append(Wait(message.sent_at, time.monotonic(), *details))

    async def come_to_rest(self) -> None:
        """Waits until everything is settled and shown; what is not by the deadline is reported by the ledger."""
        end = time.monotonic() + REST_SECONDS
        while time.monotonic() < end:
            if self.ledger in self._scene.taken:
                await asyncio.sleep(RETRY_SECONDS)
                continue
            with contextlib.suppress(RuntimeLibraryError, NatsError, OSError, TimeoutError):
                log = await asyncio.wait_for(self._scene.log(self.ledger), REQUEST_SECONDS)
                newest = max((fact.seq for fact in log if fact.kind == "visitor"), default=0)
                last_message = max((fact.seq for fact in log if "messageId" in fact.data), default=0)
                if newest <= settled_at(log) and max((seq for seq, _ in self._shown), default=0) >= last_message:
                    return
            await asyncio.sleep(RETRY_SECONDS)

    async def _resend(self, message_id: str, error_frame: Frame) -> None:
        await asyncio.sleep(max(RETRY_SECONDS, (error_frame.get("retryAfterMs") or 0) / 1000))
        if message_id in self._waiting:
            await self._chat.say(self._waiting[message_id].text, message_id)

    async def _wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds), self._news:
                await self._news.wait_for(condition)
        return condition()


async def new_visitor_token(scene: Scene) -> str:
    """The token of a new visitor. Raises like `retry_until_done`."""
    return await retry_until_done(lambda: visitor_token(scene.stack.url, scene.company, LOCALE))


async def visit(scene: Scene, random: Random) -> None:
    """Runs one visit from the first message to the last."""
    token = await new_visitor_token(scene)
    async with contextlib.AsyncExitStack() as stack:

        async def open_conversation() -> tuple[ChatConnection, Frame]:
            return await stack.enter_async_context(conversation(scene.stack.url, token, LOCALE))

        chat, welcome = await retry_until_done(open_conversation)
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
            scene.unfinished.append(ledger)
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
        await _write_in(scene, random, ledger)
    finally:
        scene.taken.remove(ledger)


async def _write_in(scene: Scene, random: Random, ledger: ConversationLedger) -> None:
    path = f"/v2/conversations/{ledger.conversation}"
    token = scene.stack.token("commercial", f"ana-{random.getrandbits(24):06x}", scene.company)
    await _post(scene, token, f"{path}/owner", {"owner": "human"})
    scene.takeovers += 1
    try:
        await scene.rest(random.uniform(0.2, 2.0))
        message = DrillMessage(f"this is Ana, m{random.getrandbits(40):010x}")
        ledger.sent.append(message)
        body = {"text": message.text, "clientMessageId": str(uuid.UUID(int=random.getrandbits(128), version=4))}
        message.seq = (await _post(scene, token, f"{path}/messages", body))["seq"]
        await scene.rest(random.uniform(0.2, 2.0))
    finally:
        await _post(scene, token, f"{path}/owner", {"owner": "ai"})


async def retry_until_done(ask: Callable[[], Awaitable[T]]) -> T:
    """Repeats the request until it succeeds; every request here may be repeated.

    Raises:
        LimitedError, SessionRefusedError: repeating the request would not help, at least not soon.
        GaveUpError: it failed for too long.
    """
    end = time.monotonic() + ACKNOWLEDGEMENT_SECONDS
    while True:
        try:
            return await asyncio.wait_for(ask(), REQUEST_SECONDS)
        except (LimitedError, SessionRefusedError):
            raise
        except (ChatFailedError, aiohttp.ClientError, OSError, TimeoutError) as error:
            if time.monotonic() > end:
                raise GaveUpError(f"nobody answered within {ACKNOWLEDGEMENT_SECONDS:g} s: {error}") from error
            await asyncio.sleep(RETRY_SECONDS)


async def _post(scene: Scene, token: str, path: str, body: dict[str, Any]) -> Any:
    async def post() -> Any:
        async with (
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as http,
            http.post(f"{scene.stack.url}{path}", json=body) as response,
        ):
            if response.status not in (200, 201):
                raise ChatFailedError(f"{path} was refused with {response.status}: {(await response.text())[:200]}")
            return await response.json()

    return await retry_until_done(post)


async def _or_end(work: Awaitable[None], reading: asyncio.Task[None]) -> None:
    """Awaits the work unless the conversation ends first. Raises GaveUpError, ChatFailedError."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task, reading], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await reading
    finally:
        task.cancel()
    await task
