"""``python -m tests.endurance.restarts [--restarts N] [--seed S]``: `make restarts`.

Kills a server of a running stack again and again: the bus eight times of ten, else Redis or MongoDB. After each one a
new visitor asks what takes all five services to answer. At the end every method that was served before is served, and
no stream has a consumer that it had not before. Exit code 1 with anything that is not so.
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

import orjson
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from contracts.methods import METHODS
from contracts.streams import STREAMS
from nexus_cli.chat.client import ChatFailed, conversation, visitor_token
from nexus_cli.drill.drill import Say
from nexus_cli.drill.people import COMPANY, LOCALE
from nexus_cli.drill.stack import RunningStack, drills_environment
from nexus_cli.stack.temporary import stack_in

ANSWERED_WITHIN = 120.0
READY_WITHIN = 120.0
ASKED = 5.0
QUESTION = "What is IBM trading at?"


@dataclass
class Standing:
    """What hangs on the bus: methods that somebody serves, and each stream's consumers."""

    served: frozenset[str]
    consumers: Mapping[str, frozenset[str]]

    def lost_since(self, before: Standing) -> list[str]:
        """What is there no longer, and what was not there before."""
        dead = [f"nobody serves {method}" for method in sorted(before.served - self.served)]
        return dead + [
            f"{stream} has the consumer {name}"
            for stream, names in self.consumers.items()
            for name in sorted(names - before.consumers[stream])
        ]


@dataclass
class Endured:
    """How it went: the waits for an answer in seconds, and what is wrong."""

    restarts: int = 0
    waits: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])


async def standing(nats_url: str) -> Standing:
    """As it is now."""
    bus = Client()
    await bus.connect(nats_url)
    try:
        served: set[str] = set()
        for method in METHODS:
            try:
                await bus.request(method.subject, b"{}", timeout=ASKED)
            except NoRespondersError:
                continue
            except NatsError:
                pass  # somebody has it, and does not answer to that
            served.add(method.subject)
        consumers: dict[str, frozenset[str]] = {}
        for stream in STREAMS:
            answer = await bus.request(f"$JS.API.CONSUMER.NAMES.{stream.name}", b"", timeout=ASKED)
            consumers[stream.name] = frozenset(orjson.loads(answer.data)["consumers"] or ())
        return Standing(frozenset(served), consumers)
    finally:
        await bus.close()


async def ask(stack: RunningStack, question: str = QUESTION) -> float:
    """A new visitor's question; seconds until its answer. Raises ChatFailed, TimeoutError."""
    began = time.monotonic()
    async with asyncio.timeout(ANSWERED_WITHIN):
        token = await visitor_token(stack.url, COMPANY, LOCALE)
        async with conversation(stack.url, token, LOCALE) as (chat, _):
            await chat.say(question)
            async for frame in chat.frames():
                if frame["type"] == "message.created" and frame["message"]["role"] in ("assistant", "system"):
                    break
    return time.monotonic() - began


async def endure(stack: RunningStack, restarts: int, seed: int, say: Say) -> Endured:
    """All of it, on a stack that is ready."""
    random, found = Random(seed), Endured()
    await ask(stack)
    before = await standing(stack.nats)
    for number in range(1, restarts + 1):
        server = random.choices(("nats", "redis", "mongodb"), (8, 1, 1))[0]
        os.kill(stack.process(server).pid, signal.SIGKILL)
        try:
            await stack.ready_again(stack.names, READY_WITHIN)
            found.waits.append(await ask(stack))
        except (ChatFailed, TimeoutError) as error:
            found.wrong.append(f"after restart {number}, of {server}: {error or 'not ready, or no answer, in time'}")
        found.restarts = number
        if number % 10 == 0:
            say(f"{number} of {restarts}, longest wait {max(found.waits, default=0):.1f} s, {len(found.wrong)} wrong")
    found.wrong += (await standing(stack.nats)).lost_since(before)
    return found


async def run(restarts: int, seed: int, directory: Path, say: Say) -> Endured:
    """On a stack of its own."""
    async with stack_in(directory, environment=drills_environment(), cwd=directory) as data:
        stack = RunningStack(data, data.secrets().jwt_secret)
        await stack.ready_again(stack.names, READY_WITHIN)
        return await endure(stack, restarts, seed, say)


def main() -> None:
    """Reads the arguments, runs, prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance.restarts", description=__doc__)
    parser.add_argument("--restarts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()

    def say(line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    with tempfile.TemporaryDirectory(prefix="nexus-restarts-") as directory:
        found = asyncio.run(run(arguments.restarts, arguments.seed, Path(directory), say))
    waits = sorted(found.waits)
    sys.stdout.write("".join(f"found: {one}\n" for one in found.wrong))
    sys.stdout.write(
        f"{found.restarts} restarts, seed {arguments.seed}; {len(waits)} answers, median wait "
        f"{waits[len(waits) // 2] if waits else 0:.1f} s, longest {waits[-1] if waits else 0:.1f} s; "
        f"{len(found.wrong)} wrong\n"
    )
    sys.exit(1 if found.wrong else 0)


if __name__ == "__main__":
    main()
