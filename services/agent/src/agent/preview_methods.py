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
    """The calls about previews, a thin function for each method."""

    def __init__(
        self, trying: Preview, explaining: Explanations, replaying: RequestedReplays, failures: FailedTurnList
    ) -> None:
        self._trying = trying
        self._explaining = explaining
        self._replaying = replaying
        self._failures = failures

    async def serve(self, server: RpcServer) -> None:
        await server.serve(PROMPT, _in_time(self._trying.prompt))
        await server.serve(TRY, _in_time(self._trying.answer))
        await server.serve(MODEL_CHECK, _in_time(self._trying.check_model))
        await server.serve(EXPLAIN, _in_time(self._explaining.explain))
        await server.serve(REPLAY, _in_time(self._replaying.replay))
        await server.serve(CASE, _in_time(self._replaying.case))
        await server.serve(FAILED_TURNS, _in_time(self._failures.page))


def _in_time(method: Callable[[RequestT], Awaitable[ReplyT]]) -> Callable[[RequestT], Awaitable[ReplyT]]:
    """The method, within the time of a try."""

    async def answer(request: RequestT) -> ReplyT:
        try:
            async with asyncio.timeout(TRY_SECONDS):
                return await method(request)
        except TimeoutError as error:
            raise RpcError(ErrorCode.TIMEOUT, f"no answer within {TRY_SECONDS:g} s") from error

    return answer
