"""What comes closest to a question that no sentence was chosen for, and which word of it no page has."""

import re

from agent.domain.offline import shapes
from agent.domain.offline.concepts import ANOTHER_TERM
from agent.domain.offline.constraints import FREE_OR_PAID, UNIT, carried
from agent.domain.offline.doubts import (
    LIKELY,
    NEAR_IN_MEANING,
    SEVERAL,
    SHOWN,
    TOLD,
    extract,
    is_surely,
    nearness,
    stands_beside,
    untold_words,
    with_neighbours,
)
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.previous_questions import is_follow_up
from agent.domain.offline.questions import needed, specific_words, terms
from agent.domain.offline.relevance import Section, likely
from agent.domain.text_features import plain, stem

NEAR = 0.4
"""Of a question's weight, what a passage must cover to be told as what may answer it, where nothing does."""
NEAR_DOING = 0.3
"""The same of a question for whether or how something is done, whose verb pages say in other words. A thing that
no page names is not there, and the price of another is no answer."""
_AROUND = 0.15
"""What of a question and the one before it a passage must cover to be told as what comes nearest to what the site does
not tell."""
_EARLIER, _THERE = 0.5, 0.15
"""What it counts there to cover what was asked before, and to stand in the section that was quoted last."""
_FAINTLY_NEAR = 0.1
"""How near one of the likeliest sections must be for them to be shown as what comes closest where nothing else is
(decision 0118)."""
_VERY_NEAR = 0.3
"""How near in meaning an unlikely one must be to be shown where the site lacks half of what a question is about."""
_HALF = 0.5
"""How likely one must be to be shown whatever it shares with the question."""
_HOW_LONG = re.compile(rf"\b(?:how (?:much|long)|much|cu[aá]nt[oa]s?) (?:time|tiempo)\b|\b{UNIT}\b", re.IGNORECASE)
"""How long something is for: no thing that may be there."""
TELLING = 4
"""Letters, at least, of a word that is told to be nowhere: of "use" nobody needs to hear that."""


def surely(question: str, earlier: str, told: str, among: Candidates) -> list[Excerpt]:
    """What answers a question for which no sentence was chosen by its words: a section that is by far the likeliest and
    has all that the question is about."""
    asked, must = terms(FREE_OR_PAID.sub(" ", question)), needed(question)
    ranked = likely(question, earlier, told, among) if specific_words(asked) else []
    if not ranked or not is_surely(ranked[0], asked, must, among):
        return []
    return with_neighbours(extract((), ranked[0], among), asked, must, among)


def nowhere(question: str, among: Candidates) -> list[str]:
    """Of a question for whether there is something: the words for it, as they are written, that nothing found has, nor
    another word that means the same. None where all that was found is in another language."""
    said, index = plain(question), among.index
    same_language = any(one.number not in among.foreign for one in among.passages)
    if not same_language or not (shapes.DO_YOU.search(said) or shapes.MAY.search(said) or ANOTHER_TERM.match(said)):
        return []
    asked = terms(FREE_OR_PAID.sub(" ", question))
    missing = {word for word in specific_words(asked) if not index.is_known(asked[word])}
    return [
        word
        for word in re.findall(r"[^\W\d_]+", _HOW_LONG.sub(" ", question))
        if stem(plain(word)) in missing and not plain(word).endswith("is")  # no verb: enviáis, salís
    ]


def nearest(question: str, earlier: str, told: str, among: Candidates) -> tuple[list[Excerpt], bool]:
    """What comes nearest to a question that nothing is found to answer, and whether it may be the answer; nothing where
    no section stands out, none is near in meaning, and no word of it, or of the one before it, is told."""
    asked = terms(FREE_OR_PAID.sub(" ", question))
    before = {word: keys for word, keys in terms(earlier).items() if word not in asked}
    specific = specific_words(asked)
    must = [*needed(question), *(carried(question, earlier) if is_follow_up(question) else ())]
    # Of a question that has only words that anybody says, those.
    words = [*(specific or (word for word in asked if word[0] != "=")), *specific_words(before)]
    index, about = among.index, [(asked | before)[word] for word in words]

    def near(section: Section) -> bool:
        return nearness(section, among) >= NEAR_IN_MEANING

    strange = [word for word in specific if not index.is_known(asked[word])]
    # All that it is about is strange: that it follows another question makes no section likely.
    unspoken = bool(told) and len(strange) == len(specific) and not is_follow_up(question)
    unspoken = unspoken and (len(strange) >= SEVERAL or nowhere(question, among) != [])

    def stands_out(section: Section) -> bool:
        foreign = among.passages[section.sentences[0]].number in among.foreign
        likely_so = section.likelihood >= _HALF and not unspoken
        return foreign or likely_so or nearness(section, among) >= _VERY_NEAR

    def comes_close(section: Section) -> bool:
        return section.likelihood >= LIKELY or nearness(section, among) >= _VERY_NEAR

    def missing(section: Section) -> float:
        return sum(index.weight(asked[word]) for word in untold_words(asked, section.sentences, among))

    def stands_near(section: Section) -> bool:
        at = section.sentences[0]
        if section.likelihood >= _HALF or near(section):
            return True
        if index.scrap(at) or not any(index.has(keys, at) >= TOLD for keys in about):
            return False
        beside = _EARLIER * index.share(before, at) if before else 0.0
        beside += _THERE * (among.passages[at].is_in(told))
        return (index.share(asked, at) if asked else 0.0) + beside >= (_AROUND if before or told else NEAR_DOING)

    ranked = likely(question, earlier, told, among)
    if 2 * len(strange) >= max(len(specific), 1) and not any(map(stands_out, ranked[:SHOWN])):
        return [], False  # it is about something else
    found = [one for one in ranked if stands_near(one)]
    if specific and not any(index.is_known(asked[word]) for word in specific):
        # What stands near the question before it is about other things, unless this one goes on with that.
        found = [one for one in found if (is_follow_up(question) and one.likelihood >= _HALF) or near(one)]
    if not found:
        faint = [one for one in ranked[:SHOWN] if nearness(one, among) > 0]
        shown = faint if any(nearness(one, among) >= _FAINTLY_NEAR for one in faint) else []
        return [one for section in shown for one in extract((), section, among)], False
    # What lacks rarer words of the question gives way to what has them; a price, or when, is told by what shows one.
    lacking = {one.place: missing(one) for one in found}
    found = [one for one in found if comes_close(one) and lacking[one.place] < lacking[found[0].place]][:1] or found
    found = [one for one in found if index.covers(must, one.sentences[0])] or found
    of_a_thing = shapes.DO_YOU.search(plain(question)) or any(keys & shapes.BARE for keys in asked.values())
    at = found[0].sentences[0]
    if not specific:
        # "How many hours is it?" says nothing of what: that section may tell it which has such a figure.
        may = bool(must) and index.covers(must, at) and found[0].likelihood >= _HALF and index.share(asked, at) >= NEAR
    else:
        may = any(index.has(asked[word], at) >= TOLD for word in specific)
        may = may and not (among.passages[at].row and untold_words(asked, [at], among))
        may = may and index.share(asked, at) >= (NEAR if of_a_thing else NEAR_DOING)
    # A thing that is named and stands nowhere is not there, however near other things of its kind are.
    may = may or (near(found[0]) and not nowhere(question, among))
    others = [one for one in ranked if one in found or nearness(one, among) > 0]
    shown = [found[0], *(one for one in others if stands_beside(one, found[:1], must, among))][:SHOWN]
    return [one for section in shown for one in extract((), section, among)], may
