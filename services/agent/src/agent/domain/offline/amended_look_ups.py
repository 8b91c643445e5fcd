"""Applies a follow-up to a look-up: another time, timeframe, multiple or share, or what a prediction is based on."""

import re
from dataclasses import replace
from datetime import date

from agent.domain.analysis.relative_days import date_in, shifted_days
from agent.domain.analysis.stretches import BLANK, UnreadText, take_periods
from agent.domain.analysis.wanted_calls import CORRELATION, PERFORMANCE
from agent.domain.claims.lexer import folded
from agent.domain.offline import talk_words
from agent.domain.offline.bar_range import bar_range, frame_in, in_frame, names_time_range
from agent.domain.offline.common_words import is_common, significant_words
from agent.domain.offline.follow_up import MAX_FOLLOW_UP_WORDS, REPLACING_WAYS, FollowUp
from agent.domain.offline.lexicon import keys_of
from agent.domain.offline.wishes import Intent, Wish
from contracts.expressions import expression

_TOOLS_WITH_TIME = ("get_price", "market_snapshot", "get_ohlcv", PERFORMANCE, CORRELATION)
_FOLLOW_UP_WORDS = expression(
    rf"^(?:{talk_words.CORRECTS.pattern[1:]})+|\b(?:its|their|sus?|which|cu[aá]l|had|has|tuvo|tiene|(?:smallest|biggest|"
    r"largest|lowest|highest|greatest|menor|mayor)(?! (?:fall|drop|loss|ca[ií]da|bajada|close)))\b", re.IGNORECASE
)  # fmt: skip
"""Words of a follow-up that only say that it corrects, whose figure it is, and which of several is asked for."""
PERIOD_FIGURE = expression(
    r"\b(?:max(?:imum|imo)?|min(?:imum|imo)?|high(?:est)?(?: close)?|low(?:est)?(?: close)?|peak|volatil\w+|drawdown|"
    r"(?:biggest|largest|mayor) (?:fall|drop|loss|caida|bajada)|returns?|rentabilidad|"
    r"(?:best|worst) day|(?:mejor|peor) dia|(?:cierre )?mas (?:alt|baj)[oa]|(?:in|over|during) (?:that|the same) "
    r"(?:time|period|stretch)|en (?:ese|el mismo) (?:tiempo|periodo))\b"
)
"""Figures of a period."""


def for_another_time(follow_up: FollowUp) -> Wish | None:
    """The request for shares, for another time: "and this month?", "and the day after?"; None if the text says more."""
    tool, arguments, earlier, schemas = follow_up.tool, follow_up.arguments, follow_up.earlier, follow_up.schemas
    if not (follow_up.is_bare and follow_up.is_short) or earlier.way or tool not in _TOOLS_WITH_TIME:
        return None
    tickers = arguments.get("tickers") or [symbol["symbol"] for _, symbol in earlier.calls]
    if (days := shifted_days(follow_up.normalized, arguments)) is not None:
        same_day = tool == "get_ohlcv"
        if same_day and "get_ohlcv" in schemas:
            bars = bar_range("", "", date.fromisoformat(days[1]), takes_days="start" in schemas[tool]["properties"])
            return Wish(Intent.TOOL, tuple((tool, {"symbol": symbol, **bars}) for symbol in tickers))
        return Wish(Intent.TOOL, ((tool, {"tickers": tickers, "start": days[0], "end": days[1]}),))
    unread_text = UnreadText(PERIOD_FIGURE.sub(BLANK, folded(_FOLLOW_UP_WORDS.sub(" ", follow_up.text))))
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


def multiple(follow_up: FollowUp) -> Wish | None:
    """Half or twice of a price, or of the sum that shares were counted for."""
    if not follow_up.is_bare or follow_up.change is None or (factor := follow_up.change.factor) is None:
        return None
    if follow_up.earlier.way == "affordable":
        return replace(follow_up.earlier, amount=follow_up.earlier.amount * factor)
    is_price = follow_up.tool == "get_price"
    return Wish(Intent.TOOL, follow_up.earlier.calls, way="part", amount=factor) if is_price else None


def prediction_details(follow_up: FollowUp) -> Wish | None:
    """How reliable a prediction is, or what it is based on."""
    if follow_up.tool not in ("get_ml_signals", "get_ml_features") or not (follow_up.is_bare and follow_up.is_short):
        return None
    if talk_words.SURE.search(follow_up.normalized):
        return Wish(Intent.TOOL, (("get_ml_signals", {"symbol": follow_up.arguments["symbol"]}),))
    if not talk_words.WHY.search(follow_up.normalized):
        return None
    name = "get_ml_features"
    is_offered = name in follow_up.schemas
    return Wish(Intent.TOOL, ((name, follow_up.arguments),)) if is_offered else Wish(Intent.TOOL, withheld=name)


def in_timeframe(follow_up: FollowUp) -> Wish | None:
    """The look-up in another timeframe."""
    tool, arguments, normalized, symbols = (
        follow_up.tool, follow_up.arguments, follow_up.normalized, follow_up.symbols
    )  # fmt: skip
    frame = frame_in(normalized)
    if tool == "get_ohlcv":
        is_about_it = not symbols or (len(symbols) == 1 and follow_up.phrase is None)
        if frame and follow_up.is_same_tool and is_about_it and not names_time_range(follow_up.text, normalized):
            share = {"symbol": symbols[0]} if symbols else {}
            return Wish(Intent.TOOL, ((tool, in_frame(arguments | share, frame)),))
        return None
    if not (follow_up.is_bare and follow_up.is_short) or tool in REPLACING_WAYS:
        return None
    timeframe = follow_up.new_arguments.get("timeframe")
    offered_timeframes = follow_up.schema["properties"].get("timeframe", {}).get("enum")
    if offered_timeframes and (timeframe or frame) not in (None, *offered_timeframes):
        return follow_up.earlier  # answered without it, with the remark that it was ignored
    if timeframe is not None and timeframe != arguments.get("timeframe"):
        return Wish(Intent.TOOL, ((tool, {**arguments, "timeframe": timeframe}),))
    return None


def on_day(follow_up: FollowUp) -> Wish | None:
    """The bars of a single day, for the shares of the look-up."""
    is_timed = follow_up.tool in _TOOLS_WITH_TIME and follow_up.tool != CORRELATION
    day = date_in(follow_up.normalized) if is_timed and follow_up.is_bare else None
    if day is None or "get_ohlcv" not in follow_up.schemas:
        return None
    takes_days = "start" in follow_up.schemas["get_ohlcv"]["properties"]
    bars = bar_range(follow_up.text, follow_up.normalized, day, takes_days=takes_days)
    shares = follow_up.arguments.get("tickers") or [follow_up.arguments["symbol"]]
    return Wish(Intent.TOOL, tuple(("get_ohlcv", {"symbol": symbol, **bars}) for symbol in shares))


def for_other_shares(follow_up: FollowUp) -> Wish | None:
    """The look-up for other shares: "and AAPL?"."""
    tool, arguments, symbols = follow_up.tool, follow_up.arguments, follow_up.symbols
    name = "tickers" if "tickers" in arguments else "symbol"
    if (
        symbols
        and follow_up.phrase is None
        and tool not in REPLACING_WAYS
        and len(follow_up.normalized.split()) < MAX_FOLLOW_UP_WORDS
        and talk_words.GOING_ON.search(follow_up.normalized)
        and name in arguments
    ):
        tickers = [arguments[name][0], *symbols] if tool == CORRELATION and len(symbols) == 1 else list(symbols)
        calls = ((tool, {**arguments, name: tickers if name == "tickers" else symbols[0]}),)
        return replace(follow_up.earlier, calls=calls, missing=())
    return None
