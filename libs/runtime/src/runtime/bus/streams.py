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
_NOT_YET = frozenset({_NO_PEERS, _NOT_FOUND})
"""Errors of a cluster: its servers have not found each other yet, or the one that answers does not know yet of a stream
that another service has just made."""
_PEERS_TIMEOUT = 10.0
"""Seconds that the servers of a starting cluster have for that."""
_POLL_INTERVAL = 0.1
"""Seconds between checks for a stream that another service creates."""


_FORBIDDEN = (
    *("allow_rollup_hdrs", "allow_msg_ttl", "allow_msg_schedules", "allow_msg_counter", "no_ack", "deny_purge"),
    *("discard_new_per_subject", "sealed", "subject_transform", "sources", "mirror", "persist_mode"),
)
"""Options of an existing stream that would allow its content to be forged, wiped or silently lost."""
_FIXED = ("retention", "storage", "allow_direct")
"""Properties of a stream on which every release relies."""

FIRST_MADE = "nexus.first-made"
"""Key in a restored stream's metadata: when the original stream was created, whose sequences it continues."""
LOST_END = "nexus.lost-end"
"""Key in the metadata of a stream that lost its end: which sequences are lost, and when that was noticed."""
MARGIN = 100_000
"""Sequences skipped after a lost end, since the last stored sequence may not be recorded anywhere."""


def counting_since(info: StreamInfo) -> datetime:
    """Returns the time since which the stream has counted its sequences. `info` is the answer of STREAM.INFO. For
    clients, a restored stream is a new one (its epoch changes), but its facts keep their positions."""
    return datetime.fromisoformat(metadata_of(info).get(FIRST_MADE) or info["created"])


def _with_lost_end(info: StreamInfo, last_seq: int) -> StreamConfig:
    """Returns the stream's configuration with a note that its end, up to `last_seq`, is lost."""
    end = info["state"]["last_seq"]
    lost_range = f"{end + 1}-{last_seq}" if end < last_seq else f"messages up to {last_seq}"
    text = f"{lost_range} on {datetime.now(UTC):%Y-%m-%d %H:%M}"
    return {**info["config"], "metadata": {**metadata_of(info), LOST_END: text}}


async def note_lost_end(client: Client, name: str, last_seq: int) -> None:
    """Records in the stream's metadata that its end, up to `last_seq`, is lost. Raises NotReadyError."""
    inbox = ReplyInbox.of(client)
    info = await require_answer(inbox, StreamInfo, f"STREAM.INFO.{name}", None, deadline=5.0)
    await require_answer(inbox, StreamInfo, f"STREAM.UPDATE.{name}", _with_lost_end(info, last_seq), deadline=5.0)


async def continue_after_lost_end(
    client: Client, name: str, last_seq: int, keep: Callable[[int], Awaitable[object]]
) -> None:
    """Lets a stream whose end, up to `last_seq`, is lost continue after that sequence, so that no sequence is used
    twice, and removes its remaining content, which is incomplete.

    Messages stored since the loss may exist nowhere else: `keep` gets the last sequence, and nothing is removed before
    it has returned. Meanwhile the stream counts as full, so writers retry.

    Raises:
        NotReadyError: JetStream does not answer, or refuses.
        What `keep` raises: the stream's content is then unchanged.
    """
    inbox = ReplyInbox.of(client)

    async def call_stream(method: str, body: Mapping[str, object] | None = None) -> StreamInfo:
        return await require_answer(inbox, StreamInfo, f"STREAM.{method}.{name}", body, deadline=5.0)

    info = await call_stream("INFO")
    if info["state"]["first_seq"] > last_seq:
        return  # another replica of this service has done it
    # The note comes first: it stays even if this process ends here, whereas after the purge nobody can see the loss.
    config = {**_with_lost_end(info, last_seq), "max_msgs": -1}
    try:
        await call_stream("UPDATE", {**config, "max_msgs": 1})
        await keep((await call_stream("INFO"))["state"]["last_seq"])
        await call_stream("PURGE", {"seq": last_seq + MARGIN})
    finally:
        # If the process dies before this, `ensure_streams` does it at the next start.
        await call_stream("UPDATE", config)


def stream_config(stream: Stream, replicas: int = 1) -> StreamConfig:
    """Returns the configuration in the form of the JetStream API; times in nanoseconds, -1 for no limit."""
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
    """Creates or updates every stream; several services may do so concurrently. A new stream that a holder of the mark
    key creates demands marks from its first message on (runtime.bus.marks).

    Raises:
        NotReadyError: JetStream did not answer in time, or a stream exists in a form that cannot be changed.
    """
    now = asyncio.get_running_loop().time()
    end, cluster_ready = now + deadline, now + min(deadline, _PEERS_TIMEOUT)
    inbox = ReplyInbox.of(client)
    new_metadata = Marks.of(client).new_stream_metadata
    size_share = 1.0
    # Nearly always all streams exist as they should, which one round trip shows. The others are created one by one.
    requests = (call(inbox, StreamInfo, f"STREAM.INFO.{stream.name}", None, end) for stream in streams)
    answers = await asyncio.gather(*requests)
    for index, (stream, first_answer) in enumerate(zip(streams, answers, strict=True)):
        wanted = stream_config(stream, replicas)
        metadata = new_metadata.get(stream.name)
        answer = await _ensure(inbox, wanted, size_share, end, first_answer, metadata)
        while error_code(answer) in _NOT_YET and asyncio.get_running_loop().time() < cluster_ready:
            await asyncio.sleep(_POLL_INTERVAL)
            answer = await _ensure(inbox, wanted, size_share, end, None, metadata)
        if error_code(answer) == _NO_STORAGE:
            size_share = await _available_share(inbox, sum(later.max_bytes for later in streams[index:]), end)
            log.warning(
                "streams.smaller", share=size_share, reason="the server has less storage than the streams may take"
            )
            answer = await _ensure(inbox, wanted, size_share, end, None, metadata)
        if (error := answer.get("error")) is not None:
            existing = await call(inbox, StreamInfo, f"STREAM.INFO.{stream.name}", None, end)
            raise NotReadyError(_conflict_text(stream.name, _conflicts(wanted, existing.get("config")), error))


async def await_streams(client: Client, streams: Sequence[Stream] = STREAMS, *, deadline: float = 60.0) -> None:
    """Waits until every stream is as needed, for a service that must not create them itself: the service that may could
    still be starting, or be about to change them.

    Raises:
        NotReadyError: they are not as needed within `deadline` seconds.
    """
    clock = asyncio.get_running_loop().time
    end = clock() + deadline
    inbox = ReplyInbox.of(client)

    async def await_stream(stream: Stream) -> None:
        wanted = {key: value for key, value in stream_config(stream).items() if key in _FIXED}
        while True:
            # A little longer than the wait, so that the missing stream is named even if the machine paused at its end.
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

    await asyncio.gather(*map(await_stream, streams))


async def _ensure(
    inbox: ReplyInbox,
    wanted: StreamConfig,
    size_share: float,
    end: float,
    answer: StreamInfo | None,
    metadata: Mapping[str, str] | None,
) -> StreamInfo:
    """Creates (with this metadata) or updates one stream, given the server's last answer about it; returns the server's
    new answer."""
    name = wanted["name"]
    if answer is None:
        answer = await call(inbox, StreamInfo, f"STREAM.INFO.{name}", None, end)
    if error_code(answer) == _NOT_FOUND:
        size = int(wanted["max_bytes"] * size_share) if wanted["max_bytes"] > 0 else -1
        config: StreamConfig = {**wanted, "max_bytes": size, "metadata": {**(metadata or {}), RELEASE: release()}}
        answer = await call(inbox, StreamInfo, f"STREAM.CREATE.{name}", config, end)
        if error_code(answer) == 0:
            log.info("stream.created", stream=name)
            return answer
        if error_code(answer) == _NAME_IN_USE:  # another service was first, perhaps of an older or a newer release
            answer = await call(inbox, StreamInfo, f"STREAM.INFO.{name}", None, end)
    return answer if error_code(answer) != 0 else await _update(inbox, wanted, answer, end)


async def _update(inbox: ReplyInbox, wanted: StreamConfig, answer: StreamInfo, end: float) -> StreamInfo:
    """Updates an existing stream; returns the server's last answer."""
    name = wanted["name"]
    current = answer["config"]
    if is_of_newer_release(current.get("metadata")):
        wanted = _without_loss(wanted, current)
    used = answer["state"]["bytes"]
    if wanted["discard"] == "new" and 0 < wanted["max_bytes"] < used:
        # A smaller limit would make the server delete the oldest messages; where nothing may be lost, it waits until
        # the stream has been trimmed.
        log.warning(
            "stream.not_smaller", stream=name, holds=used, wanted=wanted["max_bytes"], stays=current["max_bytes"]
        )
        wanted = {**wanted, "max_bytes": current["max_bytes"]}
    # A newer release that runs beside this one may have added subjects, and write to them.
    wanted = {**wanted, "subjects": combined(wanted["subjects"], current.get("subjects", ()))}
    # The server omits false values.
    changes = [key for key, value in wanted.items() if current.get(key, False) != value]
    changes += _forbidden(current)
    if not changes:
        return answer
    config = {key: value for key, value in current.items() if key not in _FORBIDDEN}
    if not is_of_newer_release(current.get("metadata")):
        config["metadata"] = {**metadata_of(answer), RELEASE: release()}
    changed = await call(inbox, StreamInfo, f"STREAM.UPDATE.{name}", {**config, **wanted}, end)
    if error_code(changed) == _NO_STORAGE and wanted["max_bytes"] != current["max_bytes"]:
        log.warning("stream.not_larger", stream=name, wanted=wanted["max_bytes"], stays=current["max_bytes"])
        return await _update(inbox, {**wanted, "max_bytes": current["max_bytes"]}, answer, end)
    if error_code(changed) == 0:
        log.info("stream.updated", stream=name, changed=changes)
    return changed


def _without_loss(wanted: StreamConfig, current: StreamConfig) -> StreamConfig:
    """Returns the configuration as a newer release has set it, except for what this release needs and for limits that
    become higher."""
    config: StreamConfig = {**current, "subjects": wanted["subjects"], "num_replicas": wanted["num_replicas"]}
    for key in ("max_bytes", "max_age"):
        if current[key] > 0 and not 0 < wanted[key] < current[key]:
            config[key] = wanted[key]
    return config


def _forbidden(config: StreamConfig) -> list[str]:
    return [key for key in _FORBIDDEN if config.get(key, "default") not in (False, None, "", "default")]


def _conflicts(wanted: Mapping[str, object], config: StreamConfig | None) -> list[str]:
    """Describes how the stream differs from what is needed."""
    if not config:
        return []
    texts = [
        f"{key} is {config.get(key)} and must be {value}"
        for key, value in wanted.items()
        if config.get(key, False) != value
    ]
    return texts + [f"{key} is set and must not be" for key in _forbidden(config)]


def conflicts_with(stream: Stream, config: StreamConfig) -> list[str]:
    """Describes changes to an existing stream by which messages of this release are lost or refused. Sizes and ages do
    not count, since they are settings, nor additions, which a newer release may have made."""
    wanted = stream_config(stream)
    missing = [
        subject
        for subject in wanted["subjects"]
        if not any(covers(present, subject) for present in config.get("subjects", ()))
    ]
    texts = [f"it does not take {', '.join(missing)}"] if missing else []
    keys = (*_FIXED, "discard", "deny_delete", "max_msgs", "max_msgs_per_subject", "max_msg_size", "republish")
    return texts + _conflicts({key: value for key, value in wanted.items() if key in keys}, config)


def _conflict_text(name: str, conflicts: Sequence[str], error: ApiError | None) -> str:
    server_error = f" (NATS: {error.get('description')}, {error.get('err_code')})" if error else ""
    text = (
        f"stream {name} is not what this release needs: {'; '.join(conflicts) or 'it cannot be made'}{server_error}. "
    )
    if error and error.get("err_code") in _NO_COPIES:
        return f"{text}Set NEXUS_NATS_REPLICAS to a number of copies that the servers can hold"
    if error is None:
        return f"{text}Start memory of this release, which changes it"
    return (
        f"{text}Somebody else has made it: save what it holds (nexus backup), delete it with the operator's user, and "
        "start memory, which makes it anew"
    )


async def _available_share(inbox: ReplyInbox, total: int, end: float) -> float:
    """Returns the share of `total` bytes for which the server still has room. The server reserves every stream's limit
    when it is created and does not report how much is left, so a probe stream is created and deleted at once."""
    share = 0.5
    while total * share >= _MIN_TOTAL_BYTES:
        config = {"name": _PROBE, "subjects": ["nexus.room"], "storage": "file", "max_bytes": int(total * share)}
        answer = await call(inbox, StreamInfo, f"STREAM.CREATE.{_PROBE}", config, end)
        if error_code(answer) == 0:
            await call(inbox, ApiAnswer, f"STREAM.DELETE.{_PROBE}", None, end)
            return share
        share /= 2
    raise NotReadyError(
        "the server has no storage left for the streams: give JetStream more (max_file_store), or a larger disk"
    )
