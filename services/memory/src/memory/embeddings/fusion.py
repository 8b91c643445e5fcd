"""Combines two rankings: by words and by meaning."""

from collections.abc import Hashable, Mapping, Sequence
from operator import itemgetter
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)
WEIGHT = 0.5
"""The weight of meaning compared with words."""


def fused(by_words: Sequence[tuple[Name, float]], near: Mapping[Name, float]) -> list[tuple[Name, float]]:
    """Both rankings as one, best first. The best by words scores 1, the nearest by meaning `WEIGHT`."""
    if not near:
        return list(by_words)
    best = max((score for _, score in by_words), default=0.0) or 1.0
    scores = {name: score / best for name, score in by_words}
    for name, share in near.items():
        if not share and name not in scores:
            continue
        scores[name] = scores.get(name, 0.0) + WEIGHT * share
    return sorted(scores.items(), key=itemgetter(1), reverse=True)
