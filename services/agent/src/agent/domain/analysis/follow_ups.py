"""Completes questions: "sort them by volatility" and "and in 2010?" by earlier messages, "how is the market doing?" by
what is meant."""

import re
from collections.abc import Sequence

from agent.domain.analysis import follow_up_patterns as patterns
from agent.domain.analysis.amounts import other_currency_in
from agent.domain.analysis.asked import is_about_all_tickers, is_analysis, language_in
from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.inherited import complete_amount, complete_parts, complete_sale, complete_term
from agent.domain.analysis.market_state import market_question
from agent.domain.analysis.normalization import normalize
from agent.domain.analysis.question_parts import (
    figures_of,
    has_words,
    is_mostly_read,
    last_several,
    last_two,
    period_of,
    with_tickers_as,
    words_left,
)
from agent.domain.analysis.question_patterns import (
    BACKTEST_REQUEST,
    BENCHMARK_COMPARISON,
    BETA,
    BOTTOM_FIRST,
    CORRELATED,
    COSTS,
    EACH,
    EXTREME,
    PER_RISK,
    RANKED_PARTS,
    RETURNS_OF,
    TOP_FIRST,
    unit_of,
    unit_of_parts,
    unread_words,
)
from agent.domain.analysis.relative_days import shifted_days
from agent.domain.analysis.stretches import MARK, UnreadText, main_period, take_periods
from agent.domain.analysis.wanted_calls import COMPANY
from agent.domain.claims.lexer import folded
from agent.domain.text_features import plain
from agent.domain.tickers import tickers_in
from contracts.expressions import expression

_MAX_MESSAGES_BACK = 6
"""How many messages back may name the tickers."""
MAX_CHARACTERS = 600
"""Characters of a message that are read for what it asks."""
_MAX_FIGURE_WORDS, _MAX_CURRENCY_WORDS, _MAX_SHIFT_WORDS = 12, 4, 5
"""Maximum words of a message that only names another figure or ticker, another currency, or a distance in time."""
_YEAR = expression(r"\b(?:19|20)\d\d\b")
_MAX_PERIOD_WORDS = 8
"""Maximum words of a message that only names another period."""


def complete_question(text: str, earlier_messages: Sequence[str]) -> str | None:
    """Completes a message that asks how the market is doing, or continues a question about several tickers; None for
    any other. `earlier_messages`: oldest first."""
    complete_messages: list[str] = []
    for message in earlier_messages[-2 * _MAX_MESSAGES_BACK :]:  # the oldest complete those that the newest refers to
        message = message[:MAX_CHARACTERS]
        complete_messages.append(_completed(message, complete_messages[-_MAX_MESSAGES_BACK:]) or message)
    return _completed(text, complete_messages[-_MAX_MESSAGES_BACK:])


def _completed(text: str, earlier_messages: Sequence[str]) -> str | None:
    """The message, completed by those before it, which are complete themselves."""
    question = earlier_messages[-1] if earlier_messages else ""
    if patterns.PLURAL_NAME.search(text):
        text = normalize(text).text  # "with apples"
    if tickers := tickers_in(text):
        if not earlier_messages or patterns.ALERTS.search(plain(question)):
            return None
        relates = len(tickers) == 1 and (BETA.search(folded(text)) or CORRELATED.search(folded(text)))
        costs = COSTS.search(folded(text))
        other = f"{patterns.WITH.sub('', text[: costs.start()])} {text[costs.end() :]}" if costs else text
        completed = complete_term(text, question) or _complete_ticker(other, question)
        return (
            (_complete_rule(costs[0], completed) if completed and costs else completed)
            or _complete_comparison(text, earlier_messages)
            or (_complete_figures(text, earlier_messages) if relates else None)
            or complete_parts(text, question)
        )
    if about_market := market_question(text):
        return about_market
    if not earlier_messages or patterns.JUDGES.match(plain(text)):
        return None
    if any(
        pattern.search(plain(text))
        for pattern in (patterns.WHEN_WAS_IT, patterns.PLACE_IN_RANKING, patterns.WITHOUT_DIVIDENDS)
    ):  # whose answer has it
        return question if is_analysis(question) or is_about_all_tickers(question) else None
    if (named := _with_places_named(text, earlier_messages)) != text:
        return named
    return (
        _complete_each(text, earlier_messages)
        or _complete_ranking(text, earlier_messages)
        or _complete_superlative(text, question)
        or _complete_order(text, question)
        or _complete_rule(text, question)
        or _complete_relation(text, question)
        or _complete_shift(text, question)
        or _complete_period(text, question)
        or complete_amount(text, question)
        or complete_sale(text, question)
        or _complete_currency(text, question)
        or _complete_figures(text, earlier_messages)
        or _complete_which(text, earlier_messages)
    )


def _complete_ranking(text: str, earlier_messages: Sequence[str], *, of_several: bool = False) -> str | None:
    """Adds the tickers and days of earlier messages to a request to sort them. `of_several`: it asks which of several
    has more of something."""
    normalized = plain(text)
    unread = UnreadText(folded(text))
    take_periods(unread)
    is_of_them = patterns.ONE_OF_THEM.search(plain(words_left(text, unread)))
    is_of_all = patterns.WHICH_OF_ALL.match(normalized) and is_about_all_tickers(earlier_messages[-1])
    is_request = patterns.RANKING_REQUEST.search(normalized) or is_of_them or is_of_all or of_several
    if not is_request or patterns.ALL_OF_MARKET.search(normalized):
        return None
    reading = read_question(text, ())
    is_read = reading.figures or PER_RISK.search(normalized) or patterns.COMPARES.search(normalized)
    # Of several, what no rule reads is named in their comparison.
    if not is_read and not ((is_of_them or of_several) and reading.unread and is_mostly_read(reading.unread)):
        return None
    words: list[str] = []
    has_lengths = is_of_them is not None
    is_of_now = is_of_all and patterns.IS_NOW.search(normalized)
    period = period_of(text, has_lengths=has_lengths)
    for earlier in reversed(earlier_messages):
        period = period or ("" if is_of_now else period_of(earlier, has_lengths=has_lengths))
        if not words and is_about_all_tickers(earlier):
            words = ["all", "stocks"] if language_in(text, "en") == "en" else ["todas las", "acciones"]
            break
        tickers = tickers_in(normalize(earlier).text)
        words = [*(ticker for ticker in tickers if ticker not in words), *words]
        if len(tickers) > 1:
            break
    if len(words) < 2:
        return None
    words = words[-2:] if patterns.OF_TWO.search(normalized) and words[0] not in ("all", "todas las") else words
    return " ".join(filter(None, [*words, period if period not in text else "", text]))


def _complete_which(text: str, earlier_messages: Sequence[str]) -> str | None:
    """A question which of several tickers has more of something, in any words."""
    normalized = plain(text)
    if not patterns.WHICH_HAS_MORE.match(normalized) or patterns.OWN_WORDS.search(normalized):
        return None
    is_of_several = bool(last_several(earlier_messages)) and not is_about_all_tickers(text)
    return _complete_ranking(text, earlier_messages, of_several=True) if is_of_several else None


def _with_places_named(text: str, earlier_messages: Sequence[str]) -> str:
    """The text with "the first two" as the first two tickers of the last message that names several."""
    match = patterns.PLACES.search(plain(text)) if len(plain(text)) == len(text) else None
    tickers = last_several(earlier_messages) if match else []
    if match is None or len(tickers) < 3:
        return text
    chosen = tickers[:2] if match["first"] or match["primeras"] else tickers[-2:]
    return f"{text[: match.start()]}{' and '.join(chosen)}{text[match.end() :]}"


def _complete_each(text: str, earlier_messages: Sequence[str]) -> str | None:
    """A question about each of several tickers, with those of the last message that names several."""
    normalized = plain(text)
    if not patterns.EACH_OF_THEM.search(normalized) or patterns.ORDERS.search(normalized):
        return None
    tickers = last_several(earlier_messages) or (
        last_two(earlier_messages) if patterns.OF_BOTH_NAMED.search(normalized) else []
    )
    completed = " ".join([*tickers, text])
    return (
        completed if tickers and read_question(completed, tuple(tickers)).figures and is_analysis(completed) else None
    )


def _complete_figures(text: str, earlier_messages: Sequence[str]) -> str | None:
    """A question for figures without a ticker, about those of the last message that names any: "and its beta against
    IBM?", "how long did it take to recover?", "which month was the worst?". The period is that of the last message,
    unless another is named. One figure of now that a single tool returns is no analysis."""
    normalized, question = plain(text), earlier_messages[-1]
    is_level = re.search(r"\d", _YEAR.sub("", text)) and any(
        map(patterns.ORDERS.search, map(plain, earlier_messages[-3:]))
    )
    names_others = is_level or patterns.OWN_WORDS.search(normalized) or is_about_all_tickers(text)
    figures = read_question(text, ()).figures
    is_possible = "backtest" in figures or not (len(text.split()) > _MAX_FIGURE_WORDS or names_others)
    if not (figures and is_possible):
        return None
    goes_on = patterns.GOES_ON.search(normalized) is not None
    mentioned = (tickers_in(normalize(earlier).text) for earlier in reversed(earlier_messages[-_MAX_MESSAGES_BACK:]))
    tickers = next(filter(None, mentioned), list[str]())
    if len(tickers) == 1 and patterns.CHOOSES.search(normalized):
        return None  # of several that were spoken of one by one
    reading = read_question(text, tuple(tickers))
    may_complete = is_mostly_read(reading.unread) if goes_on else not reading.unread
    if not reading.figures or not may_complete or not tickers or (patterns.DEFINES.search(normalized) and not goes_on):
        return None
    if len(tickers) == 1 and ("correlation" in reading.figures or patterns.OF_BOTH.search(normalized)):
        tickers = last_two(earlier_messages)  # of which the last was named alone
    was_analysis = is_analysis(question)
    if was_analysis and reading.figures == ["total_return"]:
        return f"{question.strip(' ?.')} {text.strip(' ¿')}"  # with dividends
    names_period = main_period(normalize(text).text).period is not None
    is_of_company = any(call.tool == COMPANY for call in reading.calls)
    is_of_now = patterns.UP_TO_NOW.search(normalized)
    period = "" if names_period or not was_analysis or is_of_company or is_of_now else period_of(question)
    averages = read_question(question, ()).averages if reading.figures == ["crossings"] else []
    if averages and not re.search(r"\d", text):
        period = f"{averages[0]}-day average {period}"  # what the price was compared with
    completed = " ".join(filter(None, [*tickers, text, period]))
    return completed if (goes_on and was_analysis) or is_of_company or is_analysis(completed) else None


def _complete_order(text: str, question: str) -> str | None:
    """The last ranking, in the order that the message alone names: "worst first?", "de peor a mejor"."""
    unread = UnreadText(folded(text))
    if not (unread.first(TOP_FIRST) or unread.first(BOTTOM_FIRST)) or has_words(unread):
        return None
    is_ranking = is_about_all_tickers(question) or is_analysis(question)
    return f"{question.strip(' ?.')}, {text.strip('¿ ')}" if is_ranking else None


def _complete_relation(text: str, question: str) -> str | None:
    """The last correlation or beta, of the returns that the message alone names: "with monthly returns?"."""
    unread = UnreadText(folded(text))
    if unread.first(RETURNS_OF) is None or has_words(unread):
        return None
    is_of_returns = not {"correlation", "beta"}.isdisjoint(figures_of(question))
    return f"{RETURNS_OF.sub(' ', question).strip(' ?.')} {text.strip('¿ ')}" if is_of_returns else None


def _complete_currency(text: str, question: str) -> str | None:
    """The last question, with the currency that the message alone names: "in euros?"."""
    if other_currency_in(folded(text)) is None or len(text.split()) > _MAX_CURRENCY_WORDS:
        return None
    return f"{question.strip(' ?.')} {text.strip(' ¿')}" if tickers_in(question) else None


def _complete_rule(text: str, question: str) -> str | None:
    """The last trial of a rule, with the other rule or the costs that the message names, or as it is if the message
    only compares it with holding or asks for its costs: "and with momentum?", "vs just holding?"."""
    completed = _with_rule(text, question) if len(text.split()) <= _MAX_FIGURE_WORDS else None
    return completed if completed and "backtest" in figures_of(question) else None


def _with_rule(text: str, question: str) -> str | None:
    """The question with what the text says of its rule; None if that is nothing."""
    normalized = plain(text)
    if patterns.COSTS_USED.search(normalized):
        return question  # whose answer names them
    if patterns.DEFINES.search(normalized):
        return None
    unread, unread_question, rest = UnreadText(folded(text)), UnreadText(folded(question)), ""
    for parts in (patterns.WHOLE_RULE, (COSTS,)):
        if [pattern for pattern in parts if unread.first(pattern)]:
            rest = text
            for pattern in parts:
                while unread_question.first(pattern):
                    pass
    compares = [pattern for pattern in (patterns.HOLDING, BENCHMARK_COMPARISON) if unread.first(pattern)]
    if not (rest or compares) and patterns.WITH_MORE.match(normalized) and not main_period(text).period:
        return f"{question.strip(' ?.')}, {text.strip('¿ ')}"  # a part that no trial has is named as unread
    if not (rest or compares) or not is_mostly_read(unread_words(unread.text, ())):
        return None
    head = "" if BACKTEST_REQUEST.search(unread_question.text) else "backtest "
    return f"{head}{words_left(question, unread_question)}: {rest}" if rest else question


def _complete_period(text: str, question: str) -> str | None:
    """The last question about several tickers, or the last trial of a rule, with the period that the message names."""
    if len(text.split()) > _MAX_PERIOD_WORDS or patterns.OF_HOURS.search(plain(text)):
        return None
    text = normalize(text).text
    current = patterns.CURRENT.search(plain(question)) if patterns.THE_ONE_BEFORE.match(plain(text)) else None
    if current is not None:
        unit = current["unit"]
        is_english = unit == unit_of(unit)
        text = f"last {unit}" if is_english else f"{unit} pasad{'a' if unit == 'semana' else 'o'}"
    part, year = patterns.PART_OF_YEAR.search(folded(text)), str(main_period(question).period)[:4]
    if part and year.isdigit():
        text = f"{text[: part.end()]} {year}{text[part.end() :]}"
    unread = UnreadText(folded(text))
    names_time = bool(take_periods(unread)) and not unread_words(unread.text, ())
    if not names_time or read_question(text, ()).figures:
        return None
    tickers = tickers_in(question)
    is_complete_here = len(tickers) > 1 or part or current or read_question(question, tuple(tickers)).figures
    if not (is_about_all_tickers(question) or (is_analysis(question) and is_complete_here)):
        return None
    unread_question = UnreadText(folded(question))
    while (extreme := EXTREME.search(unread_question.text)) is not None:
        unread_question.replace(extreme, MARK)  # whose "month" is no period
    returns = RETURNS_OF.search(unread_question.text) if CORRELATED.search(unread_question.text) else None
    take_periods(unread_question)
    kept_words = [words_left(question, unread_question), *([returns["unit"]] if returns else [])]
    return f"{' '.join(kept_words)}: {text.strip('¿ ')}"


def _complete_shift(text: str, question: str) -> str | None:
    """The last question, for days at a distance from its own: "and a year later?"."""
    if len(text.split()) > _MAX_SHIFT_WORDS or not is_analysis(question):
        return None
    days = shifted_days(plain(text), main_period(question).arguments)
    unread_question = UnreadText(folded(question))
    take_periods(unread_question)
    return f"{words_left(question, unread_question)}: {days[0]} to {days[1]}" if days else None


def _complete_superlative(text: str, question: str) -> str | None:
    """The last question with the superlative of the end that the message asks for: "and the worst?"; the best or worst
    parts of a period, if they were ranked."""
    match = patterns.OTHER_END.match(plain(text))
    if match is None:
        return None
    if not (is_about_all_tickers(question) or is_analysis(question)):
        return None
    folded_question = folded(question)
    by_volatility = patterns.VOLATILITY.search(folded_question) is not None
    if match["calm"] and not by_volatility:
        return None
    superlative, is_top = patterns.SUPERLATIVE.search(folded_question), match["superlative"] in patterns.RISING
    ranked, each = RANKED_PARTS.search(folded_question), EACH.search(folded_question)
    if superlative is None and (listed := ranked or each):
        units = next(filter(None, ranked.groups())) if ranked else f"{unit_of_parts(listed)}s"
        if by_volatility:
            is_top = is_top != (match["superlative"] in patterns.QUALITIES)  # the worst is the most volatile
            order = f"rank the {units} by volatility, {'highest' if is_top else 'lowest'} first"
            return f"{question.strip(' ?.')}, {order}"
        count = match["count"] or match["count2"] or ""
        rest = patterns.BY_RETURN.sub(" ", f"{question[: listed.start()]}\n{question[listed.end() :]}")
        return " ".join(rest.replace("\n", f" {'best' if is_top else 'worst'} {count} {units} ").split())
    if superlative is None:
        return None
    is_quality = match["superlative"] in patterns.QUALITIES
    if is_quality and superlative[0] not in patterns.QUALITIES and patterns.FALLING.search(folded_question):
        is_top = not is_top  # the best of those that fell most fell least
    if (superlative[0] in patterns.RISING) == is_top:
        return question if is_quality or match["count"] or match["count2"] else None
    first, last = superlative.span()
    return f"{question[:first]}{patterns.OPPOSITE[superlative[0]]}{question[last:]}"


def _complete_ticker(text: str, question: str) -> str | None:
    """The last question about one ticker, for the other one that the message names alone, or for both if it compares
    them; the last correlation, with that one."""
    [ticker, *others] = tickers_in(text)
    if patterns.ADDS.search(plain(text)) and len(compared := tickers_in(normalize(question).text)) > 1:
        return " ".join(filter(None, ["compare", *compared, ticker, *others, period_of(question)]))
    if len(text.split()) > _MAX_FIGURE_WORDS:
        return None
    asked_about = tickers_in(normalize(question).text)
    message = plain(with_tickers_as(MARK, text))
    if others:
        is_for_others = patterns.OTHER_TICKER.fullmatch(message) and is_analysis(question)
        return with_tickers_as(", ".join([ticker, *others]), question, first_only=True) if is_for_others else None
    if len(asked_about) == 1 and patterns.COMPARED_WITH.fullmatch(message) and read_question(question, ()).figures:
        return f"{question.strip(' ?.')}, {ticker}"
    if not patterns.OTHER_TICKER.fullmatch(message) or not is_analysis(question):
        return None
    if len(asked_about) == 2 and CORRELATED.search(folded(question)):
        return with_tickers_as(ticker, question, asked_about[1:])
    return with_tickers_as(ticker, question) if len(asked_about) == 1 else None


def _complete_comparison(text: str, earlier_messages: Sequence[str]) -> str | None:
    """Adds the tickers of the last message that names any to a comparison with others: "compare it with IBM and
    Apple"."""
    is_against = patterns.AGAINST_ONE.search(plain(with_tickers_as(MARK, text))) and figures_of(text)
    if not (patterns.COMPARES_IT.search(plain(text)) or (is_against and len(tickers_in(text)) == 1)):
        return None
    mentioned = (tickers_in(normalize(earlier).text) for earlier in reversed(earlier_messages))
    before = next(filter(None, mentioned), list[str]())
    named = tickers_in(normalize(text).text)
    added = [ticker for ticker in before if ticker not in named]
    return " ".join([*added, text]) if added else None
