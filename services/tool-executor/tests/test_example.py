"""examples/announced_tool.py works as it stands, beside a running executor."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from nats.aio.client import Client

from contracts.errors import ToolCode
from runtime.testing.servers import NatsServer, ValkeyServer, eventually
from tool_executor.testing.harness import ToolRequester, running_executor

EXAMPLE = Path(__file__).parents[3] / "examples/announced_tool.py"


def test_the_example_is_short():
    assert len(EXAMPLE.read_text().splitlines()) < 60


async def test_the_example_offers_a_tool_answers_and_takes_it_back(
    nats_server: NatsServer, nats_client: Client, valkey_server: ValkeyServer
):
    async with running_executor(nats_client, valkey_server.url) as executor:
        environment = os.environ | {"NEXUS_NATS_URL": nats_server.url}
        example = subprocess.Popen([sys.executable, str(EXAMPLE)], env=environment)
        try:
            await eventually(lambda: executor.offers.find("convert_distance", "demo"))
            asker = ToolRequester(nats_client)
            result = (await asker.call("convert_distance", {"value": 10, "unit": "km"})).result
            assert result.data == {"value": 6.21371}
            wrong = (await asker.call("convert_distance", {"value": 10, "unit": "parsec"})).result.error
            assert wrong is not None
            assert wrong.code == ToolCode.VALIDATION_ERROR
            example.send_signal(signal.SIGTERM)
            await eventually(lambda: executor.offers.find("convert_distance", "demo") is None)
            await eventually(lambda: example.poll() == 0)
        finally:
            example.kill()
            example.wait(timeout=30)
