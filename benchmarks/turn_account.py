"""``python -m benchmarks.turn_account``: lists one turn's messages to the servers, and those of an idle stack.

For a visitor's plain turn, one with a tool call, a customer's turn, and a new visitor's first one with the hello, it
prints each message on the bus and each command to Redis and MongoDB, in order, marked if it comes before the model is
called, or before its first word is read. Then it prints the mean of several turns, without the idle stack's messages.
Pieces of streamed text are left out. Counts do not depend on load: a run on a busy machine is as good as any.
"""

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache

from rich.console import Console
from rich.table import Table

from agent.scripted_model.script import Rule
from agent.scripted_model.server import ScriptedModel, scripted_model
from benchmarks.first_token import BURST, CALL, COMPANY, running
from contracts.ids import uuid7
from runtime.testing.network import proxy_to
from runtime.testing.servers import run_mongo_server
from tests.support.account import Account, Line, Server, counted, listening
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

WARM_UP, FIRST_WARM_UP = 6, 2
"""Turns before those that are counted, for everything that is done only once."""
COUNTED = 8
QUIET_SECONDS = 2.5
"""Seconds without a message after which a turn, with its background work, is over."""
SETTLE_SECONDS = 25.0
"""Seconds after the start until the services have done what they do only once."""
QUIET_TIMEOUT = 20.0
"""Seconds in which a turn, with its background work, must end."""
SERVERS: tuple[Server, ...] = ("bus", "redis", "mongodb")
TRACES = "traces.recorded"
PERIODIC = ("INFO", "LIST", "rpc.memory.company.get", "rpc.tools.catalogue", TRACES)
"""Parts of messages that services send periodically, whether there are turns or not, or however many there are."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn's messages. `asked`: when the model was first called, `spoke`: when its first word was read;
    monotonic."""

    began: float
    asked: float
    spoke: float
    lines: tuple[Line, ...]
    own: tuple[Line, ...]
    """Its messages on the bus, without periodic ones (see `of_turns`)."""

    def count(self, server: Server, before: float | None = None) -> int:
        """Returns the number of a server's messages, in all or before a time."""
        return sum(line.server == server and (before is None or line.at < before) for line in self.lines)

    def causes(self) -> dict[str, set[str]]:
        """Returns each message until the model was called, with its possible causes: for an answer its request, for a
        delivery its fact, for anything else whatever its sender had received before. Consumers' requests and live
        copies are left out: nobody waits for them."""
        causes: dict[str, set[str]] = {}
        sent_names: dict[str, str] = {}
        """The messages, by their subject and by their reply subject."""
        received: dict[str, set[str]] = {}
        """The messages that have reached each service."""
        counts: Counter[str] = Counter()
        for line in self.lines:
            if line.server != "bus" or line.at >= self.asked or line.what.startswith("$JS.API.CONSUMER.MSG.NEXT"):
                continue
            if line.reply.startswith("$JS.ACK."):
                consumer = line.reply.split(".")[3]
                # Consumers are named after their service.
                name, receiver = f"{line.kind} to {consumer}", consumer.split("-")[0]
            elif line.what.startswith("_INBOX."):
                name, receiver = f"answer to {sent_names.get(line.what)}", line.what.split(".")[1]
            elif line.reply.startswith("_INBOX."):
                name, receiver = line.kind, ""
            else:
                continue
            counts[name] += 1
            name = f"{name} ({counts[name]})"
            if receiver:
                causes[name] = {sent_names[line.what]} if line.what in sent_names else set()
                received.setdefault(receiver, set()).add(name)
            else:
                causes[name] = set(received.get(line.reply.split(".")[1], ()))
                sent_names[line.what] = sent_names[line.reply] = name
        return causes


def in_a_row(turns: Iterable[Turn]) -> list[str]:
    """Returns the longest chain of messages, each caused by the one before, until the model was called.

    A message that came before another one in every turn counts as its cause. One that came before it in some turns and
    after it in others does not: then the machine was busy. Messages of fewer than half of the turns are no turn's: a
    service looked at something by the clock.
    """
    causes: dict[str, set[str]] = {}
    occurrences: Counter[str] = Counter()
    turn_causes = [turn.causes() for turn in turns]
    for one_turn_causes in turn_causes:
        occurrences.update(one_turn_causes.keys())
        for name, possible in one_turn_causes.items():
            causes[name] = causes.get(name, possible) & possible
    causes = {
        name: {cause for cause in possible if 2 * occurrences[cause] >= len(turn_causes)}
        for name, possible in causes.items()
        if 2 * occurrences[name] >= len(turn_causes)
    }

    no_names: list[str] = []

    @cache
    def chain(name: str) -> list[str]:
        return [*max(map(chain, causes[name]), key=len, default=no_names), name]

    return max(map(chain, causes), key=len, default=no_names)


def of_turns(lines: Iterable[Line]) -> list[Line]:
    """Returns the messages that turns cause. Periodic ones are left out: checks of progress and of changes, with their
    answers; gathered traces; the server's heartbeats and ends of requests for messages, and the next requests; and
    renewals of leases, one for each half second of a turn."""
    excluded_replies: set[str] = set()
    expired: set[str] = set()
    """Inboxes whose request has expired."""
    kept: list[Line] = []
    for line in lines:
        kind, requester = line.kind, line.reply.rpartition(".")[0]
        if line.note == "408":
            expired.add(line.what.rpartition(".")[0])
        elif line.what.startswith("$JS.API.CONSUMER.MSG.NEXT.") and requester in expired:
            expired.remove(requester)
        elif any(marker in kind for marker in PERIODIC) or kind.startswith("$JS.EVENT"):
            excluded_replies.add(line.reply)
        elif line.note not in ("100", "+WPI") and line.what not in excluded_replies:
            kept.append(line)
    return kept


@dataclass(frozen=True, slots=True)
class Stage:
    """A running stack whose messages are recorded."""

    stack: RunningStack
    model: ScriptedModel
    account: Account


@asynccontextmanager
async def stage() -> AsyncGenerator[Stage]:
    """Runs the whole stack with its messages recorded; yields it once it is idle."""
    with run_mongo_server() as mongo:
        async with (
            proxy_to(mongo.url) as proxy,
            scripted_model(default=BURST) as model,
            running(model, more={"NEXUS_MONGODB_URL": proxy.url}) as stack,
        ):
            urls = stack.facts()["urls"]
            # Only new connections are recorded, so the services must reconnect.
            async with listening(urls["nats"], urls["redis"], proxy) as account:
                proxy.cut()
                await asyncio.sleep(SETTLE_SECONDS)
                yield Stage(stack, model, account)


async def rest(stage: Stage, seconds: float) -> dict[Server, Counter[str]]:
    """Returns the messages of an idle stack."""
    stage.account.clear()
    await asyncio.sleep(seconds)
    return {server: counted(stage.account.of(server)) for server in SERVERS}


async def turns(
    stage: Stage, role: str, *rules: Rule, count: int = COUNTED, after: float = QUIET_SECONDS
) -> list[Turn]:
    """Runs turns of one conversation, each with its background work."""
    stage.model.say(*rules, default=BURST)
    stage.account.clear()
    measured: list[Turn] = []
    token = stage.stack.mint(role, f"{role}-{time.monotonic_ns()}", COMPANY)
    async with ChatClient(stage.stack.url, token) as client:
        await client.hello(locale="en")
        for number in range(WARM_UP + count):
            is_counted = number >= WARM_UP
            if number == WARM_UP:
                await quiet(stage, after)
            frames_before, calls_before = len(client.frames), len(stage.model.asked)
            started = time.monotonic()
            await client.say("what is the price of AAPL?")
            await client.wait_for("message.delta", after=frames_before)
            first_word = time.monotonic()
            await client.wait_for("run.finished", after=frames_before)
            if is_counted:
                measured.append(await _over(stage, started, calls_before, first_word, after))
    return measured


async def first_turns(stage: Stage, count: int = COUNTED, after: float = QUIET_SECONDS) -> list[Turn]:
    """Runs turns of new visitors, from their hello on."""
    stage.model.say(default=BURST)
    measured: list[Turn] = []
    for number in range(FIRST_WARM_UP + count):
        await quiet(stage, after)
        stage.account.clear()
        started, calls_before = time.monotonic(), len(stage.model.asked)
        async with ChatClient(stage.stack.url, stage.stack.mint("visitor", f"v_{uuid7()}", COMPANY)) as client:
            await client.hello(locale="en")
            await client.say("what is the price of AAPL?")
            await client.wait_for("message.delta")
            first_word = time.monotonic()
            await client.wait_for("run.finished")
        turn = await _over(stage, started, calls_before, first_word, after)
        if number >= FIRST_WARM_UP:
            measured.append(turn)
    return measured


async def _over(stage: Stage, started: float, calls_before: int, first_word: float, after: float) -> Turn:
    """A turn with all that was said because of it, once nothing is any more. `calls_before`: how often the model had
    been before."""
    await quiet(stage, after)
    lines = sorted((line for server in SERVERS for line in stage.account.of(server)), key=lambda line: line.at)
    # From all messages, not only this turn's: an answer's request may have come before it.
    own_lines = of_turns(line for line in lines if line.server == "bus")
    return Turn(
        started, stage.model.asked[calls_before]["at"], first_word, since(lines, started), since(own_lines, started)
    )


def since(lines: Iterable[Line], moment: float) -> tuple[Line, ...]:
    """Returns the messages at a time or later."""
    return tuple(line for line in lines if line.at >= moment)


async def quiet(stage: Stage, seconds: float) -> None:
    """Waits until turns have caused no message for this many seconds."""
    async with asyncio.timeout(QUIET_TIMEOUT):
        while True:
            last = max((line.at for line in of_turns(stage.account.of("bus"))), default=0.0)
            if (remaining := last + seconds - time.monotonic()) <= 0:
                return
            await asyncio.sleep(remaining)


def mean(turns: list[Turn], count: Callable[[Turn], int]) -> float:
    """Returns the mean of a count over the turns."""
    return sum(map(count, turns)) / len(turns)


def show_turn(console: Console, title: str, turn: Turn) -> None:
    """Prints one turn, message by message."""
    table = Table("ms", "", "server", "what", "bytes", title=title)
    for line in turn.lines:
        when = "before the model" if line.at < turn.asked else "before its word" if line.at < turn.spoke else ""
        table.add_row(f"{(line.at - turn.began) * 1000:.1f}", when, line.server, line.kind, str(line.size))
    console.print(table)


def show_totals(console: Console, turns_by_kind: dict[str, list[Turn]]) -> None:
    """Prints the means of all turns."""
    table = Table("a turn, mean", *turns_by_kind, title=f"{COUNTED} turns each, {QUIET_SECONDS:g} s apart")
    rows: list[tuple[str, Callable[[list[Turn]], float]]] = [
        ("messages on the bus", lambda some_turns: mean(some_turns, lambda turn: turn.count("bus"))),
        ("of the turn itself", lambda some_turns: mean(some_turns, lambda turn: len(turn.own))),
        ("before the model is asked", lambda some_turns: mean(some_turns, lambda turn: turn.count("bus", turn.asked))),
        ("of them one after another", lambda some_turns: len(in_a_row(some_turns))),
        (
            "Redis before the first word",
            lambda some_turns: mean(some_turns, lambda turn: turn.count("redis", turn.spoke)),
        ),
        (
            "MongoDB before the first word",
            lambda some_turns: mean(some_turns, lambda turn: turn.count("mongodb", turn.spoke)),
        ),
        ("Redis", lambda some_turns: mean(some_turns, lambda turn: turn.count("redis"))),
        ("MongoDB", lambda some_turns: mean(some_turns, lambda turn: turn.count("mongodb"))),
    ]
    for name, value in rows:
        table.add_row(name, *(f"{value(some_turns):.1f}" for some_turns in turns_by_kind.values()))
    console.print(table)


def show_rest(console: Console, idle_lines: dict[Server, Counter[str]], seconds: float) -> None:
    """Prints the messages of an idle stack, per second."""
    table = Table("server", "what", "a second", title=f"at rest, {seconds:g} s")
    for server, kinds in idle_lines.items():
        table.add_row(server, "all", f"{kinds.total() / seconds:.2f}")
        for kind, count in kinds.most_common():
            table.add_row("", kind, f"{count / seconds:.2f}")
    console.print(table)


async def run(seconds: float) -> None:
    """Measures and prints everything; takes about two minutes."""
    console = Console(width=140)
    async with stage() as running_stage:
        idle_lines = await rest(running_stage, seconds)
        show_rest(console, idle_lines, seconds)
        with_tool = Rule(match="price", replies=[CALL, BURST], again=True)
        turns_by_kind = {
            "plain": await turns(running_stage, "visitor"),
            "with a tool call": await turns(running_stage, "visitor", with_tool),
            "a customer's": await turns(running_stage, "user"),
            "a new visitor's": await first_turns(running_stage),
        }
    for title, some_turns in turns_by_kind.items():
        show_turn(console, title, some_turns[-1])
        kinds = Counter(line.kind for turn in some_turns for line in turn.lines if line.server == "bus")
        table = Table("bus, mean of all turns", "", title=title)
        for kind, count in kinds.most_common():
            table.add_row(kind, f"{count / len(some_turns):.1f}")
        console.print(table)
    show_totals(console, turns_by_kind)


def main() -> None:
    """Parses the command line and runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rest", type=float, default=20.0, help="seconds of rest that are counted")
    asyncio.run(run(parser.parse_args().rest))


if __name__ == "__main__":
    main()
