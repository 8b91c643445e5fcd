"""Decides what the offline assistant does with a prompt: call tools, or answer.

The newest message is read as a wish (`intents`). A wish with tool calls makes the calls and then puts their results
into sentences ("what is AAPL trading at?"); a question about the company is answered from its pages (`site`); the rest
is small talk.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.domain.offline.answers import (
    CITED,
    NOTICE,
    answer_from,
    is_empty_answer,
    is_unknown,
    left_out,
    nobody_yet,
    not_understood,
    offers_person,
    plain_answer,
    price_with_other_readings,
    say,
    user_facts_answer,
)
from agent.domain.offline.coming_events import coming_events
from agent.domain.offline.coverage import uncovered_parts
from agent.domain.offline.day_answers import hours_call, market_now
from agent.domain.offline.fallback_answers import answer_otherwise, readings_beside_price, refers_to_figures
from agent.domain.offline.intents import is_about_the_company
from agent.domain.offline.listed import place_without_decision
from agent.domain.offline.nearest_readings import LOOK_UPS, covers_question, foreign_words
from agent.domain.offline.newest_wish import read_wish
from agent.domain.offline.own_name import name_answer
from agent.domain.offline.person_words import without_person_request
from agent.domain.offline.previous_questions import is_follow_up
from agent.domain.offline.prompt_messages import question_in, results_in, rule_calls_in, with_you_for_name
from agent.domain.offline.questions import is_vague, lacks_subject, only_gives_party, only_gives_people, terms
from agent.domain.offline.shorthand import spelled_out
from agent.domain.offline.site import SiteQuestion, from_knowledge
from agent.domain.offline.site_pages import TOOL, from_site
from agent.domain.offline.small_talk import accepts_offer, is_about_procedure
from agent.domain.offline.step_results import Result, SayText, UseTools
from agent.domain.offline.steps import next_step
from agent.domain.offline.talk_words import GREETED, MY_PLAN, PLAN_FOR_IT, TAKEN, WHETHER
from agent.domain.offline.tool_words import is_question
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.shortcuts.answers import rule_calls_answer
from agent.domain.shortcuts.steps import FORGET, REMEMBER, rest_of
from agent.domain.text_features import language_of, plain, symbols_in
from agent.texts import TEXTS
from contracts.company import CompanyConfig
from contracts.knowledge import KnowledgeFound
from contracts.languages import Language, is_in_another_language, rule_language

HAND_OFF = "hand_off"
_AGENT_TOOLS = {HAND_OFF, "market_analysis"}
"""Tools that are available while the executor does not answer."""
DEMO = "demo"
"""Id of the development stack's company."""
NO_KNOWLEDGE = KnowledgeFound()
_LIST, _LIST_CHANGES = "get_watchlist", {"add_to_watchlist", "remove_from_watchlist"}
MAX_COMPARED_CHARACTERS = 1_000
"""Characters of a question that are compared with the company's words; each word is compared with every sentence."""


def respond(
    messages: Sequence[Mapping[str, Any]],
    offered: Collection[str],
    language: Language,
    page_url: str | None = None,
    *,
    introduced: bool = False,
    last: bool = False,
    market: Mapping[str, Any] | None = None,
    knowledge: KnowledgeFound | None = NO_KNOWLEDGE,
    company: CompanyConfig | None = None,
    facts: Sequence[str] | None = (),
    plan: str | None = None,
    learns: bool = True,
) -> SayText | UseTools:
    """Return what a model would do with this prompt.

    `offered` are the tools there are, with their schemas. `introduced` is true if the notice that the assistant is
    offline was given before these messages, `last` if no more tools may be called. `market` is the market's current
    state. `knowledge` is what was found for the question in the company's words, None if that could not be searched. A
    `company` of None is a trading platform. `facts` are the user's own that answer the question, None if memory could
    not be read; `plan` is theirs, if they have one. `learns` is false if nothing is remembered of what is said here.
    """
    question, later_messages, earlier_questions, replies = question_in(messages)
    is_foreign = is_in_another_language(question)
    language = rule_language(language if is_foreign else language_of(question, language))
    trades = company is None or company.trades
    question, *earlier_questions = (
        with_you_for_name(spelled_out(text, language, is_trading=trades), company)
        for text in (question, *earlier_questions)
    )
    language = rule_language(company.answer_language(language)) if company else language
    results = results_in(later_messages)
    accepts_person = bool(replies) and offers_person(replies[-1]) and accepts_offer(question)
    was_handed_off = any(tool == HAND_OFF for tool, _, _ in results)
    # A message that asked memory for something, or a person who has not come, may contain another question.
    rule_answer = rule_calls_answer(rule_calls_in(later_messages), language, is_several=bool(rest_of(question)))
    question = without_person_request(question) if was_handed_off else (rule_answer and rest_of(question)) or question
    question, wish = read_wish(
        question, earlier_questions, replies[-1] if replies else "", offered, market, trades=trades
    )
    request = _Request(
        question,
        Wish(Intent.HANDOFF) if accepts_person else wish,
        earlier_questions,
        replies,
        [result for result in results if result[0] not in (FORGET, REMEMBER, HAND_OFF)],
        offered,
        language,
        page_url,
        market,
        knowledge,
        company,
        facts,
        plan,
        learns=learns,
        is_last=last,
        accepts_person=accepts_person,
        was_handed_off=was_handed_off,
    )
    response = _completed(request, _response(request))
    if isinstance(response, UseTools):
        return response if not last else request.plain_answer(Wish(Intent.UNKNOWN))
    later = request.wish.later
    text = f"{response.text}\n{say('one_at_a_time', language, text=later)}" if later else response.text
    if is_foreign and (is_unknown(text) or CITED.search(text)):
        text = not_understood("" if is_unknown(text) else text, language)
    text = f"{rule_answer}\n\n{text}" if rule_answer else text
    # Markdown takes a line directly after a list for a part of its last item.
    text = re.sub(r"(?m)^(- .*)\n(?=[^\s-])", r"\1\n\n", text)
    if introduced or _has_notice(messages):
        return SayText(text)
    # Do not repeat the notice's first sentence.
    first_sentence = NOTICE[language].partition(":")[0] + ". "
    if text.startswith(first_sentence):
        return SayText(f"{NOTICE[language]} {text.removeprefix(first_sentence)}")
    return SayText(f"{text}\n\n{NOTICE[language]}")


@dataclass(frozen=True, slots=True)
class _Request:
    """A question as it was read, with what the answer depends on (`respond`). `accepts_person` is true if it accepts
    the offer of a person, `was_handed_off` if a person was asked for in this turn."""

    question: str
    wish: Wish
    earlier_questions: Sequence[str]
    replies: Sequence[str]
    results: Sequence[Result]
    offered: Collection[str]
    language: Language
    page_url: str | None
    market: Mapping[str, Any] | None
    knowledge: KnowledgeFound | None
    company: CompanyConfig | None
    facts: Sequence[str] | None
    plan: str | None
    learns: bool
    is_last: bool
    accepts_person: bool
    was_handed_off: bool

    @property
    def is_visitor(self) -> bool:
        """Whether nobody is signed in: visitors are not remembered."""
        return "search_memory" not in self.offered

    @property
    def has_knowledge(self) -> bool:
        return self.knowledge is not None and bool(self.knowledge.documents)

    @property
    def unavailable(self) -> str:
        """What is said instead of "I do not know" if the search was incomplete, so that an answer may exist."""
        if self.knowledge is not None and self.knowledge.reading:
            return say("not_read", self.language)
        return "" if self.knowledge is not None and self.knowledge.complete else say("not_searched", self.language)

    @property
    def missed_before(self) -> bool:
        """Whether an earlier question had no answer."""
        return any(map(is_unknown, self.replies))

    @property
    def asks_whether(self) -> bool:
        """Whether a visitor asks a question to be answered by yes or no."""
        return self.is_visitor and WHETHER.match(plain(self.question)) is not None

    def plain_answer(self, wish: Wish) -> SayText:
        """The answer to a wish that needs no tool, or that cannot have one."""
        if wish.intent is Intent.STATED and not self.learns:
            return SayText(say("not_kept", self.language))
        is_demo_company = self.company is None or self.company.company_id == DEMO
        return SayText(
            plain_answer(
                wish,
                self.language,
                self.offered,
                missed_before=self.missed_before,
                is_demo_company=is_demo_company,
            )
        )


def _response(request: _Request) -> SayText | UseTools:
    """The tools to call, or the answer before anything is added to it."""
    question, wish, results = request.question, request.wish, request.results
    offered, language = request.offered, request.language
    if request.was_handed_off and (request.accepts_person or not question):
        return SayText(nobody_yet(language))
    if name_reply := name_answer(
        question, request.earlier_questions, request.facts or (), language, is_visitor=request.is_visitor
    ):
        return SayText(name_reply)
    if request.replies and (place := place_without_decision(question, request.replies[-1])):
        return SayText(say("yes_or_no_to", language, place=place))
    if not wish.calls and (events := coming_events(question, request.market, language)):
        return SayText(events)
    if request.facts and not wish.way and all(tool == "get_price" for tool, _ in wish.calls):
        return SayText(user_facts_answer(request.facts, language))
    needs_search = wish.intent is Intent.UNKNOWN or (wish.intent is Intent.ABOUT and TOOL not in offered)
    if needs_search and request.unavailable and not request.has_knowledge:
        return SayText(request.unavailable)
    if _is_for_site(request):
        return _site_answer(request)
    if wish.intent is Intent.HANDOFF and HAND_OFF in offered and not request.was_handed_off:
        return UseTools(((HAND_OFF, {"reason": "missed" if request.accepts_person else "asked"}),))
    if wish.intent is Intent.MARKET:
        if calls := hours_call(question, offered, request.market, results, request.earlier_questions):
            return UseTools(calls)
        if not results and (market_state := market_now(question, request.market, language)):
            return SayText(market_state)
    if wish.way and not wish.missing:
        return next_step(wish, results, language)
    if wish.calls and not wish.missing and not results:
        return UseTools(wish.calls)
    if len(results) > 1 and {tool for tool, _, _ in results} <= _LIST_CHANGES and _LIST in offered:
        return UseTools(((_LIST, {}),))  # they ran at the same time, so none of their results shows the final list
    if results and (other_readings := readings_beside_price(question, wish, results, offered, language)):
        price, symbol = answer_from(*results[0], question, language), str(wish.calls[0][1]["symbol"])
        return SayText(price_with_other_readings(symbol, price, other_readings, language))
    if results and (wish.calls or wish.intent not in (Intent.UNKNOWN, Intent.SITE)):
        shown = [result for result in results if result[0] == _LIST] or results
        if wish.intent is Intent.MARKET:
            shown = shown[-1:]  # today's hours only told which day "tomorrow" is
        return SayText("\n".join(answer_from(*result, question, language) for result in shown))
    greeting = request.company.assistant.greeting if request.company is not None else {}
    if wish.intent is Intent.GREETING and language in greeting:
        return SayText(greeting[language])
    return request.plain_answer(wish)


def _is_for_site(request: _Request) -> bool:
    """Whether the company's pages answer the question."""
    question, wish = request.question, request.wish
    # The site's examples mention shares without information about them.
    is_about_company = is_about_procedure(question) or TAKEN.search(plain(question))
    is_about_share = "get_price" in request.offered and bool(symbols_in(question)) and not is_about_company
    may_be_described = wish.withheld and request.has_knowledge and not PLAN_FOR_IT.search(plain(question))
    return bool(
        (wish.intent is Intent.SITE and not is_about_share)
        or (wish.intent is Intent.ABOUT and (request.has_knowledge or TOOL in request.offered))
        or (wish.intent is Intent.UNKNOWN and request.has_knowledge)
        or (may_be_described and (is_about_procedure(question) or request.asks_whether))
    )


def _site_answer(request: _Request) -> SayText | UseTools:
    """The answer from the company's pages, or the pages to read for it."""
    site_question = _site_question(request)
    if request.knowledge is None or not request.has_knowledge:
        return from_site(site_question, request.results, last=request.is_last)
    response = from_knowledge(site_question, request.knowledge)
    is_no_answer = not CITED.search(response.text) or (request.asks_whether and is_empty_answer(response.text))
    return request.plain_answer(request.wish) if request.wish.withheld and is_no_answer else response


def _completed(request: _Request, response: SayText | UseTools) -> SayText | UseTools:
    """The response with what has to be added to it; another one if it does not know the answer."""
    if isinstance(response, UseTools):
        return response
    question, wish, language = request.question, request.wish, request.language
    depends_on_previous = wish.calls and not symbols_in(question)
    uses_tool = wish.calls and request.results and (depends_on_previous or is_question(question))
    tool_used = wish.calls[0][0] if uses_tool else ""
    unread_words = foreign_words(tool_used, question) if tool_used in LOOK_UPS else []
    if request.results and not wish.way:
        unread_words = [*uncovered_parts(question, wish.calls), *unread_words]
    if unread_words:
        response = SayText(f"{response.text}\n{left_out(unread_words, language)}")
    if is_unknown(response.text) or response.text == request.unavailable:
        other = answer_otherwise(
            question, wish, request.earlier_questions, request.replies, request.offered, request.results, language,
            request.market, response.text,
        )  # fmt: skip
        if isinstance(other, UseTools):
            return other
        is_related = not is_unknown(response.text) or covers_question(
            question, response.text, " ".join(request.earlier_questions[-1:])
        )
        is_related = is_related and not refers_to_figures(question, request.replies)
        if not request.is_visitor and not is_related:  # a page about something else is no answer for a customer
            response = request.plain_answer(Wish(Intent.UNKNOWN))
        response = other or response
    no_tools = request.plan and not set(request.offered) - _AGENT_TOOLS  # customers have some tools on every plan
    if no_tools and (wish.withheld is not None or is_unknown(response.text)):
        response = SayText(say("tools_away", language))
    if request.facts is None and is_unknown(response.text):
        response = SayText(TEXTS["step.memory_away"].in_language(language))
    if request.plan and not wish.calls and MY_PLAN.search(plain(question)):
        addition = "" if is_unknown(response.text) or not terms(MY_PLAN.sub(" ", plain(question))) else response.text
        response = SayText(f"{say('own_plan', language, plan=request.plan.capitalize())}\n{addition}".strip())
    return response


def _site_question(request: _Request) -> SiteQuestion:
    """A question about the company, with the one that it refers to and what was answered before."""
    question = GREETED.sub("", request.question)[:MAX_COMPARED_CHARACTERS]
    earlier_questions = [text[:MAX_COMPARED_CHARACTERS] for text in request.earlier_questions[-3:]]
    if earlier_questions and only_gives_people(question, earlier_questions[-1]):
        *earlier_questions, question = earlier_questions  # the price of one is quoted once more
    elif only_gives_party(question):
        earlier_questions, question = [], say("for_several", request.language)
    previous_question = earlier_questions[-1] if earlier_questions else ""
    depends_on_it = is_follow_up(question) or lacks_subject(question) or is_vague(terms(question))
    antecedent = previous_question if depends_on_it else ""
    if antecedent and len(earlier_questions) > 1 and (is_follow_up(antecedent, 3) or lacks_subject(antecedent)):
        antecedent = f"{earlier_questions[-2]}\n{antecedent}"  # that one refers to the one before it
    antecedent = "" if is_about_the_company(antecedent) else antecedent
    answers = [text for text in request.replies if not is_empty_answer(text)]
    return SiteQuestion(
        question,
        antecedent,
        request.language,
        request.page_url,
        asks_about_company=request.wish.intent is Intent.ABOUT,
        missed_before=request.missed_before,
        last_answer=answers[-1] if answers and answers[-1] == request.replies[-1] else "",
        unavailable=request.unavailable,
        previous_question=antecedent or previous_question,
        last_quote=answers[-1] if answers else "",
    )


def _has_notice(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the notice was given in the prompt's part of the conversation."""
    replies = (str(message.get("content") or "") for message in messages if message["role"] == "assistant")
    return any(notice in text for text in replies for notice in NOTICE.values())
