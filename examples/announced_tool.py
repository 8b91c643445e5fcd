"""Offers a tool from another service, in plain nats-py: while this program runs, the assistant converts units.

It announces its tools every 20 s and answers calls on its own subject below rpc.tool. The tool-executor takes care of
plan, limits, argument checks, cache and log; each request contains the verified caller."""

import asyncio
import json
import os
import signal
from typing import Any

import nats
from nats.aio.msg import Msg

SERVICE, SUBJECT, FACTORS = "units", "rpc.tool.units", {"km": 0.621371, "mi": 1.609344}
CONVERT_DISTANCE: dict[str, Any] = {
    "id": "units.convert_distance",
    "name": "convert_distance",
    "description": {"en": "Converts kilometres to miles or back.", "es": "Convierte kilómetros en millas o al revés."},
    "category": "calculate",
    "inputSchema": {
        "type": "object",
        "properties": {"value": {"type": "number"}, "unit": {"enum": list(FACTORS)}},
        "required": ["value", "unit"],
        "additionalProperties": False,
    },
    "outputSchema": {"type": "object", "properties": {"value": {"type": "number"}}, "required": ["value"]},
}


def event(kind: str, data: dict[str, Any]) -> bytes:
    """Returns a CloudEvent, the form of every fact on the bus."""
    identity = os.urandom(16).hex()
    return json.dumps({"specversion": "1.0", "id": identity, "source": "/units", "type": kind, "data": data}).encode()


async def main() -> None:
    bus = await nats.connect(os.environ.get("NEXUS_NATS_URL", "nats://127.0.0.1:4222"))
    stop = asyncio.Event()
    stopped = asyncio.create_task(stop.wait())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)

    async def convert(message: Msg) -> None:
        arguments = json.loads(message.data)["arguments"]
        result = {"value": arguments["value"] * FACTORS[arguments["unit"]]}
        await message.respond(json.dumps({"data": {"result": result}}).encode())

    await bus.subscribe(SUBJECT, queue=SERVICE, cb=convert)
    offer = {"service": SERVICE, "tools": [CONVERT_DISTANCE], "callSubject": SUBJECT, "ttlSeconds": 60}
    while not stop.is_set():  # "-.-": for every company, and for no particular user
        await bus.jetstream().publish("tools.announced.v1.-.-", event("tools.announced.v1", offer))
        await asyncio.wait([stopped], timeout=20)
    await bus.jetstream().publish("tools.withdrawn.v1.-.-", event("tools.withdrawn.v1", {"service": SERVICE}))
    await bus.drain()


if __name__ == "__main__":
    asyncio.run(main())
