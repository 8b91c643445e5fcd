"""Gets one reply from whichever provider gives it: with retries, answers without tools after bad calls, and fail-over
in order.

SDK retries would hide a failing provider for up to a minute; here one failure costs one short pause.
"""

import asyncio
import time
from dataclasses import replace

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

LONGEST_PAUSE = 2.0
"""Seconds that a busy provider may make us wait before the next one is asked."""
LONGEST_PAUSE_ALONE = 20.0
"""The same where there is no next one: late is better than not at all."""


async def ask(choice: ModelChoice, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
    """A reply; text alone when the prompt's tool_choice is none.

    Raises:
        ModelError: no provider gave one within the prompt's time limit; the last error that may pass, else the last.
    """
    started = time.monotonic()
    end = started + prompt.time_limit
    failed: ModelError | None = None
    for position, (model, name) in enumerate(choice.candidates, start=1):
        if position > 1:
            # What the one before had begun to say is no part of this one's answer.
            sink.restart()
        try:
            alone = position == len(choice.candidates)
            return await _ask_one(model, _shown_to(model.provider, name, prompt), sink, started, alone=alone)
        except ModelError as error:
            log.warning("model.failed", provider=model.provider, model=name, error=str(error))
            if isinstance(error, ModelDeclinedError):
                raise
            if failed is None or error.retryable or not failed.retryable:
                failed = error
        if time.monotonic() >= end:
            break
    raise failed or ModelDownError("no provider is configured")


def _shown_to(provider: str, model: str, prompt: ModelRequest) -> ModelRequest:
    if prompt.sight.of(provider, model):
        return prompt if prompt.model == model else replace(prompt, model=model)
    return replace(prompt, model=model, messages=without_pictures(prompt.messages, prompt.language))


async def _ask_one(model: Model, prompt: ModelRequest, sink: TextSink, started: float, *, alone: bool) -> ModelAnswer:
    """Two attempts; a third one without tools when the model cannot call them. `started`: when the prompt's time began,
    monotonic; `alone`: nobody else is left to ask."""
    limit, longest = prompt.time_limit, prompt.longest
    for attempt in range(3):
        passed = time.monotonic() - started
        left = limit - passed
        if left <= 0:
            raise ModelDownError(f"{model.provider} used up its time")
        if attempt:
            sink.restart()
        try:
            timed = replace(prompt, time_limit=left, longest=None if longest is None else longest - passed)
            reply = _with_calls(await _measured(model, timed, sink), prompt, sink)
        except ModelBusyError as error:
            pause = error.retry_after or 0.25
            if attempt or pause > min(LONGEST_PAUSE_ALONE if alone else LONGEST_PAUSE, left):
                raise
            await asyncio.sleep(pause)
        except ModelDownError as error:
            silent = isinstance(error, ModelSilentError)
            if attempt or (silent and not alone):
                raise
            prompt = replace(prompt, patient=silent)
        except BadToolCallError:
            if attempt == 2:
                raise
            if attempt == 1:
                prompt = replace(prompt, tools=(), tool_choice="none")
        else:
            if prompt.tool_choice != "none" or reply.text.strip():
                return reply
            # Told to answer, it asked for tools all the same.
            prompt = replace(prompt, tools=())
    raise ModelDownError(f"{model.provider} gave no answer")


def _with_calls(reply: ModelAnswer, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
    """The reply with the calls that the model wrote into its text, which nobody is to read."""
    if reply.calls:
        return reply
    written = with_written_calls(reply, {tool.name for tool in prompt.tools})
    if written.calls:
        sink.restart()
        sink.text(written.text)
    return written


async def _measured(model: Model, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
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
