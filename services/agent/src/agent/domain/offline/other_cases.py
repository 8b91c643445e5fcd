"""Checks whether a chosen sentence is about another case than the question.

Another case is something else of the same name, another day, or something that was not mentioned. Spanish and English.
"""

import re
from collections.abc import Sequence

from agent.domain.number_words import in_figures
from agent.domain.offline.common_words import is_common, significant_words
from agent.domain.offline.constraints import UNIT
from agent.domain.offline.evidence import PEOPLE
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.kinds import name_of, table_of
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.questions import Query, required_keys, terms, topic_words
from agent.domain.offline.shapes import SHAPES
from agent.domain.text_features import plain, stem
from contracts.expressions import expression

_ACTION_VERB = expression(r"\b(?:sell|happen|leav|work|mak|bring|vend|pas|ocurr|suced|dej|funcion|hac|tra)\w*\b")
"""Verbs for what is done with a thing; alone they find no passage."""
_SELLING_VERBS = {stem("sell"), stem("vender")}
"""Stems of verbs that a price answers, too."""
_PRICE = dict(SHAPES)["=price"]
_PRONOUN = expression(r"\b(?:it|s?he|hers?|him|they|them|those|that one|ell[oa]s?|es[oa]s?|ese)\b")
"""Pronouns that refer to somebody or something mentioned before."""
_WEEKEND = "=weekend"
_ANY_DAY = frozenset((_WEEKEND, "=weekday"))
_BOTH_DAYS = frozenset(("weekend", "finde", "fin de semana", "fines de semana"))
_NUMBER_OF_THINGS = expression(
    rf"(?<![\d.,])(?<!up to )(?<!hasta )(?<!least )(?<!most )(?<!maximo )(?<!minimo )\b(?P<many>\d{{1,3}})[ -]"
    rf"(?!{UNIT}\b|{PEOPLE}\b|times\b|veces\b)(?P<what>[a-z]{{4,}})"
)
"""A number of things. Times and people are left out, since sentences give their minimum or maximum."""
_NUMBER_OF_UNITS = expression(rf"(?<![\d.,])\b(?P<many>\d{{1,3}})[ -](?P<what>{UNIT})\b")
_NUMBER_OF_PERSONS = expression(rf"\b(?P<what>for|para) (?P<many>\d{{1,2}})\b(?!{UNIT}\b| ?[%€$£.:,]\d| {UNIT}\b)")
_RANGE = expression(r"(?<![\d.,:])\b(\d{1,3}) ?(?:to|a|y|and|or|o|-|–) ?(\d{1,3})[ -]([a-z]{3,})")
_NUMBER = expression(r"(?<![\w.,:])\d{1,3}(?![\w:]|[.,]\d)")
_BOUND = expression(
    r"\d ?[-–+] ?|[<>]|\b(?:to|up|under|over|from|until|more|less|hasta|desde|menos|mas|mayor\w*|menor\w*|a|y)\b"
)
"""What makes a number in a name the bound of others: "up to 10 kg"."""
_CONDITION = expression(r"\b(?:if|unless|si|salvo que|siempre que)\b[^,.;:]*", re.IGNORECASE)
_CONDITIONAL = expression(r"\b(?:if|when|unless|happens?|si|cuando|pasa|ocurre)\b")


def is_another_case(
    question: str, previous_question: str, last_quote: str, positions: Sequence[int], candidates: Candidates
) -> bool:
    """Whether the sentences or rows at `positions` are about another case. `last_quote` is what was quoted last."""
    query, chosen = terms(question), [candidates.passages[i] for i in positions]
    sections = [candidates.index.section_text(i) for i in positions]
    is_continued = any(excerpt.text in last_quote for excerpt in chosen)
    return bool(chosen) and (
        _is_only_mentioned(question, query, chosen, sections)
        or (not is_continued and _has_only_common_words(query, chosen))
        or (not is_continued and _lacks_antecedent(question, previous_question, sections))
        or _gives_other_number(question, chosen)
        or _is_named_by_other_numbers(question, chosen)
        or _is_only_a_condition(question, query, chosen)
        or any(_is_the_other_day(keys, chosen) for keys in query.values())
        or _is_of_a_sibling(question, chosen, candidates.passages)
    )


def _is_of_a_sibling(question: str, chosen: Sequence[Excerpt], passages: Sequence[Excerpt]) -> bool:
    """Whether the question names a section or a table row, and the excerpts are all of others beside that one that it
    does not name: "everything in Basic, and mornings too" under Plus does not say what Basic has."""
    question_keys = keys_in(question)

    def is_named(name: str) -> bool:
        words = significant_words(name)
        return bool(words) and all(keys_of(word) & question_keys for word in words)

    def is_mentioned(name: str) -> bool:
        return any(keys_of(word) & question_keys for word in significant_words(name))

    named_sections = {(excerpt.url, excerpt.above) for excerpt in passages if is_named(excerpt.heading)}
    named_rows = {table_of(excerpt) for excerpt in passages if excerpt.is_table_row and is_named(name_of(excerpt))}

    def is_of_sibling(excerpt: Excerpt) -> bool:
        if excerpt.is_table_row:
            return table_of(excerpt) in named_rows and not is_mentioned(name_of(excerpt))
        return (
            bool(excerpt.heading)
            and (excerpt.url, excerpt.above) in named_sections
            and not is_mentioned(excerpt.heading)
        )

    return all(map(is_of_sibling, chosen))


def _is_only_mentioned(question: str, query: Query, chosen: Sequence[Excerpt], sections: Sequence[str]) -> bool:
    """Whether the question and the sentences share only one word, which is not in a heading or a row, and the sentences
    do not contain the question's verb: "no food after 8pm" does not say that food is sold."""
    topic, verb_stems = topic_words(query), {stem(word) for word in _ACTION_VERB.findall(plain(question))}
    if not topic or (len(topic) > 1 and not verb_stems <= _SELLING_VERBS) or not verb_stems or required_keys(question):
        return False
    is_named = any(excerpt.row or query[topic[0]] & keys_in(f"{excerpt.heading} {excerpt.title}") for excerpt in chosen)
    if verb_stems <= _SELLING_VERBS and any(_PRICE.search(excerpt.text) for excerpt in chosen):
        return False
    return not is_named and not any(verb_stems & {stem(word) for word in words_of(section)} for section in sections)


def _has_only_common_words(query: Query, chosen: Sequence[Excerpt]) -> bool:
    """Whether the question has only common words, and no heading has all of them."""
    has_heading = any(all(keys & keys_in(excerpt.heading) for keys in query.values()) for excerpt in chosen)
    return bool(query) and all(map(is_common, query.values())) and not has_heading


def _lacks_antecedent(question: str, previous_question: str, sections: Sequence[str]) -> bool:
    """Whether the question has a pronoun, and the section has no word of the previous question."""
    earlier_keys = terms(previous_question).values()
    has_pronoun = bool(previous_question) and _PRONOUN.search(plain(question)) is not None
    return has_pronoun and not any(keys & keys_in(section) for keys in earlier_keys for section in sections)


def _is_only_a_condition(question: str, query: Query, chosen: Sequence[Excerpt]) -> bool:
    """Whether all shared words are in a condition: that a dog may come "if it is quiet" does not mean that a place is
    quiet."""
    topic = topic_words(query)
    if not topic or _CONDITIONAL.search(plain(question)):
        return False
    unconditional_keys = {
        key
        for excerpt in chosen
        for key in keys_in(f"{excerpt.heading} {excerpt.title} {_CONDITION.sub(' ', excerpt.text)}")
    }
    all_keys = {key for excerpt in chosen for key in keys_in(excerpt.text)}
    return any(query[word] & all_keys for word in topic) and not any(query[word] & unconditional_keys for word in topic)


def _gives_other_number(question: str, chosen: Sequence[Excerpt]) -> bool:
    """Whether the sentences give another number of the same things, and no range that includes it: two bedrooms instead
    of three; or several lengths of time without the one that is asked for: 30 or 60 minutes instead of 90."""
    text = in_figures(plain(" ".join(f"{excerpt.heading}: {excerpt.text}" for excerpt in chosen)))
    text = _RANGE.sub(r"\1 \3 to \2 \3", text)
    for pattern, fewest in ((_NUMBER_OF_THINGS, 1), (_NUMBER_OF_UNITS, 2), (_NUMBER_OF_PERSONS, 2)):
        stated_counts = [(stem(match["what"]), int(match["many"])) for match in pattern.finditer(text)]
        for match in pattern.finditer(in_figures(plain(question))):
            numbers = {number for thing, number in stated_counts if thing == stem(match["what"])}
            count = int(match["many"])
            if len(numbers) >= fewest and count not in numbers and not (min(numbers) <= count <= max(numbers)):
                return True
    return False


def _is_named_by_other_numbers(question: str, chosen: Sequence[Excerpt]) -> bool:
    """Whether the question names a number and each chosen row is named by another one: packs of 5 and 20 instead of
    10."""
    asked = set(_NUMBER.findall(in_figures(plain(question))))
    names = [in_figures(plain(name_of(excerpt))) for excerpt in chosen if excerpt.is_table_row]
    numbers = [set(_NUMBER.findall(name)) for name in names if not _BOUND.search(name)]
    return bool(asked) and len(numbers) == len(chosen) and all(found and found.isdisjoint(asked) for found in numbers)


def _is_the_other_day(keys: frozenset[str], chosen: Sequence[Excerpt]) -> bool:
    """Whether the question is about one day of the weekend, and the only sentence or row is about the other one."""
    if _WEEKEND not in keys or len(chosen) != 1:
        return False
    text = f"{chosen[0].heading} {chosen[0].text}"
    text_keys = keys_in(text)
    # The day may be named in the other language.
    return (
        _WEEKEND in text_keys
        and not keys & (text_keys - _ANY_DAY)
        and not any(key in plain(text) for key in keys | _BOTH_DAYS)
    )
