"""Completes questions: "sort them by volatility" and "and in 2010?" by earlier messages, "how is the market doing?" by
what is meant."""

import re
from collections.abc import Sequence

from agent.domain.analysis.amounts import other_currency_in
from agent.domain.analysis.asked import KINDS, is_about_all_tickers, is_analysis, language_in
from agent.domain.analysis.figure_vocabulary import FELL
from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.normalization import CALM, normalize
from agent.domain.analysis.question_patterns import (
    AVERAGES,
    BACKTEST_REQUEST,
    BENCHMARK_COMPARISON,
    BETA,
    BOTTOM_FIRST,
    CORRELATED,
    COSTS,
    CROSSING,
    LENGTHS,
    MARKET_STATE,
    PER_RISK,
    RANKED_PARTS,
    RETURNS_OF,
    RULE_PATTERNS,
    TOP_FIRST,
    WHOLE_AVERAGE,
    unread_words,
)
from agent.domain.analysis.relative_days import shifted_days
from agent.domain.analysis.stretches import BLANK, MARK, UnreadText, main_period, take_periods
from agent.domain.claims import times
from agent.domain.claims.lexer import folded
from agent.domain.text_features import plain
from agent.domain.tickers import tickers_in

_RANKING_REQUEST = re.compile(
    r"\b(?:sort|rank|order|compare)(?: all(?: of)?)? (?:them|these|those|all)\b|"
    r"\b(?:ordena|clasifica|compara)(?:me)?l[oa]s\b|"
    r"^\W*(?:(?:and|y|e|now|ahora)\b\W*)?(?:by|por) "
)
"""Matches a request to sort the tickers of earlier messages."""
_ONE_OF_THEM = re.compile(
    r"\b(?:w(?:h)?ich|who|cual(?:es)?|quien)(?: one| una?)? (?:of|de) (?:them|those|these|the (?:two|three)|"
    r"(?:l[oa]s|es[oa]s|est[oa]s) (?:dos|tres|[23])|ell[oa]s)\b|"
    r"^\W*(?:(?:and|y|e|so|but|pero)\W+)?(?:w(?:h)?ich|who|cual|quien)(?: one)? "
    r"(?:is|was|has|had|did|fell|rose|recovered|es|fue|era|ha|tuvo|cayo|subio|bajo|se recupero) "
    r"(?:(?:the|el|la|l[oa]s) )?(?:(?:more|most|less|least|mas|menos|mayor|menor|biggest|smallest|largest|deepest)"
    r"(?: \w+)?|\w+e(?:r|st)|best|worst|worse|mejor|peor|first|antes|primero)\W*$"
)
"""Matches a question which of the tickers of earlier messages has the most of something."""
_COMPARES = re.compile(r"\bcompar")
_ALL_OF_MARKET = re.compile(rf"\b(?:all|every|tod[oa]s)(?: (?:of|the|de|l[oa]s))* {KINDS}\b")
"""Names all tickers of the market, and so none of earlier messages."""
_OPPOSITES = (
    "best worst", "better worse", "most least", "more less", "highest lowest", "biggest smallest", "largest smallest",
    "top bottom", "mejor peor", "mejores peores", "mas menos", "mayor menor", "mayores menores",
)  # fmt: skip
_OPPOSITE = {word: pair.split()[1 - i] for pair in reversed(_OPPOSITES) for i, word in enumerate(pair.split())}
_RISING = frozenset(pair.split()[0] for pair in _OPPOSITES)
_QUALITIES = frozenset(("best", "worst", "better", "worse", "mejor", "peor", "mejores", "peores"))
_FELL = re.compile(rf"\b{FELL}\b")
_SUPERLATIVE = re.compile(rf"\b(?:{'|'.join(_OPPOSITE)})\b")
_COUNT = r"\d{1,2}|two|three|four|five|ten|dos|tres|cuatro|cinco|diez"
_OTHER_END = re.compile(
    rf"^\W*(?:(?:and|y|e|but|pero|so|which|what|who|cual|que|one|about|is|was|are|fue|es|the|that|el|la|los|las|lo|"
    rf"de|hay)\W+)*(?:(?P<count>{_COUNT}) )?(?:(?P<calm>{CALM})|(?P<superlative>{'|'.join(_OPPOSITE)})(?: volatil\w*)?)"
    rf"(?: (?P<count2>{_COUNT}))?(?: ones?| of (?:all|them))?\W*$"
)
"""Matches a message that asks for an end of a ranking: "and the worst?", "the best three?", "and the calmest?"."""
_VOLATILITY = re.compile(r"\bvolatil|\bcalm|\btranquil")
_BY_RETURN = re.compile(r"\b(?:by (?:their |its )?returns?|por (?:su )?rentabilidad)\b")
_OTHER_TICKER = re.compile(
    r"\W*(?:(?:and|y|e|what|how|about|que|tal|with|con|for|para|of|de|del|in|on|en|the|el|la|same|lo|mismo|now|ahora|"
    r"then|a)\W+)*\x01+(?:['’]s)?(?: (?:too|also|tambien))?\W*"
)
"""Matches a message that only names another ticker."""
_COMPARED_WITH = re.compile(
    r"\W*(?:(?:and|y|e|now|ahora|please|por favor)\W+)*(?:compar\w+(?: (?:it|that|this|them|eso|esto|es[oa]s))?|vs\.?|"
    r"versus|against|frente a|contra) (?:(?:with|to|against|con|a) )?(?:(?:the|el|la|los|las) )?\x01+(?:['’]s)?\W*"
)
"""Matches a message that compares what was asked with another ticker."""
_COMPARES_IT = re.compile(
    r"\bcompar(?:\w*[aei]l[oa]s?|\w* (?:it|th(?:is|at|em|ese|ose)|es[oae]s?|est[oae]s?|ell[oa]s))\b"
)
"""Compares what earlier messages were about with the tickers that are named."""
_PART_OF_YEAR = re.compile(
    r"\b(?:q[1-4]|(?:first|second|third|fourth|1st|2nd|3rd|4th|primer|segund[oa]|tercer|cuarto) "
    rf"(?:quarter|half|trimestre|semestre|mitad)|{times.MONTH})\b(?!\D{{0,8}}\d{{4}})"
)
_HOLDING = dict(RULE_PATTERNS)["buy_and_hold"]
_WHOLE_RULE = (
    *(pattern for _, pattern in RULE_PATTERNS if pattern is not _HOLDING), CROSSING, LENGTHS, WHOLE_AVERAGE
)  # fmt: skip
_GOES_ON = re.compile(
    r"^\W*(?:and|y|e|but|pero|what about|how about|que tal|with|con|including|contando)\b|"
    r"\b(?:its?|their|they|sus?)\b"
)
"""Matches a message that is about what was asked last."""
_OWN_WORDS = re.compile(
    r"\b(?:my|mine|mis?|i|me|tengo|buy|sell|alert\w*|avis\w+|compr\w+|vend\w+|que (?:es|son)|what (?:is|are) an?)\b"
)
"""Matches a message about the customer's own things, or what a word means."""
_WITH = re.compile(r"\b(?:with|con|at|a) $")
_DEFINES = re.compile(
    r"^\W*(?:(?:and|y|e|ok|but|pero)\W+)*(?:q(?:ue)? (?:es|son|significa)|what(?:\W?s| is| are)|explain|explica\w*)\b"
)
"""Asks what a word means."""
_WORD = re.compile(r"[\^$]?\w[\w.&/-]*\w|\w")
_MAX_MESSAGES_BACK = 6
"""How many messages back may name the tickers."""
MAX_CHARACTERS = 600
"""Characters of a message that are read for what it asks."""
_MAX_FIGURE_WORDS, _MAX_CURRENCY_WORDS, _MAX_SHIFT_WORDS = 12, 4, 5
"""Maximum words of a message that only names another figure or ticker, another currency, or a distance in time."""
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
    if tickers_in(text):
        if not earlier_messages:
            return None
        relates = BETA.search(folded(text)) or CORRELATED.search(folded(text))
        costs = COSTS.search(folded(text))
        other = f"{_WITH.sub('', text[: costs.start()])} {text[costs.end() :]}" if costs else text
        completed = _complete_ticker(other, question)
        return (
            (_complete_rule(costs[0], completed) if completed and costs else completed)
            or _complete_comparison(text, earlier_messages)
            or (_complete_figures(text, question) if relates else None)
        )
    if market_question := _market_question(text):
        return market_question
    if not earlier_messages:
        return None
    return (
        _complete_ranking(text, earlier_messages)
        or _complete_superlative(text, question)
        or _complete_order(text, question)
        or _complete_rule(text, question)
        or _complete_relation(text, question)
        or _complete_shift(text, question)
        or _complete_period(text, question)
        or _complete_currency(text, question)
        or _complete_figures(text, question)
    )


def _market_question(text: str) -> str | None:
    """A question how the market is doing, as one for the moves of all tickers over the period that it names, or the
    last session. None if the text asks something else."""
    if not MARKET_STATE.search(plain(text)):
        return None
    unread = UnreadText(folded(text))
    take_periods(unread)
    period = _words(text, unread, taken=True)
    if language_in(text, "en") == "es":
        return f"¿Qué acciones han subido más {period or 'hoy'}?"
    return f"Which stocks rose most {period or 'today'}?"


def _complete_ranking(text: str, earlier_messages: Sequence[str]) -> str | None:
    """Adds the tickers and days of earlier messages to a request to sort them."""
    normalized = plain(text)
    is_request = _RANKING_REQUEST.search(normalized) or _ONE_OF_THEM.search(normalized)
    if not is_request or _ALL_OF_MARKET.search(normalized):
        return None
    if not (read_question(text, ()).figures or PER_RISK.search(normalized) or _COMPARES.search(normalized)):
        return None
    words: list[str] = []
    has_lengths = _ONE_OF_THEM.search(normalized) is not None
    period = _period_of(text, has_lengths=has_lengths)
    for earlier in reversed(earlier_messages):
        period = period or _period_of(earlier, has_lengths=has_lengths)
        if not words and is_about_all_tickers(earlier):
            words = ["all", "stocks"] if language_in(text, "en") == "en" else ["todas las", "acciones"]
            break
        tickers = tickers_in(normalize(earlier).text)
        words = [*(ticker for ticker in tickers if ticker not in words), *words]
        if len(tickers) > 1:
            break
    if len(words) < 2:
        return None
    return " ".join(filter(None, [*words, period if period not in text else "", text]))


def _period_of(text: str, *, has_lengths: bool = True) -> str:
    """The period that a text names, in words; empty if none. `has_lengths`: also lengths up to now."""
    first, last = (str(main_period(text).arguments.get(name, "")) for name in ("start", "end"))
    if first:
        return f"on {first}" if first == last else f"{first} to {last}" if last else f"since {first}"
    if not has_lengths:
        return ""
    unread = UnreadText(AVERAGES.sub(lambda match: " " * len(match[0]), folded(text)))
    take_periods(unread)
    return _words(text, unread, taken=True)


def _complete_figures(text: str, question: str) -> str | None:
    """A question for another figure of the last question's tickers and period: "and its beta against IBM?", "and how
    long did it take to recover?"."""
    normalized = plain(text)
    is_short = len(text.split()) <= _MAX_FIGURE_WORDS
    if not (is_short and _GOES_ON.search(normalized)) or _OWN_WORDS.search(normalized):
        return None
    tickers = tickers_in(normalize(question).text)
    asked = read_question(text, tuple(tickers))
    if not asked.figures or asked.unread or not tickers or not is_analysis(question):
        return None
    if asked.figures == ["total_return"]:
        return f"{question.strip(' ?.')} {text.strip(' ¿')}"  # with dividends
    period = "" if main_period(text).period else _period_of(question)
    return " ".join(filter(None, [*tickers, text, period]))


def _complete_order(text: str, question: str) -> str | None:
    """The last ranking, in the order that the message alone names: "worst first?", "de peor a mejor"."""
    unread = UnreadText(folded(text))
    if not (unread.first(TOP_FIRST) or unread.first(BOTTOM_FIRST)) or _has_words(unread):
        return None
    is_ranking = is_about_all_tickers(question) or is_analysis(question)
    return f"{question.strip(' ?.')}, {text.strip('¿ ')}" if is_ranking else None


def _has_words(unread: UnreadText) -> bool:
    """Whether words are left that say more than that something goes on."""
    return bool(_WORD.search(_GOES_ON.sub(" ", unread.text)))


def _complete_relation(text: str, question: str) -> str | None:
    """The last correlation or beta, of the returns that the message alone names: "with monthly returns?"."""
    unread = UnreadText(folded(text))
    if unread.first(RETURNS_OF) is None or _has_words(unread):
        return None
    figures = read_question(question, tuple(tickers_in(question))).figures
    is_of_returns = not {"correlation", "beta"}.isdisjoint(figures)
    return f"{RETURNS_OF.sub(' ', question).strip(' ?.')} {text.strip('¿ ')}" if is_of_returns else None


def _complete_currency(text: str, question: str) -> str | None:
    """The last question, with the currency that the message alone names: "in euros?"."""
    if other_currency_in(folded(text)) is None or len(text.split()) > _MAX_CURRENCY_WORDS:
        return None
    return f"{question.strip(' ?.')} {text.strip(' ¿')}" if tickers_in(question) else None


def _complete_rule(text: str, question: str) -> str | None:
    """The last trial of a rule, with the other rule or the costs that the message names, or as it is if the message
    only compares it with holding: "and with momentum?", "vs just holding?"."""
    if len(text.split()) > _MAX_PERIOD_WORDS or _DEFINES.search(plain(text)):
        return None
    unread, unread_question, rest = UnreadText(folded(text)), UnreadText(folded(question)), ""
    for patterns in (_WHOLE_RULE, (COSTS,)):
        if [pattern for pattern in patterns if unread.first(pattern)]:
            rest = text
            for pattern in patterns:
                while unread_question.first(pattern):
                    pass
    compares = [pattern for pattern in (_HOLDING, BENCHMARK_COMPARISON) if unread.first(pattern)]
    if not (rest or compares) or unread_words(unread.text, ()):
        return None
    if "backtest" not in read_question(question, tuple(tickers_in(question))).figures:
        return None
    head = "" if BACKTEST_REQUEST.search(unread_question.text) else "backtest "
    return f"{head}{_words(question, unread_question)}: {rest}" if rest else question


def _words(text: str, unread: UnreadText, *, taken: bool = False) -> str:
    """The words of a text that no pattern has taken, or those that one has."""
    characters = (
        character if (remaining == BLANK) == taken else " "
        for character, remaining in zip(text, unread.text, strict=False)
    )
    return " ".join("".join(characters).strip(" ?!.").split())


def _complete_period(text: str, question: str) -> str | None:
    """The last question about several tickers, or the last trial of a rule, with the period that the message names."""
    if len(text.split()) > _MAX_PERIOD_WORDS:
        return None
    if (part := _PART_OF_YEAR.search(folded(text))) and (year := str(main_period(question).period)[:4]).isdigit():
        text = f"{text[: part.end()]} {year}{text[part.end() :]}"
    unread = UnreadText(folded(text))
    names_time = bool(take_periods(unread)) and not unread_words(unread.text, ())
    if not names_time or read_question(text, ()).figures:
        return None
    tickers = tickers_in(question)
    is_complete_here = len(tickers) > 1 or part or read_question(question, tuple(tickers)).figures
    if not (is_about_all_tickers(question) or (is_analysis(question) and is_complete_here)):
        return None
    unread_question = UnreadText(folded(question))
    returns = RETURNS_OF.search(unread_question.text) if CORRELATED.search(unread_question.text) else None
    take_periods(unread_question)
    kept_words = [_words(question, unread_question), *([returns["unit"]] if returns else [])]
    return f"{' '.join(kept_words)}: {text.strip('¿ ')}"


def _complete_shift(text: str, question: str) -> str | None:
    """The last question, for days at a distance from its own: "and a year later?"."""
    if len(text.split()) > _MAX_SHIFT_WORDS or not is_analysis(question):
        return None
    days = shifted_days(plain(text), main_period(question).arguments)
    unread_question = UnreadText(folded(question))
    take_periods(unread_question)
    return f"{_words(question, unread_question)}: {days[0]} to {days[1]}" if days else None


def _complete_superlative(text: str, question: str) -> str | None:
    """The last question with the superlative of the end that the message asks for: "and the worst?"; the best or worst
    parts of a period, if they were ranked."""
    match = _OTHER_END.match(plain(text))
    if match is None:
        return None
    if not (is_about_all_tickers(question) or is_analysis(question)):
        return None
    folded_question = folded(question)
    by_volatility = _VOLATILITY.search(folded_question) is not None
    if match["calm"] and not by_volatility:
        return None
    superlative, is_top = _SUPERLATIVE.search(folded_question), match["superlative"] in _RISING
    if superlative is None and (ranked := RANKED_PARTS.search(folded_question)):
        if by_volatility:
            return f"{question.strip(' ?.')}, {'highest' if is_top else 'lowest'} first"
        count, unit = match["count"] or match["count2"] or "", ranked["unit"] or ranked["before"]
        rest = _BY_RETURN.sub(" ", f"{question[: ranked.start()]}\n{question[ranked.end() :]}")
        return " ".join(rest.replace("\n", f" {'best' if is_top else 'worst'} {count} {unit} ").split())
    if superlative is None:
        return None
    is_quality = match["superlative"] in _QUALITIES
    if is_quality and superlative[0] not in _QUALITIES and _FELL.search(folded_question):
        is_top = not is_top  # the best of those that fell most fell least
    if (superlative[0] in _RISING) == is_top:
        return question if is_quality or match["count"] or match["count2"] else None
    first, last = superlative.span()
    return f"{question[:first]}{_OPPOSITE[superlative[0]]}{question[last:]}"


def _complete_ticker(text: str, question: str) -> str | None:
    """The last question about one ticker, for the other one that the message names alone, or for both if it compares
    them; the last correlation, with that one."""
    [ticker, *others] = tickers_in(text)
    if others or len(text.split()) > _MAX_FIGURE_WORDS:
        return None
    asked_about = tickers_in(normalize(question).text)
    message = plain(_with_tickers_as(MARK, text))
    if len(asked_about) == 1 and _COMPARED_WITH.fullmatch(message) and read_question(question, ()).figures:
        return f"{question.strip(' ?.')}, {ticker}"
    if not _OTHER_TICKER.fullmatch(message) or not is_analysis(question):
        return None
    if len(asked_about) == 2 and CORRELATED.search(folded(question)):
        return _with_tickers_as(ticker, question, asked_about[1:])
    return _with_tickers_as(ticker, question) if len(asked_about) == 1 else None


def _complete_comparison(text: str, earlier_messages: Sequence[str]) -> str | None:
    """Adds the tickers of the last message that names any to a comparison with others: "compare it with IBM and
    Apple"."""
    if not _COMPARES_IT.search(plain(text)):
        return None
    mentioned = (tickers_in(normalize(earlier).text) for earlier in reversed(earlier_messages))
    before = next(filter(None, mentioned), list[str]())
    named = tickers_in(normalize(text).text)
    added = [ticker for ticker in before if ticker not in named]
    return " ".join([*added, text]) if added else None


def _with_tickers_as(replacement: str, text: str, tickers: Sequence[str] = ()) -> str:
    """The text with another word for each ticker or company's name, or for these alone."""

    def other(word: re.Match[str]) -> str:
        named = tickers_in(word[0])
        return replacement if named and (not tickers or named == list(tickers)) else word[0]

    return _WORD.sub(other, normalize(text).text)
