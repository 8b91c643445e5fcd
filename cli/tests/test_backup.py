"""A stream in a file and back, at real servers; files of conversations likewise."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, cast
from urllib.request import urlopen

import pytest
from bson import encode
from bson.raw_bson import RawBSONDocument
from nats.aio.client import Client
from nats.aio.msg import Msg
from pymongo.errors import BulkWriteError

from contracts.files import file_key, unsent_key
from contracts.ids import uuid7
from nexus_cli.backup import documents, files, streams
from nexus_cli.backup.backup import backup, read, restored_settings
from nexus_cli.backup.streams import BackupFailedError
from nexus_cli.stack.errors import StackError
from nexus_cli.target import Addresses
from runtime.bus.connection import connect
from runtime.bus.publisher import Publisher
from runtime.bus.replies import ReplyInbox
from runtime.bus.streams import ensure_streams
from runtime.conversation import ConversationLog
from runtime.errors import NotReadyError
from runtime.settings import NatsSettings
from runtime.stores.file_store import FileMetadata, FileStore, read_whole
from runtime.stores.folder_store import FolderStore
from runtime.stores.mongo import Database
from runtime.stores.store_format import FORMAT, check_format
from runtime.testing.servers import MongoDatabase, NatsServer, eventually, run_nats_server

SUBJECT = "chat.demo.c1.message.visitor.v1"


async def test_a_restored_stream_counts_on_under_another_epoch(nats_streams: Client, tmp_path: Path) -> None:
    publisher = Publisher(nats_streams)
    for number in range(2_000):
        await publisher.append(SUBJECT, b"x" * 500, stream="CHAT", msg_id=str(number))
    await nats_streams.jetstream().pull_subscribe("chat.>", durable="agent", stream="CHAT")  # pyright: ignore[reportUnknownMemberType]
    kept = await streams.save(nats_streams, "CHAT", tmp_path / "CHAT")
    before = await ConversationLog(nats_streams).bounds()
    with run_nats_server() as server:
        client = await connect(NatsSettings(url=server.url), name="new")
        try:
            await streams.load(client, kept, tmp_path / "CHAT", 1)
            await ensure_streams(client)
            after = await ConversationLog(client).bounds()
            assert (after.first_seq, after.last_seq, after.created_at) == (1, 2_000, before.created_at)
            assert after.epoch != before.epoch
            info = await streams.state(client, "CHAT")
            assert info["state"].get("consumer_count") == 1
            with pytest.raises(BackupFailedError):
                await streams.load(client, kept, tmp_path / "CHAT", 1)
            # A backup of what was restored says the same.
            assert (await streams.save(client, "CHAT", tmp_path / "again")).made == kept.made
        finally:
            await client.close()


def described(content: bytes) -> FileMetadata:
    return FileMetadata("foto ñ.png", "image/png", len(content), hashlib.sha256(content).hexdigest())


async def stored(store: FileStore, content: bytes) -> str:
    file = uuid7()
    await store.put(unsent_key("acme", "c1", file), BytesIO(), described(b""))
    key = file_key("acme", "c1", file)
    await store.put(key, BytesIO(content), described(content))
    return key


async def test_a_stream_whose_restore_the_server_gave_up_is_sent_again(
    nats_streams: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher = Publisher(nats_streams)
    for number in range(20):
        await publisher.append(SUBJECT, os.urandom(20_000), stream="CHAT", msg_id=str(number))
    kept = await streams.save(nats_streams, "CHAT", tmp_path / "CHAT")
    request = ReplyInbox.request
    with run_nats_server() as server:
        server.options = ("-m", "-1")
        server.restart()
        [monitor] = json.loads(next(server.directory.glob("*.ports")).read_text())["monitoring"]
        chunks = 0

        def is_expected(subject: str) -> bool:
            with urlopen(f"{monitor}/subsz?subs=1&limit=4096", timeout=10) as subscriptions:
                return subject in subscriptions.read().decode()

        async def stalled(inbox: ReplyInbox, subject: str, *about: Any, **more: Any) -> Msg:
            nonlocal chunks
            if subject.startswith("$JS.SNAPSHOT.RESTORE"):
                chunks += 1
                if chunks == 2:
                    # As on a machine that has no time. The server gives up after five seconds, and does not say so.
                    assert is_expected(subject)
                    await eventually(lambda: not is_expected(subject))
            return await request(inbox, subject, *about, **more)

        monkeypatch.setattr(ReplyInbox, "request", stalled)
        client = await connect(NatsSettings(url=server.url), name="new")
        try:
            await streams.load(client, kept, tmp_path / "CHAT", 1)
            assert chunks > 4
            assert (await ConversationLog(client).bounds()).last_seq == 20
        finally:
            await client.close()


async def test_files_are_copied_by_their_checksums_and_what_is_missing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PAGE_SIZE", 2)
    old, copy, new, said = tmp_path / "old", tmp_path / "copy", tmp_path / "new", list[str]()
    store = FolderStore(old / "files")
    contents = {await stored(store, content): content for content in (b"one", b"", b"x" * 700_000)}
    damaged = old / "files" / await stored(store, b"as it was sent")
    damaged.write_bytes(damaged.read_bytes().replace(b"as it", b"as is"))
    headless = old / "files" / await stored(store, b"with a flipped bit in its head")
    headless.write_bytes(b"X" + headless.read_bytes()[1:])
    # Listed, and not there any more when its turn comes.
    damaged.with_name(uuid7()).symlink_to("deleted-meanwhile")
    copy.mkdir()
    kept = await files.save(old, copy, said.append)
    assert kept is not None
    assert (kept.count, kept.gone, kept.size) == (3, 1, 700_003)
    assert "is damaged where it lies" in said[0]
    assert "is damaged where it lies" in said[1]
    assert said[2] == "3 files of conversations; 1 were deleted meanwhile"
    await files.check(copy)
    async with files.empty_place(kept, new) as place:
        assert place is not None
        assert await files.load(place, copy) == 3
        for key, content in contents.items():
            assert (await place.about(key), await read_whole(place, key, 10**6)) == (described(content), content)
        assert len(await place.list("unsent/", 10)) == 5
    with pytest.raises(BackupFailedError, match="already holds files"):
        async with files.empty_place(kept, new):
            pass
    with pytest.raises(BackupFailedError, match="set NEXUS_FILES_URL"):
        async with files.empty_place(kept, None):
            pass
    (one, *_), (last, *_) = contents, reversed(contents)
    (copy / "files" / one).unlink()
    with pytest.raises(BackupFailedError, match=one):
        await files.check(copy)
    for content in ((copy / "files" / last).read_bytes(), b"X", b""):
        (copy / "files" / one).write_bytes(content)
        with pytest.raises(BackupFailedError, match="damaged or missing"):
            await files.check(copy)


async def test_a_bucket_is_its_owners_to_back_up_and_a_folder_that_is_not_here_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setenv("NEXUS_FILES_URL", "s3://pictures")
    monkeypatch.setenv("NEXUS_FILES_ENDPOINT", "https://s3.example")
    assert await files.save(tmp_path, tmp_path, said.append) is None
    assert "aws s3 sync s3://pictures TARGET --endpoint-url https://s3.example" in said[0]
    monkeypatch.setenv("NEXUS_FILES_URL", str(tmp_path / "elsewhere"))
    with pytest.raises(BackupFailedError, match="not on this machine"):
        await files.save(None, tmp_path, said.append)
    monkeypatch.delenv("NEXUS_FILES_URL")
    assert await files.save(None, tmp_path, said.append) is None
    assert "NEXUS_FILES_URL, which names where they lie, is not set here" in said[1]


async def broken_off(target: documents.Database) -> None:
    async with documents.being_restored(target, "2026-01-01"):
        refused = [{"errmsg": "a duplicate key", "op": {"text": "what somebody said"}}]
        raise BulkWriteError({"writeErrors": refused})


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"form": "two"}', '{"form": 2'])
async def test_a_manifest_that_is_damaged_is_told(manifest: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(BackupFailedError, match=r"manifest.json is damaged or missing: take another backup"):
        await read(tmp_path)


async def test_a_bit_that_flips_in_the_manifest_is_told_wherever_it_is(
    nats_streams: Client,
    nats_server: NatsServer,
    mongo_server: MongoDatabase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy = tmp_path / "copy"
    monkeypatch.setenv("NEXUS_FILES_URL", str(tmp_path))
    addresses = Addresses(nats_server.url, mongodb=mongo_server.url, database=mongo_server.database)
    made = await backup(addresses, None, copy, lambda _: None)
    assert await read(copy) == made
    listing = (copy / "files.jsonl").rename(tmp_path / "elsewhere")
    with pytest.raises(BackupFailedError, match=r"files.jsonl is damaged or missing: take another backup"):
        await read(copy)
    listing.rename(copy / "files.jsonl")
    manifest = copy / "manifest.json"
    good = manifest.read_bytes()
    for place in range(0, len(good), 97):
        for bit in range(8):
            flipped = bytearray(good)
            flipped[place] ^= 1 << bit
            manifest.write_bytes(flipped)
            with suppress(BackupFailedError):
                assert await read(copy) == made  # a blank between two values says nothing


async def test_a_backup_that_fails_leaves_an_empty_directory_and_can_be_tried_again(
    nats_streams: Client, nats_server: NatsServer, mongo_server: MongoDatabase, tmp_path: Path
) -> None:
    place = tmp_path / "backup"
    nowhere = Addresses("nats://127.0.0.1:1", mongodb=mongo_server.url, database=mongo_server.database)
    with pytest.raises(StackError, match="no NATS server answered"):
        await backup(nowhere, None, place, lambda _: None)
    assert list(place.iterdir()) == []
    await backup(replace(nowhere, nats=nats_server.url), None, place, lambda _: None)
    assert (await read(place))["streams"]["CHAT"]


async def test_a_backup_that_is_told_to_end_leaves_an_empty_directory(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    async with await asyncio.start_server(lambda _, __: None, "127.0.0.1", 0) as silent:
        url = f"mongodb://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
        command = [sys.executable, "-m", "nexus_cli", "backup", str(copy), "--data", str(tmp_path / "none")]
        named = {"NEXUS_NATS_URL": "nats://127.0.0.1:9", "NEXUS_MONGODB_URL": url}
        asked = await asyncio.create_subprocess_exec(*command, env=os.environ | named, cwd=tmp_path)
        await eventually(lambda: (copy / "settings").is_dir())
        asked.terminate()
        assert await asyncio.wait_for(asked.wait(), 30) == 130
    assert list(copy.iterdir()) == []


def test_the_secrets_of_a_restore_that_failed_are_gone_and_it_can_be_tried_again(tmp_path: Path) -> None:
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings/bus.json").write_text("{}")
    manifest, data = {"settings": {"bus.json": ""}}, tmp_path / "data"
    with pytest.raises(FileExistsError), restored_settings(manifest, tmp_path, data):
        (data / "bus.json").touch(exist_ok=False)
    with restored_settings(manifest, tmp_path, data):
        pass
    with pytest.raises(BackupFailedError, match="has been in use"), restored_settings(manifest, tmp_path, data):
        pass


async def test_no_service_starts_on_half_a_backup(mongo_server: MongoDatabase) -> None:
    kept = {"_id": "format", "format": FORMAT, "release": "1.0"}
    async with documents.database(mongo_server.url, mongo_server.database) as target:
        store = cast("Database", target)  # it knows each command that is used here
        with pytest.raises(BackupFailedError, match=r"^MongoDB: a duplicate key; the restore is incomplete: "):
            await broken_off(target)
        with pytest.raises(NotReadyError, match=r"backup of 2026-01-01 .* restore again"):
            await check_format(store)
        await target["meta"].delete_many({})
        async with documents.being_restored(target, "2026-01-01"):
            await target["meta"].insert_one(RawBSONDocument(encode(kept)))
        assert await check_format(store) == FORMAT


async def test_a_mongodb_that_stands_still_is_told_soon(
    mongo_server: MongoDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "FIRST_ANSWER_SECONDS", 0.3)
    mongo_server.server.pause()
    try:
        with pytest.raises(BackupFailedError, match="MongoDB: "):
            async with asyncio.timeout(10), documents.database(mongo_server.url, mongo_server.database):
                pass
    finally:
        mongo_server.server.resume()
