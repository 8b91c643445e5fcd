"""Ranks the sections that were found by how likely each answers the question.

A section's score is a weighted sum of a few signals. The weights were fitted on labelled questions over the pages of
five companies (decision 0122). The score compares sections; it does not say whether any of them answers.
"""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from agent.domain.offline.constraints import FREE_OR_PAID
from agent.domain.offline.lexicon import keys_in, words_of
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.previous_questions import is_follow_up
from agent.domain.offline.questions import is_vague, lacks_subject, needed, terms

_OWN = 2.9
"""The share of the question that the sentence covers."""
_SECTION = 1.17
"""The share of the question that its whole section covers."""
_EARLIER, _EARLIER_LEANT_ON = 0.97, 0.76
"""The share of the previous question that it covers; the second is added where this question leans on that one."""
_THERE = 1.28
"""It is in the section that was quoted last."""
_HEADED = 1.2
"""The share of the question's words that the heading has."""
_SAME_QUESTION = 1.5
"""The heading is the question in nearly the same words, common ones included (not fitted)."""
_FOUND = 1.5
"""It is in the passage that the search put first; divided by the place for later ones."""
_FOREIGN = 1.5
"""It is written in another language: subtracted (not fitted)."""
_NEEDED, _NOT_ASKED = 0.79, 0.5
"""It shows what the question needs, such as a price or a time; the second stands in where the question needs nothing.
"""
_BEGINS_BESIDE, _BEGINS = 1.34, 1.97
"""The share of the question's words that begin like a word of its section, or like one of its own."""
_NEAR = 12.0
"""How near in meaning to the question its section is."""
_HALF_ALIKE = 0.5
_SHORTEST, _LONGEST = 4, 6
"""Letters that two words must share at their beginning to count as the same word."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section, its sentences with the likeliest first, and its likelihood; over all sections these add up to 1."""

    place: tuple[str, str]
    sentences: tuple[int, ...]
    likelihood: float


def likely(question: str, earlier: str, told: str, among: Candidates) -> list[Section]:
    """The sections that were found, likeliest first. `earlier`: the previous question; `told`: the last quotation."""
    passages, index = among.passages, among.index
    if not passages:
        return []
    asked = terms(FREE_OR_PAID.sub(" ", question))
    before = {word: keys for word, keys in terms(earlier).items() if word not in asked}
    must, vague = needed(question), is_vague(asked)
    leaning = lacks_subject(question) or is_follow_up(question) or vague
    if vague and before:
        asked = {}  # "can she come?" is of what was asked before, and of nothing else that comes
    said = [word for word in words_of(question) if len(word) >= _SHORTEST and not (vague and before)]
    places: dict[tuple[str, str], list[int]] = {}
    for at, one in enumerate(passages):
        places.setdefault((one.url, one.heading), []).append(at)
    scores: dict[int, float] = {}
    for place, those in places.items():
        headed = keys_in(place[1])
        whole = sum(map(index.weight, asked.values()))
        covered = sum(index.weight(keys) * max(index.has(keys, at) for at in those) for keys in asked.values())
        of_section = (
            _SECTION * (covered / whole if whole else 0.0)
            + _THERE * any(passages[at].is_in(told) for at in those)
            + _HEADED * (sum(bool(keys & headed) for keys in asked.values()) / max(len(asked), 1))
            + _SAME_QUESTION * _alike(set(words_of(question)), set(words_of(place[1])))
            + _BEGINS_BESIDE * _begun(said, [*words_of(place[1]), *(word for at in those for word in index.words(at))])
        )
        for at in those:
            scores[at] = (
                of_section
                + _OWN * (index.share(asked, at) if asked else 0.0)
                + (_EARLIER + _EARLIER_LEANT_ON * leaning) * (index.share(before, at) if before else 0.0)
                + _FOUND / max(passages[at].number, 1)
                - _FOREIGN * (passages[at].number in among.foreign)
                + _NEEDED * (float(index.covers(must, at)) if must else _NOT_ASKED)
                + _BEGINS * _begun(said, index.words(at))
                + _NEAR * passages[at].near
            )
    ranked = _ranked(places, scores)
    # Within a section, sentences that show what the question needs come first.
    return [replace(one, sentences=tuple(sorted(one.sentences, key=lambda at: not index.covers(must, at))))
            for one in ranked]  # fmt: skip


def _ranked(places: Mapping[tuple[str, str], Sequence[int]], scores: Mapping[int, float]) -> list[Section]:
    best = max(scores.values())
    whole = sum(math.exp(score - best) for score in scores.values())
    found = [
        Section(
            place,
            tuple(sorted(those, key=lambda at: -scores[at])),
            sum(math.exp(scores[at] - best) for at in those) / whole,
        )
        for place, those in places.items()
    ]
    return sorted(found, key=lambda one: -scores[one.sentences[0]])


def _alike(said: AbstractSet[str], heading: AbstractSet[str]) -> float:
    """The share of words that two texts have in common; 0 below one half."""
    shared = len(said & heading) / max(len(said | heading), 1)
    return shared if shared >= _HALF_ALIKE else 0.0


def _begun(said: Sequence[str], words: Sequence[str]) -> float:
    """The share of the question's words that begin like one of these."""
    begun = {word[:length] for word in words for length in range(_SHORTEST, _LONGEST + 1) if len(word) >= length}
    return sum(word[: max(_SHORTEST, min(_LONGEST, len(word) - 1))] in begun for word in said) / max(len(said), 1)
