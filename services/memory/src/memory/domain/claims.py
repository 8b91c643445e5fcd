"""What a statement claims about its writer, and whether a later statement makes an older one untrue.

"I live in Lima" and later "I moved to Bogotá" give one attribute two values; "I no longer trade options" ends what was
said before; "I don't like penny stocks" denies it. If no such relation is recognised, nothing is replaced: keeping an
outdated fact does less harm than removing a true one.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from contracts.calendar_names import MONTHS, NUMBERS
from memory.domain.long_term.attributes import (
    Value,
    are_incompatible,
    attribute_values,
    relative_values,
    says_change,
    without_adverbs,
)
from memory.domain.long_term.concepts import COUNTS, concept, concepts_of, normalize, significant_words
from memory.domain.long_term.endings import StatementEnd, can_end, endings, occupation_in
from memory.domain.long_term.slots import LANGUAGES, OCCASION, occasions_in
from memory.domain.long_term.speech import folded_in_place, statements
from memory.domain.recall.words import words

MIN_SENTENCE_LETTERS = 8
"""Letters that a sentence must have before a contrast that is removed from it."""
MAX_OTHER_WORDS = 2
"""Words that a statement may have beside the concepts that are ended or denied, to be the statement that is meant."""
_DENIED = re.compile(
    r"\b(?:not|never|no|nunca|jamas|hates?|hated|odi[oa]|detest[oa]|aborrezco|dislikes?|can not stand)\b(?! (?:longer|"
    r"only|just|solo)\b)"
)
_NOT_HATED = re.compile(r"\b(?:not|never|no|nunca) (?:hate|hated|odio|detesto|aborrezco|dislike)\b")
"""Denies a denial."""
_NOT_WHOLLY = re.compile(
    r"\b(?:more than|less than|mas de|menos de|until|till|hasta|unless|without|except|excepto|salvo|sin|only|solo|"
    r"ya no|no longer|any ?more|not sure|but|pero|sino)\b"
)
_LISTING = re.compile(r"\b(?:and|or|y|e|o)\b|,(?!\d| (?:del?|from|of|in|at|on|who|que|en|an?|una?|my|mi)\b)")
PEOPLE = (
    r"wife|husband|spouse|partner|girlfriend|boyfriend|son|sons|daughter|daughters|kids?|children|brothers?|sisters?|"
    r"mother|mom|mum|father|dad|parents?|uncles?|aunts?|cousins?|friends?|buddy|mates?|pals?|grand(?:father|mother|pa|"
    r"ma|parents?|sons?|daughters?|child|children|kids?)|neighbou?rs?|nieces?|nephews?|(?:step|god)(?:father|mother|"
    r"sons?|daughters?|brother|sister)|fiancee?|ex|in-laws|(?:room|flat|house|class|team)mates?|colleagues?|"
    r"co-?workers?|mujer|esposa|esposo|marido|pareja|novi[oa]|hij[oa]s?|herman[oa]s?|madre|mama|padres?|papa|ti[oa]s?|"
    r"prim[oa]s?|amig[oa]s?|abuel[oa]s?|vecin[oa]s?|suegr[oa]s?|sobrin[oa]s?|(?:bis)?niet[oa]s?|cunad[oa]s?|yerno|"
    r"nuera|prometid[oa]|ahijad[oa]s?|padrin[oa]|madrina|padrastro|madrastra|hijastr[oa]s?|hermanastr[oa]s?|"
    r"companer[oa]s?|com(?:p|)adres?|cuates?|colegas?|soci[oa]s?"
)
PERSON = re.compile(rf"\b(?:my|our|mi|mis|nuestr[oa]s?) (?P<who>{PEOPLE})\b")
"""A relative or acquaintance of the writer."""
_RELATIVE = re.compile(rf"^(?:[^,]{{0,15}}, )?{PERSON.pattern}(?!'s name| se llama)")
_SINGLE_ACT = re.compile(
    r"^(?:[^,]{0,15}, )?(?:my|our|mis?|nuestr[oa]s?) \w+(?: (?!(?:is|are|es|esta)\b)\w+){0,2}? "
    r"(?:left|gave|bought|taught|told|lent|sold|won|"
    r"lost|built|made|was|were|had|(?!(?:called|named)\b)\w{3,}ed|dio|fue|hizo|tuvo|trajo|dijo|puso|era|"
    r"\w+(?:ó|aron|ieron))\b|^(?:[^,]{0,15}, )?(?:mis?|nuestr[oa]s?) \w+ (?:(?:se|me|nos) )?\w+(?:aba|ía)\b"
)
"""A single act of such a person: it remains true even after they have died or gone."""
_REVALUES = re.compile(
    r"\b(?:raised|lowered|increased|reduced|cut|extended|shortened|lengthened|upped|topped up|bumped|postponed|delayed|"
    r"pushed back|brought forward|doubled|halved|changed|\w{3,}ed (?=(?:my|our) (?:\w+ ){1,3}(?:to|from) \d)|(?:put|"
    r"went|gone|moved|set) (?:\w+ ){0,4}?(?:up|down|to)|hired|replaced|appointed|switched|(?:new|another) (?=\w+, )|"
    r"from now on|subi(?:o|eron|do)?|baj(?:o|e|aron|ado)|aument(?:o|e|aron|ado)|redu(?:je|jo|cido)|recort(?:e|o|ado)|"
    r"alarg(?:ue|o|ado)|acort(?:e|o|ado)|ampli(?:e|o|ado)|cambi(?:e|o|ado|aron)|aplaz(?:o|e|ado)|retras(?:o|e|ado)|"
    r"adelant(?:o|e|ado)|contrat(?:e|amos|ado)|sustitui\w*|reemplaz\w*)\b"
)
_PAST = re.compile(
    r"\b(?:used to|antes|solia|years ago|hace (?:\w+ )?anos|\w{3,}(?:aba|abamos)|vivia|tenia|era|bought|sold|paid|went|"
    r"visited|met|won|compre|compramos|vendi|vendimos|pague|pagamos|fui|fuimos|visite|conoci)\b"
)
"""Says what was once so, or has happened: it stays true."""
_DONE = re.compile(r"(?:(?:i|we) \w{3,}ed\b|(?:(?:yo|me|nos|lo|la|le) )*(?!sé\b)\w{2,}[éí]\b)")
_ADDS = re.compile(
    r"\b(?:another|also|too(?! \w)|as well|second|besides|apart from|otr[oa]s?(?! (?:vez|veces|cosa))|"
    r"tambien|ademas|aparte)\b"
)
"""Says that something comes in addition to what there was."""
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[a-záéíóúñ,] )[A-ZÁÉÍÓÚÑ]\w+")
_COUNTS = concepts_of(" ".join(COUNTS))
_PERIODS = concepts_of("day week month quarter year")
_LANGUAGES = concepts_of(LANGUAGES)
_CURRENCIES = concepts_of(
    "euro euros dollar dollars dolar dolares pound pounds libra libras peso pesos yen yenes franc francs"
)
_AMOUNTS = concepts_of("earn save invest put spend owe meto gasto aporto contribute salary rent budget presupuesto")
"""Concepts of things that have amounts: statements about different ones of these are about different amounts."""
_FLOWS = concepts_of("pay earn save invest put spend owe pago gano ahorro invierto meto gasto debo contribute")
"""Verbs of recurring amounts."""
_NOT_EXCLUSIVE = concepts_of(
    "am pay look need talk have like buy sell invest want trade hold go visit know meet eat drink watch follow study "
    "play"
)
"""Concepts that are true of several things at the same time."""
GENERIC = _PERIODS | concepts_of(
    "turn turned cumple cumplio cumplido am have want need see ver recibir receive hear "
    "plan decide decided hope think pensandolo believe going pay make made get give keep show send "
    "time times once twice veces vez euro euros dollar dollars "
    "pound pounds end wait delay postpone cut raise lower change extend shorten lengthen increase reduce double halve "
    "up upped down top topped bump hire replace appoint switch put set land "
    "subir bajar subido bajado aumentado reducido alargado acortado ampliado cambiado contratado sustituido "
    "subieron bajaron aumentaron decidido quiero pienso espero pasar "
    "pasado final quedan quedo left touch toco saber nada animado"
)
"""Concepts that do not identify the subject of a statement when two statements are compared."""
_PREPOSITIONS = {
    word: kind
    for kind, listed in {
        "for": "for para", "as": "as de como", "at": "at in en", "with": "with con", "by": "by por"
    }.items()
    for word in listed.split()
}  # fmt: skip
_INSTEAD = re.compile(
    r"\b(?:instead|rather than|en vez|en lugar|ya solo|(?:now|these days|nowadays|ahora) (?:\w+ )?(?:only|solo)\b|"
    r"(?:only|solo) (?=.*\b(?:now|nowadays|these days|ahora)\b))"
)
"""Says that one thing is so, and that others of its kind are not."""
_CONTRAST = re.compile(
    r"(?:,|,? and|,? but|,? y|,? pero) (?:not|no(?= (?:en|al?|de|con|por|para|el|la|una?|\d))) (?:(?:in|on|at|with|to|"
    r"for|en|al?|el|la|con|de|por|para|the|una?|an?) ){0,2}(?:[\d.,]+ ?[%€$]?(?: \w+){0,2}|[a-z]+)$|\b(?:i said|dije|"
    r"te dije|i told you) [^,;.]{1,40}?(?= but\b| pero\b|,|;|$)"
)
"""The part of a sentence that says what is not so, or was said before: "in 2029, not in 2027"; "I said 500 but it's
400"."""
_EVERY_DAY = re.compile(
    r"\b(?:every|each) (?:single )?(?:morning|afternoon|evening|night)\b|\b(?:cada|tod[oa]s l[oa]s) "
    r"(?:ma[nñ]anas?|tardes?|noches?)\b"
)
_CALENDAR = concepts_of(" ".join((*MONTHS, *OCCASION)))
_WORK = concepts_of("work")
_ATTITUDES = concepts_of(
    "like interest interested interesa interesan convence convencen trust fio into vegan vegetarian celiac"
)
_NOT_COUNTED = concepts_of("am have moment stock week month year day time times veces vez")


@dataclass(frozen=True, slots=True)
class Claims:
    """What a text claims about its writer.

    `attributes`: the values that it gives them. `ended`: what it says is over. `concepts`: those of the whole text.
    `relative`: the relative or acquaintance whom it is about; empty for the writer. `tells_act`: it tells a single act
    of that person. `sets_value`: it says that something got another value. `values_by_kind`: figures, years, names,
    periods, languages and currencies; `value_concepts`: the concepts of all of these. `occasions`: what restricts it.
    `verb`: the concept that it begins with, and the preposition after it. `sentence_values`, `sentence_denies`: the
    values and the denial of the whole sentence, of which the text may be one clause. `excludes_others`: it says that
    one thing is so, and that others of its kind are not.
    """

    attributes: tuple[Value, ...]
    ended: tuple[StatementEnd, ...]
    concepts: frozenset[str]
    is_denial: bool = False
    says_change: bool = False
    relative: str = ""
    is_list: bool = False
    tells_act: bool = False
    sets_value: bool = False
    values_by_kind: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    value_concepts: frozenset[str] = frozenset()
    occasions: frozenset[str] = frozenset()
    is_addition: bool = False
    is_past: bool = False
    names_occupation: bool = False
    verb: tuple[str, str] = ("", "")
    sentence_values: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    sentence_denies: bool = False
    excludes_others: bool = False


@lru_cache(maxsize=4_000)
def claims(text: str) -> Claims:
    """Returns what a text claims about its writer; questions claim nothing. Cached, because facts are compared
    often."""
    sentences = statements(text)
    assertions = [_without_contrast(sentence) for sentence in sentences]
    normalized = _EVERY_DAY.sub("every day", normalize(" ".join(assertions)))
    relative = _RELATIVE.match(normalized)
    values_by_kind = _values_by_kind(" ".join(assertions))
    if relative:
        attributes = relative_values(relative["who"], normalized)
    else:
        attributes = [value for sentence in assertions for value in attribute_values(sentence)]
    return Claims(
        attributes=tuple(dict.fromkeys(attributes)),
        ended=tuple(
            dict.fromkeys(
                ending for sentence in assertions for ending in endings(_EVERY_DAY.sub("every day", sentence))
            )
        ),
        concepts=concepts_of(normalized),
        is_denial=bool(_DENIED.search(normalized))
        and not _NOT_WHOLLY.search(normalized)
        and not _NOT_HATED.search(normalized),
        says_change=says_change(normalized) or assertions != sentences or bool(_NOT_HATED.search(normalized)),
        relative=concept(relative["who"]) if relative else "",
        is_list=bool(_LISTING.search(normalized)),
        tells_act=bool(_SINGLE_ACT.search(" ".join(assertions).lower())),
        sets_value=bool(_REVALUES.search(normalized)),
        values_by_kind=values_by_kind,
        sentence_values=values_by_kind,
        sentence_denies=bool(_DENIED.search(normalized)),
        value_concepts=_COUNTS.union(*values_by_kind.values()),
        occasions=occasions_in(normalized),
        is_addition=bool(_ADDS.search(normalized)),
        is_past=bool(_PAST.search(normalized) or _DONE.match(" ".join(assertions).lower())),
        names_occupation=bool(occupation_in(normalized.strip(" .!"))),
        verb=_verb(without_adverbs(normalized)),
        excludes_others=bool(_INSTEAD.search(normalized)),
    )


def denies(text: str) -> bool:
    """Whether a text says that something is not so, or is over."""
    return bool(_DENIED.search(normalize(text)) or endings(text))


def _verb(normalized: str) -> tuple[str, str]:
    """Returns the first concept of a normalized text, and the preposition among the two words after it, or ""."""
    verb = next(iter(significant_words(normalized)), "")
    text_words = words(normalized)
    index = next((position for position, word in enumerate(text_words) if concept(word) == verb), len(text_words))
    return verb, next((_PREPOSITIONS[word] for word in text_words[index + 1 : index + 3] if word in _PREPOSITIONS), "")


def _without_contrast(sentence: str) -> str:
    """Returns a sentence without the contrast that says what is not so."""
    folded_sentence = folded_in_place(sentence.replace("’", "'")).rstrip(" .!")
    match = _CONTRAST.search(folded_sentence)
    return (
        sentence
        if match is None or match.start() < MIN_SENTENCE_LETTERS
        else f"{sentence[: match.start()]}{sentence[match.end() :]}"
    )


def _values_by_kind(text: str) -> dict[str, frozenset[str]]:
    """Returns the values of a text by kind, without empty kinds."""
    normalized = _EVERY_DAY.sub("every day", without_adverbs(normalize(text)))
    text_words = words(normalized)
    figures = {
        *_FIGURE.findall(normalized),
        *(COUNTS[word] for word in text_words if word in NUMBERS or word == "twice"),
    }
    years = {figure for figure in figures if re.fullmatch(r"(?:19|20)\d\d", figure)}
    concepts = concepts_of(normalized)
    values_by_kind = {
        "figure": figures - years,
        "year": years,
        "name": concepts_of(" ".join(_NAME.findall(text))) - _LANGUAGES,
        "period": concepts & _PERIODS,
        "language": concepts & _LANGUAGES,
        "currency": concepts & _CURRENCIES,
    }
    return {kind: frozenset(values) for kind, values in values_by_kind.items() if values}


def replaces(new: Claims, old: Claims) -> bool:
    """Whether the newer claims replace the older ones, or end them."""
    if _are_two_events(new, old):
        return False
    if any(are_incompatible(value, old_value) for value in new.attributes for old_value in old.attributes):
        return True
    if any(not ending.needs_sole_match and _is_ended(ending, new, old) for ending in new.ended):
        return True
    return _contradicts(new, old)


def may_replace(new: Claims, old: Claims) -> bool:
    """Whether the newer claims replace the older ones, provided that no others can be meant: "I switched to Delta"."""
    if _are_two_events(new, old):
        return False
    ended = new.relative == old.relative and any(
        ending.needs_sole_match and can_end(ending, old.concepts) and not old.ended for ending in new.ended
    )
    return ended or any(rule(new, old) for rule in (_changes_value, _changes_object, _corrects_figure))


def _are_two_events(new: Claims, old: Claims) -> bool:
    """Whether both tell when something got a value, at different times and with different figures: both happened."""
    when, figure = (new.occasions, old.occasions), (new.values_by_kind.get("figure"), old.values_by_kind.get("figure"))
    return new.sets_value and old.sets_value and all((*when, *figure)) and when[0] != when[1] and figure[0] != figure[1]


def ends_only(new: Claims) -> bool:
    """Whether a statement says that something is over, and does not say what comes instead."""
    return bool(new.ended) and not new.attributes and not any(ending.has_replacement for ending in new.ended)


def has_named_replacement(new: Claims, replaced: Iterable[Claims]) -> bool:
    """Whether a statement that ended others names a person or place that none of them names: "… and went to Monzo"."""
    known = frozenset[str]().union(*(replaced_claims.concepts for replaced_claims in replaced))
    return bool(known and new.values_by_kind.get("name", frozenset()) - known - _CALENDAR)


def is_attitude(fact: Claims) -> bool:
    """Whether a fact is about an attitude, whose end is worth remembering too: bored by options, no longer vegan."""
    return bool(fact.concepts & _ATTITUDES)


def _is_ended(ending: StatementEnd, new: Claims, old: Claims) -> bool:
    concepts = old.concepts | _WORK if old.names_occupation else old.concepts
    if (
        old.is_denial
        or old.tells_act
        or ending in old.ended
        or not can_end(ending, concepts)
        or (old.relative and old.relative not in (new.relative, *new.concepts) and not ending.anyone)
        or (new.relative and not old.relative and new.relative not in ending.concepts and not ending.anyone)
    ):
        return False
    if not ending.concepts:
        return bool(ending.one_of & concepts) and len(_other_words(old, ending.one_of)) <= 2 * MAX_OTHER_WORDS
    return ending.concepts <= old.concepts and _covers_most_of(ending.concepts, old)


def are_about_same_person(new: Claims, old: Claims) -> bool:
    """Whether both are about the same person: "my daughter Emma is 9", "Emma turned 10"."""
    return new.relative == old.relative or (
        not new.relative and new.verb[0] in old.values_by_kind.get("name", frozenset())
    )


def _changes_value(new: Claims, old: Claims) -> bool:
    """Whether both say the same except for a value of one kind (a figure, how often, who or where), and the newer says
    that it is different now. If each also mentions something else, they are about two things."""
    if (
        not are_about_same_person(new, old)
        or new.is_denial
        or old.is_denial
        or old.tells_act
        or old.is_past
        or new.is_addition
        or not (new.says_change or new.sets_value)
    ):
        return False
    shared = (new.concepts & old.concepts) - GENERIC
    if not shared and not new.concepts - GENERIC - new.value_concepts:  # "now 350 a month"
        alike = old.values_by_kind.get("period") or new.concepts & old.concepts & _FLOWS
        return bool(alike and old.values_by_kind.get("figure")) and all(
            new.values_by_kind.get(kind) and new.values_by_kind[kind] != values
            if kind == "figure"
            else new.values_by_kind.get(kind) == values
            for kind, values in old.values_by_kind.items()
        )
    if (
        not shared
        or (shared <= _AMOUNTS and not old.concepts & _AMOUNTS <= new.concepts)
        or old.occasions != new.occasions & old.occasions
    ):
        return False
    before, after = (
        old.concepts - new.concepts - GENERIC - old.value_concepts,
        new.concepts - old.concepts - GENERIC - new.value_concepts,
    )
    before, after = (frozenset(word for word in rest if not word[0].isdigit()) for rest in (before, after))
    another = new.sets_value and len(before) == len(after) == 1  # I widened my stops, which were stop losses
    if (before and after and not another) or len(before) > MAX_OTHER_WORDS:
        return False
    return any(
        values - new.values_by_kind.get(kind, values) and new.values_by_kind[kind] - values
        for kind, values in old.values_by_kind.items()
        if kind != "name" or not new.concepts & old.concepts & _NOT_EXCLUSIVE
    )


def _corrects_figure(new: Claims, old: Claims) -> bool:
    """Whether the newer claims name the older figure, deny it or are about the same thing, and name the figure that it
    is now: "55 isn't realistic, I'm aiming for 62 now"."""
    if (
        new.relative != old.relative
        or old.is_denial
        or old.tells_act
        or old.is_past
        or new.is_addition
        or not new.says_change
    ):
        return False
    if not (new.sentence_denies or (new.concepts & old.concepts) - GENERIC - new.value_concepts):
        return False
    return any(
        values < new.sentence_values.get(kind, frozenset()) and len(new.sentence_values[kind]) == len(values) + 1
        for kind, values in old.values_by_kind.items()
        if kind in ("figure", "year")
    )


def _changes_object(new: Claims, old: Claims) -> bool:
    """Whether something that is done in one way at a time is now done in another: the same verb with another object,
    under the same conditions. "I save for a trip", "now I save for a car"; "I trade US stocks", "now I only trade
    European ones"."""
    if (
        new.relative
        or old.relative
        or new.is_denial
        or old.is_denial
        or old.tells_act
        or old.is_past
        or new.is_addition
        or not new.says_change
    ):
        return False
    verb, preposition = new.verb
    if verb != old.verb[0] or new.occasions != old.occasions:
        return False
    if not (new.excludes_others or (preposition and preposition == old.verb[1] and verb not in _NOT_EXCLUSIVE)):
        return False
    return bool(new.concepts - old.concepts) and bool(old.concepts - new.concepts)


def _contradicts(new: Claims, old: Claims) -> bool:
    """Whether one denies what the other says: of the same person, in the same words."""
    if new.relative != old.relative or new.is_denial == old.is_denial or new.ended or old.ended:
        return False
    if (
        not new.is_denial
        and new.says_change
        and (about := old.concepts - GENERIC - _ATTITUDES)
        and about <= new.concepts
    ):
        return True
    telling = new.concepts - {"be", "have"}
    if new.is_denial:
        return bool(telling) and new.concepts <= old.concepts and _covers_most_of(new.concepts, old)
    return bool(telling) and (old.concepts == new.concepts or (new.says_change and old.concepts <= new.concepts))


def _covers_most_of(covered: frozenset[str], old: Claims) -> bool:
    remaining = _other_words(old, covered)
    return len(remaining) <= MAX_OTHER_WORDS and not (remaining and old.is_list)


def _other_words(old: Claims, covered: frozenset[str]) -> list[str]:
    return [word for word in old.concepts - covered if word not in _NOT_COUNTED and not word[0].isdigit()]
