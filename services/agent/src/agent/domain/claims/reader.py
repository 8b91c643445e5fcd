"""Reads the tokens of a sentence as claims: subject, relation, figure, number, period.

A sentence is read clause by clause (`clauses`). A number belongs to the figure and the ticker that were named last
before it in its clause, or else after it, or else in the clause before. A period applies to its clause; one at the
beginning of a sentence ("Over the year, …") applies to the whole sentence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from agent.domain.claims.claim import DENIAL, CarriedContext, Claim, ClauseContext, SentenceClaims
from agent.domain.claims.clauses import BEARING_KINDS, Clause
from agent.domain.claims.lexer import LINES, Token, periods_of

_PROBLEM_KINDS = {
    "odd": "words that no tool's figures back",
    "foreign": "a ticker that no tool was asked about",
    "source": "a source that no tool named",
    "spelled": "a number in words",
    "promise": "a promise or advice",
    "loaded": "a comparison that cannot be read",
}
_DIVIDEND_PROBLEM = "words that no tool's figures back: a dividend that is paid"
_NOTHING_WORDS = frozenset(("nothing", "nada", "none", "ninguno"))
_DIVIDENDS = frozenset(("dividend_yield", "dividends"))
CONTRAST = frozenset(("but", "pero", "while", "whereas", "mientras", "mientras que", "although", "though", "aunque"))
"""Whom the clause before named is not whom the next one speaks of."""


def read_claims(
    tokens: Sequence[Token], known: Sequence[str], carried: CarriedContext, asked: str | None
) -> SentenceClaims:
    """The claims of one sentence about tickers of `known`; `asked`: the period that the question is about."""
    reading = SentenceClaims()
    reading.problems += [
        f"{_PROBLEM_KINDS[token.kind]}: {token.text.strip()}" for token in tokens if token.kind in _PROBLEM_KINDS
    ]
    segments = _joined(list(_segments(tokens)))
    sentence_periods = [token.value for token in tokens if token.kind == "period"]
    lead = _leading_period(segments)
    subjects, figure, move = carried.subjects, (), None
    pending: list[str] = []
    then: tuple[str, ...] = ()
    whole = tuple(dict.fromkeys(t.value for t in tokens if t.kind == "ticker"))
    if tokens and tokens[0].text in ("with", "con", "at", "a") and whole:
        # With a P/E of 14, IBM …: the clause is about whom the next one names.
        subjects = whole[:1]
    denies = any(token.kind in ("not", "neither", "untrue") for token in tokens) and any(
        token.kind in BEARING_KINDS - {"unknown", "expected"} for token in tokens
    )
    for index, segment in enumerate(segments):
        clause = Clause(segment, known)
        nothing = clause.tells_dividend and (clause.is_denial or any(token.word in _NOTHING_WORDS for token in segment))
        # "Google, alone among them, pays no dividend": the first clause says only whom the others are about.
        alone = not index and not clause.is_denial and len(whole) == len(clause.tickers)
        if denies and not clause.makes_claims and not nothing and (clause.is_denial or (clause.tickers and not alone)):
            # "IBM rose, not MSFT", "MSFT did": what of it is meant stands in another clause.
            reading.problems.append(DENIAL)
        if clause.is_only_comparison and not clause.makes_claims:
            continue
        if segment[0].text in CONTRAST:
            pending = []
        if not clause.makes_claims:
            if clause.tells_dividend:
                paid = ("dividends",) if sentence_periods else ("dividend_yield",)
                none = Claim("unknown", None, paid, periods=tuple(sentence_periods[:1]))
                reading.claims += [replace(none, subject=one) for one in clause.tickers if nothing]
                reading.problems += [] if nothing and clause.tickers else [_DIVIDEND_PROBLEM]
            pending += clause.tickers
            continue
        own = list(dict.fromkeys([*pending, *clause.subjects]))
        if not own and index and segment[0].text in ("que", "which", "who"):  # more than Microsoft, which gains 4.6%
            own = [t.value for t in segments[index - 1] if t.kind == "ticker"][-1:]
        pending = []
        but = clause.excepted_tickers
        if clause.names_everyone and (len(own) < 2 or but):
            pair = whole if clause.names_both and not clause.objects else () if whole else carried.subjects
            own = list(pair) if len(pair) == 2 and not but else [one for one in known if one not in but]
        if any(token.kind == "rest" for token in segment) and not clause.objects:
            own = [one for one in known if one not in whole]
        named = tuple(own) or subjects
        periods = tuple(clause.periods) or then or lead
        later = () if periods else _trailing_period(segments[index + 1 :])
        # The one period of the sentence is every clause's: "In 2011 Microsoft fell, while IBM gained 25%".
        sole = sentence_periods if len(set(sentence_periods)) == 1 else ()
        fallback = tuple(one for one in (*sole, *carried.periods, asked) if one)
        averages = tuple(_averages(segments[index + 1 :]))
        context = ClauseContext(named, periods, later, fallback, figure, move, whole, bool(own), len(own) > 1, averages)
        before = len(reading.claims)
        clause.read(reading, context)
        # "All rose except Apple": Apple did not.
        moved = {one.relation: one for one in reading.claims[before:] if one.relation in ("rose", "fell")}
        reading.claims += [replace(one, subject=name, is_denied=True) for one in moved.values() for name in but]
        if clause.tells_dividend and not any(_DIVIDENDS & {*one.figures} for one in reading.claims[before:]):
            reading.problems.append(_DIVIDEND_PROBLEM)
        then = tuple(clause.periods) if clause.is_about_time else ()
        if clause.figure:
            figure = clause.figure
        elif clause.move:
            figure = ()
        move = clause.move or (None if clause.figure else move)
        if clause.subjects or own:
            subjects = tuple(clause.next_subjects or own)
    reading.names_ticker = bool(whole)
    reading.subjects = tuple(dict.fromkeys((*whole, *pending))) or subjects
    reading.periods = tuple(dict.fromkeys(sentence_periods[:1])) or carried.periods
    return reading


def _segments(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens between breaks; a break inside of a pair of averages parts nothing that matters."""
    current: list[Token] = []
    for token in tokens:
        if token.kind == "break":
            if current:
                yield current
            current = [token] if token.text in CONTRAST else []
        else:
            current.append(token)
    if current:
        yield current


def _joined(segments: list[list[Token]]) -> list[list[Token]]:
    """Assigns numbers in a row to tickers in a row: IBM and MSFT rose 5.9% and 4.6%."""
    found: list[list[Token]] = []
    named = 0
    for index, segment in enumerate(segments):
        kinds = {token.kind for token in segment}
        numbers = sum(token.kind == "number" for token in found[-1]) if found else 0
        told = [token for one in takewhile(_is_number, segments[index:]) for token in one if token.kind == "number"]
        if found and _is_number(segment) and told and numbers < named and (numbers or 1 < named == len(told)):
            found[-1] = [*found[-1], *segment]
            continue
        if found and kinds <= {"ticker", "word"} and "ticker" in kinds and _ranks_nobody(found[-1]):
            found[-1] = [*found[-1], *segment]  # and the calmest, IBM, at 19%
            continue
        tickers = sum(token.kind == "ticker" for token in segment)
        bears = bool(kinds & BEARING_KINDS)
        named = named + tickers if tickers and (not found or (named and not _has_bearing(found[-1]))) else tickers
        if not bears and not tickers:
            named = 0
        found.append(list(segment))
    return found


def _ranks_nobody(segment: Sequence[Token]) -> bool:
    bearing = [token.kind for token in segment if token.kind in {*BEARING_KINDS, "ticker"}]
    return bearing[-1:] in (["highest"], ["lowest"]) and "ticker" not in bearing


def _is_number(segment: Sequence[Token]) -> bool:
    return {token.kind for token in segment} <= {"number", "period", "word"}


def _has_bearing(segment: Sequence[Token]) -> bool:
    return any(token.kind in BEARING_KINDS for token in segment)


def _leading_period(segments: Sequence[Sequence[Token]]) -> tuple[str, ...]:
    """The period of a first clause that says nothing else."""
    for segment in segments:
        kinds = {token.kind for token in segment}
        if "period" in kinds and not kinds & (BEARING_KINDS - {"day"}):
            return tuple(periods_of(segment))
        if kinds & BEARING_KINDS:
            return ()
    return ()


def _averages(segments: Sequence[Sequence[Token]]) -> Iterator[str]:
    for segment in segments:
        figures = [token.value[0] for token in segment if token.kind == "figure"]
        others = {token.kind for token in segment} & {"ticker", "above", "below", "rise", "fall"}
        if not figures or others or not all(name.startswith(LINES) for name in figures):
            return
        yield from figures


def _trailing_period(segments: Sequence[Sequence[Token]]) -> tuple[str, ...]:
    """The period that ends a sentence, where it is not another clause's about the same ticker: that one has its own."""
    for segment in segments:
        kinds = {token.kind for token in segment}
        if "period" in kinds:
            return tuple(periods_of(segment)[:1]) if "ticker" in kinds or not kinds & BEARING_KINDS else ()
    return ()
