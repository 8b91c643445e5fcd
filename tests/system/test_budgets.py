"""A company's budget in the whole stack: turns that run side by side do not pass it."""

import asyncio
from pathlib import Path

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import scripted_model
from contracts import channels
from contracts.channels import ChatKind
from contracts.envelope import CloudEvent
from contracts.events.chat import VisitorMessage
from contracts.ids import uuid7
from nexus_cli.drill.log_reader import read_log
from runtime.bus.connection import connect
from runtime.bus.publisher import Publisher
from runtime.settings import NatsSettings
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

TURNS = 64
LIMIT = 3_000
USED = 120
"""Tokens that the scripted model counts for each call."""
LARGEST = 600
"""More than any of these calls reserves: a short prompt, and fifty tokens of answer."""


async def test_64_parallel_turns_pass_the_companys_budget_by_less_than_one_reservation(tmp_path: Path) -> None:
    slow = ScriptedReply(tokens=20, prompt_tokens=USED - 20, first_token_ms=150)
    async with scripted_model(default=slow) as model, RunningStack(tmp_path, model.environment) as stack:
        await stack.create_company(
            "thrifty",
            aiAutoResponseEnabled=True,
            responseDelayMs=0,
            maxResponseTokens=50,
            budget={"dailyTokens": LIMIT, "whenSpent": "text", "fallbackText": "Enough for today."},
        )
        answered, refused = await _answers(stack.facts()["urls"]["nats"])
        assert answered + refused == TURNS
        assert answered == len(model.asked)
        assert 0 < answered * USED < LIMIT + LARGEST
        # What was reserved and not used is free again once memory has heard of it, some seconds later: in the end
        # the budget is used up.
        async with asyncio.timeout(90):
            while answered * USED < LIMIT:
                more, _ = await _answers(stack.facts()["urls"]["nats"])
                answered += more
        assert LIMIT <= answered * USED < LIMIT + LARGEST


async def _answers(bus: str) -> tuple[int, int]:
    """64 conversations begin at once; how many are answered, and how many are told that the budget is spent."""
    client = await connect(NatsSettings(url=bus), name="visitors")
    publisher = Publisher(client)
    conversations = [uuid7() for _ in range(TURNS)]

    async def write(conversation: str) -> None:
        data = VisitorMessage(message_id=uuid7(), client_message_id=uuid7(), text="hello", locale="en")
        kind = ChatKind.VISITOR
        await publisher.append(
            channels.chat("thrifty", conversation, kind),
            CloudEvent(source="/test", type=kind.event_type, data=data),
            stream="CHAT",
            msg_id=channels.chat_msg_id("thrifty", conversation, kind, data.message_id),
        )

    async def ends() -> list[str] | None:
        logs = await asyncio.gather(*(read_log(bus, "thrifty", conversation) for conversation in conversations))
        kinds = [facts[-1].kind for facts in logs]
        return kinds if "visitor" not in kinds else None

    try:
        await asyncio.gather(*(write(conversation) for conversation in conversations))
        kinds = await eventually(ends, 30) or []
    finally:
        await client.close()
    return kinds.count("assistant"), kinds.count("system")
