"""Calls through a real executor: NATS, Valkey and the whole pipeline, asked from outside."""

import json

from tool_executor.testing import Asker, running_executor
from nats.aio.client import Client

from contracts.envelope import CloudEvent
from contracts.events.tool import ToolCallCompleted
from runtime.testing import ValkeyServer

RISK = {"entry_price": 100, "stop_loss_price": 95, "take_profit_price": 115}


async def test_a_call_is_answered_and_its_completion_is_a_fact(nats_client: Client, valkey_server: ValkeyServer):
    async with running_executor(nats_client, valkey_server.url):
        facts = await nats_client.subscribe("tools.call.completed.v1.>")
        completed = await Asker(nats_client).call("calculate_risk_reward", RISK, call_id="call-1")
        assert completed.result.success
        assert completed.result.data == {
            "side": "long",
            "risk": 5,
            "reward": 15,
            "ratio": 3,
            "break_even_win_rate": 0.25,
        }
        assert completed.result.metadata.cached is False
        fact = await facts.next_msg(timeout=5)
        assert fact.subject == "tools.call.completed.v1.demo.user-1"
        assert CloudEvent[ToolCallCompleted].model_validate_json(fact.data).data == completed
        assert json.loads(fact.data)["data"]["result"]["metadata"].keys() == {"executionTime", "cached"}
