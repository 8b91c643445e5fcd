"""A claim, such as (IBM, is, return, 2.7%, 1y), and the context in which a clause is read."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from agent.domain.claims.lexer import Number
from agent.domain.claims.times import Day

DENIAL = "a denial, which no figure can back"
"""The reason for which a sentence is dropped that says that something is not so."""
Relation = Literal[
    "is", "rose", "fell", "flat", "even", "more", "less", "highest", "lowest", "above", "below", "between", "dated",
    "during", "unknown", "confirmed", "expected", "report",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement. `figures` and `periods`: it may be about any of them; without figures, about whichever fits.
    `other`: the ticker that the subject is compared with."""

    relation: Relation
    subject: str | None
    figures: tuple[str, ...] = ()
    number: Number | None = None
    move: str | None = None
    periods: tuple[str, ...] = ()
    other: str | None = None
    day: Day | None = None
    year: int | None = None
    has_assumed_periods: bool = False
    """Whether the periods are taken from other sentences, so that this one need not be about them."""
    is_denied: bool = False
    """Whether the sentence says that it is not so."""


@dataclass(slots=True)
class CarriedContext:
    """Tickers and periods that a sentence takes over from those before it."""

    subjects: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()


@dataclass(slots=True)
class SentenceClaims:
    """The claims of a sentence, its parts that cannot be checked (`problems`), and the tickers and periods that it is
    about. `names_ticker`: whether it names a ticker itself."""

    claims: list[Claim] = field(default_factory=list["Claim"])
    problems: list[str] = field(default_factory=list[str])
    subjects: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()
    names_ticker: bool = False

    def add(self, claim: Claim, subjects: Iterable[str | None]) -> None:
        """Adds the claim once for each subject."""
        self.claims += [replace(claim, subject=subject) for subject in subjects]


@dataclass(frozen=True, slots=True)
class ClauseContext:
    """What a clause takes from its sentence. `later_periods`: named after it; `fallback_periods`: of the sentence, the
    previous ones or the question; `is_plural`: it has several subjects."""

    subjects: tuple[str, ...]
    periods: tuple[str, ...]
    later_periods: tuple[str, ...]
    fallback_periods: tuple[str, ...]
    figure: tuple[str, ...]
    move: str | None
    sentence_tickers: tuple[str, ...]
    is_subject_named: bool
    is_plural: bool
    averages: tuple[str, ...]
    """Moving averages that the clauses right after this one name."""
