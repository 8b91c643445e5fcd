"""``python -m benchmarks.turn_account``: what one turn says to the servers, message by message, and what rest costs.

A visitor's plain turn, one with a tool call, a customer's turn, a new visitor's first one with their hello: each
message on the bus, each command to Redis and to MongoDB, in order, with what stands before the model is asked and
before its first word is read. Then the mean of several turns, without what the stack says at rest. Pieces of streamed
text are left out. Counts are no matter of luck: a run on a busy machine is as good as any.
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
"""Turns before those that are counted: what is made once is made."""
COUNTED = 8
AFTER = 2.5
"""Seconds without a message after which a turn is over, with what is done behind it."""
SETTLED = 25.0
"""Seconds after the start until the services have done what they do once."""
QUIET = 20.0
"""Seconds in which a turn must have come to its end, with all that is done behind it."""
SERVERS: tuple[Server, ...] = ("bus", "redis", "mongodb")
TRACES = "traces.recorded"
BY_THE_CLOCK = ("INFO", "LIST", "rpc.memory.company.get", "rpc.tools.catalogue", TRACES)
"""What the services ask now and then, whether there is a turn or not; what they say now and then, however many there
are."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn's lines. `asked`: when the model was asked first, `spoke`: when its first word was read; monotonic."""

    began: float
    asked: float
    spoke: float
    lines: tuple[Line, ...]
    own: tuple[Line, ...]
    """Its messages on the bus, without what goes by the clock: see `of_turns`."""

    def count(self, server: Server, before: float | None = None) -> int:
        """A server's lines, of all or until a moment."""
        return sum(line.server == server and (before is None or line.at < before) for line in self.lines)

    def causes(self) -> dict[str, set[str]]:
        """Each message until the model was asked, with those that it may have been sent because of: an answer has its
        request, a delivery its fact, anything else whatever its sender had got before. Requests of consumers and live
        copies are left out: nobody waits for them."""
        found: dict[str, set[str]] = {}
        sent: dict[str, str] = {}
        """The messages, by their subject and by the name to reply to."""
        got: dict[str, set[str]] = {}
        """What has reached each service."""
        many: Counter[str] = Counter()
        for line in self.lines:
            if line.server != "bus" or line.at >= self.asked or line.what.startswith("$JS.API.CONSUMER.MSG.NEXT"):
                continue
            if line.reply.startswith("$JS.ACK."):
                consumer = line.reply.split(".")[3]
                # Consumers are named after their service.
                name, receiver = f"{line.kind} to {consumer}", consumer.split("-")[0]
            elif line.what.startswith("_INBOX."):
                name, receiver = f"answer to {sent.get(line.what)}", line.what.split(".")[1]
            elif line.reply.startswith("_INBOX."):
                name, receiver = line.kind, ""
            else:
                continue
            many[name] += 1
            name = f"{name} ({many[name]})"
            if receiver:
                found[name] = {sent[line.what]} if line.what in sent else set()
                got.setdefault(receiver, set()).add(name)
            else:
                found[name] = set(got.get(line.reply.split(".")[1], ()))
                sent[line.what] = sent[line.reply] = name
        return found


def in_a_row(turns: Iterable[Turn]) -> list[str]:
    """The longest chain of messages, each sent because of the one before, until the model was asked.

    What came before a message in every turn that has it counts as its cause. What came before it in some turns and
    after it in others is no cause: the machine was busy.
    """
    causes: dict[str, set[str]] = {}
    for turn in turns:
        for name, before in turn.causes().items():
            causes[name] = causes.get(name, before) & before

    nothing: list[str] = []

    @cache
    def chain(name: str) -> list[str]:
        return [*max(map(chain, causes[name]), key=len, default=nothing), name]

    return max(map(chain, causes), key=len, default=nothing)


def of_turns(lines: Iterable[Line]) -> list[Line]:
    """Those messages that are said because of turns. What goes by the clock is left out: looks at how far things are
    and at what may have changed, with their answers; the traces that have been gathered; the server's word that a
    request for messages still waits, or has waited its time, and the next one then; the renewals of a lease, one each
    half second that a turn takes."""
    asides: set[str] = set()
    over: set[str] = set()
    """Inboxes whose request has waited its time."""
    found: list[Line] = []
    for line in lines:
        kind, requester = line.kind, line.reply.rpartition(".")[0]
        if line.note == "408":
            over.add(line.what.rpartition(".")[0])
        elif line.what.startswith("$JS.API.CONSUMER.MSG.NEXT.") and requester in over:
            over.remove(requester)
        elif any(one in kind for one in BY_THE_CLOCK) or kind.startswith("$JS.EVENT"):
            asides.add(line.reply)
        elif line.note not in ("100", "+WPI") and line.what not in asides:
            found.append(line)
    return found


@dataclass(frozen=True, slots=True)
class Stage:
    """A running stack that is listened to."""

    stack: RunningStack
    model: ScriptedModel
    account: Account


@asynccontextmanager
async def stage() -> AsyncGenerator[Stage]:
    """The whole stack, its servers listened to, at rest."""
    with run_mongo_server() as mongo:
        async with (
            proxy_to(mongo.url) as proxy,
            scripted_model(default=BURST) as model,
            running(model, more={"NEXUS_MONGODB_URL": proxy.url}) as stack,
        ):
            urls = stack.facts()["urls"]
            # Only connections that are made from now on are read: the services make theirs again.
            async with listening(urls["nats"], urls["redis"], proxy) as account:
                proxy.cut()
                await asyncio.sleep(SETTLED)
                yield Stage(stack, model, account)


async def rest(stage: Stage, seconds: float) -> dict[Server, Counter[str]]:
    """What is said while nobody asks for anything."""
    stage.account.clear()
    await asyncio.sleep(seconds)
    return {server: counted(stage.account.of(server)) for server in SERVERS}


async def turns(stage: Stage, role: str, *rules: Rule, many: int = COUNTED, after: float = AFTER) -> list[Turn]:
    """Some turns of one conversation, each with what is done behind it."""
    stage.model.say(*rules, default=BURST)
    stage.account.clear()
    found: list[Turn] = []
    token = stage.stack.mint(role, f"{role}-{time.monotonic_ns()}", COMPANY)
    async with ChatClient(stage.stack.url, token) as client:
        await client.hello(locale="en")
        for number in range(WARM_UP + many):
            counts = number >= WARM_UP
            if number == WARM_UP:
                await quiet(stage, after)
            mark, asked = len(client.frames), len(stage.model.asked)
            began = time.monotonic()
            await client.say("what is the price of AAPL?")
            await client.wait_for("message.delta", after=mark)
            spoke = time.monotonic()
            await client.wait_for("run.finished", after=mark)
            if counts:
                found.append(await _over(stage, began, asked, spoke, after))
    return found


async def first_turns(stage: Stage, many: int = COUNTED, after: float = AFTER) -> list[Turn]:
    """Turns of visitors who come for the first time, from their hello on."""
    stage.model.say(default=BURST)
    found: list[Turn] = []
    for number in range(FIRST_WARM_UP + many):
        await quiet(stage, after)
        stage.account.clear()
        began, asked = time.monotonic(), len(stage.model.asked)
        async with ChatClient(stage.stack.url, stage.stack.mint("visitor", f"v_{uuid7()}", COMPANY)) as client:
            await client.hello(locale="en")
            await client.say("what is the price of AAPL?")
            await client.wait_for("message.delta")
            spoke = time.monotonic()
            await client.wait_for("run.finished")
        turn = await _over(stage, began, asked, spoke, after)
        if number >= FIRST_WARM_UP:
            found.append(turn)
    return found


async def _over(stage: Stage, began: float, asked: int, spoke: float, after: float) -> Turn:
    """A turn with all that was said because of it, once nothing is any more. `asked`: how often the model had been
    before."""
    await quiet(stage, after)
    said = sorted((line for server in SERVERS for line in stage.account.of(server)), key=lambda line: line.at)
    # Of all that was said, not of the turn's lines alone: an answer's request may have come before.
    own = of_turns(line for line in said if line.server == "bus")
    return Turn(began, stage.model.asked[asked]["at"], spoke, since(said, began), since(own, began))


def since(lines: Iterable[Line], moment: float) -> tuple[Line, ...]:
    """Those that were heard at a moment or later."""
    return tuple(line for line in lines if line.at >= moment)


async def quiet(stage: Stage, seconds: float) -> None:
    """Waits until nothing has been said because of a turn for so many seconds."""
    async with asyncio.timeout(QUIET):
        while True:
            last = max((line.at for line in of_turns(stage.account.of("bus"))), default=0.0)
            if (left := last + seconds - time.monotonic()) <= 0:
                return
            await asyncio.sleep(left)


def mean(turns: list[Turn], count: Callable[[Turn], int]) -> float:
    """The mean of a count."""
    return sum(map(count, turns)) / len(turns)


def show_turn(console: Console, title: str, turn: Turn) -> None:
    """One turn, line by line."""
    table = Table("ms", "", "server", "what", "bytes", title=title)
    for line in turn.lines:
        when = "before the model" if line.at < turn.asked else "before its word" if line.at < turn.spoke else ""
        table.add_row(f"{(line.at - turn.began) * 1000:.1f}", when, line.server, line.kind, str(line.size))
    console.print(table)


def show_totals(console: Console, found: dict[str, list[Turn]]) -> None:
    """The means of all turns."""
    table = Table("a turn, mean", *found, title=f"{COUNTED} turns each, {AFTER:g} s apart")
    rows: list[tuple[str, Callable[[list[Turn]], float]]] = [
        ("messages on the bus", lambda many: mean(many, lambda one: one.count("bus"))),
        ("of the turn itself", lambda many: mean(many, lambda one: len(one.own))),
        ("before the model is asked", lambda many: mean(many, lambda one: one.count("bus", one.asked))),
        ("of them one after another", lambda many: len(in_a_row(many))),
        ("Redis before the first word", lambda many: mean(many, lambda one: one.count("redis", one.spoke))),
        ("MongoDB before the first word", lambda many: mean(many, lambda one: one.count("mongodb", one.spoke))),
        ("Redis", lambda many: mean(many, lambda one: one.count("redis"))),
        ("MongoDB", lambda many: mean(many, lambda one: one.count("mongodb"))),
    ]
    for name, value in rows:
        table.add_row(name, *(f"{value(many):.1f}" for many in found.values()))
    console.print(table)


def show_rest(console: Console, said: dict[Server, Counter[str]], seconds: float) -> None:
    """What rest costs, by the second."""
    table = Table("server", "what", "a second", title=f"at rest, {seconds:g} s")
    for server, kinds in said.items():
        table.add_row(server, "all", f"{kinds.total() / seconds:.2f}")
        for kind, many in kinds.most_common():
            table.add_row("", kind, f"{many / seconds:.2f}")
    console.print(table)


async def run(seconds: float) -> None:
    """Measures and prints everything; about two minutes."""
    console = Console(width=140)
    async with stage() as running_stage:
        said = await rest(running_stage, seconds)
        show_rest(console, said, seconds)
        with_tool = Rule(match="price", replies=[CALL, BURST], again=True)
        found = {
            "plain": await turns(running_stage, "visitor"),
            "with a tool call": await turns(running_stage, "visitor", with_tool),
            "a customer's": await turns(running_stage, "user"),
            "a new visitor's": await first_turns(running_stage),
        }
    for title, many in found.items():
        show_turn(console, title, many[-1])
        kinds = Counter(line.kind for one in many for line in one.lines if line.server == "bus")
        table = Table("bus, mean of all turns", "", title=title)
        for kind, count in kinds.most_common():
            table.add_row(kind, f"{count / len(many):.1f}")
        console.print(table)
    show_totals(console, found)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rest", type=float, default=20.0, help="seconds of rest that are counted")
    asyncio.run(run(parser.parse_args().rest))


if __name__ == "__main__":
    main()
