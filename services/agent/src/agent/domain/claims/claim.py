"""A claim, such as (IBM, is, return, 2.7%, 1y), and the context in which a clause is read."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from agent.domain.claims.lexer import Number
from agent.domain.claims.times import Day

DENIAL = "a denial, which no figure can back"
"""Why a sentence that says that something is not so is dropped."""
Relation = Literal[
    "is", "rose", "fell", "flat", "even", "more", "less", "highest", "lowest", "above", "below", "between", "dated",
    "during", "unknown", "confirmed", "expected", "report",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that is said. `figures`: any of them; none: whichever fits. `periods`: any of them."""

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
    """Whether the periods are those of other sentences, which this one need not be of."""
    is_denied: bool = False
    """Whether it is said not to be so."""


@dataclass(slots=True)
class CarriedContext:
    """What a sentence takes over from those before it."""

    subjects: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()


@dataclass(slots=True)
class SentenceClaims:
    """The claims of a sentence, what in it is no claim that could be checked, and whom it is about."""

    claims: list[Claim] = field(default_factory=list["Claim"])
    problems: list[str] = field(default_factory=list[str])
    subjects: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()
    names_ticker: bool = False

    def add(self, claim: Claim, subjects: Iterable[str | None]) -> None:
        """The claim, of each of them."""
        self.claims += [replace(claim, subject=one) for one in subjects]


@dataclass(frozen=True, slots=True)
class ClauseContext:
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
    """Moving averages that the clauses after this one go on naming."""
