"""Prices drawn beside an answer: read off the results of its turn's tool calls, never off a model's words."""

from collections.abc import Mapping
from typing import Any, cast

from agent.domain.tool_results import data_of
from agent.domain.turn.journal import Journal
from contracts.events.chat import Chart

BARS_TOOL, SNAPSHOT_TOOL = "get_ohlcv", "market_snapshot"
MOST_CHARTS = 4
MOST_CANDLES = 60
"""More bars than a chat's width can show as candles are drawn as a line of closes."""
MOST_POINTS = 250
"""Of the newest bars: a message stays well below the largest frame."""


def charts(journal: Journal) -> tuple[Chart, ...]:
    """One chart a symbol, of the newest data that was asked for, in the order of the calls."""
    found: dict[str, Chart] = {}
    for call in journal.calls:
        data = data_of(call.result)
        if call.tool == BARS_TOOL:
            _add(found, data.get("symbol"), data.get("bars"))
        elif call.tool == SNAPSHOT_TOOL:
            for symbol, snapshot in _mapping(data.get("tickers")).items():
                _add(found, symbol, _mapping(_mapping(snapshot).get("ohlcv")).get("tail"))
    return tuple(list(found.values())[:MOST_CHARTS])


def _add(found: dict[str, Chart], symbol: object, bars: object) -> None:
    if not isinstance(symbol, str) or not isinstance(bars, list) or len(cast("list[Any]", bars)) < 2:
        return
    newest = cast("list[dict[str, Any]]", bars)[-MOST_POINTS:]
    names = ("time", "open", "high", "low", "close") if len(newest) <= MOST_CANDLES else ("time", "close")
    try:
        series = [{name: bar[name] for name in names} for bar in newest]
        chart = Chart.model_validate(
            {"kind": "candles" if len(names) > 2 else "line", "symbol": symbol, "series": series}
        )
    except (KeyError, TypeError, ValueError):
        # A tool that another service announced under this name may answer otherwise.
        return
    found[symbol] = chart


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
