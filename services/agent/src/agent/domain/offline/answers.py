"""What the offline assistant says: that it does not know, what it can do, what information it still needs.

The texts are in texts/<language>.toml, in the tables `[offline…]`. `tool_answers` turns the results of tools into
sentences: "MSFT: 30.1 USD …", "Your alerts: …".
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from math import floor
from typing import Any

from agent.domain.analysis.formats import figure, number, percent, signed
from agent.domain.analysis.relative_days import date_in
from agent.domain.offline.bar_range import day_of
from agent.domain.offline.day_answers import HOURS, bar_of_day, holidays
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.kinds import TITLE_END
from agent.domain.offline.market_words import HOLIDAYS
from agent.domain.offline.quotations import quoted
from agent.domain.offline.talk_words import OVERDONE
from agent.domain.offline.tool_answers import how_many, needs_a_plan, rsi_state, tool_answer
from agent.domain.offline.trades_asked import trades_asked
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import plain
from agent.texts import TEXTS
from contracts.errors import ToolCode
from contracts.expressions import expression
from contracts.languages import Language

NOTICE = TEXTS["offline.notice"].by_language
_OFFER = TEXTS["offline.offer"].by_language
_UNSURE = TEXTS["offline.unsure"].by_language
_EMPTY_ANSWER_KEYS = ("nearest", "nothing_about", "unknown", "unknown_again", "not_told")
_BEGINNINGS = tuple(
    text.partition("{")[0] for key in _EMPTY_ANSWER_KEYS for text in TEXTS[f"offline.{key}"].by_language.values()
)
"""Beginnings of answers that say that nothing is known, or only something related."""
CITED = expression(r"\[\d")
_DEMO_EXAMPLE = expression(r" \([“«][^”»]*AAPL[^”»]*[”»]\)|, (?:como|such as) AAPL")
_NO_SUCH_DATA = ("no_data", "not_in_sample")
"""Reasons of failed calls that say that there is nothing, not that it could not be read."""
NOT_ASKED = "NOT_ASKED"
"""Error code of a call that the user's own words did not ask for."""
_OFFERING_A_PERSON = (Intent.UPSET, Intent.WAITED, Intent.WRONGED)


def say(key: str, language: Language, **parts: object) -> str:
    """The text of that key in the table `[offline]`, with its parts filled in."""
    return TEXTS[f"offline.{key}"].in_language(language).format(**parts)


def plain_answer(
    wish: Wish,
    language: Language,
    offered: Collection[str] = (),
    *,
    missed_before: bool = False,
    is_demo_company: bool = True,
) -> str:
    """The answer to a wish that needs no tool, or that cannot have one. `missed_before` is true if the previous
    question had no answer either; `is_demo_company` keeps the examples with a share that only the demo company has."""
    answer = _plain_answer(wish, language, offered, missed_before=missed_before)
    return answer if is_demo_company else _DEMO_EXAMPLE.sub("", answer)


def _plain_answer(wish: Wish, language: Language, offered: Collection[str], *, missed_before: bool) -> str:
    if wish.withheld:
        return needs_a_plan(wish.withheld, language, customer="search_memory" in offered)
    if wish.intent is Intent.UNREAD:
        return say("unread_order", language, word=wish.words)
    if wish.intent is Intent.UNLISTED and wish.words:
        return say("symbols_there", language, symbols=wish.words)
    if wish.intent is Intent.ABILITIES:
        return abilities(offered, language)
    if wish.missing == ("symbol",):
        return say("which.symbols" if wish.words else "which.symbol", language, group=wish.words)
    if "quantity" in wish.missing and not wish.way and {"symbol", "side"} <= wish.calls[0][1].keys():
        return how_many(wish.calls[0][1], language)
    if wish.intent is Intent.CHOSEN:
        return f"{wish.words}\n{say('chosen', language)}"
    if wish.missing == ("price",) and wish.words:
        return say("alert_of_price", language, word=wish.words)
    if wish.missing == ("when",):
        return say("no_later", language)
    if wish.missing:
        labels = TEXTS.section("offline.parts")
        parts = ", ".join(labels[name].in_language(language) if name in labels else name for name in wish.missing)
        return say("exact_figure" if wish.way else "missing", language, parts=parts)
    talk = TEXTS.section("offline.talk").get(wish.intent.name.lower())
    if talk is None:
        return unknown(language, missed_before=missed_before)
    offer = f" {_OFFER[language]}" if wish.intent in _OFFERING_A_PERSON else ""
    return talk.in_language(language) + offer


def unknown(
    language: Language,
    *,
    missed_before: bool,
    possible_answers: Sequence[Excerpt] = (),
    related: Sequence[Excerpt] = (),
    unknown_word: str = "",
) -> str:
    """The answer that nothing known answers the question for certain, with the offer of a person. `possible_answers`
    may be the answer all the same, `related` is only near it; each is quoted as such. `unknown_word` is the word of the
    question that nothing was found about."""
    nothing_about = say("nothing_about", language, word=unknown_word) if unknown_word else ""
    if not possible_answers and not related:
        answer = say("unknown_again" if missed_before else "unknown", language)
        answer = f"{answer.partition(':')[0].rstrip('.')}: {nothing_about}." if unknown_word else answer
        return f"{answer} {_OFFER[language] if missed_before else say('person', language)}"
    shown = _with_titles(possible_answers or related)
    quotation = quoted(shown, language)
    offer_of_person = _OFFER[language] if missed_before else say("otherwise", language)
    nothing_clear = say("nearest", language, why=nothing_about or say("nothing_clear", language))
    opening = f"{_UNSURE[language]} {say('says', language)}" if possible_answers else nothing_clear
    if len({excerpt.heading for excerpt in shown}) > 1:
        return f"{opening}\n{quotation}\n{offer_of_person}"
    heading = shown[0].heading
    opening_with_heading = (
        f"{_UNSURE[language]} {say('says_under', language, name=heading)}"
        if possible_answers
        else f"{opening} {heading}:"
    )
    if "\n" in quotation:
        return f"{opening_with_heading}\n{quotation}\n{offer_of_person}"
    return f"{opening_with_heading} {quotation} {offer_of_person}"


def not_told(language: Language, *, missed_before: bool) -> str:
    """The answer to a customer's question about themselves that neither memory nor a page answers."""
    return f"{say('not_told', language)} {_OFFER[language] if missed_before else say('person', language)}"


def _with_titles(excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """The excerpts; those without a heading under their page's title."""
    return [
        excerpt if excerpt.heading else replace(excerpt, heading=TITLE_END.split(excerpt.title)[0])
        for excerpt in excerpts
    ]


def after_statement(related: Sequence[Excerpt], language: Language) -> str:
    """The answer to a statement: what the site says that is near it, and the request to ask something."""
    if not related:
        return TEXTS["offline.talk.told"].in_language(language)
    return f"{say('says_near', language)}\n{quoted(_with_titles(related), language)}\n{say('ask_on', language)}"


def not_understood(text: str, language: Language) -> str:
    """The answer to a message in another language: that it was not understood, followed by `text` if that quotes a
    page."""
    notice = say("other_language", language)
    return f"{notice}\n{text}" if CITED.search(text) else f"{notice} {_OFFER[language]}"


def price_with_other_readings(symbol: str, price: str, readings: Sequence[str], language: Language) -> str:
    """The price of a share, for a question that may ask for more, with the questions that it may have meant."""
    question = do_you_mean(readings, language) if readings else say("ask_of_it", language)
    return f"{say('no_more_than', language, symbol=symbol, price=price)}\n{question}"


def left_out(words: Sequence[str], language: Language) -> str:
    """The remark that some words of a question were ignored."""
    opening, closing = say("quotes", language)
    return say("left_out", language, words=", ".join(f"{opening}{word}{closing}" for word in words))


def do_you_mean(readings: Sequence[str], language: Language) -> str:
    """The question which of these sentences a message meant that was not understood, with the offer of a person."""
    opening, closing = say("quotes", language)
    alternatives = say("or", language).join(f"{opening}{reading}{closing}" for reading in readings)
    return f"{say('do_you_mean', language, readings=alternatives)} {say('person', language)}"


def nobody_yet(language: Language) -> str:
    """The answer to somebody who asked for a person, after the conversation has returned to the assistant."""
    return say("nobody_yet", language)


def is_unknown(text: str) -> bool:
    """Whether an answer says that nothing is known, or nothing for certain."""
    return is_empty_answer(text) or any(phrase in text for phrase in _UNSURE.values())


def is_empty_answer(text: str) -> bool:
    """Whether an answer says that nothing is known, or only something related."""
    return any(beginning in text for beginning in _BEGINNINGS)


def repeated_answer(text: str, language: Language) -> str:
    """The last answer once more, since it contains what is asked for now."""
    return f"{say('again', language)}\n{without_notice(text)}"


def without_notice(text: str) -> str:
    """An answer without the sentence that an automatic assistant gives it."""
    for notice in NOTICE.values():
        text = text.replace(notice, "")
    return text.strip()


def user_facts_answer(facts: Sequence[str], language: Language) -> str:
    """What users have said about themselves, in their own words."""
    opening, closing = say("quotes", language)
    return say("told_before", language, facts=", ".join(f"{opening}{fact}{closing}" for fact in facts))


def offers_person(text: str) -> bool:
    """Whether an answer asked if a person should take over."""
    return is_empty_answer(text) or any(offer in text for offer in _OFFER.values())


def abilities(offered: Collection[str], language: Language) -> str:
    """What the requester can ask for, by the tools that are offered."""
    parts = [
        ability.in_language(language) for tool, ability in TEXTS.section("offline.able").items() if tool in offered
    ]
    if not parts:
        return say("can_only_pass_on", language)
    return say("abilities", language, told="; ".join(dict.fromkeys(parts)))


def stop_later(price: float, language: Language) -> str:
    """The remark that a stop is placed after the shares that it sells are bought."""
    return say("results.stop_later", language, price=figure(price, language))


def sale_later(purchase: Mapping[str, Any], price: float, language: Language) -> str:
    """The remark that shares are sold after the purchase of them."""
    parts = {"symbol": purchase["symbol"], "quantity": figure(purchase["quantity"], language)}
    return say("results.sale_later", language, **parts, price=figure(price, language))


def multiplied(price: float, factor: float, language: Language) -> str:
    """A price multiplied by a factor, as an equation."""
    times, unit_price, product = (
        figure(round(value, 4), language) for value in (factor, price, round(price * factor, 2))
    )
    return f"{times} × {unit_price} = {product}"


def waiting_purchases(body: Mapping[str, Any], symbol: str | None) -> list[Mapping[str, Any]]:
    """The purchases of a share that have not filled yet, as `body` lists them."""
    orders: Sequence[Mapping[str, Any]] = body.get("orders") or ()
    return [order for order in orders if order["side"] == "buy" and symbol in (None, order["symbol"])]


def if_moved(quote: Mapping[str, Any], factor: float, own: Mapping[str, Any], language: Language) -> str:
    """What a share would cost at `factor` times its price, and what that would make of the customer's `own` portfolio
    and waiting orders, if they are known."""
    price, symbol = float(quote["price"]), str(quote["symbol"])
    positions = [position for position in own.get("positions") or () if position["symbol"] == symbol]
    waiting = waiting_purchases(own, symbol)
    share_count = sum(float(position["quantity"]) for position in positions)
    awaited = sum(float(order["quantity"]) for order in waiting)
    cost = sum(float(position["quantity"]) * float(position["average_price"]) for position in positions)
    change = share_count * price * (factor - 1)
    amounts = {"price": price, "then": price * factor, "change": abs(change)}
    money = {name: number(value, language) for name, value in amounts.items()}
    sentence = say("results.if_moved", language, symbol=symbol, move=signed(percent(factor - 1, language)), **money)
    if own.get("equity") is None:
        return sentence
    if not share_count and awaited:
        parts = {"held": figure(awaited, language), "gain": signed(number(awaited * price * (factor - 1), language))}
        return f"{sentence} {say('results.if_moved_waiting', language, symbol=symbol, **parts)}"
    if not share_count:
        return f"{sentence} {say('results.if_moved_none', language, symbol=symbol)}"
    new_equity = number(float(own["equity"]) + change, language)
    direction = "if_moved_down" if factor < 1 else "if_moved_up"
    position = say(
        f"results.{direction}", language, symbol=symbol, held=figure(share_count, language), equity=new_equity, **money
    )
    gain = signed(number(share_count * price * factor - cost, language))
    return f"{sentence} {position} {say('results.if_moved_paid', language, gain=gain, cost=number(cost, language))}"


def if_all_moved(worth: float, factor: float, equity: float, language: Language) -> str:
    """What positions worth `worth`, and the `equity`, would be worth at `factor` times their prices."""
    money = {name: number(value, language) for name, value in
             (("worth", worth), ("then", worth * factor), ("equity", equity + worth * (factor - 1)))}  # fmt: skip
    return say("results.if_all_moved", language, move=signed(percent(factor - 1, language)), **money)


def cash_left(cash: float, language: Language) -> str:
    """The cash after a hypothetical purchase; below 0 it is too little."""
    return say("cash_left" if cash >= 0 else "cash_short", language, cash=figure(round(abs(cash), 2), language))


def bought(price: float, budget: float, language: Language) -> str:
    """How many whole shares an amount of money buys at a price, and the change."""
    count = floor(budget / price)
    spent, change = (figure(amount, language) for amount in (budget, round(budget - count * price, 2)))
    return say("results.bought", language, budget=spent, number=count, left=change)


def answer_from(tool: str, arguments: dict[str, Any], body: dict[str, Any], question: str, language: Language) -> str:
    """The result of one tool call in a sentence or two; `body` is its data, or {"error": …}."""
    if "error" in body:
        return _error(tool, arguments, body["error"] or {}, language)
    if tool == "get_ohlcv" and (day := date_in(plain(question)) or day_of(arguments)) is not None:
        return bar_of_day(body, day.isoformat(), language)
    if tool == "get_trade_history" and body.get("as_of"):
        trades = trades_asked(question, body["trades"], date.fromisoformat(str(body["as_of"])[:10]))
        if body["trades"] and not trades:
            return f"{say('results.no_such_trades', language)}\n{tool_answer(tool, body, language)}"
        return tool_answer(tool, {**body, "trades": trades}, language)
    if tool == "get_indicators" and OVERDONE.search(plain(question)):
        return f"{tool_answer(tool, body, language)} {rsi_state(body, language)}".strip()
    if tool == HOURS and HOLIDAYS.search(plain(question)):
        return holidays(body, language)
    return tool_answer(tool, body, language)


def _error(tool: str, arguments: dict[str, Any], error: dict[str, Any], language: Language) -> str:
    subject = next((str(value) for value in arguments.values() if isinstance(value, str)), "")
    if error.get("code") == NOT_ASKED:
        return say("not_asked", language)
    reason = error.get("message") or error.get("code") or "?"
    changes = tool in ("create_paper_order", "cancel_paper_order", "create_alert", "delete_alert")
    if error.get("code") == ToolCode.UNKNOWN_OUTCOME:
        reason = TEXTS[f"step.reasons.{'outcome_unknown' if changes else 'no_answer'}"].in_language(language)
    if changes:
        return say("not_done", language, reason=reason)
    if error.get("reason") in _NO_SUCH_DATA:
        return f"{reason[:1].upper()}{reason[1:].rstrip('.')}."
    return say("not_looked_up", language, about=subject or say("about_that", language), reason=reason)
