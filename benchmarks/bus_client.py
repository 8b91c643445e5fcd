"""What does a message cost, published and received, with `runtime.bus.bus_client` and with nats-py's client?

Both clients alternate on one server, since CPU alone says little on a busy machine; the number of Python calls hardly
varies.
"""

import asyncio
import cProfile
import pstats
import time

from nats.aio.client import Client
from nats.aio.msg import Msg

from benchmarks.report import Figure, median
from runtime.bus.bus_client import BusClient
from runtime.bus.connection import listen
from runtime.testing.servers import run_nats_server

QUESTION = "the bus client"
MESSAGES, BURST, PAIRS = 4_000, 20, 7
FLUSH_EVERY = 100
BODY = b'{"specversion":"1.0","id":"x","source":"/nexus","type":"chat.message.visitor.v1","data":{"text":"' + b"x" * 300
HEADERS = {
    "Nats-Msg-Id": "demo.c1.visitor.x1",
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "baggage": "nexus.turn=t1,nexus.company=demo",
}


async def run() -> list[Figure]:
    """Returns the Python calls of each client, and the ratio of their CPU; takes a few seconds."""
    with run_nats_server() as bus:
        own_calls, nats_py_calls = [await _calls(kind, bus.url) for kind in (BusClient, Client)]
        pairs = [(await _seconds(BusClient, bus.url), await _seconds(Client, bus.url)) for _ in range(PAIRS)]
    return [
        Figure(QUESTION, "calls of Python a message, ours", own_calls, ""),
        Figure(QUESTION, "calls of Python a message, nats-py's", nats_py_calls, ""),
        Figure(QUESTION, "CPU a message, ours", median(own_seconds for own_seconds, _ in pairs) / MESSAGES * 1e6, "us"),
        Figure(
            QUESTION,
            "CPU a message, ours / nats-py's",
            median(own_seconds / nats_py_seconds for own_seconds, nats_py_seconds in pairs),
            "x",
        ),
    ]


async def _calls(kind: type[Client], url: str) -> float:
    profile = cProfile.Profile()
    await _seconds(kind, url, profile)
    return pstats.Stats(profile).total_calls / MESSAGES  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


async def _seconds(kind: type[Client], url: str, profile: cProfile.Profile | None = None) -> float:
    """Returns the CPU seconds of this process while it sends MESSAGES to itself."""
    client = kind()
    await client.connect(url)
    remaining, all_received = MESSAGES, asyncio.Event()

    def take(_: Msg) -> None:
        nonlocal remaining
        remaining -= 1
        if not remaining:
            all_received.set()

    async def on_message(message: Msg) -> None:
        take(message)

    if isinstance(client, BusClient):
        await listen(client, "bench.>", take)
    else:
        await client.subscribe("bench.>", cb=on_message)  # pyright: ignore[reportUnknownMemberType]
    await client.flush()
    if profile is not None:
        profile.enable()
    started = time.process_time()
    for number in range(1, MESSAGES + 1):
        await client.publish("bench.c1", BODY, headers=HEADERS)
        if number % BURST == 0:
            await asyncio.sleep(0)
        if number % FLUSH_EVERY == 0:
            await client.flush()
    await all_received.wait()
    seconds = time.process_time() - started
    if profile is not None:
        profile.disable()
    await client.close()
    return seconds
