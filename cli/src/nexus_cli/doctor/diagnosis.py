"""One finding of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was checked. `state`: ok, note (fine, but worth knowing), wrong (something must be done)."""

    subject: str
    state: Literal["ok", "note", "wrong"]
    text: str
    advice: str | None = None


STANDS_STILL = "it stands still or cannot be reached: look at its log"


def wrong(subject: str, text: str, advice: str) -> Diagnosis:
    """Something has to be done: `advice`."""
    return Diagnosis(subject, "wrong", text, advice)


def fine(subject: str, text: str) -> Diagnosis:
    """Returns the finding that nothing has to be done."""
    return Diagnosis(subject, "ok", text)
