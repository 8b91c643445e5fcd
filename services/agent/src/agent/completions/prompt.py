"""Builds a model request for a completion: our instructions, the caller's messages, and the tool calls of this
answer; and checks that it fits into the model's window, before anything is requested and paid for."""

from agent.adapters.encodings import Encodings
from agent.domain.context.tokens import token_upper_bound
from agent.domain.offered_tool import OfferedTool
from agent.domain.pictures import PICTURES, Picture, PictureSupport
from agent.domain.prompt.copilot import Customer, copilot_sections
from agent.domain.prompt.layers import system_prompt
from agent.domain.prompt.messages import step_messages
from agent.domain.shortcuts.memory_words import memory_wish
from agent.domain.turn.journal import Journal
from agent.errors import HelpRefusedError
from agent.ports import ModelRequest, Requester
from agent.texts import TEXTS
from contracts.company import CompanyConfig
from contracts.completion_rpc import CONTEXT_LENGTH, CompleteRequest, CompletionMessage, CompletionTool
from contracts.context_rpc import FullContext

_ANY: dict[str, object] = {"type": "object", "properties": {}}


def own_tool(tool: CompletionTool) -> OfferedTool:
    """A tool of the caller's as the model is offered it."""
    return OfferedTool(tool.name, tool.description, "", tool.parameters or _ANY, tool.name)


def prompt_for(
    config: CompanyConfig,
    request: CompleteRequest,
    requester: Requester,
    journal: Journal,
    our_tools: tuple[OfferedTool, ...],
    *,
    context: FullContext | None,
    time_limit: float,
    sight: PictureSupport,
) -> ModelRequest:
    """Returns the next model request. In the last iteration only the caller's own tools may be called. `context`: what
    is known of the requester; None if memory failed."""
    language = requester.language
    caller_tools = tuple(own_tool(tool) for tool in request.tools)
    is_last = journal.iterations >= config.tool_config.max_iterations
    if request.tool_choice == "none":
        our_tools, caller_tools = (), ()
    elif request.tool_choice == "required" or (is_last and caller_tools):
        our_tools = ()
    tools = (*our_tools, *caller_tools)
    system = system_prompt(
        language,
        custom=None,
        visitor=None,
        tool_names=tuple(tool.name for tool in tools),
        copilot=copilot_sections(language, context, Customer(requester.plan, language), company=config),
    )
    messages = [{"role": "system", "content": system}, *(_chat_message(message) for message in request.messages)]
    messages += step_messages(journal.steps)
    if is_last and journal.steps:
        messages.append({"role": "system", "content": TEXTS["prompt.enough"].in_language(language)})
    required = request.tool_choice == "required"
    return ModelRequest(
        messages=messages,
        tools=tools,
        tool_choice="required" if required else "none" if not tools or (is_last and not caller_tools) else "auto",
        tool_name=request.tool_name,
        model=config.preferred_model,
        temperature=config.temperature if request.temperature is None else request.temperature,
        max_tokens=request.max_tokens or config.max_response_tokens,
        time_limit=time_limit,
        language=language,
        facts=_facts(context, requester),
        task="complete",
        company=config,
        stop=tuple(request.stop),
        sampling=request.sampling.model_dump(exclude_none=True) if request.sampling is not None else None,
        parallel_calls=request.parallel_calls,
        sight=sight,
    )


async def check_fits(prompt: ModelRequest, encoders: Encodings, model: str, window: int) -> None:
    """Raises HelpRefusedError (BAD_FIELD, reason CONTEXT_LENGTH) if the prompt is too long.

    Args:
        prompt: the first prompt: our instructions and tools, and everything from the caller.
        window: the model's window in tokens, for prompt and answer together.
    """
    counter = await encoders.counter(model)
    tool_tokens = counter.tools(prompt.tools)
    if token_upper_bound(prompt.messages) + tool_tokens + prompt.max_tokens <= window:
        return
    await encoders.count(model, prompt.messages)
    input_tokens = counter.messages(prompt.messages) + tool_tokens
    if input_tokens + prompt.max_tokens > window:
        message = (
            f"messages: this model's context length is {window} tokens. However, "
            f"{input_tokens + prompt.max_tokens} were "
            f"requested: {input_tokens} in the messages and tools, {prompt.max_tokens} for the answer. Send less"
        )
        raise HelpRefusedError("BAD_FIELD", message, reason=CONTEXT_LENGTH)


def _chat_message(message: CompletionMessage) -> dict[str, object]:
    """Returns the message in the shape of the OpenAI chat API, except for pictures (agent.domain.pictures)."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id or "", "content": message.content}
    chat_message: dict[str, object] = {"role": message.role, "content": message.content}
    if message.pictures:
        chat_message[PICTURES] = tuple(
            Picture(picture.name, picture.type, picture.content) for picture in message.pictures
        )
    if message.calls:
        chat_message["content"] = message.content or None
        chat_message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    return chat_message


def _facts(context: FullContext | None, requester: Requester) -> list[str]:
    """Returns the remembered facts that answer the newest message: all in the context, if it asks for all."""
    if context is None or context.memory is None:
        return []
    wish = memory_wish(requester.said[-1]) if requester.said else None
    if wish is None or wish.kind != "read":
        return list(context.memory.answering)
    return [*context.memory.user_notes, *(context.user.preferences if context.user else ())]
