"""What a message costs with `runtime.bus.bus_client` and with nats-py's own client: one is published and one received.

In alternation on one server, since CPU alone says little on a busy machine; calls of Python functions hardly vary.
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
FLUSHED = 100
BODY = b'{"specversion":"1.0","id":"x","source":"/nexus","type":"chat.message.visitor.v1","data":{"text":"' + b"x" * 300
HEADERS = {
    "Nats-Msg-Id": "demo.c1.visitor.x1",
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "baggage": "nexus.turn=t1,nexus.company=demo",
}


async def run() -> list[Figure]:
    """The calls of each, and the ratio of their CPU; a few seconds."""
    with run_nats_server() as bus:
        ours, theirs = [await _calls(kind, bus.url) for kind in (BusClient, Client)]
        pairs = [(await _seconds(BusClient, bus.url), await _seconds(Client, bus.url)) for _ in range(PAIRS)]
    return [
        Figure(QUESTION, "calls of Python a message, ours", ours, ""),
        Figure(QUESTION, "calls of Python a message, nats-py's", theirs, ""),
        Figure(QUESTION, "CPU a message, ours", median(one for one, _ in pairs) / MESSAGES * 1e6, "us"),
        Figure(QUESTION, "CPU a message, ours / nats-py's", median(one / other for one, other in pairs), "x"),
    ]


async def _calls(kind: type[Client], url: str) -> float:
    profile = cProfile.Profile()
    await _seconds(kind, url, profile)
    return pstats.Stats(profile).total_calls / MESSAGES  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


async def _seconds(kind: type[Client], url: str, profile: cProfile.Profile | None = None) -> float:
    """CPU of this process while it sends MESSAGES to itself."""
    client = kind()
    await client.connect(url)
    left, all_heard = MESSAGES, asyncio.Event()

    def take(_: Msg) -> None:
        nonlocal left
        left -= 1
        if not left:
            all_heard.set()

    async def heard(message: Msg) -> None:
        take(message)

    if isinstance(client, BusClient):
        await listen(client, "bench.>", take)
    else:
        await client.subscribe("bench.>", cb=heard)  # pyright: ignore[reportUnknownMemberType]
    await client.flush()
    if profile is not None:
        profile.enable()
    began = time.process_time()
    for number in range(1, MESSAGES + 1):
        await client.publish("bench.c1", BODY, headers=HEADERS)
        if number % BURST == 0:
            await asyncio.sleep(0)
        if number % FLUSHED == 0:
            await client.flush()
    await all_heard.wait()
    seconds = time.process_time() - began
    if profile is not None:
        profile.disable()
    await client.close()
    return seconds
