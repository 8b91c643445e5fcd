"""Checks sentences against what the tools returned: keeps those that are proven, and gives reasons against the others.

A sentence passes `lexer` (tokens), `reader` (claims) and `verdicts` (is each claim backed?). "IBM rose 2.7%" is kept if
a tool gave that return; "IBM rose 27%" is dropped, and of "IBM rose 2.7%, because its CEO left" the first clause is
kept.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property

from agent.domain.claims import sentence_patterns as patterns
from agent.domain.claims.agreement import directions_agree, neutralize_span_verbs, normalize_phrases
from agent.domain.claims.chat_sentence import chat_problems, reasons_against_talk
from agent.domain.claims.claim import CarriedContext, Claim, SentenceClaims
from agent.domain.claims.crossings import COUNT, are_crossings_right, has_only_lengths
from agent.domain.claims.excerpts import excerpts, names_its_subject
from agent.domain.claims.facts import HOLDING, Facts
from agent.domain.claims.lexer import Lexer, Token, folded
from agent.domain.claims.reader import read_claims
from agent.domain.claims.sentences import cells_of
from agent.domain.claims.spoken_frame import without_spoken_frame
from agent.domain.claims.states import is_count_right, judge_sentence, misreads_rsi
from agent.domain.claims.times import YEAR, with_year
from agent.domain.claims.unbacked import is_multiple, unbacked_statements, wrong_day_distances
from agent.domain.claims.verdicts import unbacked_reason
from agent.domain.claims.words import OPINIONS
from agent.domain.tickers import NAMES
from contracts.expressions import expression

_MARKS = expression(r"[*`#]+|\b_+|_+\b|\[\w{1,4}\]|^\s*(?:[-•]|\d{1,2}[.)])\s+")
_WORD = expression(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_YEAR = expression(rf"\b{YEAR}\b")
_COLUMN_AND_CELL = expression(r"\w.*:.*\w")
"""A cell with its column's name, as opposed to the line below the names."""


class _ToolText:
    """A folded text of a tool, which is read once, however many sentences are compared with it."""

    def __init__(self, text: str, lexer: Lexer) -> None:
        self.text = text
        self.words = frozenset(_WORD.findall(text))
        self.stems = frozenset(word[:_STEM_LENGTH] for word in self.words)
        self._lexer = lexer

    @cached_property
    def tokens(self) -> list[Token]:
        return self._lexer.tokens(self.text)


class ClaimChecker:
    """Judges a text sentence by sentence, in order, since a sentence may depend on the ones before it.

    `strict` (for reports): every sentence is about the figures, and only what is read completely is kept. Otherwise
    (for chats) a sentence is dropped if it contradicts the figures, names figures, tickers or sources that no tool
    returned, says something of a ticker without any figure, or reports an event that nothing backs; questions back and
    offers are kept.
    """

    def __init__(self, facts: Facts, question_period: str | None = None, *, strict: bool = True) -> None:
        self._facts = facts
        self._question_period = question_period
        self._strict = strict
        self._tickers = facts.subjects
        tickers_with_facts = {fact.subject for fact in facts.facts}
        self._tickers_with_facts = [ticker for ticker in self._tickers if ticker in tickers_with_facts] or self._tickers
        tickers = tuple(ticker for ticker in self._tickers if ticker != HOLDING)
        self._carried = CarriedContext(tickers if len(tickers) <= 2 else ())
        names = {folded(name): name for name in self._tickers if len(name) > 2}
        names |= {folded(spelling): ticker for spelling, ticker in NAMES.items() if ticker in self._tickers}
        names |= {folded(name): name for name in self._tickers if len(name) <= 2}
        if HOLDING in self._tickers and len(tickers) == 1:
            spellings = [name for name, named_ticker in names.items() if named_ticker == tickers[0]]
            names |= dict.fromkeys(
                (*_HOLDING_NAMES, *(f"{word} {name}" for word in _HOLDING_NAMES for name in spellings)), HOLDING
            )
        tool_words = {word for texts in facts.texts.values() for text in texts for word in _WORD.findall(folded(text))}
        self._lexer = Lexer(names, facts.sources, tool_words)
        texts = {folded(text) for texts in facts.texts.values() for text in texts if len(text) > 8}
        self._texts = [_ToolText(text, self._lexer) for text in sorted(texts, key=len)]
        self._conversation_stems = [
            {word[:_STEM_LENGTH] for word in _WORD.findall(folded(text))} for text in facts.conversation_texts
        ]
        self._year = facts.year
        self._is_subject_dropped = False
        self._has_claims = False
        self._columns: tuple[str, ...] = ()

    def judge(self, sentence: str) -> tuple[str, tuple[str, ...]]:
        """Returns what may be said of the next sentence (all of it, its clauses that are backed, or nothing), and the
        reasons against the rest."""
        earlier_state = copy(self)
        reasons = self.reasons(sentence)
        if not reasons:
            return sentence, ()
        for text, from_start in excerpts(sentence):
            trial = copy(earlier_state)
            trial._strict = True
            if names_its_subject(self._lexer.tokens(text), from_start=from_start) and trial._proves(text):
                self._carried, self._is_subject_dropped = trial._carried, trial._is_subject_dropped
                return text, reasons
        return "", reasons

    def _proves(self, text: str) -> bool:
        """Whether a text makes claims, and all of them are backed."""
        return not self._reasons(text) and self._has_claims

    def reasons(self, sentence: str) -> tuple[str, ...]:
        """The reasons against the next sentence, or row of a table; empty if it may be said."""
        cells = cells_of(sentence)
        if cells and not self._columns:
            self._columns, problems = cells, self._reasons(" ".join(cells)) if self._strict else ()
            return problems
        if not cells:
            self._columns = ()
            return self._reasons(sentence)
        row_name, *values = cells
        statements = [f"{column}: {row_name} {cell}" for column, cell in zip(self._columns[1:], values, strict=False)]
        return tuple(
            dict.fromkeys(
                reason
                for statement in statements
                if _COLUMN_AND_CELL.search(statement)
                for reason in self._reasons(statement)
            )
        )

    def _reasons(self, sentence: str) -> tuple[str, ...]:
        text = self._with_full_dates(normalize_phrases(_MARKS.sub(" ", sentence)))
        if not text.strip():
            return ()
        if text.lstrip().startswith(("{", "[")) or "```" in sentence:
            return ("it is no prose",)
        for quote in patterns.QUOTED_FROM.finditer(folded(sentence)):
            if quote[1] not in {folded(source) for source in self._facts.sources}:
                return (f"a source that no tool named: {quote[1]}",)
        neutral_rsi = patterns.NEUTRAL_RSI.search(folded(text))
        if neutral_rsi is not None:
            text = text[: neutral_rsi.start()] + text[neutral_rsi.end() :]
        text = self._without_quotes(text if self._strict else without_spoken_frame(text))
        tokens, folded_text = self._lexer.tokens(neutralize_span_verbs(text)), folded(text)
        crossed = are_crossings_right(folded_text, tokens, self._facts.crossings)
        if crossed is False:
            return ("averages did not cross like that",)
        is_count_proven = is_count_right(
            folded_text, tokens, self._tickers_with_facts, self._question_period, self._facts
        )
        if is_count_proven is False:
            return ("not so many of them",)
        talk_reasons = None if self._strict else reasons_against_talk(text, tokens, self._unknown_words(tokens))
        if talk_reasons is not None:
            return talk_reasons
        return self._reasons_against_claims(
            sentence,
            text,
            tokens,
            crossed=bool(crossed),
            is_count_proven=bool(is_count_proven),
            is_called_neutral=neutral_rsi is not None,
        )

    def _reasons_against_claims(
        self,
        sentence: str,
        text: str,
        tokens: Sequence[Token],
        *,
        crossed: bool,
        is_count_proven: bool,
        is_called_neutral: bool,
    ) -> tuple[str, ...]:
        """The reasons against what a sentence claims. `text`: what is read of it; `crossed`: its crossings are right;
        `is_count_proven`: its count of tickers is right; `is_called_neutral`: it calls an RSI neutral."""
        folded_text = folded(text)
        reading = read_claims(tokens, self._tickers_with_facts, self._carried, self._question_period)
        self._has_claims = reading.names_ticker and any(
            claim.relation not in _DATE_RELATIONS for claim in reading.claims
        )
        retells = not self._strict and self._repeats_headline(folded(sentence), tokens)
        if retells:
            reading.claims = [
                claim for claim in reading.claims if claim.number is None and claim.relation not in _MOVES
            ]
            reading.problems = [problem for problem in reading.problems if not problem.startswith("words")]
        if patterns.EVERY_YEAR.search(folded_text):
            reading.claims = list(self._for_every_period(reading.claims))
        problems = (
            self._report_problems(reading, tokens)
            if self._strict
            else chat_problems(reading, text, tokens, self._facts)
        )
        proven, otherwise = judge_sentence(
            folded_text, tokens, reading, self._facts, self._question_period, is_count_proven=is_count_proven
        )
        problems = [problem for problem in problems if not problem.startswith(proven)] + otherwise
        problems += self._wording_problems(sentence, folded_text, is_called_neutral=is_called_neutral)
        if crossed:
            folded_text = COUNT.sub(" ", folded_text)
            if has_only_lengths(tokens):
                problems = [reason for reason in problems if not _CROSSING_REASON.search(reason)]
        gives_cause = reading.claims and not (self._strict or retells) and patterns.CAUSE.search(folded_text)
        if gives_cause and (odd := self._unknown_words(tokens)):
            problems.append(f"a cause that nothing told: {', '.join(odd)}")
        if reading.names_ticker or reading.claims:
            multiple = is_multiple(folded_text, tokens, reading.claims, self._facts, self._question_period)
            problems += unbacked_statements(
                folded_text, reading.claims, self._facts, reading.subjects, multiple=multiple
            )
            problems += wrong_day_distances(tokens, reading.claims, self._facts)
            if multiple:
                problems = [reason for reason in problems if not patterns.MULTIPLE_REASON.search(reason)]
            problems = [reason for reason in problems if reason in otherwise or not reason.startswith(proven)]
        return self._carried_on(reading, problems)

    def _wording_problems(self, sentence: str, folded_text: str, *, is_called_neutral: bool) -> Iterator[str]:
        """Yields the reasons against words for an RSI, a signal or a direction, and against quotations."""
        if misreads_rsi(folded_text, self._facts, is_called_neutral=is_called_neutral):
            yield "the RSI says otherwise"
        if self._misreads_signal(folded_text):
            yield "the signal says otherwise"
        for quote in patterns.QUOTE.finditer(sentence):
            if self._misquotes(quote[1]):
                yield f"a headline in other words: {quote[1]}"
        if not directions_agree(folded_text):
            yield "the direction is not that of its numbers"

    def _with_full_dates(self, text: str) -> str:
        """The text with the years of its months and of "the same year", as far as they are known."""
        years = {self._year} if self._year else {int(year) for year in _YEAR.findall(text)}
        if len(years) == 1:
            text = with_year(text, years.pop())
        elif not years:
            text = with_year(text, self._facts.years_by_month(ahead=bool(patterns.UPCOMING.search(folded(text)))))
        return patterns.SAME_YEAR.sub(f"in {self._year}", text) if self._year else text

    def _report_problems(self, reading: SentenceClaims, tokens: Sequence[Token]) -> list[str]:
        """The reasons against a sentence of a report: whatever was not read, and each claim that no fact backs."""
        reasons = (unbacked_reason(claim, self._facts) for claim in reading.claims)
        problems = [*reading.problems, *filter(None, reasons)]
        if reading.names_ticker and not reading.claims and any(token.word in OPINIONS for token in tokens):
            problems.append("a judgement without a figure")
        return problems

    def _misreads_signal(self, folded_text: str) -> bool:
        """Whether a sentence calls a prediction bullish or bearish, and none is."""
        tone, labels = patterns.TONE.search(folded_text), self._facts.prediction_labels
        if tone is None or not labels or patterns.NEGATION_OR_CONDITION.search(folded_text[: tone.end()]):
            return False
        return ("bullish" if tone["up"] or tone["up2"] else "bearish") not in labels

    def _carried_on(self, reading: SentenceClaims, problems: list[str]) -> tuple[str, ...]:
        """The reasons against a sentence, after keeping what the next ones take over from it."""
        if self._strict and not problems and self._is_subject_dropped and reading.claims and not reading.names_ticker:
            problems.append("whom it is about was said in a sentence that was dropped")
        if reading.claims or reading.names_ticker:
            self._is_subject_dropped = bool(problems)
        self._carried = CarriedContext(reading.subjects or self._carried.subjects, reading.periods)
        return tuple(dict.fromkeys(problems))

    def _for_every_period(self, claims: Sequence[Claim]) -> Iterator[Claim]:
        """Repeats each claim about several periods for each period of the tools' results."""
        periods = {fact.period: None for fact in self._facts.facts if fact.period and "/" in fact.period}
        for claim in claims:
            if claim.relation in _PERIOD_RELATIONS and periods:
                yield from (replace(claim, periods=(period,)) for period in periods)
            else:
                yield claim

    def _misquotes(self, quote: str) -> bool:
        """Whether a quotation is nearly, but not exactly, a tool's text."""
        words = set(_WORD.findall(folded(quote)))
        nearly = [text for text in self._texts if len(words & text.words) >= _MIN_SHARED_WORDS * len(words)]
        return bool(nearly) and not any(words <= text.words for text in self._texts)

    def _repeats_headline(self, folded_text: str, tokens: Sequence[Token]) -> bool:
        """Whether the sentence repeats a headline, without numbers, directions or tickers that the headline lacks. It
        has most of its words or, in another language, its numbers and source; a cause only if the headline has one."""
        stems = {token.text[:_STEM_LENGTH] for token in tokens}
        odd = {token.word[:_STEM_LENGTH] for token in tokens if token.kind == "odd"}
        cited = any(folded(source) in folded_text for source in self._facts.sources if len(source) > _STEM_LENGTH)
        for text in self._texts:
            repeated = odd <= text.stems and len(text.stems & stems) >= _MIN_SHARED_WORDS * len(text.stems)
            may_be_translated = cited and (not odd or patterns.CAUSE.search(text.text))
            if repeated or (may_be_translated and _token_texts(text.tokens, "number")):
                has_same_direction = _token_texts(tokens, "rise", "fall") == _token_texts(text.tokens, "rise", "fall")
                if has_same_direction and _token_texts(tokens, "number", "ticker") <= _token_texts(
                    text.tokens, "number", "ticker"
                ):
                    return True
        return False

    def _unknown_words(self, tokens: Sequence[Token]) -> list[str]:
        """The words that no tool returned; empty if one text of the conversation has them all."""
        odd = [token.word for token in tokens if token.kind == "odd" and token.word]
        is_in_one_text = any(all(word[:_STEM_LENGTH] in text for word in odd) for text in self._conversation_stems)
        return [] if is_in_one_text else odd

    def _without_quotes(self, sentence: str) -> str:
        """The sentence without literal quotations of tools' texts."""
        if not self._texts:
            return sentence
        folded_sentence = folded(sentence)
        for text in reversed(self._texts):
            start = folded_sentence.find(text.text)
            if start >= 0:
                sentence = sentence[:start] + " " + sentence[start + len(text.text) :]
                folded_sentence = folded(sentence)
        return sentence


_HOLDING_NAMES = ("buy-and-hold", "buying and holding", "holding", "comprar y mantener", "mantener")
_MOVES = ("rose", "fell")
_CROSSING_REASON = expression(r"^an average|^a change| sma_")
"""Reasons that no longer apply if the crossings are right and all numbers can be lengths of averages."""
_MIN_SHARED_WORDS = 0.6
"""Share of its words from which a quotation counts as a quotation of a text."""
_DATE_RELATIONS = frozenset(("dated", "during", "report"))
"""Relations that only state a date."""
_PERIOD_RELATIONS = frozenset(("rose", "fell", "more", "less", "highest", "lowest"))
_STEM_LENGTH = 5
"""Length of the common beginning of a word's forms: cancel, cancelled."""


def _token_texts(tokens: Sequence[Token], *kinds: str) -> set[str]:
    """The tokens of these kinds: rises and falls by their kind, others as written."""
    selected = [token for token in tokens if token.kind in kinds]
    return {token.kind if token.kind in ("rise", "fall") else token.text.replace(" ", "") for token in selected}
