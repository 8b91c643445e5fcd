"""Price charts beside an answer, taken from the results of tool calls, never from a model's words."""

from collections.abc import Mapping
from typing import cast

from agent.domain.analysis.stretches import main_period
from agent.domain.tool_results import data_of
from agent.domain.turn.journal import Journal
from contracts.events.chat import Chart
from contracts.json_values import object_of

BARS_TOOL, SNAPSHOT_TOOL = "get_ohlcv", "market_snapshot"
SNAPSHOT_BARS: Mapping[str | None, int] = {None: 20, "1m": 20, "1w": 6, "1d": 2}
"""How many of a snapshot's newest bars are shown, by the period that was asked about."""
_TO_DATE = {"wtd": "1w", "mtd": "1m"}
MAX_CHARTS = 4
MAX_CANDLES = 60
"""The most bars that are drawn as candles in a chat; more are drawn as a line of closes."""
MAX_POINTS = 270
"""A year of days or five years of weeks, so that a message stays well below the largest frame. More are thinned."""


def charts(journal: Journal, question: str = "") -> tuple[Chart, ...]:
    """A chart for each symbol of the newest requested data, in the order of the calls. The few bars of a snapshot are
    only drawn if the question is not about a longer period, since a month below the return of a year would mislead."""
    if not journal.calls:
        return ()
    by_symbol: dict[str, Chart] = {}
    period = main_period(question)
    to_date = _TO_DATE.get(str(period.arguments.get("period")))
    bars = 0 if period.arguments and to_date is None else SNAPSHOT_BARS.get(to_date or period.period, 0)
    for call in journal.calls:
        data = data_of(call.result)
        if call.tool == BARS_TOOL:
            _add(by_symbol, data.get("symbol"), data.get("bars"))
        elif call.tool == SNAPSHOT_TOOL:
            for symbol, snapshot in object_of(data.get("tickers")).items():
                tail: object = object_of(object_of(snapshot).get("ohlcv")).get("tail")
                _add(by_symbol, symbol, cast("list[object]", tail)[-bars:] if isinstance(tail, list) and bars else None)
    return tuple(list(by_symbol.values())[:MAX_CHARTS])


def _add(by_symbol: dict[str, Chart], symbol: object, bars: object) -> None:
    if not isinstance(symbol, str) or not isinstance(bars, list) or len(cast("list[object]", bars)) < 2:
        return
    drawn = _thinned(cast("list[dict[str, object]]", bars))
    names = ("time", "open", "high", "low", "close") if len(drawn) <= MAX_CANDLES else ("time", "close")
    try:
        series = [{name: bar[name] for name in names} for bar in drawn]
        chart = Chart.model_validate(
            {"kind": "candles" if len(names) > 2 else "line", "symbol": symbol, "series": series}
        )
    except (KeyError, TypeError, ValueError):
        # A tool that another service announced under this name may return other data.
        return
    by_symbol[symbol] = chart


def _thinned(bars: list[dict[str, object]]) -> list[dict[str, object]]:
    """The whole period, from its first bar to its last, in at most `MAX_POINTS` bars."""
    if len(bars) <= MAX_POINTS:
        return bars
    return [bars[round(place * (len(bars) - 1) / (MAX_POINTS - 1))] for place in range(MAX_POINTS)]
