"""``python -m benchmarks.side_by_side CLONE [--pairs N]``: is this clone faster than CLONE, even on a busy machine?

Both stacks run at the same time, each with its own model, and run turns in alternation, so that other load on the
machine affects both. Figures of one run can be compared, those of two runs cannot.
"""

import argparse
import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path

from agent.scripted_model.server import ScriptedModel, scripted_model
from benchmarks.first_token import BURST, COMPANY, SERVERS, SERVICES, one_turn, running, spent
from benchmarks.report import growth, median, percentile
from tests.support.chat_client import ChatClient
from tests.support.running_stack import NEXUS, RunningStack

WARM_UP = 45
TURNS = 15
"""Turns in one conversation."""
SETTLE_SECONDS = 30.0
"""Seconds until the market-adapter has finished its background work at the start."""
PAUSE = 0.015
"""Seconds between two turns, for the work after the first one."""


class Side:
    """One stack, its model, and what its turns cost."""

    def __init__(self, name: str, stack: RunningStack, model: ScriptedModel) -> None:
        self.name = name
        self.overhead: list[float] = []
        self._stack = stack
        self._model = model
        self._client: ChatClient | None = None
        self._before = spent(stack)

    def begin(self) -> None:
        """Starts to count."""
        self.overhead.clear()
        self._before = spent(self._stack)

    async def turn(self) -> None:
        """Runs one turn, in a new conversation every TURNS turns."""
        if self._client is None or len(self.overhead) % TURNS == 0:
            await self.leave()
            token = self._stack.mint("visitor", f"u{time.monotonic_ns()}", COMPANY)
            self._client = await ChatClient(self._stack.url, token).__aenter__()
            await self._client.hello(locale="en")
        self.overhead.append(await one_turn(self._client, self._model, 1))

    async def leave(self) -> None:
        """Closes the conversation."""
        client, self._client = self._client, None
        if client is not None:
            await client.__aexit__(None, None, None)

    def __str__(self) -> str:
        cpu = growth(self._before, spent(self._stack), len(self.overhead))
        p10, p99 = percentile(self.overhead, 0.1), percentile(self.overhead, 0.99)
        return (
            f"{self.name}: to the first token p10 {p10:.2f}, p50 {median(self.overhead):.2f}, p99 {p99:.2f} ms; "
            f"CPU a turn {sum(cpu[name] for name in SERVICES):.2f} ms, "
            f"servers {sum(cpu[name] for name in SERVERS):.2f}: "
            + ", ".join(f"{name} {cpu[name]:.2f}" for name in SERVICES + SERVERS)
        )


async def compare(clone: Path, pairs: int, pause: float) -> None:
    """Measures, and prints both sides and the ratio of this clone's time to the other's."""
    async with AsyncExitStack() as stack:
        sides: list[Side] = []
        for name, nexus in (("that", str(clone / ".venv/bin/nexus")), ("this", NEXUS)):
            model = await stack.enter_async_context(scripted_model(default=BURST))
            side = Side(name, await stack.enter_async_context(running(model, nexus)), model)
            stack.push_async_callback(side.leave)
            sides.append(side)
        await asyncio.sleep(SETTLE_SECONDS)
        for pair in range(WARM_UP + pairs):
            if pair == WARM_UP:
                for side in sides:
                    side.begin()
            for side in sides[:: 1 if pair % 2 else -1]:
                await side.turn()
                await asyncio.sleep(pause)
        that, this = sides
        print(that, this, sep="\n")
        ratios = [this_ms / that_ms for that_ms, this_ms in zip(that.overhead, this.overhead, strict=True)]
        print(f"this / that, median of {pairs} pairs: {median(ratios):.3f}")


def main() -> None:
    """Parses the command line and runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path, help="the other clone, set up with make setup")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--pause", type=float, default=PAUSE, help="seconds between two turns")
    options = parser.parse_args()
    asyncio.run(compare(options.clone.resolve(), options.pairs, options.pause))


if __name__ == "__main__":
    main()
