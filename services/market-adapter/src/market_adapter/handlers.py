"""The tools that this service serves over the bus: one thin function each.

The tool-executor has checked who is calling and whether they may; here a question about the market is answered, or it
is said why it cannot be: EXECUTION_ERROR with the error's reason.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from contracts.errors import ToolCode
from contracts.rpc import Rpc, ToolServiceData, ToolServiceRequest, tool_service
from market_adapter.domain.asked import asked_symbol
from market_adapter.errors import MarketError
from market_adapter.ports import MarketProvider
from market_adapter.tool_data import PriceArguments, PriceData
from runtime.errors import RpcError

QUEUE = "market-adapter"

ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)
Method = Rpc[ToolServiceRequest, ToolServiceData]
Handler = Callable[[ToolServiceRequest], Awaitable[ToolServiceData]]


class MarketTools:
    """Each method is one tool: its arguments in, its data out; a failure is a MarketError."""

    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider

    async def get_price(self, asked: PriceArguments) -> PriceData:
        """The latest price of one symbol, and its change."""
        return PriceData.of(await self._provider.quote(asked_symbol(asked.symbol)))


def methods(tools: MarketTools) -> Sequence[tuple[Method, Handler]]:
    """What this service listens to, and which function answers."""
    return [
        (tool_service("get_price", QUEUE), tool_handler(PriceArguments, tools.get_price)),
    ]


def tool_handler(model: type[ArgumentsT], tool: Callable[[ArgumentsT], Awaitable[BaseModel]]) -> Handler:
    """A tool as the bus calls it: arguments checked, data as JSON, its errors as error replies."""

    async def handle(request: ToolServiceRequest) -> ToolServiceData:
        try:
            asked = model.model_validate(request.arguments)
        except ValidationError as error:
            fields = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
            raise RpcError(ToolCode.VALIDATION_ERROR, f"{request.tool}: {fields}") from error
        try:
            data = await tool(asked)
        except MarketError as error:
            raise RpcError(
                ToolCode.EXECUTION_ERROR, str(error), retryable=error.retryable, reason=error.reason
            ) from error
        return ToolServiceData(result=data.model_dump(mode="json"))

    return handle
