"""The end of a round: everybody comes back, what nobody knows is asked again, and the ledgers are compared with the
log, the screens and the stores.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nexus_cli.drill.faults import READY_WITHIN, FaultWindow
from nexus_cli.drill.ledger import settled_at
from nexus_cli.drill.log_reader import LoggedFact, read_log
from runtime.testing.servers import eventually
from tests.faults.effect_ledger import Stores
from tests.faults.networked_stack import PROCESSES
from tests.faults.people import COMPANY, Field, Person, Wait
from tests.faults.scenes import Customer
from tests.support.chat_client import Frame
from tests.support.effects_ledger import Finding

SETTLED_WITHIN = 150.0
"""Seconds in which everything comes to rest once all is well: longer than a turn's own deadline."""
ANSWERED_BEHIND, READY_BEHIND = 60.0, 30.0
"""Seconds behind a fault in which whoever waits is answered, and what it hit is ready."""
_TOLD = frozenset({"welcome", "snapshot", "message.ack", "message.created", "owner.changed", "run.cancelled"})
PENDING = "pending_confirmation"


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that must never be. `turns`: of that conversation, for `nexus trace`; `log`: its facts; `shown`: the
    frames that its client got, without the pieces of running answers."""

    what: str
    conversation: str = ""
    turns: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Totals:
    """How much was booked."""

    messages: int = 0
    answers: int = 0
    failures: int = 0
    takeovers: int = 0
    effects: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.messages + other.messages,
            self.answers + other.answers,
            self.failures + other.failures,
            self.takeovers + other.takeovers,
            self.effects + other.effects,
        )


async def close(here: Field) -> tuple[list[Violation], Totals]:
    """Returns the violations and the totals of a round. Every scene has ended and no fault is active."""
    await here.stack.ready_again(PROCESSES, READY_WITHIN)
    violations: list[Violation] = []
    totals = Totals()
    places = asyncio.Semaphore(8)

    async def one(person: Person) -> tuple[list[Violation], Totals]:
        async with places:
            return await _conversation(here, person)

    for found, counted in await asyncio.gather(*map(one, here.people)):
        violations += found
        totals += counted
    violations += await _effects(here)
    return violations, totals + Totals(effects=here.effects.number)


def late(windows: Sequence[FaultWindow], waits: Sequence[Wait]) -> Iterator[Violation]:
    """Yields who waited a minute longer than the faults they met, and which service was not ready half a minute after
    one."""
    for window in windows:
        # A service that needs another broken one is ready only after both faults.
        behind = window.ready - max(overlapping.ended for overlapping in windows if overlapping.began <= window.ready)
        if behind > READY_BEHIND:
            yield Violation(f"ready {behind:.1f} s behind {window.fault}")
    for wait in waits:
        met = [window for window in windows if wait.began <= window.ended and wait.ended >= window.began]
        behind = wait.ended - wait.began - sum(overlapping.ended - overlapping.began for overlapping in met)
        if behind > ANSWERED_BEHIND:
            told = ", ".join(str(overlapping.fault) for overlapping in met) or "no fault at all"
            yield Violation(f"answered {behind:.1f} s behind {told}")


async def _conversation(here: Field, person: Person) -> tuple[list[Violation], Totals]:
    conversation = person.ledger.conversation
    if not conversation:
        return [], Totals()
    log: list[LoggedFact] = []

    async def at_rest() -> bool:
        nonlocal log
        log = await read_log(here.stack.facts()["urls"]["nats"], COMPANY, conversation)
        newest = max((fact.seq for fact in log if fact.kind == "visitor"), default=0)
        return newest <= settled_at(log)

    async def caught_up() -> bool:
        await person.be_here()
        newest = max((fact.seq for fact in log if "messageId" in fact.data), default=0)
        return person.client.seq >= newest

    # The ledgers report what is not settled.
    with contextlib.suppress(AssertionError):
        await eventually(at_rest, SETTLED_WITHIN)
    with contextlib.suppress(AssertionError):
        await eventually(caught_up, SETTLED_WITHIN)
    await person.close()
    answers = [str(fact.data["text"]) for fact in log if fact.kind == "assistant"]
    for answer in answers:
        here.effects.read(answer)
    turns = tuple(str(fact.data["turnId"]) for fact in log if fact.data.get("turnId"))
    facts, shown = (
        tuple(map(_fact, log)),
        tuple(_frame(frame) for frame in person.client.frames if frame["type"] in _TOLD),
    )
    violations = [Violation(str(finding), conversation, turns, facts, shown) for finding in person.ledger.findings(log)]
    return violations, Totals(
        messages=sum(fact.kind == "visitor" for fact in log),
        answers=len(answers),
        failures=sum(fact.kind == "system" for fact in log),
        takeovers=sum(fact.kind == "owner" and fact.data["owner"]["kind"] == "human" for fact in log),
    )


def _fact(fact: LoggedFact) -> str:
    about = {name: fact.data[name] for name in ("basis", "owner", "code", "text") if name in fact.data}
    return f"{fact.seq} {fact.kind} {about}"


def _frame(frame: Frame) -> str:
    seqs = [message["seq"] for message in frame["messages"]] if frame["type"] == "snapshot" else None
    about = seqs or (frame["message"]["seq"] if frame["type"] == "message.created" else frame.get("seq"))
    return f"{frame['type']} {about} {frame.get('recovered', '')}".rstrip()


async def _effects(here: Field) -> list[Violation]:
    violations: list[Violation] = []
    with contextlib.suppress(AssertionError):
        await eventually(lambda: _asked_again(here), SETTLED_WITHIN)
    stores = Stores()
    for customer in here.customers:
        try:
            await eventually(lambda customer=customer: _look(customer, stores), SETTLED_WITHIN)
        except AssertionError as error:
            violations.append(Violation(f"a customer's ledger could not be read: {error}"))
    for what, finding in here.effects.findings(stores):
        violations.append(Violation(f"{what}, {finding}", _where(here, finding)))
    return violations


async def _look(customer: Customer, stores: Stores) -> bool:
    """Adds this customer's effects to `stores`. Raises AssertionError while a list cannot be read."""
    orders = (await customer.read("get_pending_orders"))["orders"]
    trades = (await customer.read("get_trade_history"))["trades"]
    alerts = (await customer.read("list_alerts"))["alerts"]
    # A partly filled order is in both lists.
    quantities = {one["order_id"]: f"{one['quantity']:.3f}" for one in (*trades, *orders)}
    waiting = {order["order_id"] for order in orders if order["status"] == PENDING}
    stores.prepared += quantities.values()
    stores.placed += [quantity for order, quantity in quantities.items() if order not in waiting]
    stores.alerts += [alert["message"] for alert in alerts]
    return True


async def _asked_again(here: Field) -> bool:
    """Repeats every call and confirmation without an answer; returns whether all have one."""
    for customer in here.customers:
        for key, (ledger, _, _) in customer.calls.items():
            if key in {one.key for one in ledger.unsettled}:
                await customer.again(key)
        for action in customer.confirmed:
            if action in {one.key for one in here.effects.placed.unsettled}:
                here.effects.placed.see(action, await customer.decide(action, "confirm"))
    by_key = {key for customer in here.customers for key in customer.calls}
    return not here.effects.placed.unsettled and not any(
        one.key in by_key for ledger in (here.effects.alerts, here.effects.deleted) for one in ledger.unsettled
    )


def _where(here: Field, finding: Finding) -> str:
    """Returns the conversation in which an effect was asked for, if its key is in a text or an action of it."""
    for customer in here.customers:
        person = customer.person
        if person is not None and (
            finding.key in customer.confirmed or any(finding.key in message.text for message in person.ledger.sent)
        ):
            return person.ledger.conversation
    return ""
