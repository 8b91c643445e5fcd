"""What the offline assistant says: that it does not know, what it can do, what it still needs to be told.

The texts are in texts/<language>.toml, in the tables `[offline…]`. What tools return is told by `tool_answers`: "MSFT:
30.1 USD …", "Your alerts: …".
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import floor
from typing import Any

from agent.domain.analysis.formats import figure, number, percent, signed
from agent.domain.offline.bar_range import day_of
from agent.domain.offline.day_answers import on_day
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.kinds import TITLE_END
from agent.domain.offline.quotations import quoted
from agent.domain.offline.relative_days import date_in
from agent.domain.offline.talk_words import OVERDONE
from agent.domain.offline.tool_answers import how_many, needs_a_plan, overdone, tool_answer
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import plain
from agent.texts import TEXTS
from contracts.errors import ToolCode
from contracts.languages import Language

NOTICE = TEXTS["offline.notice"].by_language
_OFFER = TEXTS["offline.offer"].by_language
_UNSURE = TEXTS["offline.unsure"].by_language
_NOTHING_KNOWN = ("nearest", "nothing_about", "unknown", "unknown_again")
_BEGINNINGS = tuple(
    said.partition("{")[0] for key in _NOTHING_KNOWN for said in TEXTS[f"offline.{key}"].by_language.values()
)
"""How answers begin that tell nothing, or nothing but what stands near."""
_CITED = re.compile(r"\[\d")
_OF_THE_DEMO = re.compile(r" \([“«][^”»]*AAPL[^”»]*[”»]\)|, (?:como|such as) AAPL")
NOT_ASKED = "NOT_ASKED"
"""The code of a call that the user's own words did not ask for."""
_OFFERING_A_PERSON = (Intent.UPSET, Intent.WAITED, Intent.WRONGED)


def _say(key: str, language: Language, **parts: object) -> str:
    return TEXTS[f"offline.{key}"].in_language(language).format(**parts)


def plain_answer(
    wish: Wish, language: Language, offered: Collection[str] = (), *, missed: bool = False, demo: bool = True
) -> str:
    """The answer to a wish that needs no tool, or cannot have one. `missed`: it did not know before either; `demo`: of
    the demo company, whose examples name a share that nobody else may have."""
    said = _plain_answer(wish, language, offered, missed=missed)
    return said if demo else _OF_THE_DEMO.sub("", said)


def _plain_answer(wish: Wish, language: Language, offered: Collection[str], *, missed: bool) -> str:
    if wish.withheld:
        return needs_a_plan(wish.withheld, language, customer="search_memory" in offered)
    if wish.intent is Intent.UNREAD:
        return _say("unread_order", language, word=wish.shown)
    if wish.intent is Intent.UNLISTED and wish.shown:
        return _say("symbols_there", language, symbols=wish.shown)
    if wish.intent is Intent.ABILITIES:
        return abilities(offered, language)
    if wish.missing == ("symbol",):
        group = "" if wish.way else wish.shown
        return which("symbols", language, group=group) if group else which("symbol", language)
    if "quantity" in wish.missing and not wish.way and {"symbol", "side"} <= wish.calls[0][1].keys():
        return how_many(wish.calls[0][1], language)
    if wish.intent is Intent.CHOSEN:
        return f"{wish.shown}\n{_say('chosen', language)}"
    if wish.missing == ("when",):
        return _say("no_later", language)
    if wish.missing:
        known = TEXTS.section("offline.parts")
        parts = ", ".join(known[name].in_language(language) if name in known else name for name in wish.missing)
        return _say("exact_figure" if wish.way else "missing", language, parts=parts)
    talk = TEXTS.section("offline.talk").get(wish.intent.name.lower())
    if talk is None:
        return unknown(language, missed=missed)
    offer = f" {_OFFER[language]}" if wish.intent in _OFFERING_A_PERSON else ""
    return talk.in_language(language) + offer


def unknown(
    language: Language,
    *,
    missed: bool,
    possible_answers: Sequence[Excerpt] = (),
    related: Sequence[Excerpt] = (),
    unknown_word: str = "",
) -> str:
    """That nothing known answers this for certain, and a person is offered. `possible_answers`: what may be the answer all the
    same; `related`: what only stands near it. Each is quoted as no more than that. `unknown_word`: what the question is about
    and nothing was found about."""
    about = _say("nothing_about", language, word=unknown_word) if unknown_word else ""
    if not possible_answers and not related:
        said = _say("unknown_again" if missed else "unknown", language)
        said = f"{said.partition(':')[0].rstrip('.')}: {about}." if unknown_word else said
        return f"{said} {_OFFER[language] if missed else _say('person', language)}"
    shown = [
        one if one.heading else replace(one, heading=TITLE_END.split(one.title)[0])
        for one in possible_answers or related
    ]
    told, other = quoted(shown, language), _OFFER[language] if missed else _say("otherwise", language)
    near_it = _say("nearest", language, why=about or _say("nothing_clear", language))
    says = f"{_UNSURE[language]} {_say('says', language)}" if possible_answers else near_it
    if len({one.heading for one in shown}) > 1:
        return f"{says}\n{told}\n{other}"
    name = shown[0].heading
    under = f"{_UNSURE[language]} {_say('says_under', language, name=name)}" if possible_answers else f"{says} {name}:"
    return f"{under}\n{told}\n{other}" if "\n" in told else f"{under} {told} {other}"


def not_searched(language: Language) -> str:
    """That what the company says cannot be searched now: whether it tells this is open."""
    return _say("not_searched", language)


def not_understood(text: str, language: Language) -> str:
    """An answer to a message in another language: that it was not understood, with what was found all the same."""
    said = _say("other_language", language)
    return f"{said}\n{text}" if _CITED.search(text) else f"{said} {_OFFER[language]}"


def tools_away(language: Language) -> str:
    """That no tool can be reached now: a customer has some on every plan."""
    return _say("tools_away", language)


def no_more_than(symbol: str, price: str, readings: Sequence[str], language: Language) -> str:
    """The price of a share of which something else may have been asked, and what the question comes nearest to."""
    asks = do_you_mean(readings, language) if readings else _say("ask_of_it", language)
    return f"{_say('no_more_than', language, symbol=symbol, price=price)}\n{asks}"


def left_out(words: Sequence[str], language: Language) -> str:
    """That some words of a question were not read."""
    opening, closing = _say("quotes", language)
    return _say("left_out", language, words=", ".join(f"{opening}{one}{closing}" for one in words))


def do_you_mean(readings: Sequence[str], language: Language) -> str:
    """The sentences that a message which was not read comes nearest to, and a person for anything else."""
    opening, closing = _say("quotes", language)
    told = _say("or", language).join(f"{opening}{one}{closing}" for one in readings)
    return f"{_say('do_you_mean', language, readings=told)} {_say('person', language)}"


def nobody_yet(language: Language) -> str:
    """To somebody who asked for a person, once the conversation is the assistant's again."""
    return _say("nobody_yet", language)


def is_unknown(text: str) -> bool:
    """Whether an answer was that nothing is known, or nothing for certain."""
    return is_empty_answer(text) or any(said in text for said in _UNSURE.values())


def is_empty_answer(text: str) -> bool:
    """Whether an answer was that nothing is known, or nothing but what stands near it."""
    return any(said in text for said in _BEGINNINGS)


def repeated_answer(text: str, language: Language) -> str:
    """The last answer, which tells what is asked for now."""
    told = text.replace(NOTICE[language], "").strip()
    return f"{_say('again', language)}\n{told}"


def plan_answer(plan: str, language: Language) -> str:
    """Which plan a customer has."""
    return _say("own_plan", language, plan=plan.capitalize())


def user_facts_answer(facts: Sequence[str], language: Language) -> str:
    """What the user has told of themselves, in their own words."""
    begin, end = _say("quotes", language)
    return _say("told_before", language, facts=", ".join(f"{begin}{one}{end}" for one in facts))


def offers_person(text: str) -> bool:
    """Whether an answer asked if a person shall go on."""
    return is_empty_answer(text) or any(offer in text for offer in _OFFER.values())


def abilities(offered: Collection[str], language: Language) -> str:
    """What the requester can have done, by the tools that they really have."""
    parts = [said.in_language(language) for tool, said in TEXTS.section("offline.able").items() if tool in offered]
    if not parts:
        return _say("can_only_pass_on", language)
    return _say("abilities", language, told="; ".join(dict.fromkeys(parts)))


def which(kind: str, language: Language, **names: str) -> str:
    """What has to be told before something can be done."""
    return _say(f"which.{kind}", language, **names)


def stop_later(price: float, language: Language) -> str:
    """That a stop waits until what it sells is held."""
    return _say("results.stop_later", language, price=figure(price, language))


def one_at_a_time(text: str, language: Language) -> str:
    """That the other wish of a message has not been seen to."""
    return _say("one_at_a_time", language, text=text)


def multiplied(price: float, factor: float, language: Language) -> str:
    """So many times a price."""
    times, one, product = (figure(round(each, 4), language) for each in (factor, price, round(price * factor, 2)))
    return f"{times} × {one} = {product}"


def if_moved(quote: Mapping[str, Any], factor: float, held: float, equity: float | None, language: Language) -> str:
    """What a share would cost at so many times its price, and what that would make of the `held` ones and of the
    `equity` (None: there is no portfolio)."""
    price, symbol = float(quote["price"]), str(quote["symbol"])
    money = {name: number(value, language) for name, value in
             (("price", price), ("then", price * factor), ("change", abs(held * price * (factor - 1))))}  # fmt: skip
    told = _say("results.if_moved", language, symbol=symbol, move=signed(percent(factor - 1, language)), **money)
    if equity is None:
        return told
    if not held:
        return f"{told} {_say('results.if_moved_none', language, symbol=symbol)}"
    left = number(equity + held * price * (factor - 1), language)
    which = "if_moved_down" if factor < 1 else "if_moved_up"
    return (
        f"{told} {_say(f'results.{which}', language, symbol=symbol, held=figure(held, language), equity=left, **money)}"
    )


def if_all_moved(worth: float, factor: float, equity: float, language: Language) -> str:
    """What positions of this `worth`, and the `equity` with them, would be at so many times their prices."""
    money = {name: number(value, language) for name, value in
             (("worth", worth), ("then", worth * factor), ("equity", equity + worth * (factor - 1)))}  # fmt: skip
    return _say("results.if_all_moved", language, move=signed(percent(factor - 1, language)), **money)


def cash_left(cash: float, language: Language) -> str:
    """The cash after a purchase that is only asked about; below 0 it does not suffice."""
    return _say("cash_left" if cash >= 0 else "cash_short", language, cash=figure(round(abs(cash), 2), language))


def bought(price: float, budget: float, language: Language) -> str:
    """How many whole shares an amount of money buys at a price, and what is left of it."""
    number = floor(budget / price)
    whole, left = (figure(one, language) for one in (budget, round(budget - number * price, 2)))
    return _say("results.bought", language, budget=whole, number=number, left=left)


def unread(reason: str, language: Language) -> str:
    """That the site cannot be read."""
    return _say("unread", language, reason=reason.rstrip("."))


def answer_from(tool: str, arguments: dict[str, Any], body: dict[str, Any], question: str, language: Language) -> str:
    """One tool's result in a sentence or two; `body` is its data, or {"error": …}."""
    if "error" in body:
        return _error(tool, arguments, body["error"] or {}, language)
    if tool == "get_ohlcv" and (day := date_in(plain(question)) or day_of(arguments)) is not None:
        return on_day(body, day.isoformat(), language)
    if tool == "get_indicators" and OVERDONE.search(plain(question)):
        return f"{tool_answer(tool, body, language)} {overdone(body, language)}".strip()
    return tool_answer(tool, body, language)


def _error(tool: str, arguments: dict[str, Any], error: dict[str, Any], language: Language) -> str:
    about = next((str(value) for value in arguments.values() if isinstance(value, str)), tool)
    if error.get("code") == NOT_ASKED:
        return _say("not_asked", language)
    reason = error.get("message") or error.get("code") or "?"
    changes = tool in ("create_paper_order", "cancel_paper_order", "create_alert", "delete_alert")
    if error.get("code") == ToolCode.UNKNOWN_OUTCOME:
        reason = TEXTS[f"step.reasons.{'outcome_unknown' if changes else 'no_answer'}"].in_language(language)
    if changes:
        return _say("not_done", language, reason=reason)
    return _say("not_looked_up", language, about=about, reason=reason)
