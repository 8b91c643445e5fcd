"""Calls of JetStream's API, whose answers may be errors.

https://docs.nats.io/reference/reference-protocols/nats_api_reference
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NotRequired, TypedDict, TypeVar

import orjson
from nats.errors import NoRespondersError

from runtime.bus.replies import ReplyInbox
from runtime.errors import NotReadyError


class ApiError(TypedDict):
    """An error: `code` as in HTTP, `err_code` from the API's list of errors."""

    code: NotRequired[int]
    err_code: NotRequired[int]
    description: NotRequired[str]


class ApiAnswer(TypedDict):
    """Any answer; an error has no other fields."""

    error: NotRequired[ApiError]


class RepublishConfig(TypedDict):
    """Copies of a stream's messages on live subjects."""

    src: str
    dest: str


class StreamConfig(TypedDict):
    """The fields of a stream's configuration that are read and written; times in nanoseconds, -1 for no limit. The
    server's has more fields, and leaves out what is false."""

    name: str
    subjects: list[str]
    retention: str
    storage: str
    num_replicas: int
    max_bytes: int
    max_age: int
    max_msgs: int
    max_msgs_per_subject: int
    max_msg_size: int
    max_consumers: int
    discard: str
    duplicate_window: int
    allow_direct: bool
    deny_delete: bool
    republish: NotRequired[RepublishConfig]
    metadata: NotRequired[dict[str, str] | None]


class StreamState(TypedDict):
    """The number of messages and bytes in a stream, and its sequences; if a filter was sent, also the number of
    messages of each matching subject."""

    messages: int
    bytes: int
    first_seq: int
    last_seq: int
    first_ts: str
    consumer_count: NotRequired[int]
    subjects: NotRequired[dict[str, int] | None]


class Replica(TypedDict):
    """Another server that has a copy; `active`: nanoseconds since the leader last heard from it."""

    active: NotRequired[int]


class Cluster(TypedDict):
    """The servers that hold a stream or a consumer."""

    leader: NotRequired[str]
    replicas: NotRequired[list[Replica] | None]


class StreamInfo(ApiAnswer):
    """The answer to STREAM.INFO, CREATE and UPDATE. Times are the server's, in RFC 3339."""

    config: StreamConfig
    state: StreamState
    cluster: NotRequired[Cluster | None]
    created: str
    ts: str


class ConsumerFilter(TypedDict):
    """The subjects that a consumer reads: one, or several."""

    filter_subject: NotRequired[str]
    filter_subjects: NotRequired[list[str] | None]


class ConsumerConfig(ConsumerFilter):
    """The fields of a consumer's configuration that are read and written; `ack_wait` in nanoseconds, `max_deliver`
    -1: unlimited. A temporary consumer has no durable name."""

    durable_name: NotRequired[str]
    deliver_policy: str
    ack_policy: str
    ack_wait: int
    max_deliver: int
    max_ack_pending: int
    replay_policy: str
    metadata: NotRequired[dict[str, str] | None]
    pause_until: NotRequired[str]


class Place(TypedDict):
    """A consumer's position: its own sequence, and the stream's."""

    consumer_seq: int
    stream_seq: int


class ConsumerInfo(ApiAnswer):
    """The answer to CONSUMER.INFO and CREATE."""

    name: str
    config: ConsumerConfig
    delivered: Place
    ack_floor: Place
    num_pending: int
    num_ack_pending: int
    num_redelivered: int
    num_waiting: NotRequired[int]
    paused: NotRequired[bool]
    cluster: NotRequired[Cluster | None]
    created: str
    ts: str


class Purged(ApiAnswer):
    """The answer to STREAM.PURGE."""

    purged: int


class ConsumerPage(ApiAnswer):
    """The answer to CONSUMER.LIST. `missing`: consumers without a leader."""

    total: int
    consumers: NotRequired[list[ConsumerInfo] | None]
    missing: NotRequired[list[str] | None]


class AccountLimits(TypedDict):
    """The limits of an account, in bytes; -1 means none."""

    max_storage: NotRequired[int]


class AccountInfo(ApiAnswer):
    """The answer to INFO; `storage` in bytes."""

    storage: NotRequired[int]
    limits: NotRequired[AccountLimits]


AnswerT = TypeVar("AnswerT", bound=ApiAnswer)


async def ask(
    inbox: ReplyInbox, of: type[AnswerT], method: str, body: Mapping[str, object] | None = None, *, deadline: float
) -> AnswerT:
    """Returns the answer to one request. `of`: its type, for the type checker only.

    Raises:
        TimeoutError, NatsError: no answer within `deadline` seconds.
    """
    del of
    payload = b"" if body is None else orjson.dumps(body)
    return orjson.loads((await inbox.request(f"$JS.API.{method}", payload, deadline=deadline)).data)


async def call(
    inbox: ReplyInbox, of: type[AnswerT], method: str, body: Mapping[str, object] | None, end: float
) -> AnswerT:
    """Returns the answer, with retries while JetStream is starting, until the loop's clock shows `end`.

    Raises:
        NotReadyError: no answer in time.
    """
    clock = asyncio.get_running_loop().time
    while True:
        remaining = end - clock()
        if remaining <= 0:
            raise NotReadyError(
                "JetStream did not answer in time: start nats-server with -js, or check the account's limits",
                retryable=True,
            )
        try:
            answer = await ask(inbox, of, method, body, deadline=min(remaining, 5.0))
        except (TimeoutError, NoRespondersError):
            await asyncio.sleep(min(0.1, max(remaining, 0)))
            continue
        # 503: no leader yet, or still starting. A refused configuration is 400 or 500, and stays refused.
        if answer.get("error", {}).get("code", 0) == 503:
            await asyncio.sleep(min(0.1, max(remaining, 0)))
            continue
        return answer


def error_code(answer: ApiAnswer) -> int:
    """Returns the code from the API's list of errors; 0 if the answer is no error."""
    error = answer.get("error")
    return error.get("err_code", -1) if error else 0


def error_text(answer: ApiAnswer) -> str:
    """The server's error text."""
    return str(answer.get("error", {}).get("description"))


async def require_answer(
    inbox: ReplyInbox, of: type[AnswerT], method: str, body: Mapping[str, object] | None = None, *, deadline: float
) -> AnswerT:
    """Returns the answer to a request that JetStream must not refuse.

    Raises:
        NotReadyError: no answer within `deadline` seconds, or JetStream refused.
    """
    answer = await call(inbox, of, method, body, asyncio.get_running_loop().time() + deadline)
    if error_code(answer) != 0:
        raise NotReadyError(f"{method}: {error_text(answer)}")
    return answer


def floor_of(info: ConsumerInfo) -> int:
    """Returns the sequence up to which a consumer has read everything: all that was delivered, if no acknowledgement is
    pending."""
    return info["ack_floor" if info.get("num_ack_pending") else "delivered"]["stream_seq"]


def metadata_of(info: StreamInfo) -> Mapping[str, str]:
    """Returns the stream's metadata."""
    return info["config"].get("metadata") or {}
