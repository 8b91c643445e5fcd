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
    return _SentenceReader(tokens, known_tickers, carried, question_period).read()


class _SentenceReader:
    """Reads the clauses of a sentence in order; each takes over what it leaves out from those before it."""

    def __init__(
        self,
        tokens: Sequence[Token],
        known_tickers: Sequence[str],
        carried: CarriedContext,
        question_period: str | None,
    ) -> None:
        self._known_tickers, self._carried = known_tickers, carried
        self._reading = SentenceClaims(
            problems=[
                f"{_PROBLEM_KINDS[token.kind]}: {token.text.strip()}"
                for token in tokens
                if token.kind in _PROBLEM_KINDS
            ]
        )
        self._segments = _joined(list(_segments(tokens)))
        self._periods = periods_of(tokens)
        self._tickers = tuple(dict.fromkeys(token.value for token in tokens if token.kind == "ticker"))
        self._leading_periods = _leading_period(self._segments)
        # The only period of a sentence applies to every clause: "In 2011 Microsoft fell, while IBM gained 25%".
        only_period = self._periods if len(set(self._periods)) == 1 else ()
        self._fallback_periods = tuple(filter(None, (*only_period, *carried.periods, question_period)))
        self._has_denial = any(token.kind in ("not", "neither", "untrue") for token in tokens) and any(
            token.kind in BEARING_KINDS - {"unknown", "expected"} for token in tokens
        )
        self._subjects = carried.subjects
        if tokens and tokens[0].text in ("with", "con", "at", "a") and self._tickers:
            # "With a P/E of 14, IBM …": the clause is about the ticker that the next one names.
            self._subjects = self._tickers[:1]
        self._figure: tuple[str, ...] = ()
        self._move: str | None = None
        self._pending_tickers: list[str] = []
        self._previous_periods: tuple[str, ...] = ()

    def read(self) -> SentenceClaims:
        reading = self._reading
        for index, segment in enumerate(self._segments):
            clause = Clause(segment, self._known_tickers)
            pays_nothing = clause.tells_dividend and (
                clause.is_denial or any(token.word in _NOTHING_WORDS for token in segment)
            )
            # "Google, alone among them, pays no dividend": the first clause only names the ticker of the others.
            is_only_subject = not index and not clause.is_denial and len(self._tickers) == len(clause.tickers)
            if clause.makes_claims:
                self._read_clause(index, clause)
                continue
            if self._has_denial and not pays_nothing and (clause.is_denial or (clause.tickers and not is_only_subject)):
                # "IBM rose, not MSFT", "MSFT did": what is denied or affirmed is in another clause.
                reading.problems.append(DENIAL)
            if clause.is_only_comparison:
                continue
            if clause.tells_dividend:
                self._read_dividend(clause, pays_nothing=pays_nothing)
            self._pending_tickers = [*([] if segment[0].text in CONTRAST else self._pending_tickers), *clause.tickers]
        reading.names_ticker = bool(self._tickers)
        reading.subjects = tuple(dict.fromkeys((*self._tickers, *self._pending_tickers))) or self._subjects
        reading.periods = tuple(self._periods[:1]) or self._carried.periods
        return reading

    def _read_dividend(self, clause: Clause, *, pays_nothing: bool) -> None:
        """Reads that no dividend is paid; a dividend that is paid needs a figure."""
        figure = ("dividends",) if self._periods else ("dividend_yield",)
        if pays_nothing:
            self._reading.add(Claim("unknown", None, figure, periods=tuple(self._periods[:1])), clause.tickers)
        if not (pays_nothing and clause.tickers):
            self._reading.problems.append(_DIVIDEND_PROBLEM)

    def _read_clause(self, index: int, clause: Clause) -> None:
        reading, own_subjects = self._reading, self._own_subjects(index, clause)
        self._pending_tickers = []
        periods = tuple(clause.periods) or self._previous_periods or self._leading_periods
        context = ClauseContext(
            subjects=tuple(own_subjects) or self._subjects,
            periods=periods,
            later_periods=() if periods else _trailing_period(self._segments[index + 1 :]),
            fallback_periods=self._fallback_periods,
            figure=self._figure,
            move=self._move,
            sentence_tickers=self._tickers,
            is_subject_named=bool(own_subjects),
            is_plural=len(own_subjects) > 1,
            averages=tuple(_averages(self._segments[index + 1 :])),
        )
        first_claim = len(reading.claims)
        clause.read(reading, context)
        # "All rose except Apple": Apple did not.
        moved = {claim.relation: claim for claim in reading.claims[first_claim:] if claim.relation in ("rose", "fell")}
        for claim in moved.values():
            reading.add(replace(claim, is_denied=True), clause.excepted_tickers)
        if clause.tells_dividend and not any(_DIVIDENDS & {*claim.figures} for claim in reading.claims[first_claim:]):
            reading.problems.append(_DIVIDEND_PROBLEM)
        self._previous_periods = tuple(clause.periods) if clause.is_about_time else ()
        if clause.figure or clause.move:
            self._figure, self._move = clause.figure, clause.move
        if clause.subjects or own_subjects:
            self._subjects = tuple(clause.next_subjects or own_subjects)

    def _own_subjects(self, index: int, clause: Clause) -> list[str]:
        """The tickers that a clause is about by its own words, or by those that only named them before it."""
        segment, excepted_tickers = self._segments[index], clause.excepted_tickers
        pending_tickers = [] if segment[0].text in CONTRAST else self._pending_tickers
        own_subjects = list(dict.fromkeys([*pending_tickers, *clause.subjects]))
        # "more than Microsoft, which gains 4.6%"
        if not own_subjects and index and segment[0].text in ("que", "which", "who"):
            own_subjects = [token.value for token in self._segments[index - 1] if token.kind == "ticker"][-1:]
        if clause.names_everyone and (len(own_subjects) < 2 or excepted_tickers):
            both_tickers = self._tickers or self._carried.subjects
            names_both = not self._tickers or (clause.names_both and not clause.objects)
            own_subjects = (
                list(both_tickers)
                if names_both and len(both_tickers) == 2 and not excepted_tickers
                else [ticker for ticker in self._known_tickers if ticker not in excepted_tickers]
            )
        if any(token.kind == "rest" for token in segment) and not clause.objects:
            own_subjects = [ticker for ticker in self._known_tickers if ticker not in self._tickers]
        return own_subjects


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
        numbers_ahead = sum(
            token.kind == "number" for ahead in takewhile(_is_number, segments[index:]) for token in ahead
        )
        if (
            joined
            and _is_number(segment)
            and numbers_ahead
            and number_count < named_count
            and (number_count or 1 < named_count == numbers_ahead)
        ):
            joined[-1] = [*joined[-1], *segment]
            continue
        if joined and kinds <= {"ticker", "word"} and "ticker" in kinds and _ranks_nobody(joined[-1]):
            joined[-1] = [*joined[-1], *segment]  # and the calmest, IBM, at 19%
            continue
        ticker_count = sum(token.kind == "ticker" for token in segment)
        goes_on = ticker_count and joined and not any(token.kind in BEARING_KINDS for token in joined[-1])
        named_count = (named_count if goes_on else 0) + ticker_count
        joined.append(list(segment))
    return joined


def _ranks_nobody(segment: Sequence[Token]) -> bool:
    bearing = [token.kind for token in segment if token.kind in {*BEARING_KINDS, "ticker"}]
    return bearing[-1:] in (["highest"], ["lowest"]) and "ticker" not in bearing


def _is_number(segment: Sequence[Token]) -> bool:
    return {token.kind for token in segment} <= {"number", "period", "word"}


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
