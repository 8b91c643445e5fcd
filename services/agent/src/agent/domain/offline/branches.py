"""Answers for a company with several branches: what was asked without naming one is answered for each of them, and "and
in York?" asks of York what was asked of the other.

A branch is a section with a telephone number, on a page with other such sections.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from agent.domain.offline.common_words import significant_words
from agent.domain.offline.constraints import contacts_in
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_in, keys_of
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.passages import find_answer
from agent.domain.text_features import plain
from contracts.expressions import expression

Place = tuple[str, str]
"""A page's address and a heading."""
_WORD = expression(r"[^\W\d_]+")
_MAX_BRANCHES = 4
"""Maximum branches of an answer."""


def for_each_branch(
    question: str, antecedent: str, quotes: Sequence[Excerpt], excerpts: Sequence[Excerpt]
) -> list[Excerpt]:
    """The quotes of one branch with what the others say of the same; if they say nothing, with the branch's name. What
    is about a branch that the question names, or about none, stays as it is."""
    places, asked_keys = {_place(excerpt) for excerpt in quotes}, keys_in(f"{question} {antecedent}")
    for branches in _branches(excerpts):
        if len(places) != 1 or not places <= branches.keys():
            continue
        (chosen,) = places
        if _own_keys(chosen, branches) & asked_keys:
            return list(quotes)
        others = [section for place, section in branches.items() if place != chosen][: _MAX_BRANCHES - 1]
        answers = [excerpt for section in others for excerpt in find_answer(question, antecedent, Candidates(section))]
        if answers:
            return sorted([*quotes, *answers], key=lambda excerpt: (excerpt.number, excerpt.page_position))
        first, *rest = quotes
        return [replace(first, text=f"{first.heading}: {first.text}"), *rest]
    return list(quotes)


def asked_of_branch(question: str, antecedent: str, excerpts: Sequence[Excerpt]) -> str | None:
    """The question that this one, which only names a branch, refers to, asked of that branch; None if it says anything
    else. `antecedent` holds the questions that it may refer to, one per line."""
    words = significant_words(question)
    for branches in _branches(excerpts) if words and antecedent else ():
        for place in branches:
            own_keys = _own_keys(place, branches)
            if not all(keys_of(word) & own_keys for word in words):
                continue
            other_keys = frozenset[str]().union(*(_own_keys(other, branches) for other in branches)) - own_keys
            asked = _with_name(antecedent.splitlines()[0], other_keys, place[1])
            return asked if own_keys & keys_in(asked) else f"{asked} {place[1]}"
    return None


def _with_name(text: str, keys: AbstractSet[str], name: str) -> str:
    """The text with this name in place of the words with one of the keys."""
    return _WORD.sub(lambda word: name if keys_of(plain(word[0])) & keys else word[0], text)


def _branches(excerpts: Sequence[Excerpt]) -> list[dict[Place, list[Excerpt]]]:
    """For each page with several branches: the excerpts of each."""
    pages: dict[str, dict[Place, list[Excerpt]]] = {}
    for excerpt in excerpts:
        if excerpt.heading:
            pages.setdefault(_place(excerpt)[0], {}).setdefault(_place(excerpt), []).append(excerpt)
    with_numbers = [
        {
            place: section
            for place, section in sections.items()
            if any("=number" in contacts_in(excerpt.text) for excerpt in section)
        }
        for sections in pages.values()
    ]
    return [branches for branches in with_numbers if len(branches) > 1]


def _place(excerpt: Excerpt) -> Place:
    return excerpt.url.partition("#")[0], excerpt.heading


def _own_keys(place: Place, branches: Mapping[Place, object]) -> frozenset[str]:
    """The keys of a branch's name that no other branch's name has."""
    others = frozenset[str]().union(*(keys_in(name) for other, name in branches if (other, name) != place))
    return frozenset(key for word in significant_words(place[1]) for key in keys_of(word)) - others
