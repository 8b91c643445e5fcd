"""Combines two rankings: by words and by meaning."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TypeVar

from memory.embeddings.neighbours import Nearness

Name = TypeVar("Name", bound=Hashable)
MEANING_WEIGHT = 0.5
"""The weight of meaning compared with words."""


def fused(by_words: Sequence[tuple[Name, float]], nearness: Mapping[Name, float]) -> list[tuple[Name, float]]:
    """Returns both rankings as one, best first. The best by words scores 1, the nearest by meaning `WEIGHT`."""
    if not nearness:
        return list(by_words)
    best = max((score for _, score in by_words), default=0.0) or 1.0
    scores = {name: score / best for name, score in by_words}
    for name, share in nearness.items():
        if not share and name not in scores:
            continue
        scores[name] = scores.get(name, 0.0) + MEANING_WEIGHT * share
    return sorted(scores.items(), key=itemgetter(1), reverse=True)


MESSAGE_MEANING_WEIGHT = 0.8
"""The weight of a message's nearness, compared with its words (decision 0158)."""

MIN_NEARNESS = 0.2
"""Nearness from which a message without any word of the question is considered: some message is always the nearest."""


def fused_messages(
    by_words: Sequence[tuple[Name, float]],
    nearness: Nearness[Name],
    without: Collection[Name],
    nearby: Callable[[Name], Iterable[tuple[Name, float]]],
) -> list[tuple[Name, float]]:
    """Returns both rankings of messages as one, best first. What a message answers is often said by those around it:
    `nearby` returns their names with their weights."""
    if not nearness.centred:
        return list(by_words)
    best = max((score for _, score in by_words), default=0.0) or 1.0
    related = [name for name in nearness.nearest(without=without) if nearness.of(name) >= MIN_NEARNESS]
    scores = dict.fromkeys(related, 0.0) | {name: score / best for name, score in by_words}
    for name in scores:
        nearby_weight = sum(weight * nearness.of(other) for other, weight in nearby(name))
        scores[name] += MESSAGE_MEANING_WEIGHT * (nearness.of(name) + nearby_weight)
    return sorted(scores.items(), key=itemgetter(1), reverse=True)
