"""What a company used and what it costs, to the token: the model's own count, the price list, the day's budget."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent.adapters.price_table import prices
from agent.domain.turn.journal import TokenCount
from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import scripted_model
from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

MODEL = "llama-3.3-70b-versatile"
ANSWER = ScriptedReply(text="one two three four", prompt_tokens=1_000)


async def test_usage_is_what_the_model_counted_at_the_listed_price_even_after_a_kill(tmp_path: Path) -> None:
    async with scripted_model(default=ANSWER) as model, aiohttp.ClientSession() as session:
        env = {"GROQ_API_KEY": "key-for-tests", "NEXUS_LLM_GROQ_BASE_URL": model.base_url}
        async with RunningStack(tmp_path, env) as stack:
            http = Http(stack.url, session)
            budget = {"dailyTokens": 50_000}
            await stack.create_company("counted", aiAutoResponseEnabled=True, responseDelayMs=0, budget=budget)
            admin = stack.mint("admin", "root", "counted")

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
                _check(await eventually(lambda: usage(3), 45), 3)
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
