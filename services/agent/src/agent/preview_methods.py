"""Answers the console's calls: trying unsaved settings, explaining answers, replaying turns, listing failures."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agent.adapters.failed_turns import FailedTurnList
from agent.preview.preview import Preview
from agent.record.explanation import Explanations
from agent.replay.on_request import RequestedReplays
from contracts.errors import ErrorCode
from contracts.failed_rpc import FAILED_TURNS
from contracts.preview_rpc import EXPLAIN, MODEL_CHECK, PROMPT, TRY, TRY_SECONDS
from contracts.replay_rpc import CASE, REPLAY
from runtime.calls.rpc import RpcServer
from runtime.errors import RpcError

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")


class PreviewMethods:
    """The console's methods about answers."""

    def __init__(
        self, preview: Preview, explanations: Explanations, replays: RequestedReplays, failures: FailedTurnList
    ) -> None:
        self._preview = preview
        self._explanations = explanations
        self._replays = replays
        self._failures = failures

    async def serve(self, server: RpcServer) -> None:
        await server.serve(PROMPT, _in_time(self._preview.prompt))
        await server.serve(TRY, _in_time(self._preview.answer))
        await server.serve(MODEL_CHECK, _in_time(self._preview.check_model))
        await server.serve(EXPLAIN, _in_time(self._explanations.explain))
        await server.serve(REPLAY, _in_time(self._replays.replay))
        await server.serve(CASE, _in_time(self._replays.case))
        await server.serve(FAILED_TURNS, _in_time(self._failures.page))


def _in_time(method: Callable[[RequestT], Awaitable[ReplyT]]) -> Callable[[RequestT], Awaitable[ReplyT]]:
    """Returns the method with a deadline of TRY_SECONDS."""

    async def answer(request: RequestT) -> ReplyT:
        try:
            async with asyncio.timeout(TRY_SECONDS):
                return await method(request)
        except TimeoutError as error:
            raise RpcError(ErrorCode.TIMEOUT, f"no answer within {TRY_SECONDS:g} s") from error

    return answer
