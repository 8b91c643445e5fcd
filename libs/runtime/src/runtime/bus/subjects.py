"""Subjects with wildcards: which one covers another, and the union of what two releases need."""

from __future__ import annotations

from collections.abc import Sequence


def covers(pattern: str, subject: str) -> bool:
    """Whether everything that the subject matches is also matched by the pattern."""
    wide, narrow = pattern.split("."), subject.split(".")
    for place, part in enumerate(wide):
        if part == ">":
            return place < len(narrow)
        if place == len(narrow) or part not in ("*", narrow[place]) or narrow[place] == ">":
            return False
    return len(wide) == len(narrow)


def combined(wanted: Sequence[str], there: Sequence[str]) -> list[str]:
    """The needed subjects plus existing ones, on which a newer release beside this one relies. If one covers another
    only the wider one stays: NATS accepts no overlapping ones."""
    more = [one for one in there if not any(covers(ours, one) for ours in wanted)]
    both = [ours for ours in wanted if not any(covers(one, ours) for one in more)] + more
    return list(there) if set(both) == set(there) else both
