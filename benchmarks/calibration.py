"""Measures this machine's current speed: a publish with its acknowledgement on an empty stream, the basic unit of a
turn."""

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
    """Milliseconds of one nats-py publish of 600 bytes with its acknowledgement: elapsed time, and this process's
    CPU."""

    wait: float
    cpu: float


async def calibrate(url: str) -> Calibration:
    """Measures on the server at `url`, in a temporary stream."""
    client = await connect(NatsSettings(url=url), name="calibration")
    stream = JetStreamContext(client)
    try:
        await stream.add_stream(name=STREAM, subjects=["calibration"])  # pyright: ignore[reportUnknownMemberType]
        waits: list[float] = []
        cpu_before = time.process_time()
        for _ in range(ROUNDS):
            started = time.perf_counter()
            await stream.publish("calibration", b"x" * 600)
            waits.append(time.perf_counter() - started)
        cpu_seconds = time.process_time() - cpu_before
        await stream.delete_stream(STREAM)
    finally:
        await client.close()
    return Calibration(median(waits) * 1000, cpu_seconds / ROUNDS * 1000)
