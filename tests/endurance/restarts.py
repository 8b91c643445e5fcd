"""``python -m tests.endurance.restarts [--restarts N] [--seed S]``: `make restarts`.

Kills a server of a running stack again and again: the bus eight times of ten, else Redis or MongoDB. After each one a
new visitor asks what takes all five services to answer. At the end every method that was served before is served, no
stream has a consumer that it had not before, and no process holds more memory or handles, connections among them, than
it may. Exit code 1 with anything that is not so.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from contracts.methods import METHODS
from nexus_cli.chat.client import ChatFailedError, conversation, visitor_token
from nexus_cli.drill.drill import Say
from nexus_cli.drill.people import COMPANY, LOCALE
from nexus_cli.drill.stack import RunningStack
from runtime.testing.servers import eventually
from tests.endurance.holdings import Holdings, at_rest, connected, holdings
from tests.support.long_run import READY_WITHIN, new_stack, say

ANSWERED_WITHIN = 120.0
REQUEST_TIMEOUT = 5.0
WARM_UP = 10
QUESTION = "What is IBM trading at?"


@dataclass
class Endured:
    """The result: the waits for an answer in seconds, and the findings."""

    restarts: int = 0
    waits: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])
    held: list[Holdings] = field(default_factory=list[Holdings])
    """After the warm-up, and at the end."""


async def served(nats_url: str) -> frozenset[str]:
    """Returns the methods that a service serves now."""
    found: set[str] = set()
    async with connected(nats_url) as bus:
        for method in METHODS:
            try:
                await bus.request(method.subject, b"{}", timeout=REQUEST_TIMEOUT)
            except NoRespondersError:
                continue
            except NatsError:
                pass  # a service serves it and does not answer an empty request
            found.add(method.subject)
    return frozenset(found)


async def ask(stack: RunningStack, question: str = QUESTION) -> float:
    """Asks as a new visitor; returns the seconds until the answer. Raises ChatFailedError, TimeoutError."""
    began = time.monotonic()
    async with asyncio.timeout(ANSWERED_WITHIN):
        token = await visitor_token(stack.url, COMPANY, LOCALE)
        async with conversation(stack.url, token, LOCALE) as (chat, _):
            await chat.say(question)
            async for frame in chat.frames():
                if frame["type"] == "message.created" and frame["message"]["role"] in ("assistant", "system"):
                    break
    return time.monotonic() - began


async def endure(stack: RunningStack, urls: Mapping[str, str], restarts: int, seed: int, say: Say) -> Endured:
    """Runs all restarts on a stack that is ready."""
    random, result = Random(seed), Endured()
    for _ in range(WARM_UP):
        await ask(stack)
    before = await served(stack.nats)
    for number in range(1, restarts + 1):
        server = random.choices(("nats", "redis", "mongodb"), (8, 1, 1))[0]
        os.kill(stack.process(server).pid, signal.SIGKILL)
        try:
            await stack.ready_again(stack.names, READY_WITHIN)
            result.waits.append(await ask(stack))
        except (ChatFailedError, TimeoutError) as error:
            result.wrong.append(f"after restart {number}, of {server}: {error or 'not ready, or no answer, in time'}")
        result.restarts = number
        if number == min(WARM_UP, restarts):
            # Each client has reconnected by now, and what it allocated for that is no leak.
            result.held.append(await held_at_rest(stack, urls))
        if number % 10 == 0:
            say(f"{number} of {restarts}, longest wait {max(result.waits, default=0):.1f} s, {len(result.wrong)} wrong")
    result.held.append(await held_at_rest(stack, urls))
    result.wrong += result.held[-1].left_since(result.held[0])
    result.wrong += [f"nobody serves {method}" for method in sorted(before - await served(stack.nats))]
    return result


async def held_at_rest(stack: RunningStack, urls: Mapping[str, str]) -> Holdings:
    """Waits until every message is processed and reads what the stack holds."""
    await eventually(lambda: at_rest(urls["nats"]), READY_WITHIN)
    return await holdings(stack, urls)


async def run(restarts: int, seed: int, directory: Path, say: Say) -> Endured:
    """Runs the test on a new stack."""
    async with new_stack(directory) as (stack, data):
        return await endure(stack, data.recorded()["urls"], restarts, seed, say)


def main() -> None:
    """Reads the arguments, runs, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance.restarts", description=__doc__)
    parser.add_argument("--restarts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="nexus-restarts-") as directory:
        result = asyncio.run(run(arguments.restarts, arguments.seed, Path(directory), say))
    waits = sorted(result.waits)
    first, last = result.held[0], result.held[-1]
    sys.stdout.write("".join(f"{line}\n" for line in last.table(first, len(waits))))
    sys.stdout.write("".join(f"found: {finding}\n" for finding in result.wrong))
    sys.stdout.write(
        f"{result.restarts} restarts, seed {arguments.seed}; {len(waits)} answers, median wait "
        f"{waits[len(waits) // 2] if waits else 0:.1f} s, longest {waits[-1] if waits else 0:.1f} s; "
        f"{len(result.wrong)} wrong\n"
    )
    sys.exit(1 if result.wrong else 0)


if __name__ == "__main__":
    main()
