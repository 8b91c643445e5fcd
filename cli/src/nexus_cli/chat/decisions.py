"""Reads a typed line as a decision about an action that waits for the customer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Decision = Literal["action.confirm", "action.reject"]

_YES = frozenset({"y", "yes", "s", "si", "sí"})
_NO = frozenset({"n", "no"})
_LINE = re.compile(
    r"(?P<word>\w+)[.!]?(?:\s+(?P<number>\d+))?(?P<edits>(?:\s+[A-Za-z]+=\d+(?:[.,]\d+)?)*)\s*", re.IGNORECASE
)


def decision(line: str, pending: Sequence[str]) -> tuple[Decision, str, dict[str, float]] | None:
    """Returns what the line decides, about which of the `pending` action ids, and what a yes changes in it (`y
    quantity=2`); None if the line is a message.

    With several pending a number says which (1 is the first); without one it is a message, and the assistant asks.
    """
    found = _LINE.fullmatch(line.strip())
    if found is None or not pending:
        return None
    word = found["word"].lower()
    if word not in _YES | _NO:
        return None
    number = int(found["number"]) if found["number"] else (1 if len(pending) == 1 else 0)
    if not 1 <= number <= len(pending):
        return None
    edits = dict(edit.split("=") for edit in found["edits"].split())
    if edits and word in _NO:
        return None
    changed = {name: float(value.replace(",", ".")) for name, value in edits.items()}
    return ("action.confirm" if word in _YES else "action.reject"), pending[number - 1], changed
