"""A stream of server-sent events over the ASGI interface alone: what is written, when, and what is closed."""

import asyncio
from collections.abc import Callable

import pytest
from starlette.types import Message

from gateway.web.http_transport import CONNECTION
from gateway.web.keepalive import COMMENT, EventStream, Write
from runtime.testing.servers import eventually

SECONDS = 20.0


class Wire:
    """The server's side. `full`: what is written waits."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.room = asyncio.Event()
        self.room.set()
        self._lost: Callable[[], object] | None = None
        self._left = False

    def leave(self) -> None:
        """The client hangs up."""
        self._left = True
        self.watch(self._lost)

    def cut_off(self) -> None:
        self.leave()

    def watch(self, lost: Callable[[], object] | None) -> None:
        self._lost = lost
        if self._left and lost is not None:
            lost()

    async def receive(self) -> Message:
        raise AssertionError("the request was read already")

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        await self.room.wait()

    async def carry(self, stream: EventStream) -> None:
        async with asyncio.timeout(SECONDS):
            await stream({"type": "http", CONNECTION: self}, self.receive, self.send)

    @property
    def bodies(self) -> list[tuple[bytes, bool]]:
        return [(one["body"], one["more_body"]) for one in self.sent if one["type"] == "http.response.body"]


async def test_pieces_are_written_as_they_come_and_the_answer_is_ended() -> None:
    later, wire = asyncio.Event(), Wire()

    async def parts(write: Write) -> None:
        await write(b"a")
        await later.wait()
        await write(b"b")

    carrying = asyncio.create_task(wire.carry(EventStream(parts)))
    await eventually(lambda: wire.bodies)
    later.set()
    await carrying
    start = wire.sent[0]
    assert (start["type"], start["status"]) == ("http.response.start", 200)
    assert (b"content-type", b"text/event-stream; charset=utf-8") in start["headers"]
    assert wire.bodies == [(b"a", True), (b"b", True), (b"", False)]


async def test_a_comment_says_that_somebody_is_still_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.web.keepalive.PAUSE_SECONDS", 0.01)
    wire, told = Wire(), asyncio.Event()

    async def parts(write: Write) -> None:
        await told.wait()
        await write(b"a")

    carrying = asyncio.create_task(wire.carry(EventStream(parts)))
    await eventually(lambda: len(wire.bodies) >= 2)
    told.set()
    await carrying
    assert wire.bodies[:2] == [(COMMENT, True)] * 2
    assert wire.bodies[-2:] == [(b"a", True), (b"", False)]


async def test_a_client_that_goes_closes_the_source() -> None:
    wire, closed = Wire(), asyncio.Event()

    async def parts(write: Write) -> None:
        try:
            await write(b"a")
            await asyncio.Event().wait()
        finally:
            closed.set()

    carrying = asyncio.create_task(wire.carry(EventStream(parts)))
    await eventually(lambda: wire.bodies)
    wire.leave()
    await carrying
    assert closed.is_set()
    assert wire.bodies == [(b"a", True)]


async def test_a_client_that_has_gone_before_the_first_word_closes_the_source_too() -> None:
    wire, closed = Wire(), asyncio.Event()
    wire.leave()

    async def parts(_: Write) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()

    await wire.carry(EventStream(parts))
    assert closed.is_set()


async def test_a_reader_who_takes_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.web.keepalive.PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("gateway.web.keepalive.READ_SECONDS", 0.02)
    wire, closed = Wire(), asyncio.Event()
    wire.room.clear()

    async def parts(write: Write) -> None:
        try:
            await write(b"a")
        finally:
            closed.set()

    await wire.carry(EventStream(parts))
    assert closed.is_set()


async def test_a_source_that_fails_leaves_the_answer_without_its_end() -> None:
    wire = Wire()

    async def parts(write: Write) -> None:
        await write(b"a")
        raise RuntimeError("out of words")

    with pytest.raises(RuntimeError, match="out of words"):
        await wire.carry(EventStream(parts))
    assert wire.bodies == [(b"a", True)]


async def test_what_fails_behind_a_client_that_has_gone_is_told_to_the_server() -> None:
    wire = Wire()

    async def parts(write: Write) -> None:
        try:
            await write(b"a")
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("cannot be closed")

    carrying = asyncio.create_task(wire.carry(EventStream(parts)))
    await eventually(lambda: wire.bodies)
    wire.leave()
    with pytest.raises(RuntimeError, match="cannot be closed"):
        await carrying


async def test_a_reader_who_does_not_read_holds_the_source_up() -> None:
    wire, made = Wire(), list[int]()

    async def parts(write: Write) -> None:
        for number in range(10):
            made.append(number)
            await write(b"x")

    wire.room.clear()
    carrying = asyncio.create_task(wire.carry(EventStream(parts)))
    # Not even the head is taken: a source that nobody held up would have gone past this in one step.
    await eventually(lambda: len(made) == 1)
    wire.room.set()
    await carrying
    assert sum(len(body) for body, _ in wire.bodies) == 10
