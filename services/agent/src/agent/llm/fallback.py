"""Gets one reply from the first provider that gives one: with retries, a request without tools after bad tool calls,
and fail-over in the providers' order.

The retries of an SDK would hide a failing provider for up to a minute; here one failure costs one short pause.
"""

import asyncio
import time
from dataclasses import replace
from typing import Any

import structlog

from agent.domain.pictures import without_pictures
from agent.domain.turn.journal import ModelAnswer
from agent.domain.written_calls import with_written_calls
from agent.errors import (
    BadToolCallError,
    ModelBusyError,
    ModelDeclinedError,
    ModelDownError,
    ModelError,
    ModelRefusedError,
    ModelSilentError,
)
from agent.metrics import MODEL_SECONDS, MODEL_TOKENS
from agent.ports import Model, ModelChoice, ModelRequest, TextSink
from runtime.observability.gen_ai import (
    INPUT_TOKENS,
    MODEL,
    OPERATION,
    OUTPUT_TOKENS,
    PROVIDER,
    RESPONSE_MODEL,
    SPAN_CHAT,
)
from runtime.observability.telemetry import span

log = structlog.get_logger(__name__)

OUTCOMES = (
    "ok",
    *(
        error.__name__
        for error in (ModelBusyError, ModelDownError, ModelSilentError, BadToolCallError, ModelRefusedError)
    ),
)
"""The outcomes of calls that the metrics start at 0."""
MAX_PAUSE_SECONDS = 2.0
"""Longest pause in seconds before a busy provider is asked again; beyond it the next provider is asked."""
MAX_PAUSE_SECONDS_OF_LAST = 20.0
"""The same for the last provider: a late answer is better than none."""


async def ask(choice: ModelChoice, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
    """Returns the first reply; it has no tool calls if the prompt's tool_choice is none.

    Raises:
        ModelError: no provider replied within the prompt's time limit; the last retryable error, or else the last one.
    """
    started = time.monotonic()
    deadline = started + prompt.time_limit
    last_error: ModelError | None = None
    for position, (model, name) in enumerate(choice.candidates, start=1):
        if position > 1:
            # The text that the previous provider had begun is no part of this one's answer.
            sink.restart()
        try:
            is_last = position == len(choice.candidates)
            return await _ask_one(model, name, prompt, sink, started, is_last=is_last)
        except ModelError as error:
            log.warning("model.failed", provider=model.provider, model=name, error=str(error))
            if isinstance(error, ModelDeclinedError):
                raise
            if last_error is None or error.retryable or not last_error.retryable:
                last_error = error
        if time.monotonic() >= deadline:
            break
    raise last_error or ModelDownError("no provider is configured")


def _changes_for(provider: str, model: str, prompt: ModelRequest) -> dict[str, Any]:
    """Returns the fields of the prompt that differ for this model."""
    if prompt.sight.of(provider, model):
        return {"model": model}
    return {"model": model, "messages": without_pictures(prompt.messages, prompt.language)}


async def _ask_one(
    model: Model, name: str, prompt: ModelRequest, sink: TextSink, started: float, *, is_last: bool
) -> ModelAnswer:
    """Makes two attempts, and a third one without tools if the model cannot call them. `started`: the monotonic time at
    which the prompt's time limit began. `is_last`: no other provider is left."""
    limit, total_limit, changes = prompt.time_limit, prompt.total_time_limit, _changes_for(model.provider, name, prompt)
    for attempt in range(3):
        elapsed = time.monotonic() - started
        remaining = limit - elapsed
        if remaining <= 0:
            raise ModelDownError(f"{model.provider} used up its time")
        if attempt:
            sink.restart()
        try:
            request = replace(
                prompt,
                time_limit=remaining,
                total_time_limit=None if total_limit is None else total_limit - elapsed,
                **changes,
            )
            reply = _with_calls_from_text(await _reply_measured(model, request, sink), prompt, sink)
        except ModelBusyError as error:
            pause = error.retry_after or 0.25
            if attempt or pause > min(MAX_PAUSE_SECONDS_OF_LAST if is_last else MAX_PAUSE_SECONDS, remaining):
                raise
            await asyncio.sleep(pause)
        except ModelDownError as error:
            is_silent = isinstance(error, ModelSilentError)
            if attempt or (is_silent and not is_last):
                raise
            prompt = replace(prompt, ignore_silence=is_silent)
        except BadToolCallError:
            if attempt == 2:
                raise
            if attempt == 1:
                prompt = replace(prompt, tools=(), tool_choice="none")
        else:
            if prompt.tool_choice != "none" or reply.text.strip():
                return reply
            # It was told to answer without tools, but asked for tools.
            prompt = replace(prompt, tools=())
    raise ModelDownError(f"{model.provider} gave no answer")


def _with_calls_from_text(reply: ModelAnswer, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
    """Returns the reply with the tool calls that the model wrote into its text, and without that part of the text."""
    if reply.calls:
        return reply
    answer = with_written_calls(reply, {tool.name for tool in prompt.tools})
    if answer.calls:
        sink.restart()
        sink.text(answer.text)
    return answer


async def _reply_measured(model: Model, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
    started, outcome = time.perf_counter(), "cancelled"
    attributes = {OPERATION: SPAN_CHAT, PROVIDER: model.provider, MODEL: prompt.model}
    try:
        with span(f"{SPAN_CHAT} {prompt.model}", **attributes) as current:
            reply = await model.reply(prompt, sink)
            outcome = "ok"
            usage = {INPUT_TOKENS: reply.usage.prompt, OUTPUT_TOKENS: reply.usage.completion}
            current.set_attributes({**usage, RESPONSE_MODEL: reply.model or prompt.model})
    except ModelError as error:
        outcome = type(error).__name__
        raise
    finally:
        MODEL_SECONDS.labels(model.provider, outcome).observe(time.perf_counter() - started)
    if reply.usage.prompt or reply.usage.completion:
        MODEL_TOKENS.labels(model.provider, "prompt").inc(reply.usage.prompt)
        MODEL_TOKENS.labels(model.provider, "completion").inc(reply.usage.completion)
    return reply
