"""Checks whether a chosen sentence is about another case than the question.

Such a case is something else of the same name, something that the question excludes ("If you cannot come" for "can I
come?"), another day, or something that was not mentioned. Spanish and English.
"""

import re
from collections.abc import Mapping, Sequence

from agent.domain.number_words import in_figures
from agent.domain.offline.common_words import is_common
from agent.domain.offline.constraints import UNIT
from agent.domain.offline.evidence import PEOPLE
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_in, words_of
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.questions import needed, specific_words, terms
from agent.domain.offline.shapes import SHAPES
from agent.domain.text_features import plain, stem

_DONE = re.compile(r"\b(?:sell|happen|leav|work|mak|bring|vend|pas|ocurr|suced|dej|funcion|hac|tra)\w*\b")
"""What is asked about a thing, in words that by themselves find no passage."""
_SOLD = {stem("sell"), stem("vender")}
"""What is told by a price, too."""
_DENIES = re.compile(r"\b(?:not|cannot|without|never|no|sin|nunca|\w+n['’]t|(?:ca|wo|do|does|did|is|are)nt)\b")
_PRICE = dict(SHAPES)["=price"]
_IF = re.compile(r"^\W*(?:if|when|si|cuando)\b")
_POINTS = re.compile(r"\b(?:s?he|hers?|him|they|them|those|that one|ell[oa]s?|es[oa]s?|ese)\b")
"""What points to somebody or something that was spoken of."""
_WEEKEND = "=weekend"
_ANY_DAY = frozenset((_WEEKEND, "=weekday"))
_BOTH_DAYS = frozenset(("weekend", "finde", "fin de semana", "fines de semana"))
_MANY = re.compile(
    rf"(?<![\d.,])(?<!up to )(?<!hasta )(?<!least )(?<!most )(?<!maximo )(?<!minimo )\b(?P<many>\d{{1,3}})[ -]"
    rf"(?!{UNIT}\b|{PEOPLE}\b|times\b|veces\b)(?P<what>[a-z]{{4,}})"
)
"""A number of things; of times and people a sentence tells the least or the most."""
_CONDITION = re.compile(r"\b(?:if|unless|si|salvo que|siempre que)\b[^,.;:]*", re.IGNORECASE)
_SUPPOSES = re.compile(r"\b(?:if|when|unless|happens?|si|cuando|pasa|ocurre)\b")
_Terms = Mapping[str, frozenset[str]]


def is_another_case(question: str, earlier: str, told: str, spots: Sequence[int], among: Candidates) -> bool:
    """Whether the sentences or rows at `spots` are. `earlier`: what was asked last; `told`: what was quoted last."""
    asked, chosen = terms(question), [among.passages[at] for at in spots]
    sections = [among.index.section(at) for at in spots]
    goes_on = any(one.text in told for one in chosen)
    return bool(chosen) and (
        _is_only_mentioned(question, asked, chosen, sections)
        or _is_denied(f"{earlier} {question}", chosen)
        or (not goes_on and _is_said_of_anything(asked, chosen))
        or (not goes_on and _was_not_spoken_of(question, earlier, sections))
        or _counts_otherwise(question, chosen)
        or _is_only_a_condition(question, asked, chosen)
        or any(_is_the_other_day(keys, chosen) for keys in asked.values())
    )


def _is_only_mentioned(question: str, asked: _Terms, chosen: Sequence[Excerpt], sections: Sequence[str]) -> bool:
    """Whether one word is all that is shared, is no heading's or row's, and what the question says happens to it is not
    told: food is not sold because "no food after 8pm" has it."""
    specific, done = specific_words(asked), {stem(word) for word in _DONE.findall(plain(question))}
    if not specific or (len(specific) > 1 and not done <= _SOLD) or not done or needed(question):
        return False
    named = any(one.row or asked[specific[0]] & keys_in(f"{one.heading} {one.title}") for one in chosen)
    if done <= _SOLD and any(_PRICE.search(one.text) for one in chosen):
        return False
    return not named and not any(done & {stem(word) for word in words_of(section)} for section in sections)


def _is_denied(said: str, chosen: Sequence[Excerpt]) -> bool:
    """Whether the heading is a condition that denies what the person does not: "If you cannot come"."""
    headings = [plain(one.heading) for one in chosen]
    return not _DENIES.search(plain(said)) and all(_IF.search(one) and _DENIES.search(one) for one in headings)


def _is_said_of_anything(asked: _Terms, chosen: Sequence[Excerpt]) -> bool:
    """Whether the question has only words that are said about anything, and the heading has not all of them."""
    headed = any(all(keys & keys_in(one.heading) for keys in asked.values()) for one in chosen)
    return bool(asked) and all(map(is_common, asked.values())) and not headed


def _was_not_spoken_of(question: str, earlier: str, sections: Sequence[str]) -> bool:
    """Whether the question points to what was spoken of, and the section has no word of that."""
    before = terms(earlier).values()
    points = bool(earlier) and _POINTS.search(plain(question)) is not None
    return points and not any(keys & keys_in(section) for keys in before for section in sections)


def _is_only_a_condition(question: str, asked: _Terms, chosen: Sequence[Excerpt]) -> bool:
    """Whether all that is shared stands in a condition: a dog that may come "if it is quiet" makes no quiet place."""
    specific = specific_words(asked)
    if not specific or _SUPPOSES.search(plain(question)):
        return False
    told = {key for one in chosen for key in keys_in(f"{one.heading} {one.title} {_CONDITION.sub(' ', one.text)}")}
    said = {key for one in chosen for key in keys_in(one.text)}
    return any(asked[word] & said for word in specific) and not any(asked[word] & told for word in specific)


def _counts_otherwise(question: str, chosen: Sequence[Excerpt]) -> bool:
    """Whether another number of the very things is told, and no range: two bedrooms for three."""
    asked = {stem(one["what"]): int(one["many"]) for one in _MANY.finditer(in_figures(plain(question)))}
    text = " ".join(f"{one.heading}: {one.text}" for one in chosen)
    told = [(stem(one["what"]), int(one["many"])) for one in _MANY.finditer(in_figures(plain(text)))]
    for what, many in asked.items():
        numbers = {number for other, number in told if other == what}
        if numbers and many not in numbers and not (min(numbers) <= many <= max(numbers)):
            return True
    return False


def _is_the_other_day(keys: frozenset[str], chosen: Sequence[Excerpt]) -> bool:
    """Whether a day of the weekend is asked about, and the only sentence or row tells of the other one."""
    if _WEEKEND not in keys or len(chosen) != 1:
        return False
    said = f"{chosen[0].heading} {chosen[0].text}"
    told = keys_in(said)
    # By its name in the other language, too.
    return (
        _WEEKEND in told and not keys & (told - _ANY_DAY) and not any(key in plain(said) for key in keys | _BOTH_DAYS)
    )
