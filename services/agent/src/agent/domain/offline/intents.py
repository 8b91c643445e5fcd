"""Reads what a person wants from their message and the ones before it: a tool with its arguments, a page, or small
talk.

"buy 3 MSFT" is a call of create_paper_order. "make it 5" changes that call, "and AAPL?" repeats it of another share.
"when are you open?" is a question for the site, "thanks!" is small talk.
"""

import re
from collections.abc import Collection, Sequence
from datetime import date

from agent.domain.analysis.amounts import amount_in
from agent.domain.analysis.asked import is_about_all_tickers
from agent.domain.analysis.follow_ups import whole_question
from agent.domain.analysis.stretches import Unread
from agent.domain.claims.lexer import folded
from agent.domain.offline import market_words, talk_words
from agent.domain.offline.amendments import FIGURES
from agent.domain.offline.calls import PERSONAL, OfferedTools
from agent.domain.offline.grammar import ORDERS
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.market_days import day_in
from agent.domain.offline.person_words import asks_for_person
from agent.domain.offline.previous_questions import symbol_mentioned, symbols_mentioned
from agent.domain.offline.questions import terms
from agent.domain.offline.relative_days import date_in
from agent.domain.offline.small_talk import mood, past_greeting, small
from agent.domain.offline.tool_wishes import both_wishes, listed_by, tool_wish
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.shortcuts.memory_words import is_undo, memory_wish
from agent.domain.shortcuts.words import decision_in
from agent.domain.text_features import plain, symbols_in

_ABOUT_PEOPLE = "search_memory"
"""A tool of customers: visitors are not remembered."""
_PAGE = "fetch_page"
_BESIDE_ANALYSES = (PERSONAL - {"get_sentiment"}) | {"remove_from_watchlist", "get_ohlcv", "search_memory", *FIGURES}
"""What is meant by its own words, though a text could be read as a question for an analysis."""
_TOPIC, _FOLLOW_UP = 3, 12
"""Messages back at which the market's hours may have been asked for, and words of one that goes on with it."""
_WHEN_FILLED = re.compile(
    r"(?:[\s,;.]+(?:and|y))?[\s,;.]+(?:(?:please|por favor),? )?"
    r"(?:let me know|(?:tell|notify|alert|ping|inform|warn) me|av[ií]same|d[ií]me(?:lo)?|notif[ií]came) "
    r"(?:when|once|as soon as|if|cuando|en cuanto|si) "
    r"(?:(?:it|that|this|the order|la orden|l[oa])(?:['’]s| is| has been| has| gets)? |"
    r"se (?:haya )?|est[eé] |haya sido )?"
    r"(?:been )?(?:fill\w*|execut\w*|done|goes through|gone through|complet\w*|ejecut\w*|hech[oa])[\s.!]*$",
    re.IGNORECASE,
)
"""Wants to hear of an order's fill."""
_LONGEST = 600
"""Characters of a message that are read."""


def _asked(text: str) -> str:
    """What a message asks for, without its greeting, and without the wish to be told of a fill: they are of each."""
    text = past_greeting(text[:_LONGEST])
    told = _WHEN_FILLED.search(text)
    return text[: told.start()] if told and len(text[: told.start()].split()) > 1 else text


def wish_in(text: str, offered: Collection[str], before: Sequence[str] = (), *, trades: bool = True) -> Wish:
    """What the text asks for. `offered`: the tools there are, with their schemas; `before`: what the person said
    earlier, oldest first; `trades`: whether the company is a trading platform."""
    text, before = _asked(text), [_asked(one) for one in before]
    said = plain(text)
    if (asks_for_person(text) or asks_for_person(with_known_spelling(text))) and not talk_words.ASKS_WHEN.search(said):
        return Wish(Intent.HANDOFF)
    if talk_words.ABILITIES.search(said):
        return Wish(Intent.ABILITIES)
    schemas = OfferedTools(offered)
    if "get_price" in schemas and talk_words.ADVICE.search(said) and talk_words.TRADING.search(said):
        wanted = tool_wish(text, schemas, before)
        # How many to buy is worked out where the figures are told.
        figured = wanted is not None and wanted.calls and wanted.calls[0][0] in FIGURES and len(wanted.missing) <= 1
        if not figured:
            return Wish(Intent.ADVICE)
    if "create_paper_order" in schemas and talk_words.NOT_YET.search(said):
        return Wish(Intent.NOT_YET)
    if mood(said, text) is Intent.WRONGED:
        return Wish(Intent.WRONGED)
    among = listed_by(before[-2:]) == "get_portfolio" or len(symbols_mentioned(before)) > 1
    compared = bool(before) and len(symbols_in(before[-1])) > 1 and not market_words.OF_ALL.search(said)
    of_those = compared or (among and talk_words.OVERALL.fullmatch(said) is not None)
    analyses = "market_analysis" in schemas
    of_all, whole = analyses and is_about_all_tickers(text), whole_question(text, before) if analyses else None
    unlisted = market_words.MOVERS.search(said) and not symbols_in(text) and not of_those and not of_all
    if _ABOUT_PEOPLE in schemas and unlisted:
        return Wish(Intent.UNLISTED)
    if _ABOUT_PEOPLE in schemas and talk_words.REMINDER.search(said):
        return Wish(Intent.REMINDER)
    found = both_wishes(text, schemas, before) or tool_wish(text, schemas, before)
    if found is not None and found.intent is Intent.UNREAD:
        return found
    if found is None and before and talk_words.PLAN_FOR_IT.search(said):
        last = tool_wish(before[-1], schemas, before[:-1])
        found = last if last is not None and last.withheld else None
    if found is not None and found.withheld and not trades:
        found = None  # no plan of theirs has it
    # The analysis is offered in a turn that asks for one, and in no other.
    dated = date_in(said) is not None
    bars_of_money = found is not None and bool(found.calls) and found.calls[0][0] == "get_ohlcv"
    bars_of_money = bars_of_money and amount_in(Unread(folded(text))) is not None
    own_words = found is not None and (
        (found.way in ("affordable", "grown") and not dated)
        or found.way == "if_moved"
        or (len(found.calls) > 1 and found.calls[-1][0] == "get_news")
        or (found.calls and found.calls[0][0] in _BESIDE_ANALYSES and not bars_of_money)
    )
    tells_them = _ABOUT_PEOPLE in schemas and "?" not in text and talk_words.STATED.search(said)
    if whole or of_all:
        return Wish(Intent.ANALYSIS, (("market_analysis", {"query": whole or text}),))
    if analyses and not own_words and not tells_them:
        beside = (
            symbol_mentioned(said, before)
            if before and len(symbols_in(text)) < 2 and talk_words.COMPARED_WITH.search(said)
            else []
        )
        return Wish(Intent.ANALYSIS, (("market_analysis", {"query": " ".join([*beside, text])}),))
    of_which = found is not None and found.intent is Intent.SITE
    if of_which:
        found = None
    if found is not None and (found.calls or found.missing):
        return found
    if trades and not symbols_in(text) and not ORDERS.search(said) and _of_hours(said, before):
        return Wish(Intent.MARKET)
    if tells_them or (_ABOUT_PEOPLE in schemas and "?" not in text and _asks_to_remember(text)):
        return Wish(Intent.STATED)
    if talk_words.AGREES.search(said) and decision_in(text) == "confirm" and after_an_order(before[-3:], schemas):
        return Wish(Intent.TOOL, (("get_pending_orders", {}),))  # what is confirmed?
    if talk := small(said) or small(with_known_spelling(text)) or mood(said, text):
        return Wish(talk)
    if _ABOUT_PEOPLE in schemas and is_undo(text, later=True):
        return Wish(Intent.UNDO)
    if _ABOUT_PEOPLE in schemas and talk_words.FORGET.fullmatch(said):
        return Wish(Intent.FORGET)
    if _ABOUT_PEOPLE in schemas and (asked := memory_wish(text)) is not None and asked.kind == "forget":
        return Wish(Intent.NOT_REMEMBERED)
    if (decision := decision_in(text)) is not None:
        if decision == "reject" and after_an_order(before[-3:], schemas):
            return Wish(Intent.NOT_YET)
        waits = decision == "confirm" and after_an_order(before[-3:], schemas)
        return Wish(Intent.TOOL, (("get_pending_orders", {}),)) if waits else Wish(Intent.FINE)
    if found is None and is_about_the_company(text):
        return Wish(Intent.ABOUT)
    if found is not None or _PAGE not in schemas:
        return found or Wish(Intent.UNKNOWN)
    return Wish(Intent.SITE, missing=("symbol",) if of_which else ())


def _of_hours(said: str, before: Sequence[str], back: int = _TOPIC) -> bool:
    """Whether a text (plain) is about the market's hours by its own words, or goes on with a question about them."""
    if market_words.OPEN.search(said) and market_words.MARKET.search(said):
        return True
    short = len(said.split()) <= _FOLLOW_UP and not market_words.OF_SUPPORT.search(said)
    goes_on = market_words.OPEN.search(said) or day_in(said, date.min.replace(year=2000)) is not None
    return bool(back and before and short and goes_on) and _of_hours(plain(before[-1]), before[:-1], back - 1)


def is_about_the_company(text: str) -> bool:
    """Whether a text asks what the company is or does."""
    bare = talk_words.THIS_PLACE.sub("this", talk_words.YOU_ALL.sub("you", plain(past_greeting(text))))
    return talk_words.IS_ABOUT.search(bare) is not None and not talk_words.MEANT.search(bare) and not terms(bare)


def after_an_order(before: Sequence[str], offered: Collection[str]) -> bool:
    """Whether these messages spoke last of an order, which may wait for its yes."""
    return listed_by(before) == "get_portfolio" and "get_pending_orders" in offered


def _asks_to_remember(text: str) -> bool:
    """Whether the first of several sentences asks to remember something."""
    wish = memory_wish(re.split(r"(?<=[.!;])\s", text.strip(), maxsplit=1)[0])
    return wish is not None and wish.kind == "remember"
