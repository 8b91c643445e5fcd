"""A worker in a separate process, for tests that kill it: `waiting_process.py URL SLOTS`; its calls never end."""

import asyncio
import sys

from prometheus_client import Gauge

from runtime.bus.connection import connect
from runtime.settings import NatsSettings
from runtime.workers.backlog import Backlog
from runtime.workers.pull_worker import Ack, Delivery, Outcome, PullWorker


async def main(url: str, slots: int) -> None:
    """Works until it is killed."""

    async def forever(delivery: Delivery) -> Outcome:
        del delivery
        await asyncio.Event().wait()
        return Ack()

    client = await connect(NatsSettings(url=url), name="killed")
    worker = PullWorker(client, "CHAT", "agent", ["chat.*.*.message.visitor.v1"], forever, slots=slots)
    await worker.start()
    await Backlog(worker, Gauge("due", "Due"), Gauge("oldest", "Oldest")).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
