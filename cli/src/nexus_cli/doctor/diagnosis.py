"""One finding of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Diagnosis:
    """The result of one check. `state`: ok, note (fine, but worth knowing), wrong (something must be done)."""

    subject: str
    state: Literal["ok", "note", "wrong"]
    text: str
    advice: str | None = None


STANDS_STILL = "it stands still or cannot be reached: look at its log"


def wrong(subject: str, text: str, advice: str) -> Diagnosis:
    """A finding that something must be done: `advice`."""
    return Diagnosis(subject, "wrong", text, advice)


def note(subject: str, text: str, advice: str) -> Diagnosis:
    """A finding that is worth knowing, and what may be done about it."""
    return Diagnosis(subject, "note", text, advice)


def fine(subject: str, text: str) -> Diagnosis:
    """A finding that all is well."""
    return Diagnosis(subject, "ok", text)
