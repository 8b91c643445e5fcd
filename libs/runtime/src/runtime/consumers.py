"""Durable pull consumers: made when missing, updated when they differ."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import NoRespondersError

from runtime.connection import subscribe
from runtime.errors import NotReady
from runtime.replies import ReplyInbox

_NANOSECONDS = 1_000_000_000
_NO_STREAM = 10059


@dataclass(frozen=True, slots=True)
class ConsumerSpec:
    """One durable pull consumer with explicit acknowledgement. Times in seconds; max_deliver -1: for ever."""

    stream: str
    durable: str
    subjects: tuple[str, ...]
    ack_wait: float = 30.0
    max_deliver: int = -1
    max_ack_pending: int = 1000
    deliver_policy: str = "all"

    def config(self) -> dict[str, Any]:
        """As the JetStream API takes it."""
        config: dict[str, Any] = {
            "durable_name": self.durable,
            "deliver_policy": self.deliver_policy,
            "ack_policy": "explicit",
            "ack_wait": int(self.ack_wait * _NANOSECONDS),
            "max_deliver": self.max_deliver,
            "max_ack_pending": self.max_ack_pending,
            "replay_policy": "instant",
        }
        if len(self.subjects) == 1:
            config["filter_subject"] = self.subjects[0]
        elif self.subjects:
            config["filter_subjects"] = list(self.subjects)
        return config


async def ensure_consumer(client: Client, spec: ConsumerSpec, *, deadline: float = 15.0) -> None:
    """Makes the consumer, or brings it to the spec; safe when several replicas start at once. A stream that is missing
    is waited for: where services may not make streams, the one that may is perhaps still starting.

    Raises:
        NotReady: JetStream did not answer in time, or it refuses the consumer.
    """
    inbox = ReplyInbox.of(client)
    clock = asyncio.get_running_loop().time
    end = clock() + deadline
    body = orjson.dumps({"stream_name": spec.stream, "config": spec.config()})
    subject = f"$JS.API.CONSUMER.DURABLE.CREATE.{spec.stream}.{spec.durable}"
    problem = "no answer"
    while (left := end - clock()) > 0:
        try:
            answer = orjson.loads((await inbox.request(subject, body, deadline=min(left, 2.0))).data)
        except (TimeoutError, NoRespondersError):
            await asyncio.sleep(min(0.1, max(left, 0)))
            continue
        error = cast("Mapping[str, Any] | None", answer.get("error"))
        if error is None:
            return
        problem = f"{error.get('description')} ({error.get('err_code')})"
        if int(error.get("code", 500)) != 503 and error.get("err_code") != _NO_STREAM:
            break
        await asyncio.sleep(min(0.1, max(left, 0)))
    raise NotReady(f"consumer {spec.durable} of stream {spec.stream} cannot be had: {problem}")


async def on_new_leader(
    client: Client, stream: str, durable: str, call: Callable[[], Awaitable[object]]
) -> Subscription:
    """Calls whenever another server of a cluster begins to lead the consumer: it has none of the requests that waited
    at the one before, and whoever waits for an answer to one of those would wait in vain."""

    async def elected(message: Msg) -> None:
        del message
        await call()

    return await subscribe(client, f"$JS.EVENT.ADVISORY.CONSUMER.LEADER_ELECTED.{stream}.{durable}", elected)
