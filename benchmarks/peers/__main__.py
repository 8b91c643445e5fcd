"""``python -m benchmarks.peers PYTHON [--turns N]``: Nexus beside its peers, turn by turn in alternation, in one run.

All sides run at the same time, each with a scripted model of its own: what else the machine does meets all alike.
Ratios of one run can be compared, absolute figures of two runs cannot.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agent.scripted_model.script import Rule
from benchmarks.calibration import calibrate
from benchmarks.first_token import BURST, CALL
from benchmarks.peers.side import Conversation, Side, Spent, nexus, peer
from benchmarks.report import median, percentile

PEERS = (("FastAPI + openai SDK", "fastapi_openai.py"), ("LangGraph", "fastapi_langgraph.py"))
WARM_UP = 45
TURNS = 15
"""Of one conversation."""
SETTLED = 30.0
"""Seconds until the market adapters have computed what they compute in the background at the start."""
PEOPLE, LAPS = 8, 6
"""Conversations at once, and how often each side has its turn with them."""
PAUSE = 0.015
"""Seconds between two turns, for what is done behind the first one."""
SETTLES = 1.5
"""Seconds after which what is written behind the turns is written."""
REST = 15.0
"""Seconds in which nobody asks for anything: what is used then goes by the clock, and is taken off the turns'."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds to the first token of each turn, and of CPU a turn, without that of rest."""

    name: str
    overhead: list[float]
    cpu: Spent


async def at_rest(sides: Sequence[Side]) -> list[Spent]:
    """CPU a second of each side while nobody asks for anything."""
    before = [side.spent() for side in sides]
    await asyncio.sleep(REST)
    return [(side.spent() - then) / REST for side, then in zip(sides, before, strict=True)]


async def measure(sides: Sequence[Side], rest: Sequence[Spent], turns: int, *rules: Rule) -> list[Measured]:
    """So many turns of each side, in alternation."""
    for side in sides:
        side.model.say(*rules, default=BURST)
    overhead: list[list[float]] = [[] for _ in sides]
    talks: dict[int, Conversation] = {}
    before, began = list[Spent](), 0.0
    for number in range(WARM_UP + turns):
        if number == WARM_UP:
            before, began = [side.spent() for side in sides], time.monotonic()
        order = range(len(sides)) if number % 2 else reversed(range(len(sides)))
        for one in order:
            if number % TURNS == 0:
                if one in talks:
                    await talks[one].close()
                talks[one] = await sides[one].open()
            overhead[one].append(await talks[one].turn(2 if rules else 1))
            await asyncio.sleep(PAUSE)
    seconds = time.monotonic() - began
    after = [side.spent() for side in sides]
    for talk in talks.values():
        await talk.close()
    return [
        Measured(side.name, found[WARM_UP:], (now - then - idle * seconds) / turns)
        for side, found, then, now, idle in zip(sides, overhead, before, after, rest, strict=True)
    ]


async def at_once(sides: Sequence[Side]) -> list[Spent]:
    """CPU a turn of each side where many write at once, each again as soon as they are answered."""
    spent = [Spent(0.0) for _ in sides]
    for side in sides:
        side.model.say(default=BURST)
    for lap in range(1 + LAPS):
        for one, side in list(enumerate(sides))[:: 1 if lap % 2 else -1]:
            talks = [await side.open() for _ in range(PEOPLE)]
            before = side.spent()
            await asyncio.gather(*(_turns(talk) for talk in talks))
            await asyncio.sleep(SETTLES)
            if lap:
                spent[one] -= before - side.spent()
            for talk in talks:
                await talk.close()
    return [one / (LAPS * PEOPLE * TURNS) for one in spent]


async def _turns(talk: Conversation) -> None:
    for _ in range(TURNS):
        await talk.turn(1)


def show(console: Console, title: str, found: Sequence[Measured], unit: float) -> None:
    """Absolute figures, and what share of each peer's Nexus takes. `unit`: CPU of one calibration, ms."""
    table = Table("", *(one.name for one in found), *(f"Nexus / {one.name}" for one in found[1:]), title=title)
    rows = (
        ("to the first token, p50, ms", [median(one.overhead) for one in found]),
        ("p99, ms", [percentile(one.overhead, 0.99) for one in found]),
        ("CPU a turn, ms", [one.cpu.own for one in found]),
        ("CPU a turn, in calibrations", [one.cpu.own / unit for one in found]),
        ("CPU a turn with the servers, ms", [one.cpu.own + one.cpu.servers for one in found]),
    )
    for name, values in rows:
        shares = (f"{values[0] / value:.2f}" for value in values[1:])
        table.add_row(name, *(f"{value:.2f}" for value in values), *shares)
    console.print(table)


async def run(python: Path, turns: int) -> None:
    """Measures and prints everything; about two minutes."""
    console = Console(width=140)
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(nexus())
        sides: list[Side] = [ours]
        for name, program in PEERS:
            sides.append(await stack.enter_async_context(peer(name, program, python)))
        await asyncio.sleep(SETTLED)
        before = await calibrate(ours.bus)
        rest = await at_rest(sides)
        plain = await measure(sides, rest, turns)
        tool = await measure(sides, rest, turns, Rule(match="price", replies=[CALL, BURST], again=True))
        many = await at_once(sides)
        after = await calibrate(ours.bus)
    unit = (before.cpu + after.cpu) / 2
    show(console, f"a plain turn, {turns} of each", plain, unit)
    show(console, f"with one tool call, {turns} of each", tool, unit)
    table = Table("", *(side.name for side in sides), title=f"CPU a turn, {PEOPLE} conversations at once, ms")
    table.add_row("services", *(f"{one.own:.2f}" for one in many))
    table.add_row("with the servers", *(f"{one.own + one.servers:.2f}" for one in many))
    console.print(table)
    idle = ", ".join(f"{side.name} {one.own:.1f} + {one.servers:.1f}" for side, one in zip(sides, rest, strict=True))
    console.print(f"CPU at rest, ms a second, own and servers: {idle}")
    console.print(
        f"calibration: publish and acknowledgement {(before.wait + after.wait) / 2:.3f} ms, CPU {unit:.3f} ms"
    )


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", type=Path, help="of the peers' environment; make bench-peers makes it")
    parser.add_argument("--turns", type=int, default=200)
    options = parser.parse_args()
    asyncio.run(run(options.python.absolute(), options.turns))


if __name__ == "__main__":
    main()
