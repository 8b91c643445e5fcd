"""Whatever a model sends as arguments, the answer is a result with one of the documented codes."""

import json
from typing import Any

import pytest
from nats.aio.client import Client

from contracts.channels import tool_request
from contracts.envelope import CloudEvent
from contracts.events.tool import ToolCallCompleted
from runtime.bus.publisher import Publisher
from runtime.testing.servers import ValkeyServer
from tool_executor.testing.harness import Someone, listen, running_executor

SIZE = {"capital": 1000, "entry_price": 100, "stop_loss_price": 95, "risk_percent": 0.02}
NO_JSON = ("{", "[" * 5000)
ODD = [
    '{"capital": NaN}',
    '{"capital": Infinity}',
    '{"capital": -1e400}',
    '{"capital": ' + "9" * 400 + "}",
    '{"capital": 1e-400}',
    '{"capital": "\\ud800"}',
    '{"capital": "' + "x" * 100_000 + '"}',
    '{"capital": ' + "[" * 100 + "]" * 100 + "}",
    '{"": {}, "a.b": 1, "capital": null}',
    '{"capital": true}',
    "[]",
    "null",
    '"text"',
    *NO_JSON,
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
async def test_odd_arguments_get_an_error_that_says_so(nats_client: Client, valkey_server: ValkeyServer, odd: str):
    async with running_executor(nats_client, valkey_server.url):
        answers = await listen(nats_client, "_INBOX.answers")
        dead = await listen(nats_client, "dlq.>")
        head = {"specversion": "1.0", "id": "1", "source": "/test", "type": "tools.call.requested.v1"}
        data: dict[str, Any] = {"callId": "odd", "tool": "calculate_position_size", "replyTo": "_INBOX.answers"}
        data["principal"] = Someone().principal
        text = json.dumps(head | {"data": data | {"arguments": "ARGUMENTS"}})
        merged = odd if not odd.startswith('{"') else json.dumps(SIZE)[:-1] + ", " + odd[1:]
        body = text.replace('"ARGUMENTS"', merged).encode()
        await Publisher(nats_client).append(tool_request("calculate"), body, stream="TOOLS", msg_id="odd")
        if odd in NO_JSON:
            assert (await dead.next_msg(timeout=40)).subject.startswith("dlq.tool-executor.TOOLS.")
            return
        result = (
            CloudEvent[ToolCallCompleted].model_validate_json((await answers.next_msg(timeout=40)).data).data.result
        )
        assert result.error is not None
        assert result.error.code == "VALIDATION_ERROR", result.error
