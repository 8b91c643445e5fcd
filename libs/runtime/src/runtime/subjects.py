"""Subjects with wildcards: which covers which, and the union of what two releases want."""

from __future__ import annotations

from collections.abc import Sequence


def covers(pattern: str, subject: str) -> bool:
    """Whether whatever the subject stands for, wildcards and all, falls under the pattern."""
    wide, narrow = pattern.split("."), subject.split(".")
    for place, part in enumerate(wide):
        if part == ">":
            return place < len(narrow)
        if place == len(narrow) or part not in ("*", narrow[place]) or narrow[place] == ">":
            return False
    return len(wide) == len(narrow)


def together(wanted: Sequence[str], there: Sequence[str]) -> list[str]:
    """What is wanted, and what is there besides: a newer release beside this one relies on it. Of two of which one
    covers the other the wider one alone: NATS takes none that overlap."""
    more = [one for one in there if not any(covers(ours, one) for ours in wanted)]
    both = [ours for ours in wanted if not any(covers(one, ours) for one in more)] + more
    return list(there) if set(both) == set(there) else both
