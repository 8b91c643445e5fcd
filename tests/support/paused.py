"""Requests made while processes of a stack are paused (SIGSTOP): how long each waited, and the ledger afterwards."""

import asyncio
import contextlib
import itertools
import json
import logging
import os
import signal
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from nats.aio.client import Client

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from contracts import channels
from gateway.testing.http import Http
from nexus_cli.drill.log_reader import FINAL, read_log
from runtime.bus.direct import DirectReader
from runtime.testing.servers import eventually, freeze
from tests.support.effects_customer import Customer
from tests.support.patient_chat import PatientChat, new_visitor
from tests.support.running_stack import RunningStack

log = logging.getLogger(__name__)

COMPANY = "acme"
PROCESSES = ("gateway", "agent", "memory", "tool-executor", "market-adapter", "nats", "redis", "mongodb")
NEEDED = frozenset({"gateway", "agent", "nats"})
"""While one of these is paused nobody is answered; while any other is paused everybody is."""
SLACK = 20.0
"""Seconds added to each limit, since the machine may be busy."""
NORMAL_WITHIN = 60.0
"""Seconds until everything works as before: the bus misses two pings, a provider is in its pause; nothing restarts."""
LIMITS = {
    "visitor": 10.0,  # hello: company 3, conversation 2; turn: budget 1.5, history 2 + 1, catalogue 1
    "tool answer": 60.0,  # NEXUS_AGENT_TOOL_SECONDS (45), and as above
    "remember": 20.0,  # own_calls.CHANGE_SECONDS, and as above
    "confirm": 15.0,  # actions.DECIDE_SECONDS, or the next try
    "alert": 60.0,  # tools.CALL_SECONDS of the gateway
    "order": 60.0,
    "memory": 3.0,  # rpc.memory.long_term.get.v1
    "completion": 30.0,
}
"""Seconds each request may wait while everything it needs is running (docs/architecture/waits.md)."""


MSFT = {"symbol": "MSFT"}
SYMBOLS = itertools.cycle(["AAPL", "GOOG", "IBM"])
"""Each pause asks for another symbol: a price is cached for 5 s and would be given while the market is paused."""
NOT_THERE = "Not available right now"
"""The words with which a prompt begins its list of missing parts."""


@dataclass(slots=True)
class Asked:
    """One request: seconds until it was answered, the answer, and how often it was refused."""

    seconds: float = 0.0
    answer: Any = None
    refused: int = 0


@dataclass(slots=True)
class Pause:
    """One pause. `thawed`: when it ended. `chats`: the chats of everybody who was accepted."""

    victims: Sequence[str]
    seconds: float
    began: float = 0.0
    thawed: float = 0.0
    normal_after: float = 0.0
    asked: dict[str, Asked] = field(default_factory=dict[str, Asked])
    chats: list[PatientChat] = field(default_factory=list[PatientChat])
    findings: list[str] = field(default_factory=list[str])
    prompts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def limit(self, what: str) -> float:
        """Returns the seconds a request may take: its own limit, plus the pause if it cannot be done during it."""
        paused_needs = (NEEDED if what in {"visitor", "tool answer", "remember", "confirm"} else {"gateway"}) & set(
            self.victims
        )
        # A confirmation is asked for again until the store that knows yes or no is back.
        paused_needs |= {"market-adapter", "mongodb"} & set(self.victims) if what == "confirm" else set[str]()
        return LIMITS[what] + SLACK + (self.seconds if paused_needs else 0)

    def row(self) -> str:
        """Returns this pause as a line of the table."""
        seconds = [f"{self.asked[name].seconds:.1f}" for name in LIMITS]
        refused = sum(asked.refused for asked in self.asked.values()) + sum(chat.refused for chat in self.chats)
        doubled = sum("doubled" in finding or "answers" in finding for finding in self.findings)
        lost = sum("lost" in finding or "no answer" in finding for finding in self.findings)
        cells = [" + ".join(self.victims), f"{self.seconds:g}", *seconds, str(refused), str(doubled), str(lost)]
        return f"| {' | '.join(cells)} | {self.normal_after:.1f} |"


HEADER = f"| victims | pause | {' | '.join(LIMITS)} | refused | doubled | lost | normal after |"


@asynccontextmanager
async def frozen(stack: RunningStack, victims: Sequence[str]) -> AsyncGenerator[None]:
    """Pauses these processes while the block runs."""
    pids = [stack.process(name).pid for name in victims]
    try:
        for pid in pids:
            freeze(pid)
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


class People:
    """Everybody who makes a request during one pause, and the answers they get."""

    def __init__(self, stack: RunningStack, model: ScriptedModel, session: aiohttp.ClientSession) -> None:
        self.http = Http(stack.url, session)
        self.customer = Customer(stack, self.http)
        self.word = uuid.uuid4().hex[:10]
        self.action = ""
        self._stack, self._model = stack, model
        self._known = PatientChat(stack.url, self.customer.token)
        self._noting = PatientChat(stack.url, stack.mint("user", f"u-{uuid.uuid4().hex[:12]}", COMPANY, plan="pro"))
        self._noter = self._noting._token  # pyright: ignore[reportPrivateUsage]

    async def prepare(self) -> None:
        """Prepares two customers in their chats, one with an order that waits for confirmation."""
        price = ScriptedReply(tool_calls=[ScriptedCall(name="get_price", arguments={"symbol": next(SYMBOLS)})])
        order = {"symbol": "IBM", "side": "buy", "quantity": 7, "order_type": "market"}
        buy = ScriptedReply(tool_calls=[ScriptedCall(name="create_paper_order", arguments=order)])
        done = ScriptedReply(text="Here you are.")
        self._model.say(
            Rule(match=f"price {self.word}", replies=[price, done]),
            Rule(match=f"again {self.word}", replies=[price, done]),
            Rule(match="buy", replies=[buy, done]),
            default=ScriptedReply(text="Hello."),
        )
        await self._known.enter()
        await self._noting.enter()
        asked = await self._known.answer(await self._known.say("buy 7 IBM"))
        self.action = asked["actions"][0]["id"]

    async def ask_everything(self, pause: Pause) -> None:
        """Makes all requests at once; stores the seconds of each, and every chat, in the pause."""
        pause.chats += [self._known, self._noting]
        await asyncio.gather(
            self._timed(pause, "visitor", lambda asked: self._visitor(pause, asked)),
            self._timed(pause, "tool answer", lambda _: self._say(self._known, f"price {self.word}")),
            self._timed(pause, "confirm", lambda _: self._confirm(pause)),
            self._timed(pause, "remember", lambda _: self._say(self._noting, f"remember that I like {self.word}")),
            self._timed(pause, "alert", lambda asked: self._effect(asked, 1)),
            self._timed(pause, "order", lambda asked: self._effect(asked, 2)),
            self._timed(pause, "memory", lambda _: self._get("/v2/memory")),
            self._timed(pause, "completion", lambda _: self._complete()),
        )

    async def normal(self) -> bool:
        """Returns whether all services are ready, new visitors are answered at once, tools work and no prompt lacks a
        part."""
        urls = [self._stack.process(name).url for name in PROCESSES]
        if not all([await self._stack.is_ready(url) for url in urls if url.startswith("http")]):
            return False
        first_new = len(self._model.asked)
        visitor, refused = await new_visitor(self._stack, COMPANY)
        user = PatientChat(self._stack.url, self._stack.mint("user", f"u-{uuid.uuid4().hex[:12]}", COMPANY))
        try:
            async with asyncio.timeout(10), visitor, user:
                for chat in (visitor, user):
                    await chat.enter()
                    answer = await self._say(chat, f"how is it {self.word}?")
                    if refused or chat.refused or answer["role"] != "assistant":
                        return False
                statuses = {(await self._get("/v2/memory"))[0], (await self.customer.call("get_price", MSFT))[0]}
        except TimeoutError:
            return False
        return statuses == {200} and not any(NOT_THERE in system(prompt) for prompt in self._model.asked[first_new:])

    async def compare_ledgers(self, pause: Pause) -> None:
        """Adds to the pause's findings everything that differs from what people were told."""
        await self.customer.settle()
        action = await asyncio.wait_for(self._known.confirm(self.action), NORMAL_WITHIN)
        if action["action"]["state"] != "confirmed":
            pause.findings.append(f"lost: the confirmed order is {action['action']['state']}")
        stands = await self.customer.stands()
        self.customer.ledger.ask("before", "7.000")
        pause.findings += [str(finding) for finding in self.customer.ledger.findings(stands) if finding.key != "before"]
        if stands.count("7.000") != 1:
            pause.findings.append(f"the prepared order stands {stands.count('7.000')} times: lost or doubled")
        if pause.asked["remember"].answer is not None:
            await self._check_note(pause)
        await self._check_logs(pause)
        for chat in pause.chats:
            await chat.__aexit__()

    # ------------------------------------------------------------------ what each asks for

    async def _timed(self, pause: Pause, what: str, ask: Callable[[Asked], Awaitable[Any]]) -> None:
        asked = pause.asked[what] = Asked()
        began = time.monotonic()
        try:
            asked.answer = await asyncio.wait_for(ask(asked), pause.limit(what))
        except TimeoutError:
            pause.findings.append(f"{what}: no answer within {pause.limit(what):g} s")
        asked.seconds = time.monotonic() - began

    async def _visitor(self, pause: Pause, asked: Asked) -> Any:
        chat, asked.refused = await new_visitor(self._stack, COMPANY)
        pause.chats.append(chat)
        await chat.enter()
        return await self._say(chat, "hello")

    async def _say(self, chat: PatientChat, text: str) -> Any:
        return await chat.answer(await chat.say(text))

    async def _confirm(self, pause: Pause) -> Any:
        """Confirms in a chat of its own, so that the two requests do not wait for each other."""
        screen = PatientChat(self._stack.url, self.customer.token)
        async with screen:
            await screen.enter()
            return (await screen.confirm(self.action))["action"]

    async def _effect(self, asked: Asked, number: int) -> Any:
        status, body = await self.customer.ask(self.customer.effect(number))
        asked.refused = int(status != 200)
        return status, body

    async def _get(self, path: str) -> Any:
        return (await self.http("GET", path, token=self._noter))[:2]

    async def _complete(self) -> Any:
        body = {"model": "nexus", "messages": [{"role": "user", "content": "hello"}]}
        return (await self.http("POST", "/v1/chat/completions", token=self.customer.token, json=body))[:2]

    # ------------------------------------------------------------------ the ledger

    async def _check_note(self, pause: Pause) -> None:
        said = pause.asked["remember"].answer["text"]

        found = 0

        async def matches_answer() -> bool:
            nonlocal found
            status, body = await self._get("/v2/memory")
            found = sum(self.word in note for note in body["userNotes"]) if status == 200 else 0
            return status == 200 and (found > 0 or not said.startswith("Noted"))

        try:
            await eventually(matches_answer, NORMAL_WITHIN)
        except AssertionError:
            pause.findings.append(f"lost: what was noted is not remembered: {said}")
        if found > 1:
            pause.findings.append(f"doubled: one note is remembered {found} times")

    async def _check_logs(self, pause: Pause) -> None:
        """Checks that each accepted message has one final answer, shown once, from a turn that was driven at most three
        times."""
        url = self._stack.facts()["urls"]["nats"]
        bus = Client()
        await bus.connect(url)
        try:
            turns = DirectReader(bus, "TURNS")
            for chat in pause.chats:
                facts = await read_log(url, COMPANY, chat.conversation)
                accepted = {fact.seq for fact in facts if fact.kind == "visitor"}
                if not set(chat.acked) <= accepted:
                    pause.findings.append(f"lost: {set(chat.acked) - accepted} were accepted and are not in the log")
                bases = [fact.data["basis"] for fact in facts if fact.kind in FINAL]
                if len(set(bases)) < len(bases):
                    pause.findings.append(f"two answers to one message: {bases}")
                if accepted and max(bases, default=0) < max(accepted):
                    pause.findings.append(f"no answer to {max(accepted)}: {bases}")
                if len(set(chat.finals())) < len(chat.finals()):
                    pause.findings.append("doubled: one answer was shown twice")
                stored = await turns.last(channels.journal(COMPANY, chat.conversation))
                attempts = json.loads(stored.event)["data"].get("attempts", 0) if stored else 0
                if attempts > 3:
                    pause.findings.append(f"a turn was driven {attempts} times")
        finally:
            await bus.close()


def system(prompt: dict[str, Any]) -> str:
    """Returns the system messages of a prompt."""
    return "\n".join(str(message["content"]) for message in prompt["messages"] if message["role"] == "system")


async def pause_and_ask(
    stack: RunningStack,
    model: ScriptedModel,
    victims: Sequence[str],
    seconds: float,
    hurt: AbstractAsyncContextManager[None] | None = None,
) -> Pause:
    """Makes all requests during one pause, or during `hurt`, and waits until the stack works as before."""
    pause = Pause(victims, seconds)
    await stack.whole()
    before = {name: stack.process(name).pid for name in PROCESSES}
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=200)) as session:
        people = People(stack, model, session)
        await asyncio.wait_for(people.prepare(), NORMAL_WITHIN)
        model.asked.clear()
        async with hurt or frozen(stack, victims):
            pause.began = time.monotonic()
            asking = asyncio.create_task(people.ask_everything(pause))
            await asyncio.sleep(seconds)
            pause.prompts = list(model.asked)
            pause.thawed = time.monotonic()
        await eventually(people.normal, NORMAL_WITHIN)
        pause.normal_after = time.monotonic() - pause.thawed
        await asking
        pause.prompts = pause.prompts or list(model.asked)
        await people.compare_ledgers(pause)
    log.info("%s %s", pause.row(), {what: (item.seconds, item.answer) for what, item in pause.asked.items()})
    after = {name: stack.process(name).pid for name in PROCESSES}
    pause.findings += [f"{name} was started anew" for name in PROCESSES if before[name] != after[name]]
    return pause


def as_it_should_be(pause: Pause) -> None:
    """What holds after every pause, whoever stood still."""
    assert pause.findings == [], pause.row()
    victims = set(pause.victims)
    if "nats" in victims:
        assert not [at for chat in pause.chats for at in chat.acked.values() if pause.began < at < pause.thawed], (
            "accepted by nobody"
        )
    for effect in ("alert", "order"):
        status, body = pause.asked[effect].answer
        assert status == 200 or body["error"]["code"] in {"TIMEOUT", "UNAVAILABLE"}, body
    if not victims & NEEDED:
        assert pause.asked["visitor"].answer["role"] == "assistant"
        assert pause.asked["tool answer"].answer["role"] == "assistant"
        if pause.seconds > 30:
            assert pause.began + pause.asked["visitor"].seconds < pause.thawed, "answered after the pause alone"
