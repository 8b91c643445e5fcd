"""Calls that are answered in parts, on a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import orjson
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.envelope import Wire
from contracts.rpc import Rpc
from runtime.bus.connection import connect
from runtime.calls import streamed_calls
from runtime.calls.streamed_calls import ReplyStream, StreamClient, StreamServer
from runtime.errors import RpcError
from runtime.settings import NatsSettings
from runtime.testing.servers import NatsServer, eventually


class Ask(Wire):
    how_many: int


class Number(Wire):
    value: int


COUNT = Rpc("rpc.test.count.v1", Ask, Number, queue="test", safe=False)


async def _read(parts: AsyncIterator[Number]) -> list[int]:
    return [part.value async for part in parts]


async def _ask(client: Client, how_many: int, read: list[int]) -> None:
    async with StreamClient(client).open(COUNT, Ask(how_many=how_many)) as parts:
        async for part in parts:
            read.append(part.value)


class Counter:
    """Counts as far as it is asked to, and remembers how far it got and how it ended."""

    def __init__(self) -> None:
        self.sent = 0
        self.cancelled = asyncio.Event()
        self.hold = asyncio.Event()
        self.hold.set()

    async def count(self, request: Ask, replies: ReplyStream[Number]) -> None:
        try:
            for value in range(request.how_many):
                await self.hold.wait()
                await replies.send(Number(value=value))
                self.sent += 1
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if request.how_many < 0:
            await replies.send(Number(value=0))
            raise RpcError("NOT_FOUND", "nothing below zero", reason="negative")


async def test_every_part_comes_once_and_in_order(nats_client: Client) -> None:
    counter = Counter()
    await StreamServer(nats_client).serve(COUNT, counter.count)
    async with StreamClient(nats_client).open(COUNT, Ask(how_many=500)) as parts:
        assert [part.value async for part in parts] == list(range(500))


async def test_an_error_comes_after_the_parts_before_it(nats_client: Client) -> None:
    await StreamServer(nats_client).serve(COUNT, Counter().count)
    read: list[int] = []
    with pytest.raises(RpcError) as raised:
        await _ask(nats_client, -1, read)
    assert (raised.value.code, raised.value.reason, read) == ("NOT_FOUND", "negative", [0])


async def test_a_caller_that_does_not_read_holds_the_work_up(nats_client: Client) -> None:
    counter = Counter()
    await StreamServer(nats_client).serve(COUNT, counter.count)
    async with StreamClient(nats_client).open(COUNT, Ask(how_many=1000)) as parts:
        await eventually(lambda: _sent(counter, streamed_calls.WINDOW - 1))
        await nats_client.flush()
        assert counter.sent <= streamed_calls.WINDOW + streamed_calls.PROGRESS_EVERY
        assert len([part async for part in parts]) == 1000


async def _sent(counter: Counter, least: int) -> bool:
    return counter.sent >= least


async def test_leaving_early_stops_the_work(nats_client: Client) -> None:
    counter = Counter()
    server = StreamServer(nats_client)
    await server.serve(COUNT, counter.count)
    async with StreamClient(nats_client).open(COUNT, Ask(how_many=100_000)) as parts:
        async for part in parts:
            if part.value == 20:
                break
    async with asyncio.timeout(20):
        await counter.cancelled.wait()

    async def idle() -> bool:
        return server.count == 0

    await eventually(idle)


async def test_a_caller_that_dies_is_noticed(
    nats_server: NatsServer, nats_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_calls, "SILENCE_TIMEOUT", 1.5)
    monkeypatch.setattr(streamed_calls, "BEAT_INTERVAL", 0.1)
    counter = Counter()
    await StreamServer(nats_client).serve(COUNT, counter.count)
    caller = await connect(NatsSettings(url=nats_server.url), name="caller")
    async with StreamClient(caller).open(COUNT, Ask(how_many=1000)) as parts:
        assert (await anext(parts)).value == 0
        await caller.close()
        async with asyncio.timeout(20):
            await counter.cancelled.wait()
        with pytest.raises(RpcError):
            await _read(parts)


async def test_a_server_that_falls_silent_is_noticed(nats_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_calls, "SILENCE_TIMEOUT", 0.3)
    opened = b'{"n":0,"opened":{"stream":"s","control":"rpc.test.nowhere"}}'

    async def serve(message: Msg) -> None:
        await nats_client.publish(message.reply, opened)

    await nats_client.subscribe(COUNT.subject, cb=serve)  # pyright: ignore[reportUnknownMemberType]
    with pytest.raises(RpcError) as raised:
        async with StreamClient(nats_client).open(COUNT, Ask(how_many=1)) as parts:
            await anext(parts)
    assert (raised.value.code, raised.value.retryable) == ("UNAVAILABLE", True)


async def test_a_lost_part_ends_the_call(nats_client: Client) -> None:
    async def serve(message: Msg) -> None:
        reply = message.reply
        await nats_client.publish(reply, b'{"n":0,"opened":{"stream":"s","control":"rpc.test.nowhere"}}')
        await nats_client.publish(reply, b'{"n":1,"data":{"value":0}}')
        await nats_client.publish(reply, b'{"n":3,"data":{"value":2}}')

    await nats_client.subscribe(COUNT.subject, cb=serve)  # pyright: ignore[reportUnknownMemberType]
    read: list[int] = []
    with pytest.raises(RpcError, match="lost"):
        await _ask(nats_client, 3, read)
    assert read == [0]


async def test_with_nobody_there_it_says_so(nats_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_calls, "OPEN_TIMEOUT", 1.0)
    with pytest.raises(RpcError, match="nobody serves"):
        async with StreamClient(nats_client).open(COUNT, Ask(how_many=1)):
            pass


async def test_one_call_too_many_is_refused_at_once(nats_client: Client) -> None:
    counter = Counter()
    counter.hold.clear()
    await StreamServer(nats_client, in_flight=1).serve(COUNT, counter.count)
    client = StreamClient(nats_client)
    async with client.open(COUNT, Ask(how_many=1)) as parts:
        with pytest.raises(RpcError) as raised:
            async with client.open(COUNT, Ask(how_many=1)):
                pass
        assert (raised.value.code, raised.value.retryable) == ("UNAVAILABLE", True)
        counter.hold.set()
        assert [part.value async for part in parts] == [0]


async def test_what_does_not_fit_the_contract_is_said(nats_client: Client) -> None:
    await StreamServer(nats_client).serve(COUNT, Counter().count)
    raw = await nats_client.request(COUNT.subject, b"{}", timeout=10)
    assert orjson.loads(raw.data)["error"]["code"] == "BAD_FIELD"


async def test_drain_finishes_what_runs_and_ends_the_rest(nats_client: Client) -> None:
    counter = Counter()
    server = StreamServer(nats_client)
    await server.serve(COUNT, counter.count)
    async with StreamClient(nats_client).open(COUNT, Ask(how_many=2)) as parts:
        assert (await anext(parts)).value == 0
        await server.drain(20)
        assert [part.value async for part in parts] == [1]
    stuck = Counter()
    stuck.hold.clear()
    other = StreamServer(nats_client)
    await other.serve(COUNT, stuck.count)
    async with StreamClient(nats_client).open(COUNT, Ask(how_many=2)) as parts:
        await other.drain(0.05)
        with pytest.raises(RpcError, match="stopping"):
            await anext(parts)
