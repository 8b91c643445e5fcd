"""Applies a follow-up to the previous request: another quantity, price, symbol or timeframe, or a missing figure.

After "buy 3 MSFT", "make it 5" replaces the order and "same for AAPL" prepares one more. After "How many shares?", "5"
completes it. Where the follow-up is about something else, nothing is amended.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from agent.domain.analysis.stretches import BLANK, Unread, stretches_in
from agent.domain.analysis.wanted_calls import CORRELATION, PERFORMANCE
from agent.domain.claims.lexer import folded
from agent.domain.number_words import in_figures
from agent.domain.offline import conditions, order_words, slots, talk_words
from agent.domain.offline.bar_range import bar_range, frame_in, in_frame, names_time_range
from agent.domain.offline.changes import change_in, changed, kept_in, nearer, percent_in, share_in, spent_in
from agent.domain.offline.common_words import is_common, significant_words
from agent.domain.offline.conditions import away_in, condition_after, from_now, wants_change
from agent.domain.offline.grammar import ToolPhrase
from agent.domain.offline.kinds import ordinal_in
from agent.domain.offline.lexicon import keys_of
from agent.domain.offline.order_words import condition_in
from agent.domain.offline.relative_days import date_in, moved_days
from agent.domain.offline.slots import ParsedText, Schema, arguments_for, missing_arguments, only_figures, tool_value
from agent.domain.offline.small_talk import small
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import number_of, numbers_in

FIGURES = ("calculate_risk_reward", "calculate_position_size")
WHEN = ("when",)
"""What an order lacks that is to be placed at a later time, which nobody waits for."""
_ANOTHER = re.compile(r"\b(?:another|otr[oa])\b")
_ONE_MORE = re.compile(r"\b(?:also|too|tambien|another|otr[oa]s?)\b")
_AND = re.compile(
    r"^\W*(?:(?:and|y|but|pero)\b\W*)?(?:(?:what |and )?if (?:it|i|they) (?:were|was|buy|bought|got)\b|(?:what|how) "
    r"about\b|"
    r"si (?:fuer[ao]n?|fuesen?|son|compr[oa]\w*)\b)?(?:\W*(?:only|just|solo)\b)?"
)
_ORDERS = re.compile(r"\b(?:limit(?:e|ada)?|orders?|orden|market|mercado)\b")
_TO_FIGURE = re.compile(r"\ba [$€]?\d[\d.,]*\W*$")
_OF_A_TIME = ("get_price", "market_snapshot", "get_ohlcv", PERFORMANCE, CORRELATION)
_BEFORE_IT = re.compile(
    rf"^(?:{talk_words.CORRECTS.pattern[1:]})+|\b(?:its|their|sus?|which|cu[aá]l|had|has|tuvo|tiene|(?:smallest|biggest|"
    r"largest|lowest|highest|greatest|menor|mayor)(?! (?:fall|drop|loss|ca[ií]da|bajada|close)))\b", re.IGNORECASE
)  # fmt: skip
"""Of a follow-up, what only says that it corrects, whose figure it is, and which of several is asked for."""
OF_A_STRETCH = re.compile(
    r"\b(?:max(?:imum|imo)?|min(?:imum|imo)?|high(?:est)?(?: close)?|low(?:est)?(?: close)?|peak|volatil\w+|drawdown|"
    r"(?:biggest|largest|mayor) (?:fall|drop|loss|caida|bajada)|returns?|rentabilidad|"
    r"(?:best|worst) day|(?:mejor|peor) dia|(?:cierre )?mas (?:alt|baj)[oa]|(?:in|over|during) (?:that|the same) "
    r"(?:time|period|stretch)|en (?:ese|el mismo) (?:tiempo|periodo))\b"
)
"""Figures of a stretch of time."""
FEW = 7
"""The most words that a follow-up has."""
_ORDER = "create_paper_order"
_WORKED_OUT = {"spend": "quantity", "share_of_cash": "quantity", "at_level": "price"}
"""What of an order is worked out at the price of now, by the way that does it."""
_REPLACED = {_ORDER: "replace", "create_alert": "replace_listed"}
"""Tools whose result is replaced when it changes, and the way that does it."""
GOES_ON = (
    "", "sell", "stop", "resell", "from_now", "sized", "spend", "stop_later", "affordable", "means", "as_many",
    "at_level", "part", "share_of_cash", *_REPLACED.values(),
)  # fmt: skip
"""The ways whose requests a follow-up can change or complete."""


def amended(
    text: str, said: str, earlier: Wish, schemas: Mapping[str, Schema], own: Sequence[str], row: ToolPhrase | None
) -> Wish | None:
    """The earlier request with what this text changes or adds; None if the text is about something else."""
    tool, arguments = earlier.calls[0]
    schema = schemas[tool]
    given = arguments_for(tool, schema, ParsedText.of(text))
    same = row is None or row.tool == tool
    another = row is None and tool == "create_alert" and (own or _ANOTHER.search(said))
    another = another and (talk_words.GOING_ON.search(said) or _ANOTHER.search(said))
    if another and (percent_in(said) is not None or away_in(said) is not None):
        return from_now(tool, {"symbol": [*own, arguments["symbol"]][0], "condition": condition_in(said)}, said)
    if another and "price" in given:
        told = talk_words.TURNS.search(said) or _ANOTHER.search(said)
        turned = given["condition"] if told else arguments["condition"]
        return Wish(Intent.TOOL, ((tool, {"symbol": arguments["symbol"], **given, "condition": turned}),))
    if tool in _REPLACED and ordinal_in(said) is not None and talk_words.CHANGES_IT.search(said):
        return None  # it is about one of several
    bare = slots.FIGURE_ALONE.fullmatch(_AND.sub("", in_figures(said), count=1))
    if earlier.way == "part" and row is None and not own and bare is not None:
        return replace(earlier, shown="@".join([bare["figure"], *earlier.shown.split("@")[1:]]))
    sums = [value for _, value in numbers_in(said)]
    if earlier.way in ("affordable", "grown") and not own and bare is not None and len(sums) == 1:
        return replace(earlier, shown=str(sums[0]))
    if tool == "get_price" and not earlier.way and row is None and not own and bare is not None and bare["of"]:
        return replace(earlier, way="part", shown=bare["figure"])
    short, share = len(said.split()) <= FEW, share_in(said) if tool == _ORDER else None
    told = [value for _, value in numbers_in(said)]
    if earlier.way == "share_of_cash" and share is None and len(told) == 1 and 0 < told[0] < 100:
        share = told[0] / 100  # "no, 5": per cent, as the figure before
    if earlier.way == "share_of_cash" and row is None and not own and short and share is not None:
        return replace(_instead(earlier, dict(arguments)), shown=str(share))
    if earlier.way in ("from_now", "share_of_cash") or (
        earlier.way == "replace_listed" and "symbol" in arguments and "side" not in arguments and tool == _ORDER
    ):
        return None  # its price is not known yet, so that nothing of it can be changed
    if tool == _ORDER and earlier.missing and row is not None and own and arguments.get("symbol", own[0]) != own[0]:
        return None  # an order of its own, and no answer to how many
    if "quantity" in earlier.missing and arguments.get("side") == "sell" and same and share is not None and short:
        return Wish(Intent.TOOL, ((tool, {**arguments, "share": share}),), way="sell")
    if earlier.missing == ("quantity",) and same and not own and (money := spent_in(said)) is not None:
        return replace(earlier, missing=(), way="spend", shown=str(money))
    if len(earlier.missing) == 1 and earlier.missing != WHEN and (figure := slots.FIGURE_ALONE.fullmatch(said)):
        given = {earlier.missing[0]: tool_value(earlier.missing[0], figure["figure"])}  # the answer to our question
    if tool == _ORDER and row is None and talk_words.LATER.search(said) and len(said.split()) <= FEW:
        return replace(earlier, missing=WHEN)
    if earlier.missing == WHEN and same:
        return _at_another_time(text, said, earlier, given, own)
    changes = row is None or (same and tool != _ORDER) or talk_words.AMENDS.search(said)
    named_another = [one for one in own if one != arguments.get("symbol", one)]
    if (
        not earlier.missing
        and changes
        and not named_another
        and (merged := _with_change(said, tool, arguments)) is not None
    ):
        return _instead(earlier, merged, tuple(name for name in arguments if name not in merged))
    if earlier.way == "spend" and changes and (part := change_in(said)) is not None and part.factor is not None:
        return replace(_instead(earlier, dict(arguments)), shown=str(float(earlier.shown) * part.factor))
    if tool in FIGURES and not earlier.missing and same and small(said) is None and not _ORDERS.search(said):
        new = {
            name: value
            for name, value in given.items()
            if name != "capital" or re.search(r"\b(?:capital|account|cuenta|have|had|tengo|tuviera|with|con)\b", said)
        }
        at_risk = spent_in(said) if "capital" in arguments and re.search(r"\b(?:risk|arriesg)", said) else None
        new = {"risk_percent": at_risk / float(arguments["capital"])} if at_risk and "risk_percent" not in new else new
        if new:
            return replace(earlier, calls=((tool, {**arguments, **new}),))
    if row is None and not own and short and (moved := _at_other_times(text, said, earlier, schemas)):
        return moved
    if (
        tool == "create_alert"
        and row is None
        and not own
        and (talk_words.GOING_ON.search(said) or only_figures(said, schema))
        and talk_words.TURNS.search(said)
        and "price" in given
        and change_in(said) is None
    ):
        return Wish(Intent.TOOL, ((tool, {**arguments, "condition": given["condition"], "price": given["price"]}),))
    if earlier.missing == ("symbol",) and same and own and "tickers" in schema["properties"]:
        return replace(earlier, calls=((tool, {**arguments, "tickers": list(own)}),), missing=())
    if earlier.missing == ("symbol",) and same and len(own) > 1:
        return replace(earlier, calls=tuple((tool, {**arguments, "symbol": one}) for one in own), missing=())
    answers = "?" not in text or earlier.missing == tuple(given)
    if earlier.missing and small(said) is None and answers and same:
        new = {name: value for name, value in given.items() if name in earlier.missing or name.endswith("_price")}
        if new:
            merged = {**given, **arguments, **new}
            waits = (name for name in earlier.missing if name.endswith("_price") and name not in merged)
            missing = tuple(dict.fromkeys([*missing_arguments(schema, merged), *waits]))
            missing = tuple(name for name in missing if name != _WORKED_OUT.get(earlier.way))
            return replace(earlier, calls=((tool, merged), *earlier.calls[1:]), missing=missing)
    if earlier.missing:
        return None
    # "A third" of a share that is sold is another share, and no part of it.
    change = None if share is not None and arguments.keys() & {"share", "kept"} else change_in(said)
    if earlier.way == "affordable" and row is None and not own and change is not None and change.factor is not None:
        return replace(earlier, shown=str(number_of(earlier.shown) * change.factor))
    if tool == "get_price" and row is None and not own and change is not None and change.factor is not None:
        return Wish(Intent.TOOL, earlier.calls, way="part", shown=str(change.factor))
    if tool in ("get_ml_signals", "get_ml_features") and row is None and not own and len(said.split()) <= FEW:
        if talk_words.SURE.search(said):
            return Wish(Intent.TOOL, (("get_ml_signals", {"symbol": arguments["symbol"]}),))
        if talk_words.WHY.search(said):
            name = "get_ml_features"
            return Wish(Intent.TOOL, ((name, arguments),)) if name in schemas else Wish(Intent.TOOL, withheld=name)
    if tool == _ORDER and row is None and not own and "?" not in text and (waits := condition_after(text)):
        order = conditions.with_condition(Wish(Intent.TOOL, ((tool, conditions.without_condition(arguments)),)), waits)
        plain_level = not order.way and not order.missing and "quantity" in arguments
        return _instead(earlier, order.calls[0][1]) if plain_level else Wish(Intent.UNREAD, shown=waits)
    corrects = talk_words.AMENDS.search(said) or (row is None and talk_words.YES_BUT.search(said))
    corrects = corrects or (talk_words.CORRECTS.search(said) and len(said.split()) <= FEW)
    corrects = corrects or (row is None and not own and only_figures(said, schema))
    priced = any(name.endswith("_price") for name in arguments)
    counted = tool == _ORDER and "quantity" in arguments and not priced
    if counted and corrects and same and not own and wants_change(text, said) and (money := spent_in(said)) is not None:
        kept = {name: one for name, one in arguments.items() if name != "quantity"}
        return Wish(Intent.TOOL, ((tool, kept), ("cancel_paper_order", arguments)), way="spend", shown=str(money))
    at_market = (
        tool == _ORDER
        and row is None
        and not own
        and bool(order_words.AT_MARKET.search(said))
        and len(said.split()) <= FEW
    )
    if tool in _REPLACED and (corrects or at_market) and change is None and same and wants_change(text, said):
        if earlier.way in _WORKED_OUT and (figure := _another_level(said, earlier, given)):
            return replace(_instead(earlier, dict(arguments)), shown=figure)
        merged = _with_figures(said, tool, arguments, given, own) or (dict(arguments) if at_market else None)
        if merged is not None and earlier.way == "as_many" and "quantity" not in merged:
            return Wish(Intent.UNREAD, shown=said)  # how many that is was worked out, and is not known here
        if merged is not None:
            return _instead(earlier, merged)
    more = own or (_ONE_MORE.search(said) and "limit_price" in given and "symbol" in arguments and "?" not in text)
    if more and row is None and tool == _ORDER and talk_words.GOING_ON.search(said) and "quantity" in given:
        given = {"symbol": arguments.get("symbol"), **given}
        told = {name: given[name] for name in given if name in schema["required"] or name.endswith("_price")}
        return Wish(Intent.TOOL, ((tool, {"side": arguments["side"], **told}),))  # another order of the same side
    worked_out = earlier.way if earlier.way in _WORKED_OUT else ""
    if (
        own
        and row is None
        and tool == _ORDER
        and talk_words.SAME.search(said)
        and (worked_out or "quantity" in arguments)
    ):
        kept = {name: one for name, one in arguments.items() if not name.endswith("_price")}
        priced = tuple(name for name in arguments if name not in kept)
        return replace(earlier, calls=((tool, {**kept, "symbol": own[0]}),), missing=priced, way=worked_out)
    if row is None and not own and tool not in (*_REPLACED, "get_ohlcv") and len(said.split()) <= FEW:
        frame = given.get("timeframe")
        offered = schema["properties"].get("timeframe", {}).get("enum")
        if offered and (frame or frame_in(said)) not in (None, *offered):
            return earlier  # it is told without, and that this was left out
        if frame is not None and frame != arguments.get("timeframe"):
            return Wish(Intent.TOOL, ((tool, {**arguments, "timeframe": frame}),))
    if tool in _OF_A_TIME and tool != CORRELATION and row is None and not own and (day := date_in(said)) is not None:
        bars = schemas["get_ohlcv"]["properties"] if "get_ohlcv" in schemas else None
        if bars is not None:
            of_day = bar_range(text, said, day, days="start" in bars)
            shares = arguments.get("tickers") or [arguments["symbol"]]
            return Wish(Intent.TOOL, tuple(("get_ohlcv", {"symbol": one, **of_day}) for one in shares))
    of_it = not own or (len(own) == 1 and row is None)
    if tool == "get_ohlcv" and same and of_it and (frame := frame_in(said)) and not names_time_range(text, said):
        return Wish(Intent.TOOL, ((tool, in_frame(arguments | ({"symbol": own[0]} if own else {}), frame)),))
    if (
        own
        and row is None
        and tool not in _REPLACED
        and len(said.split()) <= FEW - 1
        and talk_words.GOING_ON.search(said)
    ):
        name = "tickers" if "tickers" in arguments else "symbol"
        if name in arguments:
            tickers = [arguments[name][0], *own] if tool == CORRELATION and len(own) == 1 else list(own)
            calls = ((tool, {**arguments, name: tickers if name == "tickers" else own[0]}),)
            return replace(earlier, calls=calls, missing=())
    return None


def _at_other_times(text: str, said: str, earlier: Wish, schemas: Mapping[str, Schema]) -> Wish | None:
    """What was asked of shares, of another time: "and this month?", "and the day after?"; None: the text says more."""
    tool, arguments = earlier.calls[0]
    if earlier.way or tool not in _OF_A_TIME:
        return None
    tickers = arguments.get("tickers") or [one["symbol"] for _, one in earlier.calls]
    if (days := moved_days(said, arguments)) is not None:
        same_day = tool == "get_ohlcv"
        if same_day and "get_ohlcv" in schemas:
            bars = bar_range("", "", date.fromisoformat(days[1]), days="start" in schemas[tool]["properties"])
            return Wish(Intent.TOOL, tuple((tool, {"symbol": one, **bars}) for one in tickers))
        return Wish(Intent.TOOL, ((tool, {"tickers": tickers, "start": days[0], "end": days[1]}),))
    unread = Unread(OF_A_STRETCH.sub(BLANK, folded(_BEFORE_IT.sub(" ", text))))
    stretch = next(iter(stretches_in(unread)), None)
    rest = [word for word in significant_words(unread.text.replace(BLANK, " ")) if not is_common(keys_of(word))]
    if stretch is None and BLANK in unread.text and tool != CORRELATION and not rest:
        days = {name: arguments[name] for name in ("start", "end", "period") if name in arguments} or {"period": "1y"}
        return Wish(Intent.TOOL, ((PERFORMANCE, {"tickers": tickers, **days}),)) if PERFORMANCE in schemas else None
    if stretch is None or stretch.is_day or tool == "get_ohlcv" or rest:
        return None
    if tool == CORRELATION:
        return Wish(Intent.TOOL, ((tool, {"tickers": tickers, **stretch.tool_arguments}),))
    if PERFORMANCE not in schemas or stretch.period == "1d":
        return Wish(Intent.TOOL, tuple(("get_price", {"symbol": one}) for one in tickers))
    return Wish(Intent.TOOL, ((PERFORMANCE, {"tickers": tickers, **stretch.tool_arguments}),))


def changes_listed(
    said: str, row: ToolPhrase | None, earlier: Wish | None, listed_by: str | None
) -> tuple[str, str] | None:
    """The tools that make and end what is to be changed and was not made just now: "move it to 720" after the list of
    alerts or orders, "change the alert to 720", "change the first" where `listed_by` shows what was spoken of."""
    if not talk_words.CHANGES_IT.search(said) or not numbers_in(said):
        return None
    shown = earlier.calls[0][0] if earlier is not None and row is None else ""
    placed = row is None and listed_by == "list_alerts" and ordinal_in(said) is not None
    made = shown == "create_alert" and earlier is not None and earlier.way == "from_now"  # its price was looked up
    if shown == "list_alerts" or placed or made or (row is not None and row.tool == "create_alert"):
        return "create_alert", "delete_alert"
    named = row is None or row.tool in (_ORDER, "get_pending_orders")
    ordered = shown == "get_pending_orders" or (named and re.search(r"\b(?:order|orden|pedido|limite?|stop)\b", said))
    return (_ORDER, "cancel_paper_order") if ordered else None


def _at_another_time(text: str, said: str, earlier: Wish, given: Mapping[str, Any], own: Sequence[str]) -> Wish | None:
    """The order that was to be placed later: now, or at a price; with another figure it is still for later."""
    (tool, arguments), *others = earlier.calls
    priced = any(name.endswith("_price") for name in given)
    if priced or talk_words.AMENDS.search(said):
        arguments = _with_figures(said, tool, arguments, given, own) or arguments
    elif not talk_words.AT_ONCE.search(said) and not order_words.AT_MARKET.search(said):
        return None
    now = priced or talk_words.AT_ONCE.search(said) or order_words.AT_MARKET.search(said)
    return replace(earlier, calls=((tool, arguments), *others), missing=() if now and "?" not in text else WHEN)


def _with_change(said: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments with one figure changed, and without that figure where the text does not say by how much."""
    change = change_in(said)
    name = (
        changed(said, arguments, slots.MAIN_ARGUMENTS.get(tool) if tool not in FIGURES else None)
        if change is not None
        else None
    )
    if change is None or name is None:
        return None
    figure = change.of(float(arguments[name]))
    rest = {key: value for key, value in arguments.items() if key != name}
    return rest if figure is None else {**rest, name: figure}


def _with_figures(
    said: str, tool: str, arguments: Mapping[str, Any], given: Mapping[str, Any], own: Sequence[str]
) -> dict[str, Any] | None:
    """The arguments of an order or alert with the new values of the text; None if it has none."""
    told = dict(given)
    prices = [name for name in arguments if name in ("limit_price", "stop_price")]
    if (
        len(prices) == 1
        and "quantity" in told
        and (slots.MOVES.search(said) or (nearer(told["quantity"], arguments) and not talk_words.COUNTED.search(said)))
    ):
        told[prices[0]] = told.pop("quantity")  # "raise it to 30", or "no, 185" after a stop at 180, is about the price
    elif (
        len(prices) == 1
        and "quantity" in arguments
        and "limit_price" in told
        and "quantity" not in told
        and _TO_FIGURE.search(said)
        and not nearer(told["limit_price"], arguments)
    ):
        told["quantity"] = told.pop("limit_price")  # "cámbiala a 5" after a limit of 500: "a" is "to", not "at"
    if not prices and "limit_price" in told and slots.MOVES.search(said):
        told["quantity"] = told.pop("limit_price")  # "raise it to 20": there is no price to raise
    distance = next((name for name in ("of_price", "of_average_price") if name in arguments), None)
    if distance is not None and (figures := numbers_in(said)):
        side = 1 if float(arguments[distance]) > 1 else -1
        return {**arguments, distance: round(1 + side * figures[-1][1] / 100, 6)}
    other = [one for one in own if one != arguments.get("symbol")]
    # A number without a word about it was read as the quantity.
    new = {name: told[name] for name in ("quantity", "limit_price", "stop_price", "price", "side") if name in told}
    new |= {"symbol": other[0]} if other else {}
    if "side" in arguments and not order_words.SAYS_SIDE.search(said):
        new.pop("side", None)
    if arguments.keys() & {"share", "kept"} and (kept := kept_in(said)):
        arguments = {name: one for name, one in arguments.items() if name not in ("share", "quantity")}
        new = {"kept": kept}
    elif arguments.keys() & {"share", "kept"} and (share := share_in(said)):
        arguments, new = {name: one for name, one in arguments.items() if name != "kept"}, {"share": share}
    merged = {**arguments, **new}
    if tool == _ORDER:
        for name, other in (("stop", "limit"), ("limit", "stop")):
            if re.search(rf"\b{name} order\b|\borden (?:de )?{name}", said) and not re.search(rf"\b{other}", said):
                merged.pop(f"{other}_price", None)
        if order_words.AT_MARKET.search(said):
            merged = {name: value for name, value in merged.items() if not name.endswith("_price")}
        kinds = [name for name in ("stop", "limit") if f"{name}_price" in merged]
        merged["order_type"] = "_".join(kinds) or "market"
    return merged if merged != arguments else None


def _another_level(said: str, earlier: Wish, given: Mapping[str, Any]) -> str:
    """The new sum or price of an order that is worked out by it; nothing: the text names none."""
    if earlier.way == "at_level" and "limit_price" in given:
        return str(given["limit_price"])
    if order_words.SAYS_SIDE.search(said):
        return ""  # another order
    figure = spent_in(said) or float(given.get("quantity", 0))
    if earlier.way == "at_level":
        near = nearer(figure, {**earlier.calls[0][1], "limit_price": earlier.shown})
    else:
        near = figure > float(earlier.shown) / 5  # as money is told, and not how many
    return str(figure) if near else ""


def _instead(earlier: Wish, arguments: dict[str, Any], missing: tuple[str, ...] = ()) -> Wish:
    """The call with other arguments. An order or alert that exists already is cancelled first."""
    (tool, before), way = earlier.calls[0], earlier.way
    if tool not in _REPLACED:
        return Wish(Intent.TOOL, ((tool, arguments),), missing)
    ends = "delete_alert" if tool == "create_alert" else "cancel_paper_order"
    told = "quantity" in arguments if way == "spend" else any(name.endswith("_price") for name in arguments)
    if way in _WORKED_OUT and not told:
        return replace(earlier, calls=((tool, arguments), (ends, before)))
    ways = {"sell": "resell", "stop": "resell", "resell": "resell"}
    return Wish(Intent.TOOL, ((tool, arguments), (ends, before)), missing, way=ways.get(way, _REPLACED[tool]))
