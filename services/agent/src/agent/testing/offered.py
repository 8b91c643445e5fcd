"""The parts of the tools' schemas that the offline rules read: argument names, required ones, and enums; and helpers
that return the calls of a step."""

from collections.abc import Sequence
from typing import Any

from agent.domain.offline.step_results import Result, UseTools
from agent.domain.offline.steps import next_step
from agent.domain.offline.wishes import Wish

_TOOLS = """
get_price symbol
get_ohlcv symbol timeframe [limit] [start] [end]
get_indicators symbol indicators [timeframe] [length] [end]
get_fundamentals symbol
market_snapshot tickers
get_performance tickers [start] [end] [period]
get_correlation tickers [start] [end] [period] [benchmark] [every]
fundamentals_events tickers
get_market_hours [day]
get_news symbol [limit] [start] [end] [period]
get_sentiment symbol [start] [end] [period]
get_ml_signals symbol
get_ml_features symbol [prediction_id]
get_portfolio
get_trade_history [limit] [symbol]
create_paper_order symbol side quantity order_type [limit_price] [stop_price] [replaces]
cancel_paper_order order_id
get_pending_orders
create_alert symbol condition price [message]
list_alerts [symbol]
delete_alert alert_id
calculate_position_size capital entry_price stop_loss_price risk_percent [lot_size] [side]
calculate_risk_reward entry_price stop_loss_price take_profit_price
get_watchlist
add_to_watchlist symbol
remove_from_watchlist symbol
explain_concept concept [level]
search_memory query [limit]
remember fact
forget what
update_memory id fact
fetch_page path
"""
_INDICATORS = ["RSI", "MACD", "BB", "SMA", "EMA", "ATR", "VWAP", "OBV", "ADX"]


def _schema(arguments: Sequence[str]) -> dict[str, Any]:
    """Returns a tool's input schema; names in brackets are optional."""
    names = [name.strip("[]") for name in arguments]
    properties: dict[str, Any] = {name: {} for name in names}
    if "indicators" in properties:
        properties["indicators"] = {"items": {"enum": _INDICATORS}}
    return {"properties": properties, "required": [name for name in arguments if not name.startswith("[")]}


SCHEMAS = {row.split()[0]: _schema(row.split()[1:]) for row in _TOOLS.strip().splitlines()}
"""Schemas of all tools of the premium plan, by name."""


def replaced(wish: Wish, looked: list[Result]) -> tuple[Any, ...]:
    """Returns the calls that cancel the replaced order or alert, followed by those that create the new one."""
    cancellations: tuple[Any, ...] = calls_of(wish, looked)
    results: list[Result] = [*looked, *((tool, arguments, {}) for tool, arguments in cancellations)]
    return (*cancellations, *calls_of(wish, results))


def calls_of(wish: Wish, looked: list[Result]) -> tuple[Any, ...]:
    """Returns the calls of the next step; empty if the step is a text instead."""
    step = next_step(wish, looked, "en")
    return step.calls if isinstance(step, UseTools) else ()
