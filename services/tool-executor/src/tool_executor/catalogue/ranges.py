"""Tools about periods: performance, correlation, crossings of averages, and testing a rule on the past."""

from contracts.text import Text
from contracts.tools.arguments import input_schema
from contracts.tools.market import BacktestArguments, CrossingArguments, RangeArguments, RelationArguments
from tool_executor.catalogue.market import FAILURE, market_tool
from tool_executor.domain.declaration import DeclaredTool
from tool_executor.domain.shapes import (
    MAYBE,
    TEXT,
    gives,
    list_of,
    sourced,
    with_normal_symbol,
    with_normal_tickers,
)

_FIGURE = gives({"ticker": TEXT, "figure": TEXT, "value": MAYBE, "from": TEXT, "to": TEXT, "asked": TEXT})


def tools() -> list[DeclaredTool]:
    """The category's tools about stretches of time."""
    return [
        market_tool(
            id="market.get_performance",
            name="get_performance",
            description=Text(
                es="Cómo le fue a varios símbolos entre dos fechas: rentabilidad, caídas, volatilidad, máximo, mínimo, "
                "dividendos, mejor y peor día, semana, mes o año, y en qué se habría convertido una cantidad.",
                en="How tickers did between two dates: return, drawdowns, volatility, high, low, dividends, best and "
                "worst day, week, month or year, and what an amount would have become.",
            ),
            label=Text(es="Midiendo el periodo…", en="Measuring the period…"),
            per_minute=30,
            time_limit=15.0,
            budget_per_ticker=3,
            input_schema=input_schema(RangeArguments),
            output_schema=sourced({"figures": list_of(_FIGURE), "errors": list_of(FAILURE)}),
            normaliser=with_normal_tickers,
            examples=({"tickers": ["IBM"], "start": "2008-01-01", "end": "2008-12-31", "amount": 10000},),
        ),
        market_tool(
            id="market.get_correlation",
            name="get_correlation",
            description=Text(
                es="Correlación de las rentabilidades diarias de varios símbolos, y su beta frente a un índice.",
                en="Correlation of tickers' daily returns, and their beta against a benchmark.",
            ),
            label=Text(es="Comparando movimientos…", en="Comparing moves…"),
            per_minute=30,
            time_limit=15.0,
            budget_per_ticker=3,
            input_schema=input_schema(RelationArguments),
            output_schema=sourced({"figures": list_of(_FIGURE), "errors": list_of(FAILURE)}),
            normaliser=with_normal_tickers,
            examples=({"tickers": ["IBM", "MSFT"], "start": "2012-01-01", "end": "2012-12-31"},),
        ),
        market_tool(
            id="market.get_crossings",
            name="get_crossings",
            description=Text(
                es="Fechas en que la media corta de un símbolo cruzó la larga (cruce dorado, cruce de la muerte).",
                en="Days on which a symbol's fast average crossed its slow one (golden cross, death cross).",
            ),
            label=Text(es="Buscando cruces…", en="Looking for crossings…"),
            per_minute=30,
            time_limit=8.0,
            budget_per_ticker=3,
            input_schema=input_schema(CrossingArguments),
            output_schema=sourced(
                {
                    "symbol": TEXT,
                    "crossings": list_of(
                        gives({"on": TEXT, "above": {"type": "boolean"}, "close": {"type": "number"}})
                    ),
                }
            ),
            normaliser=with_normal_symbol,
            examples=({"symbol": "IBM", "fast": 50, "slow": 200, "start": "2010-01-01"},),
        ),
        market_tool(
            id="market.backtest_strategy",
            name="backtest_strategy",
            description=Text(
                es="Prueba una regla (cruce de medias, momento, reversión por RSI) en el pasado de un símbolo, con "
                "costes y sin mirar al futuro, junto a comprar y mantener.",
                en="Tries a rule (average crossing, momentum, RSI reversion) on a symbol's past, with costs and "
                "without looking ahead, beside buying and holding.",
            ),
            label=Text(es="Probando la regla…", en="Trying the rule…"),
            per_minute=10,
            time_limit=15.0,
            budget_per_ticker=3,
            input_schema=input_schema(BacktestArguments),
            output_schema=sourced(
                {
                    "symbol": TEXT,
                    "rule": TEXT,
                    "figures": list_of(_FIGURE),
                    "trades": list_of(gives({"on": TEXT, "side": TEXT, "price": {"type": "number"}})),
                    "assumptions": list_of(TEXT),
                }
            ),
            normaliser=with_normal_symbol,
            examples=({"symbol": "IBM", "rule": "sma_cross", "start": "2008-01-01", "end": "2012-12-31"},),
        ),
    ]
