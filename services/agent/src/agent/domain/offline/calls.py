"""Makes the call of a tool that is asked for, with the arguments that the text gives, and says what is missing.

"what is IBM at?" is a price, "what was it at on 5 October 2012?" the bar of a day; "sell half" looks the holding up
first.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, cast

from agent.domain.analysis.stretches import main_period
from agent.domain.analysis.wanted_calls import CORRELATION, PERFORMANCE
from agent.domain.offline import market_words, talk_words
from agent.domain.offline.bar_range import MAX_BARS
from agent.domain.offline.changes import OF_CASH, percent_in, share_in, spent_in
from agent.domain.offline.conditions import at_distance
from agent.domain.offline.endings import cancellation, sale
from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.order_words import condition_in, missing_prices
from agent.domain.offline.position_size import size_from_prices
from agent.domain.offline.relative_days import date_in
from agent.domain.offline.slots import ParsedText, Schema, arguments_for, figures_in, missing_arguments
from agent.domain.offline.wishes import Calls, Intent, Wish
from agent.domain.text_features import number_of, word_set

PERSONAL = word_set(
    "create_paper_order cancel_paper_order create_alert delete_alert list_alerts get_portfolio get_pending_orders "
    "get_trade_history get_sentiment get_ml_signals get_ml_features get_watchlist add_to_watchlist"
)
"""Tools that customers of another plan have, which is said if they are asked for. Other tools that are not offered do
not exist for this company."""
OF_PUBLICATION = ("get_news", "get_sentiment")
"""Tools whose time is the time of publication."""
EFFECTS_ON_ONE_SYMBOL = ("create_paper_order", "create_alert")
"""Tools with an effect on one symbol, which must be the one that was meant."""
_PAID_FOR = re.compile(r"\b(?:for|por) [$€]?(?P<sum>\d[\d.,]*k?)\b(?! (?:each|apiece|a share|per|cada|por))")
"""A price without a quantity is the sum for all shares."""
INTERVALS = {
    "week": "week", "month": "month", "quarter": "quarter", "year": "year", "semana": "week", "mes": "month",
    "trimestre": "quarter", "ano": "year",
}  # fmt: skip
_BEST_PART = re.compile(rf"\b(?:best|worst|mejor|peor) ({'|'.join(INTERVALS)})\b")
"""The best or worst part of a period."""
_THIS_YEAR = re.compile(r"\b(?:this year|year to date|ytd|este a[nñ]o|lo que va de a[nñ]o)\b", re.IGNORECASE)
_PRICE_ARGUMENTS = frozenset(("price", "limit_price", "stop_price"))


class OfferedTools(dict[str, Schema]):
    """The offered tools with their schemas, and the wishes already read with them, by message and earlier messages."""

    def __init__(self, offered: Collection[str]) -> None:
        schemas: Mapping[str, Schema] = cast("Any", offered) if isinstance(offered, Mapping) else {}
        super().__init__({name: schemas.get(name, {}) for name in offered})
        self.read: dict[tuple[str, tuple[str, ...]], Wish | None] = {}


def call_of(phrase: ToolPhrase, parsed: ParsedText, schemas: Mapping[str, Schema]) -> Wish | None:
    """The call that a phrase of the grammar and the text make, with what is missing; None if there is no such tool
    here."""
    tool = phrase.tool
    if phrase.way == "grown":
        return _grown(phrase, parsed) if PERFORMANCE in schemas else None
    when = main_period(parsed.text)
    may_be_day = tool == "get_price" or (tool == "market_snapshot" and when.is_day)
    if may_be_day and not phrase.way and date_in(parsed.plain) and "get_ohlcv" in schemas:
        tool = "get_ohlcv"
    elif (
        tool == "get_price"
        and not phrase.way
        and when.tool_arguments
        and when.period != "1d"
        and "market_snapshot" in schemas
    ):
        tool = "market_snapshot"
    elif tool == "market_snapshot" and re.search(r"\b(?:today|hoy)\b", parsed.plain):
        tool = "get_price"  # it gives the day's move
    asks_average = re.search(r"\b(?:average|sma|media)\b", parsed.plain)
    if tool == "market_snapshot" and not asks_average and PERFORMANCE in schemas and when.arguments:
        # A snapshot covers only fixed periods up to now.
        interval = {"every": INTERVALS[share[1]]} if (share := _BEST_PART.search(parsed.plain)) else {}
        return Wish(Intent.TOOL, ((PERFORMANCE, {"tickers": list(parsed.symbols), **when.arguments, **interval}),))
    if tool not in schemas:
        return Wish(Intent.TOOL, withheld=tool) if tool in PERSONAL else None
    schema = schemas[tool]
    time_arguments = when.tool_arguments if tool in (CORRELATION, *OF_PUBLICATION) else {}
    if tool == "get_news" and time_arguments and market_words.MOVED.search(parsed.plain) and PERFORMANCE in schemas:
        moves = PERFORMANCE, {"tickers": list(parsed.symbols), **time_arguments}
        news = tuple((tool, {"symbol": symbol, **time_arguments}) for symbol in parsed.symbols)
        return Wish(Intent.TOOL, (moves, *news))
    if phrase.way == "if_moved" and (factor := _price_factor(parsed.plain)) is not None:
        portfolio_call: Calls = (("get_portfolio", {}),) if "get_portfolio" in schemas else ()
        return Wish(
            Intent.TOOL, ((tool, {"symbol": parsed.symbols[0]}), *portfolio_call), way=phrase.way, shown=str(factor)
        )
    if phrase.way == "means":
        quantity = figures_in(parsed.plain, "create_paper_order", ("quantity",)).get("quantity", "")
        symbol = {"symbol": parsed.symbols[0]}
        return Wish(
            Intent.TOOL, ((tool, symbol),), way=phrase.way if "get_portfolio" in schemas else "", shown=str(quantity)
        )
    if phrase.way == "left" and (match := phrase.asks.match(parsed.plain)) is not None:
        way = phrase.way if "get_portfolio" in schemas else "part"
        return Wish(
            Intent.TOOL, ((tool, {"symbol": parsed.symbols[0]}),), way=way, shown=f"{number_of(match['count'])}"
        )
    if phrase.way == "part" and (match := phrase.asks.match(parsed.plain)) is not None:
        each = f"@{number_of(match['each'])}" if match["each"] else ""
        shown = f"{number_of(match['count'])}{each}"
        return Wish(Intent.TOOL, ((tool, {"symbol": parsed.symbols[0]}),), way=phrase.way, shown=shown)
    if phrase.way == "affordable" and (budget_match := phrase.asks.match(parsed.plain)) is not None:
        return Wish(Intent.TOOL, ((tool, {"symbol": parsed.symbols[0]}),), way=phrase.way, shown=budget_match["budget"])
    if phrase.way in ("cancel", "delete_alert"):
        return cancellation(phrase.way, tool, schema, parsed)
    if phrase.way in ("sell", "stop"):
        return sale(phrase.way, tool, schema, parsed)
    if (
        "symbol" in (schema.get("properties") or {})
        and len(parsed.symbols) > 1
        and "quantity" not in schema["properties"]
    ):
        calls = tuple(
            (tool, arguments_for(tool, schema, replace(parsed, symbols=(symbol,))) | time_arguments)
            for symbol in parsed.symbols
        )
        return Wish(Intent.TOOL, calls)
    arguments = arguments_for(tool, schema, parsed) | time_arguments
    if tool == "get_portfolio" and "get_pending_orders" in schemas:
        return Wish(Intent.TOOL, ((tool, arguments),), way="portfolio")
    if tool == "get_watchlist" and "get_price" in schemas and talk_words.DOING.search(parsed.plain):
        return Wish(Intent.TOOL, ((tool, arguments),), way="watched")
    missing = missing_arguments(schema, arguments)
    if tool == "calculate_position_size" and (size := size_from_prices(arguments, missing, parsed)) is not None:
        return size
    if tool == "create_paper_order":
        missing += missing_prices(arguments, parsed.plain)
        amount = spent_in(parsed.plain)
        if missing == ("quantity",) and amount is None and (paid_match := _PAID_FOR.search(parsed.plain)):
            amount = arguments.pop("limit_price", None) and number_of(paid_match["sum"])
            arguments["order_type"] = "market"
        share = share_in(parsed.plain) if missing == ("quantity",) and OF_CASH.search(parsed.plain) else None
        if share is not None and amount is None and arguments["order_type"] == "market" and "get_portfolio" in schemas:
            return Wish(Intent.TOOL, ((tool, arguments),), way="share_of_cash", shown=str(round(share, 6)))
        if set(missing) == {"quantity", "symbol"} and amount is not None:
            return Wish(Intent.TOOL, ((tool, arguments),), ("symbol",), way="spend", shown=str(amount))
        if missing == ("quantity",) and amount is not None and amount not in arguments.values():  # it is not a price
            return Wish(Intent.TOOL, ((tool, arguments),), way="spend", shown=str(amount))
    if (
        tool in EFFECTS_ON_ONE_SYMBOL
        and set(missing) <= _PRICE_ARGUMENTS
        and (waits := at_distance(tool, arguments, parsed.plain)) is not None
    ):
        return waits
    if tool == "search_memory" and missing:
        return None
    return Wish(Intent.TOOL, ((tool, arguments),), missing)


def of_this_year(wish: Wish, text: str, today: date) -> Wish:
    """A wish for bars "of this year" with the first day of the year: the tool takes counts and days."""
    if not wish.calls or wish.calls[0][0] != "get_ohlcv" or not _THIS_YEAR.search(text):
        return wish
    since = {"start": f"{today.year}-01-01", "limit": MAX_BARS}
    return replace(wish, calls=tuple((tool, {**arguments, **since}) for tool, arguments in wish.calls))


def portfolio_if_moved(normalized: str, schemas: Mapping[str, Schema]) -> Wish | None:
    """The wish what all positions would be worth after a move in per cent that a normalized text names; None if it
    names none."""
    factor = _price_factor(normalized)
    if factor is None or "get_portfolio" not in schemas:
        return None
    return Wish(Intent.TOOL, (("get_portfolio", {}),), way="if_moved", shown=str(factor))


def _price_factor(normalized: str) -> float | None:
    """The factor of the current price that a normalized text imagines; None if it names no percentage."""
    percent = percent_in(normalized)
    return None if percent is None else 1 + percent / 100 * (-1 if condition_in(normalized) == "<=" else 1)


def _grown(phrase: ToolPhrase, parsed: ParsedText) -> Wish | None:
    """The wish what a sum that was invested at an earlier time is worth now; None if the text names no time."""
    match = phrase.asks.match(parsed.plain)
    if match is None:
        return None
    other_text = parsed.plain[: match.start("budget")] + parsed.plain[match.end("budget") :]
    when = main_period(re.sub(r"\b(?:back )?(?:in|en) (?=[a-z])", "since ", other_text))
    since = {"start": when.arguments["start"]} if "start" in when.arguments else when.arguments
    if not since and not when.period:
        return None
    call = PERFORMANCE, {"tickers": list(parsed.symbols[:1]), **(since or {"period": when.period})}
    return Wish(Intent.TOOL, (call,), way=phrase.way, shown=str(number_of(match["budget"])))
