"""Reads which tool a message asks for, with its arguments: by its own words, and by what was asked for before it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from agent.domain.analysis.stretches import when_in
from agent.domain.analysis.wanted_calls import PERFORMANCE
from agent.domain.number_words import in_figures
from agent.domain.offline import market_words, talk_words
from agent.domain.offline.amendments import FEW, GOES_ON, OF_A_STRETCH, WHEN, amended
from agent.domain.offline.calls import LEANS_ON_ONE, OfferedTools, all_moved, call_of
from agent.domain.offline.changed_arguments import FIGURES, changes_listed
from agent.domain.offline.changes import change_in, percent_in, share_in
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.concepts import CONCEPT, DEFINES, concepts_in
from agent.domain.offline.conditions import order_and_condition, with_condition
from agent.domain.offline.grammar import LISTED_BY, TABLE, TAKES_BACK, UNDOES, ToolPhrase
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.kinds import ordinal_in
from agent.domain.offline.nearest_readings import LOOK_UPS, is_of_another
from agent.domain.offline.order_words import AT_MARKET, order_named
from agent.domain.offline.position_size import cost_of, same_quantity
from agent.domain.offline.previous_questions import MAX_MESSAGES_BACK, symbol_mentioned, symbols_mentioned
from agent.domain.offline.relative_days import date_in
from agent.domain.offline.several import (
    alert_instead,
    alerts_at_each,
    is_purchase,
    one_of_several,
    orders_of_each,
    protected,
)
from agent.domain.offline.slots import ParsedText, missing_arguments
from agent.domain.offline.small_talk import LONGEST_TALK, small
from agent.domain.offline.tool_words import MINE, by_share_words, by_words, is_question, without_symbols
from agent.domain.offline.unread import (
    EFFECTS,
    as_requested,
    first_unread_of_change,
    has_effects,
    has_foreign_words,
    order_if_complete,
)
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.shortcuts.words import decision_in
from agent.domain.text_features import numbers_in, plain, symbols_in, word_set

_REPLACING = {"replace": "", "replace_listed": "", "resell": "sell"}
"""What the way is to an order or alert in place of one that does not exist yet."""
_AND = re.compile(r"(?:,\s*|\s+)(?:and|y|e|then|luego)\s+(?:(?:then|also|luego|tambien|también)\s+)?", re.IGNORECASE)
_MOST_READ = 100
"""Parts of a message, and of those before it, that are read for one answer."""
_MOST_WISHES = 3
"""Places at which a text is cut in two."""
_LIST = "get_watchlist"
_OF_THE_LIST = ("add_to_watchlist", "remove_from_watchlist")
_GOES_ON = re.compile(r"^\W*(?:(?:and|but|y|pero)\b\W*)+")
_ASKED_AT = re.compile(
    r"\b(?:what|how|when|where|give|show|tell|dame|dime|muestra\w*|que|como|cuanto|donde|a cuanto|did|was|were)\b|\?"
)
_HOW_MANY_IT_IS = re.compile(
    r"^\W*(?:(?:and|y|so|entonces)\W+)?(?:how (?:many|much) (?:\w+ ){0,2}(?:is|are|was) (?:it|that|this|those)\b|"
    r"cuant[oa]s? (?:\w+ )?(?:es|son|serian?) (?:eso|esto|esas?)?\b)(?!.*\d)"
)
_OF_A_SHARE = re.compile(
    r"\b(?:trading at|quot\w+|cotiza\w*|a (?:cuanto|como) (?:esta|anda|va)|"
    r"up or down|sube o baja)\b"
)
"""Said of the price of a share, and of nothing that a company sells."""
_STOP = re.compile(r"\bstop\b(?! (?:buy|order|de compra)\b)(?<!buy stop)(?<!orden stop)(?<!orden de stop)(?=.*\d)")
_QUOTED = re.compile(r"[\"“«][^\"”»]*[\"”»]")
_LOOKED_UP = word_set("get_price get_indicators get_fundamentals fundamentals_events get_news market_snapshot")


def tool_wish(text: str, schemas: OfferedTools, before: Sequence[str]) -> Wish | None:
    """The tool that is asked for, with what is known of its arguments; None: none is, or the message has too many parts
    that may ask for one."""
    key = text, tuple(before)
    if key not in schemas.read and len(schemas.read) < _MOST_READ:
        schemas.read[key] = None
        read = _tool_read(text, schemas, before)
        found = as_requested(text, read)
        if found is not None and found.withheld in EFFECTS and has_foreign_words(text, found.withheld):
            found = None  # the words of something else, which no plan has
        if found is not read and is_question(text):  # a question, and perhaps about something that has such words
            other = _tool_read(text, schemas, before, effects=False)
            found = None if other is not None and has_effects(other) else other
        schemas.read[key] = found
    return schemas.read.get(key)


def _tool_read(text: str, schemas: OfferedTools, before: Sequence[str], *, effects: bool = True) -> Wish | None:
    said = with_known_spelling(text)
    if _meant(said) is None:
        said = next((one for one in (plain(text), in_figures(said)) if _meant(one)), said)
    row = _meant(said, effects=effects)
    row = by_words(text, plain(text)) or row
    if row is None or (row.tool == "get_price" and not row.way):
        row = by_share_words(text) or row  # a price is what is meant where nothing else is named
    if row is not None and row.tool in LEANS_ON_ONE and significant_words(own_words := _QUOTED.sub(" ", text)):
        row = _meant(with_known_spelling(own_words))  # what somebody else said orders nothing
    if (
        row is not None
        and row.about
        and row.tool in (*LOOK_UPS, "get_price")
        and not symbols_in(text)
        and row.way != "if_moved"
        and MINE.search(said)
    ):
        row = _meant(said, alone=True) or row  # what my portfolio is worth is no share's price
    if row is not None and is_of_another(row, text):
        row = None
    looks_up = row is not None and row.tool in (*_LOOKED_UP, "get_ohlcv", "get_portfolio")
    if (
        row
        and looks_up
        and "?" not in text
        and (
            talk_words.MISTAKEN.match(said)
            or (row.about and (talk_words.OF_ONESELF.match(said) or talk_words.STATED.search(said)))
        )
    ):
        row = None
    elif (corrected := _corrected(text, schemas, before)) is not None:
        return corrected
    if row is not None and row.tool == "create_paper_order" and (halves := protected(text)) is not None:
        order = tool_wish(halves[0], schemas, before)
        if order is not None and order.calls and not order.way and not order.missing:
            # Nothing is sold before it is held.
            return order_if_complete(text, replace(order, way="stop_later", shown=str(halves[1])))
    if (row is None or row.tool == "create_paper_order") and (parts := order_and_condition(text)) is not None:
        order = tool_wish(parts.order, schemas, before)
        if order is not None and order.calls and order.calls[0][0] == "create_paper_order":
            return order_if_complete(text, with_condition(order, parts.condition), conditional=True)
    unheld = row is None or (row.way == "sell" and listed_by(before) not in (None, "get_portfolio"))
    if unheld and TAKES_BACK.search(said) and not AT_MARKET.search(said):
        spoken = (_meant(with_known_spelling(one)) for one in reversed(before[-MAX_MESSAGES_BACK:]))
        way = next((UNDOES[one.tool] for one in spoken if one and one.tool in UNDOES), None)
        row = next((one for one in TABLE if way and way in (one.way, one.tool)), None)
    if row is None and symbols_in(text) and talk_words.DROPS.match(said) and listed_by(before) == _LIST:
        row = next(one for one in TABLE if one.tool == "remove_from_watchlist")
    short = len(said.split()) <= FEW
    if (row is None or row.tool == "market_snapshot") and before and short and talk_words.OVERALL.fullmatch(said):
        row = next((one for one in TABLE if one.tool == "get_portfolio"), row) if _spoke_of(before[-2:]) else row
    loose = row is None or row.tool in ("get_portfolio", "market_snapshot")
    if loose and before and short and talk_words.IS_DONE.search(said):
        row = next((one for one in TABLE if one.tool == listed_by(before)), row)
    own, again = symbols_in(text), None
    if row is not None and row.tool == "get_price" and not own and talk_words.COUNTED.search(said):
        row = None if talk_words.YES_BUT.search(said) else row  # so many of what was ordered
    amends = talk_words.AMENDS.search(said) or (row is None and talk_words.YES_BUT.search(said))
    amends = "?" not in text and amends is not None and short
    earlier = _earlier(schemas, before, past=amends) if before and not DEFINES.search(said) else None
    if (
        row is not None
        and row.tool in ("get_price", "market_snapshot")
        and not own
        and earlier is not None
        and OF_A_STRETCH.search(said)
    ):
        row = None  # the highest close of the time that was spoken of
    if row is not None and row.way == "if_moved" and earlier is not None and has_effects(earlier) and "?" not in text:
        row = None  # what another alert or order waits for
    if earlier is not None and row is None and (one_of := one_of_several(earlier, own, said)) is not None:
        if one_of.intent is Intent.UNREAD or one_of.way == "cancel" or one_of.missing:
            return one_of
        earlier = one_of
    if earlier is not None and not own and talk_words.IN_ALL.search(said) and (cost := cost_of(earlier, said)):
        return cost
    if earlier is not None and not own and earlier.calls[0][0] == "create_paper_order" and _HOW_MANY_IT_IS.search(said):
        return Wish(Intent.TOOL, (("get_pending_orders", {}),))  # which tells how many the order is for
    if earlier is not None and not own and earlier.calls[0][0] in FIGURES and _HOW_MANY_IT_IS.search(said):
        return earlier
    if earlier is not None and row is None and short and "?" not in text and (alert := alert_instead(said, earlier)):
        return alert if "create_alert" in schemas else None
    orders = short and "create_paper_order" in schemas and (row is None or row.tool == "create_paper_order")
    orders = orders and talk_words.THAT_MANY.search(said) is not None and "?" not in text and not numbers_in(said)
    if (
        earlier is not None
        and orders
        and (counted := same_quantity(earlier, own or symbol_mentioned(said, before), share_in(said) or 1.0))
    ):
        return counted
    nothing_else = not (without_symbols(text) or re.search(r"\d", said) or talk_words.OF_ONESELF.match(said))
    compares = bool(len(own) == 1 and before and talk_words.COMPARED_WITH.search(said))
    if compares:
        own = list(dict.fromkeys([*symbol_mentioned(said, before), *own]))
    if (
        row is None
        and own
        and before
        and (
            compares
            or talk_words.CORRECTS.search(said)
            or talk_words.GOING_ON.search(said)
            or talk_words.POSSESSED.search(text)
            or nothing_else
        )
        and len(said.split()) <= FEW
    ):
        # What it was that was explained, or asked of another, which may have gone on with what was asked before it.
        row = _meant(with_known_spelling(before[-1])) or _row_of(earlier)
        row = row if row is not None and row.about and row.tool in _LOOKED_UP else None
        again = row
        if again is not None and earlier is not None and earlier.calls[0][0] == PERFORMANCE and not earlier.way:
            return replace(earlier, calls=((PERFORMANCE, {**earlier.calls[0][1], "tickers": own}),))
    if row is not None and not own and talk_words.ASKS_HOW.search(said) and not re.search(r"\d", said):
        row = None  # how something is done is told by the pages
    if earlier is not None and not own and talk_words.THE_OTHER.search(said) and len(said.split()) <= FEW:
        own = [one for one in symbols_mentioned(before) if one != earlier.calls[0][1].get("symbol")][-1:]
    if "?" not in text and _STOP.search(said) and not _ASKED_AT.match(said) and is_purchase(earlier):
        row = next(one for one in TABLE if one.way == "stop")  # it sells what was bought: no stop of the purchase
    elif earlier is not None and (row is None or talk_words.AMENDS.search(said) or row.tool == earlier.calls[0][0]):
        instead = amended(text, said, earlier, schemas, own, row if row is not again or compares else None)
        if instead is not None and instead.intent is Intent.UNREAD:
            return instead
        if instead is not None and instead.calls[0][0] == "create_paper_order" and change_in(said) is None:
            unread = first_unread_of_change(text, said, instead)
            return Wish(Intent.UNREAD, shown=unread) if unread else instead
        if instead is not None:
            return instead
    if (kind := changes_listed(said, row, earlier, listed_by(before))) is not None and kind[0] in schemas:
        about = ({"symbol": own[0]} if own else {}) | (order_named(said) if kind[0] == "create_paper_order" else {})
        about |= {"place": at} if (at := ordinal_in(said)) is not None else {}
        counted = kind[0] == "create_paper_order" and talk_words.COUNTED.search(said)
        changed = {**about, "quantity" if counted else "price": numbers_in(said)[-1][1]}
        return Wish(Intent.TOOL, ((kind[0], changed), (kind[1], about)), way="replace_listed")
    if "explain_concept" in schemas and (concepts := concepts_in(text, before, named=bool(own))):
        return Wish(Intent.TOOL, tuple(("explain_concept", {"concept": one}) for one in concepts))
    of_a_share = row is None and own and "get_price" in schemas and not talk_words.OF_ONESELF.match(said)
    if of_a_share and (date_in(said) or (_ASKED_AT.search(said) and when_in(text).tool_arguments)):
        row = next(one for one in TABLE if one.tool == "get_price" and not one.way)  # how it stood then
    if row is None:
        bare = (nothing_else or len(said.split()) <= 3) and not talk_words.TAKEN.search(said)
        if own and bare and not talk_words.SAME.search(said) and "get_price" in schemas:
            return Wish(Intent.TOOL, tuple(("get_price", {"symbol": one}) for one in own))
        return None
    # "What does the plan cost?" is of the site, whatever share was spoken of before; "and what does it cost?" is not.
    if (
        row.tool == "get_price"
        and not own
        and before
        and (last := tool_wish(before[-1], schemas, before[:-1]))
        and last.withheld
    ):
        return None  # what the plan costs that has it
    if (
        row.about
        and not own
        and row.tool in _LOOKED_UP
        and (group := market_words.GROUP.search(said))
        and not talk_words.STATED.search(said)
    ):
        which = Wish(Intent.TOOL, ((row.tool, {}),), ("symbol",), shown=group[0])
        return which if row.tool in schemas else None
    if row.way == "if_moved" and not own and market_words.ALL_HELD.search(said):
        return all_moved(said, schemas)
    leans = row.tool != "get_price" or bool(row.way) or bool(talk_words.GOING_ON.search(said))
    of_both = (
        before
        and talk_words.GOING_ON.search(said)
        and (talk_words.BOTH.search(plain(before[-1])) or len(symbols_in(before[-1])) > 1)
    )
    both = row.tool in (*_LOOKED_UP, "get_ohlcv", "get_correlation") and (talk_words.BOTH.search(said) or of_both)
    about = own or (
        symbols_mentioned(before)
        if both
        else symbol_mentioned(said, before)
        if leans and (row.about or row.way)
        else ()
    )
    if row.way == "sell" and not own and talk_words.EVERYTHING.search(said):
        about = ()  # all that is held, and not the share that was spoken of
    several = own or (symbols_mentioned(before) if about else ())
    beside = talk_words.ONE_OF_THEM.search(said) or (
        before and len(symbols_in(before[-1])) > 1 and ordinal_in(said) is None
    )
    if row.tool in LEANS_ON_ONE and len(several) > 1 and len(own) != 1 and beside:
        return call_of(row, ParsedText(text, said, ()), schemas)  # which of them that is, nobody has said
    if row.about and not about:
        if row.tool == "create_paper_order" and row.tool not in schemas and not row.way:
            return Wish(Intent.TOOL, withheld=row.tool)
        if row.tool == "create_paper_order" and row.tool in schemas and not row.way:
            asked = call_of(row, ParsedText(text, said, ()), schemas)
            return asked if asked is not None and "quantity" in asked.calls[0][1] else None
        if (term := CONCEPT.fullmatch(said.strip(" ?!.¿¡"))) and not before and "explain_concept" in schemas:
            return Wish(Intent.TOOL, (("explain_concept", {"concept": term[0]}),))
        weak = ("get_price", "get_ohlcv", "market_snapshot", "get_fundamentals", "create_paper_order")
        strong = row.way or row.tool not in weak
        if strong and row.tool in schemas and before:
            return Wish(Intent.TOOL, ((row.tool, {}),), ("symbol",))
        of_a_share = row.tool in _LOOKED_UP and (row.tool != "get_price" or _OF_A_SHARE.search(said))
        return Wish(Intent.SITE, missing=("symbol",)) if of_a_share and row.tool in schemas else None
    if row.tool == "create_paper_order" and not row.way and len(own) > 1 and row.tool in schemas:
        several_orders = order_if_complete(text, orders_of_each(text, row.tool, schemas[row.tool]))
        return (
            replace(several_orders, missing=several_orders.missing or WHEN)
            if talk_words.LATER.search(said)
            else several_orders
        )
    if row.tool == "create_alert" and row.tool in schemas and about and percent_in(said) is None:
        alerts = alerts_at_each(text, row.tool, schemas[row.tool], about)
        if len(alerts) > 1:
            return Wish(Intent.TOOL, alerts)
    asked = f"{said} {with_known_spelling(before[-1])}" if row is again else said
    wish = call_of(row, ParsedText(f"{text} {before[-1]}" if row is again else text, asked, tuple(about)), schemas)
    meaning = CONCEPT.search(said) if wish is not None and talk_words.EXPLAINED_TOO.search(said) else None
    if meaning and wish is not None and row.tool in _LOOKED_UP and "explain_concept" in schemas:
        return replace(wish, calls=(*wish.calls, ("explain_concept", {"concept": meaning[0]})))
    if wish is not None and row.tool == "create_paper_order" and not wish.missing:
        return replace(wish, missing=WHEN) if talk_words.LATER.search(said) else order_if_complete(text, wish)
    if wish is not None and wish.missing and row.tool in FIGURES and (known := _figured(schemas, before)):
        # What was worked out before says the rest.
        merged = {**{name: one for name, one in known.items() if name in wish.missing}, **wish.calls[0][1]}
        return Wish(Intent.TOOL, ((row.tool, merged),), missing_arguments(schemas[row.tool], merged))
    return wish


def both_wishes(text: str, schemas: OfferedTools, before: Sequence[str]) -> Wish | None:
    """Two wishes of one text, of which one has effects: "buy 5 AAPL and set an alert at 700"."""
    if protected(text) or len(text) > LONGEST_TALK:
        return None
    waits = order_and_condition(text) is not None
    for cut in list(_AND.finditer(text))[:_MOST_WISHES]:
        parts = text[: cut.start()], text[cut.end() :]
        rows = [by_words(one, plain(one)) or _meant(with_known_spelling(one)) for one in parts]
        one = next((row for row in rows if row), None)
        if None in rows and (one.tool in _OF_THE_LIST if one else listed_by(before) == _LIST):
            parts = tuple(part if row else f"{part} watchlist" for part, row in zip(parts, rows, strict=True))
            rows = [row or _meant(with_known_spelling(part)) for part, row in zip(parts, rows, strict=True)]
        if rows[0] is None or (rows[1] is None and not TAKES_BACK.search(plain(parts[1]))):
            continue
        first, then = tool_wish(parts[0], schemas, before), tool_wish(parts[1], schemas, [*before, parts[0]])
        if first is None or then is None or not (first.calls and then.calls):
            continue
        tools = first.calls[0][0], then.calls[0][0]
        alike = tools[0] == tools[1] and first.way == then.way
        if alike or EFFECTS.isdisjoint(tools) or (waits and tools[1] != "create_alert"):
            continue
        if first.way or then.way or first.missing or then.missing:
            return replace(first, later=parts[1].strip())
        return replace(first, calls=(*first.calls, *then.calls))
    return None


def _corrected(text: str, schemas: OfferedTools, before: Sequence[str]) -> Wish | None:
    """An order or alert that the same message corrects: "buy 2, no wait, 3"."""
    parts = [(text[: end.start()], text[end.end() :]) for end in re.finditer(r"[,.;]\s+", text)]
    corrections = [part for part in parts if talk_words.CORRECTS.search(plain(part[1]))]
    if not 0 < len(corrections) <= 2 or len(text) > LONGEST_TALK:
        return None
    (first, then), before = corrections[0], before[-1:]  # what is read again and again stays short
    if not _leans_on_one(tool_wish(first, schemas, before)):
        return None
    found = tool_wish(then, schemas, [*before, first])
    if found is None or not _leans_on_one(found) or found.way not in _REPLACING:
        return None
    return replace(found, calls=found.calls[:1], way=_REPLACING[found.way])


def _spoke_of(before: Sequence[str]) -> bool:
    """Whether one of these messages was about what is held."""
    rows = (_meant(with_known_spelling(one), alone=MINE.search(plain(one)) is not None) for one in before)
    return any(row is not None and row.tool == "get_portfolio" for row in rows)


def _leans_on_one(wish: Wish | None) -> bool:
    return wish is not None and bool(wish.calls) and wish.calls[0][0] in LEANS_ON_ONE


def listed_by(before: Sequence[str]) -> str | None:
    """What shows the alerts, orders or list that were spoken of last."""
    spoken = (_meant(with_known_spelling(one)) for one in reversed(before[-MAX_MESSAGES_BACK:]))
    return next((LISTED_BY[one.tool] for one in spoken if one and one.tool in LISTED_BY), None)


def _figured(schemas: OfferedTools, before: Sequence[str]) -> dict[str, Any]:
    """The figures of the calculation that was asked for last."""
    earlier = _earlier(schemas, before)
    return earlier.calls[0][1] if earlier is not None and earlier.calls[0][0] in FIGURES else {}


def _earlier(schemas: OfferedTools, before: Sequence[str], *, past: bool = False) -> Wish | None:
    """The last thing that a tool was asked for, and that this may go on with; `past` what was talked of since."""
    for at in range(len(before) - 1, max(len(before) - MAX_MESSAGES_BACK, 0) - 1, -1):
        wish = tool_wish(before[at], schemas, before[:at])
        if wish is not None:
            return wish if wish.calls and not wish.withheld and wish.way in GOES_ON else None
        if not past and small(plain(before[at])) is None and decision_in(before[at]) is None:
            return None
    return None


@lru_cache(maxsize=512)
def _meant(said: str, *, alone: bool = False, effects: bool = True) -> ToolPhrase | None:
    """The first row that fits; `alone`: of those that are about no symbol; `effects`: or that change something."""
    said = _GOES_ON.sub("", said)
    fitting = (row for row in TABLE if row.asks.match(said) and not (row.unless and row.unless.search(said)))
    return next((row for row in fitting if not ((alone and row.about) or (not effects and row.tool in EFFECTS))), None)


def _row_of(wish: Wish | None) -> ToolPhrase | None:
    return next((row for row in TABLE if wish is not None and row.tool == wish.calls[0][0]), None)
