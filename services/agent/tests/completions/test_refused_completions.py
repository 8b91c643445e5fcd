"""Completions that are refused, or break off: who asked is told why."""

import pytest

from agent.scripted_model.script import Rule, ScriptedReply
from agent.testing.company import demo_config
from agent.testing.completions import WEATHER, asking, complete, refused
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import agent, stage
from contracts.company import Budget
from contracts.completion_rpc import CompletionMessage
from runtime.testing.servers import NatsServer


async def test_what_is_refused_says_why(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene, agent(nats_server.url):
        for changes, code, reason in (
            ({"principal": "forged"}, "UNAUTHORIZED", None),
            ({"company_id": "other"}, "UNAUTHORIZED", None),
            ({"model": "gpt-9"}, "NOT_FOUND", "model"),
        ):
            error = await refused(scene.nats, asking(**changes))
            assert (error.code, error.reason) == (code, reason)


async def test_more_than_the_models_window_holds_is_refused_before_it_is_asked(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        # 128,000 tokens are the window of a model that nobody knows.
        fits = "a b c d " * 27_000
        for request in (
            asking(fits * 2),
            asking(messages=[CompletionMessage(role="system", content=fits), *asking(fits).messages]),
            asking(fits, max_tokens=8192, tools=[WEATHER.model_copy(update={"description": fits})]),
        ):
            error = await refused(scene.nats, request)
            assert (error.code, error.reason) == ("BAD_FIELD", "context_length_exceeded")
            assert "context length is 128000 tokens" in error.message
        assert model.asked == []
        assert (await complete(scene.nats, asking(fits))).text == "A scripted answer."


@pytest.mark.parametrize(
    ("budget", "until_when"), [({"daily_tokens": 1}, "day"), ({"visitor_hourly_tokens": 1}, "hour")]
)
async def test_a_spent_budget_says_until_when_and_a_service_has_no_hour(
    nats_server: NatsServer, budget: dict[str, int], until_when: str
) -> None:
    async with scripted_stage(nats_server.url, config=demo_config(budget=Budget.model_validate(budget))) as (
        scene,
        _model,
    ):
        await complete(scene.nats, asking())
        error = await refused(scene.nats, asking())
        assert (error.code, error.reason) == ("RATE_LIMITED", until_when)
        if until_when == "hour":
            got = await complete(scene.nats, asking(principal="service/pro/crm"))
            assert got.text == "A scripted answer."


async def test_a_model_that_breaks_off_is_asked_again_unless_its_words_are_out(nats_server: NatsServer) -> None:
    broken = ScriptedReply(text="one two three four", cut_after=2, token_ms=80)
    async with scripted_stage(nats_server.url, Rule(replies=[broken, ScriptedReply(text="whole"), broken])) as (
        scene,
        model,
    ):
        assert (await complete(scene.nats, asking(stream=False))).text == "whole"
        error = await refused(scene.nats, asking())
        assert (error.code, error.retryable) == ("UNAVAILABLE", True)
        assert len(model.asked) == 3
