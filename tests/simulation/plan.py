"""What happens in a simulation: made by a seed, and made smaller when it shows a fault."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from tests.simulation.bus import Rates

AGENTS = 2
GATEWAYS = 2
_PROCESSES = [f"agent-{n}" for n in range(AGENTS)] + [f"gateway-{n}" for n in range(GATEWAYS)]
KNOWN_GAPS = ("lost_copy", "stale_elsewhere")
"""Faults of a bus with replicas that sockets are not proof against yet (docs/decisions/0052)."""
LONGEST = 12.0
"""Seconds in which people act and faults begin."""


@dataclass(frozen=True)
class Act:
    """One thing that a person does: say, order, leave, cancel, take, release, speak (the human agent), off,
    on, note (a newer release writes a fact that this one does not know)."""

    at: float
    what: str
    conversation: int = 0


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong: kill, stop, cut, hold, clock, bus. `seconds`: how long, or how far a clock jumps."""

    at: float
    what: str
    process: str
    seconds: float


@dataclass(frozen=True)
class Plan:
    """Everything that is not decided while it runs."""

    seed: int
    acts: tuple[Act, ...] = ()
    faults: tuple[Fault, ...] = ()
    rates: Rates = field(default_factory=Rates)
    model_fails: float = 0.0
    delay: float = 0.002

    @property
    def calm(self) -> bool:
        """Whether nothing is lost and nothing fails: then nobody waits for the safety nets."""
        mild = {"stale", "slow_read"}
        return not self.faults and not any(rate for name, rate in vars(self.rates).items() if name not in mild)

    @property
    def size(self) -> int:
        """How much of it could be taken away."""
        return len(self.acts) + len(self.faults) + sum(1 for rate in vars(self.rates).values() if rate)


def plan_of(seed: int) -> Plan:
    """The standard world: one or two conversations, up to ten acts and four faults, a bus that fails now and then."""
    random = Random(seed)
    conversations = random.choice((1, 1, 2))
    acts = [Act(random.uniform(0.0, 1.0), "say", number) for number in range(conversations)]
    for _ in range(random.randint(1, 8)):
        what = random.choices(
            ("say", "order", "leave", "cancel", "take", "release", "speak", "note", "off", "on"),
            (8, 4, 2, 2, 3, 2, 2, 1, 1, 1),
        )[0]
        acts.append(Act(random.uniform(0.0, LONGEST * random.random()), what, random.randrange(conversations)))
    calm = random.random() < 0.25
    faults = [] if calm else [_fault(random, acts) for _ in range(random.randint(0, 4))]
    rates = Rates()
    for name in vars(rates):
        if name not in KNOWN_GAPS and random.random() < 0.3:
            setattr(rates, name, random.choice((0.02, 0.1, 0.3)))
    if calm:
        rates = Rates(stale=rates.stale, slow_read=rates.slow_read)
    fails = random.choice((0.0, 0.0, 0.3))
    delay = random.choice((0.001, 0.004, 0.02))
    return Plan(seed, tuple(sorted(acts, key=_when)), tuple(sorted(faults, key=_when)), rates, fails, delay)


def _fault(random: Random, acts: list[Act]) -> Fault:
    """One fault; half of them begin just after somebody has done something, while it is under way."""
    what = random.choices(("kill", "stop", "cut", "hold", "clock", "bus"), (5, 4, 2, 3, 1, 1))[0]
    process = random.choices(_PROCESSES, (3, 3, 2, 2))[0]
    seconds = random.uniform(-30.0, 30.0) if what == "clock" else random.uniform(0.1, 8.0) * random.random()
    at = random.uniform(0.1, LONGEST * random.random() + 0.2)
    if random.random() < 0.5:
        at = random.choice(acts).at + random.expovariate(20.0)
    return Fault(at, what, process, seconds)


def _when(one: Act | Fault) -> float:
    return one.at
