"""Appending, fencing and reading back, on a real server."""

from __future__ import annotations

import asyncio
import json

import pytest
from nats.aio.client import Client

from contracts.channels import ChatKind, chat, conversation_tree
from contracts.envelope import CloudEvent
from contracts.events.turn import RunStarted
from runtime.bus.publisher import Fence, Publisher, event_json
from runtime.conversation import CONCURRENT_READS, ConversationLog, fence_at
from runtime.errors import (
    FenceRefusedError,
    LogBehindError,
    NotStoredError,
    PublishRefusedError,
    PublishTimeoutError,
    ReadFailedError,
)
from runtime.testing.servers import NatsServer, eventually

CHAT = "CHAT"
VISITOR = chat("acme", "c1", ChatKind.VISITOR)
ANSWER = chat("acme", "c1", ChatKind.ASSISTANT)
TREE = conversation_tree("acme", "c1")


@pytest.mark.parametrize("subject", ["acme/c-1", None])
def test_an_event_without_a_model_is_written_as_one_with_it(subject: str | None) -> None:
    data = {"turnId": "t", "messageId": "m"}
    told = event_json("live.turn.run.started.v1", "/nexus/agent", data, subject=subject)
    assert CloudEvent[RunStarted].parse(told).to_json() == told


async def test_a_repeat_with_the_same_id_is_stored_once(nats_streams: Client) -> None:
    publisher = Publisher(nats_streams)
    first = await publisher.append(VISITOR, b"{}", stream=CHAT, msg_id="m1")
    again = await publisher.append(VISITOR, b"{}", stream=CHAT, msg_id="m1")
    assert (first.duplicate, again.duplicate) == (False, True)
    assert first.seq == again.seq


async def test_the_fence_refuses_an_answer_that_something_newer_overtook(nats_streams: Client) -> None:
    publisher, log = Publisher(nats_streams), ConversationLog(nats_streams)
    await publisher.append(VISITOR, b"1", stream=CHAT, msg_id="m1")
    before = await log.snapshot("acme", "c1")
    await publisher.append(VISITOR, b"2", stream=CHAT, msg_id="m2")
    with pytest.raises(FenceRefusedError) as refused:
        await publisher.append(ANSWER, b"a", stream=CHAT, msg_id="a1", fence=fence_at("acme", "c1", before.seq))
    assert not refused.value.maybe_own
    after = await log.snapshot("acme", "c1", at_least=before.seq + 1)
    stored = await publisher.append(ANSWER, b"a", stream=CHAT, msg_id="a1", fence=fence_at("acme", "c1", after.seq))
    assert (await log.snapshot("acme", "c1")).seq == stored.seq


async def test_a_fence_at_zero_holds_for_an_empty_conversation_only(nats_streams: Client) -> None:
    publisher, log = Publisher(nats_streams), ConversationLog(nats_streams)
    empty = await log.snapshot("acme", "c1")
    assert empty.seq == 0
    assert not empty.last
    await publisher.append(ANSWER, b"a", stream=CHAT, msg_id="a1", fence=fence_at("acme", "c1", empty.seq))
    with pytest.raises(FenceRefusedError):
        await publisher.append(ANSWER, b"b", stream=CHAT, msg_id="a2", fence=Fence(0, TREE))


async def test_a_subject_of_no_stream_and_an_oversized_event_are_errors(nats_streams: Client) -> None:
    publisher = Publisher(nats_streams)
    with pytest.raises(NotStoredError, match="no stream"):
        await publisher.append("nowhere.at.all", b"{}", stream=CHAT, msg_id="m1", deadline=0.2)
    with pytest.raises(PublishRefusedError):
        await publisher.append(VISITOR, b"x" * 300_000, stream=CHAT, msg_id="m2")
    with pytest.raises(PublishRefusedError):
        await publisher.append(VISITOR, b"x" * 3_000_000, stream=CHAT, msg_id="m3")


@pytest.mark.own_servers
async def test_an_append_outlives_a_frozen_server(nats_server: NatsServer, nats_streams: Client) -> None:
    publisher = Publisher(nats_streams)
    nats_server.pause()
    append = asyncio.create_task(publisher.append(VISITOR, b"{}", stream=CHAT, msg_id="m1"))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(append), 1.2)
    nats_server.resume()
    stored = await asyncio.wait_for(append, 30)
    bounds = await ConversationLog(nats_streams).bounds()
    assert bounds.last_seq == stored.seq == 1


@pytest.mark.own_servers
async def test_an_append_outlives_a_killed_server(nats_server: NatsServer, nats_streams: Client) -> None:
    publisher = Publisher(nats_streams)
    await publisher.append(VISITOR, b"0", stream=CHAT, msg_id="m0")
    nats_server.kill()
    append = asyncio.create_task(publisher.append(VISITOR, b"1", stream=CHAT, msg_id="m1"))
    await eventually(lambda: not nats_streams.is_connected)
    nats_server.start()
    stored = await asyncio.wait_for(append, 30)
    assert stored.seq == 2


@pytest.mark.own_servers
async def test_a_deadline_without_acknowledgement_leaves_the_outcome_unknown(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    publisher = Publisher(nats_streams)
    nats_server.pause()
    try:
        with pytest.raises(PublishTimeoutError):
            await publisher.append(VISITOR, b"{}", stream=CHAT, msg_id="m1", deadline=0.7)
    finally:
        nats_server.resume()
    again = await publisher.append(VISITOR, b"{}", stream=CHAT, msg_id="m1")
    assert (await ConversationLog(nats_streams).bounds()).last_seq == again.seq == 1


def said(message_id: str, kind: ChatKind = ChatKind.VISITOR, **more: str) -> bytes:
    """A message as an event of CHAT."""
    data = {"messageId": message_id, "text": "hello", **more}
    if kind is ChatKind.VISITOR:
        data["clientMessageId"] = message_id
    event = {"specversion": "1.0", "id": message_id, "source": "/tests", "type": kind.event_type, "data": data}
    return json.dumps(event).encode()


async def test_the_snapshot_has_the_newest_fact_of_each_kind(nats_streams: Client) -> None:
    publisher, log = Publisher(nats_streams), ConversationLog(nats_streams)
    messages = [said(f"m{number}") for number in range(5)]
    for number, message in enumerate(messages):
        await publisher.append(VISITOR, message, stream=CHAT, msg_id=f"m{number}")
    notice = said("a", ChatKind.SYSTEM, code="INTERNAL")
    await publisher.append(chat("acme", "c1", ChatKind.SYSTEM), notice, stream=CHAT, msg_id="a")
    await publisher.append(chat("acme", "other", ChatKind.OWNER), b"o", stream=CHAT, msg_id="o")
    snapshot = await log.snapshot("acme", "c1", at_least=6)
    assert {kind: fact.event for kind, fact in snapshot.last.items()} == {
        ChatKind.VISITOR: json.loads(messages[-1]),
        ChatKind.SYSTEM: json.loads(notice),
    }
    assert fence_at("acme", "c1", snapshot.seq) == Fence(6, TREE)
    assert snapshot.last[ChatKind.VISITOR].stored_at.tzinfo is not None


async def test_a_snapshot_that_stays_behind_is_an_error(nats_streams: Client) -> None:
    with pytest.raises(LogBehindError):
        await ConversationLog(nats_streams).snapshot("acme", "c1", at_least=7, deadline=0.1)


async def test_reading_gives_every_fact_in_order_and_no_other_conversation(nats_streams: Client) -> None:
    publisher, log = Publisher(nats_streams), ConversationLog(nats_streams)
    seqs: list[int] = []
    for number in range(600):
        stored = await publisher.append(VISITOR, said(f"m{number}"), stream=CHAT, msg_id=f"m{number}")
        seqs.append(stored.seq)
        if number % 7 == 0:
            await publisher.append(chat("acme", "c2", ChatKind.VISITOR), b"x", stream=CHAT, msg_id=f"x{number}")
    everything = await log.read("acme", "c1", 0, seqs[-1])
    assert [fact.seq for fact in everything] == seqs
    part = await log.read("acme", "c1", seqs[9], seqs[19])
    assert [fact.event for fact in part] == [said(f"m{number}") for number in range(10, 20)]
    assert await log.read("acme", "c1", seqs[-1], seqs[-1] + 100) == []
    first = await log.first_visitor("acme", "c1")
    assert first is not None
    assert first.seq == seqs[0]
    assert await log.first_visitor("acme", "none") is None


async def test_the_epoch_changes_when_the_stream_is_made_anew(nats_streams: Client) -> None:
    log = ConversationLog(nats_streams)
    before = await log.bounds()
    assert before == await log.bounds()
    await nats_streams.request("$JS.API.STREAM.DELETE.CHAT", b"", timeout=10)
    from runtime.bus.streams import ensure_streams

    await ensure_streams(nats_streams)
    assert (await log.bounds()).epoch != before.epoch


@pytest.mark.own_servers
async def test_a_reader_that_gets_no_turn_in_time_is_told_so(nats_server: NatsServer, nats_streams: Client) -> None:
    log = ConversationLog(nats_streams)
    nats_server.pause()
    readers = [
        asyncio.create_task(log.read("acme", f"c{number}", 0, 1, deadline=60)) for number in range(CONCURRENT_READS)
    ]
    await asyncio.sleep(0)
    with pytest.raises(ReadFailedError, match="at once"):
        await asyncio.wait_for(log.read("acme", "late", 0, 1, deadline=0.1), 20)
    nats_server.resume()
    assert await asyncio.wait_for(asyncio.gather(*readers), 60) == [[]] * CONCURRENT_READS
    assert await log.read("acme", "late", 0, 1) == []
