"""Saves streams as files and loads them, as the server's own snapshots: with their consumers, at one sequence."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from nexus_cli.stack.errors import StackError
from runtime.bus.jetstream_api import AnswerT, ApiAnswer, StreamConfig, StreamInfo, StreamState, ask, error_text
from runtime.bus.replies import ReplyInbox, headers_of, status_of
from runtime.bus.streams import FIRST_MADE, counting_since

ANSWER_SECONDS = 10.0
CHUNK_BYTES = 128 * 1024
LOAD_TRIES, PAUSE_SECONDS = 4, 1.0
"""How often a stream is sent, and the seconds after a failure, in which the server forgets what it had."""


class BackupFailedError(StackError):
    """A backup could not be made or restored. The message says what to do."""


def file_digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


class StreamNames(ApiAnswer):
    """The answer to STREAM.NAMES."""

    streams: NotRequired[list[str] | None]


class RestorePlace(ApiAnswer):
    """The answer to STREAM.RESTORE: where to send the chunks."""

    deliver_subject: str


@dataclass(frozen=True)
class SavedStream:
    """A saved stream. `config` and `state` are the server's; `made` is the time since which its sequences count; `size`
    is in bytes."""

    made: str
    config: StreamConfig
    state: StreamState
    digest: str
    size: int


async def names(client: Client) -> set[str]:
    answer = await _ask(client, StreamNames, "STREAM.NAMES", {})
    return set(answer.get("streams") or ())


async def state(client: Client, name: str) -> StreamInfo:
    return await _ask(client, StreamInfo, f"STREAM.INFO.{name}")


async def save(client: Client, name: str, file: Path) -> SavedStream:
    """Writes a snapshot of the stream into `file`; the stream keeps running.

    Raises:
        BackupFailedError: the server stopped sending or does not answer.
    """
    chunks: asyncio.Queue[Msg] = asyncio.Queue(maxsize=1024)
    inbox = client.new_inbox()
    subscription = await client.subscribe(inbox, cb=chunks.put)  # pyright: ignore[reportUnknownMemberType]
    digest = hashlib.sha256()
    try:
        snapshot_request = {"deliver_subject": inbox, "chunk_size": CHUNK_BYTES, "jsck": True}
        counted_from = counting_since(await state(client, name)).isoformat()
        answer = await _ask(client, StreamInfo, f"STREAM.SNAPSHOT.{name}", snapshot_request)
        with file.open("wb") as output:
            while (chunk := await asyncio.wait_for(chunks.get(), ANSWER_SECONDS)).data:
                output.write(chunk.data)
                digest.update(chunk.data)
                if chunk.reply:
                    await client.publish(chunk.reply, b"")
            size = output.tell()
        if status_of(chunk) not in {None, "204"}:
            raise BackupFailedError(
                f"stream {name}: the server stopped sending: {headers_of(chunk).get('Description')}"
            )
    except (TimeoutError, NatsError) as error:
        raise BackupFailedError(
            f"stream {name}: the server sent nothing more within {ANSWER_SECONDS:g} s; try again"
        ) from error
    finally:
        await subscription.unsubscribe()
    return SavedStream(counted_from, answer["config"], answer["state"], digest.hexdigest(), size)


async def load(client: Client, saved: SavedStream, file: Path, replicas: int) -> StreamInfo:
    """Creates the stream from `file` and returns the server's info of it. For the server it is a new stream, so that
    clients see another epoch; its metadata keep the time since which its sequences count.

    Raises:
        BackupFailedError: the stream exists already, or the server refuses.
    """
    request = {"config": {**saved.config, "num_replicas": replicas}, "state": saved.state}
    name = saved.config["name"]
    restored = await _restore(client, name, request, file, LOAD_TRIES)
    metadata: dict[str, str] = {**(restored["config"].get("metadata") or {}), FIRST_MADE: saved.made}
    return await _ask(client, StreamInfo, f"STREAM.UPDATE.{name}", {**restored["config"], "metadata": metadata})


async def _restore(client: Client, name: str, request: Mapping[str, object], file: Path, tries: int) -> StreamInfo:
    """Has the server make the stream, and sends its file, this many times at most."""
    place = await _ask(client, RestorePlace, f"STREAM.RESTORE.{name}", request)
    try:
        return await _send(client, name, file, place["deliver_subject"])
    except BackupFailedError:
        if tries == 1:
            raise
    # What has arrived may be left of it.
    await ask(ReplyInbox.of(client), ApiAnswer, f"STREAM.DELETE.{name}", deadline=ANSWER_SECONDS)
    await asyncio.sleep(PAUSE_SECONDS)
    return await _restore(client, name, request, file, tries - 1)


async def _send(client: Client, name: str, file: Path, subject: str) -> StreamInfo:
    """Sends the file's chunks and returns the server's info of the new stream. Raises BackupFailedError also if the
    server has given up, which it does without a chunk for five seconds, as on a busy machine."""
    inbox = ReplyInbox.of(client)
    try:
        with file.open("rb") as content:
            while chunk := content.read(CHUNK_BYTES):
                reply = (await inbox.request(subject, chunk, deadline=ANSWER_SECONDS)).data
                if reply.startswith(b"-ERR") or b'"error"' in reply:
                    raise BackupFailedError(f"stream {name}: {reply.decode(errors='replace')}")
        restored: StreamInfo = orjson.loads((await inbox.request(subject, b"", deadline=60.0)).data)
    except (TimeoutError, NatsError) as error:
        raise BackupFailedError(f"stream {name}: the server accepted nothing more in time") from error
    if "error" in restored:
        raise BackupFailedError(f"stream {name}: {error_text(restored)}")
    return restored


async def _ask(
    client: Client, answer_type: type[AnswerT], method: str, body: Mapping[str, object] | None = None
) -> AnswerT:
    try:
        answer = await ask(ReplyInbox.of(client), answer_type, method, body, deadline=ANSWER_SECONDS)
    except (TimeoutError, NatsError) as error:
        raise BackupFailedError(
            f"JetStream did not answer {method} within {ANSWER_SECONDS:g} s: is the bus paused, or does the user "
            "lack the operator's rights?"
        ) from error
    if "error" in answer:
        raise BackupFailedError(f"{method}: {error_text(answer)}")
    return answer
