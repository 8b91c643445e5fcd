"""Reads which tool a message asks for, with its arguments: from its own words and from the earlier messages."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent.domain.analysis.relative_days import date_in
from agent.domain.analysis.stretches import main_period
from agent.domain.analysis.wanted_calls import PERFORMANCE
from agent.domain.number_words import in_figures
from agent.domain.offline import market_words, talk_words
from agent.domain.offline.account_size import order_of_size
from agent.domain.offline.amended_look_ups import PERIOD_FIGURE
from agent.domain.offline.amendments import AMENDABLE_WAYS, amended
from agent.domain.offline.calls import EFFECTS_ON_ONE_SYMBOL, OfferedTools, call_of, portfolio_if_moved
from agent.domain.offline.changed_arguments import FIGURES, ORDER, changes_listed
from agent.domain.offline.changes import change_in, percent_in, share_in
from agent.domain.offline.concepts import CONCEPT, DEFINES, DIFFERENCE, concepts_in
from agent.domain.offline.conditions import order_and_condition, with_condition
from agent.domain.offline.follow_up import LATER_TIME, MAX_FOLLOW_UP_WORDS
from agent.domain.offline.grammar import TABLE, ToolPhrase
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.kinds import ordinal_in
from agent.domain.offline.nearest_readings import LOOK_UPS, foreign_words
from agent.domain.offline.order_words import STOP_WITH_PRICE, order_named
from agent.domain.offline.phrases import (
    LOOKED_UP,
    list_asked_about,
    listed_by,
    matching_phrase,
    only_states,
    own_phrase,
    phrase_for,
    phrase_in_context,
)
from agent.domain.offline.position_size import details_of, same_quantity
from agent.domain.offline.previous_questions import (
    MAX_MESSAGES_BACK,
    asks_the_same,
    symbol_mentioned,
    symbols_mentioned,
)
from agent.domain.offline.several import (
    alert_instead,
    alerts_by_price,
    is_purchase,
    of_other_holding,
    one_of_several,
    order_sold_later,
    orders_by_symbol,
)
from agent.domain.offline.slots import ParsedText, missing_arguments
from agent.domain.offline.small_talk import MAX_TALK_CHARACTERS, small_talk_in
from agent.domain.offline.tool_words import is_question, without_symbols
from agent.domain.offline.unread import (
    EFFECTS,
    as_requested,
    first_unread_of_change,
    has_effects,
    has_foreign_words,
    order_if_complete,
)
from agent.domain.offline.wishes import RELATIVE_WAYS, Intent, Way, Wish
from agent.domain.shortcuts.words import decision_in
from agent.domain.text_features import numbers_in, plain, symbols_in
from contracts.expressions import expression

_WAYS_WITHOUT_REPLACEMENT: dict[Way, Way] = {"replace": "", "replace_listed": "", "resell": "sell"}
"""By way of a replacement: the way if the order or alert does not exist yet."""
_MAX_TEXTS_READ = 100
"""Maximum texts, of a message, its parts and earlier messages, that are read for one answer."""
_ASKS = expression(
    r"\b(?:what|how|when|where|give|show|tell|dame|dime|muestra\w*|que|como|cuanto|donde|a cuanto|did|was|were)\b|\?"
)


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
        if wish is not None and has_effects(wish) and (listed := list_asked_about(text, before)):
            wish = Wish(Intent.TOOL, ((listed, {}),)) if listed in schemas else None
        schemas.read[key] = wish
    return schemas.read.get(key)


def _read_wish(text: str, schemas: OfferedTools, before: Sequence[str], *, effects: bool = True) -> Wish | None:
    normalized = with_known_spelling(text)
    if matching_phrase(normalized) is None:
        normalized = next(
            (phrase for phrase in (plain(text), in_figures(normalized)) if matching_phrase(phrase)), normalized
        )
    row = own_phrase(text, normalized, effects=effects)
    if only_states(text, normalized, row):
        row = None
    elif (corrected := _corrected(text, schemas, before)) is not None:
        return corrected
    if (order := _order_in_two_parts(text, row, schemas, before)) is not None:
        return order
    symbols, short = symbols_in(text), len(normalized.split()) <= MAX_FOLLOW_UP_WORDS
    row = phrase_in_context(text, normalized, row, before, short=short)
    may_amend = row is not None or talk_words.AMENDS.search(normalized) or talk_words.YES_BUT.search(normalized)
    skip_talk = "?" not in text and short and bool(may_amend)
    continues = before and not (DEFINES.search(normalized) or DIFFERENCE.search(normalized))
    earlier = _earlier_wish(schemas, before, skip_talk=skip_talk) if continues else None
    if row is not None and earlier is not None and _continues(text, normalized, row, earlier):
        row = None
    if earlier is not None and row is None and (one_order := one_of_several(earlier, symbols, normalized)) is not None:
        if one_order.intent is Intent.UNREAD or one_order.way == "cancel" or one_order.missing:
            return one_order
        earlier = one_order
    if earlier is not None and not symbols and (details := details_of(normalized, earlier)) is not None:
        return details
    alert = alert_instead(normalized, earlier) if earlier is not None and row is None and short else None
    if alert is not None and "?" not in text:
        return alert if "create_alert" in schemas else None
    if earlier is not None and short and (row is None or row.tool == ORDER) and ORDER in schemas:
        orders_it = talk_words.THAT_MANY.search(normalized) and "?" not in text and not numbers_in(normalized)
        shares = (symbols or symbol_mentioned(normalized, before)) if orders_it else ()
        if orders_it and (
            same_order := order_of_size(earlier) or same_quantity(earlier, shares, share_in(normalized) or 1.0)
        ):
            return same_order
    is_relative = earlier is not None and earlier.way in RELATIVE_WAYS and row is None
    if is_relative and len(symbols) == 1 and earlier is not None and asks_the_same(text, normalized):
        tool, arguments = earlier.calls[0]  # the same, for another share
        return replace(earlier, calls=((tool, {**arguments, "symbol": symbols[0]}),))
    nothing_else = not (
        without_symbols(text) or re.search(r"\d", normalized) or talk_words.OF_ONESELF.match(normalized)
    )
    compares = bool(len(symbols) == 1 and before and talk_words.COMPARED_WITH.search(normalized))
    if compares:
        symbols = list(dict.fromkeys([*symbol_mentioned(normalized, before), *symbols]))
    goes_on = compares or nothing_else or talk_words.POSSESSED.search(text)
    goes_on = goes_on or talk_words.CORRECTS.search(normalized) or talk_words.GOING_ON.search(normalized)
    repeated = None
    if row is None and symbols and before and short and goes_on:
        if holding := of_other_holding(text, tool_wish(before[-1], schemas, before[:-1])):
            return holding
        # What it was that was explained, or asked of another, which may have gone on with what was asked before it.
        row = matching_phrase(with_known_spelling(before[-1])) or (
            phrase_for(earlier.calls[0][0]) if earlier is not None else None
        )
        row = repeated = row if row is not None and row.about and row.tool in LOOKED_UP else None
        if repeated is not None and earlier is not None and earlier.calls[0][0] == PERFORMANCE and not earlier.way:
            return replace(earlier, calls=((PERFORMANCE, {**earlier.calls[0][1], "tickers": symbols}),))
    if row is not None and not symbols and talk_words.ASKS_HOW.search(normalized) and not re.search(r"\d", normalized):
        row = None  # how something is done is told by the pages
    names_other = short and not symbols and talk_words.THE_OTHER.search(normalized)
    if names_other and earlier is not None:
        if "place" in (chosen := earlier.calls[0][1]):
            earlier = None  # the other is not the one that was chosen by its place
        else:
            symbols = [symbol for symbol in symbols_mentioned(before) if symbol != chosen.get("symbol")][-1:]
    if "?" not in text and STOP_WITH_PRICE.search(normalized) and not _ASKS.match(normalized) and is_purchase(earlier):
        # It sells what was bought: no stop of the purchase.
        row = next(phrase for phrase in TABLE if phrase.way == "stop")
    elif earlier is not None and (
        row is None or talk_words.AMENDS.search(normalized) or row.tool == earlier.calls[0][0]
    ):
        amendment = amended(
            text, normalized, earlier, schemas, symbols, row if row is not repeated or compares else None
        )
        if amendment is not None:
            return _checked(text, normalized, amendment)
    if (listed := _change_of_listed(normalized, row, earlier, symbols, schemas, before)) is not None:
        return listed
    if "explain_concept" in schemas and (concepts := concepts_in(text, before, names_share=bool(symbols))):
        return Wish(Intent.TOOL, tuple(("explain_concept", {"concept": concept}) for concept in concepts))
    of_a_share = row is None and symbols and "get_price" in schemas and not talk_words.OF_ONESELF.match(normalized)
    if of_a_share and (date_in(normalized) or (_ASKS.search(normalized) and main_period(text).tool_arguments)):
        row = next(phrase for phrase in TABLE if phrase.tool == "get_price" and not phrase.way)  # how it stood then
    if row is not None:
        return _wish_of_phrase(text, normalized, row, symbols, schemas, before, is_repeated=row is repeated)
    bare = (nothing_else or len(normalized.split()) <= 3) and not talk_words.TAKEN.search(normalized)
    if symbols and bare and not talk_words.SAME.search(normalized) and "get_price" in schemas:
        return Wish(Intent.TOOL, tuple(("get_price", {"symbol": symbol}) for symbol in symbols))
    return None


def _order_in_two_parts(text: str, row: ToolPhrase | None, schemas: OfferedTools, before: Sequence[str]) -> Wish | None:
    """An order with a stop that protects it, or with a condition; None if the text has neither."""
    if row is not None and row.tool != ORDER:
        return None
    if row is not None and (sale := order_sold_later(text)) is not None:
        order = tool_wish(sale.purchase, schemas, before)
        if order is not None and order.calls and not order.way and not order.missing:
            # Nothing is sold before it is held.
            way: Way = "stop_later" if sale.is_stop else "sold_later"
            return order_if_complete(sale.others, replace(order, way=way, amount=sale.price))
    if (conditional := order_and_condition(text)) is not None:
        order = tool_wish(conditional.order, schemas, before)
        if order is not None and order.calls and order.calls[0][0] == ORDER:
            return order_if_complete(text, with_condition(order, conditional.condition), conditional=True)
    return None


_ASKS_WHAT_IF = expression(r"\b(?:what|how|cuanto|que|would|could|gan[oa]\w*|pierdo|perder\w*)\b")


_NAMES_FIGURE = expression(r"\b(?:stop|target|objetivo|take[ -]?profit|entry|entrada|capital)\b(?=.*\d)")


def _continues(text: str, normalized: str, row: ToolPhrase, earlier: Wish) -> bool:
    """Whether a text goes on with the earlier request, although its words are those of a phrase: the highest close of
    the time that was spoken of, or what another alert or order waits for."""
    is_figure = row.tool in ("get_price", "market_snapshot") and PERIOD_FIGURE.search(normalized)
    if is_figure and not symbols_in(text) and not main_period(text).arguments:
        return True
    if earlier.calls[0][0] in FIGURES and row.tool in LOOKED_UP and not symbols_in(text):
        return _NAMES_FIGURE.search(normalized) is not None
    may_wait = earlier.calls[0][0] == "create_alert" or (has_effects(earlier) and "?" not in text)
    return row.way == "if_moved" and may_wait and not _ASKS_WHAT_IF.search(normalized)


def _checked(text: str, normalized: str, amendment: Wish) -> Wish:
    """The amended request; if it is an order that lacks a word or figure of the text, that word."""
    is_order = bool(amendment.calls) and amendment.calls[0][0] == ORDER
    if not is_order or change_in(normalized) is not None:
        return amendment
    unread_word = first_unread_of_change(text, normalized, amendment)
    return Wish(Intent.UNREAD, words=unread_word) if unread_word else amendment


def _change_of_listed(
    normalized: str,
    row: ToolPhrase | None,
    earlier: Wish | None,
    symbols: Sequence[str],
    schemas: OfferedTools,
    before: Sequence[str],
) -> Wish | None:
    """The change of an order or alert that has to be found in a list first; None if the text changes none."""
    tools = changes_listed(normalized, row, earlier, listed_by(before))
    if tools is None or tools[0] not in schemas:
        return None
    reference: dict[str, Any] = {"symbol": symbols[0]} if symbols else {}
    reference |= order_named(normalized) if tools[0] == ORDER else {}
    reference |= {"place": at} if (at := ordinal_in(normalized)) is not None else {}
    changes_count = tools[0] == ORDER and talk_words.COUNTED.search(normalized)
    changed = {**reference, "quantity" if changes_count else "price": numbers_in(normalized)[-1][1]}
    return Wish(Intent.TOOL, ((tools[0], changed), (tools[1], reference)), way="replace_listed")


def _wish_of_phrase(
    text: str,
    normalized: str,
    row: ToolPhrase,
    symbols: Sequence[str],
    schemas: OfferedTools,
    before: Sequence[str],
    *,
    is_repeated: bool,
) -> Wish | None:
    """The wish that a phrase makes, for the shares that the text names or refers to. `is_repeated` is true if it is the
    phrase of the message before."""
    # "What does the plan cost?" is of the site, whatever share was spoken of before; "and what does it cost?" is not.
    if row.tool in ("get_price", "market_snapshot") and not symbols and before:
        last = tool_wish(before[-1], schemas, before[:-1])
        if (last is not None and last.withheld) or talk_words.PLAN_FOR_IT.search(plain(before[-1])):
            return None  # what the plan costs that has it
    is_look_up = row.about and row.tool in LOOKED_UP
    group = market_words.GROUP.search(normalized) if is_look_up and not symbols else None
    if group and not talk_words.STATED.search(normalized):
        symbol_wish = Wish(Intent.TOOL, ((row.tool, {}),), ("symbol",), words=group[0])
        return symbol_wish if row.tool in schemas else None
    if row.way == "if_moved" and not symbols and market_words.ALL_HELD.search(normalized):
        return portfolio_if_moved(normalized, schemas)
    reference = _reference(normalized, row, symbols, before)
    candidates = symbols or (symbols_mentioned(before) if reference else ())
    last_named = next((named for earlier in reversed(before) if (named := symbols_in(earlier))), list[str]())
    is_ambiguous = talk_words.ONE_OF_THEM.search(normalized) or (len(last_named) > 1 and ordinal_in(normalized) is None)
    if row.tool in EFFECTS_ON_ONE_SYMBOL and len(candidates) > 1 and len(symbols) != 1 and is_ambiguous:
        return call_of(row, ParsedText(text, normalized, ()), schemas)  # which of them that is, nobody has said
    if row.about and not reference:
        return _without_share(text, normalized, row, schemas, before)
    if row.tool == ORDER and not row.way and len(symbols) > 1 and row.tool in schemas:
        orders = orders_by_symbol(text, row.tool, schemas[row.tool])
        orders = order_if_complete(text, orders) if orders.calls else orders
        return replace(orders, missing=orders.missing or LATER_TIME) if talk_words.LATER.search(normalized) else orders
    if row.tool == "create_alert" and row.tool in schemas and reference and percent_in(normalized) is None:
        alerts = alerts_by_price(text, row.tool, schemas[row.tool], reference)
        if len(alerts) > 1:
            return Wish(Intent.TOOL, alerts)
    parsed = ParsedText(text, normalized, tuple(reference))
    if is_repeated:
        parsed = replace(parsed, text=f"{text} {before[-1]}", plain=f"{normalized} {with_known_spelling(before[-1])}")
    wish = call_of(row, parsed, schemas)
    if wish is None:
        return None
    meaning = CONCEPT.search(normalized) if talk_words.EXPLAINED_TOO.search(normalized) else None
    if meaning and row.tool in LOOKED_UP and "explain_concept" in schemas:
        return replace(wish, calls=(*wish.calls, ("explain_concept", {"concept": meaning[0]})))
    if row.tool == ORDER and not wish.missing:
        return (
            replace(wish, missing=LATER_TIME) if talk_words.LATER.search(normalized) else order_if_complete(text, wish)
        )
    if wish.missing and row.tool in FIGURES and (figures := _last_calculation(schemas, before)):
        # What was worked out before says the rest.
        merged = {**{name: value for name, value in figures.items() if name in wish.missing}, **wish.calls[0][1]}
        return Wish(Intent.TOOL, ((row.tool, merged),), missing_arguments(schemas[row.tool], merged))
    return wish


def _reference(normalized: str, row: ToolPhrase, symbols: Sequence[str], before: Sequence[str]) -> Sequence[str]:
    """The shares that a text names, or refers to among those mentioned before."""
    if (
        symbols
        or _is_about_something_else(normalized, row)
        or (row.way == "sell" and talk_words.EVERYTHING.search(normalized))
    ):
        return symbols  # without one, all that is held, and not the share that was spoken of
    of_both = (
        before
        and talk_words.GOING_ON.search(normalized)
        and (talk_words.BOTH.search(plain(before[-1])) or len(symbols_in(before[-1])) > 1)
    )
    may_be_several = row.tool in (*LOOKED_UP, "get_ohlcv", "get_correlation")
    if may_be_several and (talk_words.BOTH.search(normalized) or of_both):
        return symbols_mentioned(before)
    goes_on = bool(row.way) or talk_words.GOING_ON.search(normalized)
    may_refer = row.tool != "get_price" or goes_on or (date_in(normalized) and market_words.OF_A_DAY.search(normalized))
    return symbol_mentioned(normalized, before) if may_refer and (row.about or row.way) else ()


def _is_about_something_else(text: str, row: ToolPhrase) -> bool:
    """Whether a look-up without a share has words for something that is no share: "how many kids do I have?"."""
    may_be = row.tool in LOOK_UPS and not row.way and not talk_words.IS_DONE.search(plain(text))
    return may_be and bool(foreign_words(row.tool, text))


def _without_share(
    text: str, normalized: str, row: ToolPhrase, schemas: OfferedTools, before: Sequence[str]
) -> Wish | None:
    """The wish of a phrase that needs a share, without one: the question for it, a concept, or a question for the
    pages."""
    if row.tool == ORDER and not row.way:
        if row.tool not in schemas:
            return Wish(Intent.TOOL, withheld=row.tool)
        call = call_of(row, ParsedText(text, normalized, ()), schemas)
        return call if call is not None and "quantity" in call.calls[0][1] else None
    if (term := CONCEPT.fullmatch(normalized.strip(" ?!.¿¡"))) and not before and "explain_concept" in schemas:
        return Wish(Intent.TOOL, (("explain_concept", {"concept": term[0]}),))
    if row.tool not in schemas:
        return None
    weak = ("get_price", "get_ohlcv", "market_snapshot", "get_fundamentals")
    if _is_about_something_else(text, row):
        return None
    if before and (row.way or row.tool not in weak):
        return Wish(Intent.TOOL, ((row.tool, {}),), ("symbol",))
    of_a_share = row.tool in LOOKED_UP and (row.tool != "get_price" or market_words.SHARE_PRICE.search(normalized))
    return Wish(Intent.SITE, missing=("symbol",)) if of_a_share else None


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


def _changes_one_symbol(wish: Wish | None) -> bool:
    return wish is not None and bool(wish.calls) and wish.calls[0][0] in EFFECTS_ON_ONE_SYMBOL


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
