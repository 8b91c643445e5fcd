"""``python -m tests.faults.campaign --faults N [--seed S] [--json FILE]``: breaks a running stack and counts
violations.

Every fault is one of kill, pause, stall and cut, of one of the eight processes, chosen by the seed; with ``--pauses 5
15 40`` each is a pause of so many seconds. Meanwhile visitors, customers and human agents do what `scenes` says.
After a round of faults everything settles, and the ledgers of the round are compared: each accepted message settled
exactly once, no answer over a human, each effect there once if it was said to be, and none without a yes; nobody
waited for more than a minute behind a fault, and every service was ready half a minute behind it. Prints a table;
exit code 1 with any violation.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, product
from pathlib import Path
from random import Random

import aiohttp

from gateway.testing.http import Http
from nexus_cli.drill.faults import Fault, FaultWindow, Kind, faults, inject
from tests.faults.closing import Violation, close, late
from tests.faults.echo_model import echo_model
from tests.faults.networked_stack import PROCESSES, NetworkedStack
from tests.faults.people import BROKEN, COMPANY, Field
from tests.faults.report import Found, Report, write
from tests.faults.scenes import SCENES
from tests.support.long_run import say

Say = Callable[[str], None]
SCENE_WITHIN = 420.0
"""Seconds within which every scene ends: each of its waits has a shorter limit."""
SETTINGS = {
    "aiAutoResponseEnabled": True,
    "responseDelayMs": 100,
    "handoffTimeoutSeconds": 3600,
    "toolConfig": {"enabledTools": ["get_price"]},
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How a campaign runs. `beside`: faults at the same time; `round_of`: faults until the ledgers are compared;
    `pauses`: the seconds of all faults, where they are to be pauses alone.
    """

    faults: int
    seed: int
    beside: int = 1
    round_of: int = 20
    pauses: Sequence[float] = ()


async def run(plan: Plan, data: Path, say: Say) -> Report:
    """Runs the campaign on a new stack."""
    model = echo_model()
    await model.start()
    stack = NetworkedStack(data, {**model.environment, "NEXUS_SAMPLE_SECONDS_PER_BAR": "0"})
    report = Report(plan.seed, data)
    try:
        await stack.begin()
        await stack.create_company(COMPANY, **SETTINGS)
        random = Random(plan.seed)
        coming = islice(pauses(random, plan.pauses), plan.faults) if plan.pauses else faults(random, plan.faults)
        number = 0
        while batch := list(islice(coming, plan.round_of)):
            number += 1
            await _round(stack, plan, number, batch, report, say)
            say(f"{len(report.windows)} of {plan.faults} faults, {len(report.found)} violations")
    finally:
        await stack.end()
        await model.stop()
    return report


def pauses(random: Random, seconds: Sequence[float]) -> Iterator[Fault]:
    """Yields pauses: every process is paused for each of these lengths before any pair repeats."""
    steps = count(1)
    while True:
        pairs = list(product(PROCESSES, seconds))
        random.shuffle(pairs)
        for process, length in pairs:
            yield Fault(next(steps), Kind.PAUSE, process, length, random.uniform(0.2, 2.0))


async def _round(stack: NetworkedStack, plan: Plan, number: int, batch: list[Fault], report: Report, say: Say) -> None:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
        round_field = Field(stack, Http(stack.url, session), Random())
        scenes = [
            asyncio.create_task(repeat_until_over(round_field, scene, f"{plan.seed}/{number}/{place}"))
            for place, scene in enumerate(SCENES)
        ]
        coming = iter(batch)
        busy = {name: asyncio.Lock() for name in PROCESSES}
        windows: list[FaultWindow] = []
        try:
            await asyncio.gather(*(_lane(stack, coming, busy, windows, say) for _ in range(plan.beside)))
        finally:
            round_field.over.set()
            stuck = [one for one in await asyncio.gather(*scenes) if one is not None]
        violations, totals = await close(round_field)
    violations = [*stuck, *violations, *late(windows, round_field.waits)]
    for violation in violations:
        say(f"violation: {violation.what}")
    report.windows += windows
    report.waits += round_field.waits
    report.totals += totals
    steps = (batch[0].step, batch[-1].step)
    fault_names = tuple(str(window.fault) for window in windows)
    report.found += [Found(violation, plan.seed, steps, fault_names) for violation in violations]


async def _lane(
    stack: NetworkedStack,
    coming: Iterator[Fault],
    busy: Mapping[str, asyncio.Lock],
    windows: list[FaultWindow],
    say: Say,
) -> None:
    """Injects faults one after another; never two in the same process at once."""
    for fault in coming:
        await asyncio.sleep(fault.after)
        async with busy[fault.process]:
            window = await inject(stack, fault)
        windows.append(window)
        say(f"{fault}, ready again in {window.ready - window.ended:.1f} s")


async def repeat_until_over(
    round_field: Field, scene: Callable[[Field], Awaitable[None]], seed: str
) -> Violation | None:
    """Runs one visit after another, each with its own seed, so that other people do not change it. Returns a violation
    if a visit failed although it retried for the longest time.
    """
    visits = count(1)
    while not round_field.over.is_set():
        try:
            async with asyncio.timeout(SCENE_WITHIN):
                await scene(replace(round_field, random=Random(f"{seed}/{next(visits)}")))
        except BROKEN as error:
            return Violation(f"{scene.__name__} could not go on: {error!r}")
    return None


def main() -> None:
    """Reads the arguments, runs, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.campaign", description=__doc__)
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--beside", type=int, default=1, help="faults at the same time")
    parser.add_argument("--pauses", type=float, nargs="+", default=(), help="seconds: every fault is a pause")
    parser.add_argument("--json", type=Path, default=None)
    arguments = parser.parse_args()
    plan = Plan(arguments.faults, arguments.seed, arguments.beside, pauses=arguments.pauses)
    data = Path(tempfile.mkdtemp(prefix="nexus-campaign-"))
    say(f"seed {plan.seed}, data in {data}")
    report = asyncio.run(run(plan, data, say))
    sys.stdout.write(f"{report.as_text()}\n")
    if arguments.json is not None:
        write(report, arguments.json)
    sys.exit(1 if report.found else 0)


if __name__ == "__main__":
    main()
