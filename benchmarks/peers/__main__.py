"""``python -m benchmarks.peers PYTHON [--turns N]``: compares Nexus with its peers, turn by turn in alternation.

All sides run at the same time, each with its own scripted model, so that other load on the machine affects all of them.
Ratios within a run can be compared, absolute figures of two runs cannot.
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
"""Turns in one conversation."""
SETTLE_SECONDS = 30.0
"""Seconds until the market-adapter has finished its background work at the start."""
PEOPLE, LAPS = 8, 6
"""Concurrent conversations, and in how many laps each side has them."""
PAUSE = 0.015
"""Seconds between two turns, for the work after the first one."""
WRITE_SECONDS = 1.5
"""Seconds until everything that is written after turns is written."""
IDLE_SECONDS = 15.0
"""Seconds without requests: CPU used then is periodic work, and is subtracted from the turns'."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds to the first token of each turn, and CPU milliseconds per turn, without idle CPU."""

    name: str
    overhead: list[float]
    cpu: Spent


async def at_rest(sides: Sequence[Side]) -> list[Spent]:
    """Returns each side's CPU per second while it is idle."""
    before = [side.spent() for side in sides]
    await asyncio.sleep(IDLE_SECONDS)
    return [(side.spent() - spent_before) / IDLE_SECONDS for side, spent_before in zip(sides, before, strict=True)]


async def measure(sides: Sequence[Side], rest: Sequence[Spent], turns: int, *rules: Rule) -> list[Measured]:
    """Runs this many turns of each side, in alternation, and returns their figures."""
    for side in sides:
        side.model.say(*rules, default=BURST)
    overhead: list[list[float]] = [[] for _ in sides]
    conversations: dict[int, Conversation] = {}
    spent_before, started = list[Spent](), 0.0
    for number in range(WARM_UP + turns):
        if number == WARM_UP:
            spent_before, started = [side.spent() for side in sides], time.monotonic()
        order = range(len(sides)) if number % 2 else reversed(range(len(sides)))
        for index in order:
            if number % TURNS == 0:
                if index in conversations:
                    await conversations[index].close()
                conversations[index] = await sides[index].open()
            overhead[index].append(await conversations[index].turn(2 if rules else 1))
            await asyncio.sleep(PAUSE)
    seconds = time.monotonic() - started
    spent_after = [side.spent() for side in sides]
    for conversation in conversations.values():
        await conversation.close()
    return [
        Measured(side.name, overheads[WARM_UP:], (spent_now - spent_then - idle_rate * seconds) / turns)
        for side, overheads, spent_then, spent_now, idle_rate in zip(
            sides, overhead, spent_before, spent_after, rest, strict=True
        )
    ]


async def at_once(sides: Sequence[Side]) -> list[Spent]:
    """Returns each side's CPU per turn if many people write concurrently, each again as soon as they are answered."""
    spent = [Spent(0.0) for _ in sides]
    for side in sides:
        side.model.say(default=BURST)
    for lap in range(1 + LAPS):
        for index, side in list(enumerate(sides))[:: 1 if lap % 2 else -1]:
            conversations = [await side.open() for _ in range(PEOPLE)]
            spent_before = side.spent()
            await asyncio.gather(*(_turns(conversation) for conversation in conversations))
            await asyncio.sleep(WRITE_SECONDS)
            if lap:
                spent[index] -= spent_before - side.spent()
            for conversation in conversations:
                await conversation.close()
    return [total / (LAPS * PEOPLE * TURNS) for total in spent]


async def _turns(conversation: Conversation) -> None:
    for _ in range(TURNS):
        await conversation.turn(1)


def show(console: Console, title: str, measurements: Sequence[Measured], unit: float) -> None:
    """Prints absolute figures, and Nexus's share of each peer's. `unit`: CPU of one calibration, ms."""
    table = Table(
        "",
        *(measurement.name for measurement in measurements),
        *(f"Nexus / {measurement.name}" for measurement in measurements[1:]),
        title=title,
    )
    rows = (
        ("to the first token, p50, ms", [median(measurement.overhead) for measurement in measurements]),
        ("p99, ms", [percentile(measurement.overhead, 0.99) for measurement in measurements]),
        ("CPU a turn, ms", [measurement.cpu.own for measurement in measurements]),
        ("CPU a turn, in calibrations", [measurement.cpu.own / unit for measurement in measurements]),
        (
            "CPU a turn with the servers, ms",
            [measurement.cpu.own + measurement.cpu.servers for measurement in measurements],
        ),
    )
    for name, values in rows:
        shares = (f"{values[0] / value:.2f}" for value in values[1:])
        table.add_row(name, *(f"{value:.2f}" for value in values), *shares)
    console.print(table)


async def run(python: Path, turns: int) -> None:
    """Measures and prints everything; takes about two minutes."""
    console = Console(width=140)
    async with AsyncExitStack() as stack:
        nexus_side = await stack.enter_async_context(nexus())
        sides = [nexus_side]
        for name, program in PEERS:
            sides.append(await stack.enter_async_context(peer(name, program, python)))
        await asyncio.sleep(SETTLE_SECONDS)
        calibration_before = await calibrate(nexus_side.bus)
        idle_rates = await at_rest(sides)
        plain = await measure(sides, idle_rates, turns)
        tool = await measure(sides, idle_rates, turns, Rule(match="price", replies=[CALL, BURST], again=True))
        at_once_costs = await at_once(sides)
        calibration_after = await calibrate(nexus_side.bus)
    unit = (calibration_before.cpu + calibration_after.cpu) / 2
    show(console, f"a plain turn, {turns} of each", plain, unit)
    show(console, f"with one tool call, {turns} of each", tool, unit)
    table = Table("", *(side.name for side in sides), title=f"CPU a turn, {PEOPLE} conversations at once, ms")
    table.add_row("services", *(f"{cost.own:.2f}" for cost in at_once_costs))
    table.add_row("with the servers", *(f"{cost.own + cost.servers:.2f}" for cost in at_once_costs))
    console.print(table)
    idle_text = ", ".join(
        f"{side.name} {rate.own:.1f} + {rate.servers:.1f}" for side, rate in zip(sides, idle_rates, strict=True)
    )
    console.print(f"CPU at rest, ms a second, own and servers: {idle_text}")
    wait = (calibration_before.wait + calibration_after.wait) / 2
    console.print(f"calibration: publish and acknowledgement {wait:.3f} ms, CPU {unit:.3f} ms")


def main() -> None:
    """Parses the command line and runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", type=Path, help="of the peers' environment; make bench-peers makes it")
    parser.add_argument("--turns", type=int, default=200)
    options = parser.parse_args()
    asyncio.run(run(options.python.absolute(), options.turns))


if __name__ == "__main__":
    main()
