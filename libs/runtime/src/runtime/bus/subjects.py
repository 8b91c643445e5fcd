"""Subjects with wildcards: whether one covers another, and the union of the subjects of two releases."""

from __future__ import annotations

from collections.abc import Sequence


def covers(pattern: str, subject: str) -> bool:
    """Whether the pattern matches everything that the subject matches."""
    pattern_parts, subject_parts = pattern.split("."), subject.split(".")
    for index, part in enumerate(pattern_parts):
        if part == ">":
            return index < len(subject_parts)
        if index == len(subject_parts) or part not in ("*", subject_parts[index]) or subject_parts[index] == ">":
            return False
    return len(pattern_parts) == len(subject_parts)


def combined(wanted: Sequence[str], existing: Sequence[str]) -> list[str]:
    """Returns the needed subjects plus the existing ones, since a newer release beside this one may rely on them. If
    one covers another, only the wider one is returned: NATS accepts no overlapping subjects."""
    additional = [subject for subject in existing if not any(covers(ours, subject) for ours in wanted)]
    union = [subject for subject in wanted if not any(covers(other, subject) for other in additional)] + additional
    return list(existing) if set(union) == set(existing) else union
