"""Unkept responses, of which only the usage is stored. The caller sends the whole history and may bring tools.

They are completions (doors/completions) in another format.
"""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from pydantic import ValidationError

from contracts.completion_rpc import CompleteRequest, CompletionEnd
from contracts.events.chat import Role, Sampling
from contracts.languages import Language
from contracts.wrong_fields import message_of
from gateway.domain.text_shape import TextShape
from gateway.doors.completions import request as chat
from gateway.doors.completions.parts import completion_parts
from gateway.doors.responses.kept import previous_conversation
from gateway.doors.responses.names import parse_response_id
from gateway.doors.responses.requests import APPROVAL, ChosenTools, CreateResponse, InputItem, is_echo, text_of
from gateway.doors.responses.response_events import Json, ResponseEvents
from gateway.errors import RefusedError, UnavailableError, bad_field
from gateway.ports import TokenCaller
from gateway.web.deps import Api

MAX_EARLIER_MESSAGES = 50
"""Messages of a kept conversation that an unkept response may continue."""


def completion_request(
    body: CreateResponse, *, company: str, request_id: str, principal: str, language: Language | None
) -> tuple[TextShape | None, CompleteRequest]:
    """The text's format, and the request to an agent; raises RefusedError (BAD_FIELD), naming the parameter."""
    if body.truncation == "auto":
        raise bad_field("truncation", "of what is not kept nothing is left out: send less, or keep the conversation")
    messages: list[dict[str, Any]] = []
    if body.instructions:
        messages.append({"role": "system", "content": body.instructions})
    fields = ["instructions"] * len(messages)
    for index, item in enumerate(body.items):
        _add_message(messages, item, f"input[{index}]")
        fields += [f"input[{index}]"] * (len(messages) - len(fields))
    choice: Any = body.tool_choice
    if isinstance(choice, ChosenTools):
        choice = choice.for_completion()
    tools = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
        for t in body.functions
    ]
    parameters: dict[str, Any] = {"model": body.model, "messages": messages, "stream": bool(body.stream)}
    parameters |= {"temperature": body.temperature, "max_completion_tokens": body.max_output_tokens}
    parameters |= {"tools": tools or None, "tool_choice": choice, "parallel_tool_calls": body.parallel_tool_calls}
    parameters |= {name: getattr(body, name) for name in Sampling.model_fields}
    response_format: dict[str, Any] = {"type": body.format.type, "json_schema": {"schema": body.format.json_schema}}
    try:
        completion = chat.ChatCompletionRequest.model_validate(parameters | {"response_format": response_format})
        return chat.text_shape_of(completion), chat.completion_request(
            completion,
            company=company,
            request_id=request_id,
            principal=principal,
            language=language,
            door="responses",
        )
    except ValidationError as error:
        raise bad_field("input", f"{message_of(error.errors()[0])}, with the instructions") from None
    except RefusedError as error:
        field = error.fields[0].field if error.fields else "input"
        raise bad_field(_parameter_name(field, fields), error.message.partition(": ")[2] or error.message) from None


def _parameter_name(field: str, fields: list[str]) -> str:
    """The name in a response of a completion's parameter. `fields`: the field from which each message was made."""
    if (match := re.fullmatch(r"messages\[(\d+)\](\.content.*)?", field)) is not None:
        return fields[int(match[1])] + (match[2] or "")
    names = {"messages": "input", "response_format": "text.format.schema"}
    return names.get(field.partition("[")[0].partition(".")[0], field)


def _add_message(messages: list[dict[str, Any]], item: InputItem, field: str) -> None:
    match item.type:
        case "message":
            if item.role is None:
                raise bad_field(f"{field}.role", "is missing")
            content = _parts(item, field) if item.has_pictures else text_of(item.content, f"{field}.content")
            messages.append({"role": item.role, "content": content})
        case "function_call":
            call = {"id": item.call_id or "", "type": "function"}
            call["function"] = {"name": item.name or "", "arguments": item.arguments or ""}  # pyright: ignore[reportArgumentType]
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            messages[-1].setdefault("tool_calls", []).append(call)
        case "function_call_output":
            output = text_of(item.output, f"{field}.output")
            messages.append({"role": "tool", "tool_call_id": item.call_id or "", "content": output})
        case _ if is_echo(item) or item.type == APPROVAL:
            return
        case _:
            raise bad_field(f"{field}.type", f"there is no {item.type!r} here")


def _parts(item: InputItem, field: str) -> list[dict[str, Any]]:
    """A user's text and pictures as parts of a completion's message."""
    content = item.content if isinstance(item.content, list) else []
    return [
        {"type": "image_url", "image_url": {"url": part.image_url}}
        if part.type == "input_image"
        else {"type": "text", "text": text_of([part], f"{field}.content", first=index)}
        for index, part in enumerate(content)
    ]


async def items_before(api: Api, caller: TokenCaller, body: CreateResponse) -> list[InputItem]:
    """The conversation's items up to the end of the previous response; raises NOT_FOUND unless it is the caller's."""
    response_id = parse_response_id(body.previous_response_id or "")
    conversation = await previous_conversation(api, caller, str(response_id))
    reply = await api.memory.snapshot(
        caller.company, conversation, response_id.question_seq, MAX_EARLIER_MESSAGES, events=False
    )
    items: list[InputItem] = []
    has_reply = False
    for message in reply.messages:
        is_question = message.role.gets_answers
        if is_question and has_reply:
            break
        has_reply = has_reply or (not is_question and message.seq > response_id.question_seq)
        if message.role is not Role.SYSTEM:
            items.append(InputItem(role="user" if is_question else "assistant", content=message.text))
    return items


async def response_events(
    api: Api, caller: TokenCaller, completion: CompleteRequest, progress: ResponseEvents, shape: TextShape | None
) -> AsyncGenerator[list[Json]]:
    """Yields the protocol's events up to the end; those that arrive together are yielded together."""
    yield progress.start()
    end: CompletionEnd | None = None
    texts: list[str] = []
    async with aclosing(completion_parts(api, caller, completion, shape)) as parts:
        async for part in parts:
            if part.text is not None:
                texts.append(part.text)
                yield progress.add_text(part.text)
            end = part.end or end
    if end is None:
        raise UnavailableError("the answer has no end: try again")
    answer_text = "".join(texts)
    last_events = progress.complete_text(answer_text) if answer_text or not end.calls else []
    for call in end.calls:
        last_events += progress.function_call(call)
    for action in end.actions:
        last_events += progress.approval(action)
    is_cut = end.finish_reason == "length"
    details = {"reason": "max_output_tokens"} if is_cut else None
    now = int(api.clock.now().timestamp())
    status = "incomplete" if is_cut else "completed"
    last_events += progress.end(status, now, end.usage, incomplete_details=details, model=end.model)
    yield last_events
