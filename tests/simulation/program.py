"""What `make simulate` prints."""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from tests.simulation.determinism import deterministic
from tests.simulation.plan import plan_of
from tests.simulation.rules import MOST_SEEDS, RULES, seeds_needed
from tests.simulation.shrink import smallest
from tests.simulation.world import simulate

CHUNK, CHUNKS = 50, 100
"""Seeds that a process runs at a time, and how often before another one takes its place."""


@dataclass(frozen=True)
class _Chunk:
    seeds: int
    answers: int
    virtual: float
    failed: tuple[tuple[int, tuple[str, ...]], ...]


def many(seeds: Sequence[int], workers: int) -> int:
    """Runs the seeds and prints which failed and why, also when it is interrupted; returns the exit code."""
    began = time.monotonic()
    chunks = [seeds[at : at + CHUNK] for at in range(0, len(seeds), CHUNK)]
    seeds_run = answers = failed = 0
    virtual = 0.0
    # Forked: this process has imported everything and simulated nothing. Each process is replaced after a while, since
    # a little of every simulation stays in it.
    with (
        suppress(KeyboardInterrupt),
        multiprocessing.get_context("fork").Pool(workers, warm_up, maxtasksperchild=CHUNKS) as pool,
    ):
        for chunk in pool.imap_unordered(run, chunks):
            seeds_run += chunk.seeds
            answers += chunk.answers
            virtual += chunk.virtual
            for seed, violations in chunk.failed:
                failed += 1
                print(f"seed {seed}: {'; '.join(violations)}", flush=True)
    seconds = time.monotonic() - began
    print(
        f"{seeds_run} seeds, {answers} answers, {virtual / 3600:.1f} virtual hours in {seconds:.0f} s "
        f"({seeds_run / max(seconds, 0.1):.0f} seeds a second): {failed} failed"
    )
    if failed:
        print("replay one with: make simulate SEED=<seed>")
    return 1 if failed else 0


_process = ExitStack()


def warm_up() -> None:
    """Makes this process deterministic, then freezes the objects that the imports made, so that the garbage collector
    skips them. Once in a process: frozen objects are never freed, and `deterministic` does not find them again."""
    gc.disable()
    _process.enter_context(deterministic())
    simulate(plan_of(0))
    gc.collect()
    gc.freeze()


def run(seeds: Sequence[int]) -> _Chunk:
    """Runs the seeds in a process that is warmed up."""
    answers, virtual = 0, 0.0
    failed: list[tuple[int, tuple[str, ...]]] = []
    for at, seed in enumerate(seeds):
        result = simulate(plan_of(seed))
        answers += result.answers
        virtual += result.seconds
        if result.violations:
            failed.append((seed, tuple(result.violations[:3])))
        if at % 16 == 15:
            gc.collect()
    return _Chunk(len(seeds), answers, virtual, tuple(failed))


def replay(seed: int) -> int:
    """Runs one seed and prints its trace; a failing plan is made smaller first."""
    with deterministic():
        plan = plan_of(seed)
        result = simulate(plan)
        if result.violations:
            plan = smallest(plan)
            print(f"made smaller: {plan_of(seed).size} parts of the plan, now {plan.size}")
        result = simulate(plan, trace=True)
    print(plan, *result.trace, sep="\n")
    print(*(result.violations or ["nothing is wrong"]), sep="\n")
    return 1 if result.violations else 0


def table() -> int:
    """Prints for every rule how many seeds it took to see that it was removed."""
    undetected = 0
    with deterministic():
        for rule in RULES:
            found = seeds_needed(rule)
            undetected += found is None
            shown = f"{found[0]:>5}  {found[1].violations[0][:90]}" if found else f"not seen within {MOST_SEEDS}"
            print(f"{rule:<45} {shown}", flush=True)
    return 1 if undetected else 0
