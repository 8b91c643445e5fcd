"""Makes the call of a tool that is asked for, with the arguments that the text gives, and says what is missing.

"what is IBM at?" is a price, "what was it at on 5 October 2012?" the bar of a day;
"sell half" looks the holding up first.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, cast

from agent.domain.analysis.stretches import when_in
from agent.domain.analysis.wanted_calls import CORRELATION, PERFORMANCE
from agent.domain.offline import market_words, talk_words
from agent.domain.offline.bar_range import MOST_BARS
from agent.domain.offline.changes import OF_CASH, percent_in, share_in, spent_in
from agent.domain.offline.conditions import from_now
from agent.domain.offline.endings import cancellation, sale
from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.order_words import condition_in, missing_prices
from agent.domain.offline.position_size import sized
from agent.domain.offline.relative_days import date_in
from agent.domain.offline.slots import ParsedText, Schema, arguments_for, figures_in, missing_arguments
from agent.domain.offline.wishes import Calls, Intent, Wish
from agent.domain.text_features import number_of, word_set

PERSONAL = word_set(
    "create_paper_order cancel_paper_order create_alert delete_alert list_alerts get_portfolio get_pending_orders "
    "get_trade_history get_sentiment get_ml_signals get_ml_features get_watchlist add_to_watchlist"
)
"""What a customer of another plan has: said so. Whatever else is not offered does not exist here."""
OF_PUBLICATION = ("get_news", "get_sentiment")
"""Tools whose time is when something was published."""
LEANS_ON_ONE = ("create_paper_order", "create_alert")
"""What is done about one symbol, and never about another than is meant."""
_PAID_FOR = re.compile(r"\b(?:for|por) [$€]?(?P<sum>\d[\d.,]*k?)\b(?! (?:each|apiece|a share|per|cada|por))")
"""Where nobody says how many, a price is what all of them may cost."""
EVERY = {
    "week": "week", "month": "month", "quarter": "quarter", "year": "year", "semana": "week", "mes": "month",
    "trimestre": "quarter", "ano": "year",
}  # fmt: skip
_BEST_PART = re.compile(rf"\b(?:best|worst|mejor|peor) ({'|'.join(EVERY)})\b")
"""Of what parts of a time the best is asked for."""
_THIS_YEAR = re.compile(r"\b(?:this year|year to date|ytd|este a[nñ]o|lo que va de a[nñ]o)\b", re.IGNORECASE)
_WAITS_AT = frozenset(("price", "limit_price", "stop_price"))


class OfferedTools(dict[str, Schema]):
    """The offered tools with their schemas, and what was read by them so far of one message and those before it."""

    def __init__(self, offered: Collection[str]) -> None:
        schemas: Mapping[str, Schema] = cast("Any", offered) if isinstance(offered, Mapping) else {}
        super().__init__({name: schemas.get(name, {}) for name in offered})
        self.read: dict[tuple[str, tuple[str, ...]], Wish | None] = {}


def call_of(row: ToolPhrase, said: ParsedText, schemas: Mapping[str, Schema]) -> Wish | None:
    """The call that a row of the grammar and the text make, with what is missing; None: there is no such tool here."""
    tool = row.tool
    if row.way == "grown":
        return _grown(row, said) if PERFORMANCE in schemas else None
    when = when_in(said.text)
    of_a_day = tool == "get_price" or (tool == "market_snapshot" and when.is_day)
    if of_a_day and not row.way and date_in(said.plain) and "get_ohlcv" in schemas:
        tool = "get_ohlcv"
    elif (
        tool == "get_price"
        and not row.way
        and when.tool_arguments
        and when.period != "1d"
        and "market_snapshot" in schemas
    ):
        tool = "market_snapshot"
    elif tool == "market_snapshot" and re.search(r"\b(?:today|hoy)\b", said.plain):
        tool = "get_price"  # which tells the move of the day
    averages = re.search(r"\b(?:average|sma|media)\b", said.plain)
    if tool == "market_snapshot" and not averages and PERFORMANCE in schemas and when.arguments:
        # A snapshot looks back from now, over lengths of its own.
        every = {"every": EVERY[part[1]]} if (part := _BEST_PART.search(said.plain)) else {}
        return Wish(Intent.TOOL, ((PERFORMANCE, {"tickers": list(said.symbols), **when.arguments, **every}),))
    if tool not in schemas:
        return Wish(Intent.TOOL, withheld=tool) if tool in PERSONAL else None
    schema = schemas[tool]
    timed = when.tool_arguments if tool in (CORRELATION, *OF_PUBLICATION) else {}
    if tool == "get_news" and timed and market_words.MOVED.search(said.plain) and PERFORMANCE in schemas:
        moves = PERFORMANCE, {"tickers": list(said.symbols), **timed}
        news = tuple((tool, {"symbol": one, **timed}) for one in said.symbols)
        return Wish(Intent.TOOL, (moves, *news))
    if row.way == "if_moved" and (factor := _factor(said.plain)) is not None:
        beside: Calls = (("get_portfolio", {}),) if "get_portfolio" in schemas else ()
        return Wish(Intent.TOOL, ((tool, {"symbol": said.symbols[0]}), *beside), way=row.way, shown=str(factor))
    if row.way == "means":
        counted = figures_in(said.plain, "create_paper_order", ("quantity",)).get("quantity", "")
        symbol = {"symbol": said.symbols[0]}
        return Wish(
            Intent.TOOL, ((tool, symbol),), way=row.way if "get_portfolio" in schemas else "", shown=str(counted)
        )
    if row.way == "left" and (asked := row.asks.match(said.plain)) is not None:
        way = row.way if "get_portfolio" in schemas else "part"
        return Wish(Intent.TOOL, ((tool, {"symbol": said.symbols[0]}),), way=way, shown=f"{number_of(asked['count'])}")
    if row.way == "part" and (asked := row.asks.match(said.plain)) is not None:
        each = f"@{number_of(asked['each'])}" if asked["each"] else ""
        shown = f"{number_of(asked['count'])}{each}"
        return Wish(Intent.TOOL, ((tool, {"symbol": said.symbols[0]}),), way=row.way, shown=shown)
    if row.way == "affordable" and (spent := row.asks.match(said.plain)) is not None:
        return Wish(Intent.TOOL, ((tool, {"symbol": said.symbols[0]}),), way=row.way, shown=spent["budget"])
    if row.way in ("cancel", "delete_alert"):
        return cancellation(row.way, tool, schema, said)
    if row.way in ("sell", "stop"):
        return sale(row.way, tool, schema, said)
    if (
        "symbol" in (schema.get("properties") or {})
        and len(said.symbols) > 1
        and "quantity" not in schema["properties"]
    ):
        calls = tuple(
            (tool, arguments_for(tool, schema, replace(said, symbols=(one,))) | timed) for one in said.symbols
        )
        return Wish(Intent.TOOL, calls)
    found = arguments_for(tool, schema, said) | timed
    if tool == "get_portfolio" and "get_pending_orders" in schemas:
        return Wish(Intent.TOOL, ((tool, found),), way="portfolio")
    if tool == "get_watchlist" and "get_price" in schemas and talk_words.DOING.search(said.plain):
        return Wish(Intent.TOOL, ((tool, found),), way="watched")
    missing = missing_arguments(schema, found)
    if tool == "calculate_position_size" and (size := sized(found, missing, said)) is not None:
        return size
    if tool == "create_paper_order":
        missing += missing_prices(found, said.plain)
        money = spent_in(said.plain)
        if missing == ("quantity",) and money is None and (paid := _PAID_FOR.search(said.plain)):
            money = found.pop("limit_price", None) and number_of(paid["sum"])
            found["order_type"] = "market"
        part = share_in(said.plain) if missing == ("quantity",) and OF_CASH.search(said.plain) else None
        if part is not None and money is None and found["order_type"] == "market" and "get_portfolio" in schemas:
            return Wish(Intent.TOOL, ((tool, found),), way="share_of_cash", shown=str(round(part, 6)))
        if set(missing) == {"quantity", "symbol"} and money is not None:
            return Wish(Intent.TOOL, ((tool, found),), ("symbol",), way="spend", shown=str(money))
        if missing == ("quantity",) and money is not None and money not in found.values():  # it is no price
            return Wish(Intent.TOOL, ((tool, found),), way="spend", shown=str(money))
    if tool in LEANS_ON_ONE and set(missing) <= _WAITS_AT and (waits := from_now(tool, found, said.plain)) is not None:
        return waits
    if tool == "search_memory" and missing:
        return None
    return Wish(Intent.TOOL, ((tool, found),), missing)


def of_this_year(wish: Wish, text: str, today: date) -> Wish:
    """The request for bars "of this year" with the day on which that began: the tool takes counts and days."""
    if not wish.calls or wish.calls[0][0] != "get_ohlcv" or not _THIS_YEAR.search(text):
        return wish
    since = {"start": f"{today.year}-01-01", "limit": MOST_BARS}
    return replace(wish, calls=tuple((tool, {**arguments, **since}) for tool, arguments in wish.calls))


def all_moved(said: str, schemas: Mapping[str, Schema]) -> Wish | None:
    """What everything that is held would be worth after a move that a text (plain) names in per cent."""
    factor = _factor(said)
    if factor is None or "get_portfolio" not in schemas:
        return None
    return Wish(Intent.TOOL, (("get_portfolio", {}),), way="if_moved", shown=str(factor))


def _factor(said: str) -> float | None:
    """How many times the price of now a text (plain) imagines."""
    percent = percent_in(said)
    return None if percent is None else 1 + percent / 100 * (-1 if condition_in(said) == "<=" else 1)


def _grown(row: ToolPhrase, said: ParsedText) -> Wish | None:
    """What a sum that was put into a share at an earlier time is now; None: the text names no time."""
    spent = row.asks.match(said.plain)
    if spent is None:
        return None
    rest = said.plain[: spent.start("budget")] + said.plain[spent.end("budget") :]
    when = when_in(re.sub(r"\b(?:back )?(?:in|en) (?=[a-z])", "since ", rest))
    since = {"start": when.arguments["start"]} if "start" in when.arguments else when.arguments
    if not since and not when.period:
        return None
    call = PERFORMANCE, {"tickers": list(said.symbols[:1]), **(since or {"period": when.period})}
    return Wish(Intent.TOOL, (call,), way=row.way, shown=str(number_of(spent["budget"])))
