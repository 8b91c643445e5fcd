"""Saves a stream as a file, and loads it: the server's own snapshot, with its consumers, at one sequence."""

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

ANSWER = 10.0
CHUNK = 128 * 1024


class BackupFailedError(StackError):
    """A backup could not be made, or not be restored; the message says what to do."""


class StreamNames(ApiAnswer):
    """The answer to STREAM.NAMES."""

    streams: NotRequired[list[str] | None]


class RestorePlace(ApiAnswer):
    """The answer to STREAM.RESTORE: where to send the chunks."""

    deliver_subject: str


@dataclass(frozen=True)
class KeptStream:
    """One stream in its file; `config` and `state` as the server gave them, `made` since when its sequences count."""

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


async def save(client: Client, name: str, file: Path) -> KeptStream:
    """Writes the stream, as it is now, into `file`; it goes on meanwhile.

    Raises:
        BackupFailedError: the server broke off, or does not answer.
    """
    chunks: asyncio.Queue[Msg] = asyncio.Queue(maxsize=1024)
    inbox = client.new_inbox()
    subscription = await client.subscribe(inbox, cb=chunks.put)  # pyright: ignore[reportUnknownMemberType]
    digest = hashlib.sha256()
    try:
        asked = {"deliver_subject": inbox, "chunk_size": CHUNK, "jsck": True}
        made = counting_since(await state(client, name)).isoformat()
        answer = await _ask(client, StreamInfo, f"STREAM.SNAPSHOT.{name}", asked)
        with file.open("wb") as out:
            while (chunk := await asyncio.wait_for(chunks.get(), ANSWER)).data:
                out.write(chunk.data)
                digest.update(chunk.data)
                if chunk.reply:
                    await client.publish(chunk.reply, b"")
            size = out.tell()
        if status_of(chunk) not in {None, "204"}:
            raise BackupFailedError(
                f"stream {name}: the server stopped sending: {headers_of(chunk).get('Description')}"
            )
    except (TimeoutError, NatsError) as error:
        raise BackupFailedError(
            f"stream {name}: the server sent nothing more within {ANSWER:g} s; try again"
        ) from error
    finally:
        await subscription.unsubscribe()
    return KeptStream(made, answer["config"], answer["state"], digest.hexdigest(), size)


async def load(client: Client, kept: KeptStream, file: Path, replicas: int) -> StreamInfo:
    """Makes the stream out of `file`; what the server then says of it. The server takes it for a new one, so that
    clients see another epoch; its metadata say since when its sequences count.

    Raises:
        BackupFailedError: the stream is there already, or the server refuses.
    """
    name = kept.config["name"]
    config = {**kept.config, "num_replicas": replicas}
    answer = await _ask(client, RestorePlace, f"STREAM.RESTORE.{name}", {"config": config, "state": kept.state})
    inbox, to = ReplyInbox.of(client), answer["deliver_subject"]
    try:
        with file.open("rb") as content:
            while chunk := content.read(CHUNK):
                said = (await inbox.request(to, chunk, deadline=ANSWER)).data
                if said.startswith(b"-ERR") or b'"error"' in said:
                    raise BackupFailedError(f"stream {name}: {said.decode(errors='replace')}")
        done: StreamInfo = orjson.loads((await inbox.request(to, b"", deadline=60.0)).data)
    except (TimeoutError, NatsError) as error:
        raise BackupFailedError(f"stream {name}: the server accepted nothing more in time") from error
    if "error" in done:
        raise BackupFailedError(f"stream {name}: {error_text(done)}")
    metadata: dict[str, str] = {**(done["config"].get("metadata") or {}), FIRST_MADE: kept.made}
    return await _ask(client, StreamInfo, f"STREAM.UPDATE.{name}", {**done["config"], "metadata": metadata})


async def _ask(client: Client, of: type[AnswerT], method: str, body: Mapping[str, object] | None = None) -> AnswerT:
    try:
        answer = await ask(ReplyInbox.of(client), of, method, body, deadline=ANSWER)
    except (TimeoutError, NatsError) as error:
        raise BackupFailedError(
            f"JetStream did not answer {method} within {ANSWER:g} s: is the bus paused, or does the user "
            "lack the operator's rights?"
        ) from error
    if "error" in answer:
        raise BackupFailedError(f"{method}: {error_text(answer)}")
    return answer
