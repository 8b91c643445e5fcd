"""Market tools: their names, arguments and results. The market-adapter serves them."""

from collections.abc import Sequence
from functools import partial

from contracts.tools.arguments import DAY_PATTERN, SymbolArguments, TickersArguments, input_schema
from contracts.tools.market import HoursArguments, Indicator, IndicatorArguments, OhlcvArguments
from tool_executor.domain.declaration import ArgumentProblem, CacheScope, Category, DeclaredTool, OverTheBus, Schema
from tool_executor.domain.plans import Arguments
from tool_executor.domain.shapes import (
    MAYBE,
    PRICE,
    TEXT,
    data_schema,
    list_of,
    one_of,
    sourced,
    with_normal_symbol,
    with_normal_tickers,
)
from tool_executor.texts import TEXTS, named

_TIMEFRAME = one_of(("1h", "4h", "1d"), "How long a bar is")
_VOLUME = {"type": ["number", "null"], "minimum": 0}
_OHLCV = {**dict.fromkeys(("open", "high", "low", "close"), PRICE), "volume": _VOLUME}
FAILURE = data_schema({"error": TEXT, "ticker": {"type": "string"}, "reason": TEXT})
_MAYBE_TEXT = {"type": ["string", "null"]}
_DATE = {"type": ["string", "null"], "pattern": DAY_PATTERN}
_FALL = {"type": "number", "maximum": 0, "minimum": -1}
_SPREAD = {"type": ["number", "null"], "minimum": 0}
_WINDOW = data_schema({"first": _DATE, "last": _DATE, "bars": {"type": "integer", "minimum": 1}, **_OHLCV})
_FUNDAMENTALS = {
    "period": {"type": ["string", "null"]},
    **dict.fromkeys(
        ("pe", "eps", "revenue", "market_cap", "gross_margin", "net_margin", "dividend_yield", "beta"), MAYBE
    ),
    "currency": {"type": ["string", "null"]},
}
_SNAPSHOT = sourced(
    {
        "ohlcv": _WINDOW,
        "price": PRICE,
        "currency": TEXT,
        "returns": data_schema(dict.fromkeys(("1d", "1w", "1m", "3m", "1y", "ytd"), MAYBE)),
        "max_drawdown": _FALL,
        "current_drawdown": _FALL,
        "volatility": _SPREAD,
        **dict.fromkeys(("sma_20", "sma_50", "sma_200"), MAYBE),
        "atr_14": _SPREAD,
        "volume_zscore": MAYBE,
    }
)
_EVENTS = sourced({**_FUNDAMENTALS, "next_earnings_date": _DATE, "next_dividend_date": _DATE})


def days_in_order(arguments: Arguments) -> Sequence[ArgumentProblem]:
    """Returns a problem if the first day is after the last one; ISO dates compare as texts."""
    start, end = arguments.get("start"), arguments.get("end")
    return [ArgumentProblem("start", TEXTS["arguments.start_after_end"])] if start and end and start > end else []


market_tool = partial(
    DeclaredTool,
    category=Category.MARKET,
    cache=CacheScope.PUBLIC,
    texts_differ=True,
    handler=OverTheBus(),
    validator=days_in_order,
)
"""Declares a tool of this category: the market-adapter serves it, with one result for all users of a language."""


def _per_ticker(entry: Schema) -> Schema:
    return data_schema({"tickers": {"type": "object", "additionalProperties": entry}, "errors": list_of(FAILURE)})


def with_indicators_once(arguments: Arguments) -> Arguments:
    """Normalizes the symbol, and lists each indicator once, in the catalogue's order."""
    indicators = [name for name in Indicator if name in arguments["indicators"]]
    return {**with_normal_symbol(arguments), "indicators": indicators}


TOOLS: list[DeclaredTool] = [
    market_tool(
        id="market.get_price",
        **named("get_price"),
        per_minute=60,
        time_limit=5.0,
        input_schema=input_schema(SymbolArguments),
        output_schema=sourced(
            {
                "symbol": TEXT,
                "price": PRICE,
                "change": MAYBE,
                "change_percent": MAYBE,
                "change_basis": {"type": ["string", "null"]},
                "volume": _VOLUME,
            }
        ),
        normaliser=with_normal_symbol,
        examples=({"symbol": "AAPL"}, {"symbol": "BTC/USD"}),
    ),
    market_tool(
        id="market.get_ohlcv",
        **named("get_ohlcv"),
        per_minute=30,
        time_limit=8.0,
        input_schema=input_schema(OhlcvArguments),
        output_schema=sourced({"bars": list_of(data_schema({"time": TEXT, **_OHLCV})), "closed": {"type": "boolean"}}),
        normaliser=with_normal_symbol,
        examples=({"symbol": "IBM", "timeframe": "1d", "limit": 20},),
    ),
    market_tool(
        id="market.get_indicators",
        **named("get_indicators"),
        budget_per_ticker=3,
        per_minute=30,
        time_limit=8.0,
        input_schema=input_schema(IndicatorArguments),
        output_schema=sourced(
            {
                "timeframe": _TIMEFRAME,
                "warmup_bars": {"type": "integer", "minimum": 0},
                "indicators": {
                    "type": "object",
                    "propertyNames": {"enum": list(Indicator)},
                    "additionalProperties": {"type": "object", "additionalProperties": MAYBE},
                },
            }
        ),
        normaliser=with_indicators_once,
        examples=({"symbol": "MSFT", "indicators": ["RSI", "MACD"]},),
    ),
    market_tool(
        id="market.get_fundamentals",
        **named("get_fundamentals"),
        per_minute=20,
        time_limit=8.0,
        input_schema=input_schema(SymbolArguments),
        output_schema=sourced({"symbol": TEXT, **_FUNDAMENTALS}),
        normaliser=with_normal_symbol,
        examples=({"symbol": "IBM"},),
    ),
    market_tool(
        id="market.snapshot",
        **named("market_snapshot"),
        per_minute=30,
        time_limit=15.0,
        input_schema=input_schema(TickersArguments),
        output_schema=_per_ticker(_SNAPSHOT),
        normaliser=with_normal_tickers,
        examples=({"tickers": ["IBM", "MSFT"]},),
    ),
    market_tool(
        id="market.fundamentals_events",
        **named("fundamentals_events"),
        per_minute=20,
        time_limit=15.0,
        input_schema=input_schema(TickersArguments),
        output_schema=_per_ticker(_EVENTS),
        normaliser=with_normal_tickers,
        examples=({"tickers": ["IBM", "MSFT"]},),
    ),
    market_tool(
        id="market.get_market_hours",
        **named("get_market_hours"),
        per_minute=60,
        time_limit=5.0,
        input_schema=input_schema(HoursArguments),
        output_schema=sourced(
            {
                "day": TEXT,
                "opens": _MAYBE_TEXT,
                "closes": _MAYBE_TEXT,
                "early_close": {"type": "boolean"},
                "next_day": TEXT,
            },
            {"holidays": list_of(data_schema({"day": TEXT, "closes": _MAYBE_TEXT}))},
        ),
        examples=({"day": "2012-12-24"}, {}),
    ),
]
"""Tools about symbols and bars; those for watchlists are in watchlist.py."""
