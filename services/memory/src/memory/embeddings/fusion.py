"""Combines two rankings: by words and by meaning."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TypeVar

from memory.embeddings.neighbours import Nearness

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


MEANING = 0.8
"""The weight of a message's nearness, compared with its words (decision 0158)."""

MEANT = 0.2
"""How near a message is that no word of the question found and that may be what is meant: one is always nearest."""


def fused_messages(
    by_words: Sequence[tuple[Name, float]],
    near: Nearness[Name],
    without: Collection[Name],
    nearby: Callable[[Name], Iterable[tuple[Name, float]]],
) -> list[tuple[Name, float]]:
    """Both rankings of messages as one, best first. What a message answers is often said by those around it: `nearby`
    names them with their weights."""
    if not near.centred:
        return list(by_words)
    best = max((score for _, score in by_words), default=0.0) or 1.0
    meant = [name for name in near.nearest(without=without) if near.of(name) >= MEANT]
    scores = dict.fromkeys(meant, 0.0) | {name: score / best for name, score in by_words}
    for name in scores:
        around = sum(weight * near.of(other) for other, weight in nearby(name))
        scores[name] += MEANING * (near.of(name) + around)
    return sorted(scores.items(), key=itemgetter(1), reverse=True)
