"""Market tools: their names, arguments and results. The market-adapter serves them."""

from collections.abc import Sequence
from functools import partial

from contracts.text import Text
from contracts.tools.arguments import DAY_PATTERN, SymbolArguments, TickersArguments, input_schema
from contracts.tools.market import Indicator, IndicatorArguments, OhlcvArguments
from tool_executor.domain.declaration import ArgumentProblem, CacheScope, Category, DeclaredTool, OverTheBus, Schema
from tool_executor.domain.plans import Arguments
from tool_executor.domain.shapes import (
    MAYBE,
    PRICE,
    TEXT,
    gives,
    list_of,
    one_of,
    sourced,
    with_normal_symbol,
    with_normal_tickers,
)
from tool_executor.texts import TEXTS

_TIMEFRAME = one_of(("1h", "4h", "1d"), "How long a bar is")
_VOLUME = {"type": ["number", "null"], "minimum": 0}
_OHLCV = {**dict.fromkeys(("open", "high", "low", "close"), PRICE), "volume": _VOLUME}
FAILURE = gives({"error": TEXT, "ticker": {"type": "string"}, "reason": TEXT})
_DATE = {"type": ["string", "null"], "pattern": DAY_PATTERN}
_FALL = {"type": "number", "maximum": 0, "minimum": -1}
_SPREAD = {"type": ["number", "null"], "minimum": 0}
_WINDOW = gives({"first": _DATE, "last": _DATE, "bars": {"type": "integer", "minimum": 1}, **_OHLCV})
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
        "returns": gives(dict.fromkeys(("1d", "1w", "1m", "3m", "1y", "ytd"), MAYBE)),
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
    """A first day after the last one. ISO days compare as texts."""
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
"""A tool of the category: the market-adapter answers it, the same for everybody who reads the same language."""


def _per_ticker(entry: Schema) -> Schema:
    return gives({"tickers": {"type": "object", "additionalProperties": entry}, "errors": list_of(FAILURE)})


def with_indicators_once(arguments: Arguments) -> Arguments:
    """One spelling: the symbol's own, and each indicator once, in the catalogue's order."""
    asked = [name for name in Indicator if name in arguments["indicators"]]
    return {**with_normal_symbol(arguments), "indicators": asked}


def tools() -> list[DeclaredTool]:
    """The category's tools about symbols and bars; watchlists, which change, are in watchlist.py."""
    return [
        market_tool(
            id="market.get_price",
            name="get_price",
            description=Text(
                es="Último precio de una acción, índice o criptomoneda, su variación y volumen, con fuente y fecha.",
                en="Latest price of a stock, index or crypto pair, its change and volume, with source and date.",
            ),
            label=Text(es="Consultando el precio…", en="Looking up the price…"),
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
            name="get_ohlcv",
            description=Text(
                es="Velas (apertura, máximo, mínimo, cierre, volumen) de un símbolo, de la más antigua a la última, "
                "ajustadas por splits. `closed` dice si la última ya terminó.",
                en="Bars (open, high, low, close, volume) of a symbol, oldest first, adjusted for splits. "
                "`closed` says whether the last one is over.",
            ),
            label=Text(es="Consultando el histórico…", en="Looking up past prices…"),
            per_minute=30,
            time_limit=8.0,
            input_schema=input_schema(OhlcvArguments),
            output_schema=sourced({"bars": list_of(gives({"time": TEXT, **_OHLCV})), "closed": {"type": "boolean"}}),
            normaliser=with_normal_symbol,
            examples=({"symbol": "IBM", "timeframe": "1d", "limit": 20},),
        ),
        market_tool(
            id="market.get_indicators",
            name="get_indicators",
            description=Text(
                es="Indicadores técnicos de un símbolo, ahora o en una fecha: RSI, MACD, BB, SMA, EMA, ATR, VWAP, OBV, "
                "ADX.",
                en="Technical indicators of a symbol, now or on a day: RSI, MACD, BB, SMA, EMA, ATR, VWAP, OBV, ADX.",
            ),
            label=Text(es="Calculando indicadores…", en="Calculating indicators…"),
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
            name="get_fundamentals",
            description=Text(
                es="Datos fundamentales de una empresa: PER, beneficio por acción, ingresos, capitalización, márgenes, "
                "dividendo y beta; null donde no se conocen.",
                en="A company's fundamentals: P/E, earnings per share, revenue, market cap, margins, dividend yield "
                "and beta; null where unknown.",
            ),
            label=Text(es="Consultando los fundamentales…", en="Looking up fundamentals…"),
            per_minute=20,
            time_limit=8.0,
            input_schema=input_schema(SymbolArguments),
            output_schema=sourced({"symbol": TEXT, **_FUNDAMENTALS}),
            normaliser=with_normal_symbol,
            examples=({"symbol": "IBM"},),
        ),
        market_tool(
            id="market.snapshot",
            name="market_snapshot",
            description=Text(
                es="Cómo se han movido varios símbolos: rentabilidades, caídas, volatilidad, medias, ATR y volumen. "
                "Lo que no se pudo responder está en `errors`.",
                en="How several tickers have moved: returns, drawdowns, volatility, averages, ATR and volume. "
                "What could not be answered is in `errors`.",
            ),
            label=Text(es="Analizando el mercado…", en="Analysing the market…"),
            per_minute=30,
            time_limit=15.0,
            input_schema=input_schema(TickersArguments),
            output_schema=_per_ticker(_SNAPSHOT),
            normaliser=with_normal_tickers,
            examples=({"tickers": ["IBM", "MSFT"]},),
        ),
        market_tool(
            id="market.fundamentals_events",
            name="fundamentals_events",
            description=Text(
                es="Fundamentales de varios símbolos y sus próximas fechas de resultados y dividendo. "
                "Lo que no se pudo responder está en `errors`.",
                en="Fundamentals of several tickers and their next earnings and dividend dates. "
                "What could not be answered is in `errors`.",
            ),
            label=Text(es="Consultando empresas y fechas…", en="Looking up companies and dates…"),
            per_minute=20,
            time_limit=15.0,
            input_schema=input_schema(TickersArguments),
            output_schema=_per_ticker(_EVENTS),
            normaliser=with_normal_tickers,
            examples=({"tickers": ["IBM", "MSFT"]},),
        ),
    ]
