"""How many turns a second go through a stack when many people write at the same time?

First people who write again as soon as they are answered, 1, 8 and 64 at once, to a model that takes no time: the cores
are full then, and the CPU of a turn is its price. Then as many as a model of 1.5 s needs for 300 turns a second. The
clients and the model share the machine's cores with the stack: their CPU is told beside.
"""

import asyncio
import time
import uuid
from collections.abc import Iterator

import aiohttp
import orjson

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from benchmarks.first_token import BURST, COMPANY, SERVERS, SERVICES, running, spent
from benchmarks.report import Figure, median, percentile
from tests.support.running_stack import RunningStack

QUESTION = "conversations at once"
AT_ONCE, TURNS = (1, 8, 64), 600
MODEL = 1.5
SLOW = ScriptedReply(tokens=20, first_token_ms=MODEL * 1000)
PEOPLE, SLOW_TURNS = 480, 2_400
"""With 1.6 s a turn, 480 people make 300 turns a second."""
OF_ONE = 15
"""Turns of one conversation: a visitor may send 20 messages a minute."""
ANSWERED_WITHIN = 60.0


async def run() -> list[Figure]:
    """All figures; about a minute."""
    figures: list[Figure] = []
    async with scripted_model(default=BURST) as model, running(model) as stack:
        await turns_of(stack, 8, 80)
        for people in AT_ONCE:
            figures += await _closed(stack, people)
        figures += await _slow(stack, model)
    return figures


async def _closed(stack: RunningStack, people: int) -> list[Figure]:
    before, own, began = spent(stack), time.process_time(), time.perf_counter()
    waited = await turns_of(stack, people, TURNS)
    took, after = time.perf_counter() - began, spent(stack)
    cpu = {name: (after[name] - before[name]) / len(waited) for name in after}
    clients = (time.process_time() - own) * 1000 / len(waited)
    return [
        Figure(QUESTION, f"turns a second, {people} at once", len(waited) / took, "/s", ceiling=False),
        Figure(QUESTION, f"CPU a turn, {people} at once", sum(cpu[name] for name in SERVICES), "ms", note="services"),
        Figure(QUESTION, f"the same of the servers, {people} at once", sum(cpu[name] for name in SERVERS), "ms"),
        Figure(QUESTION, f"the same of clients and model, {people} at once", clients, "ms"),
    ]


async def _slow(stack: RunningStack, model: ScriptedModel) -> list[Figure]:
    model.say(default=SLOW)
    began = time.perf_counter()
    waited = await turns_of(stack, PEOPLE, SLOW_TURNS)
    rate = len(waited) / (time.perf_counter() - began)
    note = f"{PEOPLE} at once, a model of {MODEL:g} s"
    added = [one - MODEL for one in waited]
    return [
        Figure(QUESTION, "turns a second", rate, "/s", 300, ceiling=False, note=note),
        Figure(QUESTION, "added to the model's time, p50", median(added), "s", note=note),
        Figure(QUESTION, "added to the model's time, p99", percentile(added, 0.99), "s", 0.1, note=note),
    ]


async def turns_of(stack: RunningStack, people: int, turns: int, pause: float = 0.0) -> list[float]:
    """So many turns of so many people, each with a pause behind it; the seconds that each took from its message on."""
    coming: Iterator[int] = iter(range(turns))
    waited: list[float] = []

    async def person(http: aiohttp.ClientSession) -> None:
        while True:
            token, _ = await stack.visitor(COMPANY)
            async with http.ws_connect(f"{stack.url}/v2/chat/ws", max_msg_size=0) as socket:
                await socket.send_str(_text(type="hello", token=token, locale="en"))
                await _until(socket, '"welcome"')
                for _ in range(OF_ONE):
                    if next(coming, None) is None:
                        return
                    began = time.perf_counter()
                    await socket.send_str(
                        _text(type="message.send", clientMessageId=str(uuid.uuid4()), text="what does it cost?")
                    )
                    await _until(socket, '"run.finished"')
                    waited.append(time.perf_counter() - began)
                    if pause:
                        await asyncio.sleep(pause)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http, asyncio.TaskGroup() as group:
        for _ in range(people):
            group.create_task(person(http))
    return waited


def _text(**frame: str) -> str:
    return orjson.dumps({"v": 1, **frame}).decode()


async def _until(socket: aiohttp.ClientWebSocketResponse, word: str) -> None:
    """Reads frames up to the one that holds the word."""
    async with asyncio.timeout(ANSWERED_WITHIN):
        while word not in (frame := await socket.receive_str()):
            assert '"error"' not in frame, frame
