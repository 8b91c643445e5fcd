"""Serves this service's tools and calls, one thin function each.

The tool-executor has checked who is calling and whether they may; here a question about the market is answered, or it
is said why it cannot be: EXECUTION_ERROR with the error's reason. While accounts cannot be read or written it is
UNAVAILABLE, which the executor does not record: the same call, asked again, is then really tried again.
"""

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pymongo.errors import PyMongoError

from contracts.errors import ErrorCode, ToolCode
from contracts.market_rpc import QUEUE
from contracts.rpc import Rpc, ToolServiceData, ToolServiceRequest, tool_service
from contracts.tools.account import AlertArguments, AlertRef, HistoryArguments, ListArguments, OrderArguments, OrderRef
from contracts.tools.arguments import NoArguments, SymbolArguments, TickersArguments
from contracts.tools.market import (
    BacktestArguments,
    CrossingArguments,
    FeatureArguments,
    IndicatorArguments,
    NewsArguments,
    OhlcvArguments,
    RangeArguments,
    RelationArguments,
    WhenArguments,
)
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.errors import MarketError, StoreDownError, TooLateError
from market_adapter.paper_trading import PaperTrading
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.alerts import AlertTools
from market_adapter.tools.caller import CallBy, call_by
from market_adapter.tools.indicators import IndicatorTools
from market_adapter.tools.news import NewsTools
from market_adapter.tools.portfolio import PortfolioTools
from market_adapter.tools.prices import PriceTools
from market_adapter.tools.ranges import RangeTools
from market_adapter.tools.research import ResearchTools
from market_adapter.tools.signals import SignalTools
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


def market_tools(provider: MarketProvider) -> Sequence[Tool]:
    """The tools about the market: the same answer for everybody."""
    prices, indicators = PriceTools(provider), IndicatorTools(provider)
    research, news, signals = ResearchTools(provider), NewsTools(provider), SignalTools(provider)
    ranges = RangeTools(provider)
    tools = [
        tool("get_price", SymbolArguments, prices.get_price),
        tool("get_ohlcv", OhlcvArguments, prices.get_ohlcv),
        tool("get_indicators", IndicatorArguments, indicators.get_indicators),
        tool("get_fundamentals", SymbolArguments, research.get_fundamentals),
        worded_tool("market_snapshot", TickersArguments, research.market_snapshot),
        worded_tool("fundamentals_events", TickersArguments, research.fundamentals_events),
        worded_tool("get_performance", RangeArguments, ranges.get_performance),
        worded_tool("get_correlation", RelationArguments, ranges.get_correlation),
        tool("get_crossings", CrossingArguments, ranges.get_crossings),
        tool("backtest_strategy", BacktestArguments, ranges.backtest_strategy),
        tool("get_news", NewsArguments, news.get_news),
        tool("get_sentiment", WhenArguments, news.get_sentiment),
        tool("get_ml_signals", SymbolArguments, signals.get_ml_signals),
        tool("get_ml_features", FeatureArguments, signals.get_ml_features),
    ]
    return with_notes(provider, tools)


def with_notes(provider: MarketProvider, tools: Sequence[Tool]) -> Sequence[Tool]:
    """The tools, each of whose answers about the market carries the provider's note, when there is one."""
    return [(method, _noted(provider, handler)) for method, handler in tools]


def _noted(provider: MarketProvider, handler: Handler) -> Handler:
    async def handle(request: ToolServiceRequest) -> ToolServiceData:
        reply, note = await handler(request), provider.note()
        if note is None or "source" not in reply.result:
            return reply
        return ToolServiceData(result={**reply.result, "note": note.said_in(request.caller.language)})

    return handle


def user_tools(provider: MarketProvider, books: PaperTrading, wall: Clock) -> Sequence[Tool]:
    """The tools of paper trading."""
    trading, portfolio = TradingTools(provider, books, wall), PortfolioTools(provider, books)
    tools = [
        own_tool("get_portfolio", NoArguments, portfolio.get_portfolio),
        own_tool("get_trade_history", HistoryArguments, portfolio.get_trade_history),
        own_tool("create_paper_order", OrderArguments, trading.create_paper_order),
        own_tool("cancel_paper_order", OrderRef, trading.cancel_paper_order),
        own_tool("get_pending_orders", NoArguments, trading.get_pending_orders),
    ]
    return with_notes(provider, tools)


def list_tools(
    provider: MarketProvider, alerts: MongoAlerts, watchlists: MongoWatchlists, wall: Clock
) -> Sequence[Tool]:
    """The tools on what a user watches."""
    alarm, watch = AlertTools(provider, alerts, wall), WatchlistTools(provider, watchlists)
    tools = [
        own_tool("create_alert", AlertArguments, alarm.create_alert),
        own_tool("list_alerts", ListArguments, alarm.list_alerts),
        own_tool("delete_alert", AlertRef, alarm.delete_alert),
        own_tool("get_watchlist", NoArguments, watch.get_watchlist),
        own_tool("add_to_watchlist", SymbolArguments, watch.add_to_watchlist),
        own_tool("remove_from_watchlist", SymbolArguments, watch.remove_from_watchlist),
    ]
    return with_notes(provider, tools)


def own_tool(name: str, model: type[ArgumentsT], answer: Callable[[ArgumentsT, CallBy], Awaitable[BaseModel]]) -> Tool:
    """A tool that is told who is calling."""

    async def handle(request: ToolServiceRequest) -> ToolServiceData:
        asked = arguments(model, request)

        async def asked_by_somebody() -> BaseModel:
            by = call_by(request)
            by.check_time()
            return await answer(asked, by)

        return await answered(asked_by_somebody(), request.caller.language)

    return tool_service(name, QUEUE), handle


def worded_tool(name: str, model: type[ArgumentsT], answer: Callable[[ArgumentsT, str], Awaitable[BaseModel]]) -> Tool:
    """A tool whose data has words in it: it is told the caller's language."""

    async def handle(request: ToolServiceRequest) -> ToolServiceData:
        language = request.caller.language
        return await answered(answer(arguments(model, request), language), language)

    return tool_service(name, QUEUE), handle


def tool(name: str, model: type[ArgumentsT], answer: Callable[[ArgumentsT], Awaitable[BaseModel]]) -> Tool:
    """A tool as the bus calls it: arguments checked, data as JSON, its errors as error replies."""

    async def handle(request: ToolServiceRequest) -> ToolServiceData:
        return await answered(answer(arguments(model, request)), request.caller.language)

    return tool_service(name, QUEUE), handle


def arguments(model: type[ArgumentsT], request: ToolServiceRequest) -> ArgumentsT:
    """The request's arguments, or an error reply that names each field that is wrong."""
    try:
        return model.model_validate(request.arguments)
    except ValidationError as error:
        said = wrong_arguments(request.tool, error, request.caller.language)
        faults = argument_faults(error, request.caller.language)
        raise RpcError(ToolCode.VALIDATION_ERROR, said, fields=faults) from error


async def answered(answer: Awaitable[BaseModel], language: str) -> ToolServiceData:
    """The data as JSON; what goes wrong as an error reply (`told`)."""
    with told(language):
        return ToolServiceData(result=(await answer).model_dump(mode="json", by_alias=True))


def answering(handler: Callable[[RequestT], Awaitable[ReplyT]]) -> Callable[[RequestT], Awaitable[ReplyT]]:
    """A method that services call; what goes wrong is an error reply (`told`)."""

    async def handle(request: RequestT) -> ReplyT:
        with told("en"):
            return await handler(request)

    return handle


@contextmanager
def told(language: str) -> Generator[None]:
    """A MarketError, or a store that is away, as an error reply with its reason, in the caller's language."""
    try:
        yield
    except TooLateError as error:
        raise RpcError(ErrorCode.TIMEOUT, str(error), reason="deadline_passed") from error
    except PyMongoError as error:
        message = TEXTS["caller.store_is_down"].said_in(language)
        raise RpcError(ToolCode.UNAVAILABLE, message, retryable=True, reason=StoreDownError.reason) from error
    except MarketError as error:
        message = error.text.said_in(language)
        raise RpcError(ToolCode.EXECUTION_ERROR, message, retryable=error.retryable, reason=error.reason) from error
