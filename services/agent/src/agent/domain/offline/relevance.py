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
from agent.domain.offline.questions import is_vague, lacks_subject, required_keys, terms

_SENTENCE_WEIGHT = 2.9
"""Weight of the share of the question that the sentence covers."""
_SECTION_WEIGHT = 1.17
"""Weight of the share of the question that its whole section covers."""
_PREVIOUS_QUESTION_WEIGHT, _ANTECEDENT_WEIGHT = 0.97, 0.76
"""Weight of the share of the previous question that the sentence covers; the second is added if this question depends
on that one."""
_LAST_QUOTE_WEIGHT = 1.28
"""Weight of being in the section that was quoted last."""
_HEADING_WEIGHT = 1.2
"""Weight of the share of the question's words that the heading has."""
_SAME_QUESTION_WEIGHT = 1.5
"""Weight of the heading being the question in nearly the same words, common ones included (not fitted)."""
_SEARCH_RANK_WEIGHT = 1.5
"""Weight of being in the passage that the search ranked first; divided by the rank for later ones."""
_FOREIGN_PENALTY = 1.5
"""Subtracted if it is in another language (not fitted)."""
_REQUIRED_WEIGHT, _NOTHING_REQUIRED_SCORE = 0.79, 0.5
"""Weight of showing what the question needs, such as a price or a time; the second is added to every sentence if the
question needs nothing."""
_SECTION_PREFIX_WEIGHT, _SENTENCE_PREFIX_WEIGHT = 1.34, 1.97
"""Weight of the share of the question's words that have the same beginning as a word of the section; and of the
sentence itself."""
_SIMILARITY_WEIGHT = 12.0
"""Weight of the section's similarity in meaning to the question."""
_MIN_WORD_OVERLAP = 0.5
"""Share of common words below which a heading is not nearly the question."""
_MIN_PREFIX, _MAX_PREFIX = 4, 6
"""How many first letters are compared to decide that two words are the same."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page: its address and heading, the positions of its sentences among the candidates with the
    likeliest first, and its likelihood. The likelihoods of all sections add up to 1."""

    location: tuple[str, str]
    sentences: tuple[int, ...]
    likelihood: float


def ranked_sections(question: str, previous_question: str, last_quote: str, candidates: Candidates) -> list[Section]:
    """Return the sections of the candidates, likeliest first. `last_quote` is what was quoted last."""
    passages, index = candidates.passages, candidates.index
    if not passages:
        return []
    query = terms(FREE_OR_PAID.sub(" ", question))
    earlier_terms = {word: keys for word, keys in terms(previous_question).items() if word not in query}
    required, is_question_vague = required_keys(question), is_vague(query)
    is_dependent = lacks_subject(question) or is_follow_up(question) or is_question_vague
    if is_question_vague and earlier_terms:
        query = {}  # "can she come?" asks only about what was asked before
    question_words = [
        word for word in words_of(question) if len(word) >= _MIN_PREFIX and not (is_question_vague and earlier_terms)
    ]
    positions_by_location: dict[tuple[str, str], list[int]] = {}
    for i, passage in enumerate(passages):
        positions_by_location.setdefault(passage.location, []).append(i)
    scores: dict[int, float] = {}
    for location, positions in positions_by_location.items():
        heading_keys = keys_in(location[1])
        total_weight = sum(map(index.weight, query.values()))
        covered_weight = sum(
            index.weight(keys) * max(index.strength(keys, i) for i in positions) for keys in query.values()
        )
        section_score = (
            _SECTION_WEIGHT * (covered_weight / total_weight if total_weight else 0.0)
            + _LAST_QUOTE_WEIGHT * any(passages[i].is_in(last_quote) for i in positions)
            + _HEADING_WEIGHT * (sum(bool(keys & heading_keys) for keys in query.values()) / max(len(query), 1))
            + _SAME_QUESTION_WEIGHT * _word_overlap(set(words_of(question)), set(words_of(location[1])))
            + _SECTION_PREFIX_WEIGHT
            * _prefix_share(
                question_words, [*words_of(location[1]), *(word for i in positions for word in index.words(i))]
            )
        )
        for i in positions:
            scores[i] = (
                section_score
                + _SENTENCE_WEIGHT * (index.coverage(query, i) if query else 0.0)
                + (_PREVIOUS_QUESTION_WEIGHT + _ANTECEDENT_WEIGHT * is_dependent)
                * (index.coverage(earlier_terms, i) if earlier_terms else 0.0)
                + _SEARCH_RANK_WEIGHT / max(passages[i].number, 1)
                - _FOREIGN_PENALTY * (passages[i].number in candidates.foreign)
                + _REQUIRED_WEIGHT * (float(index.has_all(required, i)) if required else _NOTHING_REQUIRED_SCORE)
                + _SENTENCE_PREFIX_WEIGHT * _prefix_share(question_words, index.words(i))
                + _SIMILARITY_WEIGHT * passages[i].near
            )
    sections = _sections_by_score(positions_by_location, scores)
    # Within a section, sentences that show what the question needs come first.
    return [
        replace(section, sentences=tuple(sorted(section.sentences, key=lambda i: not index.has_all(required, i))))
        for section in sections
    ]


def _sections_by_score(
    positions_by_location: Mapping[tuple[str, str], Sequence[int]], scores: Mapping[int, float]
) -> list[Section]:
    """The sections, likeliest first: the softmax of the sentences' scores, added up for each section."""
    best = max(scores.values())
    total = sum(math.exp(score - best) for score in scores.values())
    sections = [
        Section(
            location,
            tuple(sorted(positions, key=lambda i: -scores[i])),
            sum(math.exp(scores[i] - best) for i in positions) / total,
        )
        for location, positions in positions_by_location.items()
    ]
    return sorted(sections, key=lambda section: -scores[section.sentences[0]])


def _word_overlap(question_words: AbstractSet[str], heading_words: AbstractSet[str]) -> float:
    """The share of words that question and heading have in common; 0 below `_MIN_WORD_OVERLAP`."""
    shared = len(question_words & heading_words) / max(len(question_words | heading_words), 1)
    return shared if shared >= _MIN_WORD_OVERLAP else 0.0


def _prefix_share(question_words: Sequence[str], words: Sequence[str]) -> float:
    """The share of the question's words that have the same beginning as one of these words."""
    prefixes = {
        word[:length] for word in words for length in range(_MIN_PREFIX, _MAX_PREFIX + 1) if len(word) >= length
    }
    return sum(word[: max(_MIN_PREFIX, min(_MAX_PREFIX, len(word) - 1))] in prefixes for word in question_words) / max(
        len(question_words), 1
    )
