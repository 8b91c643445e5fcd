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


def doubts(question: str, before: str, chosen: Sequence[Excerpt], among: Candidates) -> list[Excerpt] | None:
    """What else may be meant by the question than what was chosen; None: what was chosen answers it."""
    if as_a_whole(question, before, among.passages):
        return None
    asked, index = terms(FREE_OR_PAID.sub(" ", question)), among.index
    mine = [at for at, one in enumerate(among.passages) if one in chosen]
    told = {word for word, keys in asked.items() if any(index.has(keys, at) >= _TOLD for at in mine)}
    specific = _specific(asked)
    rivals = _rivals(question, before, chosen, among)
    rivals = [at for at in rivals if all(index.says(asked[word], at) for word in told if _tells_much(asked[word]))]
    if specific and any(_is_headed(asked, specific, among, at) for at in mine):
        rivals = [at for at in rivals if index.is_headed(asked, specific, at)]
    others = {(one.url, one.heading): one for at in reversed(rivals) if (one := among.passages[at])}
    # The same told twice is no other answer.
    also = [one for one in without_repeats([*chosen, *reversed(others.values())]) if one not in chosen][:_RIVALS]
    untold = [word for word in _untold(asked, mine, among) if not asked[word] & TOLD_OTHERWISE]
    return also if also or untold else None


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

    scores = list(map(score, range(len(among.passages))))
    of_a_thing = DO_YOU.search(plain(question)) or any(keys & BARE for keys in asked.values())
    least = NEAR if of_a_thing else NEAR_DOING
    best = max(scores)
    if best < least:
        return []
    places: dict[tuple[str, str], int] = {}
    for at in sorted(range(len(scores)), key=lambda at: -scores[at]):
        if scores[at] >= max(best - _AS_MUCH, least):
            one = among.passages[at]
            places.setdefault((one.url, one.heading), at)
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
