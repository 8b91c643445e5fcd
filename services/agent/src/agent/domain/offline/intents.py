"""Reads what a person wants from their message and the ones before it: a tool with its arguments, a page, or small
talk.

"buy 3 MSFT" is a call of create_paper_order. "make it 5" changes that call, "and AAPL?" repeats it for another share.
"when are you open?" is a question for the site, "thanks!" is small talk.
"""

import re
from collections.abc import Collection, Sequence
from datetime import date

from agent.domain.analysis.amounts import amount_in
from agent.domain.analysis.asked import is_about_all_tickers
from agent.domain.analysis.follow_ups import MAX_CHARACTERS, complete_question
from agent.domain.analysis.market_state import MARKET_STATE
from agent.domain.analysis.question_patterns import HAD_BOUGHT
from agent.domain.analysis.relative_days import DATES, date_in
from agent.domain.analysis.stretches import UnreadText, main_period
from agent.domain.claims.lexer import folded
from agent.domain.offline import market_words, mood_words, talk_words
from agent.domain.offline.answer_style import is_about_answers
from agent.domain.offline.calls import PERSONAL, OfferedTools
from agent.domain.offline.changed_arguments import FIGURES
from agent.domain.offline.combined_wishes import both_wishes
from agent.domain.offline.concepts import CONCEPT, requested_term
from agent.domain.offline.grammar import ORDERS
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.market_days import day_beside, day_in
from agent.domain.offline.person_words import asks_for_person
from agent.domain.offline.phrases import listed_by
from agent.domain.offline.previous_questions import symbol_mentioned, symbols_mentioned
from agent.domain.offline.questions import terms
from agent.domain.offline.small_talk import mood_in, past_greeting, small_talk_in
from agent.domain.offline.tool_wishes import tool_wish
from agent.domain.offline.unread import EFFECTS
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.shortcuts.memory_words import is_undo, memory_wish
from agent.domain.shortcuts.words import decision_in
from agent.domain.text_features import plain, symbols_in
from contracts.expressions import expression

_MEMORY_TOOL = "search_memory"
"""A tool that only customers have: visitors are not remembered."""
_PAGE = "fetch_page"
_NOT_ANALYSES = (PERSONAL - {"get_sentiment"}) | {"remove_from_watchlist", "get_ohlcv", "search_memory", *FIGURES}
"""Tools whose requests are not analyses, although their text could be read as a question for one."""
_MAX_MESSAGES_BACK, _MAX_FOLLOW_UP_WORDS = 3, 12
"""How many messages back a question about the market's hours may be continued; and the maximum words of the
continuation."""
_WHEN_FILLED = expression(
    r"(?<![\s,;.])(?:[\s,;.]+(?:and|y))?[\s,;.]+(?:(?:please|por favor),? )?"
    r"(?:let me know|(?:tell|notify|alert|ping|inform|warn) me|av[ií]same|d[ií]me(?:lo)?|notif[ií]came) "
    r"(?:when|once|as soon as|if|cuando|en cuanto|si) "
    r"(?:(?:it|that|this|the order|la orden|l[oa])(?:['’]s| is| has been| has| gets)? |"
    r"se (?:haya )?|est[eé] |haya sido )?"
    r"(?:been )?(?:fill\w*|execut\w*|done|goes through|gone through|complet\w*|ejecut\w*|hech[oa])[\s.!]*$",
    re.IGNORECASE,
)
"""The request to be told when an order is filled."""


_ASKED_BACK = expression(r"^[^?]{1,60}\?\s+(?=(?:then|so|ok|okay|pues|entonces|vale)\b)", re.IGNORECASE)
"""A question back before a request: "I own none? then buy 5"."""


def _request(text: str) -> str:
    """A message without its greeting, a question back, and the request to be told of a fill."""
    text = _ASKED_BACK.sub("", past_greeting(text[:MAX_CHARACTERS]))
    fill_request = _WHEN_FILLED.search(text)
    return text[: fill_request.start()] if fill_request and len(text[: fill_request.start()].split()) > 1 else text


def wish_in(text: str, offered: Collection[str], earlier_texts: Sequence[str] = (), *, trades: bool = True) -> Wish:
    """Return what the text asks for. `offered` are the tools there are, with their schemas; `earlier_texts` what the
    person said before, oldest first; `trades` whether the company is a trading platform."""
    text, earlier_texts = _request(text), [_request(earlier_text) for earlier_text in earlier_texts]
    normalized, schemas = plain(text), OfferedTools(offered)
    if intent := _intent_of_words(text, normalized, schemas, earlier_texts):
        return Wish(intent)
    offers_analysis, is_customer = "market_analysis" in schemas, _MEMORY_TOOL in schemas
    if is_customer and is_about_answers(normalized):
        return Wish(Intent.STATED)
    question = None
    if offers_analysis:
        question = complete_question(text, earlier_texts) or (text if is_about_all_tickers(text) else None)
    # A visitor who names no shares asks about the company as well: "top 3 reasons to choose you".
    is_about_shares = is_customer or ("get_price" in schemas and market_words.ALL_SHARES.search(normalized))
    if question is None and is_about_shares and _asks_for_movers(text, normalized, earlier_texts):
        return Wish(Intent.UNLISTED)
    if is_customer and talk_words.REMINDER.search(normalized):
        return Wish(Intent.REMINDER)
    if trades and market_words.OPENS_WHEN.fullmatch(normalized) and _goes_on_about_market(earlier_texts):
        return Wish(Intent.MARKET)
    wish = both_wishes(text, schemas, earlier_texts) or tool_wish(text, schemas, earlier_texts)
    if wish is not None and wish.intent is Intent.UNREAD:
        return wish
    if wish is None and earlier_texts and talk_words.PLAN_FOR_IT.search(normalized):
        previous_wish = tool_wish(earlier_texts[-1], schemas, earlier_texts[:-1])
        wish = previous_wish if previous_wish is not None and previous_wish.withheld else None
    if wish is not None and wish.withheld and not trades:
        wish = None  # no plan of this company has it
    is_statement = is_customer and "?" not in text and talk_words.STATED.search(normalized) is not None
    # The analysis tool is offered only in turns that ask for an analysis.
    if question is not None:
        return Wish(Intent.ANALYSIS, (("market_analysis", {"query": question}),))
    if offers_analysis and not is_statement and not (wish is not None and _has_own_meaning(text, normalized, wish)):
        compares = earlier_texts and len(symbols_in(text)) < 2 and talk_words.COMPARED_WITH.search(normalized)
        compared_symbol = symbol_mentioned(normalized, earlier_texts) if compares else []
        return Wish(Intent.ANALYSIS, (("market_analysis", {"query": " ".join([*compared_symbol, text])}),))
    lacks_symbol = wish is not None and wish.intent is Intent.SITE
    if lacks_symbol:
        wish = None
    if wish is not None and (wish.calls or wish.missing):
        return wish
    if trades and not symbols_in(text) and not ORDERS.search(normalized) and _is_about_hours(normalized, earlier_texts):
        return Wish(Intent.MARKET)
    if is_statement or (is_customer and "?" not in text and _asks_to_remember(text)):
        return Wish(Intent.STATED)
    if talk := _talk(text, normalized, schemas, earlier_texts):
        return talk
    if wish is None and is_about_the_company(text):
        return Wish(Intent.ABOUT)
    if wish is not None or _PAGE not in schemas:
        return wish or Wish(Intent.UNKNOWN)
    return Wish(Intent.SITE, missing=("symbol",) if lacks_symbol else ())


def _intent_of_words(text: str, normalized: str, schemas: OfferedTools, earlier_texts: Sequence[str]) -> Intent | None:
    """The intent that a message's words say, whatever tool they name besides: a person, advice, or not to order."""
    asks_person = asks_for_person(text) or asks_for_person(with_known_spelling(text))
    if asks_person and not talk_words.ASKS_WHEN.search(normalized):
        return Intent.HANDOFF
    if talk_words.ABILITIES.search(normalized) and not CONCEPT.search(requested_term(normalized)):
        return Intent.ABILITIES
    if "get_price" in schemas and talk_words.RECOMMENDED_ASSET.search(normalized):
        return Intent.ADVICE
    if "get_price" in schemas and talk_words.ADVICE.search(normalized) and talk_words.TRADING.search(normalized):
        order = tool_wish(text, schemas, earlier_texts)
        # A question how many to buy is answered if it gives the figures for it.
        has_figures = order is not None and order.calls and order.calls[0][0] in FIGURES and len(order.missing) <= 1
        if not has_figures:
            return Intent.ADVICE
    if "create_paper_order" in schemas and talk_words.NOT_YET.search(normalized):
        return Intent.NOT_YET
    return Intent.WRONGED if mood_in(normalized, text) is Intent.WRONGED else None


def _asks_for_movers(text: str, normalized: str, earlier_texts: Sequence[str]) -> bool:
    """Whether a text asks which of all shares moved most, and not which of those that were mentioned."""
    if not market_words.MOVERS.search(normalized) or symbols_in(text):
        return False
    if earlier_texts and re.search(r"\d", text) and "?" not in text and talk_words.AMENDS.search(normalized):
        return False  # "mejor 10 acciones" after an order
    several_mentioned = listed_by(earlier_texts[-2:]) == "get_portfolio" or len(symbols_mentioned(earlier_texts)) > 1
    was_comparison = bool(earlier_texts) and len(symbols_in(earlier_texts[-1])) > 1
    is_about_mentioned = (was_comparison and not market_words.ALL_SHARES.search(normalized)) or (
        several_mentioned and talk_words.OVERALL.fullmatch(normalized)
    )
    return not is_about_mentioned


def _has_own_meaning(text: str, normalized: str, wish: Wish) -> bool:
    """Whether a request is no analysis, although its text could be read as a question for one."""
    tools = [tool for tool, _ in wish.calls]
    has_amount = tools[:1] == ["get_ohlcv"] and (
        amount_in(UnreadText(folded(text))) is not None
        or HAD_BOUGHT.search(normalized) is not None
        or len({match[0] for pattern in DATES for match in pattern.finditer(normalized)}) > 1
    )
    return (
        (wish.way == "affordable" and date_in(normalized) is None and not _names_years(text))
        or wish.way == "if_moved"
        or wish.withheld in EFFECTS
        or (len(tools) > 1 and tools[-1] == "get_news")
        or (bool(tools) and tools[0] in _NOT_ANALYSES and not has_amount)
    )


def _names_years(text: str) -> bool:
    """Whether a text names a period between days, so that its numbers are no amounts: from 2005 to 2011."""
    return {"start", "end"} <= main_period(text).arguments.keys()


def _talk(text: str, normalized: str, schemas: OfferedTools, earlier_texts: Sequence[str]) -> Wish | None:
    """The wish of small talk, of a request about memory, or of a plain yes or no; None for anything else."""
    decision = decision_in(text)
    may_confirm = decision is not None and after_an_order(earlier_texts, schemas)
    pending = Wish(Intent.TOOL, (("get_pending_orders", {}),))  # shows what there is to confirm
    if decision == "confirm" and may_confirm and talk_words.AGREES.search(normalized):
        return pending
    may_settle = small_talk_in(normalized) is None or mood_words.SETTLED.search(normalized)
    if decision == "reject" and may_confirm and may_settle:
        return Wish(Intent.NOT_YET)
    if talk := small_talk_in(normalized) or small_talk_in(with_known_spelling(text)) or mood_in(normalized, text):
        return Wish(talk)
    if _MEMORY_TOOL in schemas:
        if is_undo(text, is_later=True):
            return Wish(Intent.UNDO)
        if talk_words.FORGET.fullmatch(normalized):
            return Wish(Intent.FORGET)
        if (memory_request := memory_wish(text)) is not None and memory_request.kind == "forget":
            return Wish(Intent.NOT_REMEMBERED)
    if decision is None:
        return None
    if not may_confirm:
        return Wish(Intent.FINE)
    return pending if decision == "confirm" else Wish(Intent.NOT_YET)


def _is_about_hours(normalized: str, earlier_texts: Sequence[str], max_back: int = _MAX_MESSAGES_BACK) -> bool:
    """Whether a normalized text is about the market's hours, or continues a question about them, at most `max_back`
    messages back, whatever else was said since."""
    if market_words.HOLIDAYS.search(normalized) or (
        market_words.OPEN.search(normalized) and market_words.MARKET.search(normalized)
    ):
        return True
    if earlier_texts and market_words.OPEN.search(normalized) and MARKET_STATE.search(plain(earlier_texts[-1])):
        return not market_words.SUPPORT_HOURS.search(normalized)
    is_short = len(normalized.split()) <= _MAX_FOLLOW_UP_WORDS and not market_words.SUPPORT_HOURS.search(normalized)
    is_open = market_words.OPEN.search(normalized) is not None
    any_day = date(2000, 1, 1)
    names_day = day_in(normalized, any_day) is not None or day_beside(normalized, (), any_day) is not None
    if not is_short or not (is_open or names_day):
        return False
    # A day alone continues only what was said just before it.
    furthest = min(max_back if is_open else 1, max_back, len(earlier_texts))
    return any(
        _is_about_hours(plain(earlier_texts[-back]), earlier_texts[:-back], max_back - back)
        for back in range(1, furthest + 1)
    )


def _goes_on_about_market(earlier_texts: Sequence[str]) -> bool:
    """Whether the last message named a share or asked for the market's hours."""
    return bool(earlier_texts) and (
        bool(symbols_in(earlier_texts[-1])) or _is_about_hours(plain(earlier_texts[-1]), earlier_texts[:-1])
    )


def is_about_the_company(text: str) -> bool:
    """Whether a text asks what the company is or does."""
    generalized = talk_words.THIS_PLACE.sub("this", talk_words.YOU_ALL.sub("you", plain(past_greeting(text))))
    return (
        talk_words.IS_ABOUT.search(generalized) is not None
        and not talk_words.MEANT.search(generalized)
        and not terms(generalized)
    )


def after_an_order(earlier_texts: Sequence[str], offered: Collection[str]) -> bool:
    """Whether the last of these messages was about an order, which may wait for a confirmation."""
    return listed_by(earlier_texts) == "get_portfolio" and "get_pending_orders" in offered


def _asks_to_remember(text: str) -> bool:
    """Whether the first sentence asks to remember something."""
    wish = memory_wish(re.split(r"(?<=[.!;])\s", text.strip(), maxsplit=1)[0])
    return wish is not None and wish.kind == "remember"
