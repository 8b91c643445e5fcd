"""Decides what the offline assistant does with a prompt: call tools, or answer.

The newest message is read as a wish (`intents`). A wish with tool calls makes the calls and then tells their results
("what is AAPL trading at?"); a question about the company is answered from its pages (`site`); the rest is small talk.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

from agent.domain.offline.answers import (
    NOTICE,
    answer_from,
    do_you_mean,
    is_empty_answer,
    is_unknown,
    left_out,
    price_with_other_readings,
    nobody_yet,
    search_unavailable,
    not_understood,
    offers_person,
    one_at_a_time,
    plain_answer,
    plan_answer,
    repeated_answer,
    tools_unavailable,
    user_facts_answer,
    information_needed,
)
from agent.domain.offline.calls import OF_PUBLICATION, of_this_year
from agent.domain.offline.coming_events import coming_events
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.concepts import another_term, order_kind, requested_term
from agent.domain.offline.day_answers import hours_call, market_now
from agent.domain.offline.intents import after_an_order, is_about_the_company, wish_in
from agent.domain.offline.listed import chosen_in
from agent.domain.offline.market_words import UNLISTED
from agent.domain.offline.nearest_readings import LOOK_UPS, covers_question, nearest_readings, unread_beside
from agent.domain.offline.own_name import name_answer
from agent.domain.offline.person_words import beside_the_wish
from agent.domain.offline.previous_questions import is_follow_up
from agent.domain.offline.prompt_messages import question_in, results_in, rule_calls_in
from agent.domain.offline.questions import is_vague, lacks_subject, only_gives_people, terms
from agent.domain.offline.relative_days import days_ago, since_then, with_past_days
from agent.domain.offline.shorthand import spelled_out
from agent.domain.offline.site import SiteQuestion, from_knowledge
from agent.domain.offline.site_pages import TOOL, from_site
from agent.domain.offline.small_talk import is_about_procedure, is_customers_statement
from agent.domain.offline.steps import Result, SayText, UseTools, step_of
from agent.domain.offline.talk_words import BEST, GREETED, MY_PLAN, OF_WHAT_WAS_TOLD, PLAN_FOR_IT, TAKEN, WHETHER
from agent.domain.offline.tool_words import OF_THE_PLAN, OWN, is_question
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.shortcuts.answers import rule_calls_answer
from agent.domain.shortcuts.steps import FORGET, REMEMBER, rest_of
from agent.domain.text_features import decision_words, language_of, plain, symbols_in
from contracts.company import CompanyConfig
from contracts.knowledge import KnowledgeFound
from contracts.languages import Language, is_in_another_language, rule_language

HAND_OFF = "hand_off"
_OF_THE_AGENT = {HAND_OFF, "market_analysis"}
"""Tools that are there when the executor does not answer."""
DEMO = "demo"
"""The company of the development stack."""
NOTHING_THERE = KnowledgeFound()
_CITED = re.compile(r"\[\d")
_OF_A_DAY = (
    *OF_PUBLICATION, "get_ohlcv", "get_indicators", "get_price", "market_snapshot", "get_performance",
    "market_analysis",
)  # fmt: skip
"""What may be asked of yesterday, or of last Friday."""
_LIST, _LIST_CHANGES = "get_watchlist", {"add_to_watchlist", "remove_from_watchlist"}
MOST_COMPARED = 1_000
"""Characters of a question that are compared with what the company says: each word is, with every sentence."""


def respond(
    messages: Sequence[Mapping[str, Any]],
    offered: Collection[str],
    language: Language,
    page_url: str | None = None,
    *,
    introduced: bool = False,
    last: bool = False,
    market: Mapping[str, Any] | None = None,
    knowledge: KnowledgeFound | None = NOTHING_THERE,
    company: CompanyConfig | None = None,
    facts: Sequence[str] = (),
    plan: str | None = None,
) -> SayText | UseTools:
    """What a model would do with this prompt. `offered`: the tools there are, with their schemas; `introduced`: that it
    is offline was said before these messages; `last`: nothing more may be called; `market`: its state now; `knowledge`:
    what was found for the question in what the company says, None: it could not be searched; `company`: None is a
    trading platform; `facts`: what the user has told that answers the question; `plan`: theirs, if they have one.
    """
    demo = company is None or company.company_id == DEMO
    question, after, before, said = question_in(messages)
    foreign = is_in_another_language(question)
    language = rule_language(language if foreign else language_of(question, language))
    trades = company is None or company.trades
    question, *before = (_addressed(spelled_out(one, language, trades=trades), company) for one in (question, *before))
    language = rule_language(company.answer_language(language)) if company else language
    results, missed = results_in(after), any(map(is_unknown, said))
    accepts = bool(said) and offers_person(said[-1]) and decision_words(question)
    handed = any(tool == HAND_OFF for tool, _, _ in results)
    # After what memory was asked for, or a hand-over to which nobody has come, what else was asked is still due.
    done = rule_calls_answer(rule_calls_in(after), language, of_several=bool(rest_of(question)))
    results = [one for one in results if one[0] not in (FORGET, REMEMBER, HAND_OFF)]
    question = beside_the_wish(question) if handed else (done and rest_of(question)) or question
    question, wish = _wish_of(question, before, said[-1] if said else "", offered, market, trades=trades)
    if accepts:
        wish = Wish(Intent.HANDOFF)
    response: SayText | UseTools
    asks_whether = "search_memory" not in offered and WHETHER.match(plain(question))
    known = knowledge is not None and bool(knowledge.documents)
    away = knowledge is None or not knowledge.complete
    of_the_plan = PLAN_FOR_IT.search(plain(question)) is not None
    # The site's examples name shares, and tell nothing of them.
    of_the_company = is_about_procedure(question) or TAKEN.search(plain(question))
    of_a_share = "get_price" in offered and bool(symbols_in(question)) and not of_the_company
    if handed and (accepts or not question):
        response = SayText(nobody_yet(language))
    elif named := name_answer(question, before, facts, language, visitor="search_memory" not in offered):
        response = SayText(named)
    elif not wish.calls and (events := coming_events(question, market, language)):
        response = SayText(events)
    elif facts and not wish.way and all(tool == "get_price" for tool, _ in wish.calls):
        response = SayText(user_facts_answer(facts, language))
    elif (
        (wish.intent is Intent.UNKNOWN or (wish.intent is Intent.ABOUT and TOOL not in offered)) and away and not known
    ):
        response = SayText(search_unavailable(language))
    elif (
        (wish.intent is Intent.SITE and not of_a_share)
        or (wish.intent is Intent.ABOUT and (known or TOOL in offered))
        or (wish.intent is Intent.UNKNOWN and known)
        or (wish.withheld and known and (is_about_procedure(question) or asks_whether) and not of_the_plan)
    ):
        about = wish.intent is Intent.ABOUT
        asked = _site_question(question, before, said, language, page_url, about=about, missed_before=missed, away=away)
        if knowledge is not None and known:
            response = from_knowledge(asked, knowledge)
            if wish.withheld and (
                not _CITED.search(response.text) or (asks_whether and is_empty_answer(response.text))
            ):
                response = SayText(plain_answer(wish, language, offered, is_demo_company=demo))
        else:
            response = from_site(asked, results, last=last)
    elif wish.intent is Intent.HANDOFF and HAND_OFF in offered and not handed:
        response = UseTools(((HAND_OFF, {"reason": "missed" if accepts else "asked"}),))
    elif wish.intent is Intent.MARKET and not results and (calls := hours_call(question, offered, market)):
        response = UseTools(calls)
    elif wish.intent is Intent.MARKET and not results and (state := market_now(question, market, language)):
        response = SayText(state)
    elif wish.way and not wish.missing:
        response = step_of(wish, results, language)
    elif wish.calls and not wish.missing and not results:
        response = UseTools(wish.calls)
    elif len(results) > 1 and {tool for tool, _, _ in results} <= _LIST_CHANGES and _LIST in offered:
        response = UseTools(((_LIST, {}),))  # they ran side by side: what each of them tells is not the end
    elif results and (other := _said_beside_prices(question, wish, results, offered, language)):
        price, symbol = answer_from(*results[0], question, language), str(wish.calls[0][1]["symbol"])
        response = SayText(price_with_other_readings(symbol, price, other, language))
    elif results and (wish.calls or wish.intent not in (Intent.UNKNOWN, Intent.SITE)):
        results = [one for one in results if one[0] == _LIST] or results
        response = SayText("\n".join(answer_from(*one, question, language) for one in results))
    elif wish.intent is Intent.GREETING and company is not None and language in company.assistant.greeting:
        response = SayText(company.assistant.greeting[language])
    else:
        response = SayText(plain_answer(wish, language, offered, missed_before=missed, is_demo_company=demo))
    leans = wish.calls and not symbols_in(question)
    looked_up = wish.calls[0][0] if wish.calls and results and (leans or is_question(question)) else ""
    if isinstance(response, SayText) and looked_up in LOOK_UPS and (unread := unread_beside(looked_up, question)):
        response = SayText(f"{response.text}\n{left_out(unread, language)}")
    if isinstance(response, SayText) and (is_unknown(response.text) or response.text == search_unavailable(language)):
        response = _otherwise(question, wish, before, said, offered, results, language, market) or response
        near = (
            not isinstance(response, SayText)
            or not is_unknown(response.text)
            or covers_question(question, response.text)
        )
        if "search_memory" in offered and not near:  # a page that is about something else answers no customer
            response = SayText(
                plain_answer(Wish(Intent.UNKNOWN), language, offered, missed_before=missed, is_demo_company=demo)
            )
    unserved = isinstance(response, SayText) and (wish.withheld is not None or is_unknown(response.text))
    if unserved and plan and not set(offered) - _OF_THE_AGENT:
        response = SayText(tools_unavailable(language))
    if isinstance(response, SayText) and plan and not wish.calls and MY_PLAN.search(plain(question)):
        more = terms(MY_PLAN.sub(" ", plain(question))) and not is_unknown(response.text)
        rest = f"\n{response.text}" if more else ""
        response = SayText(plan_answer(plan, language) + rest)
    if isinstance(response, UseTools):
        return response if not last else SayText(plain_answer(Wish(Intent.UNKNOWN), language, missed_before=missed))
    text = f"{response.text}\n{one_at_a_time(wish.later, language)}" if wish.later else response.text
    if foreign and (is_unknown(text) or _CITED.search(text)):
        text = not_understood("" if is_unknown(text) else text, language)
    text = f"{done}\n\n{text}" if done else text
    # Markdown takes a line right behind a list for a part of its last item.
    text = re.sub(r"(?m)^(- .*)\n(?=[^\s-])", r"\1\n\n", text)
    if introduced or _has_said(messages):
        return SayText(text)
    # What the notice says of itself is not said a second time.
    itself = NOTICE[language].partition(":")[0] + ". "
    if text.startswith(itself):
        return SayText(f"{NOTICE[language]} {text.removeprefix(itself)}")
    return SayText(f"{text}\n\n{NOTICE[language]}")


def _otherwise(
    question: str,
    wish: Wish,
    before: Sequence[str],
    said: Sequence[str],
    offered: Collection[str],
    results: Sequence[Result],
    language: Language,
    market: Mapping[str, Any] | None,
) -> SayText | UseTools | None:
    """What to answer where neither a tool nor a page was found for a question."""
    term = requested_term(plain(question)) or another_term(plain(question), before)
    term = term or ("" if OWN.search(plain(question)) else order_kind(plain(question)))
    if term and "explain_concept" in offered:
        found = next((one for one in results if one[0] == "explain_concept"), None)
        if found is None:
            return UseTools((("explain_concept", {"concept": term}),))
        if "error" not in found[2]:
            return SayText(answer_from(*found, question, language))
    named = [] if TAKEN.search(plain(question)) else symbols_in(question)
    decides = not named or re.search(r"\b(?:cancel|confirm|anul)", plain(question))
    if (
        not (is_question(question) or OF_THE_PLAN.search(plain(question)))
        and decides
        and after_an_order(before[-1:], offered)
    ):
        return SayText(plain_answer(Wish(Intent.NOT_YET), language))
    if is_customers_statement(question, offered) and not named:
        return SayText(plain_answer(Wish(Intent.TOLD), language))
    if "get_price" in offered and UNLISTED.search(plain(question)):
        there = ", ".join((market or {}).get("symbols", ()))
        return SayText(plain_answer(Wish(Intent.UNLISTED, shown=there), language))
    if wish.missing == ("symbol",) and wish.intent is Intent.SITE and "search_memory" in offered:
        return SayText(information_needed("symbol", language))
    # Figures that tools gave: a page that was quoted does not tell what it is asked for now.
    told = said and re.search(r"\d", said[-1]) and not _CITED.search(said[-1]) and "http" not in said[-1]
    best = BEST.search(plain(question))
    told = told and not is_unknown(said[-1]) and (best is None or best[0].removesuffix("est") in plain(said[-1]))
    if told and OF_WHAT_WAS_TOLD.search(plain(question)) and not significant_words(BEST.sub(" ", question)):
        return SayText(repeated_answer(said[-1], language))
    nothing_near = not is_about_procedure(question)
    if (
        not named
        and nothing_near
        and "search_memory" in offered
        and (readings := nearest_readings(question, offered, language))
    ):
        return SayText(do_you_mean(readings, language))
    if not named or "get_price" not in offered:
        return None
    priced = [one for one in results if one[0] == "get_price"]
    if not priced:
        return UseTools((("get_price", {"symbol": named[0]}),))
    readings = nearest_readings(question, offered, language, named[0])
    return SayText(price_with_other_readings(named[0], answer_from(*priced[0], question, language), readings, language))


def _said_beside_prices(
    question: str, wish: Wish, results: Sequence[Result], offered: Collection[str], language: Language
) -> list[str]:
    """What a question that was read as one for a price may ask for instead, by words that no price has."""
    priced = [tool for tool, _ in wish.calls] == ["get_price"] and not wish.way and "error" not in results[0][2]
    if not priced or not symbols_in(question) or not (unread := unread_beside("get_price", question)):
        return []
    return nearest_readings(" ".join(unread), offered, language, str(wish.calls[0][1]["symbol"]))


def _addressed(question: str, company: CompanyConfig | None) -> str:
    """The question with "you" for the company's name. A name of one word may be another word, and so may the first of a
    longer name: that counts only in a question for what it is ("what is Northwind?")."""
    name = company.name.strip() if company and company.name else ""
    if not name:
        return question
    if " " in name:
        whole = rf"\b(?:{re.escape(name)}|{re.escape(plain(name))})(?!\w)"
        question = re.sub(whole, "you", question, flags=re.IGNORECASE)
    short = rf"\b(is|does|about|es|hace|dedica|sobre|de) {re.escape(name.split()[0])}(?!\w)"
    asked = re.sub(short, r"\1 you", question, flags=re.IGNORECASE)
    return asked if asked != question and not terms(asked) else question


def _wish_of(
    question: str,
    before: Sequence[str],
    shown: str,
    offered: Collection[str],
    market: Mapping[str, Any] | None,
    *,
    trades: bool,
) -> tuple[str, Wish]:
    """The question as it was read ("and on Friday?" with its date), and what it asks for.

    `shown`: the newest answer, of whose list it may choose an item.
    """
    if trades and shown and (chosen := chosen_in(question, shown, offered, before)):
        return question, chosen
    wish = wish_in(question, offered, before, trades=trades)
    if not trades or wish.intent is Intent.REMINDER:
        return question, wish
    now, over = (market or {}).get("current_time"), (market or {}).get("status") in ("after_hours", "closed")
    today = date.fromisoformat(str(now)[:10]) if now else date.today()
    dated = with_past_days(since_then(question, before), today, over=over)
    if (long_ago := days_ago(question, today)) is not None:
        bare, day = long_ago
        told = wish_in(bare if terms(bare) or symbols_in(bare) or not before else before[-1], offered, before)
        # "What did it cost a year ago?" is of that day, "how did it do?" of the year since.
        dated = f"{bare} {day}" if [tool for tool, _ in told.calls] == ["get_price"] and not told.way else dated
    wish = of_this_year(wish, question, today)
    of_day = wish_in(dated, offered, before) if dated != question else wish
    if dated == question or not of_day.calls or of_day.calls[0][0] not in _OF_A_DAY:
        return question, wish
    return (dated, of_day) if now else (question, Wish(Intent.NO_DAY))


def _site_question(
    question: str,
    before: Sequence[str],
    said: Sequence[str],
    language: Language,
    page_url: str | None,
    *,
    about: bool,
    missed: bool,
    away: bool,
) -> SiteQuestion:
    """A question for the company's words, with the one that it leans on and what was answered before."""
    question = GREETED.sub("", question)[:MOST_COMPARED]
    before = [one[:MOST_COMPARED] for one in before[-3:]]
    if before and only_gives_people(question, before[-1]):
        *before, question = before  # what one costs is told once more
    leaning = (
        before[-1]
        if before and (is_follow_up(question) or lacks_subject(question) or is_vague(terms(question)))
        else ""
    )
    if leaning and len(before) > 1 and (is_follow_up(leaning, 3) or lacks_subject(leaning)):
        leaning = f"{before[-2]}\n{leaning}"  # it leans on the one before it in turn
    leaning = "" if is_about_the_company(leaning) else leaning
    answered = said[-1] if said and not is_empty_answer(said[-1]) else ""
    earlier = leaning or (before[-1] if before else "")
    told = next((one for one in reversed(said) if not is_empty_answer(one)), "")
    return SiteQuestion(question, leaning, language, page_url, about, missed, answered, away, earlier, told)


def _has_said(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the notice was given in what the prompt holds of the conversation."""
    said = (str(message.get("content") or "") for message in messages if message["role"] == "assistant")
    return any(notice in text for text in said for notice in NOTICE.values())
