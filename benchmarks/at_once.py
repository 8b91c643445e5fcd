"""How many turns per second can a stack handle when many people write at the same time?

First 1, 8 and 64 people write again as soon as they are answered, with a model that takes no time: then the cores are
full, and the CPU of a turn is its cost. Then as many people write as a model of 1.5 s needs for 300 turns per second.
The clients and the model share the machine's cores with the stack, so their CPU is shown as well.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import aiohttp
import orjson

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from benchmarks.first_token import BURST, COMPANY, SERVERS, SERVICES, running, spent
from benchmarks.report import Figure, growth, median, percentile
from tests.support.running_stack import RunningStack

QUESTION = "conversations at once"
AT_ONCE, TURNS = (1, 8, 64), 600
MODEL = 1.5
SLOW = ScriptedReply(tokens=20, first_token_ms=MODEL * 1000)
PEOPLE, SLOW_TURNS = 480, 2_400
"""With 1.6 s for a turn, 480 people make 300 turns per second."""
TURNS_PER_CONVERSATION = 15
"""Turns in one conversation: a visitor may send 20 messages per minute."""
ANSWER_TIMEOUT = 60.0


async def run() -> list[Figure]:
    """Returns all figures; takes about a minute."""
    figures: list[Figure] = []
    async with scripted_model(default=BURST) as model, running(model) as stack:
        await turns_of(stack, 8, 80)
        for people in AT_ONCE:
            figures += await _closed(stack, people)
        figures += await slow_turns(stack, model)
    return figures


async def _closed(stack: RunningStack, people: int) -> list[Figure]:
    spent_before, own_before, started = spent(stack), time.process_time(), time.perf_counter()
    waits = await turns_of(stack, people, TURNS)
    seconds, cpu = time.perf_counter() - started, growth(spent_before, spent(stack), len(waits))
    clients = (time.process_time() - own_before) * 1000 / len(waits)
    return [
        Figure(QUESTION, f"turns a second, {people} at once", len(waits) / seconds, "/s", ceiling=False),
        Figure(QUESTION, f"CPU a turn, {people} at once", sum(cpu[name] for name in SERVICES), "ms", note="services"),
        Figure(QUESTION, f"the same of the servers, {people} at once", sum(cpu[name] for name in SERVERS), "ms"),
        Figure(QUESTION, f"the same of clients and model, {people} at once", clients, "ms"),
    ]


async def slow_turns(stack: RunningStack, model: ScriptedModel) -> list[Figure]:
    """Runs the turns of 480 people with a model of 1.5 s; returns their rate, and what each waited longer than that."""
    model.say(default=SLOW)
    started = time.perf_counter()
    waits = await turns_of(stack, PEOPLE, SLOW_TURNS)
    rate = len(waits) / (time.perf_counter() - started)
    note = f"{PEOPLE} at once, a model of {MODEL:g} s"
    added = [wait - MODEL for wait in waits]
    return [
        Figure(QUESTION, "turns a second", rate, "/s", 300, ceiling=False, note=note),
        Figure(QUESTION, "added to the model's time, p50", median(added), "s", note=note),
        Figure(QUESTION, "added to the model's time, p99", percentile(added, 0.99), "s", 0.1, note=note),
    ]


async def turns_of(stack: RunningStack, people: int, turns: int, pause: float = 0.0) -> list[float]:
    """Runs turns of several people, with a pause after each; returns the seconds that each took from its message on."""
    turn_numbers: Iterator[int] = iter(range(turns))
    waits: list[float] = []

    async def person(http: aiohttp.ClientSession) -> None:
        while True:
            token, _ = await stack.visitor(COMPANY)
            async with open_chat(http, stack, token) as socket:
                for _ in range(TURNS_PER_CONVERSATION):
                    if next(turn_numbers, None) is None:
                        return
                    started = time.perf_counter()
                    await socket.send_str(
                        _text(type="message.send", clientMessageId=str(uuid.uuid4()), text="what does it cost?")
                    )
                    await _read_until(socket, '"run.finished"')
                    waits.append(time.perf_counter() - started)
                    if pause:
                        await asyncio.sleep(pause)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http, asyncio.TaskGroup() as group:
        for _ in range(people):
            group.create_task(person(http))
    return waits


@asynccontextmanager
async def open_chat(
    http: aiohttp.ClientSession, stack: RunningStack, token: str, address: str = "127.0.0.1"
) -> AsyncGenerator[aiohttp.ClientWebSocketResponse]:
    """A websocket on which the visitor of this token has been welcomed. `address`: what a proxy says is theirs."""
    headers = {"X-Forwarded-For": address}
    async with http.ws_connect(f"{stack.url}/v2/chat/ws", max_msg_size=0, headers=headers) as socket:
        await socket.send_str(_text(type="hello", token=token, locale="en"))
        await _read_until(socket, '"welcome"')
        yield socket


def _text(**frame: str) -> str:
    return orjson.dumps({"v": 1, **frame}).decode()


async def _read_until(socket: aiohttp.ClientWebSocketResponse, word: str) -> None:
    """Reads frames up to the one that contains the word."""
    async with asyncio.timeout(ANSWER_TIMEOUT):
        while word not in (frame := await socket.receive_str()):
            assert '"error"' not in frame, frame
