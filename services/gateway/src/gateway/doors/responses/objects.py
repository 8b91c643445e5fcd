"""The response object (snake_case, as in that API); its required fields are the specification's."""

from typing import Any

from gateway.doors.responses.requests import CreateResponse

Json = dict[str, Any]
_TEXT: Json = {"type": "text"}
_NO_TOOL: Json = {"description": None, "parameters": None, "strict": None}


def new_response(body: CreateResponse | None, identity: str, created: float, *, conversation: str | None) -> Json:
    """A response that has just started. `conversation`: where it is kept; None if it is unkept. `body`: the request;
    None for a response retrieved later, since only the text of the original request is stored."""
    body = body or CreateResponse(input="-")
    choice = body.tool_choice or "auto"
    return {
        "id": identity,
        "object": "response",
        "created_at": int(created),
        "completed_at": None,
        "status": "in_progress",
        "incomplete_details": None,
        "error": None,
        "model": body.model,
        "previous_response_id": body.previous_response_id,
        "conversation": {"id": conversation} if conversation is not None else None,
        "instructions": body.instructions,
        "tools": [_NO_TOOL | tool.model_dump(exclude_unset=True) for tool in body.tools or ()],
        "tool_choice": choice if isinstance(choice, str) else choice.shown(),
        "parallel_tool_calls": body.parallel_tool_calls is not False,
        "truncation": body.truncation or "disabled",
        "text": {"format": _TEXT if body.text is None else body.format.model_dump(by_alias=True, exclude_none=True)},
        "reasoning": {"effort": None, "summary": None},
        "temperature": 1.0 if body.temperature is None else body.temperature,
        "top_p": 1.0 if body.top_p is None else body.top_p,
        "presence_penalty": body.presence_penalty or 0.0,
        "frequency_penalty": body.frequency_penalty or 0.0,
        "top_logprobs": 0,
        "max_output_tokens": body.max_output_tokens,
        "max_tool_calls": None,
        "store": conversation is not None,
        "background": bool(body.background),
        "service_tier": "default",
        "metadata": body.metadata or {},
        "user": None,
        "safety_identifier": None,
        "prompt_cache_key": None,
        "usage": None,
    }
