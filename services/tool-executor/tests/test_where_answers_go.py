"""Where the answer to a call may go, and that something which is no call is answered too."""

import json
from typing import Any

import pytest
from nats.aio.client import Client
from nats.errors import TimeoutError as NatsTimeoutError

from contracts.channels import tool_request
from contracts.envelope import CloudEvent
from contracts.errors import ToolCode
from contracts.events.tool import ToolCallCompleted
from contracts.ids import NOBODY
from contracts.streams import STREAMS
from runtime.bus.publisher import Publisher
from runtime.testing.servers import ValkeyServer
from tool_executor.handlers import is_reply_subject
from tool_executor.testing.harness import Someone, ToolRequester, listen, running_executor

RISK = {"entry_price": 100, "stop_loss_price": 95, "take_profit_price": 115}


@pytest.mark.parametrize(
    ("wrong", "answered_as", "field"),
    [
        ({"arguments": 7}, "bad-1", "arguments"),
        ({"version": "v2"}, "bad-1", "type"),
        ({"callId": "not an id"}, NOBODY, "callId"),
        ({"callId": None}, NOBODY, "callId"),
    ],
)
async def test_something_that_is_no_call_is_answered_and_becomes_a_dead_letter(
    nats_client: Client, valkey_server: ValkeyServer, wrong: dict[str, Any], answered_as: str, field: str
):
    async with running_executor(nats_client, valkey_server.url):
        inbox = await listen(nats_client, "_INBOX.answers")
        dead = await listen(nats_client, "dlq.>")
        version = wrong.get("version", "v1")
        event = {"specversion": "1.0", "id": "1", "source": "/test", "type": f"tools.call.requested.{version}"}
        data: dict[str, Any] = {
            "callId": "bad-1",
            "tool": "calculate_risk_reward",
            "arguments": {},
            "replyTo": "_INBOX.answers",
        }
        body = json.dumps(event | {"data": data | wrong}).encode()
        await Publisher(nats_client).append(tool_request("calculate"), body, stream="TOOLS", msg_id="bad-1")
        answer = CloudEvent[ToolCallCompleted].model_validate_json((await inbox.next_msg(timeout=40)).data).data
        assert answer.call_id == answered_as
        assert answer.result.error is not None
        assert answer.result.error.code == ToolCode.VALIDATION_ERROR
        assert [problem.field for problem in answer.result.error.fields or []] == [field]
        assert (await dead.next_msg(timeout=40)).subject.startswith("dlq.tool-executor.TOOLS.")


async def test_an_answer_is_never_sent_into_the_trees_of_nexus(nats_client: Client, asker: ToolRequester):
    forged = await listen(nats_client, "live.>")
    await asker.send("calculate_risk_reward", RISK, Someone(), reply_to="live.chat.demo.c1.message.assistant.v1")
    facts = await listen(nats_client, "tools.call.completed.v1.>")
    await asker.call("calculate_risk_reward", RISK)
    await facts.next_msg(timeout=40)
    with pytest.raises(NatsTimeoutError):
        await forged.next_msg(timeout=0.05)


@pytest.mark.parametrize(
    ("subject", "fine"),
    [
        ("_INBOX.abc.1", True),
        ("_INBOX.shop.answers", True),
        ("my.answers", False),
        ("_INBOX", False),
        ("_INBOX.>", False),
        ("chat.demo.c1.message.assistant.v1", False),
        ("$JS.API.STREAM.DELETE.CHAT", False),
        ("a.*.b", False),
        ("a.>", False),
        ("a..b", False),
        ("a b", False),
        ("", False),
    ],
)
def test_where_answers_may_be_sent(subject: str, fine: bool):
    assert is_reply_subject(subject) is fine


@pytest.mark.parametrize("subject", [subject for stream in STREAMS for subject in stream.subjects])
def test_an_answer_can_never_land_in_a_stream(subject: str):
    assert not is_reply_subject(subject.replace("*", "x").replace(">", "x"))
