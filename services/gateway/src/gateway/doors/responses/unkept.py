"""Responses that keep nothing but the usage fact: the caller brings all that was said, and may bring tools of its own.

They are completions (web/completions.py) in other clothes; a shape that the text must have is checked here.
"""

import json
from collections.abc import AsyncGenerator
from typing import Any

import jsonschema_rs

from contracts.completion_rpc import CompleteRequest, CompletionEnd
from contracts.languages import Language
from gateway.domain import chat_completions as chat
from gateway.doors.responses.requests import ChosenFunction, CreateResponse, Format, InputItem, bad, is_echo, text_of
from gateway.doors.responses.response_events import Json, ResponseEvents
from gateway.errors import Refused, Unavailable
from gateway.ports import TokenCaller
from gateway.web.completions import collected
from gateway.web.deps import Api

TRIES = 2
"""For a text of the wanted shape."""


def request_of(
    body: CreateResponse, *, company: str, request_id: str, principal: str, language: Language | None
) -> CompleteRequest:
    """The request to an agent; raises Refused BAD_FIELD, naming the parameter."""
    messages: list[dict[str, Any]] = []
    if body.instructions:
        messages.append({"role": "system", "content": body.instructions})
    for index, item in enumerate(body.items):
        _add(messages, item, f"input[{index}]")
    if body.format.type != "text":
        messages.append({"role": "system", "content": _shape(body.format)})
    choice: Any = body.tool_choice
    if isinstance(choice, ChosenFunction):
        choice = {"type": "function", "function": {"name": choice.name or ""}}
    tools = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
        for t in body.tools or ()
    ]
    asked: dict[str, Any] = {"model": body.model, "messages": messages, "stream": bool(body.stream)}
    asked |= {"temperature": body.temperature, "max_completion_tokens": body.max_output_tokens}
    asked |= {"tools": tools or None, "tool_choice": choice}
    try:
        return chat.request_of(
            chat.ChatCompletionRequest.model_validate(asked),
            company=company,
            request_id=request_id,
            principal=principal,
            language=language,
        )
    except Refused as error:
        # Said of the messages that were made of the input.
        field = error.fields[0].field if error.fields else "input"
        name = "input" if field.startswith("messages") else field
        raise bad(name, error.message.partition(": ")[2] or error.message) from None


def _add(messages: list[dict[str, Any]], item: InputItem, at: str) -> None:
    match item.type:
        case "message":
            if item.role is None:
                raise bad(f"{at}.role", "is missing")
            messages.append({"role": item.role, "content": text_of(item.content, f"{at}.content")})
        case "function_call":
            call = {"id": item.call_id or "", "type": "function"}
            call["function"] = {"name": item.name or "", "arguments": item.arguments or ""}  # pyright: ignore[reportArgumentType]
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            messages[-1].setdefault("tool_calls", []).append(call)
        case "function_call_output":
            output = text_of(item.output, f"{at}.output")
            messages.append({"role": "tool", "tool_call_id": item.call_id or "", "content": output})
        case _ if is_echo(item):
            return
        case _:
            raise bad(f"{at}.type", f"there is no {item.type!r} here")


def _shape(form: Format) -> str:
    if form.json_schema is None:
        return "Answer with one JSON object and nothing else."
    return f"Answer with JSON of this JSON Schema and nothing else: {json.dumps(form.json_schema, ensure_ascii=False)}"


def check_schema(form: Format) -> None:
    """Raises Refused BAD_FIELD when what the text is to be checked against is no JSON Schema."""
    if form.json_schema is not None:
        try:
            jsonschema_rs.validator_for(form.json_schema)
        except (ValueError, jsonschema_rs.ValidationError) as error:
            raise bad("text.format.schema", f"is no JSON Schema: {str(error)[:200]}") from None


def misfit(form: Format, text: str) -> str | None:
    """What is wrong with a text of this shape; None: nothing."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return "it is not JSON"
    if form.json_schema is None:
        return None if isinstance(value, dict) else "it is no JSON object"
    wrong = next(iter(jsonschema_rs.validator_for(form.json_schema).iter_errors(value)), None)
    return None if wrong is None else wrong.message[:300]


async def events(
    api: Api, caller: TokenCaller, asked: CompleteRequest, telling: ResponseEvents, form: Format
) -> AsyncGenerator[Json]:
    """The protocol's events to the end."""
    for one in telling.begin():
        yield one
    end: CompletionEnd | None = None
    texts: list[str] = []
    if form.type != "text":
        text, end = await _shaped(api, caller, asked, form)
        texts.append(text)
    else:
        async with api.completions.complete(caller, asked) as parts:
            async for part in parts:
                if part.text is not None:
                    texts.append(part.text)
                    for one in telling.text(part.text):
                        yield one
                end = part.end or end
    if end is None:
        raise Unavailable("the answer has no end: try again")
    said = "".join(texts)
    if said or not end.calls:
        for one in telling.whole(said):
            yield one
    for call in end.calls:
        for one in telling.call(call):
            yield one
    for action in end.actions:
        for one in telling.approval(action):
            yield one
    cut = end.finish_reason == "length"
    details = {"reason": "max_output_tokens"} if cut else None
    now = int(api.clock.now().timestamp())
    status = "incomplete" if cut else "completed"
    for one in telling.end(status, now, end.usage, incomplete_details=details, model=end.model):
        yield one


async def _shaped(api: Api, caller: TokenCaller, asked: CompleteRequest, form: Format) -> tuple[str, CompletionEnd]:
    """A text of the wanted shape, asked for once more when it has not; calls of the caller's tools have no shape."""
    asked = asked.model_copy(update={"stream": False})
    wrong = None
    for attempt in range(TRIES):
        text, end = await collected(api, caller, asked)
        wrong = None if end.calls else misfit(form, text)
        if wrong is None:
            return text, end
        said = [
            {"role": "assistant", "content": text or "-"},
            {"role": "system", "content": f"That does not fit: {wrong}. {_shape(form)}"},
        ]
        again = CompleteRequest.model_validate({**asked.to_wire(), "messages": [*asked.to_wire()["messages"], *said]})
        asked = again.model_copy(update={"request_id": f"{asked.request_id[:60]}-{attempt + 2}"})
    raise Unavailable(f"the model's answer does not fit text.format: {wrong}")
