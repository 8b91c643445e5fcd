"""What a company used and what it costs, to the token: the model's own count, the price list, the day's budget, which
turns that run side by side do not pass."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from agent.adapters.price_table import prices
from agent.domain.turn.journal import TokenCount
from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from contracts import channels
from contracts.channels import ChatKind
from contracts.envelope import CloudEvent
from contracts.events.chat import VisitorMessage
from contracts.ids import uuid7
from gateway.testing.http import Http
from nexus_cli.drill.log_reader import read_log
from runtime.bus.connection import connect
from runtime.bus.publisher import Publisher
from runtime.settings import NatsSettings
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="module")
MODEL = "llama-3.3-70b-versatile"
ANSWER = ScriptedReply(text="one two three four", prompt_tokens=1_000)
TURNS = 64
LIMIT = 3_000
USED = 120
"""Tokens that the scripted model counts for each call."""
LARGEST = 600
"""More than any of these calls reserves: a short prompt, and fifty tokens of answer."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel) -> AsyncIterator[RunningStack]:
    """A stack with a provider that has listed prices."""
    env = {"GROQ_API_KEY": "key-for-tests", "NEXUS_LLM_GROQ_BASE_URL": model.base_url}
    async with RunningStack(tmp_path_factory.mktemp("nexus"), env) as running:
        yield running


async def test_64_parallel_turns_pass_the_companys_budget_by_less_than_one_reservation(
    stack: RunningStack, model: ScriptedModel
) -> None:
    model.say(default=ScriptedReply(tokens=20, prompt_tokens=USED - 20, first_token_ms=150))
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


async def test_usage_is_what_the_model_counted_at_the_listed_price_even_after_a_kill(
    stack: RunningStack, model: ScriptedModel
) -> None:
    model.say(default=ANSWER)
    budget = {"dailyTokens": 50_000}
    await stack.create_company("counted", aiAutoResponseEnabled=True, responseDelayMs=0, budget=budget)
    admin = stack.mint("admin", "root", "counted")
    async with aiohttp.ClientSession() as session:
        http = Http(stack.url, session)

        async def usage(turns: int) -> Any:
            _, body, _ = await http("GET", "/v2/usage", token=admin)
            return body if body["days"] and body["days"][0]["turns"] == turns else None

        async with stack.visit("counted", locale="en") as visitor:
            for question in ("first", "second"):
                assert (await visitor.ask(question))["text"] == "one two three four"
            _check(await eventually(lambda: usage(2)), 2)
            # Whoever settles and counts dies; what is asked meanwhile is counted by its successor, once.
            dead = stack.kill("memory")
            assert (await visitor.ask("third", 40))["text"] == "one two three four"
            await stack.back("memory", dead)
            _check(await eventually(lambda: usage(3)), 3)
        status, body, _ = await http("GET", "/v2/usage?from=2020-01-01&to=2020-01-31", token=admin)
        assert (status, body["days"], body["budget"]["usedToday"]) == (200, [], 3 * 1_004)


def _check(usage: dict[str, Any], turns: int) -> None:
    (day,) = usage["days"]
    cost = prices()["groq", MODEL].cost(TokenCount(1_000, 4)) * turns
    assert cost > 0
    assert day == {
        "date": datetime.now(UTC).date().isoformat(),
        "turns": turns,
        "promptTokens": 1_000 * turns,
        "completionTokens": 4 * turns,
        "cost": pytest.approx(cost),
        "currency": "USD",
        "unpricedTokens": None,
    }
    assert usage["budget"] == {"dailyTokens": 50_000, "usedToday": 1_004 * turns}


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
        kinds = await eventually(ends) or []
    finally:
        await client.close()
    return kinds.count("assistant"), kinds.count("system")
