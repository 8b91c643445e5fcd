"""examples/faststream_service.py over a real bus: what is handled is acknowledged, a failure comes again, and what does
not fit its contract is given up."""

import os
import signal
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from pathlib import Path

import orjson
from nats.aio.client import Client

from contracts.envelope import CloudEvent
from contracts.events.fact import FeedbackGiven
from runtime.bus.publisher import Publisher
from runtime.testing.servers import NatsServer, eventually

EXAMPLE = Path(__file__).parents[3] / "examples/faststream_service.py"
SUBJECT = "feedback.given.v1.demo.-"


async def consumer(client: Client) -> dict[str, int]:
    answer = await client.request("$JS.API.CONSUMER.INFO.FACTS.complaints", b"", timeout=10)
    return orjson.loads(answer.data)


async def test_the_example_keeps_each_complaint_once_it_can(
    nats_server: NatsServer, nats_streams: Client, tmp_path: Path
) -> None:
    complaints = tmp_path / "not there yet" / "complaints.txt"
    environment = os.environ | {"NEXUS_NATS_URL": nats_server.url, "COMPLAINTS": str(complaints)}
    example = await create_subprocess_exec(sys.executable, str(EXAMPLE), env=environment, stdout=PIPE)
    try:
        await eventually(lambda: _is_there(nats_streams))
        given = FeedbackGiven(
            company_id="demo", conversation_id="c-1", message_id="m-1", user_id="u-1", rating="down", reason="too long"
        )
        event = CloudEvent[FeedbackGiven](source="/test", type="feedback.given.v1", data=given)
        bus = Publisher(nats_streams)
        await bus.append(SUBJECT, b'{"data":{"rating":7}}', stream="FACTS", msg_id="1")
        await bus.append(SUBJECT, b"\xff not json", stream="FACTS", msg_id="2")
        await bus.append(SUBJECT, event, stream="FACTS", msg_id="3")
        assert example.stdout is not None
        said = b""
        while b"again in a second" not in said:
            said += await example.stdout.readline()
        complaints.parent.mkdir()
        await eventually(complaints.exists)
        await eventually(lambda: _is_settled(nats_streams))
        assert complaints.read_text() == f"{event.id} m-1 too long\n"
        example.send_signal(signal.SIGTERM)
        said += (await example.communicate())[0]
        assert said.count(b"does not fit its contract") == 2
        assert example.returncode == 0
    finally:
        if example.returncode is None:
            example.kill()
            await example.wait()


async def _is_there(client: Client) -> bool:
    return "config" in await consumer(client)


async def _is_settled(client: Client) -> bool:
    state = await consumer(client)
    return state["num_ack_pending"] == 0 and state["num_pending"] == 0
