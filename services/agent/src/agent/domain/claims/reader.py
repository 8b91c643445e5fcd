"""Reads the tokens of a sentence as claims: subject, relation, figure, number, period.

A sentence is read clause by clause (`clauses`). A number belongs to the figure and the ticker named last before it in
its clause, otherwise to those after it, otherwise to those of the previous clause. A period applies to its clause; one
at the beginning of a sentence ("Over the year, …") applies to the whole sentence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from agent.domain.claims.claim import DENIAL, CarriedContext, Claim, ClauseContext, SentenceClaims
from agent.domain.claims.clause_tokens import BEARING_KINDS
from agent.domain.claims.clauses import Clause
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
"""A clause that starts with one of these is not about the tickers of the clause before it."""


def read_claims(
    tokens: Sequence[Token], known_tickers: Sequence[str], carried: CarriedContext, question_period: str | None
) -> SentenceClaims:
    """The claims of one sentence about `known_tickers`. `question_period`: the period that the question is about."""
    reading = SentenceClaims()
    reading.problems += [
        f"{_PROBLEM_KINDS[token.kind]}: {token.text.strip()}" for token in tokens if token.kind in _PROBLEM_KINDS
    ]
    segments = _joined(list(_segments(tokens)))
    sentence_periods = [token.value for token in tokens if token.kind == "period"]
    leading_periods = _leading_period(segments)
    subjects, figure, move = carried.subjects, (), None
    pending_tickers: list[str] = []
    previous_periods: tuple[str, ...] = ()
    sentence_tickers = tuple(dict.fromkeys(t.value for t in tokens if t.kind == "ticker"))
    if tokens and tokens[0].text in ("with", "con", "at", "a") and sentence_tickers:
        # "With a P/E of 14, IBM …": the clause is about the ticker that the next one names.
        subjects = sentence_tickers[:1]
    has_denial = any(token.kind in ("not", "neither", "untrue") for token in tokens) and any(
        token.kind in BEARING_KINDS - {"unknown", "expected"} for token in tokens
    )
    for index, segment in enumerate(segments):
        clause = Clause(segment, known_tickers)
        pays_nothing = clause.tells_dividend and (
            clause.is_denial or any(token.word in _NOTHING_WORDS for token in segment)
        )
        # "Google, alone among them, pays no dividend": the first clause only names the ticker of the others.
        is_only_subject = not index and not clause.is_denial and len(sentence_tickers) == len(clause.tickers)
        if (
            has_denial
            and not clause.makes_claims
            and not pays_nothing
            and (clause.is_denial or (clause.tickers and not is_only_subject))
        ):
            # "IBM rose, not MSFT", "MSFT did": what is denied or affirmed is in another clause.
            reading.problems.append(DENIAL)
        if clause.is_only_comparison and not clause.makes_claims:
            continue
        if segment[0].text in CONTRAST:
            pending_tickers = []
        if not clause.makes_claims:
            if clause.tells_dividend:
                dividend_figure = ("dividends",) if sentence_periods else ("dividend_yield",)
                no_dividend = Claim("unknown", None, dividend_figure, periods=tuple(sentence_periods[:1]))
                reading.claims += [replace(no_dividend, subject=ticker) for ticker in clause.tickers if pays_nothing]
                reading.problems += [] if pays_nothing and clause.tickers else [_DIVIDEND_PROBLEM]
            pending_tickers += clause.tickers
            continue
        own_subjects = list(dict.fromkeys([*pending_tickers, *clause.subjects]))
        # "more than Microsoft, which gains 4.6%"
        if not own_subjects and index and segment[0].text in ("que", "which", "who"):
            own_subjects = [t.value for t in segments[index - 1] if t.kind == "ticker"][-1:]
        pending_tickers = []
        excepted_tickers = clause.excepted_tickers
        if clause.names_everyone and (len(own_subjects) < 2 or excepted_tickers):
            both_tickers = (
                sentence_tickers
                if clause.names_both and not clause.objects
                else ()
                if sentence_tickers
                else carried.subjects
            )
            own_subjects = (
                list(both_tickers)
                if len(both_tickers) == 2 and not excepted_tickers
                else [ticker for ticker in known_tickers if ticker not in excepted_tickers]
            )
        if any(token.kind == "rest" for token in segment) and not clause.objects:
            own_subjects = [ticker for ticker in known_tickers if ticker not in sentence_tickers]
        clause_subjects = tuple(own_subjects) or subjects
        periods = tuple(clause.periods) or previous_periods or leading_periods
        later_periods = () if periods else _trailing_period(segments[index + 1 :])
        # The only period of a sentence applies to every clause: "In 2011 Microsoft fell, while IBM gained 25%".
        only_period = sentence_periods if len(set(sentence_periods)) == 1 else ()
        fallback_periods = tuple(period for period in (*only_period, *carried.periods, question_period) if period)
        averages = tuple(_averages(segments[index + 1 :]))
        context = ClauseContext(
            clause_subjects,
            periods,
            later_periods,
            fallback_periods,
            figure,
            move,
            sentence_tickers,
            bool(own_subjects),
            len(own_subjects) > 1,
            averages,
        )
        first_claim = len(reading.claims)
        clause.read(reading, context)
        # "All rose except Apple": Apple did not.
        moved = {claim.relation: claim for claim in reading.claims[first_claim:] if claim.relation in ("rose", "fell")}
        reading.claims += [
            replace(claim, subject=name, is_denied=True) for claim in moved.values() for name in excepted_tickers
        ]
        if clause.tells_dividend and not any(_DIVIDENDS & {*claim.figures} for claim in reading.claims[first_claim:]):
            reading.problems.append(_DIVIDEND_PROBLEM)
        previous_periods = tuple(clause.periods) if clause.is_about_time else ()
        if clause.figure:
            figure = clause.figure
        elif clause.move:
            figure = ()
        move = clause.move or (None if clause.figure else move)
        if clause.subjects or own_subjects:
            subjects = tuple(clause.next_subjects or own_subjects)
    reading.names_ticker = bool(sentence_tickers)
    reading.subjects = tuple(dict.fromkeys((*sentence_tickers, *pending_tickers))) or subjects
    reading.periods = tuple(dict.fromkeys(sentence_periods[:1])) or carried.periods
    return reading


def _segments(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yields the tokens between breaks. A conjunction of contrast begins the segment that it introduces."""
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
    """Joins segments that are one clause, so that numbers in a row belong to tickers in a row: "IBM and MSFT rose 5.9%
    and 4.6%"."""
    joined: list[list[Token]] = []
    named_count = 0
    for index, segment in enumerate(segments):
        kinds = {token.kind for token in segment}
        number_count = sum(token.kind == "number" for token in joined[-1]) if joined else 0
        numbers_ahead = [
            token
            for segment_ahead in takewhile(_is_number, segments[index:])
            for token in segment_ahead
            if token.kind == "number"
        ]
        if (
            joined
            and _is_number(segment)
            and numbers_ahead
            and number_count < named_count
            and (number_count or 1 < named_count == len(numbers_ahead))
        ):
            joined[-1] = [*joined[-1], *segment]
            continue
        if joined and kinds <= {"ticker", "word"} and "ticker" in kinds and _ranks_nobody(joined[-1]):
            joined[-1] = [*joined[-1], *segment]  # and the calmest, IBM, at 19%
            continue
        ticker_count = sum(token.kind == "ticker" for token in segment)
        makes_claims = bool(kinds & BEARING_KINDS)
        named_count = (
            named_count + ticker_count
            if ticker_count and (not joined or (named_count and not _has_bearing(joined[-1])))
            else ticker_count
        )
        if not makes_claims and not ticker_count:
            named_count = 0
        joined.append(list(segment))
    return joined


def _ranks_nobody(segment: Sequence[Token]) -> bool:
    bearing = [token.kind for token in segment if token.kind in {*BEARING_KINDS, "ticker"}]
    return bearing[-1:] in (["highest"], ["lowest"]) and "ticker" not in bearing


def _is_number(segment: Sequence[Token]) -> bool:
    return {token.kind for token in segment} <= {"number", "period", "word"}


def _has_bearing(segment: Sequence[Token]) -> bool:
    return any(token.kind in BEARING_KINDS for token in segment)


def _leading_period(segments: Sequence[Sequence[Token]]) -> tuple[str, ...]:
    """The period of a first clause that states nothing else."""
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
        other_kinds = {token.kind for token in segment} & {"ticker", "above", "below", "rise", "fall"}
        if not figures or other_kinds or not all(name.startswith(LINES) for name in figures):
            return
        yield from figures


def _trailing_period(segments: Sequence[Sequence[Token]]) -> tuple[str, ...]:
    """The period at the end of a sentence, unless it belongs to a later clause about the same ticker."""
    for segment in segments:
        kinds = {token.kind for token in segment}
        if "period" in kinds:
            return tuple(periods_of(segment)[:1]) if "ticker" in kinds or not kinds & BEARING_KINDS else ()
    return ()
