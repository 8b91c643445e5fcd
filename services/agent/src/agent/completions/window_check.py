"""Checks that a caller's messages fit into the model's window, before anything is requested and paid for."""

from agent.adapters.encodings import Encodings
from agent.domain.context.tokens import token_upper_bound
from agent.errors import HelpRefusedError
from agent.ports import ModelRequest
from contracts.completion_rpc import CONTEXT_LENGTH

MAX_INLINE_COUNT_CHARS = 20_000
"""Characters without a cached token count above which counting moves to a thread."""


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
    uncounted = counter.uncounted(prompt.messages)
    if sum(map(len, uncounted)) > MAX_INLINE_COUNT_CHARS:
        await encoders.count(model, uncounted)
    input_tokens = counter.messages(prompt.messages) + tool_tokens
    if input_tokens + prompt.max_tokens > window:
        message = (
            f"messages: this model's context length is {window} tokens. However, "
            f"{input_tokens + prompt.max_tokens} were "
            f"requested: {input_tokens} in the messages and tools, {prompt.max_tokens} for the answer. Send less"
        )
        raise HelpRefusedError("BAD_FIELD", message, reason=CONTEXT_LENGTH)
