"""Completions over the bus: one thin function for each method."""

import asyncio

from agent.completions.completion import Completions
from agent.completions.speech import Speech
from agent.metrics import TURNS
from contracts.completion_rpc import (
    COMPLETE,
    MODELS,
    CompletePart,
    CompleteRequest,
    ModelsReply,
    ModelsRequest,
)
from contracts.errors import ErrorCode
from runtime.calls.rpc import RpcServer
from runtime.calls.streamed_calls import ReplyStream, StreamServer
from runtime.errors import RpcError
from runtime.observability.gen_ai import OPERATION, SPAN_TURN
from runtime.observability.telemetry import span


class CompletionMethods:
    """Completions, and the models they may ask for."""

    def __init__(self, completions: Completions, streams: StreamServer) -> None:
        self._completions = completions
        self._streams = streams

    async def serve(self, server: RpcServer) -> None:
        await server.serve(MODELS, self.models)
        await self._streams.serve(COMPLETE, self.complete)

    async def models(self, request: ModelsRequest) -> ModelsReply:
        return ModelsReply(models=await self._completions.models(request.company_id))

    async def complete(self, request: CompleteRequest, replies: ReplyStream[CompletePart]) -> None:
        """Sends the answer in parts; raises RpcError (TIMEOUT) if it takes longer than a turn may."""

        async def say(text: str) -> None:
            await replies.send(CompletePart(text=text))

        speech = Speech(say, only_complete=not request.stream)
        outcome = "completion_failed"
        try:
            with span(SPAN_TURN, **{OPERATION: SPAN_TURN}):
                async with asyncio.timeout(self._completions.limits.turn):
                    end = await self._completions.complete(request, speech)
                    await replies.send(CompletePart(end=end))
            outcome = "completed"
        except TimeoutError as error:
            raise RpcError(ErrorCode.TIMEOUT, "no answer within the time of a turn: ask for less") from error
        finally:
            speech.stop()
            TURNS.labels(outcome).inc()
