"""The parts of a completion, for the doors that stream or collect them."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from contracts.completion_rpc import CompletePart, CompleteRequest, CompletionEnd
from contracts.errors import ErrorCode
from contracts.events.chat import Action, Usage
from gateway.domain.text_shape import TextShape, without_fence
from gateway.errors import RefusedError, UnavailableError
from gateway.ports import TokenCaller
from gateway.web.deps import Api

FIRST_PIECE_SECONDS = 5.0
"""Seconds to wait for the first piece; then the stream begins without it, and a later error is one of its events."""
MAX_ATTEMPTS = 2
"""Attempts to get a text of the requested format."""
PieceT = TypeVar("PieceT")


async def completion_parts(
    api: Api, caller: TokenCaller, completion: CompleteRequest, shape: TextShape | None
) -> AsyncGenerator[CompletePart]:
    """The answer in parts, the last of which tells how it ended; a text of a requested format comes in one part, since
    it is checked first. Raises what BusCompletions.complete and `_shaped_text` do."""
    if shape is None:
        async with api.completions.complete(caller, completion) as parts:
            async for part in parts:
                yield part
        return
    text, end = await _shaped_text(api, caller, completion, shape)
    if text:
        yield CompletePart(text=text)
    yield CompletePart(end=end)


async def collected(parts: AsyncGenerator[CompletePart]) -> tuple[str, CompletionEnd]:
    """The whole text, and how it ended."""
    texts: list[str] = []
    async with aclosing(parts):
        async for part in parts:
            if part.text is not None:
                texts.append(part.text)
            if part.end is not None:
                return "".join(texts), part.end
    raise UnavailableError("the answer has no end: try again")


async def _shaped_text(
    api: Api, caller: TokenCaller, completion: CompleteRequest, shape: TextShape
) -> tuple[str, CompletionEnd]:
    """A text of the requested format, requested again if it does not fit; calls of the caller's tools and texts that
    were cut off at the caller's limit need no format. The second request corrects the text alone: with tools it would
    do again what the first has done.

    Raises:
        RefusedError: there is no model, or its texts do not fit.
    """
    completion = completion.model_copy(update={"stream": False, "structured": True})
    fault, actions, usages = None, list[Action](), list[Usage]()
    for attempt in range(MAX_ATTEMPTS):
        text, end = await collected(completion_parts(api, caller, completion, None))
        text = without_fence(text)
        actions += end.actions
        usages.append(end.usage)
        is_free = end.finish_reason in {"tool_calls", "length"}
        fault = None if is_free else await asyncio.to_thread(shape.fault_in, text)
        if fault is None:
            usage = Usage(
                prompt_tokens=sum(attempt_usage.prompt_tokens for attempt_usage in usages),
                completion_tokens=sum(attempt_usage.completion_tokens for attempt_usage in usages),
            )
            return text, end.model_copy(update={"actions": actions, "usage": usage})
        correction = [
            {"role": "assistant", "content": text or "-"},
            {"role": "system", "content": f"That does not fit: {fault}. {shape.instruction}"},
        ]
        again = {
            "messages": [*completion.to_wire()["messages"], *correction],
            "requestId": f"{completion.request_id[:60]}-{attempt + 2}",
            "toolChoice": "none",
        }
        completion = CompleteRequest.model_validate(completion.to_wire() | again)
    # No 5xx: clients repeat those, and pay for the same again (decision 0242).
    raise RefusedError(
        ErrorCode.BAD_FIELD, f"no answer of the model has the wanted shape: {fault}: change the schema or the prompt"
    )


async def started(
    pieces: AsyncGenerator[PieceT],
) -> Callable[[Callable[[PieceT], Awaitable[None]]], Awaitable[None]]:
    """Waits for the first piece after the opening one, so that an error before it gets its own status. Returns a
    function that sends all pieces; it must be called, since only it closes them."""
    opening = await anext(pieces)
    next_piece = asyncio.ensure_future(_next(pieces))

    async def close() -> None:
        next_piece.cancel()
        await asyncio.wait((next_piece,))  # a generator that still runs cannot be closed
        await pieces.aclose()

    try:
        await asyncio.wait((next_piece,), timeout=FIRST_PIECE_SECONDS)
        if next_piece.done():
            next_piece.result()
    except BaseException:
        await close()
        raise

    async def send_all(send: Callable[[PieceT], Awaitable[None]]) -> None:
        try:
            await send(opening)
            piece = await next_piece
            while piece is not None:
                await send(piece)
                piece = await _next(pieces)
        finally:
            await close()

    return send_all


async def _next(pieces: AsyncGenerator[PieceT]) -> PieceT | None:
    return await anext(pieces, None)
