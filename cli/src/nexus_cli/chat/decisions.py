"""Parses a typed line as a decision about an action that waits for the customer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Decision = Literal["action.confirm", "action.reject"]

_YES = frozenset({"y", "yes", "s", "si", "sí"})
_NO = frozenset({"n", "no"})
_LINE = re.compile(
    r"(?P<word>\w+)[.!]?(?:\s+(?P<number>\d+))?(?P<edits>(?:\s+[A-Za-z]+=\d+(?:[.,]\d+)?)*)\s*", re.IGNORECASE
)


def decision(line: str, pending: Mapping[str, int]) -> tuple[Decision, str, dict[str, float]] | None:
    """The decision in the line, the id of its action (one of `pending`, each with its number), and the values that a
    yes changes (`y quantity=2`). None if the line is a message.

    With several pending actions the line needs the action's number; without it, it is a message.
    """
    match = _LINE.fullmatch(line.strip())
    if match is None or not pending:
        return None
    word = match["word"].lower()
    if word not in _YES | _NO:
        return None
    chosen = [action for action, number in pending.items() if match["number"] in {None, str(number)}]
    if len(chosen) != 1:
        return None
    edits = dict(edit.split("=") for edit in match["edits"].split())
    if edits and word in _NO:
        return None
    new_values = {name: float(value.replace(",", ".")) for name, value in edits.items()}
    return ("action.confirm" if word in _YES else "action.reject"), chosen[0], new_values
