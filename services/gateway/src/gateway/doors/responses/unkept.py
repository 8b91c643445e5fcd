"""Responses that keep nothing but the usage fact: the caller brings all that was said, and may bring tools of its own.

They are completions (web/completions.py) in other clothes.
"""

from collections.abc import AsyncGenerator
from typing import Any

from pydantic import ValidationError

from contracts.completion_rpc import CompleteRequest, CompletionEnd
from contracts.languages import Language
from contracts.wrong_fields import message_of
from gateway.domain import chat_completions as chat
from gateway.domain.text_shape import TextShape
from gateway.doors.responses.requests import ChosenFunction, CreateResponse, InputItem, bad, is_echo, text_of
from gateway.doors.responses.response_events import Json, ResponseEvents
from gateway.errors import Refused, Unavailable
from gateway.ports import TokenCaller
from gateway.web.completions import shaped
from gateway.web.deps import Api


def request_of(
    body: CreateResponse, *, company: str, request_id: str, principal: str, language: Language | None
) -> tuple[TextShape | None, CompleteRequest]:
    """The shape of the text, and the request to an agent; raises Refused BAD_FIELD, naming the parameter."""
    messages: list[dict[str, Any]] = []
    if body.instructions:
        messages.append({"role": "system", "content": body.instructions})
    for index, item in enumerate(body.items):
        _add(messages, item, f"input[{index}]")
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
    form: dict[str, Any] = {"type": body.format.type, "json_schema": {"schema": body.format.json_schema}}
    try:
        completion = chat.ChatCompletionRequest.model_validate(asked | {"response_format": form})
        return chat.shape_of(completion), chat.request_of(
            completion,
            company=company,
            request_id=request_id,
            principal=principal,
            language=language,
        )
    except ValidationError as error:
        raise bad("input", f"{message_of(error.errors()[0])}, with the instructions") from None
    except Refused as error:
        # Said of the messages that were made of the input.
        field = error.fields[0].field if error.fields else "input"
        name = {"messages": "input", "response_format": "text.format.schema"}.get(
            field.partition("[")[0].partition(".")[0], field
        )
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


async def events(
    api: Api, caller: TokenCaller, asked: CompleteRequest, telling: ResponseEvents, shape: TextShape | None
) -> AsyncGenerator[Json]:
    """The protocol's events to the end."""
    for one in telling.begin():
        yield one
    end: CompletionEnd | None = None
    texts: list[str] = []
    if shape is not None:
        text, end = await shaped(api, caller, asked, shape)
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
