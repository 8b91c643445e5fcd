"""Requests and replies, on a real server."""

from __future__ import annotations

import asyncio

import orjson
import pytest
from nats.aio.client import Client

from contracts.envelope import Wire
from contracts.errors import FieldFault
from contracts.rpc import Rpc
from runtime.errors import RpcError
from runtime.rpc import RpcClient, RpcServer
from runtime.testing import eventually


class Ask(Wire):
    how_many: int


class Answer(Wire):
    as_text: str


DOUBLE = Rpc("rpc.test.double.v1", Ask, Answer, queue="test")
UNSAFE = Rpc("rpc.test.unsafe.v1", Ask, Answer, queue="test", safe=False)
WHO = Rpc("rpc.test.who.v1", Ask, Answer, queue=None)


async def double(request: Ask) -> Answer:
    if request.how_many < 0:
        raise RpcError("NOT_FOUND", "nothing below zero", reason="negative")
    if request.how_many == 0:
        raise ZeroDivisionError
    return Answer(as_text=str(2 * request.how_many))


async def test_a_call_is_answered_in_camel_case(nats_client: Client) -> None:
    await RpcServer(nats_client).serve(DOUBLE, double)
    assert (await RpcClient(nats_client).call(DOUBLE, Ask(how_many=4))).as_text == "8"
    raw = await nats_client.request(DOUBLE.subject, b'{"howMany":3}', timeout=10)
    assert orjson.loads(raw.data) == {"data": {"asText": "6"}}


@pytest.mark.parametrize(
    ("body", "code"),
    [(b'{"howMany":-1}', "NOT_FOUND"), (b'{"howMany":0}', "INTERNAL"), (b"nonsense", "BAD_FIELD"), (b"", "BAD_FIELD")],
)
async def test_every_failure_is_an_error_reply(nats_client: Client, body: bytes, code: str) -> None:
    await RpcServer(nats_client).serve(DOUBLE, double)
    reply = orjson.loads((await nats_client.request(DOUBLE.subject, body, timeout=10)).data)
    assert reply["error"]["code"] == code
    assert "ZeroDivision" not in reply["error"]["message"]


async def test_the_caller_gets_the_error_that_was_answered(nats_client: Client) -> None:
    await RpcServer(nats_client).serve(DOUBLE, double)
    with pytest.raises(RpcError) as raised:
        await RpcClient(nats_client).call(DOUBLE, Ask(how_many=-1))
    assert (raised.value.code, raised.value.reason, raised.value.retryable) == ("NOT_FOUND", "negative", False)


async def test_an_error_says_which_fields_are_wrong(nats_client: Client) -> None:
    faults = [FieldFault(field="toolConfig.maxIterations", message="at most 10")]

    async def refuse(_: Ask) -> Answer:
        raise RpcError("BAD_FIELD", "no", fields=faults)

    await RpcServer(nats_client).serve(DOUBLE, refuse)
    with pytest.raises(RpcError) as raised:
        await RpcClient(nats_client).call(DOUBLE, Ask(how_many=1))
    assert raised.value.fields == tuple(faults)


async def test_a_method_that_nobody_serves_is_unavailable(nats_client: Client) -> None:
    with pytest.raises(RpcError) as raised:
        await RpcClient(nats_client).call(DOUBLE, Ask(how_many=1), deadline=1.0)
    assert (raised.value.code, raised.value.retryable) == ("UNAVAILABLE", True)


async def test_a_server_that_comes_within_the_deadline_is_found(nats_client: Client) -> None:
    call = asyncio.create_task(RpcClient(nats_client).call(UNSAFE, Ask(how_many=1), deadline=20))
    await eventually(lambda: nats_client.stats["in_msgs"])  # the bus has said that nobody is there
    await RpcServer(nats_client).serve(UNSAFE, double)
    assert (await call).as_text == "2"


async def test_a_lost_reply_is_asked_for_again_when_that_is_safe(nats_client: Client) -> None:
    asked: list[str] = []
    never = asyncio.Event()

    async def first_is_lost(request: Ask) -> Answer:
        asked.append("x")
        if len(asked) == 1:
            await never.wait()
        return Answer(as_text="second")

    server = RpcServer(nats_client)
    await server.serve(DOUBLE, first_is_lost)
    assert (await RpcClient(nats_client).call(DOUBLE, Ask(how_many=1), deadline=2.0)).as_text == "second"
    asked.clear()
    await server.serve(UNSAFE, first_is_lost)
    with pytest.raises(RpcError) as raised:
        await RpcClient(nats_client).call(UNSAFE, Ask(how_many=1), deadline=1.0)
    assert (raised.value.code, raised.value.retryable, len(asked)) == ("TIMEOUT", False, 1)
    await server.drain(0)


async def test_only_the_one_that_knows_answers_a_question_to_all(nats_client: Client) -> None:
    async def knows(request: Ask) -> Answer | None:
        return Answer(as_text="me") if request.how_many == 1 else None

    async def knows_nothing(request: Ask) -> Answer | None:
        return None

    server = RpcServer(nats_client)
    await server.serve(WHO, knows_nothing)
    await server.serve(WHO, knows)
    client = RpcClient(nats_client)
    found = await client.ask_all(WHO, Ask(how_many=1), deadline=10)
    assert found is not None
    assert found.as_text == "me"
    assert await client.ask_all(WHO, Ask(how_many=2), deadline=0.1) is None


async def test_too_many_requests_are_refused_and_a_drain_answers_what_it_cannot_finish(nats_client: Client) -> None:
    never = asyncio.Event()
    started = asyncio.Event()

    async def hangs(request: Ask) -> Answer:
        started.set()
        await never.wait()
        return Answer(as_text="")

    server = RpcServer(nats_client, in_flight=1)
    await server.serve(UNSAFE, hangs)
    client = RpcClient(nats_client)
    first = asyncio.create_task(client.call(UNSAFE, Ask(how_many=1)))
    await asyncio.wait_for(started.wait(), 20)
    with pytest.raises(RpcError, match="too many"):
        await client.call(UNSAFE, Ask(how_many=1))
    await server.drain(0.01)
    with pytest.raises(RpcError, match="stopping"):
        await first
