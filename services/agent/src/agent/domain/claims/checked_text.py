"""Checks a whole text: what is kept of it, and the sentences that were dropped, with reasons."""

from dataclasses import dataclass

from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import Facts
from agent.domain.claims.sentences import sentences


@dataclass(frozen=True, slots=True)
class DroppedSentence:
    """A sentence that is not published as it was written, the reasons, and the part of it that is published."""

    sentence: str
    reasons: tuple[str, ...]
    kept_part: str = ""


@dataclass(frozen=True, slots=True)
class CheckedText:
    """What is left of a text. `kept_count`: how many of its sentences are kept, whole or in part."""

    text: str
    dropped: tuple[DroppedSentence, ...]
    kept_count: int

    @property
    def is_mostly_dropped(self) -> bool:
        """Whether less than half of its sentences are kept."""
        return self.kept_count < sum(not sentence.kept_part for sentence in self.dropped) or not self.kept_count


def check_text(text: str, facts: Facts, question_period: str | None = None) -> CheckedText:
    """Removes the sentences that the facts do not back. `question_period`: the period that the question is about."""
    checker = ClaimChecker(facts, question_period)
    parts: list[str] = []
    dropped: list[DroppedSentence] = []
    kept_count = 0
    for sentence, gap in sentences(text):
        kept_part, reasons = checker.judge(sentence)
        if reasons:
            dropped.append(DroppedSentence(sentence.strip(), reasons, kept_part))
        kept_count += bool(kept_part.strip())
        if kept_part or not reasons:
            parts.append(kept_part + gap)
        elif "\n" in gap and parts and not parts[-1].endswith("\n"):
            parts[-1] = parts[-1].rstrip(" ") + gap
    return CheckedText("".join(parts).strip(), tuple(dropped), kept_count)


def unsupported_claims(text: str, facts: Facts, question_period: str | None = None) -> list[str]:
    """The reasons for everything in a text that no tool returned, a few words each."""
    return [reason for sentence in check_text(text, facts, question_period).dropped for reason in sentence.reasons]
