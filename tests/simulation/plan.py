"""The plan of a simulation, made from a seed; shrink.py makes a failing plan smaller."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from tests.simulation.bus import Rates
from tests.simulation.store import StoreRates

AGENTS = 2
GATEWAYS = 2
MEMORIES = 2
_PROCESSES = {"agent": (AGENTS, 3), "gateway": (GATEWAYS, 2), "memory": (MEMORIES, 2)}
"""For each kind: how many processes, and the weight of a fault in one of them."""
RESTORED_FROM = 1_000_000
"""From this seed on a plan is that of the seed a million lower, with one to three more restores of MongoDB."""
LONGEST = 12.0
"""Seconds in which people act and faults begin."""


@dataclass(frozen=True)
class Act:
    """One thing a person does: say, order, leave, cancel, take, release, speak (the human agent), off, on, note (a
    newer release writes a fact this one does not know), copy (a human agent's message is stored again after its id was
    forgotten)."""

    at: float
    what: str
    conversation: int = 0


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong: kill, stop, cut, hold, clock; bus, mongo, redis (a server dies and comes back),
    restore (MongoDB as it was seconds before).
    `seconds`: how long, or how far a clock jumps."""

    at: float
    what: str
    process: str
    seconds: float


@dataclass(frozen=True)
class Plan:
    """Everything about a simulation that is decided before it runs."""

    seed: int
    acts: tuple[Act, ...] = ()
    faults: tuple[Fault, ...] = ()
    rates: Rates = field(default_factory=Rates)
    store: StoreRates = field(default_factory=StoreRates)
    model_fails: float = 0.0
    delay: float = 0.002

    @property
    def calm(self) -> bool:
        """Returns whether nothing is lost and nothing fails, so that nothing waits for a recovery."""
        mild = {"stale", "slow_read"}
        wrong = {**vars(self.rates), **vars(self.store)}
        return not self.faults and not any(rate for name, rate in wrong.items() if name not in mild)

    @property
    def size(self) -> int:
        """Returns how many parts could be removed."""
        rates = (*vars(self.rates).values(), *vars(self.store).values())
        return len(self.acts) + len(self.faults) + sum(1 for rate in rates if rate)


def plan_of(seed: int) -> Plan:
    """Returns the plan of a seed: one or two conversations, up to ten acts and four faults, and rates of failure."""
    if seed >= RESTORED_FROM:
        return _restored(plan_of(seed - RESTORED_FROM))
    random = Random(seed)
    conversations = random.choice((1, 1, 2))
    acts = [Act(random.uniform(0.0, 1.0), "say", number) for number in range(conversations)]
    for _ in range(random.randint(1, 8)):
        what = random.choices(
            ("say", "order", "leave", "cancel", "take", "release", "speak", "note", "off", "on", "copy"),
            (8, 4, 2, 2, 3, 2, 2, 1, 1, 1, 1),
        )[0]
        acts.append(Act(random.uniform(0.0, LONGEST * random.random()), what, random.randrange(conversations)))
    calm = random.random() < 0.25
    faults = [] if calm else [_fault(random, acts) for _ in range(random.randint(0, 4))]
    rates = Rates()
    for name in vars(rates):
        if name != "lost_copy" and random.random() < 0.3:
            setattr(rates, name, random.choice((0.02, 0.1, 0.3)))
    store = StoreRates()
    for name in vars(store):
        if random.random() < 0.3:
            setattr(store, name, random.choice((0.02, 0.1, 0.3)))
    if calm:
        rates, store = Rates(stale=rates.stale, slow_read=rates.slow_read), StoreRates()
    fails = random.choice((0.0, 0.0, 0.3))
    delay = random.choice((0.001, 0.004, 0.02))
    if not calm and random.random() < 0.3:
        rates.lost_copy = random.choice((0.02, 0.1, 0.3))
    return Plan(seed, tuple(sorted(acts, key=_when)), tuple(sorted(faults, key=_when)), rates, store, fails, delay)


def _restored(plan: Plan) -> Plan:
    random = Random(plan.seed * 7 + 1)
    faults = list(plan.faults)
    for _ in range(random.randint(1, 3)):
        at = random.uniform(0.1, LONGEST * random.random() + 0.2)
        if random.random() < 0.6:
            at = random.choice(plan.acts).at + random.expovariate(2.0)
        faults.append(Fault(at, "restore", "memory-0", random.uniform(0.1, 8.0) * random.random()))
    return replace(plan, faults=tuple(sorted(faults, key=_when)))


def _fault(random: Random, acts: list[Act]) -> Fault:
    """Returns a random fault; half of them begin just after an act, while it is under way."""
    kinds = {"kill": 5, "stop": 4, "cut": 2, "hold": 3, "clock": 1, "bus": 1, "mongo": 1, "restore": 0.5, "redis": 0.5}
    what = random.choices(list(kinds), list(kinds.values()))[0]
    kind = random.choices(list(_PROCESSES), [count * weight for count, weight in _PROCESSES.values()])[0]
    process = f"{kind}-{random.randrange(_PROCESSES[kind][0])}"
    seconds = random.uniform(-30.0, 30.0) if what == "clock" else random.uniform(0.1, 8.0) * random.random()
    at = random.uniform(0.1, LONGEST * random.random() + 0.2)
    if random.random() < 0.5:
        at = random.choice(acts).at + random.expovariate(20.0)
    return Fault(at, what, process, seconds)


def _when(event: Act | Fault) -> float:
    return event.at
