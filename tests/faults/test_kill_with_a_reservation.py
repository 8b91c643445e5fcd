"""kill -9 of an agent that has reserved tokens for a model call: they are held until their time is over, then free."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from agent.llm.paid_calls import RESERVATION_MARGIN_SECONDS
from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

LIMIT = 130
"""Of the company and of each of its users: a call is reserved while less than this is used or held."""
ANSWER = ScriptedReply(text="Here you are.", tokens=20, prompt_tokens=100)
USED_UP_AFTER = 2
"""Answers of 120 tokens, until there is nothing left."""
MODEL_SECONDS = 8.0
"""A reservation lasts so long and a margin: another agent has to be up before that."""
LONG = 60.0
SPENT = "Enough for today."


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    """A model of this test alone, in its own event loop."""
    async with scripted_model() as server:
        yield server


@pytest.fixture
async def stack(tmp_path: Path, model: ScriptedModel) -> AsyncIterator[RunningStack]:
    """A stack whose company has little to spend, and whose reservations end soon."""
    soon = {"NEXUS_AGENT_MODEL_SECONDS": str(MODEL_SECONDS), "NEXUS_AGENT_ACK_WAIT_SECONDS": "3"}
    soon |= {"NEXUS_GATEWAY_MESSAGES_PER_VISITOR": "1000", "NEXUS_GATEWAY_MESSAGES_PER_ADDRESS": "1000"}
    budget = {"dailyTokens": LIMIT, "visitorHourlyTokens": LIMIT, "whenSpent": "text", "fallbackText": SPENT}
    async with RunningStack(tmp_path / "nexus", {**model.environment, **soon}) as running:
        await running.create_company("acme", aiAutoResponseEnabled=True, responseDelayMs=0, budget=budget)
        yield running


@pytest.mark.timeout(240)  # the reservation's own time, after a stack and an agent have started
async def test_what_a_killed_agent_had_reserved_is_free_again(stack: RunningStack, model: ScriptedModel) -> None:
    model.say(default=ANSWER.model_copy(update={"first_token_ms": 5000}))
    user, service = stack.mint("user", "u1", "acme"), stack.mint("service", "crm", "acme")
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
        http = Http(stack.url, session)

        async def answered(token: str) -> bool:
            """Whether one more model call is paid for: by the user and the company, or by the company alone."""
            body = {"model": "nexus", "messages": [{"role": "user", "content": "hello"}]}
            status, told, _ = await http("POST", "/v1/chat/completions", token=token, json=body)
            assert status == 200 or told["error"]["code"] == "insufficient_quota", told
            return status == 200

        async with stack.chat(user, locale="en") as client:
            ack = await client.say("what is AAPL trading at?")
            await eventually(lambda: len(model.asked) == 1, LONG)
            dead = stack.kill("agent")
            await stack.back("agent", dead)
            model.say(default=ANSWER)
            assert not await answered(user), "what the dead agent had reserved is still held"
            assert not await answered(service), "of the company too"
            # The turn itself is taken up again, and finds nothing left for now.
            assert (await client.answer_after(ack["seq"], LONG))["text"] == SPENT
        assert len(model.asked) == 1

        await eventually(lambda: answered(user), MODEL_SECONDS + RESERVATION_MARGIN_SECONDS + 10)
        # All of it is free, to the token: as many answers as the limits pay for, of the user and of the company.
        for _ in range(USED_UP_AFTER - 1):
            # What an answer has cost is told a moment after it; until then what was reserved for it counts.
            await eventually(lambda: answered(user), LONG)
        assert not await answered(user)
        assert not await answered(service)
        assert len(model.asked) == 1 + USED_UP_AFTER
