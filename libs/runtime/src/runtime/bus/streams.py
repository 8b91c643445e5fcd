"""Creates the contracts' streams on the server if missing, updates those that differ, and refuses conflicts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime

import structlog
from nats.aio.client import Client

from contracts.streams import STREAMS, Stream
from runtime.bus.jetstream_api import (
    ApiAnswer,
    ApiError,
    StreamConfig,
    StreamInfo,
    call,
    error_code,
    metadata_of,
    require_answer,
)
from runtime.bus.marks import Marks
from runtime.bus.replies import ReplyInbox
from runtime.bus.subjects import combined, covers
from runtime.errors import NotReadyError
from runtime.release import RELEASE, is_of_newer_release, release

log = structlog.get_logger(__name__)

_NOT_FOUND = 10059
_NAME_IN_USE = 10058
_NO_STORAGE = 10047
_PROBE = "NEXUS_ROOM"
_NO_PEERS = 10005
_NO_COPIES = frozenset({_NO_PEERS, 10074})
"""Errors: no servers for so many copies, or more than one copy without a cluster."""
_MIN_TOTAL_BYTES = 8 * 1024 * 1024
_NANOSECONDS = 1_000_000_000
_PEERS_TIMEOUT = 10.0
"""Seconds for the servers of a starting cluster to find each other."""
_POLL_INTERVAL = 0.1
"""Seconds between two looks for a stream that another service creates."""


_FORBIDDEN = (
    *("allow_rollup_hdrs", "allow_msg_ttl", "allow_msg_schedules", "allow_msg_counter", "no_ack", "deny_purge"),
    *("discard_new_per_subject", "sealed", "subject_transform", "sources", "mirror", "persist_mode"),
)
"""Switches of an existing stream that would allow forging, wiping or silently losing its content."""
_FIXED = ("retention", "storage", "allow_direct")
"""Properties of a stream on which its users rely in every release."""

FIRST_MADE = "nexus.first-made"
"""Key in a restored stream's metadata: when the original stream, whose sequences it continues, was created."""
LOST_END = "nexus.lost-end"
"""Key in the metadata of a stream that lost its end: which sequences are lost, and when that was found."""
MARGIN = 100_000
"""Sequences skipped after a lost end, since what was stored last may not be recorded anywhere."""


def counting_since(info: StreamInfo) -> datetime:
    """Returns since when the stream counts its sequences. `info` is the answer of STREAM.INFO. For readers outside, a
    restored stream is a new one (its epoch changes), but its facts keep their positions."""
    return datetime.fromisoformat(metadata_of(info).get(FIRST_MADE) or info["created"])


def _with_lost_end(info: StreamInfo, up_to: int) -> StreamConfig:
    """The stream's configuration with the mark that it has lost its end, which reached `up_to`."""
    last = info["state"]["last_seq"]
    which = f"{last + 1}-{up_to}" if last < up_to else f"messages up to {up_to}"
    lost = f"{which} on {datetime.now(UTC):%Y-%m-%d %H:%M}"
    return {**info["config"], "metadata": {**metadata_of(info), LOST_END: lost}}


async def note_lost_end(client: Client, name: str, up_to: int) -> None:
    """The stream has lost its end, which reached `up_to`: that is recorded in its metadata. Raises NotReadyError."""
    inbox = ReplyInbox.of(client)
    info = await require_answer(inbox, StreamInfo, f"STREAM.INFO.{name}", None, deadline=5.0)
    await require_answer(inbox, StreamInfo, f"STREAM.UPDATE.{name}", _with_lost_end(info, up_to), deadline=5.0)


async def continue_after_lost_end(
    client: Client, name: str, up_to: int, keep: Callable[[int], Awaitable[object]]
) -> None:
    """The stream has lost its end, which reached `up_to`: it continues after that, so that no sequence is used twice,
    and its remaining content, which is incomplete, is removed.

    What was stored since the loss may exist nowhere else: `keep` is given the last sequence, and nothing is removed
    before it has returned. Meanwhile the stream counts as full, so writers retry.

    Raises:
        NotReadyError: JetStream does not answer, or refuses.
        What `keep` raises: the stream's content is then unchanged.
    """
    inbox = ReplyInbox.of(client)

    async def told(method: str, body: Mapping[str, object] | None = None) -> StreamInfo:
        return await require_answer(inbox, StreamInfo, f"STREAM.{method}.{name}", body, deadline=5.0)

    info = await told("INFO")
    if info["state"]["first_seq"] > up_to:
        return  # another replica has done it
    # The mark first: it is told though this ends here, and what is purged already is not behind anybody any more.
    config = {**_with_lost_end(info, up_to), "max_msgs": -1}
    try:
        await told("UPDATE", {**config, "max_msgs": 1})
        await keep((await told("INFO"))["state"]["last_seq"])
        await told("PURGE", {"seq": up_to + MARGIN})
    finally:
        # A process that dies before this leaves it to `ensure_streams` at the next start.
        await told("UPDATE", config)


def stream_config(stream: Stream, replicas: int = 1) -> StreamConfig:
    """The configuration in the form of the JetStream API; times in nanoseconds, -1 for no limit."""
    config: StreamConfig = {
        "name": stream.name,
        "subjects": list(stream.subjects),
        "retention": stream.retention,
        "storage": "file",
        "num_replicas": replicas,
        "max_bytes": stream.max_bytes or -1,
        "max_age": int(stream.max_age * _NANOSECONDS),
        "max_msgs": -1,
        "max_msgs_per_subject": stream.max_msgs_per_subject or -1,
        "max_msg_size": stream.max_msg_size or -1,
        "max_consumers": -1,
        "discard": stream.discard,
        "duplicate_window": int(stream.duplicate_window * _NANOSECONDS),
        "allow_direct": stream.allow_direct,
        "deny_delete": stream.deny_delete,
    }
    if stream.republish is not None:
        config["republish"] = {"src": stream.republish.source, "dest": stream.republish.destination}
    return config


async def ensure_streams(
    client: Client, streams: Sequence[Stream] = STREAMS, *, replicas: int = 1, deadline: float = 30.0
) -> None:
    """Creates or updates every stream; several services may do so concurrently. In a new stream created by a holder of
    the key, marks are demanded from its first message on (runtime.bus.marks).

    Raises:
        NotReadyError: JetStream did not answer in time, or a stream exists in a form that cannot be changed.
    """
    now = asyncio.get_running_loop().time()
    end, peers_known = now + deadline, now + min(deadline, _PEERS_TIMEOUT)
    inbox = ReplyInbox.of(client)
    made_with = Marks.of(client).new_stream_metadata
    share = 1.0
    # Nearly always all are there as they should be: one round trip tells. What is not is made one after another.
    looks = (call(inbox, StreamInfo, f"STREAM.INFO.{stream.name}", None, end) for stream in streams)
    found = await asyncio.gather(*looks)
    for position, (stream, known) in enumerate(zip(streams, found, strict=True)):
        wanted = stream_config(stream, replicas)
        metadata = made_with.get(stream.name)
        answer = await _ensure(inbox, wanted, share, end, known, metadata)
        while error_code(answer) == _NO_PEERS and asyncio.get_running_loop().time() < peers_known:
            await asyncio.sleep(_POLL_INTERVAL)
            answer = await _ensure(inbox, wanted, share, end, None, metadata)
        if error_code(answer) == _NO_STORAGE:
            share = await _available_share(inbox, sum(one.max_bytes for one in streams[position:]), end)
            log.warning("streams.smaller", share=share, reason="the server has less storage than the streams may take")
            answer = await _ensure(inbox, wanted, share, end, None, metadata)
        if (error := answer.get("error")) is not None:
            there = await call(inbox, StreamInfo, f"STREAM.INFO.{stream.name}", None, end)
            raise NotReadyError(_conflict_text(stream.name, _conflicts(wanted, there.get("config")), error))


async def await_streams(client: Client, streams: Sequence[Stream] = STREAMS, *, deadline: float = 60.0) -> None:
    """Waits until every stream is as needed, for a service that must not create them itself: the one that may is
    perhaps still starting, or about to change them.

    Raises:
        NotReadyError: they are not, within `deadline` seconds.
    """
    clock = asyncio.get_running_loop().time
    end = clock() + deadline
    inbox = ReplyInbox.of(client)

    async def there(stream: Stream) -> None:
        wanted = {key: value for key, value in stream_config(stream).items() if key in _FIXED}
        while True:
            # A little longer than the wait: what is missing is said, though the machine stood still at its end.
            answer = await call(inbox, StreamInfo, f"STREAM.INFO.{stream.name}", None, end + 2.0)
            missing = error_code(answer) == _NOT_FOUND
            conflicts = [] if missing else _conflicts(wanted, answer.get("config"))
            if not missing and not conflicts:
                return
            if clock() + _POLL_INTERVAL > end:
                raise NotReadyError(
                    f"there is no stream {stream.name} after {deadline:g} s: start the service that makes the streams "
                    "(memory), or set NEXUS_NATS_MANAGE_STREAMS=true where the user may"
                    if missing
                    else _conflict_text(stream.name, conflicts, None),
                    retryable=missing,
                )
            await asyncio.sleep(_POLL_INTERVAL)

    await asyncio.gather(*map(there, streams))


async def _ensure(
    inbox: ReplyInbox,
    wanted: StreamConfig,
    share: float,
    end: float,
    answer: StreamInfo | None,
    metadata: Mapping[str, str] | None,
) -> StreamInfo:
    """Creates (with this metadata) or updates one stream, given the server's last `answer`; returns the server's new
    one."""
    name = wanted["name"]
    if answer is None:
        answer = await call(inbox, StreamInfo, f"STREAM.INFO.{name}", None, end)
    if error_code(answer) == _NOT_FOUND:
        size = int(wanted["max_bytes"] * share) if wanted["max_bytes"] > 0 else -1
        made: StreamConfig = {**wanted, "max_bytes": size, "metadata": {**(metadata or {}), RELEASE: release()}}
        answer = await call(inbox, StreamInfo, f"STREAM.CREATE.{name}", made, end)
        if error_code(answer) == 0:
            log.info("stream.created", stream=name)
            return answer
        if error_code(answer) == _NAME_IN_USE:  # somebody else was first, with an older or a newer version
            answer = await call(inbox, StreamInfo, f"STREAM.INFO.{name}", None, end)
    return answer if error_code(answer) != 0 else await _update(inbox, wanted, answer, end)


async def _update(inbox: ReplyInbox, wanted: StreamConfig, answer: StreamInfo, end: float) -> StreamInfo:
    """Updates an existing stream; returns the server's last answer."""
    name = wanted["name"]
    current = answer["config"]
    if is_of_newer_release(current.get("metadata")):
        wanted = _without_loss(wanted, current)
    if _would_lose(wanted, answer):
        # Made smaller, the server would delete what is oldest; where nothing may be lost, it waits for the trimming.
        held = answer["state"]["bytes"]
        log.warning(
            "stream.not_smaller", stream=name, holds=held, wanted=wanted["max_bytes"], stays=current["max_bytes"]
        )
        wanted = {**wanted, "max_bytes": current["max_bytes"]}
    # A newer release beside this one may have added subjects, and writes to them.
    wanted = {**wanted, "subjects": combined(wanted["subjects"], current.get("subjects", ()))}
    # The server leaves out what is false.
    changes = [key for key, value in wanted.items() if current.get(key, False) != value]
    changes += _forbidden(current)
    if not changes:
        return answer
    kept = {key: value for key, value in current.items() if key not in _FORBIDDEN}
    if not is_of_newer_release(current.get("metadata")):
        kept["metadata"] = {**metadata_of(answer), RELEASE: release()}
    changed = await call(inbox, StreamInfo, f"STREAM.UPDATE.{name}", {**kept, **wanted}, end)
    if error_code(changed) == _NO_STORAGE and wanted["max_bytes"] != current["max_bytes"]:
        log.warning("stream.not_larger", stream=name, wanted=wanted["max_bytes"], stays=current["max_bytes"])
        return await _update(inbox, {**wanted, "max_bytes": current["max_bytes"]}, answer, end)
    if error_code(changed) == 0:
        log.info("stream.updated", stream=name, changed=changes)
    return changed


def _without_loss(wanted: StreamConfig, current: StreamConfig) -> StreamConfig:
    """Keeps what a newer release has set, except for what this release needs, and for limits that become higher."""
    less: StreamConfig = {**current, "subjects": wanted["subjects"], "num_replicas": wanted["num_replicas"]}
    for key in ("max_bytes", "max_age"):
        if current[key] > 0 and not 0 < wanted[key] < current[key]:
            less[key] = wanted[key]
    return less


def _forbidden(config: StreamConfig) -> list[str]:
    return [key for key in _FORBIDDEN if config.get(key, "default") not in (False, None, "", "default")]


def _conflicts(wanted: Mapping[str, object], config: StreamConfig | None) -> list[str]:
    """Describes in words how the stream differs from what is needed."""
    if not config:
        return []
    told = [
        f"{key} is {config.get(key)} and must be {value}"
        for key, value in wanted.items()
        if config.get(key, False) != value
    ]
    return told + [f"{key} is set and must not be" for key in _forbidden(config)]


def conflicts_with(stream: Stream, config: StreamConfig) -> list[str]:
    """Describes how somebody has changed an existing stream so that what this release stores is lost or refused.
    Sizes and ages are a matter of settings, and a newer release may have added to it."""
    wanted = stream_config(stream)
    lacking = [one for one in wanted["subjects"] if not any(covers(had, one) for had in config.get("subjects", ()))]
    told = [f"it does not take {', '.join(lacking)}"] if lacking else []
    firm = (*_FIXED, "discard", "deny_delete", "max_msgs", "max_msgs_per_subject", "max_msg_size")
    return told + _conflicts({key: value for key, value in wanted.items() if key in firm}, config)


def _conflict_text(name: str, conflicts: Sequence[str], error: ApiError | None) -> str:
    said = f" (NATS: {error.get('description')}, {error.get('err_code')})" if error else ""
    what = f"stream {name} is not what this release needs: {'; '.join(conflicts) or 'it cannot be made'}{said}. "
    if error and error.get("err_code") in _NO_COPIES:
        return f"{what}Set NEXUS_NATS_REPLICAS to a number of copies that the servers can hold"
    if error is None:
        return f"{what}Start memory of this release, which changes it"
    return (
        f"{what}Somebody else has made it: save what it holds (nexus backup), delete it with the operator's user, and "
        "start memory, which makes it anew"
    )


def _would_lose(wanted: StreamConfig, found: StreamInfo) -> bool:
    return wanted["discard"] == "new" and 0 < wanted["max_bytes"] < found["state"]["bytes"]


async def _available_share(inbox: ReplyInbox, total: int, end: float) -> float:
    """The share of `total` bytes that the server still has room for. The server reserves every stream's limit when
    it is created and tells nobody how much is left, so this is found out with a stream that is deleted at once."""
    share = 0.5
    while total * share >= _MIN_TOTAL_BYTES:
        probe = {"name": _PROBE, "subjects": ["nexus.room"], "storage": "file", "max_bytes": int(total * share)}
        answer = await call(inbox, StreamInfo, f"STREAM.CREATE.{_PROBE}", probe, end)
        if error_code(answer) == 0:
            await call(inbox, ApiAnswer, f"STREAM.DELETE.{_PROBE}", None, end)
            return share
        share /= 2
    raise NotReadyError(
        "the server has no storage left for the streams: give JetStream more (max_file_store), or a larger disk"
    )
