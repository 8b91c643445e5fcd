"""What the offline assistant answers if neither a tool nor a page was found for a question."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agent.domain.offline.answers import (
    CITED,
    answer_from,
    do_you_mean,
    is_unknown,
    not_told,
    plain_answer,
    price_with_other_readings,
    repeated_answer,
    say,
)
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.concepts import another_term, order_kind, requested_term
from agent.domain.offline.intents import after_an_order
from agent.domain.offline.market_words import UNLISTED
from agent.domain.offline.nearest_readings import foreign_words, nearest_readings
from agent.domain.offline.questions import terms
from agent.domain.offline.small_talk import asks_about_oneself, is_about_procedure, is_customers_statement
from agent.domain.offline.step_results import Result, SayText, UseTools
from agent.domain.offline.talk_words import BEST, CORRECTS, OF_WHAT_WAS_TOLD, TAKEN
from agent.domain.offline.tool_words import OF_THE_PLAN, OWN, is_question
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import plain, symbols_in
from contracts.expressions import expression
from contracts.languages import Language

_BACK = expression(r"\b(?:it|its|they|their|them|those|that|eso|ell[oa]s?)\b")
"""Refers to what was said before."""


def answer_otherwise(
    question: str,
    wish: Wish,
    earlier_questions: Sequence[str],
    replies: Sequence[str],
    offered: Collection[str],
    results: Sequence[Result],
    language: Language,
    market: Mapping[str, Any] | None,
    answer: str,
) -> SayText | UseTools | None:
    """What to answer if neither a tool nor a page was found for a question; None: leave the answer as it is. `answer`
    is the answer so far, which may quote a page that is only near the question."""
    term = requested_term(plain(question)) or another_term(plain(question), earlier_questions)
    is_defined = re.search(rf"\bthe {re.escape(term)}", plain(question)) and term.upper() not in question
    if "search_memory" not in offered and is_defined:
        term = ""  # a visitor who asks for "the uptime", unlike "the VIX", asks for the company's
    term = term or ("" if OWN.search(plain(question)) else order_kind(plain(question)))
    if term and "explain_concept" in offered:
        explanation = next((result for result in results if result[0] == "explain_concept"), None)
        if explanation is None:
            return UseTools((("explain_concept", {"concept": term}),))
        if "error" not in explanation[2]:
            return SayText(answer_from(*explanation, question, language))
    symbols = [] if TAKEN.search(plain(question)) else symbols_in(question)
    may_decide = not symbols or re.search(r"\b(?:cancel|confirm|anul)", plain(question))
    if (
        not (is_question(question) or OF_THE_PLAN.search(plain(question)))
        and may_decide
        and after_an_order(earlier_questions[-1:], offered)
    ):
        return SayText(plain_answer(Wish(Intent.NOT_YET), language))
    corrects = CORRECTS.match(plain(question)) and re.search(r"\d", question)
    if is_customers_statement(question, offered) and not corrects:
        return SayText(plain_answer(Wish(Intent.TOLD), language))
    if "get_price" in offered and UNLISTED.search(plain(question)):
        listed_symbols = ", ".join((market or {}).get("symbols", ()))
        return SayText(plain_answer(Wish(Intent.UNLISTED, words=listed_symbols), language))
    if wish.missing == ("symbol",) and wish.intent is Intent.SITE and "search_memory" in offered:
        return SayText(say("which.symbol", language))
    # Figures that tools gave are repeated; a quoted page does not contain what it is asked for now.
    has_figures = _has_figures(replies)
    superlative = BEST.search(plain(question))
    has_figures = (
        has_figures
        and not is_unknown(replies[-1])
        and (superlative is None or superlative[0].removesuffix("est") in plain(replies[-1]))
    )
    if has_figures and OF_WHAT_WAS_TOLD.search(plain(question)) and not significant_words(BEST.sub(" ", question)):
        return SayText(repeated_answer(replies[-1], language))
    may_suggest = not is_about_procedure(question)
    if (
        not symbols
        and may_suggest
        and "search_memory" in offered
        and (readings := nearest_readings(question, offered, language))
    ):
        return SayText(do_you_mean(readings, language))
    quotes_near_page = CITED.search(answer) and terms(question)
    if not symbols and "search_memory" in offered and not quotes_near_page and asks_about_oneself(question):
        return SayText(not_told(language, missed_before=any(map(is_unknown, replies))))
    if not symbols or "get_price" not in offered:
        return None
    price_results = [result for result in results if result[0] == "get_price"]
    if not price_results:
        return UseTools((("get_price", {"symbol": symbols[0]}),))
    readings = nearest_readings(question, offered, language, symbols[0])
    return SayText(
        price_with_other_readings(symbols[0], answer_from(*price_results[0], question, language), readings, language)
    )


def refers_to_figures(question: str, replies: Sequence[str]) -> bool:
    """Whether a question refers to figures that a tool gave just before, which no page is about."""
    return _has_figures(replies) and _BACK.search(plain(question)) is not None


def _has_figures(replies: Sequence[str]) -> bool:
    """Whether the newest answer has figures of a tool, and quotes no page."""
    newest = replies[-1] if replies else ""
    return re.search(r"\d", newest) is not None and not CITED.search(newest) and "http" not in newest


def readings_beside_price(
    question: str, wish: Wish, results: Sequence[Result], offered: Collection[str], language: Language
) -> list[str]:
    """What a question that was read as one for a price may have meant instead, from words that no such question has."""
    is_price_question = (
        [tool for tool, _ in wish.calls] == ["get_price"] and not wish.way and "error" not in results[0][2]
    )
    if not is_price_question or not symbols_in(question) or not (unread_words := foreign_words("get_price", question)):
        return []
    return nearest_readings(" ".join(unread_words), offered, language, str(wish.calls[0][1]["symbol"]))
