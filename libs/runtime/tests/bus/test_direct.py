"""Direct reads of a stream on a real server."""

from collections.abc import Awaitable, Callable
from datetime import timedelta, timezone

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from runtime.bus.direct import Batch, DirectReader
from runtime.bus.publisher import Publisher
from runtime.errors import ReadFailedError

MINE, ALL = "chat.a.b.message.visitor.v1", "chat.>"


@pytest.fixture
async def stored(nats_streams: Client) -> DirectReader:
    """Messages 1, 2, 4 of one conversation and 3 of another."""
    publisher = Publisher(nats_streams)
    for number, conversation in enumerate("bbcb", start=1):
        await publisher.append(
            f"chat.a.{conversation}.message.visitor.v1", b"%d" % number, stream="CHAT", msg_id=f"{number}"
        )
    return DirectReader(nats_streams, "CHAT")


def sequences(batch: Batch) -> list[int]:
    return [fact.seq for fact in batch.facts]


async def test_one_message_is_read_by_its_subject_its_place_or_as_the_next_of_a_filter(stored: DirectReader) -> None:
    async def seq(found: Awaitable[object]) -> int | None:
        return getattr(await found, "seq", None)

    assert [await seq(stored.last(MINE)), await seq(stored.at(3)), await seq(stored.next(MINE, 3))] == [4, 3, 4]
    missing: list[Callable[[], Awaitable[object]]] = [
        lambda: stored.last("chat.a.nobody.message.visitor.v1"),
        lambda: stored.at(5),
        lambda: stored.next(MINE, 5),
    ]
    assert [await find() for find in missing] == [None, None, None]


async def test_a_batch_says_whether_there_is_more(stored: DirectReader) -> None:
    first = await stored.batch(MINE, 1, 2)
    assert (sequences(first), first.more) == ([1, 2], True)
    rest = await stored.batch(MINE, 3, 2)
    assert (sequences(rest), rest.more) == ([4], False)
    assert sequences(await stored.batch(MINE, 5, 2)) == []


async def test_all_messages_are_read_batch_by_batch(stored: DirectReader) -> None:
    deadlines = iter((5.0, 4.0))  # each batch within what the caller has left then
    assert [fact.seq async for fact in stored.all(MINE, size=2, deadline=lambda: next(deadlines))] == [1, 2, 4]
    assert next(deadlines, None) is None
    assert [fact.seq async for fact in stored.all(MINE, 2)] == [2, 4]


async def test_a_batch_begins_at_a_moment_in_whatever_zone_it_is_told(stored: DirectReader) -> None:
    second = (await stored.batch(ALL, 2, 1)).facts[0].time
    lima = timezone(timedelta(hours=-5))
    assert sequences(await stored.batch_since(MINE, second.astimezone(lima), 10)) == [2, 4]
    assert sequences(await stored.batch_since(MINE, second - timedelta(days=1), 2)) == [1, 2]
    assert sequences(await stored.batch_since(MINE, second + timedelta(days=1), 10)) == []


async def test_a_stream_that_is_not_there_is_an_error_in_time(nats_client: Client) -> None:
    with pytest.raises(ReadFailedError, match="CHAT"):
        await DirectReader(nats_client, "CHAT").last(MINE, deadline=0.1)


async def test_a_replica_whose_stream_lags_behind_what_is_needed_is_asked_again(nats_client: Client) -> None:
    """The replica is played: no server has this stream."""
    asked, transport = 0, nats_client._transport  # pyright: ignore[reportPrivateUsage]
    assert transport is not None

    async def replica(message: Msg) -> None:
        nonlocal asked
        asked += 1
        end = f"NATS/1.0 204 EOB\r\nNats-Num-Pending: 0\r\nNats-UpTo-Sequence: {asked + 6}\r\n\r\n".encode()
        one = b"NATS/1.0\r\nNats-Sequence: 5\r\nNats-Subject: lags.a\r\nNats-Time-Stamp: 2026-01-01T00:00:00Z\r\n\r\n"
        for head in (one, end):
            transport.write(f"HPUB {message.reply} {len(head)} {len(head)}\r\n".encode() + head + b"\r\n")

    await nats_client.subscribe("$JS.API.DIRECT.GET.LAGS", cb=replica)  # pyright: ignore[reportUnknownMemberType]
    reader = DirectReader(nats_client, "LAGS")
    assert [one.seq for one in await reader.last_of_each(["lags.>"], reached=9)] == [5]
    assert asked == 3
    with pytest.raises(ReadFailedError):
        await reader.last_of_each(["lags.>"], reached=1_000, deadline=0.2)
