"""Every log line says whose work it was written in, also in the service that was asked, and when the work failed."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import structlog
from nats.aio.client import Client
from pydantic import BaseModel

from contracts.envelope import Wire
from contracts.rpc import Rpc
from runtime.bus.consumers import ConsumerSpec
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import RpcClient, RpcServer
from runtime.calls.single_flight import SingleFlight
from runtime.errors import RpcError
from runtime.observability import correlation, telemetry
from runtime.observability.logging import configure
from runtime.settings import LogSettings
from runtime.testing.servers import eventually
from runtime.workers.batch_worker import BatchWorker, each_event
from runtime.workers.outcomes import Ack, Outcome
from runtime.workers.pull_worker import Delivery, PullWorker

IDS = {"company": "acme", "conversation": "c-1", "turn": "t-1"}
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
log = structlog.get_logger("test")


class Text(Wire):
    text: str


class Thing(BaseModel):
    name: str


ECHO = Rpc("rpc.test.echo.v1", Text, Text, queue="test")


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    out = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure("memory", LogSettings(format="json", level="debug"), stream=out)
    yield out
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def said(out: io.StringIO, event: str) -> list[dict[str, Any]]:
    found = (json.loads(line) for line in out.getvalue().splitlines())
    return [line for line in found if line["event"] == event]


def ids(line: dict[str, Any]) -> dict[str, Any]:
    return {name: line.get(name, "") for name in (*IDS, "trace")}


async def test_a_call_carries_whose_work_it_is_to_where_it_is_served(nats_streams: Client, lines: io.StringIO) -> None:
    async def echo(request: Text) -> Text:
        log.info("served")
        if request.text == "broken":
            raise ValueError("broken")
        return request

    await RpcServer(nats_streams).serve(ECHO, echo)
    with correlation.Correlation(**IDS), telemetry.remote_span("outside", PARENT):
        await RpcClient(nats_streams).call(ECHO, Text(text=""))
        with pytest.raises(RpcError):
            await RpcClient(nats_streams).call(ECHO, Text(text="broken"))
    await RpcClient(nats_streams).call(ECHO, Text(text="nobody's"))
    first, second, last = said(lines, "served")
    assert ids(first) == ids(second) == {**IDS, "trace": TRACE}
    assert ids(last) == {"company": "", "conversation": "", "turn": "", "trace": ""}
    assert [ids(line) for line in said(lines, "rpc.failed")] == [{**IDS, "trace": TRACE}]


async def test_what_work_learns_is_known_to_what_it_began_and_to_whoever_reports_that_it_failed(
    nats_streams: Client, lines: io.StringIO
) -> None:
    async def handle(_: Delivery) -> Outcome:
        opened = asyncio.Event()

        async def beside() -> None:
            await opened.wait()
            log.info("beside")

        task = asyncio.create_task(beside())
        correlation.add_ids(turn="t-1")
        opened.set()
        await task
        raise ValueError("broken")

    worker = PullWorker(nats_streams, "TOOLS", "failing", ["tools.call.requested.v1.*"], handle)
    await worker.start()
    with correlation.Correlation("acme", "c-1"), telemetry.remote_span("outside", PARENT):
        await Publisher(nats_streams).append("tools.call.requested.v1.x", b"", stream="TOOLS", msg_id="1")
    failed = await eventually(lambda: said(lines, "pull.handler_failed"))
    assert ids(failed[0]) == ids(said(lines, "beside")[0]) == {**IDS, "trace": TRACE}
    await worker.drain()


async def test_each_of_a_batch_is_its_own_work(nats_streams: Client, lines: io.StringIO) -> None:
    async def take(_: Delivery, thing: Thing) -> Outcome:
        log.info("taken", name=thing.name)
        return Ack()

    spec = ConsumerSpec("FACTS", "memory-things", ("feedback.given.v1.acme.-",))
    for name in ("t-1", "t-2"):
        with correlation.Correlation("acme", "c-1", name):
            body = Thing(name=name).model_dump_json().encode()
            await Publisher(nats_streams).append(spec.subjects[0], body, stream="FACTS", msg_id=name)
    worker = BatchWorker(nats_streams, spec, each_event(Thing, take), service="memory")
    await worker.start()
    await eventually(lambda: len(said(lines, "taken")) == 2)
    assert all(line["turn"] == line["name"] for line in said(lines, "taken"))
    await worker.drain()


async def test_work_for_many_is_nobodys(lines: io.StringIO) -> None:
    flights: SingleFlight[None] = SingleFlight()

    async def shared() -> None:
        log.info("shared")

    with correlation.Correlation(**IDS):
        await flights.result("one", shared)
        log.info("own")
    assert not {*IDS} & said(lines, "shared")[0].keys()
    assert {*IDS} <= said(lines, "own")[0].keys()


@pytest.mark.parametrize(
    ("header", "known"),
    [
        ("nexus=acme/c-1/t-1", ("acme", "c-1", "t-1")),
        ("other=1;p, nexus=acme//;p=1", ("acme", "", "")),
        ("nexus=a b/../%0a", ("", "", "")),
        ("nexus=" + "x" * 65, ("", "", "")),
        ("nexus=a/b/c/d", ("a", "b", "c")),
        ("", ("", "", "")),
    ],
)
def test_what_is_no_id_goes_into_no_log(header: str, known: Sequence[str]) -> None:
    with correlation.received({"baggage": header}) as found:
        assert (found.company, found.conversation, found.turn) == known


def test_a_path_that_nobody_has_checked_goes_into_no_header() -> None:
    with correlation.Correlation():
        correlation.begin("acme", "c\r\nNats-Msg-Id: 1")
        assert correlation.baggage() == {"baggage": "nexus=acme//"}
