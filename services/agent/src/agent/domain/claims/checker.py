"""Checks a text against what the tools returned: keeps the sentences that are proven, and drops the others with a
reason.

A sentence passes `lexer` (tokens), `reader` (claims) and `verdicts` (is each claim backed?). "IBM rose 2.7%" is kept if
a tool gave that return; "IBM rose 27%" is dropped, and of "IBM rose 2.7%, because its CEO left" the first clause is
kept.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain

from agent.domain.claims import sentence_patterns as patterns
from agent.domain.claims.agreement import (
    directions_agree,
    expand_averages,
    expand_best_worst_unit,
    expand_high,
    expand_units,
    has_owner,
    neutralize_span_verbs,
    normalize_close_comparisons,
    normalize_figure_phrases,
)
from agent.domain.claims.claim import CarriedContext, Claim, SentenceClaims
from agent.domain.claims.clauses import BEARING_KINDS
from agent.domain.claims.crossings import COUNT, are_crossings_right, has_only_lengths
from agent.domain.claims.events import find_events, is_about_speaker, is_general
from agent.domain.claims.excerpts import excerpts, names_its_subject
from agent.domain.claims.facts import HOLDING, Facts
from agent.domain.claims.lexer import Lexer, Number, Token, folded, is_talk
from agent.domain.claims.reader import read_claims
from agent.domain.claims.sentences import cells_of, sentences
from agent.domain.claims.spoken_frame import without_spoken_frame
from agent.domain.claims.states import is_count_right, judge_sentence, misreads_rsi
from agent.domain.claims.times import YEAR, with_year
from agent.domain.claims.unbacked import is_multiple, unbacked_statements, wrong_day_distances
from agent.domain.claims.verdicts import contradiction, unbacked_reason
from agent.domain.claims.words import EVENT_WORDS, OPINIONS
from agent.domain.tickers import NAMES

_MARKS = re.compile(r"[*`#]+|\b_+|_+\b|\[\w{1,4}\]|^\s*(?:[-•]|\d{1,2}[.)])\s+")
_WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_YEAR = re.compile(rf"\b{YEAR}\b")
_COLUMN_AND_CELL = re.compile(r"\w.*:.*\w")
"""A cell under its column; not the line below the columns."""


@dataclass(frozen=True, slots=True)
class DroppedSentence:
    """A sentence that is not published as it was written, why not, and the part of it that is."""

    sentence: str
    reasons: tuple[str, ...]
    kept_part: str = ""


@dataclass(frozen=True, slots=True)
class CheckedText:
    """What is left of a text. `kept`: how many of its sentences, whole or in part."""

    text: str
    dropped: tuple[DroppedSentence, ...]
    kept_count: int

    @property
    def is_mostly_dropped(self) -> bool:
        """Whether less than half of its sentences are left."""
        return self.kept_count < sum(not one.kept_part for one in self.dropped) or not self.kept_count


class ClaimChecker:
    """Judges a text sentence by sentence, in its order: a sentence may lean on the ones before it.

    `strict`: every sentence is about the figures (a report's), and only what is read to its end is kept. Otherwise (a
    chat's) a sentence is dropped for what speaks against the figures, for figures, tickers and sources that no tool
    gave, for what it says of a ticker without any figure, and for events that nothing told; a question back or an offer
    is left alone.
    """

    def __init__(self, facts: Facts, asked: str | None = None, *, strict: bool = True) -> None:
        self._facts = facts
        self._question_period = asked
        self._strict = strict
        self._tickers = facts.subjects
        told = {fact.subject for fact in facts.facts}
        self._tickers_with_facts = [one for one in self._tickers if one in told] or self._tickers
        tickers = tuple(one for one in self._tickers if one != HOLDING)
        self._carried = CarriedContext(tickers if len(tickers) <= 2 else ())
        names = {folded(name): name for name in self._tickers if len(name) > 2}
        names |= {folded(spelling): ticker for spelling, ticker in NAMES.items() if ticker in self._tickers}
        names |= {folded(name): name for name in self._tickers if len(name) <= 2}
        if HOLDING in self._tickers and len(tickers) == 1:
            its = [name for name, of in names.items() if of == tickers[0]]
            names |= dict.fromkeys(
                (*_HOLDING_NAMES, *(f"{word} {name}" for word in _HOLDING_NAMES for name in its)), HOLDING
            )
        own = {word for texts in facts.texts.values() for text in texts for word in _WORD.findall(folded(text))}
        self._lexer = Lexer(names, facts.sources, own)
        self._texts = sorted(
            {folded(text) for texts in facts.texts.values() for text in texts if len(text) > 8}, key=len
        )
        self._conversation_stems = [
            {word[:_STEM_LENGTH] for word in _WORD.findall(folded(text))} for text in facts.conversation_texts
        ]
        self._year = facts.year
        self._lost = False
        self._claims = False
        self._columns: tuple[str, ...] = ()

    def restarted(self) -> "ClaimChecker":
        """The same, before its first sentence."""
        return ClaimChecker(self._facts, self._question_period, strict=self._strict)

    def judge(self, sentence: str) -> tuple[str, tuple[str, ...]]:
        """What of this next sentence may be said: all of it, its clauses that are backed, or nothing; and why not the
        rest."""
        before = copy(self)
        reasons = self.reasons(sentence)
        if not reasons:
            return sentence, ()
        for text, from_start in excerpts(sentence):
            trial = copy(before)
            trial._strict = True
            if names_its_subject(self._lexer.tokens(text), from_start=from_start) and trial._proves(text):
                self._carried, self._lost = trial._carried, trial._lost
                return text, reasons
        return "", reasons

    def _proves(self, text: str) -> bool:
        """Whether a text makes claims, and all of them are backed."""
        return not self._reasons(text) and self._claims

    def reasons(self, sentence: str) -> tuple[str, ...]:
        """Why this next sentence, or row of a table, may not be said; empty: it may."""
        cells = cells_of(sentence)
        if cells and not self._columns:
            self._columns, found = cells, self._reasons(" ".join(cells)) if self._strict else ()
            return found
        if not cells:
            self._columns = ()
            return self._reasons(sentence)
        first, *rest = cells
        told = [f"{column}: {first} {cell}" for column, cell in zip(self._columns[1:], rest, strict=False)]
        return tuple(
            dict.fromkeys(reason for one in told if _COLUMN_AND_CELL.search(one) for reason in self._reasons(one))
        )

    def _reasons(self, sentence: str) -> tuple[str, ...]:
        said = expand_best_worst_unit(
            expand_units(normalize_figure_phrases(normalize_close_comparisons(_MARKS.sub(" ", sentence))))
        )
        said = expand_averages(expand_high(said))
        years = {self._year} if self._year else {int(year) for year in _YEAR.findall(said)}
        if len(years) == 1:
            said = with_year(said, years.pop())
        elif not years:
            said = with_year(said, self._facts.years_by_month(ahead=bool(patterns.UPCOMING.search(folded(said)))))
        if self._year:
            said = patterns.SAME_YEAR.sub(f"in {self._year}", said)
        if not said.strip():
            return ()
        if said.lstrip().startswith(("{", "[")) or "```" in sentence:
            return ("it is no prose",)
        for quote in patterns.QUOTED_FROM.finditer(folded(sentence)):
            if quote[1] not in {folded(one) for one in self._facts.sources}:
                return (f"a source that no tool named: {quote[1]}",)
        calm = patterns.NEUTRAL_RSI.search(folded(said))
        if calm is not None:
            said = said[: calm.start()] + said[calm.end() :]
        said = self._without_quotes(said if self._strict else without_spoken_frame(said))
        tokens = self._lexer.tokens(neutralize_span_verbs(said))
        crossed = are_crossings_right(folded(said), tokens, self._facts.crossings)
        if crossed is False:
            return ("averages did not cross like that",)
        counted = is_count_right(folded(said), tokens, self._tickers_with_facts, self._question_period, self._facts)
        if counted is False:
            return ("not so many of them",)
        if not self._strict:
            if _is_question_or_offer(said, tokens):
                return ()
            measured = any(token.kind == "number" for token in tokens)
            if happened := find_events(said, self._odd(tokens), measured=measured):
                return (f"an event that nothing told: {', '.join(happened)}",)
            if is_talk(tokens) or (is_general(said) and not any(token.kind in _DEFINITE_KINDS for token in tokens)):
                return ()
        reading = read_claims(tokens, self._tickers_with_facts, self._carried, self._question_period)
        self._claims = reading.names_ticker and any(claim.relation not in _DATE_RELATIONS for claim in reading.claims)
        retells = not self._strict and self._retells(folded(sentence), tokens)
        if retells:
            reading.claims = [one for one in reading.claims if one.number is None and one.relation not in _MOVES]
            reading.problems = [one for one in reading.problems if not one.startswith("words")]
        if patterns.EVERY_YEAR.search(folded(said)):
            reading.claims = list(self._in_every_stretch(reading.claims))
        if self._strict:
            found = [
                *reading.problems,
                *(reason for claim in reading.claims if (reason := unbacked_reason(claim, self._facts))),
            ]
            if reading.names_ticker and not reading.claims and any(token.word in OPINIONS for token in tokens):
                found.append("a judgement without a figure")
        else:
            found = self._against(reading, said, tokens)
        proven, otherwise = judge_sentence(
            folded(said), tokens, reading, self._facts, self._question_period, counted=bool(counted)
        )
        found = [one for one in found if not one.startswith(proven)] + otherwise
        if misreads_rsi(folded(said), self._facts, calm=calm is not None):
            found.append("the RSI says otherwise")
        if (tone := patterns.TONE.search(folded(said))) and not patterns.NEGATION_OR_CONDITION.search(
            folded(said)[: tone.end()]
        ):
            label = "bullish" if tone["up"] or tone["up2"] else "bearish"
            if self._facts.prediction_labels and label not in self._facts.prediction_labels:
                found.append("the signal says otherwise")
        found += [
            f"a headline in other words: {one[1]}" for one in patterns.QUOTE.finditer(sentence) if self._alters(one[1])
        ]
        if not directions_agree(folded(said)):
            found.append("the direction is not that of its numbers")
        if crossed:
            said = COUNT.sub(" ", folded(said))
            if has_only_lengths(tokens):
                found = [
                    reason
                    for reason in found
                    if " sma_" not in reason and not reason.startswith(("an average", "a change"))
                ]
        gives_cause = reading.claims and not (self._strict or retells) and patterns.CAUSE.search(folded(said))
        if gives_cause and (odd := self._odd(tokens)):
            found.append(f"a cause that nothing told: {', '.join(odd)}")
        if reading.names_ticker or reading.claims:
            multiple = is_multiple(folded(said), tokens, reading.claims, self._facts, self._question_period)
            found += unbacked_statements(folded(said), reading.claims, self._facts, reading.subjects, multiple=multiple)
            found += wrong_day_distances(tokens, reading.claims, self._facts)
            if multiple:
                found = [reason for reason in found if not patterns.MULTIPLE_REASON.search(reason)]
            found = [reason for reason in found if reason in otherwise or not reason.startswith(proven)]
        if self._strict and not found and self._lost and reading.claims and not reading.names_ticker:
            found.append("whom it is about was said in a sentence that was dropped")
        if reading.claims or reading.names_ticker:
            self._lost = bool(found)
        self._carried = CarriedContext(reading.subjects or self._carried.subjects, reading.periods)
        return tuple(dict.fromkeys(found))

    def _against(self, reading: SentenceClaims, said: str, tokens: Sequence[Token]) -> list[str]:
        """What speaks against a sentence of a chat."""
        low = folded(said)
        # What a rule or holding would have come to is no supposition: a trial has told it.
        supposed, offers = (
            HOLDING not in self._tickers and bool(patterns.SUPPOSED.search(low)),
            bool(patterns.OFFER.search(low)),
        )
        figures = [token.value for token in tokens if token.kind == "figure"]
        numbers = [token for token in tokens if token.kind == "number"]
        beside, paired = frozenset(chain.from_iterable(figures)), 1 < len(figures) == len(numbers)
        told: dict[str | None, list[str]] = {claim.subject: [] for claim in reading.claims}
        whose = Counter(id(claim.number) for claim in reading.claims)
        for claim in reading.claims:
            anyone = (
                claim.relation == "is" and claim.figures not in _PAIR_FIGURES and not has_owner(claim.number, tokens)
            )
            anyone = anyone and whose[id(claim.number)] == 1
            of = self._tickers if anyone else ()
            each = [replace(claim, subject=one) for one in dict.fromkeys((claim.subject, *of))]
            why = [contradiction(one, self._facts, supposed=supposed, beside=beside, paired=paired) for one in each]
            if (reason := why[0]) and all(why):
                told[claim.subject].append(reason)
        # "The stock", where nobody is named: whichever of those before it is so of.
        anybody = not reading.names_ticker and not any(token.kind in ("all", "neither") for token in tokens)
        found = [] if anybody and not all(told.values()) else list(chain.from_iterable(told.values()))
        kinds = {token.kind for token in tokens}
        symbols = any(token.kind == "foreign" and token.text == folded(token.value) for token in tokens)
        unclaimed = offers or (
            not kinds & (BEARING_KINDS - {"unknown"}) and (bool(kinds & {"not", "unknown"}) or not symbols)
        )
        bare = [token for token in tokens if token.word not in _FILLER_WORDS]
        unread = [three for three in zip(bare, bare[1:], bare[2:], strict=False) if _is_unread_move(*three)]
        if any(not figures or whom.kind == "figure" for whom, _, _ in unread):
            found.append("a move that no rule reads")
        for problem in reading.problems:
            foreign = problem.startswith(("a source", "a change")) or (problem.startswith("a ticker") and not unclaimed)
            promised = reading.names_ticker or bool(patterns.UNNAMED_STOCK.search(low))
            promised = promised and problem.startswith("a promise") and not patterns.WILL_TELL.search(low)
            untold = reading.names_ticker and not reading.claims and problem.startswith("words") and not offers
            untold = (
                untold
                and not is_about_speaker(said)
                and not (self._facts.prediction_labels and patterns.TONE.search(low))
            )
            if foreign or promised or untold:
                found.append(problem)
        return found

    def _in_every_stretch(self, claims: Sequence[Claim]) -> Iterator[Claim]:
        """A claim about several stretches, repeated for each stretch of the tools' results."""
        known = {one.period: None for one in self._facts.facts if one.period and "/" in one.period}
        for claim in claims:
            if claim.relation in _PERIOD_RELATIONS and known:
                yield from (replace(claim, periods=(period,)) for period in known)
            else:
                yield claim

    def _alters(self, quote: str) -> bool:
        """Whether a quotation is nearly, and not quite, what a tool's text says."""
        words = set(_WORD.findall(folded(quote)))
        texts = [set(_WORD.findall(text)) for text in self._texts]
        nearly = [text for text in texts if len(words & text) >= _MIN_SHARED_WORDS * len(words)]
        return bool(nearly) and not any(words <= text for text in texts)

    def _retells(self, low: str, tokens: Sequence[Token]) -> bool:
        """Whether it says a headline again, with no number, direction or ticker beside its own: most of its words or,
        in another language, its numbers, with who wrote it, and a cause only if the headline has one."""
        stems = {token.text[:_STEM_LENGTH] for token in tokens}
        odd = {token.word[:_STEM_LENGTH] for token in tokens if token.kind == "odd"}
        cited = any(folded(one) in low for one in self._facts.sources if len(one) > _STEM_LENGTH)
        for text in self._texts:
            words = {word[:_STEM_LENGTH] for word in _WORD.findall(text)}
            theirs = self._lexer.tokens(text)
            translated = cited and _token_texts(theirs, "number") and (patterns.CAUSE.search(text) or not odd)
            if translated or (odd <= words and len(words & stems) >= _MIN_SHARED_WORDS * len(words)):
                same = _token_texts(tokens, "rise", "fall") == _token_texts(theirs, "rise", "fall")
                if same and _token_texts(tokens, "number", "ticker") <= _token_texts(theirs, "number", "ticker"):
                    return True
        return False

    def _odd(self, tokens: Sequence[Token]) -> list[str]:
        """The words that no tool gave, unless one text of the talk has them all."""
        odd = [token.word for token in tokens if token.kind == "odd" and token.word]
        told = any(all(word[:_STEM_LENGTH] in text for word in odd) for text in self._conversation_stems)
        return [] if told else odd

    def _without_quotes(self, sentence: str) -> str:
        """The sentence without what it quotes word for word."""
        if not self._texts:
            return sentence
        low = folded(sentence)
        for text in reversed(self._texts):
            at = low.find(text)
            if at >= 0:
                sentence = sentence[:at] + " " + sentence[at + len(text) :]
                low = folded(sentence)
        return sentence


_HOLDING_NAMES = ("buy-and-hold", "buying and holding", "holding", "comprar y mantener", "mantener")
_MOVES = ("rose", "fell")
_MIN_SHARED_WORDS = 0.6
"""Share of its words from which on a quotation is taken for one of a text."""
_PAIR_FIGURES = (("beta",), ("correlation",))
"""Figures that are told beside a second ticker which is not their owner."""
_DATE_RELATIONS = frozenset(("dated", "during", "report"))
"""Relations that say when, and nothing else."""
_PERIOD_RELATIONS = frozenset(("rose", "fell", "more", "less", "highest", "lowest"))
_DEFINITE_KINDS = frozenset(("ticker", "foreign", "number", "spelled", "source", "day"))
"""What a sentence about things in general does not have."""
_STEM_LENGTH = 5
"""Letters in which the forms of a word agree: cancel, cancelled."""


def _is_unread_move(whom: Token, verb: Token, number: Token) -> bool:
    """Whether three tokens tell a move by a verb of which nobody knows the direction: IBM forfeited 2.7%, its margin
    expanded to 2.7%."""
    if whom.kind not in ("ticker", "figure") or verb.kind != "odd" or number.kind != "number":
        return False
    value: Number = number.value
    return value.percent and not value.sign


_FILLER_WORDS = frozenset(("to", "by", "a", "hasta", "se", "un", "una", "en"))
"""Words that may stand between a ticker, its verb and its number."""


def _token_texts(tokens: Sequence[Token], *kinds: str) -> set[str]:
    """The tokens of these kinds: rises and falls as such, others as they are written."""
    told = [one for one in tokens if one.kind in kinds]
    return {one.kind if one.kind in ("rise", "fall") else one.text.replace(" ", "") for one in told}


def _is_question_or_offer(sentence: str, tokens: Sequence[Token]) -> bool:
    """A question back or an offer, which states no figure and no event."""
    stated = {"number", "rise", "fall", "better", "worse", "more", "less", "source", "promise", "highest", "lowest"}
    said = any(token.kind in stated or token.word in EVENT_WORDS for token in tokens)
    return not said and bool(patterns.OFFER.search(folded(sentence)))


def check_text(text: str, facts: Facts, asked: str | None = None) -> CheckedText:
    """The text without the sentences that the facts do not back. `asked`: the question's own period."""
    checker = ClaimChecker(facts, asked)
    kept: list[str] = []
    dropped: list[DroppedSentence] = []
    count = 0
    for sentence, gap in sentences(text):
        left, reasons = checker.judge(sentence)
        if reasons:
            dropped.append(DroppedSentence(sentence.strip(), reasons, left))
        count += bool(left.strip())
        if left or not reasons:
            kept.append(left + gap)
        elif "\n" in gap and kept and not kept[-1].endswith("\n"):
            kept[-1] = kept[-1].rstrip(" ") + gap
    return CheckedText("".join(kept).strip(), tuple(dropped), count)


def unsupported_claims(text: str, facts: Facts, asked: str | None = None) -> list[str]:
    """What a text says that no tool gave, a few words each."""
    return [reason for one in check_text(text, facts, asked).dropped for reason in one.reasons]
