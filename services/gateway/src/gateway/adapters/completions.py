"""Completions, requested from the agents over the bus."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import structlog

from contracts import completion_rpc
from contracts.errors import ErrorCode, FieldFault
from gateway.adapters.service_calls import ask, gateway_error
from gateway.domain.concurrency_limit import ConcurrencyLimit
from gateway.errors import GatewayError, RefusedError, TookTooLongError, UnavailableError
from gateway.ports import TokenCaller
from runtime.calls.rpc import RpcClient
from runtime.calls.streamed_calls import StreamClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

MAX_CONCURRENT = 16
"""Concurrent completions of one user or service at one gateway."""
_BUSY = f"at most {MAX_CONCURRENT} completions at a time: wait for one to end"


class BusCompletions:
    """Completions by any agent that answers."""

    def __init__(self, client: RpcClient, streams: StreamClient) -> None:
        self._client = client
        self._streams = streams
        self._running = ConcurrencyLimit(MAX_CONCURRENT, _BUSY)

    async def models(self, company: str) -> list[completion_rpc.ModelName]:
        """The models that a completion may use.

        Raises:
            RefusedError: NOT_FOUND, no such company.
            UnavailableError: the agents do not answer.
        """
        return (await ask(self._client, completion_rpc.MODELS, completion_rpc.ModelsRequest(company_id=company))).models

    @asynccontextmanager
    async def complete(
        self, caller: TokenCaller, request: completion_rpc.CompleteRequest
    ) -> AsyncGenerator[AsyncIterator[completion_rpc.CompletePart]]:
        """A context whose value yields the answer in parts; the last part tells how it ended. Leaving the context early
        stops the work.

        Raises:
            RefusedError: NOT_FOUND with the field `model`, BAD_FIELD.
            RateLimitedError, TookTooLongError, UnavailableError: also while parts are read.
        """
        with self._running.slot((caller.company, caller.subject)):
            try:
                async with self._streams.open(completion_rpc.COMPLETE, request) as parts:
                    yield parts
            except RpcError as error:
                raise _refusal(error) from error


_FIELDS = {
    "model": "model",
    "tool_choice": "tool_choice",
    completion_rpc.CONTEXT_LENGTH: "messages",
    completion_rpc.NO_PICTURES: "messages",
}
"""The parameter to blame, by the reason of a refusal."""


def _refusal(error: RpcError) -> GatewayError:
    if (field := _FIELDS.get(error.reason or "")) is not None:
        code = ErrorCode.TEXT_TOO_LONG if error.reason == completion_rpc.CONTEXT_LENGTH else ErrorCode(error.code)
        return RefusedError(code, error.message, [FieldFault(field=field, message=error.message)])
    if error.code in {ErrorCode.NOT_FOUND, ErrorCode.BAD_FIELD, ErrorCode.RATE_LIMITED}:
        return gateway_error(completion_rpc.COMPLETE, error)
    if error.code == ErrorCode.TIMEOUT:
        return TookTooLongError(error.message)
    log.warning("completion.failed", code=error.code, error=error.message)
    return UnavailableError("no model can answer now: try again")
