"""A small real service that test_service.py runs as a process."""

from __future__ import annotations

import asyncio
import os
import select
import sys
import time

from contracts.envelope import Wire
from contracts.rpc import Rpc
from contracts.streams import CHAT
from runtime.lifecycle.program import run
from runtime.lifecycle.service import Service
from runtime.settings import DrainSettings, LogSettings, NatsSettings
from runtime.workers.pull_worker import Ack, Delivery, Outcome, PullWorker


class Ping(Wire):
    text: str


PING = Rpc("rpc.test.ping.v1", Ping, Ping, queue="test")


async def main() -> None:
    service = Service(
        "sample",
        nats=NatsSettings(ping_interval=1),
        drain=DrainSettings(deadline=float(os.environ.get("DRAIN_SECONDS", "10"))),
        logging=LogSettings(format="json"),
    )

    service.writes(CHAT)

    async def ping(request: Ping) -> Ping:
        if request.text == "freeze":
            # Blocks the event loop until the test has seen it.
            select.select([sys.stdin], [], [], 60)
        return request

    async def work(delivery: Delivery) -> Outcome:
        sys.stdout.write(f"begun {delivery.data.decode()}\n")
        sys.stdout.flush()
        await asyncio.sleep(float(os.environ.get("WORK_SECONDS", "0.5")))
        sys.stdout.write(f"finished {delivery.data.decode()}\n")
        sys.stdout.flush()
        return Ack()

    async def close() -> None:
        match os.environ.get("HANGS"):
            case "thread":
                await asyncio.to_thread(time.sleep, 600)
            case "loop":
                time.sleep(600)  # noqa: ASYNC251 - that it does not turn is what is tested
            case _:
                return

    async def closed() -> None:
        sys.stdout.write("closed\n")
        sys.stdout.flush()

    async def build() -> None:
        if os.environ.get("HANGS") == "import":
            asyncio.get_running_loop().run_in_executor(None, time.sleep, 600)
        service.serve(PING, ping)
        service.add_worker(PullWorker(service.nats, "TOOLS", "sample", ["tools.call.requested.v1.*"], work))
        service.on_stop(closed)
        service.on_stop(close)

    service.on_start(build)
    await service.run()


if __name__ == "__main__":
    run(main)
