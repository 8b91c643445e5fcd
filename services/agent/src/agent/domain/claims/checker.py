"""A text held against what the tools gave: sentences that they back are kept, the others dropped, with the reasons."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.domain.claims.agreement import agrees, beside_the_close
from agent.domain.claims.claim import Carried, SentenceClaims
from agent.domain.claims.crossings import crossings_right, only_lengths
from agent.domain.claims.events import events, in_general, of_speaker
from agent.domain.claims.facts import Facts
from agent.domain.claims.lexer import Lexer, Token, folded, is_talk
from agent.domain.claims.reader import read
from agent.domain.claims.spoken_frame import without_frame
from agent.domain.claims.unbacked import unbacked
from agent.domain.claims.verdicts import contradicted, wrong
from agent.domain.claims.words import TALK
from agent.domain.tickers import NAMES, tickers_in

_END = re.compile(
    r"(?<=[.!?…])(?<!\bvs\.)(?<!\bapprox\.)(?<!\baprox\.)(?<!\bU\.S\.)(?<!\bEE\.)(?<!\bInc\.)(?<!\bNo"
    r"\.)[\"”»)]?\s+(?=[^\d\s])|\n+"
)
_MARKS = re.compile(r"[*_`#]+|\[\w{1,4}\]|^\s*(?:[-•]|\d{1,2}[.)])\s+")
_WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sentence that is not published, and why not."""

    sentence: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What is left of a text."""

    text: str
    dropped: tuple[Dropped, ...]
    kept: int


class ClaimChecker:
    """Judges a text sentence by sentence, in its order: a sentence may lean on the ones before it.

    `strict`: every sentence is about the figures (a report's), and only what is read to its end is kept. Otherwise (a
    chat's) a sentence is dropped for what speaks against the figures, for figures, tickers and sources that no tool
    gave, for what it says of a ticker without any figure, and for events that nothing told; a question back or an offer
    is left alone.
    """

    def __init__(self, facts: Facts, asked: str | None = None, *, strict: bool = True) -> None:
        self._facts = facts
        self._asked = asked
        self._strict = strict
        self._carried = Carried(tuple(facts.subjects) if len(facts.subjects) <= 2 else ())
        self._known = facts.subjects
        names = {folded(name): name for name in self._known if len(name) > 2}
        names |= {folded(spelling): ticker for spelling, ticker in NAMES.items() if ticker in self._known}
        names |= {folded(name): name for name in self._known if len(name) <= 2}
        own = {word for texts in facts.texts.values() for text in texts for word in _WORD.findall(folded(text))}
        self._lexer = Lexer(names, facts.sources, own, tickers_in)
        self._texts = sorted(
            {folded(text) for texts in facts.texts.values() for text in texts if len(text) > 8}, key=len
        )
        self._given = [{word[:_SAME] for word in _WORD.findall(folded(text))} for text in facts.given]
        self._lost = False

    def anew(self) -> "ClaimChecker":
        """The same, before its first sentence."""
        return ClaimChecker(self._facts, self._asked, strict=self._strict)

    def reasons(self, sentence: str) -> tuple[str, ...]:
        """Why this next sentence may not be said; empty: it may."""
        said = beside_the_close(_MARKS.sub(" ", sentence))
        if not said.strip():
            return ()
        if said.lstrip().startswith(("{", "[")) or "```" in sentence:
            return ("it is no prose",)
        said = self._without_quotes(said if self._strict else without_frame(said))
        tokens = self._lexer.tokens(said)
        if not self._strict:
            if _asks(said, tokens):
                return ()
            if happened := events(said, self._odd(tokens)):
                return (f"an event that nothing told: {', '.join(happened)}",)
            if is_talk(tokens) or (in_general(said) and not any(token.kind in _DEFINITE for token in tokens)):
                return ()
        reading = read(tokens, self._known, self._carried, self._asked)
        if self._strict:
            found = [*reading.problems, *(reason for claim in reading.claims if (reason := wrong(claim, self._facts)))]
        else:
            found = self._against(reading, said)
        if not agrees(folded(said)):
            found.append("the direction is not that of its numbers")
        crossed = crossings_right(folded(said), tokens, self._facts.crossed)
        if crossed is False:
            found.append("averages did not cross that way that day")
        elif crossed and only_lengths(tokens):
            found = [reason for reason in found if " sma_" not in reason]
        if not self._strict and reading.claims and _CAUSE.search(folded(said)) and (odd := self._odd(tokens)):
            found.append(f"a cause that nothing told: {', '.join(odd)}")
        if reading.named or reading.claims:
            found += unbacked(folded(said), reading.claims, self._facts)
        if self._strict and not found and self._lost and reading.claims and not reading.named:
            found.append("whom it is about was said in a sentence that was dropped")
        if reading.claims or reading.named:
            self._lost = bool(found)
        self._carried = Carried(reading.subjects or self._carried.subjects, reading.periods)
        return tuple(dict.fromkeys(found))

    def _against(self, reading: SentenceClaims, said: str) -> list[str]:
        """What speaks against a sentence of a chat."""
        low = folded(said)
        supposed, offers = bool(_SUPPOSED.search(low)), bool(_OFFER.search(low))
        beside = frozenset(name for claim in reading.claims for name in claim.figures)
        found = [
            reason
            for claim in reading.claims
            if (reason := contradicted(claim, self._facts, supposed=supposed, beside=beside))
        ]
        for problem in reading.problems:
            foreign = problem.startswith("a source") or (problem.startswith("a ticker") and not offers)
            promised = reading.named and problem.startswith("a promise") and not _WILL_TELL.search(low)
            untold = reading.named and not reading.claims and problem.startswith("words") and not offers
            untold = untold and not of_speaker(said)
            if foreign or promised or untold:
                found.append(problem)
        return found

    def _odd(self, tokens: Sequence[Token]) -> list[str]:
        """The words that no tool gave, unless one text of the talk has them all."""
        odd = [token.word for token in tokens if token.kind == "odd" and token.word]
        told = any(all(word[:_SAME] in text for word in odd) for text in self._given)
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


_DEFINITE = frozenset(("ticker", "foreign", "number", "spelled", "source"))
"""What a sentence about things in general does not have."""
_SAME = 5
"""Letters in which the forms of a word agree: cancel, cancelled."""
_CAUSE = re.compile(
    r"\b(?:because|due to|thanks to|owing to|driven by|as a result of|on the back of|porque|debido a|gracias a|"
    r"a causa de|"
    r"por culpa de|impulsad[oa]s? por|tras (?:el|la|los|las))\b"
)
_SUPPOSED = re.compile(
    r"\b(?:if|when(?:ever)?|until|once|unless|in case|say|suppos\w+|assum\w+|would|could|alert|stop|target|order|limit|"
    r"si|cuando|hasta que|en caso|supon\w+|ponga\w*|aviso|alerta|objetivo|orden|limite|\w{2,}(?:[aei]|[nl]d|b)ria[ns]?|"
    r"seria[ns]?)\b"
)
"""Tells of what may be, or of what somebody wants."""
_WILL_TELL = re.compile(
    r"\b(?:i|we)(?:'ll| will) (?:let|tell|notify|warn|ping|alert|send|keep|watch|message)\b|\b(?:te|le|os) "
    r"(?:avis|dir|notific|mandar|enviar)\w+"
)
"""What the assistant promises of itself."""
_OFFER = re.compile(
    r"\?\s*$|^\W*(?:let me know|would you|do you|if you|you can|i can|shall "
    r"i|feel free|want me|avisame|dime|quieres|si quieres|"
    r"puedes|puedo|te gustaria|deseas|necesitas)\b"
)


def _asks(sentence: str, tokens: Sequence[Token]) -> bool:
    """A question back or an offer, which states no figure and no event."""
    stated = {"number", "rise", "fall", "better", "worse", "more", "less", "source", "promise", "highest", "lowest"}
    said = any(token.kind in stated or token.word in TALK for token in tokens)
    return not said and bool(_OFFER.search(folded(sentence)))


def checked(text: str, facts: Facts, asked: str | None = None) -> Checked:
    """The text without the sentences that the facts do not back. `asked`: the question's own period."""
    checker = ClaimChecker(facts, asked)
    kept: list[str] = []
    dropped: list[Dropped] = []
    count = 0
    for sentence, gap in sentences(text):
        reasons = checker.reasons(sentence)
        if reasons:
            dropped.append(Dropped(sentence.strip(), reasons))
            if "\n" in gap and kept:
                kept[-1] = kept[-1].rstrip(" ") + gap if not kept[-1].endswith("\n") else kept[-1]
        else:
            count += bool(sentence.strip())
            kept.append(sentence + gap)
    return Checked("".join(kept).strip(), tuple(dropped), count)


def unsupported(text: str, facts: Facts, asked: str | None = None) -> list[str]:
    """What a text says that no tool gave, a few words each."""
    return [reason for one in checked(text, facts, asked).dropped for reason in one.reasons]


def sentences(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence, and the space after it."""
    at = 0
    for match in _END.finditer(text):
        yield text[at : match.start()], match[0]
        at = match.end()
    yield text[at:], ""
