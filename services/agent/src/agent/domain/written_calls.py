"""Reads tool calls that a model wrote into its text, as small models do, and servers without a parser for them."""

import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from agent.domain.thoughts import CALLS
from agent.domain.turn.journal import ModelAnswer, RequestedCall
from agent.errors import BadToolCallError
from contracts.expressions import expression
from contracts.json_values import list_of, object_of

_BEGIN = expression(r"<tool_call>|<\|python_tag\|>|\[TOOL_CALLS\]|<function=([\w-]*)>?")
"""Formats of Hermes and Qwen; Llama; Mistral; Llama with the function's name in the tag."""
_JSON = json.JSONDecoder()


def with_written_calls(reply: ModelAnswer, offered: Collection[str]) -> ModelAnswer:
    """Moves calls from the reply's text to its calls; the text before them stays. A reply without any is returned
    unchanged. `offered`: the tools' names; if there are none, a mark later in the text is part of the answer.

    Raises:
        BadToolCallError: a call begins, but cannot be read or names no offered tool.
    """
    text = reply.text.strip()
    if not offered and not text.startswith(CALLS):
        return reply
    begin = _BEGIN.search(text)
    if begin is None:
        stripped = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
        call = _call(_json_value(stripped), offered) if stripped.startswith("{") else None
        return reply if call is None else replace(reply, text="", calls=(call,))
    calls: list[RequestedCall] = []
    for mark in _BEGIN.finditer(text):
        value = _json_value(text[mark.end() :].lstrip())
        values = [{"name": mark[1], "arguments": value}] if mark[1] else list_of(value) or [value]
        for written in values:
            call = _call(written, offered)
            if call is None:
                raise BadToolCallError("a tool call in the text that cannot be read, or of no tool that was offered")
            calls.append(call)
    return replace(reply, text=text[: begin.start()].rstrip(), calls=tuple(calls))


def _json_value(text: str) -> Any:
    """The JSON value at the beginning of a text; None if there is none."""
    try:
        return _JSON.raw_decode(text)[0]
    except (json.JSONDecodeError, RecursionError):
        return None


def _call(value: Any, offered: Collection[str]) -> RequestedCall | None:
    request = object_of(value)
    name, arguments = request.get("name"), request.get("arguments", request.get("parameters"))
    if name not in offered or not isinstance(arguments, dict):
        return None
    return RequestedCall(str(name), json.dumps(arguments, ensure_ascii=False), "")
