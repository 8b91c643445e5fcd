"""Follows a company's facts, in plain nats-py: `python examples/follow_facts.py`; Ctrl-C ends it, and nothing is lost.

A durable consumer remembers its position: stop this, let things happen, start it again, and it continues there. Facts
come at least once; `id` identifies a repeat."""

import asyncio
import json
import os
import signal

import nats
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

COMPANY = os.environ.get("NEXUS_COMPANY", "demo")
TYPES = ("tools.call.completed.v1", "usage.recorded.v1", "feedback.given.v1", "action.decided.v1", "alert.triggered.v1")


async def main() -> None:
    bus = await nats.connect(os.environ.get("NEXUS_NATS_URL", "nats://127.0.0.1:4222"))
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    settings = ConsumerConfig(
        durable_name="shop-facts",
        # The last two tokens are the company and the user: one user's facts are `….<company>.<user>`.
        filter_subjects=[f"{kind}.{COMPANY}.*" for kind in TYPES],
        deliver_policy=DeliverPolicy.NEW,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=30,
    )
    await bus.jetstream().add_consumer("FACTS", settings)
    facts = await bus.jetstream().pull_subscribe_bind("shop-facts", "FACTS")
    print("following", flush=True)
    while not stop.is_set():
        try:
            messages = await facts.fetch(10, timeout=1)
        except TimeoutError:
            continue  # nothing yet
        for message in messages:
            event = json.loads(message.data)
            print(event["type"], event["id"], json.dumps(event["data"])[:200], flush=True)
            # Acknowledge a fact only after you have handled it.
            await message.ack_sync()
    await bus.drain()


if __name__ == "__main__":
    asyncio.run(main())
