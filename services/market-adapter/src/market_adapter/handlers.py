"""Serves this service's tools and calls.

The tool-executor has already checked the caller and their permission. A failure is EXECUTION_ERROR with the error's
reason. While accounts cannot be read or written it is UNAVAILABLE, which the executor does not record, so that the same
call can be repeated.
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
from market_adapter.tools.caller import ToolCaller, caller_of
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
    """The tools about the market, which answer everybody alike."""
    tool_classes = (PriceTools, IndicatorTools, ResearchTools, NewsTools, SignalTools, RangeTools, HoursTools)
    return tools_of(provider, *(tool_class(provider) for tool_class in tool_classes))


def user_tools(provider: MarketProvider, paper_trading: PaperTrading, wall_clock: Clock) -> list[Tool]:
    """The tools of paper trading."""
    return tools_of(
        provider, TradingTools(provider, paper_trading, wall_clock), PortfolioTools(provider, paper_trading)
    )


def list_tools(
    provider: MarketProvider, alerts: MongoAlerts, watchlists: MongoWatchlists, wall_clock: Clock
) -> list[Tool]:
    """The tools of alerts and watchlists."""
    return tools_of(provider, AlertTools(provider, alerts, wall_clock), WatchlistTools(provider, watchlists))


def tools_of(provider: MarketProvider, *tool_objects: object) -> list[Tool]:
    """The methods of these objects that are marked with @tool, as handlers of calls."""
    methods = [
        getattr(tool_object, name)
        for tool_object in tool_objects
        for name, attribute in vars(type(tool_object)).items()
        if is_tool(attribute)
    ]
    return [(tool_service(method.__name__, QUEUE), _with_note(provider, _handler(method))) for method in methods]


def _handler(function: Callable[..., Awaitable[BaseModel]]) -> Handler:
    """A handler that checks the arguments, and returns data as JSON and errors as error replies. The function's first
    parameter is the model of its arguments; a second one gets the caller (ToolCaller) or the caller's language
    (str)."""
    hints = get_type_hints(function)
    model, *further = (hints[name] for name in signature(function).parameters)

    async def handle(request: ToolServiceRequest) -> ToolServiceData:
        parsed, language = parse_arguments(model, request), request.caller.language
        with as_error_reply(language):
            if further == [ToolCaller]:
                caller = caller_of(request)
                caller.check_time()
                answer = await function(parsed, caller)
            else:
                answer = await (function(parsed, language) if further else function(parsed))
            return ToolServiceData(result=answer.model_dump(mode="json", by_alias=True))

    return handle


def _with_note(provider: MarketProvider, handler: Handler) -> Handler:
    """A handler that adds the provider's note, if there is one, to answers about the market."""

    async def handle(request: ToolServiceRequest) -> ToolServiceData:
        reply, note = await handler(request), provider.note()
        if note is None or "source" not in reply.result:
            return reply
        return ToolServiceData(result={**reply.result, "note": note.in_language(request.caller.language)})

    return handle


def parse_arguments(model: type[ArgumentsT], request: ToolServiceRequest) -> ArgumentsT:
    """The request's arguments as the model; raises an RpcError that names each wrong field."""
    try:
        return model.model_validate(request.arguments)
    except ValidationError as error:
        message = wrong_arguments(request.tool, error, request.caller.language)
        faults = argument_faults(error, request.caller.language)
        raise RpcError(ToolCode.VALIDATION_ERROR, message, fields=faults) from error


def rpc_method(handler: Callable[[RequestT], Awaitable[ReplyT]]) -> Callable[[RequestT], Awaitable[ReplyT]]:
    """A handler for a call of other services; errors become error replies (`as_error_reply`)."""

    async def handle(request: RequestT) -> ReplyT:
        with as_error_reply("en"):
            return await handler(request)

    return handle


@contextmanager
def as_error_reply(language: str) -> Generator[None]:
    """Converts a MarketError, or an unavailable store, to an error reply with its reason, in the caller's language."""
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
