"""What the doctor has to say of one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `state`: ok, note (fine, but worth knowing), wrong (something has to be done)."""

    subject: str
    state: Literal["ok", "note", "wrong"]
    text: str
    advice: str | None = None


def wrong(subject: str, text: str, advice: str) -> Finding:
    """Something has to be done: `advice`."""
    return Finding(subject, "wrong", text, advice)


def fine(subject: str, text: str) -> Finding:
    """Nothing has to be done."""
    return Finding(subject, "ok", text)
