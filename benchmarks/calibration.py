"""What this machine gives right now: publish and acknowledgement on a bare stream, the unit that a turn is made of."""

import time
from dataclasses import dataclass

from nats.js import JetStreamContext

from benchmarks.report import median
from runtime.bus.connection import connect
from runtime.settings import NatsSettings

STREAM = "CALIBRATION"
ROUNDS = 500


@dataclass(frozen=True, slots=True)
class Calibration:
    """Milliseconds of one nats-py publish with its acknowledgement, 600 bytes: to wait, and of this process's CPU."""

    wait: float
    cpu: float


async def calibrate(url: str) -> Calibration:
    """Measures on the server at `url`, in a stream of its own that is removed again."""
    client = await connect(NatsSettings(url=url), name="calibration")
    stream = JetStreamContext(client)
    try:
        await stream.add_stream(name=STREAM, subjects=["calibration"])  # pyright: ignore[reportUnknownMemberType]
        waits: list[float] = []
        before = time.process_time()
        for _ in range(ROUNDS):
            began = time.perf_counter()
            await stream.publish("calibration", b"x" * 600)
            waits.append(time.perf_counter() - began)
        spent = time.process_time() - before
        await stream.delete_stream(STREAM)
    finally:
        await client.close()
    return Calibration(median(waits) * 1000, spent / ROUNDS * 1000)
