"""Tools about any stretch of time: performance, correlation, crossings of averages, a rule tried on the past."""

from contracts.text import Text
from tool_executor.catalogue.market import DAY, FAILURE, OF_MARKET
from tool_executor.domain.declaration import DeclaredTool, Schema
from tool_executor.domain.shapes import (
    MAYBE,
    SYMBOL,
    TEXT,
    TICKERS,
    above_zero,
    gives,
    list_of,
    one_of,
    sourced,
    takes,
    whole,
    with_normal_symbol,
    with_normal_tickers,
)

RULES = ("sma_cross", "momentum", "rsi_reversion", "buy_and_hold")
_START: Schema = {"type": "string", "pattern": DAY, "description": "First day, e.g. 2012-03-01; default: a year ago"}
_END: Schema = {"type": "string", "pattern": DAY, "description": "Last day; default: now"}
_PERIOD: Schema = {
    "type": "string",
    "pattern": "^([1-9][0-9]{0,2}[dwmy]|[ywqm]td|since-(0[1-9]|1[0-2])(-[0-3][0-9])?)$",
    "description": "Up to now: 5y, 30d, ytd, mtd, since-09",
}
_EVERY = one_of(("week", "month", "quarter", "year"), "Its returns too, the best and the worst of them")
_STRETCH = {"start": _START, "end": _END, "period": _PERIOD}
_FIGURE = gives({"ticker": TEXT, "figure": TEXT, "value": MAYBE, "from": TEXT, "to": TEXT, "asked": TEXT})


def tools() -> list[DeclaredTool]:
    """The category's tools about stretches of time."""
    return [
        OF_MARKET(
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
            input_schema=takes(
                {"tickers": TICKERS},
                {**_STRETCH, "amount": above_zero("Money put in at the start"), "every": _EVERY},
            ),
            output_schema=sourced({"figures": list_of(_FIGURE), "errors": list_of(FAILURE)}),
            normaliser=with_normal_tickers,
            examples=({"tickers": ["IBM"], "start": "2008-01-01", "end": "2008-12-31", "amount": 10000},),
        ),
        OF_MARKET(
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
            input_schema=takes({"tickers": TICKERS}, {**_STRETCH, "benchmark": SYMBOL}),
            output_schema=sourced({"figures": list_of(_FIGURE), "errors": list_of(FAILURE)}),
            normaliser=with_normal_tickers,
            examples=({"tickers": ["IBM", "MSFT"], "start": "2012-01-01", "end": "2012-12-31"},),
        ),
        OF_MARKET(
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
            input_schema=takes(
                {"symbol": SYMBOL},
                {
                    "fast": whole(50, 249, "Sessions; 1: the close itself"),
                    "slow": whole(200, 250, "Sessions"),
                    **_STRETCH,
                },
            ),
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
        OF_MARKET(
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
            input_schema=takes(
                {"symbol": SYMBOL},
                {
                    "rule": one_of(RULES, "What decides", "sma_cross"),
                    "fast": whole(50, 249, "Sessions of the short look; 1: the close"),
                    "slow": whole(200, 250, "Sessions of the long look"),
                    **_STRETCH,
                    "cash": above_zero("Money at the start", 1e12),
                    "cost_percent": {"type": "number", "minimum": 0, "maximum": 5, "description": "Of each trade"},
                },
            ),
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
