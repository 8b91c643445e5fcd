"""What an answer is unsure of: a word of the question that it does not tell, other sections that tell as much; and what
comes nearest where nothing answers."""

from collections.abc import Mapping, Sequence

from agent.domain.offline.common_words import is_common, telling
from agent.domain.offline.constraints import FREE_OR_PAID
from agent.domain.offline.evidence import tells
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_of, words_of
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.passages import TELLS, as_a_whole
from agent.domain.offline.questions import is_bare, is_vague, needed, terms
from agent.domain.offline.repeats import without_repeats
from agent.domain.offline.shapes import BARE, DO_YOU, TOLD_OTHERWISE
from agent.domain.text_features import plain, stem

NEAR = 0.4
"""Of a question's weight, what a passage must cover to be told as what comes nearest, where nothing answers."""
NEAR_DOING = 0.3
"""The same of a question for whether or how something is done, whose verb pages say in other words. A thing that
no page names is not there, and the price of another is no answer."""
_EARLIER = 0.5
"""What it counts there that a passage covers what was asked before."""
_THERE = 0.15
"""What it counts there that a section was quoted last."""
_SHOWN = 8
"""Sentences that are shown there."""
_AROUND = 0.15
"""What of a question and the one before it a passage must cover to be told as what comes nearest to what the site does
not tell."""
_AS_MUCH = 0.06
"""How much less of the question another section may cover and still be meant as likely."""
_TOLD = 0.75
"""What a word of the question counts at least in a sentence that tells it, or whose section does."""
_BEFORE = 0.2
"""What it counts that a passage covers what was asked before, too."""
_HEADED = 0.3
"""What it counts that a heading says nothing but words of the question."""
_TITLED = 0.5
"""What a word counts at least that the page's title has."""
_RIVALS = 2
_NAMING = 4
"""Digits from which on a number is a name, a year or an amount."""


def doubts(
    question: str, before: str, chosen: Sequence[Excerpt], among: Candidates, told: str = ""
) -> list[Excerpt] | None:
    """What else may be meant by the question than what was chosen; None: what was chosen answers it. `told`: what was
    quoted last; who asks on may mean that."""
    if as_a_whole(question, before, among.passages):
        return None
    asked, index = terms(FREE_OR_PAID.sub(" ", question)), among.index
    mine = [at for at, one in enumerate(among.passages) if one in chosen]
    had = {word for word, keys in asked.items() if any(index.has(keys, at) >= _TOLD for at in mine)}
    specific = _specific(asked)
    rivals = _rivals(question, before, chosen, among)
    rivals = [at for at in rivals if all(index.says(asked[word], at) for word in had if _tells_much(asked[word]))]
    if specific and any(_is_headed(asked, specific, among, at) for at in mine):
        rivals = [at for at in rivals if index.is_headed(asked, specific, at)]
    rivals = [*_said_there(asked, chosen, told, among), *rivals]
    others = {(one.url, one.heading): one for at in reversed(rivals) if (one := among.passages[at])}
    # The same told twice is no other answer.
    also = [one for one in without_repeats([*chosen, *reversed(others.values())]) if one not in chosen][:_RIVALS]
    untold = [word for word in _untold(asked, mine, among) if not asked[word] & TOLD_OTHERWISE]
    untold += [word for word in asked if _is_name(word) and all(not index.has(asked[word], at) for at in mine)]
    return also if also or untold else None


def strays(question: str, before: str, told: str, chosen: Sequence[Excerpt], among: Candidates) -> bool:
    """Whether what was chosen for a question that goes on from another has nothing of that one, and stands elsewhere
    than what was quoted last."""
    asked, earlier = terms(question), terms(before)
    about = [earlier[word] for word in _specific(earlier) if word not in asked]
    there = _sections_in(told, among)
    mine = [at for at, one in enumerate(among.passages) if one in chosen]
    return bool(about) and not any(
        (among.passages[at].url, among.passages[at].heading) in there
        or any(among.index.has(keys, at) for keys in about)
        for at in mine
    )


def _said_there(
    asked: Mapping[str, frozenset[str]], chosen: Sequence[Excerpt], told: str, among: Candidates
) -> list[int]:
    """What the sections that were quoted last have of the question, where another was chosen."""
    there = _sections_in(told, among)
    if not there or any((one.url, one.heading) in there for one in chosen):
        return []
    index = among.index
    shares = {
        at: index.share(asked, at)
        for at, one in enumerate(among.passages)
        if (one.url, one.heading) in there and any(index.says(asked[word], at) for word in _specific(asked))
    }
    return sorted((at for at, share in shares.items() if share >= NEAR), key=lambda at: -shares[at])[:1]


def _sections_in(told: str, among: Candidates) -> set[tuple[str, str]]:
    """Where what was quoted stands."""
    return {(one.url, one.heading) for one in among.passages if one.text in told}


def _is_name(word: str) -> bool:
    """Whether a number is one that something is called by: another is another thing."""
    return word.isdigit() and len(word) >= _NAMING


def _untold(asked: Mapping[str, frozenset[str]], at_places: Sequence[int], among: Candidates) -> list[str]:
    """The words that say what a question is about and that none of these passages has, nor its page's title."""
    index = among.index
    return [word for word in _specific(asked) if all(index.has(asked[word], at) < _TITLED for at in at_places)]


def _rivals(question: str, before: str, chosen: Sequence[Excerpt], among: Candidates) -> list[int]:
    """What covers as much of the question in other sections, the most first."""
    asked, earlier = terms(FREE_OR_PAID.sub(" ", question)), terms(before)
    index, must = among.index, needed(question)
    meant = earlier | asked if is_bare(asked) or is_vague(asked) else asked
    beside = {word: keys for word, keys in earlier.items() if word not in meant}

    def score(at: int) -> float:
        if not index.holds(must, at) or index.scrap(at) or not tells(question, index.section(at)):
            return 0.0
        return index.share(meant, at) + _BEFORE * index.share(beside, at)

    scores = [score(at) for at in range(len(among.passages))]
    least = max((scores[at] for at, one in enumerate(among.passages) if one in chosen), default=0.0) - _AS_MUCH
    places = {(one.url, one.heading) for one in chosen}
    others = [at for at, one in enumerate(among.passages) if (one.url, one.heading) not in places]
    return sorted((at for at in others if scores[at] >= max(least, NEAR)), key=lambda at: -scores[at])


def nearest(question: str, before: str, among: Candidates) -> list[Excerpt]:
    """Of one section, or of as many as share as much, what shares most with a question that nothing answers; nothing
    where that is little, or a row of something else's figures."""
    asked = terms(FREE_OR_PAID.sub(" ", question))
    if is_vague(asked) or is_bare(asked):
        asked = terms(before) | asked
    if not asked or not among.passages or is_vague(asked):
        return []
    index, said = among.index, {stem(word) for word in words_of(question)}

    def score(at: int) -> float:
        if index.scrap(at) or not any(index.has(asked[word], at) >= _TOLD for word in _specific(asked)):
            return 0.0
        if among.passages[at].row and _untold(asked, [at], among):
            return 0.0
        heading = {stem(word) for word in words_of(among.passages[at].heading)}
        asks_the_same = _HEADED * (bool(heading) and heading <= said)
        return index.share(asked, at) + 0.1 * index.preferred(asked, {}, frozenset(), at) + asks_the_same

    of_a_thing = DO_YOU.search(plain(question)) or any(keys & BARE for keys in asked.values())
    return _best(list(map(score, range(len(among.passages)))), NEAR if of_a_thing else NEAR_DOING, among)


def around(question: str, earlier: str, told: str, among: Candidates) -> list[Excerpt]:
    """What stands nearest to a question, to the one before it and to what was told last, that no rule finds an answer
    to; nothing where no word of theirs is told."""
    asked = terms(FREE_OR_PAID.sub(" ", question))
    before = {word: keys for word, keys in terms(earlier).items() if word not in asked}
    index, about = among.index, [(asked | before)[word] for word in (*_specific(asked), *_specific(before))]
    there = _sections_in(told, among)

    def score(at: int) -> float:
        one = among.passages[at]
        if index.scrap(at) or not any(index.has(keys, at) >= _TOLD for keys in about):
            return 0.0
        beside = _EARLIER * index.share(before, at) if before else 0.0
        beside += _THERE * ((one.url, one.heading) in there)
        return index.share(asked, at) * bool(asked) + beside + 0.1 * index.preferred(asked, {}, frozenset(), at)

    found = _best(list(map(score, range(len(among.passages)))), _AROUND if before or told else NEAR_DOING, among)
    found = [] if len(found) > _RIVALS else found  # what so many have tells nothing
    return [one for each in found for one in _with_section(among.passages, among.passages.index(each))][:_SHOWN]


def _best(scores: Sequence[float], least: float, among: Candidates) -> list[Excerpt]:
    """The section with the best score, whole where it is short; or a sentence each of those that score as much."""
    best = max(scores, default=0.0)
    places: dict[tuple[str, str], int] = {}
    for at in sorted(range(len(scores)), key=lambda at: -scores[at]):
        if best >= least and scores[at] >= max(best - _AS_MUCH, least):
            places.setdefault((among.passages[at].url, among.passages[at].heading), at)
    if len(places) == 1:
        return _with_section(among.passages, scores.index(best))
    return without_repeats([among.passages[at] for at in [*places.values()][: _RIVALS + 1]])


def _tells_much(keys: frozenset[str]) -> bool:
    """Whether a word is not said of anything, or has a meaning all the same."""
    return not is_common(keys) or any(key[0] == "=" for key in keys)


def _is_headed(asked: Mapping[str, frozenset[str]], words: Sequence[str], among: Candidates, at: int) -> bool:
    """Whether a passage's heading has all of these words; where it is one, it has no other."""
    heading, keys = telling(among.passages[at].heading), frozenset[str]().union(*asked.values())
    return among.index.is_headed(asked, words, at) and (len(words) > 1 or all(keys & keys_of(one) for one in heading))


def _specific(asked: Mapping[str, frozenset[str]]) -> list[str]:
    """The words of a question that say what it is about."""
    return [word for word, keys in asked.items() if not (word[0] == "=" or word.isdigit() or is_common(keys))]


def _with_section(passages: Sequence[Excerpt], at: int) -> list[Excerpt]:
    """A sentence with all that stands beside it under its heading, where that is short; a row of a table alone."""
    one = passages[at]
    place = (one.url, one.heading, one.number, one.row)
    section = [other for other in passages if (other.url, other.heading, other.number, other.row) == place]
    alone = one.row or sum(len(other.text) for other in section) > TELLS
    return [one] if alone else section
