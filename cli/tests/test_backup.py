"""A stream in a file and back, at real servers."""

from __future__ import annotations

from pathlib import Path

import pytest
from nats.aio.client import Client

from nexus_cli.backup import streams
from nexus_cli.backup.streams import BackupFailed
from runtime.connection import connect
from runtime.conversation import ConversationLog
from runtime.publisher import Publisher
from runtime.settings import NatsSettings
from runtime.streams import ensure_streams
from runtime.testing import run_nats_server

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
            assert info["state"]["consumer_count"] == 1
            with pytest.raises(BackupFailed):
                await streams.load(client, kept, tmp_path / "CHAT", 1)
            # A backup of what was restored says the same.
            assert (await streams.save(client, "CHAT", tmp_path / "again")).made == kept.made
        finally:
            await client.close()
