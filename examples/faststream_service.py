"""A service of your own with FastStream and the models of Nexus' contracts: it stores complaints about answers.

`python examples/faststream_service.py`; Ctrl-C ends it, and nothing is lost. It needs faststream[nats] and
libs/contracts. By default FastStream gives up a message if its handler raises: copy `Settle`, which does not."""

import asyncio
import os
from pathlib import Path
from typing import Any

from faststream import AckPolicy, BaseMiddleware, FastStream
from faststream.nats import JStream, NatsBroker, PullSub
from nats.js.api import AckPolicy as ServerAckPolicy
from nats.js.api import ConsumerConfig, DeliverPolicy
from pydantic import ValidationError

from contracts.envelope import CloudEvent
from contracts.events.fact import FeedbackGiven

COMPANY = os.environ.get("NEXUS_COMPANY", "demo")
COMPLAINTS = Path(os.environ.get("COMPLAINTS", "complaints.txt"))


class Settle(BaseMiddleware):
    """Acknowledges a message once it has been handled; if that fails, the message is delivered again."""

    async def consume_scope(self, call_next: Any, msg: Any) -> Any:
        try:
            result = await call_next(msg)
        except ValidationError as error:
            print(f"does not fit its contract: {error.error_count()} errors", flush=True)
            await msg.reject()
        except Exception as error:
            print("again in a second:", error, flush=True)
            await msg.nack(delay=1)
        else:
            await msg.ack()
            return result


broker = NatsBroker(os.environ.get("NEXUS_NATS_URL", "nats://127.0.0.1:4222"), middlewares=[Settle])


@broker.subscriber(
    f"feedback.given.v1.{COMPANY}.*",
    stream=JStream("FACTS", declare=False),
    durable="complaints",
    config=ConsumerConfig(deliver_policy=DeliverPolicy.NEW, ack_policy=ServerAckPolicy.EXPLICIT),
    pull_sub=PullSub(batch_size=10, timeout=30),
    ack_policy=AckPolicy.MANUAL,
)
def store_complaint(event: CloudEvent[FeedbackGiven]) -> None:
    if event.data.rating == "down":
        with COMPLAINTS.open("a") as complaints:
            complaints.write(f"{event.id} {event.data.message_id} {event.data.reason or ''}\n")


if __name__ == "__main__":
    asyncio.run(FastStream(broker).run())
