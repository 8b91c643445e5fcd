"""Makes the call of a tool that is asked for, with the arguments that the text gives, and says what is missing.

"what is IBM at?" is a price, "what was it at on 5 October 2012?" the bar of a day; "sell half" looks the holding up
first.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, cast

from agent.domain.analysis.relative_days import date_in
from agent.domain.analysis.stretches import PeriodArguments, main_period
from agent.domain.analysis.wanted_calls import CORRELATION, PERFORMANCE
from agent.domain.offline import market_words, talk_words
from agent.domain.offline.account_size import size_by_account
from agent.domain.offline.bar_range import MAX_BARS
from agent.domain.offline.changes import OF_CASH, percent_in, share_in, spent_in
from agent.domain.offline.conditions import OTHER_FIGURE, at_distance
from agent.domain.offline.endings import PAID, cancellation, sale
from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.order_words import condition_in, missing_prices
from agent.domain.offline.position_size import ratio_at_distances, size_from_prices
from agent.domain.offline.slots import ParsedText, Schema, arguments_for, figures_in, missing_arguments
from agent.domain.offline.wishes import OF_AVERAGE_PRICE, RELATIVE_WAYS, Calls, Intent, Wish
from agent.domain.text_features import number_of, word_set
from contracts.expressions import expression

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
_PAID_FOR = expression(
    r"\b(?:for|por|(?P<with>with|con)) [$€]?(?P<sum>\d[\d.,]*k?)\b(?! (?:each|apiece|a share|per|cada|por))"
)
"""A price without a quantity is the sum for all shares."""
INTERVALS = {
    "week": "week", "month": "month", "quarter": "quarter", "year": "year", "semana": "week", "mes": "month",
    "trimestre": "quarter", "ano": "year",
}  # fmt: skip
_BEST_PART = expression(rf"\b(?:best|worst|mejor|peor) ({'|'.join(INTERVALS)})\b")
"""The best or worst part of a period."""
_THIS_YEAR = expression(r"\b(?:this year|year to date|ytd|este a[nñ]o|lo que va de a[nñ]o)\b", re.IGNORECASE)
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
    if phrase.way == "grown":
        return _grown(phrase, parsed) if PERFORMANCE in schemas else None
    when = main_period(parsed.text)
    tool = _tool_for_time(phrase, parsed, when, schemas)
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
        when_published = when.with_day_before.tool_arguments
        news = tuple((tool, {"symbol": symbol, **when_published}) for symbol in parsed.symbols)
        return Wish(Intent.TOOL, (moves, *news))
    if phrase.way in ("cancel", "delete_alert"):
        return cancellation(phrase.way, tool, schema, parsed)
    if phrase.way in ("sell", "stop"):
        return sale(phrase.way, tool, schema, parsed)
    if phrase.way and (computed := _with_price(phrase, parsed, has_portfolio="get_portfolio" in schemas)) is not None:
        return computed
    properties: Schema = schema.get("properties") or {}
    if "symbol" in properties and len(parsed.symbols) > 1 and "quantity" not in properties:
        parts = (replace(parsed, symbols=(symbol,)) for symbol in parsed.symbols)
        return Wish(Intent.TOOL, tuple((tool, arguments_for(tool, schema, part) | time_arguments) for part in parts))
    arguments = arguments_for(tool, schema, parsed) | time_arguments
    if tool == "create_alert" and (other := OTHER_FIGURE.search(parsed.plain)):
        return Wish(Intent.TOOL, ((tool, arguments),), ("price",), words=other[0])
    if tool == "get_portfolio" and "get_pending_orders" in schemas:
        return Wish(Intent.TOOL, ((tool, arguments),), way="portfolio", words=parsed.text)
    if tool == "get_watchlist" and "get_price" in schemas and talk_words.DOING.search(parsed.plain):
        return Wish(Intent.TOOL, ((tool, arguments),), way="watched")
    missing = missing_arguments(schema, arguments)
    if tool == "calculate_risk_reward" and (ratio := ratio_at_distances(arguments, parsed)) is not None:
        return ratio
    if tool == "calculate_position_size" and (size := size_from_prices(arguments, missing, parsed)) is not None:
        return size
    if tool == "calculate_position_size" and missing:
        by_account = size_by_account(arguments, parsed, has_portfolio="get_portfolio" in schemas)
        if by_account is not None:
            return by_account
    if tool == "create_paper_order":
        missing += missing_prices(arguments, parsed.plain)
        if order := _for_money(arguments, missing, parsed, has_portfolio="get_portfolio" in schemas):
            return order
    if (
        tool in EFFECTS_ON_ONE_SYMBOL
        and set(missing) <= _PRICE_ARGUMENTS
        and (waits := at_distance(tool, arguments, parsed.plain)) is not None
    ):
        is_of_holding = waits.way in RELATIVE_WAYS and tool == "create_alert" and PAID.search(parsed.plain)
        return replace(waits, words=OF_AVERAGE_PRICE) if is_of_holding else waits
    if tool == "search_memory" and missing:
        return None
    return Wish(Intent.TOOL, ((tool, arguments),), missing)


def _tool_for_time(phrase: ToolPhrase, parsed: ParsedText, when: PeriodArguments, schemas: Mapping[str, Schema]) -> str:
    """The phrase's tool, or the one for the time that the text names: a price of a day is that day's bar."""
    tool = phrase.tool
    may_be_day = tool == "get_price" or (tool == "market_snapshot" and when.is_day)
    if may_be_day and not phrase.way and date_in(parsed.plain) and "get_ohlcv" in schemas:
        return "get_ohlcv"
    is_period = bool(when.tool_arguments) and when.period != "1d"
    if tool == "get_price" and not phrase.way and is_period and "market_snapshot" in schemas:
        return "market_snapshot"
    # A price gives the day's move.
    is_today = tool == "market_snapshot" and re.search(r"\b(?:today|hoy)\b", parsed.plain)
    return "get_price" if is_today else tool


def _with_price(phrase: ToolPhrase, parsed: ParsedText, *, has_portfolio: bool) -> Wish | None:
    """A computation with the price of a share: a multiple, what is left of the cash, how many a sum or all cash buys,
    or what a move in per cent makes of it. None if the text lacks the figure for it."""
    wish = Wish(Intent.TOOL, ((phrase.tool, {"symbol": parsed.symbols[0]}),), way=phrase.way)
    figures = phrase.asks.match(parsed.plain)
    if phrase.way == "if_moved":
        own: Calls = (("get_portfolio", {}), ("get_pending_orders", {})) if has_portfolio else ()
        wish = replace(wish, calls=(*wish.calls, *own))
        if figures is not None and figures["level"]:
            return replace(wish, unit_price=number_of(figures["level"]))
        factor = _price_factor(parsed.plain)
        return None if factor is None else replace(wish, amount=factor)
    if phrase.way == "means":
        quantity = figures_in(parsed.plain, "create_paper_order", ("quantity",)).get("quantity", 0.0)
        return replace(wish, way="means" if has_portfolio else "", amount=quantity)
    if figures is None:
        return None
    if phrase.way in ("affordable", "raised"):
        return replace(wish, amount=number_of(figures["budget"]))
    if phrase.way == "left":
        return replace(wish, way="left" if has_portfolio else "part", amount=number_of(figures["count"]))
    unit_price = number_of(figures["each"]) if figures["each"] else None
    return replace(wish, amount=number_of(figures["count"]), unit_price=unit_price)


def _for_money(
    arguments: dict[str, Any], missing: tuple[str, ...], parsed: ParsedText, *, has_portfolio: bool
) -> Wish | None:
    """The order for a sum of money, or for a share of the cash; None if the text names neither. A price without a
    quantity is the sum for all shares: it is taken out of `arguments`."""
    amount = spent_in(parsed.plain)
    if missing == ("quantity",) and amount is None and (paid_match := _PAID_FOR.search(parsed.plain)):
        limit = arguments.pop("limit_price", None)
        amount = number_of(paid_match["sum"]) if limit or paid_match["with"] else None
        arguments["order_type"] = "market"
    order = Wish(Intent.TOOL, (("create_paper_order", arguments),))
    share = share_in(parsed.plain) if missing == ("quantity",) and OF_CASH.search(parsed.plain) else None
    if share is not None and amount is None and arguments["order_type"] == "market" and has_portfolio:
        return replace(order, way="share_of_cash", amount=round(share, 6))
    if amount is not None and set(missing) == {"quantity", "symbol"}:
        return replace(order, missing=("symbol",), way="spend", amount=amount)
    if amount is not None and missing == ("quantity",) and amount not in arguments.values():  # it is not a price
        return replace(order, way="spend", amount=amount)
    return None


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
    return Wish(Intent.TOOL, (("get_portfolio", {}),), way="if_moved", amount=factor)


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
    return Wish(Intent.TOOL, (call,), way=phrase.way, amount=number_of(match["budget"]))
