"""Checks that a caller's messages fit into the model's window, before anything is requested and paid for."""

from agent.adapters.encodings import Encodings
from agent.domain.context.tokens import token_upper_bound
from agent.errors import HelpRefusedError
from agent.ports import ModelRequest
from contracts.completion_rpc import CONTEXT_LENGTH

MANY = 20_000
"""Characters that are counted on the event loop; more go to a thread."""


async def check_fits(prompt: ModelRequest, encoders: Encodings, model: str, window: int) -> None:
    """Raises HelpRefusedError (BAD_FIELD, reason CONTEXT_LENGTH).

    Args:
        prompt: the first one: instructions and tools of ours, and all that the caller brought.
        window: the model's tokens, for prompt and answer together.
    """
    counter = await encoders.counter(model)
    tools = counter.tools(prompt.tools)
    if token_upper_bound(prompt.messages) + tools + prompt.max_tokens <= window:
        return
    uncounted = counter.uncounted(prompt.messages)
    if sum(map(len, uncounted)) > MANY:
        await encoders.count(model, uncounted)
    asked = counter.messages(prompt.messages) + tools
    if asked + prompt.max_tokens > window:
        message = (
            f"messages: this model's context length is {window} tokens. However, {asked + prompt.max_tokens} were "
            f"requested: {asked} in the messages and tools, {prompt.max_tokens} for the answer. Send less"
        )
        raise HelpRefusedError("BAD_FIELD", message, reason=CONTEXT_LENGTH)
