"""What people do during the faults: each scene is one person's visit, with choices made by the seed."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from contracts.errors import OUTCOME_UNKNOWN
from nexus_cli.drill.ledger import DrillMessage
from tests.faults.effect_ledger import told
from tests.faults.people import ANSWERED_WITHIN, BROKEN, COMPANY, PAUSE, Field, Person
from tests.support.effects_ledger import EffectsLedger, View

DECIDED_WITHIN = 8.0
"""Seconds to wait for the answer to a confirmation; then the outcome is unknown and asked for again at the end."""
STATES = {"confirmed": View.ACCEPTED, "rejected": View.REJECTED, "failed": View.REJECTED, "expired": View.REJECTED}
CALLS = {200: View.ACCEPTED, 404: View.REJECTED, 422: View.REJECTED, 502: View.REJECTED}


async def visitor(here: Field) -> None:
    """A visitor who sends single messages and bursts, repeats, reconnects and cancels."""
    token = await _until_given(lambda: here.stack.visitor(COMPANY, locale="en"))
    person = Person(here, token[0])
    await person.arrive()
    here.open[person.ledger.conversation] = person.ledger
    for _ in range(here.random.randint(2, 4)):
        if here.over.is_set():
            break
        mark = len(person.client.frames)
        deed = here.random.choice(["single", "single", "burst", "repeat", "leave", "cancel"])
        words: list[str] = []
        said: DrillMessage | None = None
        for _ in range(here.random.randint(2, 3) if deed == "burst" else 1):
            words.append(here.token())
            said = await person.say(f"tell me about {words[-1]}", twice=deed == "repeat")
            await here.rest(here.random.uniform(0.0, 0.4))
        if deed == "leave":
            await person.leave()
            await here.rest(here.random.uniform(0.0, 1.5))
        if deed == "cancel":
            await _cancel(person, mark)
        assert said is not None
        await person.answered(said, words[-1], mark)
        await here.rest(here.random.uniform(0.2, 2.0))
    here.open.pop(person.ledger.conversation, None)


async def _cancel(person: Person, mark: int) -> None:
    """Cancels the answer as soon as it runs, unless it has finished already."""
    seen = await person.see(
        lambda frame: frame["type"] in ("run.started", "run.finished", "message.created") and "turnId" in frame, 3, mark
    )
    if seen is not None and seen["type"] == "run.started":
        try:
            await person.client.send_frame("run.cancel", turnId=seen["turnId"])
        except BROKEN:
            return


async def human_agent(here: Field) -> None:
    """A human agent who takes a visitor's conversation, writes, and gives it back."""
    await here.rest(here.random.uniform(0.5, 3.0))
    free = [conversation_id for conversation_id in here.open if conversation_id not in here.taken]
    if not free:
        return
    conversation = here.random.choice(free)
    ledger = here.open[conversation]
    here.taken.add(conversation)
    token = here.stack.mint("commercial", f"ana-{here.random.getrandbits(24):06x}", COMPANY)
    path = f"/v2/conversations/{conversation}"
    try:
        await _until_done(here, token, f"{path}/owner", {"owner": "human"})
        for _ in range(here.random.randint(0, 2)):
            await here.rest(here.random.uniform(0.2, 3.0))
            text = f"this is Ana, {here.token()}"
            said = DrillMessage(text)
            ledger.sent.append(said)
            body = {"text": text, "clientMessageId": here.identity()}
            said.seq = (await _until_done(here, token, f"{path}/messages", body))["seq"]
        await here.rest(here.random.uniform(0.2, 3.0))
        await _until_done(here, token, f"{path}/owner", {"owner": "ai"})
    finally:
        here.taken.discard(conversation)


async def buyer(here: Field) -> None:
    """A customer who prepares an order in the chat and confirms it, rejects it, or does neither, by text or by a
    button."""
    customer = Customer(here)
    person = customer.person = Person(here, customer.token)
    await person.arrive()
    word, quantity = here.token(), here.quantity()
    here.effects.prepared.ask(word, quantity)
    mark = len(person.client.frames)
    said = await person.say(f"buy {quantity} IBM {word}")
    answer = await person.answered(said, word, mark)
    actions = _orders_in(answer, quantity)
    here.effects.prepared.see(word, View.UNKNOWN if answer is None else told(answer["text"], word))
    if not actions:
        return
    decision = here.random.choice(["yes", "yes", "confirm", "confirm", "confirm over HTTP", "no", "reject", "nothing"])
    action = actions[0]["id"]
    if decision in ("yes", "confirm", "confirm over HTTP"):
        here.effects.placed.ask(action, quantity)
        customer.confirmed.append(action)
    if decision in ("no", "reject"):
        here.effects.refused.add(quantity)
    await here.rest(here.random.uniform(0.0, 1.0))
    match decision:
        case "yes" | "no":
            mark = len(person.client.frames)
            view = _told_in_words(await person.answered(await person.say(decision), None, mark))
        case "confirm" | "reject":
            view = await _by_button(person, decision, action)
        case "confirm over HTTP":
            view = await customer.decide(action, "confirm")
        case _:
            return
    if action in customer.confirmed:
        here.effects.placed.see(action, view)


def _orders_in(answer: Mapping[str, Any] | None, quantity: str) -> list[dict[str, Any]]:
    """Returns the actions of an answer for the order with this quantity."""
    actions: list[dict[str, Any]] = [] if answer is None else answer["actions"]
    return [action for action in actions if float(action["details"]["quantity"]) == float(quantity)]


async def _by_button(person: Person, decision: str, action: str) -> View:
    """Sends the decision once; returns UNKNOWN if the answer is lost with its gateway."""
    try:
        await person.be_here()
        mark = len(person.client.frames)
        await person.client.send_frame(f"action.{decision}", actionId=action)
    except BROKEN:
        return View.UNKNOWN

    def decided(frame: dict[str, Any]) -> bool:
        return (frame["type"] == "action.updated" and frame["action"]["id"] == action) or (
            frame["type"] == "error" and frame.get("ref") == action
        )

    frame = await person.see(decided, DECIDED_WITHIN, mark)
    if frame is None or frame["type"] == "error":
        return View.UNKNOWN
    return STATES.get(frame["action"]["state"], View.UNKNOWN)


def _told_in_words(answer: Any) -> View:
    """Returns what the agent's answer to a written yes says of the order; UNKNOWN for any other text."""
    text = "" if answer is None else str(answer["text"])
    if text.startswith("Confirmed:"):
        return View.ACCEPTED
    return View.REJECTED if text.startswith("It could not be placed") else View.UNKNOWN


async def watcher(here: Field) -> None:
    """A customer who makes alerts in the chat, one or two at once, and over HTTP, and deletes some."""
    customer = Customer(here)
    person = customer.person = Person(here, customer.token)
    await person.arrive()
    words: list[str] = []
    mark = len(person.client.frames)
    said: DrillMessage | None = None
    for _ in range(here.random.randint(1, 2)):
        words.append(here.token())
        here.effects.alerts.ask(words[-1], words[-1])
        said = await person.say(f"alert me {words[-1]}")
    assert said is not None
    # The outcome of each is read from the log later, however many answers there are.
    await person.answered(said, words[-1], mark)
    for _ in range(here.random.randint(1, 2)):
        if here.over.is_set():
            break
        word = here.token()
        arguments = {"symbol": "AAPL", "condition": ">=", "price": 9000, "message": word}
        made = await customer.call(here.effects.alerts, word, "create_alert", arguments)
        await here.rest(here.random.uniform(0.0, 1.0))
        if made is not None and here.random.random() < 0.4:
            await customer.call(
                here.effects.deleted, here.token(), "delete_alert", {"alert_id": made["alert_id"]}, basis=word
            )


@dataclass(slots=True)
class Customer:
    """A customer on the plan pro. `calls`: the calls over HTTP by Idempotency-Key, so that they can be repeated."""

    here: Field
    token: str = ""
    person: Person | None = None
    confirmed: list[str] = field(default_factory=list[str])
    calls: dict[str, tuple[EffectsLedger, str, dict[str, Any]]] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        user = f"u-{self.here.random.getrandbits(48):012x}"
        self.token = self.here.stack.mint("user", user, COMPANY, plan="pro")
        self.here.customers.append(self)

    async def call(
        self, ledger: EffectsLedger, key: str, tool: str, arguments: dict[str, Any], basis: str | None = None
    ) -> dict[str, Any] | None:
        """Makes a call under a key; returns its data if it succeeded."""
        ledger.ask(key, basis or key)
        self.calls[key] = (ledger, tool, arguments)
        return await self.again(key)

    async def again(self, key: str) -> dict[str, Any] | None:
        """Makes the call of this key (again) and records the outcome in its ledger."""
        ledger, tool, arguments = self.calls[key]
        body: dict[str, Any] = {}
        try:
            status, body, _ = await self.here.http(
                "POST",
                f"/v2/tools/{tool}",
                token=self.token,
                json={"arguments": arguments},
                headers={"Idempotency-Key": key},
            )
        except BROKEN:
            status = 0
        error: dict[str, Any] = body.get("error") or {}
        unknown = error.get("reason") == OUTCOME_UNKNOWN
        ledger.see(key, View.UNKNOWN if unknown else CALLS.get(status, View.UNKNOWN))
        return body["data"] if status == 200 else None

    async def decide(self, action: str, decision: str) -> View:
        """Confirms or rejects over HTTP; may be repeated, since the first decision counts."""
        assert self.person is not None
        path = f"/v2/conversations/{self.person.ledger.conversation}/actions/{action}"
        try:
            status, body, _ = await self.here.http("POST", path, token=self.token, json={"decision": decision})
        except BROKEN:
            return View.UNKNOWN
        return STATES.get(body.get("state", ""), View.UNKNOWN) if status == 200 else View.UNKNOWN

    async def read(self, tool: str) -> dict[str, Any]:
        """Returns the data of a tool that only reads. Raises AssertionError if the call fails."""
        status, body, _ = await self.here.http("POST", f"/v2/tools/{tool}", token=self.token, json={"arguments": {}})
        assert status == 200, body
        return body["data"]


async def _until_given(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Repeats the request until it succeeds. Raises its error after ANSWERED_WITHIN seconds."""
    end = time.monotonic() + ANSWERED_WITHIN
    while True:
        try:
            async with asyncio.timeout(DECIDED_WITHIN):
                return await ask()
        except BROKEN:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(PAUSE)


async def _until_done(here: Field, token: str, path: str, body: dict[str, Any]) -> Any:
    """Posts until it succeeds; every request made here may be repeated."""

    async def post() -> Any:
        status, answer, _ = await here.http("POST", path, token=token, json=body)
        assert status in (200, 201), answer
        return answer

    return await _until_given(post)


SCENES: tuple[Callable[[Field], Awaitable[None]], ...] = (
    visitor, visitor, visitor, visitor, human_agent, buyer, buyer, watcher
)  # fmt: skip
"""The people who are active at the same time; when a visit ends another of the same kind begins."""
