"""What /v1/responses does not do, refused by the parameter's name; errors in the protocol's shapes."""

import asyncio
from datetime import UTC, datetime
from typing import Any, cast

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.responses import Response

from contracts.channels import ChatKind
from contracts.events.chat import SystemMessage
from gateway.domain.budget_windows import seconds_left
from gateway.testing.doors import AnsweringAgent
from gateway.testing.harness import AgentStandIn
from gateway.testing.records import RecordsStandIn
from gateway.testing.services import CompletionsStandIn
from runtime.testing.servers import eventually

WEATHER: Any = {"type": "function", "name": "get_weather", "parameters": {"type": "object"}}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"include": ["web_search_call.results"]}, "include[0]"),
    ({"reasoning": {"effort": "high"}}, "reasoning.effort"),
    ({"text": {"verbosity": "high"}}, "text.verbosity"),
    ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
    ({"tools": [WEATHER], "store": True}, "tools"),
    ({"tools": [WEATHER], "tool_choice": {"type": "web_search"}}, "tool_choice.type"),
    ({"tools": [WEATHER], "tool_choice": {"type": "allowed_tools", "tools": []}}, "tool_choice.tools"),
    (
        {
            "tools": [WEATHER],
            "tool_choice": {"type": "allowed_tools", "tools": [{"type": "function", "name": "other"}]},
        },
        "tool_choice",
    ),
    ({"top_logprobs": 3}, "top_logprobs"),
    ({"conversation": "c"}, "conversation"),
    ({"prompt": {"id": "p"}}, "prompt"),
    ({"max_tool_calls": 3}, "max_tool_calls"),
    ({"extra_body": {"context_management": [{"type": "compaction"}]}}, "context_management"),
    ({"extra_body": {"moderation": {"model": "m"}}}, "moderation"),
    ({"extra_body": {"access_programs": {"cyber": "daybreak_red"}}}, "access_programs"),
    ({"extra_body": {"image": {"context_compression": "enabled"}}}, "image"),
    ({"extra_body": {"seed": "one"}}, "seed"),
    ({"top_p": 1.5}, "top_p"),
    ({"extra_body": {"frequency_penalty": 3}}, "frequency_penalty"),
    ({"parallel_tool_calls": "never"}, "parallel_tool_calls"),
    ({"max_output_tokens": 2**64}, "max_output_tokens"),
    ({"truncation": "some"}, "truncation"),
    ({"truncation": "auto", "store": False}, "truncation"),
    ({"background": True, "store": False}, "background"),
    ({"text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": 7}}}}, "text.format.schema"),
    ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:x"}]}]}, "input[0].content[0]"),
    ({"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]}, "input[0].content[0]"),
    ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, "input[0].content[0]"),
    ({"input": [{"type": "item_reference", "id": "msg_made-up"}]}, "input[0].id"),
    ({"input": [{"type": "mcp_approval_response", "approve": True}]}, "input[0].approval_request_id"),
    (
        {"input": [{"type": "mcp_approval_response", "approval_request_id": "mcpr_x", "approve": "yes"}]},
        "input[0].approve",
    ),
    ({"input": "  "}, "input"),
    ({"input": [{"role": "system", "content": "x" * 5000}] * 2, "store": True}, "instructions"),
]


async def test_what_is_not_done_here_is_refused_by_name(client: AsyncOpenAI) -> None:
    for asked, parameter in REFUSED:
        create = cast("Any", client.responses.create)
        with pytest.raises(openai.BadRequestError) as refused:
            await create(**{"model": "nexus", "input": "hi", **asked})
        assert refused.value.param == parameter


async def test_errors_have_the_protocols_shapes(
    client: AsyncOpenAI, agent: AnsweringAgent, completions: CompletionsStandIn, records: RecordsStandIn
) -> None:
    del completions
    with pytest.raises(openai.AuthenticationError):
        await client.with_options(api_key="nonsense").responses.create(model="nexus", input="x")
    with pytest.raises(openai.NotFoundError) as missing:
        await client.responses.create(model="gpt-9", input="x")
    assert (missing.value.code, missing.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.BadRequestError) as long:
        await client.responses.create(model="nexus", input="x" * 8001, store=True)
    assert (long.value.param, "at most 8000 characters" in long.value.message) == ("input", True)

    async def fails(agent: AnsweringAgent, turn: AgentStandIn, basis: int, text: str) -> None:
        notice = SystemMessage(message_id=f"s{basis}", text="sorry", code=text, turn_id=turn.turn, basis=basis)
        await turn.append(ChatKind.SYSTEM, notice, f"s{basis}")

    agent.answering = fails
    for window, tokens in (("hour", records.daily_tokens), ("day", 100)):
        records.daily_tokens = tokens  # 100 of the company's in a day are used up, too
        with pytest.raises(openai.RateLimitError) as spent:
            await client.responses.create(model="nexus", input="BUDGET_SPENT")
        headers = spent.value.response.headers
        assert (spent.value.code, headers["x-should-retry"]) == ("insufficient_quota", "false")
        assert abs(int(headers["retry-after"]) - seconds_left(window, datetime.now(UTC))) < 30
    with pytest.raises(openai.APIError) as streamed:
        [_ async for _ in await client.responses.create(model="nexus", input="BUDGET_SPENT", stream=True)]
    assert (streamed.value.type, streamed.value.code) == ("too_many_requests", "rate_limit_exceeded")
    with pytest.raises(openai.InternalServerError) as down:
        await client.responses.create(model="nexus", input="LLM_UNAVAILABLE")
    assert down.value.status_code == 503
    stream = await client.responses.create(model="nexus", input="LLM_UNAVAILABLE", stream=True)
    with pytest.raises(openai.APIError):
        async for _ in stream:
            pass
    made = await client.responses.create(model="nexus", input="DEADLINE", background=True)

    async def ended() -> Response | None:
        response = await client.responses.retrieve(made.id)
        return response if response.status != "in_progress" else None

    later = await eventually(ended)
    assert later is not None
    assert later.error is not None
    assert (later.status, later.error.message) == ("failed", "sorry")
    many = [client.responses.create(model="nexus", input=f"{number}", background=True) for number in range(25)]
    limited = [one for one in await asyncio.gather(*many, return_exceptions=True) if isinstance(one, BaseException)]
    assert limited
    for error in limited:
        assert isinstance(error, openai.RateLimitError)
        assert int(error.response.headers["retry-after"]) > 0
