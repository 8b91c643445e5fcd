"""Reads which tool a message asks for, with its arguments: from its own words and from the earlier messages."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from agent.domain.analysis.stretches import main_period
from agent.domain.analysis.wanted_calls import PERFORMANCE
from agent.domain.number_words import in_figures
from agent.domain.offline import market_words, talk_words
from agent.domain.offline.amendments import AMENDABLE_WAYS, LATER_TIME, MAX_FOLLOW_UP_WORDS, PERIOD_FIGURE, amended
from agent.domain.offline.calls import EFFECTS_ON_ONE_SYMBOL, OfferedTools, call_of, portfolio_if_moved
from agent.domain.offline.changed_arguments import FIGURES, changes_listed
from agent.domain.offline.changes import change_in, percent_in, share_in
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.concepts import CONCEPT, DEFINES, concepts_in
from agent.domain.offline.conditions import order_and_condition, with_condition
from agent.domain.offline.grammar import LISTED_BY, TABLE, TAKES_BACK, UNDOES, ToolPhrase
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.kinds import ordinal_in
from agent.domain.offline.nearest_readings import LOOK_UPS, asks_for_another_tool
from agent.domain.offline.order_words import AT_MARKET, order_named
from agent.domain.offline.position_size import cost_of, same_quantity
from agent.domain.offline.previous_questions import MAX_MESSAGES_BACK, symbol_mentioned, symbols_mentioned
from agent.domain.offline.relative_days import date_in
from agent.domain.offline.several import (
    alert_instead,
    alerts_by_price,
    is_purchase,
    one_of_several,
    order_with_stop,
    orders_by_symbol,
)
from agent.domain.offline.slots import ParsedText, missing_arguments
from agent.domain.offline.small_talk import MAX_TALK_CHARACTERS, small_talk_in
from agent.domain.offline.tool_words import MINE, is_question, personal_tool, share_tool, without_symbols
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

_WAYS_WITHOUT_REPLACEMENT = {"replace": "", "replace_listed": "", "resell": "sell"}
"""By way of a replacement: the way if the order or alert does not exist yet."""
_MAX_TEXTS_READ = 100
"""Maximum texts, of a message, its parts and earlier messages, that are read for one answer."""
LIST_TOOL = "get_watchlist"
_CONJUNCTIONS = re.compile(r"^\W*(?:(?:and|but|y|pero)\b\W*)+")
_ASKS = re.compile(
    r"\b(?:what|how|when|where|give|show|tell|dame|dime|muestra\w*|que|como|cuanto|donde|a cuanto|did|was|were)\b|\?"
)
_ASKS_QUANTITY = re.compile(
    r"^\W*(?:(?:and|y|so|entonces)\W+)?(?:how (?:many|much) (?:\w+ ){0,2}(?:is|are|was) (?:it|that|this|those)\b|"
    r"cuant[oa]s? (?:\w+ )?(?:es|son|serian?) (?:eso|esto|esas?)?\b)(?!.*\d)"
)
_SHARE_PRICE_WORDS = re.compile(
    r"\b(?:trading at|quot\w+|cotiza\w*|a (?:cuanto|como) (?:esta|anda|va)|"
    r"up or down|sube o baja)\b"
)
"""Words for the price of a share and of nothing that a company sells."""
_STOP = re.compile(r"\bstop\b(?! (?:buy|order|de compra)\b)(?<!buy stop)(?<!orden stop)(?<!orden de stop)(?=.*\d)")
_QUOTED = re.compile(r"[\"“«][^\"”»]*[\"”»]")
_LOOKED_UP = word_set("get_price get_indicators get_fundamentals fundamentals_events get_news market_snapshot")


def tool_wish(text: str, schemas: OfferedTools, before: Sequence[str]) -> Wish | None:
    """The tool that a text asks for, with its arguments as far as known; None if it asks for none, or the message has
    too many parts that may ask for one."""
    key = text, tuple(before)
    if key not in schemas.read and len(schemas.read) < _MAX_TEXTS_READ:
        schemas.read[key] = None
        unchecked = _read_wish(text, schemas, before)
        wish = as_requested(text, unchecked)
        if wish is not None and wish.withheld in EFFECTS and has_foreign_words(text, wish.withheld):
            wish = None  # the words of something else, which no plan has
        if wish is not unchecked and is_question(text):  # a question, and perhaps about something that has such words
            without_effects = _read_wish(text, schemas, before, effects=False)
            wish = None if without_effects is not None and has_effects(without_effects) else without_effects
        schemas.read[key] = wish
    return schemas.read.get(key)


def _read_wish(text: str, schemas: OfferedTools, before: Sequence[str], *, effects: bool = True) -> Wish | None:
    said = with_known_spelling(text)
    if matching_phrase(said) is None:
        said = next((one for one in (plain(text), in_figures(said)) if matching_phrase(one)), said)
    row = matching_phrase(said, effects=effects)
    row = personal_tool(text, plain(text)) or row
    if row is None or (row.tool == "get_price" and not row.way):
        row = share_tool(text) or row  # a price is what is meant where nothing else is named
    if (
        row is not None
        and row.tool in EFFECTS_ON_ONE_SYMBOL
        and significant_words(without_quotes := _QUOTED.sub(" ", text))
    ):
        row = matching_phrase(with_known_spelling(without_quotes))  # what somebody else said orders nothing
    if (
        row is not None
        and row.about
        and row.tool in (*LOOK_UPS, "get_price")
        and not symbols_in(text)
        and row.way != "if_moved"
        and MINE.search(said)
    ):
        row = matching_phrase(said, alone=True) or row  # what my portfolio is worth is no share's price
    if row is not None and asks_for_another_tool(row, text):
        row = None
    is_lookup = row is not None and row.tool in (*_LOOKED_UP, "get_ohlcv", "get_portfolio")
    if (
        row
        and is_lookup
        and "?" not in text
        and (
            talk_words.MISTAKEN.match(said)
            or (row.about and (talk_words.OF_ONESELF.match(said) or talk_words.STATED.search(said)))
        )
    ):
        row = None
    elif (corrected := _corrected(text, schemas, before)) is not None:
        return corrected
    if row is not None and row.tool == "create_paper_order" and (halves := order_with_stop(text)) is not None:
        order = tool_wish(halves[0], schemas, before)
        if order is not None and order.calls and not order.way and not order.missing:
            # Nothing is sold before it is held.
            return order_if_complete(text, replace(order, way="stop_later", shown=str(halves[1])))
    if (row is None or row.tool == "create_paper_order") and (parts := order_and_condition(text)) is not None:
        order = tool_wish(parts.order, schemas, before)
        if order is not None and order.calls and order.calls[0][0] == "create_paper_order":
            return order_if_complete(text, with_condition(order, parts.condition), conditional=True)
    may_take_back = row is None or (row.way == "sell" and listed_by(before) not in (None, "get_portfolio"))
    if may_take_back and TAKES_BACK.search(said) and not AT_MARKET.search(said):
        phrases = (matching_phrase(with_known_spelling(one)) for one in reversed(before[-MAX_MESSAGES_BACK:]))
        undoing_way = next((UNDOES[phrase.tool] for phrase in phrases if phrase and phrase.tool in UNDOES), None)
        row = next((one for one in TABLE if undoing_way and undoing_way in (one.way, one.tool)), None)
    if row is None and symbols_in(text) and talk_words.DROPS.match(said) and listed_by(before) == LIST_TOOL:
        row = next(one for one in TABLE if one.tool == "remove_from_watchlist")
    short = len(said.split()) <= MAX_FOLLOW_UP_WORDS
    if (row is None or row.tool == "market_snapshot") and before and short and talk_words.OVERALL.fullmatch(said):
        row = (
            next((one for one in TABLE if one.tool == "get_portfolio"), row)
            if _mentions_portfolio(before[-2:])
            else row
        )
    may_be_other = row is None or row.tool in ("get_portfolio", "market_snapshot")
    if may_be_other and before and short and talk_words.IS_DONE.search(said):
        row = next((one for one in TABLE if one.tool == listed_by(before)), row)
    symbols, repeated = symbols_in(text), None
    if row is not None and row.tool == "get_price" and not symbols and talk_words.COUNTED.search(said):
        row = None if talk_words.YES_BUT.search(said) else row  # so many of what was ordered
    is_amendment = talk_words.AMENDS.search(said) or (row is None and talk_words.YES_BUT.search(said))
    is_amendment = "?" not in text and is_amendment is not None and short
    earlier = _earlier_wish(schemas, before, skip_talk=is_amendment) if before and not DEFINES.search(said) else None
    if (
        row is not None
        and row.tool in ("get_price", "market_snapshot")
        and not symbols
        and earlier is not None
        and PERIOD_FIGURE.search(said)
    ):
        row = None  # the highest close of the time that was spoken of
    if row is not None and row.way == "if_moved" and earlier is not None and has_effects(earlier) and "?" not in text:
        row = None  # what another alert or order waits for
    if earlier is not None and row is None and (one_order := one_of_several(earlier, symbols, said)) is not None:
        if one_order.intent is Intent.UNREAD or one_order.way == "cancel" or one_order.missing:
            return one_order
        earlier = one_order
    if earlier is not None and not symbols and talk_words.IN_ALL.search(said) and (cost := cost_of(earlier, said)):
        return cost
    if (
        earlier is not None
        and not symbols
        and earlier.calls[0][0] == "create_paper_order"
        and _ASKS_QUANTITY.search(said)
    ):
        return Wish(Intent.TOOL, (("get_pending_orders", {}),))  # which tells how many the order is for
    if earlier is not None and not symbols and earlier.calls[0][0] in FIGURES and _ASKS_QUANTITY.search(said):
        return earlier
    if earlier is not None and row is None and short and "?" not in text and (alert := alert_instead(said, earlier)):
        return alert if "create_alert" in schemas else None
    may_order = short and "create_paper_order" in schemas and (row is None or row.tool == "create_paper_order")
    may_order = may_order and talk_words.THAT_MANY.search(said) is not None and "?" not in text and not numbers_in(said)
    if (
        earlier is not None
        and may_order
        and (same_order := same_quantity(earlier, symbols or symbol_mentioned(said, before), share_in(said) or 1.0))
    ):
        return same_order
    nothing_else = not (without_symbols(text) or re.search(r"\d", said) or talk_words.OF_ONESELF.match(said))
    compares = bool(len(symbols) == 1 and before and talk_words.COMPARED_WITH.search(said))
    if compares:
        symbols = list(dict.fromkeys([*symbol_mentioned(said, before), *symbols]))
    if (
        row is None
        and symbols
        and before
        and (
            compares
            or talk_words.CORRECTS.search(said)
            or talk_words.GOING_ON.search(said)
            or talk_words.POSSESSED.search(text)
            or nothing_else
        )
        and len(said.split()) <= MAX_FOLLOW_UP_WORDS
    ):
        # What it was that was explained, or asked of another, which may have gone on with what was asked before it.
        row = matching_phrase(with_known_spelling(before[-1])) or _phrase_of(earlier)
        row = row if row is not None and row.about and row.tool in _LOOKED_UP else None
        repeated = row
        if repeated is not None and earlier is not None and earlier.calls[0][0] == PERFORMANCE and not earlier.way:
            return replace(earlier, calls=((PERFORMANCE, {**earlier.calls[0][1], "tickers": symbols}),))
    if row is not None and not symbols and talk_words.ASKS_HOW.search(said) and not re.search(r"\d", said):
        row = None  # how something is done is told by the pages
    if (
        earlier is not None
        and not symbols
        and talk_words.THE_OTHER.search(said)
        and len(said.split()) <= MAX_FOLLOW_UP_WORDS
    ):
        symbols = [one for one in symbols_mentioned(before) if one != earlier.calls[0][1].get("symbol")][-1:]
    if "?" not in text and _STOP.search(said) and not _ASKS.match(said) and is_purchase(earlier):
        row = next(one for one in TABLE if one.way == "stop")  # it sells what was bought: no stop of the purchase
    elif earlier is not None and (row is None or talk_words.AMENDS.search(said) or row.tool == earlier.calls[0][0]):
        amendment = amended(text, said, earlier, schemas, symbols, row if row is not repeated or compares else None)
        if amendment is not None and amendment.intent is Intent.UNREAD:
            return amendment
        if amendment is not None and amendment.calls[0][0] == "create_paper_order" and change_in(said) is None:
            unread_word = first_unread_of_change(text, said, amendment)
            return Wish(Intent.UNREAD, shown=unread_word) if unread_word else amendment
        if amendment is not None:
            return amendment
    if (tools := changes_listed(said, row, earlier, listed_by(before))) is not None and tools[0] in schemas:
        reference = ({"symbol": symbols[0]} if symbols else {}) | (
            order_named(said) if tools[0] == "create_paper_order" else {}
        )
        reference |= {"place": at} if (at := ordinal_in(said)) is not None else {}
        same_order = tools[0] == "create_paper_order" and talk_words.COUNTED.search(said)
        changed = {**reference, "quantity" if same_order else "price": numbers_in(said)[-1][1]}
        return Wish(Intent.TOOL, ((tools[0], changed), (tools[1], reference)), way="replace_listed")
    if "explain_concept" in schemas and (concepts := concepts_in(text, before, names_share=bool(symbols))):
        return Wish(Intent.TOOL, tuple(("explain_concept", {"concept": concept}) for concept in concepts))
    of_a_share = row is None and symbols and "get_price" in schemas and not talk_words.OF_ONESELF.match(said)
    if of_a_share and (date_in(said) or (_ASKS.search(said) and main_period(text).tool_arguments)):
        row = next(one for one in TABLE if one.tool == "get_price" and not one.way)  # how it stood then
    if row is None:
        bare = (nothing_else or len(said.split()) <= 3) and not talk_words.TAKEN.search(said)
        if symbols and bare and not talk_words.SAME.search(said) and "get_price" in schemas:
            return Wish(Intent.TOOL, tuple(("get_price", {"symbol": symbol}) for symbol in symbols))
        return None
    # "What does the plan cost?" is of the site, whatever share was spoken of before; "and what does it cost?" is not.
    if (
        row.tool == "get_price"
        and not symbols
        and before
        and (last := tool_wish(before[-1], schemas, before[:-1]))
        and last.withheld
    ):
        return None  # what the plan costs that has it
    if (
        row.about
        and not symbols
        and row.tool in _LOOKED_UP
        and (group := market_words.GROUP.search(said))
        and not talk_words.STATED.search(said)
    ):
        symbol_wish = Wish(Intent.TOOL, ((row.tool, {}),), ("symbol",), shown=group[0])
        return symbol_wish if row.tool in schemas else None
    if row.way == "if_moved" and not symbols and market_words.ALL_HELD.search(said):
        return portfolio_if_moved(said, schemas)
    may_refer = row.tool != "get_price" or bool(row.way) or bool(talk_words.GOING_ON.search(said))
    of_both = (
        before
        and talk_words.GOING_ON.search(said)
        and (talk_words.BOTH.search(plain(before[-1])) or len(symbols_in(before[-1])) > 1)
    )
    means_both = row.tool in (*_LOOKED_UP, "get_ohlcv", "get_correlation") and (talk_words.BOTH.search(said) or of_both)
    reference = symbols or (
        symbols_mentioned(before)
        if means_both
        else symbol_mentioned(said, before)
        if may_refer and (row.about or row.way)
        else ()
    )
    if row.way == "sell" and not symbols and talk_words.EVERYTHING.search(said):
        reference = ()  # all that is held, and not the share that was spoken of
    candidates = symbols or (symbols_mentioned(before) if reference else ())
    is_ambiguous = talk_words.ONE_OF_THEM.search(said) or (
        before and len(symbols_in(before[-1])) > 1 and ordinal_in(said) is None
    )
    if row.tool in EFFECTS_ON_ONE_SYMBOL and len(candidates) > 1 and len(symbols) != 1 and is_ambiguous:
        return call_of(row, ParsedText(text, said, ()), schemas)  # which of them that is, nobody has said
    if row.about and not reference:
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
        of_a_share = row.tool in _LOOKED_UP and (row.tool != "get_price" or _SHARE_PRICE_WORDS.search(said))
        return Wish(Intent.SITE, missing=("symbol",)) if of_a_share and row.tool in schemas else None
    if row.tool == "create_paper_order" and not row.way and len(symbols) > 1 and row.tool in schemas:
        several_orders = order_if_complete(text, orders_by_symbol(text, row.tool, schemas[row.tool]))
        return (
            replace(several_orders, missing=several_orders.missing or LATER_TIME)
            if talk_words.LATER.search(said)
            else several_orders
        )
    if row.tool == "create_alert" and row.tool in schemas and reference and percent_in(said) is None:
        alerts = alerts_by_price(text, row.tool, schemas[row.tool], reference)
        if len(alerts) > 1:
            return Wish(Intent.TOOL, alerts)
    asked = f"{said} {with_known_spelling(before[-1])}" if row is repeated else said
    wish = call_of(
        row, ParsedText(f"{text} {before[-1]}" if row is repeated else text, asked, tuple(reference)), schemas
    )
    meaning = CONCEPT.search(said) if wish is not None and talk_words.EXPLAINED_TOO.search(said) else None
    if meaning and wish is not None and row.tool in _LOOKED_UP and "explain_concept" in schemas:
        return replace(wish, calls=(*wish.calls, ("explain_concept", {"concept": meaning[0]})))
    if wish is not None and row.tool == "create_paper_order" and not wish.missing:
        return replace(wish, missing=LATER_TIME) if talk_words.LATER.search(said) else order_if_complete(text, wish)
    if wish is not None and wish.missing and row.tool in FIGURES and (figures := _last_calculation(schemas, before)):
        # What was worked out before says the rest.
        merged = {**{name: value for name, value in figures.items() if name in wish.missing}, **wish.calls[0][1]}
        return Wish(Intent.TOOL, ((row.tool, merged),), missing_arguments(schemas[row.tool], merged))
    return wish


def _corrected(text: str, schemas: OfferedTools, before: Sequence[str]) -> Wish | None:
    """An order or alert that the same message corrects: "buy 2, no wait, 3"; None if none."""
    parts = [(text[: separator.start()], text[separator.end() :]) for separator in re.finditer(r"[,.;]\s+", text)]
    corrections = [part for part in parts if talk_words.CORRECTS.search(plain(part[1]))]
    if not 0 < len(corrections) <= 2 or len(text) > MAX_TALK_CHARACTERS:
        return None
    (first, then), before = corrections[0], before[-1:]  # what is read again and again stays short
    if not _changes_one_symbol(tool_wish(first, schemas, before)):
        return None
    correction = tool_wish(then, schemas, [*before, first])
    if correction is None or not _changes_one_symbol(correction) or correction.way not in _WAYS_WITHOUT_REPLACEMENT:
        return None
    return replace(correction, calls=correction.calls[:1], way=_WAYS_WITHOUT_REPLACEMENT[correction.way])


def _mentions_portfolio(before: Sequence[str]) -> bool:
    """Whether one of these messages was about the portfolio."""
    rows = (matching_phrase(with_known_spelling(text), alone=MINE.search(plain(text)) is not None) for text in before)
    return any(row is not None and row.tool == "get_portfolio" for row in rows)


def _changes_one_symbol(wish: Wish | None) -> bool:
    return wish is not None and bool(wish.calls) and wish.calls[0][0] in EFFECTS_ON_ONE_SYMBOL


def listed_by(before: Sequence[str]) -> str | None:
    """The tool that lists the alerts, orders or watchlist last mentioned; None if none was."""
    phrases = (matching_phrase(with_known_spelling(phrase)) for phrase in reversed(before[-MAX_MESSAGES_BACK:]))
    return next((LISTED_BY[phrase.tool] for phrase in phrases if phrase and phrase.tool in LISTED_BY), None)


def _last_calculation(schemas: OfferedTools, before: Sequence[str]) -> dict[str, Any]:
    """The arguments of the calculation last asked for; empty if the last wish was another."""
    earlier = _earlier_wish(schemas, before)
    return earlier.calls[0][1] if earlier is not None and earlier.calls[0][0] in FIGURES else {}


def _earlier_wish(schemas: OfferedTools, before: Sequence[str], *, skip_talk: bool = False) -> Wish | None:
    """The last wish for a tool, which this message may continue; None if something else was said since, unless
    `skip_talk`."""
    for i in range(len(before) - 1, max(len(before) - MAX_MESSAGES_BACK, 0) - 1, -1):
        wish = tool_wish(before[i], schemas, before[:i])
        if wish is not None:
            return wish if wish.calls and not wish.withheld and wish.way in AMENDABLE_WAYS else None
        if not skip_talk and small_talk_in(plain(before[i])) is None and decision_in(before[i]) is None:
            return None
    return None


@lru_cache(maxsize=512)
def matching_phrase(normalized: str, *, alone: bool = False, effects: bool = True) -> ToolPhrase | None:
    """The first phrase that matches; with `alone` of those that are about no symbol, without `effects` of those that
    change nothing."""
    text = _CONJUNCTIONS.sub("", normalized)
    fitting = (row for row in TABLE if row.asks.match(text) and not (row.unless and row.unless.search(text)))
    return next((row for row in fitting if not ((alone and row.about) or (not effects and row.tool in EFFECTS))), None)


def _phrase_of(request: Wish | None) -> ToolPhrase | None:
    return next((row for row in TABLE if request is not None and row.tool == request.calls[0][0]), None)
