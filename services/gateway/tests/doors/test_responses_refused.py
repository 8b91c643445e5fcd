"""What /v1/responses does not do, refused by the parameter's name."""

from typing import Any, cast

import openai
import pytest
from openai import AsyncOpenAI

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
