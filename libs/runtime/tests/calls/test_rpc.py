"""Requests and replies, on a real server."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import orjson
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.envelope import Wire
from contracts.errors import FieldFault
from contracts.rpc import Rpc
from runtime.bus.connection import subscribe
from runtime.calls.deadlines import HEADER, PART_SHARE, part_deadline, time_left
from runtime.calls.rpc import MAX_REPEATS, REPEATS_PER_ANSWER, RpcClient, RpcServer
from runtime.errors import RpcError
from runtime.testing.servers import eventually


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
    async def unavailable() -> bool:
        with pytest.raises(RpcError) as raised:
            await RpcClient(nats_client).call(DOUBLE, Ask(how_many=1), deadline=1.0)
        assert raised.value.retryable
        # A request that is still out as the time ends may have been seen by somebody.
        return raised.value.code == "UNAVAILABLE"

    assert await eventually(unavailable)


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


async def test_a_long_call_that_no_server_takes_ends_early_and_has_begun_nothing(
    nats_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while the service or the bus is paused."""
    monkeypatch.setattr("runtime.calls.rpc.REACH_DEADLINE", 3.0)
    seen: list[Msg] = []

    async def silent(message: Msg) -> None:
        seen.append(message)

    await subscribe(nats_client, UNSAFE.subject, silent, queue="test")
    with pytest.raises(RpcError) as raised:
        await RpcClient(nats_client).call(UNSAFE, Ask(how_many=1), deadline=3600)
    assert raised.value.code == "TIMEOUT"
    assert len(seen) == 2
    assert all((message.headers or {})[HEADER].startswith("0 ") and not message.data for message in seen)


async def test_a_long_call_is_made_once(nats_client: Client) -> None:
    asked: list[int] = []

    async def note(request: Ask) -> Answer:
        asked.append(request.how_many)
        return Answer(as_text="noted")

    await RpcServer(nats_client).serve(UNSAFE, note)
    assert (await RpcClient(nats_client).call(UNSAFE, Ask(how_many=7), deadline=60)).as_text == "noted"
    assert asked == [7]


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


class Asked:
    """Requests of one method as they pass on the bus, whoever serves it."""

    def __init__(self) -> None:
        self.messages: list[Msg] = []

    async def listen(self, client: Client, method: Rpc[Any, Any] = DOUBLE) -> None:
        async def note(message: Msg) -> None:
            self.messages.append(message)

        await subscribe(client, method.subject, note)

    async def times(self, count: int) -> None:
        await eventually(lambda: len(self.messages) >= count)


async def test_every_attempt_has_a_reply_name_of_its_own_and_the_late_answer_of_the_first_counts(
    nats_client: Client,
) -> None:
    asked = Asked()
    await asked.listen(nats_client)
    call = asyncio.create_task(RpcClient(nats_client).call(DOUBLE, Ask(how_many=1), deadline=10))
    await asked.times(2)
    first, second = asked.messages[:2]
    assert first.reply != second.reply
    await nats_client.publish(first.reply, b'{"data":{"asText":"late"}}')
    assert (await asyncio.wait_for(call, 20)).as_text == "late"


async def test_a_repeat_that_is_refused_does_not_cost_the_first_answer(nats_client: Client) -> None:
    asked = Asked()
    await asked.listen(nats_client)

    async def slow(request: Ask) -> Answer:
        await asked.times(2)
        await nats_client.flush()  # by now the second has been refused
        return Answer(as_text="first")

    await RpcServer(nats_client, in_flight=1).serve(DOUBLE, slow)
    answer = await RpcClient(nats_client).call(DOUBLE, Ask(how_many=1), deadline=4)
    assert (answer.as_text, len(asked.messages)) == ("first", 2)


async def test_a_server_that_is_slow_does_not_get_twice_the_load(nats_client: Client) -> None:
    asked = Asked()
    await asked.listen(nats_client)
    await nats_client.flush()
    client = RpcClient(nats_client)
    calls = [client.call(DOUBLE, Ask(how_many=1), deadline=1.0) for _ in range(50)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert {isinstance(outcome, RpcError) and outcome.code for outcome in outcomes} == {"TIMEOUT"}
    assert len(asked.messages) == 50 + int(MAX_REPEATS)

    await RpcServer(nats_client).serve(DOUBLE, double)
    for _ in range(round(2 / REPEATS_PER_ANSWER)):
        await client.call(DOUBLE, Ask(how_many=1), deadline=20)
    assert client.repeats_left(DOUBLE) == pytest.approx(2)


async def test_a_request_whose_caller_has_gone_is_not_read(nats_client: Client) -> None:
    served: list[int] = []

    async def note(request: Ask) -> Answer:
        served.append(request.how_many)
        return Answer(as_text="")

    await RpcServer(nats_client).serve(DOUBLE, note)
    now = int(time.monotonic() * 1000)
    for number, header in enumerate(
        (f"2000 me {now}", f"2000 me {now - 60_000}", f"99000 me {now - 60_000}", "0", "7000")
    ):
        raw = await nats_client.request(
            DOUBLE.subject, b'{"howMany":%d}' % number, headers={HEADER: header}, timeout=10
        )
        error = orjson.loads(raw.data).get("error")
        assert (error is not None) == (number in (1, 3)), number
        assert error is None or (error["code"], error["reason"], error["retryable"]) == ("TIMEOUT", "expired", True)
    assert served == [0, 2, 4]


async def test_a_caller_that_is_wrongly_taken_for_gone_is_answered_all_the_same(nats_client: Client) -> None:
    asked = Asked()
    await asked.listen(nats_client, UNSAFE)
    await RpcServer(nats_client).serve(UNSAFE, double)
    client = RpcClient(nats_client)
    assert (await client.call(UNSAFE, Ask(how_many=1), deadline=10)).as_text == "2"
    _, origin, sent = (asked.messages[0].headers or {})[HEADER].split()
    # As after a machine stood still: all that this caller sends seems to come 100 s late.
    ahead = {HEADER: f"5000 {origin} {int(sent) + 100_000}"}
    await nats_client.request(UNSAFE.subject, b'{"howMany":5}', headers=ahead, timeout=10)
    assert (await client.call(UNSAFE, Ask(how_many=2), deadline=10)).as_text == "4"
    assert (await client.call(UNSAFE, Ask(how_many=3), deadline=10)).as_text == "6"
    assert len(asked.messages) == 1 + 1 + 2 + 1


async def test_nothing_is_worked_on_for_longer_than_its_caller_waits(nats_client: Client) -> None:
    given: list[float | None] = []
    ended = asyncio.Event()

    async def hangs(request: Ask) -> Answer:
        given.extend((time_left(), part_deadline(30.0)))
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return Answer(as_text="")

    await RpcServer(nats_client).serve(UNSAFE, hangs)
    with pytest.raises(RpcError) as raised:
        await RpcClient(nats_client).call(UNSAFE, Ask(how_many=1), deadline=1.0)
    assert raised.value.code == "TIMEOUT"
    await asyncio.wait_for(ended.wait(), 20)
    left, share = given
    assert left is not None
    assert share is not None
    assert share <= PART_SHARE * 1.0 < left <= 1.0


async def test_a_server_that_was_swamped_sheds_the_newest_and_recovers_by_itself(nats_client: Client) -> None:
    stuck = asyncio.Event()

    async def as_fast_as_its_store(request: Ask) -> Answer:
        await stuck.wait()
        return Answer(as_text="done")

    await RpcServer(nats_client, in_flight=8).serve(UNSAFE, as_fast_as_its_store)
    client = RpcClient(nats_client)
    calls = [client.call(UNSAFE, Ask(how_many=1), deadline=1.0) for _ in range(20)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    codes = [(outcome.code, outcome.retryable) for outcome in outcomes if isinstance(outcome, RpcError)]
    assert sorted(codes) == [("TIMEOUT", False)] * 8 + [("UNAVAILABLE", True)] * 12
    stuck.set()
    assert (await client.call(UNSAFE, Ask(how_many=1), deadline=20)).as_text == "done"


class PageAsk(Wire):
    limit: int = 50


async def test_a_page_that_is_too_large_for_the_bus_is_answered_shorter(nats_client: Client) -> None:
    method = Rpc("rpc.test.page.v1", PageAsk, Answer, queue="test")
    row = "x" * (nats_client.max_payload // 10)

    async def page(request: PageAsk) -> Answer:
        return Answer(as_text=row * request.limit)

    await RpcServer(nats_client).serve(method, page)
    assert len((await RpcClient(nats_client).call(method, PageAsk(limit=50))).as_text) == 6 * len(row)


async def test_a_reply_that_never_fits_is_an_error_at_once(nats_client: Client) -> None:
    async def everything(_: Ask) -> Answer:
        return Answer(as_text="x" * nats_client.max_payload)

    await RpcServer(nats_client).serve(DOUBLE, everything)
    with pytest.raises(RpcError, match="more than the bus carries") as refused:
        await RpcClient(nats_client).call(DOUBLE, Ask(how_many=1))
    assert refused.value.code == "INTERNAL"
