"""The agent's own steps beside a memory that answers nothing."""

import asyncio
import json
from typing import Any, cast

import pytest
from nats.aio.client import Client

from agent.adapters import own_calls
from agent.adapters.hand_offs import HandOffs
from agent.adapters.own_calls import BusOwnCalls
from agent.domain.shortcuts.steps import FORGET, REMEMBER
from agent.domain.turn.journal import TurnCall
from agent.ports import ConversationKey, Requester
from contracts.errors import ErrorCode
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

CHANGE_SECONDS = 0.5
QUESTION_SECONDS = 0.3
"""More than half: the second question must not get as long as the first."""


class SilentMemory(RpcClient):
    """Answers nothing, and keeps how long each question was given."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.given: list[float] = []

    async def call(self, method: Any, request: Any, *, deadline: float = 0, retries: int = 1) -> Any:
        self.given.append(deadline)
        await asyncio.sleep(deadline)
        raise RpcError(ErrorCode.TIMEOUT, "no reply")


@pytest.mark.parametrize(
    ("tool", "arguments"), [(REMEMBER, {"note": "bonds"}), (FORGET, {"about": "bonds"}), (FORGET, {"everything": True})]
)
async def test_a_change_of_a_silent_memory_is_given_up_within_its_limit(
    nats_client: Client, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, Any]
) -> None:
    monkeypatch.setattr(own_calls, "CHANGE_SECONDS", CHANGE_SECONDS)
    monkeypatch.setattr(own_calls, "MEMORY_SECONDS", QUESTION_SECONDS)
    monkeypatch.setattr(own_calls, "RETRY_PAUSE_SECONDS", 0.01)
    memory = SilentMemory(nats_client)
    requester = Requester(principal=None, role="user", plan="pro", user="u1", language="en")
    call = TurnCall("c1", tool, json.dumps(arguments))
    outcome = json.loads(
        await BusOwnCalls(memory, cast("HandOffs", None)).outcome(ConversationKey("acme", "c"), call, requester)
    )
    assert outcome["success"] is False
    assert len(memory.given) > 1
    assert sum(memory.given) < CHANGE_SECONDS + 0.1, memory.given
