"""Why two statements can both be true although a model takes the later one for the end of the earlier one.

To end a fact, a statement must be about the same thing and say that it is over, denied, corrected or different now.
What happened once (a purchase, a visit) stays true; another date, season, weekday or hour is another occasion.
"""

import re
from functools import lru_cache
from itertools import pairwise

from contracts.calendar_names import MONTHS
from memory.domain.claims import PEOPLE, Claims, claims
from memory.domain.counts import DATES, NUMBER_CONCEPTS, NUMBER_WORDS, changes_count, distinctive_concepts
from memory.domain.long_term.concepts import ACTIONS, concept, concepts_of, normalize
from memory.domain.long_term.course import (
    FOR_NOW,
    HAS_HAPPENED,
    LASTING,
    NO_LONGER,
    PARTLY,
    has_ended,
    has_happened,
)
from memory.domain.long_term.endings import endings
from memory.domain.long_term.slots import OCCASION, occasions_in
from memory.domain.recall.words import words
from memory.domain.relevant_facts import NOT_THINGS, facets, kinds
from memory.domain.replacement import GENERIC, are_about_same_person, flow_opposite_ways, may_replace, replaces

MAX_SENTENCES = 1_000
"""Sentences that are kept as they were read: each is compared with every fact of its writer."""
_CLAUSE = re.compile(r"[,;:—–(]|\b(?:and|but|y|pero)\b")
_PRONOUN = re.compile(r"\b(?:it|them|lo)\b|\bl[ao]s? \w+[éí]\b", re.I)
"""Refers to what the previous clause named."""
_SORT = re.compile(
    r"\b(?:my|our|the|an?) (?P<sort>[a-z]{3,}) (?P<thing>insurance|account|card|loan|policy|plan|fund|contract|"
    r"licen[cs]e|subscription|class|course|job)\b|\b(?P<cosa>\w{4,}) (?:de|del|de la) (?P<clase>[a-z]{3,})\b"
)
"""A thing, with the sort that it is."""
_FIRST_PERSON = re.compile(r"\b(?:i|we|me|us|yo|nos|conmigo)\b")
_RETURNS_TO_WRITER = re.compile(
    r"\b(?:i|we|my|our|me|us|yo|nos|mis?|nuestr[oa]s?|ahora|ya|\w{2,}(?:é|í|oy|amos|emos|imos))\b", re.I
)
"""Says that the writer speaks of themselves again."""
_SOMEBODY = re.compile(
    rf"(?<!with )(?<!con )(?<!for )(?<!para )(?<!from )"
    rf"\b(?:my|our|an?|the|mis?|nuestr[oa]s?|una?|el|l[ao]s?) (?P<who>{PEOPLE})\b"
)
"""Another person, who may be the one who acts."""
_ALSO = re.compile(r"\b(?:also|too(?! \w)|as well|tambien|ademas)\b")
"""Says that something comes in addition, whatever has ended."""
_REFERS_TO_NAMED = re.compile(r"\W*(?:(?:now|so|then|ahora|luego) )?(?:s?he(?! \w+(?:ado|ido|cho|sto|rto)\b)|ella)\b")
"""A clause about somebody who was named before."""
_CORRECTS = re.compile(
    r"\b(?:actually|correction|i meant|meant to say|i was wrong|mistake|not \d|wrong|en realidad|quise decir|"
    r"me equivoque|corrijo|perdon|no era|no fue)\b"
)
_MOVES = re.compile(
    r"\b(?:moved|postponed|rescheduled|changed|instead|brought forward|pushed|delayed|actually|now|cancel\w*|cambi\w+|"
    r"movi\w*|mueve\w*|aplaz\w+|adelant\w+|retras\w+|paso al|pasa(?:mos|do|n|ron)? (?:\w+ \w+ )?(?:al?|para)|en vez|"
    r"en lugar|en realidad|ahora|mejor)\b"
)
_HAPPENED = re.compile(
    r"^(?:(?:yesterday|today|last \w+|in \w+|on \w+|ayer|hoy|el \w+(?: \w+){0,3}|en \w+),? )?(?:(?:i|we|"
    r"yo) )?(?:(?:have|had|just|already|also|finally|ya|tambien|he|hemos) )*(?:bought|sold|paid|went|visited|met|won|"
    r"inherited|read|attended|lent|donated|compre|compramos|comprado|vendi|vendimos|vendido|pague|pagamos|fui|fuimos|"
    r"visite|conoci|gane|herede|lei|asisti|preste|done)\b"
)
_PAIR = re.compile(
    rf"(?P<one>[^\W\d]\w+) (?:and|y|e) (?:(?:the|my|el|la|los|las|mis?|{NUMBER_WORDS}) )?(?P<other>[^\W\d]\w+)"
    r"(?=\W*$|[,;.]| (?:in|on|at|for|with|but|from|since|en|para|con|pero|desde)\b)",
    re.I,
)
_LIST = re.compile(r"[^\W\d][\w' -]{1,40}(?:, [^\W\d][\w' -]{1,40})+,? (?:and|y|e) [^\W\d][\w' -]{1,40}")
_OF_PERSON = re.compile(rf"\b(?:my|our) (?:{PEOPLE})'s\b|\bde (?:mis?|nuestr[oa]s?) (?:{PEOPLE})\b", re.I)
"""Whose a thing is: what happens to it has not happened to them."""
_LIST_ITEM = re.compile(r",? (?:and|y|e) |, ")
_LIKING = concepts_of("like prefer interesa interesan convence convencen atrae atraen interests appeals convinces")
_ACTIONS = ACTIONS | concepts_of("smoke drink retire owe earn")
_DATE = re.compile(r"\b(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?: (?:of|de) (?P<month>[a-z]+))?")


def why_both_stay(sentence: str, fact: str, quote: str | None = None) -> str | None:
    """Returns None if a sentence of the user's ends a fact; otherwise the reason why not: other_thing, both_true,
    not_over.

    `quote`: the words of the sentence on which a model bases it, if the model proposes this fact and no other. Then it
    is enough that something has happened since, or that the same is said with another figure; and the model is believed
    that both are about one thing, unless the words are about another person or another kind of thing.
    """
    is_proposed = quote is not None
    new, old = claims(sentence), claims(fact)
    if both_stay(sentence, fact):
        return "both_true" if _writer_text(sentence, old).strip(" .") else "other_thing"
    if replaces(new, old) or may_replace(new, old) or changes_count(sentence, fact):
        return None
    if (new.relative and old.relative and new.relative != old.relative) or _name_other_sorts(sentence, fact):
        return "other_thing"
    writer_text = _quoted_clauses(quote, _writer_text(sentence, old))
    normalized, normalized_fact = normalize(writer_text), normalize(fact)
    ended = has_ended(normalized)
    no_longer, is_correction = ended or bool(NO_LONGER.search(normalized)), bool(_CORRECTS.search(normalized))
    happened = is_proposed and has_happened(writer_text)
    is_linked = distinctive_concepts(sentence) & old.concepts or (
        no_longer and facets(sentence, forms=False) & facets(fact, forms=False)
    )
    shared = concepts_of(writer_text) & old.concepts - GENERIC - {old.verb[0]}
    is_believed = (
        is_proposed
        and _are_about_one_person(sentence, fact)
        and bool(shared or not _are_of_other_kinds(writer_text, fact))
    )
    if not is_linked and not (is_believed and (no_longer or happened)):
        return "other_thing"
    if is_proposed and PARTLY.search(normalized):
        return "both_true"
    happened_once = _HAPPENED.match(normalized_fact) or (HAS_HAPPENED.search(fact.lower()) and not no_longer)
    if not is_correction and (
        happened_once or (new.is_addition and not (is_proposed and no_longer and not _ALSO.search(normalized)))
    ):
        return "both_true"
    if not is_correction and not _MOVES.search(normalized) and _have_other_occasions(normalized, normalized_fact):
        return "both_true"
    opposes = _affirms if old.is_denial else _denies
    denies = (is_proposed or not old.is_denial) and any(
        opposes(clause, old) for clause in _writer_clauses(sentence, old)
    )
    has_other_figure = is_proposed and _differ_in_figure(new, old)
    return None if no_longer or is_correction or denies or happened or has_other_figure else "not_over"


def both_stay(sentence: str, fact: str) -> bool:
    """Whether a sentence cannot take anything from a fact, however similar they are: it is about somebody else, about a
    part, or only for a while."""
    old = claims(fact)
    writer_text = normalize(_writer_text(sentence, old))
    return (
        not writer_text.strip(" .")
        or bool(_concepts_in_part(writer_text) & old.concepts)
        or names_part(writer_text, fact)
        or _is_for_now(writer_text)
    )


@lru_cache(maxsize=MAX_SENTENCES)
def _concepts_in_part(normalized: str) -> frozenset[str]:
    """Returns the concepts of the clauses that say that there is less of something."""
    return frozenset[str]().union(*(concepts_of(part) for part in normalized.split(", ") if PARTLY.search(part)))


@lru_cache(maxsize=MAX_SENTENCES)
def _is_for_now(normalized: str) -> bool:
    return bool(FOR_NOW.search(normalized)) and not has_ended(normalized) and not LASTING.search(normalized)


def names_part(text: str, fact: str) -> bool:
    """Whether a text names one of the things that a fact combines or lists, but not all of them."""
    named_concepts = concepts_of(text)
    named = [bool(item & named_concepts) for item in _listed(fact)]
    return len(_pair(fact) & named_concepts) == 1 or (len(named) > 2 and any(named) and not all(named))


@lru_cache(maxsize=MAX_SENTENCES)
def _pair(fact: str) -> frozenset[str]:
    """Returns the concepts of the two things that a fact combines; two names are none: "two goats, Salt and Pepper"."""
    pair = _PAIR.search(fact)
    names = [] if pair is None or pair["one"].istitle() or pair["other"].istitle() else [pair["one"], pair["other"]]
    pair_concepts = frozenset(concept(normalize(name)) for name in names)
    return frozenset() if pair_concepts & _ACTIONS else pair_concepts


@lru_cache(maxsize=MAX_SENTENCES)
def _listed(fact: str) -> tuple[frozenset[str], ...]:
    """Returns the concepts of each of the things that a fact lists."""
    listed = _LIST.search(fact)
    first, *others = _LIST_ITEM.split(listed[0]) if listed else [""]
    items = others if concepts_of(first) & NUMBER_CONCEPTS else [first, *others]
    return tuple(concepts_of(item) - GENERIC for item in items)


def _quoted_clauses(quote: str | None, text: str) -> str:
    """Returns the clauses of a text that a quote belongs to; all of them without a quote."""
    quoted = concepts_of(quote or "")
    return ", ".join(
        clause
        for clause in _CLAUSE.split(text)
        if quote is None or not (concepts := concepts_of(clause)) or concepts & quoted
    )


def _are_about_one_person(text: str, fact: str) -> bool:
    """Whether both are about one person, or the text names the person whom the fact is about: "Raúl and I split up"."""
    return are_about_same_person(claims(text), claims(fact))


def _writer_text(sentence: str, old: Claims) -> str:
    """Returns a sentence without the clauses in which only somebody else acts whom the fact does not mention."""
    return _joined(_writer_clauses(sentence, old))


@lru_cache(maxsize=MAX_SENTENCES)
def _joined(clauses: tuple[str, ...]) -> str:
    return ", ".join(clauses)


def _writer_clauses(sentence: str, old: Claims) -> tuple[str, ...]:
    return _clauses_besides_others(sentence, _other_people(sentence) & old.concepts)


@lru_cache(maxsize=MAX_SENTENCES)
def _other_people(sentence: str) -> frozenset[str]:
    """Returns the concepts of the people who may be the ones who act in a clause."""
    return frozenset(filter(None, (_other_person(normalize(clause)) for clause in _CLAUSE.split(sentence))))


@lru_cache(maxsize=MAX_SENTENCES)
def _clauses_besides_others(sentence: str, people: frozenset[str]) -> tuple[str, ...]:
    """Returns the clauses in which the writer acts, or one of these people."""
    clauses: list[str] = []
    is_other_person = False
    for clause in _CLAUSE.split(sentence):
        # The person named last remains the subject: "a colleague quit and went to Rome".
        person = _other_person(normalize(clause))
        is_other_person = (person is not None and person not in people) or (
            is_other_person and not _RETURNS_TO_WRITER.search(clause)
        )
        if not is_other_person:
            clauses.append(clause)
    return tuple(clauses)


def _other_person(clause: str) -> str | None:
    """Returns the concept of the other person who may act in a clause; empty for somebody who was named before."""
    if _FIRST_PERSON.search(clause):
        return None
    if person := _SOMEBODY.search(clause):
        return concept(person["who"])
    return "" if _REFERS_TO_NAMED.match(clause) else None


def _are_of_other_kinds(text: str, fact: str) -> bool:
    """Whether both are about known kinds of things, and have none in common."""
    text_kinds, fact_kinds = facets(text, forms=False) - NOT_THINGS, kinds(fact)
    return bool(text_kinds and fact_kinds and not text_kinds & fact_kinds)


def is_over(sentence: str, fact: str) -> bool:
    """Whether a clause of a sentence names the subject of a fact, not only its verb, and says that it is over or
    different now, or that its number is."""
    new, old = claims(sentence), claims(fact)
    if changes_count(sentence, fact):
        return True
    if (
        old.tells_act
        or not concepts_of(sentence) & old.concepts
        or not (are_about_same_person(new, old) and new.subject <= old.concepts)
    ):
        return False
    if _name_others(new, old) or flow_opposite_ways(new, old):
        return False
    clauses = _ending_clauses(_writer_clauses(sentence, old))
    return any(_ends(clause, old) for clause in clauses) and why_both_stay(sentence, fact) is None


def _name_others(new: Claims, old: Claims) -> bool:
    """Whether both name somebody or something, and nobody and nothing in common: a house in Spain, one in Italy."""
    names = [statement.values_by_kind.get("name", frozenset()) - DATES for statement in (new, old)]
    return all(names) and not (names[0] & old.concepts or names[1] & new.concepts)


@lru_cache(maxsize=MAX_SENTENCES)
def _ending_clauses(clauses: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the clauses that deny something, or say that it is over or different now. A clause that refers to the one
    before it is joined with that."""
    joined = [
        f"{before} {clause}"
        for before, clause in pairwise(clauses)
        if _PRONOUN.search(clause) or len(words(before)) <= 2
    ]
    return tuple(
        clause
        for clause in dict.fromkeys((*clauses, *joined))
        if claims(clause).is_denial or NO_LONGER.search(normalize(clause)) or has_ended(normalize(clause))
    )


def _denies(clause: str, old: Claims) -> bool:
    """Whether a clause denies the fact in the fact's own words."""
    return bool(concepts := distinctive_concepts(clause)) and concepts <= old.concepts and claims(clause).is_denial


def _ends(clause: str, old: Claims) -> bool:
    normalized = normalize(clause)
    if concepts_of(clause) & _LIKING and not old.concepts & _LIKING:
        return False  # what is no longer liked may still be owned, or done
    if not old.is_denial and _denies(clause, old):
        return not occasions_in(normalized) - old.occasions
    has_end = has_ended(normalized)
    if not has_end and (not NO_LONGER.search(normalized) or occasions_in(normalized) - old.occasions):
        return False
    ended_concepts = [ending.concepts for ending in endings(clause) if ending.concepts]
    names = claims(clause).values_by_kind.get("name", frozenset())  # "I left HSBC for Monzo"
    if ended_concepts and not any(_is_told_by(old, concepts, names) for concepts in ended_concepts):
        return False  # "Santi no longer plays": Santi is still there
    if (
        not has_end
        and not (old.is_denial or claims(clause).is_denial)
        and not _is_told_by(old, concepts_of(clause), names)
    ):
        return False  # a tenth is gold, a twentieth is cash now
    return bool((distinctive_concepts(_OF_PERSON.sub(" ", clause)) & old.concepts) - GENERIC - {old.verb[0]})


def _is_told_by(old: Claims, ended: frozenset[str], names: frozenset[str]) -> bool:
    """Whether a fact tells of what has ended: one of a tennis club does not tell of a chess club."""
    before, after = (
        concepts - GENERIC - ACTIONS - DATES for concepts in (old.concepts, ended - (names - old.concepts))
    )
    return bool(ended & old.concepts) and not (before - after and after - before)


def _name_other_sorts(text: str, fact: str) -> bool:
    """Whether both name a thing of different sorts: "car insurance" is not "life insurance"."""
    text_sorts, fact_sorts = _sorts(text), _sorts(fact)
    return any(thing in fact_sorts and not sorts & fact_sorts[thing] for thing, sorts in text_sorts.items())


def _sorts(text: str) -> dict[str, set[str]]:
    sorts: dict[str, set[str]] = {}
    for match in _SORT.finditer(normalize(text)):
        thing, sort = match["thing"] or match["cosa"], match["sort"] or match["clase"]
        sorts.setdefault(concept(thing), set()).add(concept(sort))
    return sorts


def _differ_in_figure(new: Claims, old: Claims) -> bool:
    """Whether one repeats the other with another figure, or tells of an equally long period in other words with another
    figure."""
    figures = new.values_by_kind.get("figure"), old.values_by_kind.get("figure")
    if not all(figures) or figures[0] == figures[1]:
        return False
    other_words = {word for word in old.concepts if not (word[0].isdigit() or word in NUMBER_CONCEPTS)}
    is_reworded = new.verb[0] != old.verb[0] and not new.verb[0][:1].isdigit()
    period = old.values_by_kind.get("period")
    return other_words <= new.concepts or (
        is_reworded and period is not None and period == new.values_by_kind.get("period")
    )


def _affirms(clause: str, old: Claims) -> bool:
    """Whether a clause affirms what a fact denies: "I can hold a chat in German", after "I speak no German"."""
    concepts = old.concepts - GENERIC
    concepts = concepts - {old.verb[0]} or concepts
    return bool(concepts) and concepts <= concepts_of(clause) and not claims(clause).is_denial


def _have_other_occasions(normalized: str, old_normalized: str) -> bool:
    """Whether they are about different dates, seasons, weekdays or hours."""
    new_occasions, old_occasions = _occasions(normalized), _occasions(old_normalized)
    return any(kind in new_occasions and new_occasions[kind] != names for kind, names in old_occasions.items())


def _occasions(normalized: str) -> dict[str, frozenset[str]]:
    occasions: dict[str, set[str]] = {}
    for word in words(normalized):
        if word in OCCASION:
            occasions.setdefault(OCCASION[word], set()).add(word.removesuffix("s"))
    months = {str(MONTHS[word]) for word in words(normalized) if word in MONTHS}
    if months:
        occasions["date"] = months | {match["day"] for match in _DATE.finditer(normalized)}
    return {kind: frozenset(names) for kind, names in occasions.items()}
