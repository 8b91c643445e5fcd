"""A stream of server-sent events over the ASGI interface alone: what is written, when, and what is closed."""

import asyncio
import gc
from collections.abc import AsyncGenerator

import pytest
from starlette.types import Message

from gateway.web.keepalive import AHEAD, COMMENT, EventStream
from runtime.testing import eventually

SECONDS = 20.0


class Wire:
    """The server's side. `leave`: the client hangs up; `full`: what is written waits."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.leave = asyncio.Event()
        self.room = asyncio.Event()
        self.room.set()

    async def receive(self) -> Message:
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        await self.room.wait()

    async def carry(self, stream: EventStream) -> None:
        async with asyncio.timeout(SECONDS):
            await stream({"type": "http"}, self.receive, self.send)

    @property
    def bodies(self) -> list[tuple[bytes, bool]]:
        return [(one["body"], one["more_body"]) for one in self.sent if one["type"] == "http.response.body"]


async def test_pieces_that_are_ready_together_are_one_write_and_the_last_ends_the_answer() -> None:
    later, wire = asyncio.Event(), Wire()

    async def parts() -> AsyncGenerator[bytes]:
        yield b"a"
        yield b"b"
        await later.wait()
        yield b"c"
        yield b"d"

    carrying = asyncio.create_task(wire.carry(EventStream(parts())))
    await eventually(lambda: wire.bodies)
    later.set()
    await carrying
    start = wire.sent[0]
    assert (start["type"], start["status"]) == ("http.response.start", 200)
    assert (b"content-type", b"text/event-stream; charset=utf-8") in start["headers"]
    assert wire.bodies == [(b"ab", True), (b"cd", False)]


async def test_a_comment_says_that_somebody_is_still_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.web.keepalive.PAUSE", 0.01)
    wire, told = Wire(), asyncio.Event()

    async def parts() -> AsyncGenerator[bytes]:
        await told.wait()
        yield b"a"

    carrying = asyncio.create_task(wire.carry(EventStream(parts())))
    await eventually(lambda: len(wire.bodies) >= 2)
    told.set()
    await carrying
    assert wire.bodies[:2] == [(COMMENT, True)] * 2
    assert wire.bodies[-1] == (b"a", False)


async def test_a_client_that_goes_closes_the_source() -> None:
    wire, closed = Wire(), asyncio.Event()

    async def parts() -> AsyncGenerator[bytes]:
        try:
            yield b"a"
            await asyncio.Event().wait()
        finally:
            closed.set()

    carrying = asyncio.create_task(wire.carry(EventStream(parts())))
    await eventually(lambda: wire.bodies)
    wire.leave.set()
    await carrying
    assert closed.is_set()
    assert wire.bodies == [(b"a", True)]


async def test_a_client_that_has_gone_before_the_first_word_closes_the_source_too() -> None:
    wire, closed = Wire(), asyncio.Event()
    wire.leave.set()

    async def parts() -> AsyncGenerator[bytes]:
        try:
            await asyncio.Event().wait()
            yield b""
        finally:
            closed.set()

    await wire.carry(EventStream(parts()))
    assert closed.is_set()


async def test_a_source_that_fails_leaves_the_answer_without_its_end() -> None:
    wire = Wire()

    async def parts() -> AsyncGenerator[bytes]:
        yield b"a"
        raise RuntimeError("out of words")

    with pytest.raises(RuntimeError, match="out of words"):
        await wire.carry(EventStream(parts()))
    assert wire.bodies == [(b"a", True)]


async def test_what_fails_behind_a_client_that_has_gone_is_logged() -> None:
    wire, told = Wire(), list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(str(context["exception"])))

    async def parts() -> AsyncGenerator[bytes]:
        try:
            yield b"a"
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("cannot be closed")

    carrying = asyncio.create_task(wire.carry(EventStream(parts())))
    await eventually(lambda: wire.bodies)
    wire.leave.set()
    await carrying
    gc.collect()
    assert told == ["cannot be closed"]


async def test_a_reader_who_does_not_read_holds_the_source_up() -> None:
    wire, made = Wire(), list[int]()

    async def parts() -> AsyncGenerator[bytes]:
        for number in range(10 * AHEAD):
            made.append(number)
            yield b"x"

    wire.room.clear()
    carrying = asyncio.create_task(wire.carry(EventStream(parts())))
    # Not even the head is taken: a source that nobody held up would have gone past this in one step.
    await eventually(lambda: len(made) == AHEAD)
    wire.room.set()
    await carrying
    assert sum(len(body) for body, _ in wire.bodies) == 10 * AHEAD
