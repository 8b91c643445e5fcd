"""Durable pull consumers: made when missing, updated when they differ, never made to pass over what they were shown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from runtime.connection import subscribe
from runtime.errors import NotReady
from runtime.jetstream_api import ConsumerConfig, ConsumerInfo, call, error_code, why
from runtime.replies import ReplyInbox
from runtime.subjects import together

_NANOSECONDS = 1_000_000_000
_NO_CONSUMER = 10014
_COMES = frozenset({10059, 10148, 10149})
"""No stream yet; made, or deleted, by somebody else in between."""
_LOOK_AGAIN = 0.1


@dataclass(frozen=True, slots=True)
class ConsumerSpec:
    """One durable pull consumer of some subjects with explicit acknowledgement. Times in seconds; max_deliver -1: for
    ever."""

    stream: str
    durable: str
    subjects: tuple[str, ...]
    ack_wait: float = 30.0
    max_deliver: int = -1
    max_ack_pending: int = 1000
    deliver_policy: str = "all"

    def config(self) -> ConsumerConfig:
        """As the JetStream API takes it."""
        config: ConsumerConfig = {
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
        else:
            config["filter_subjects"] = list(self.subjects)
        return config


async def ensure_consumer(client: Client, spec: ConsumerSpec, *, deadline: float = 15.0) -> None:
    """Makes the consumer, or brings it to the spec; safe when several replicas start at once. A stream that is missing
    is waited for: where services may not make streams, the one that may is perhaps still starting.

    Subjects that the consumer has besides stay: a newer release shares it, and what comes under one that is taken away
    is passed over for good.

    Raises:
        NotReady: JetStream did not answer in time, or it refuses the consumer.
    """
    inbox, clock = ReplyInbox.of(client), asyncio.get_running_loop().time
    end = clock() + deadline
    place = f"{spec.stream}.{spec.durable}"
    while True:
        answer = await call(inbox, ConsumerInfo, f"CONSUMER.INFO.{place}", None, end)
        if error_code(answer) in (0, _NO_CONSUMER):
            there = answer.get("config")
            wanted = replace(spec, subjects=tuple(together(spec.subjects, _filters(there) if there else ()))).config()
            if there and all(there.get(key) == value for key, value in wanted.items()):
                return
            change = {"stream_name": spec.stream, "config": wanted, "action": "update" if there else "create"}
            answer = await call(inbox, ConsumerInfo, f"CONSUMER.DURABLE.CREATE.{place}", change, end)
            if error_code(answer) == 0:
                return
        if error_code(answer) not in _COMES or clock() + _LOOK_AGAIN > end:
            said = f"{why(answer)} ({error_code(answer)})"
            raise NotReady(f"consumer {spec.durable} of stream {spec.stream} cannot be had: {said}")
        await asyncio.sleep(_LOOK_AGAIN)


def _filters(config: ConsumerConfig) -> list[str]:
    one = config.get("filter_subject")
    return [one] if one else list(config.get("filter_subjects") or ())


async def on_new_leader(
    client: Client, stream: str, durable: str, call: Callable[[], Awaitable[object]]
) -> Subscription:
    """Calls whenever another server of a cluster begins to lead the consumer: it has none of the requests that waited
    at the one before, and whoever waits for an answer to one of those would wait in vain."""

    async def elected(message: Msg) -> None:
        del message
        await call()

    return await subscribe(client, f"$JS.EVENT.ADVISORY.CONSUMER.LEADER_ELECTED.{stream}.{durable}", elected)
