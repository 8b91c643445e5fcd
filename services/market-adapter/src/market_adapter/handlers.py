"""Serves this service's tools and calls.

The tool-executor has already checked who is calling and whether they may. A failure is EXECUTION_ERROR with the error's
reason. While accounts cannot be read or written it is UNAVAILABLE, which the executor does not record, so the same call
can be tried again.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from inspect import signature
from typing import TypeVar, get_type_hints

from pydantic import BaseModel, ValidationError
from pymongo.errors import PyMongoError

from contracts.errors import ErrorCode, ToolCode
from contracts.market_rpc import QUEUE
from contracts.rpc import Rpc
from contracts.tools_rpc import ToolServiceData, ToolServiceRequest, tool_service
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.errors import MarketError, StoreDownError, TooLateError
from market_adapter.paper_trading import PaperTrading
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.alerts import AlertTools
from market_adapter.tools.caller import CallBy, call_by
from market_adapter.tools.hours import HoursTools
from market_adapter.tools.indicators import IndicatorTools
from market_adapter.tools.news import NewsTools
from market_adapter.tools.portfolio import PortfolioTools
from market_adapter.tools.prices import PriceTools
from market_adapter.tools.ranges import RangeTools
from market_adapter.tools.research import ResearchTools
from market_adapter.tools.signals import SignalTools
from market_adapter.tools.tool import is_tool
from market_adapter.tools.trading import TradingTools
from market_adapter.tools.watchlists import WatchlistTools
from market_adapter.tools.wrong_arguments import argument_faults, wrong_arguments
from runtime.clock import Clock
from runtime.errors import RpcError

ArgumentsT = TypeVar("ArgumentsT", bound=BaseModel)
RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")
Method = Rpc[ToolServiceRequest, ToolServiceData]
Handler = Callable[[ToolServiceRequest], Awaitable[ToolServiceData]]
Tool = tuple[Method, Handler]


def market_tools(provider: MarketProvider) -> list[Tool]:
    """The tools about the market: the same answer for everybody."""
    kinds = (PriceTools, IndicatorTools, ResearchTools, NewsTools, SignalTools, RangeTools, HoursTools)
    return tools_of(provider, *(kind(provider) for kind in kinds))


def user_tools(provider: MarketProvider, books: PaperTrading, wall: Clock) -> list[Tool]:
    """The tools of paper trading."""
    return tools_of(provider, TradingTools(provider, books, wall), PortfolioTools(provider, books))


def list_tools(provider: MarketProvider, alerts: MongoAlerts, watchlists: MongoWatchlists, wall: Clock) -> list[Tool]:
    """The tools on what a user watches."""
    return tools_of(provider, AlertTools(provider, alerts, wall), WatchlistTools(provider, watchlists))


def tools_of(provider: MarketProvider, *served: object) -> list[Tool]:
    """The methods of these objects that are marked with @tool, as the bus calls them."""
    functions = [getattr(one, name) for one in served for name, found in vars(type(one)).items() if is_tool(found)]
    return [(tool_service(each.__name__, QUEUE), _noted(provider, _handler(each))) for each in functions]


def _handler(function: Callable[..., Awaitable[BaseModel]]) -> Handler:
    """Checks the arguments, and returns data as JSON and errors as error replies. The first parameter of the
    function is the model of its arguments; a second one gets who is calling (CallBy) or the caller's language (str)."""
    hints = get_type_hints(function)
    model, *more = (hints[name] for name in signature(function).parameters)

    async def handle(request: ToolServiceRequest) -> ToolServiceData:
        asked, language = arguments(model, request), request.caller.language
        if more == [CallBy]:
            return await answered(_for_caller(function, asked, request), language)
        return await answered(function(asked, language) if more else function(asked), language)

    return handle


async def _for_caller(
    function: Callable[..., Awaitable[BaseModel]], asked: BaseModel, request: ToolServiceRequest
) -> BaseModel:
    by = call_by(request)
    by.check_time()
    return await function(asked, by)


def _noted(provider: MarketProvider, handler: Handler) -> Handler:
    """Adds the provider's note, when there is one, to answers about the market."""

    async def handle(request: ToolServiceRequest) -> ToolServiceData:
        reply, note = await handler(request), provider.note()
        if note is None or "source" not in reply.result:
            return reply
        return ToolServiceData(result={**reply.result, "note": note.in_language(request.caller.language)})

    return handle


def arguments(model: type[ArgumentsT], request: ToolServiceRequest) -> ArgumentsT:
    """The request's arguments, or an error reply that names each field that is wrong."""
    try:
        return model.model_validate(request.arguments)
    except ValidationError as error:
        said = wrong_arguments(request.tool, error, request.caller.language)
        faults = argument_faults(error, request.caller.language)
        raise RpcError(ToolCode.VALIDATION_ERROR, said, fields=faults) from error


async def answered(answer: Awaitable[BaseModel], language: str) -> ToolServiceData:
    """The data as JSON; errors become error replies (`as_error_reply`)."""
    with as_error_reply(language):
        return ToolServiceData(result=(await answer).model_dump(mode="json", by_alias=True))


def rpc_method(handler: Callable[[RequestT], Awaitable[ReplyT]]) -> Callable[[RequestT], Awaitable[ReplyT]]:
    """A method that services call; errors become error replies (`as_error_reply`)."""

    async def handle(request: RequestT) -> ReplyT:
        with as_error_reply("en"):
            return await handler(request)

    return handle


@contextmanager
def as_error_reply(language: str) -> Generator[None]:
    """Turns a MarketError, or an unavailable store, into an error reply with its reason, in the caller's language."""
    try:
        yield
    except TooLateError as error:
        raise RpcError(ErrorCode.TIMEOUT, str(error), reason="deadline_passed") from error
    except PyMongoError as error:
        message = TEXTS["caller.store_is_down"].in_language(language)
        raise RpcError(ToolCode.UNAVAILABLE, message, retryable=True, reason=StoreDownError.reason) from error
    except MarketError as error:
        message = error.text.in_language(language)
        raise RpcError(ToolCode.EXECUTION_ERROR, message, retryable=error.retryable, reason=error.reason) from error
