"""Applies a follow-up to the previous request: another quantity, price, symbol or timeframe, or a missing figure.

After "buy 3 MSFT", "make it 5" replaces the order and "same for AAPL" prepares one more. After "How many shares?", "5"
completes it. A follow-up about something else amends nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from agent.domain.analysis.stretches import BLANK, UnreadText, take_periods
from agent.domain.analysis.wanted_calls import CORRELATION, PERFORMANCE
from agent.domain.claims.lexer import folded
from agent.domain.number_words import in_figures
from agent.domain.offline import conditions, order_words, slots, talk_words
from agent.domain.offline.bar_range import bar_range, frame_in, in_frame, names_time_range
from agent.domain.offline.changed_arguments import FIGURES, ORDER, new_level, with_change, with_figures
from agent.domain.offline.changes import change_in, percent_in, share_in, spent_in
from agent.domain.offline.common_words import is_common, significant_words
from agent.domain.offline.conditions import at_distance, condition_after, distance_in, wants_change
from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.kinds import ordinal_in
from agent.domain.offline.lexicon import keys_of
from agent.domain.offline.order_words import condition_in
from agent.domain.offline.relative_days import date_in, shifted_days
from agent.domain.offline.slots import ParsedText, Schema, arguments_for, missing_arguments, only_figures, tool_value
from agent.domain.offline.small_talk import small_talk_in
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import number_of, numbers_in

LATER_TIME = ("when",)
"""What an order for a later time lacks; orders cannot be scheduled."""
_ANOTHER = re.compile(r"\b(?:another|otr[oa])\b")
_ADDITIONAL = re.compile(r"\b(?:also|too|tambien|another|otr[oa]s?)\b")
_FOLLOW_UP_START = re.compile(
    r"^\W*(?:(?:and|y|but|pero)\b\W*)?(?:(?:what |and )?if (?:it|i|they) (?:were|was|buy|bought|got)\b|(?:what|how) "
    r"about\b|"
    r"si (?:fuer[ao]n?|fuesen?|son|compr[oa]\w*)\b)?(?:\W*(?:only|just|solo)\b)?"
)
_ORDERS = re.compile(r"\b(?:limit(?:e|ada)?|orders?|orden|market|mercado)\b")
_TOOLS_WITH_TIME = ("get_price", "market_snapshot", "get_ohlcv", PERFORMANCE, CORRELATION)
_FOLLOW_UP_WORDS = re.compile(
    rf"^(?:{talk_words.CORRECTS.pattern[1:]})+|\b(?:its|their|sus?|which|cu[aá]l|had|has|tuvo|tiene|(?:smallest|biggest|"
    r"largest|lowest|highest|greatest|menor|mayor)(?! (?:fall|drop|loss|ca[ií]da|bajada|close)))\b", re.IGNORECASE
)  # fmt: skip
"""Words of a follow-up that only say that it corrects, whose figure it is, and which of several is asked for."""
PERIOD_FIGURE = re.compile(
    r"\b(?:max(?:imum|imo)?|min(?:imum|imo)?|high(?:est)?(?: close)?|low(?:est)?(?: close)?|peak|volatil\w+|drawdown|"
    r"(?:biggest|largest|mayor) (?:fall|drop|loss|caida|bajada)|returns?|rentabilidad|"
    r"(?:best|worst) day|(?:mejor|peor) dia|(?:cierre )?mas (?:alt|baj)[oa]|(?:in|over|during) (?:that|the same) "
    r"(?:time|period|stretch)|en (?:ese|el mismo) (?:tiempo|periodo))\b"
)
"""Figures of a period."""
MAX_FOLLOW_UP_WORDS = 7
"""Maximum words of a follow-up."""
_COMPUTED_ARGUMENTS = {"spend": "quantity", "share_of_cash": "quantity", "at_level": "price"}
"""By way: the argument of an order that is computed from the current price."""
_REPLACING_WAYS = {ORDER: "replace", "create_alert": "replace_listed"}
"""By tool whose result is replaced when it changes: the way that does it."""
AMENDABLE_WAYS = (
    "", "sell", "stop", "resell", "from_now", "sized", "spend", "stop_later", "affordable", "means", "as_many",
    "at_level", "part", "share_of_cash", *_REPLACING_WAYS.values(),
)  # fmt: skip
"""Ways whose requests a follow-up can change or complete."""


def amended(
    text: str,
    normalized: str,
    earlier: Wish,
    schemas: Mapping[str, Schema],
    symbols: Sequence[str],
    phrase: ToolPhrase | None,
) -> Wish | None:
    """Return the earlier request with what this text changes or adds; None if the text is about something else.
    `symbols` are those that the text names, `phrase` the tool request that it was read as by itself."""
    tool, arguments = earlier.calls[0]
    schema = schemas[tool]
    new_arguments = arguments_for(tool, schema, ParsedText.of(text))
    is_bare = phrase is None and not symbols  # nothing else is named
    is_short = len(normalized.split()) <= MAX_FOLLOW_UP_WORDS
    is_same_tool = phrase is None or phrase.tool == tool
    is_another_alert = phrase is None and tool == "create_alert" and (symbols or _ANOTHER.search(normalized))
    is_another_alert = is_another_alert and (talk_words.GOING_ON.search(normalized) or _ANOTHER.search(normalized))
    if is_another_alert and (percent_in(normalized) is not None or distance_in(normalized) is not None):
        return at_distance(
            tool, {"symbol": [*symbols, arguments["symbol"]][0], "condition": condition_in(normalized)}, normalized
        )
    if is_another_alert and "price" in new_arguments:
        has_condition = talk_words.TURNS.search(normalized) or _ANOTHER.search(normalized)
        condition = new_arguments["condition"] if has_condition else arguments["condition"]
        return Wish(Intent.TOOL, ((tool, {"symbol": arguments["symbol"], **new_arguments, "condition": condition}),))
    if tool in _REPLACING_WAYS and ordinal_in(normalized) is not None and talk_words.CHANGES_IT.search(normalized):
        return None  # it refers to one of several
    lone_figure = slots.FIGURE_ALONE.fullmatch(_FOLLOW_UP_START.sub("", in_figures(normalized), count=1))
    if earlier.way == "part" and is_bare and lone_figure is not None:
        return replace(earlier, shown="@".join([lone_figure["figure"], *earlier.shown.split("@")[1:]]))
    amounts = [value for _, value in numbers_in(normalized)]
    if earlier.way in ("affordable", "grown") and not symbols and lone_figure is not None and len(amounts) == 1:
        return replace(earlier, shown=str(amounts[0]))
    if tool == "get_price" and not earlier.way and is_bare and lone_figure is not None and lone_figure["of"]:
        return replace(earlier, way="part", shown=lone_figure["figure"])
    share = share_in(normalized) if tool == ORDER else None
    if earlier.way == "share_of_cash" and share is None and len(amounts) == 1 and 0 < amounts[0] < 100:
        share = amounts[0] / 100  # "no, 5": per cent, like the figure before
    if earlier.way == "share_of_cash" and is_bare and is_short and share is not None:
        return replace(_with_arguments(earlier, dict(arguments)), shown=str(share))
    if earlier.way in ("from_now", "share_of_cash") or (
        earlier.way == "replace_listed" and "symbol" in arguments and "side" not in arguments and tool == ORDER
    ):
        return None  # its price is not known yet, so nothing of it can be changed
    if (
        tool == ORDER
        and earlier.missing
        and phrase is not None
        and symbols
        and arguments.get("symbol", symbols[0]) != symbols[0]
    ):
        return None  # a new order, not the answer to "how many?"
    if (
        "quantity" in earlier.missing
        and arguments.get("side") == "sell"
        and is_same_tool
        and share is not None
        and is_short
    ):
        return Wish(Intent.TOOL, ((tool, {**arguments, "share": share}),), way="sell")
    if (
        earlier.missing == ("quantity",)
        and is_same_tool
        and not symbols
        and (amount := spent_in(normalized)) is not None
    ):
        return replace(earlier, missing=(), way="spend", shown=str(amount))
    if (
        len(earlier.missing) == 1
        and earlier.missing != LATER_TIME
        and (figure := slots.FIGURE_ALONE.fullmatch(normalized))
    ):
        new_arguments = {
            earlier.missing[0]: tool_value(earlier.missing[0], figure["figure"])
        }  # the answer to our question
    if tool == ORDER and phrase is None and talk_words.LATER.search(normalized) and is_short:
        return replace(earlier, missing=LATER_TIME)
    if earlier.missing == LATER_TIME and is_same_tool:
        return _at_another_time(text, normalized, earlier, new_arguments, symbols)
    changes = phrase is None or (is_same_tool and tool != ORDER) or talk_words.AMENDS.search(normalized)
    other_symbols = [symbol for symbol in symbols if symbol != arguments.get("symbol", symbol)]
    if (
        not earlier.missing
        and changes
        and not other_symbols
        and (merged := with_change(normalized, tool, arguments)) is not None
    ):
        return _with_arguments(earlier, merged, tuple(name for name in arguments if name not in merged))
    if (
        earlier.way == "spend"
        and changes
        and (change_of_amount := change_in(normalized)) is not None
        and change_of_amount.factor is not None
    ):
        return replace(
            _with_arguments(earlier, dict(arguments)), shown=str(float(earlier.shown) * change_of_amount.factor)
        )
    if (
        tool in FIGURES
        and not earlier.missing
        and is_same_tool
        and small_talk_in(normalized) is None
        and not _ORDERS.search(normalized)
    ):
        updates = {
            name: value
            for name, value in new_arguments.items()
            if name != "capital"
            or re.search(r"\b(?:capital|account|cuenta|have|had|tengo|tuviera|with|con)\b", normalized)
        }
        at_risk = (
            spent_in(normalized) if "capital" in arguments and re.search(r"\b(?:risk|arriesg)", normalized) else None
        )
        updates = (
            {"risk_percent": at_risk / float(arguments["capital"])}
            if at_risk and "risk_percent" not in updates
            else updates
        )
        if updates:
            return replace(earlier, calls=((tool, {**arguments, **updates}),))
    if is_bare and is_short and (moved_in_time := _for_another_time(text, normalized, earlier, schemas)):
        return moved_in_time
    if (
        tool == "create_alert"
        and is_bare
        and (talk_words.GOING_ON.search(normalized) or only_figures(normalized, schema))
        and talk_words.TURNS.search(normalized)
        and "price" in new_arguments
        and change_in(normalized) is None
    ):
        return Wish(
            Intent.TOOL,
            ((tool, {**arguments, "condition": new_arguments["condition"], "price": new_arguments["price"]}),),
        )
    if earlier.missing == ("symbol",) and is_same_tool and symbols and "tickers" in schema["properties"]:
        return replace(earlier, calls=((tool, {**arguments, "tickers": list(symbols)}),), missing=())
    if earlier.missing == ("symbol",) and is_same_tool and len(symbols) > 1:
        return replace(earlier, calls=tuple((tool, {**arguments, "symbol": symbol}) for symbol in symbols), missing=())
    may_complete = "?" not in text or earlier.missing == tuple(new_arguments)
    if earlier.missing and small_talk_in(normalized) is None and may_complete and is_same_tool:
        updates = {
            name: value for name, value in new_arguments.items() if name in earlier.missing or name.endswith("_price")
        }
        if updates:
            merged = {**new_arguments, **arguments, **updates}
            awaited_prices = (name for name in earlier.missing if name.endswith("_price") and name not in merged)
            missing = tuple(dict.fromkeys([*missing_arguments(schema, merged), *awaited_prices]))
            missing = tuple(name for name in missing if name != _COMPUTED_ARGUMENTS.get(earlier.way))
            return replace(earlier, calls=((tool, merged), *earlier.calls[1:]), missing=missing)
    if earlier.missing:
        return None
    # "A third", after a share of a position to sell, is another share and not a part of it.
    change = None if share is not None and arguments.keys() & {"share", "kept"} else change_in(normalized)
    if earlier.way == "affordable" and is_bare and change is not None and change.factor is not None:
        return replace(earlier, shown=str(number_of(earlier.shown) * change.factor))
    if tool == "get_price" and is_bare and change is not None and change.factor is not None:
        return Wish(Intent.TOOL, earlier.calls, way="part", shown=str(change.factor))
    if tool in ("get_ml_signals", "get_ml_features") and is_bare and is_short:
        if talk_words.SURE.search(normalized):
            return Wish(Intent.TOOL, (("get_ml_signals", {"symbol": arguments["symbol"]}),))
        if talk_words.WHY.search(normalized):
            name = "get_ml_features"
            return Wish(Intent.TOOL, ((name, arguments),)) if name in schemas else Wish(Intent.TOOL, withheld=name)
    if tool == ORDER and is_bare and "?" not in text and (condition := condition_after(text)):
        order = conditions.with_condition(
            Wish(Intent.TOOL, ((tool, conditions.without_condition(arguments)),)), condition
        )
        is_plain_level = not order.way and not order.missing and "quantity" in arguments
        return _with_arguments(earlier, order.calls[0][1]) if is_plain_level else Wish(Intent.UNREAD, shown=condition)
    is_correction = talk_words.AMENDS.search(normalized) or (phrase is None and talk_words.YES_BUT.search(normalized))
    is_correction = is_correction or (talk_words.CORRECTS.search(normalized) and is_short)
    is_correction = is_correction or (is_bare and only_figures(normalized, schema))
    has_price = any(name.endswith("_price") for name in arguments)
    has_plain_quantity = tool == ORDER and "quantity" in arguments and not has_price
    if (
        has_plain_quantity
        and is_correction
        and is_same_tool
        and not symbols
        and wants_change(text, normalized)
        and (amount := spent_in(normalized)) is not None
    ):
        unchanged = {name: value for name, value in arguments.items() if name != "quantity"}
        return Wish(Intent.TOOL, ((tool, unchanged), ("cancel_paper_order", arguments)), way="spend", shown=str(amount))
    at_market = tool == ORDER and is_bare and bool(order_words.AT_MARKET.search(normalized)) and is_short
    if (
        tool in _REPLACING_WAYS
        and (is_correction or at_market)
        and change is None
        and is_same_tool
        and wants_change(text, normalized)
    ):
        if earlier.way in _COMPUTED_ARGUMENTS and (figure := new_level(normalized, earlier, new_arguments)):
            return replace(_with_arguments(earlier, dict(arguments)), shown=figure)
        merged = with_figures(normalized, tool, arguments, new_arguments, symbols) or (
            dict(arguments) if at_market else None
        )
        if merged is not None and earlier.way == "as_many" and "quantity" not in merged:
            return Wish(Intent.UNREAD, shown=normalized)  # the quantity was computed and is not known here
        if merged is not None:
            return _with_arguments(earlier, merged)
    wants_more = symbols or (
        _ADDITIONAL.search(normalized) and "limit_price" in new_arguments and "symbol" in arguments and "?" not in text
    )
    if (
        wants_more
        and phrase is None
        and tool == ORDER
        and talk_words.GOING_ON.search(normalized)
        and "quantity" in new_arguments
    ):
        new_arguments = {"symbol": arguments.get("symbol"), **new_arguments}
        figures = {
            name: new_arguments[name] for name in new_arguments if name in schema["required"] or name.endswith("_price")
        }
        return Wish(Intent.TOOL, ((tool, {"side": arguments["side"], **figures}),))  # another order of the same side
    computing_way = earlier.way if earlier.way in _COMPUTED_ARGUMENTS else ""
    if (
        symbols
        and phrase is None
        and tool == ORDER
        and talk_words.SAME.search(normalized)
        and (computing_way or "quantity" in arguments)
    ):
        unchanged = {name: value for name, value in arguments.items() if not name.endswith("_price")}
        price_arguments = tuple(name for name in arguments if name not in unchanged)
        return replace(
            earlier, calls=((tool, {**unchanged, "symbol": symbols[0]}),), missing=price_arguments, way=computing_way
        )
    if is_bare and tool not in (*_REPLACING_WAYS, "get_ohlcv") and is_short:
        timeframe = new_arguments.get("timeframe")
        offered_timeframes = schema["properties"].get("timeframe", {}).get("enum")
        if offered_timeframes and (timeframe or frame_in(normalized)) not in (None, *offered_timeframes):
            return earlier  # answered without it, with the remark that it was ignored
        if timeframe is not None and timeframe != arguments.get("timeframe"):
            return Wish(Intent.TOOL, ((tool, {**arguments, "timeframe": timeframe}),))
    if tool in _TOOLS_WITH_TIME and tool != CORRELATION and is_bare and (day := date_in(normalized)) is not None:
        bars = schemas["get_ohlcv"]["properties"] if "get_ohlcv" in schemas else None
        if bars is not None:
            day_bars = bar_range(text, normalized, day, takes_days="start" in bars)
            shares = arguments.get("tickers") or [arguments["symbol"]]
            return Wish(Intent.TOOL, tuple(("get_ohlcv", {"symbol": symbol, **day_bars}) for symbol in shares))
    is_about_it = not symbols or (len(symbols) == 1 and phrase is None)
    if (
        tool == "get_ohlcv"
        and is_same_tool
        and is_about_it
        and (timeframe := frame_in(normalized))
        and not names_time_range(text, normalized)
    ):
        return Wish(
            Intent.TOOL, ((tool, in_frame(arguments | ({"symbol": symbols[0]} if symbols else {}), timeframe)),)
        )
    if (
        symbols
        and phrase is None
        and tool not in _REPLACING_WAYS
        and len(normalized.split()) <= MAX_FOLLOW_UP_WORDS - 1
        and talk_words.GOING_ON.search(normalized)
    ):
        name = "tickers" if "tickers" in arguments else "symbol"
        if name in arguments:
            tickers = [arguments[name][0], *symbols] if tool == CORRELATION and len(symbols) == 1 else list(symbols)
            calls = ((tool, {**arguments, name: tickers if name == "tickers" else symbols[0]}),)
            return replace(earlier, calls=calls, missing=())
    return None


def _for_another_time(text: str, normalized: str, earlier: Wish, schemas: Mapping[str, Schema]) -> Wish | None:
    """The request for shares, for another time: "and this month?", "and the day after?"; None if the text says more."""
    tool, arguments = earlier.calls[0]
    if earlier.way or tool not in _TOOLS_WITH_TIME:
        return None
    tickers = arguments.get("tickers") or [symbol["symbol"] for _, symbol in earlier.calls]
    if (days := shifted_days(normalized, arguments)) is not None:
        same_day = tool == "get_ohlcv"
        if same_day and "get_ohlcv" in schemas:
            bars = bar_range("", "", date.fromisoformat(days[1]), takes_days="start" in schemas[tool]["properties"])
            return Wish(Intent.TOOL, tuple((tool, {"symbol": symbol, **bars}) for symbol in tickers))
        return Wish(Intent.TOOL, ((tool, {"tickers": tickers, "start": days[0], "end": days[1]}),))
    unread_text = UnreadText(PERIOD_FIGURE.sub(BLANK, folded(_FOLLOW_UP_WORDS.sub(" ", text))))
    stretch = next(iter(take_periods(unread_text)), None)
    other_words = [
        word for word in significant_words(unread_text.text.replace(BLANK, " ")) if not is_common(keys_of(word))
    ]
    if stretch is None and BLANK in unread_text.text and tool != CORRELATION and not other_words:
        days = {name: arguments[name] for name in ("start", "end", "period") if name in arguments} or {"period": "1y"}
        return Wish(Intent.TOOL, ((PERFORMANCE, {"tickers": tickers, **days}),)) if PERFORMANCE in schemas else None
    if stretch is None or stretch.is_day or tool == "get_ohlcv" or other_words:
        return None
    if tool == CORRELATION:
        return Wish(Intent.TOOL, ((tool, {"tickers": tickers, **stretch.tool_arguments}),))
    if PERFORMANCE not in schemas or stretch.period == "1d":
        return Wish(Intent.TOOL, tuple(("get_price", {"symbol": symbol}) for symbol in tickers))
    return Wish(Intent.TOOL, ((PERFORMANCE, {"tickers": tickers, **stretch.tool_arguments}),))


def _at_another_time(
    text: str, normalized: str, earlier: Wish, new_arguments: Mapping[str, Any], symbols: Sequence[str]
) -> Wish | None:
    """The order that was for a later time: now, or at a price. With only another figure, it stays for later."""
    (tool, arguments), *others = earlier.calls
    has_price = any(name.endswith("_price") for name in new_arguments)
    if has_price or talk_words.AMENDS.search(normalized):
        arguments = with_figures(normalized, tool, arguments, new_arguments, symbols) or arguments
    elif not talk_words.AT_ONCE.search(normalized) and not order_words.AT_MARKET.search(normalized):
        return None
    is_due = has_price or talk_words.AT_ONCE.search(normalized) or order_words.AT_MARKET.search(normalized)
    return replace(
        earlier, calls=((tool, arguments), *others), missing=() if is_due and "?" not in text else LATER_TIME
    )


def _with_arguments(earlier: Wish, arguments: dict[str, Any], missing: tuple[str, ...] = ()) -> Wish:
    """The call with other arguments. An order or alert that exists already is cancelled first."""
    (tool, old_arguments), way = earlier.calls[0], earlier.way
    if tool not in _REPLACING_WAYS:
        return Wish(Intent.TOOL, ((tool, arguments),), missing)
    cancelling_tool = "delete_alert" if tool == "create_alert" else "cancel_paper_order"
    has_figure = "quantity" in arguments if way == "spend" else any(name.endswith("_price") for name in arguments)
    if way in _COMPUTED_ARGUMENTS and not has_figure:
        return replace(earlier, calls=((tool, arguments), (cancelling_tool, old_arguments)))
    ways = {"sell": "resell", "stop": "resell", "resell": "resell"}
    return Wish(
        Intent.TOOL,
        ((tool, arguments), (cancelling_tool, old_arguments)),
        missing,
        way=ways.get(way, _REPLACING_WAYS[tool]),
    )
