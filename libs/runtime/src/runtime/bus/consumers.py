"""Durable pull consumers: created if missing, updated if they differ, and never changed so that they skip messages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from runtime.bus.connection import subscribe
from runtime.bus.jetstream_api import (
    ConsumerConfig,
    ConsumerFilter,
    ConsumerInfo,
    call,
    error_code,
    error_text,
    require_answer,
)
from runtime.bus.replies import ReplyInbox
from runtime.bus.subjects import combined
from runtime.errors import NotReadyError
from runtime.release import RELEASE, is_of_newer_release, release

_NANOSECONDS = 1_000_000_000
_NO_CONSUMER = 10014
_TRANSIENT = frozenset({10059, 10148, 10149})
"""Error codes that go away: the stream does not exist yet, or another process has just created or deleted the
consumer."""
_POLL_INTERVAL = 0.1
"""Seconds between checks for a missing stream."""
_INFO_DEADLINE = 2.0
"""Seconds for the server to describe a consumer."""


@dataclass(frozen=True, slots=True)
class ConsumerSpec:
    """A durable pull consumer of some subjects with explicit acknowledgement. `ack_wait` is in seconds; a message is
    redelivered until it is acknowledged or terminated. `metadata` is written when the consumer is created or
    changed."""

    stream: str
    durable: str
    subjects: tuple[str, ...]
    ack_wait: float = 30.0
    max_ack_pending: int = 1000
    deliver_policy: str = "all"
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])

    def config(self) -> ConsumerConfig:
        """Returns the configuration in the form of the JetStream API."""
        return {
            "durable_name": self.durable,
            "deliver_policy": self.deliver_policy,
            "ack_policy": "explicit",
            "ack_wait": int(self.ack_wait * _NANOSECONDS),
            "max_deliver": -1,
            "max_ack_pending": self.max_ack_pending,
            "replay_policy": "instant",
            **_filter(self.subjects),
        }


async def ensure_consumer(client: Client, spec: ConsumerSpec, *, deadline: float = 15.0) -> None:
    """Creates the consumer, or updates it to the spec; safe if several replicas start at once. Waits for a missing
    stream, since the service that may create streams may still be starting.

    Additional subjects of the consumer are kept: a newer release may share it, and messages under a removed subject
    would be skipped for good. If a newer release has written the consumer, nothing else is changed either.

    Raises:
        NotReadyError: JetStream did not answer in time, or it refuses the consumer.
    """
    inbox, clock = ReplyInbox.of(client), asyncio.get_running_loop().time
    end = clock() + deadline
    place = f"{spec.stream}.{spec.durable}"
    while True:
        answer = await call(inbox, ConsumerInfo, f"CONSUMER.INFO.{place}", None, end)
        if error_code(answer) in (0, _NO_CONSUMER):
            existing = answer.get("config")
            wanted = _wanted(spec, existing)
            if existing and all(existing.get(key) == value for key, value in wanted.items() if key != "metadata"):
                return
            request = {"stream_name": spec.stream, "config": wanted, "action": "update" if existing else "create"}
            answer = await call(inbox, ConsumerInfo, f"CONSUMER.DURABLE.CREATE.{place}", request, end)
            if error_code(answer) == 0:
                return
        if error_code(answer) not in _TRANSIENT or clock() + _POLL_INTERVAL > end:
            reason = f"{error_text(answer)} ({error_code(answer)})"
            raise NotReadyError(
                f"consumer {spec.durable} of stream {spec.stream} is unavailable: {reason}",
                retryable=error_code(answer) in _TRANSIENT,
            )
        await asyncio.sleep(_POLL_INTERVAL)


async def may_be_redelivered(client: Client, spec: ConsumerSpec, stored_at: float) -> bool:
    """Whether a message that was delivered to this worker may have been delivered to another one since: by the server's
    clock it is older than a lease, and the consumer has redelivered something.

    Raises:
        NotReadyError: JetStream did not answer in time, or refused.
    """
    inbox = ReplyInbox.of(client)
    info = await require_answer(
        inbox, ConsumerInfo, f"CONSUMER.INFO.{spec.stream}.{spec.durable}", deadline=_INFO_DEADLINE
    )
    age = datetime.fromisoformat(info["ts"]).timestamp() - stored_at
    return info["num_redelivered"] > 0 and age >= spec.ack_wait


def _wanted(spec: ConsumerSpec, existing: ConsumerConfig | None) -> ConsumerConfig:
    """Returns the complete configuration, based on the existing one."""
    subjects = combined(spec.subjects, _filters(existing) if existing else ())
    if existing and is_of_newer_release(existing.get("metadata")):
        config: ConsumerConfig = {**existing, **_filter(subjects)}
        config.pop("filter_subject" if len(subjects) > 1 else "filter_subjects", None)
        return config
    return {**replace(spec, subjects=tuple(subjects)).config(), "metadata": {**spec.metadata, RELEASE: release()}}


def _filters(config: ConsumerConfig) -> list[str]:
    single = config.get("filter_subject")
    return [single] if single else list(config.get("filter_subjects") or ())


def _filter(subjects: Sequence[str]) -> ConsumerFilter:
    return {"filter_subject": subjects[0]} if len(subjects) == 1 else {"filter_subjects": list(subjects)}


async def on_new_leader(
    client: Client, stream: str, durable: str, call: Callable[[], Awaitable[object]]
) -> Subscription:
    """Calls `call` when another server of a cluster becomes the consumer's leader. The new leader does not know the
    requests that waited at the previous one, so they would never be answered."""

    async def elected(message: Msg) -> None:
        del message
        await call()

    return await subscribe(client, f"$JS.EVENT.ADVISORY.CONSUMER.LEADER_ELECTED.{stream}.{durable}", elected)
