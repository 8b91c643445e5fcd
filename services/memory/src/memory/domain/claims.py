"""What a statement claims about its writer, in a form in which two statements can be compared (`replacement`)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from contracts.calendar_names import MONTHS, NUMBERS
from memory.domain.long_term.attributes import (
    Value,
    attribute_values,
    relative_values,
    without_adverbs,
)
from memory.domain.long_term.concepts import COUNTS, FILLER_WORDS, concept, concepts_of, normalize, significant_words
from memory.domain.long_term.course import says_change
from memory.domain.long_term.endings import StatementEnd, endings, occupation_in
from memory.domain.long_term.slots import LANGUAGES, occasions_in
from memory.domain.long_term.speech import folded_in_place, statements
from memory.domain.recall.words import words

MIN_SENTENCE_LETTERS = 8
"""Letters that a sentence must have before a contrast that is removed from it."""
_DENIED = re.compile(
    r"\b(?:not|never|hardly|barely|no|nunca|jamas|apenas|hates?|hated|odi[oa]|detest[oa]|aborrezco|dislikes?|"
    r"can not stand)\b(?! (?:longer|only|just|solo)\b)"
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
    r"mother|mom|mum|father|dad|parents?|uncles?|aunts?|cousins?|friends?|buddy|mates?|pals?|grand(?:father|mother|"
    r"d?ad|"
    r"mum|mom|pa|ma|parents?|sons?|daughters?|child|children|kids?)|granny|neighbou?rs?|nieces?|nephews?|(?:step|"
    r"god)(?:father|mother|"
    r"sons?|daughters?|brother|sister)|fiancee?|ex|in-laws|(?:room|flat|house|class|team)mates?|colleagues?|"
    r"co-?workers?|mujer|esposa|esposo|marido|pareja|novi[oa]|hij[oa]s?|herman[oa]s?|madre|mama|padres?|papa|ti[oa]s?|"
    r"prim[oa]s?|amig[oa]s?|(?:bis)?abuel[oa]s?|vecin[oa]s?|suegr[oa]s?|sobrin[oa]s?|(?:bis)?niet[oa]s?|cunad[oa]s?|"
    r"yerno|"
    r"nuera|prometid[oa]|ahijad[oa]s?|padrin[oa]|madrina|padrastro|madrastra|hijastr[oa]s?|hermanastr[oa]s?|"
    r"companer[oa]s?|com(?:p|)adres?|cuates?|colegas?|soci[oa]s?|tenants?|lodgers?|inquilin[oa]s?"
)
_WHICH_PERSON = r"(?:late|older|elder|oldest|eldest|younger|youngest|big|little|great|difunt[oa])"
_IN_LAW = r"(?:(?:mo|fa|bro)ther|sister|son|daughter)-in-law"
PERSON = re.compile(rf"\b(?:my|our|mi|mis|nuestr[oa]s?) (?:{_WHICH_PERSON}[ -])?(?P<who>{_IN_LAW}|{PEOPLE})\b")
"""A relative or acquaintance of the writer."""
_RELATIVE = re.compile(
    rf"^(?:[^,]{{0,15}}, |(?:since|desde|now|ahora) (?:\w+ ){{0,2}}?)?(?:a )?{PERSON.pattern}"
    r"(?! (?:and i|y yo)\b|'s name| se llama| is (?:called|named))"
)
_SUBJECT = re.compile(
    r"^(?:[^,]{0,15}, )?(?:my|our|mis?|nuestr[oa]s?) (?P<what>\w+) (?:is|are|was|were|do|does|has|have|ya no|no)\b"
)
"""A thing or animal of the writer's, of which the sentence says something."""
_THING = re.compile(r"\b(?:my|our|the|mis?|nuestr[oa]s?|el|l[ao]s?) (?P<what>[a-z]+(?: [a-z]+){0,3})")
_NOUN_END = re.compile(
    r" (?=(?:is|are|was|were|will|has|have|had|went|goes|got|just|now|on|in|at|to|from|by|with|up|down|than|"
    r"\w{3,}ed|es|son|esta|estan|era|sera|sube|ha|han|se|me|nos|ahora|ya|en|al?|con|por|que|y|and|until|"
    r"hasta|no|not|then|so|i|we)\b)"
)
"""Where a noun with its determiners ends."""
_UNIT = re.compile(r"\d ?([%€$£]|[a-z]+)")
_LIKED = (
    r"(?:likes?|loves?|enjoys?|keen|into|fan|fond|trusts?|believes?|interested|comfortable|happy with|"
    r"gustan?|encantan?|interesan?|atraen?|convencen?|confio|fio|creo en|a favor)\b"
)
_DISLIKES = re.compile(
    rf"\b(?:not|never|no|nunca|nada|jamas) (?:\w+ ){{0,3}}?{_LIKED}|\b(?:against|hates?|dislikes?|distrusts?|wary|"
    rf"avoids?|"
    r"can not (?:stand|bear)|scares?|afraid|odio|detesto|aborrezco|desconfio|evito|en contra|miedo)\b"
)
_LIKES = re.compile(rf"\b(?:{_LIKED}|(?:cog|pill|tom)(?:ido|iendo|ado|ando) (?:el )?gusto\b|reconciled|won over)")
ATTITUDE_WORDS = concepts_of(
    "like love enjoy keen into fan fond trust believe interested comfortable happy gusta encanta interesa atrae "
    "convence "
    "confio fio creo favor against hate dislike distrust wary avoid stand bear scare afraid odio desconfio evito "
    "contra "
    "miedo gusto cogido pillado tomado come came grown fair big nada mas bit quite muy ya poco"
)
_MEASURE = re.compile(
    rf"\b(?P<count>\d[\d.,]*|{'|'.join(NUMBERS)}) ?(?P<unit>[%€$£]|[a-z]+) (?:an?|per|each|every|al?|a la|por|cada) "
    r"(?P<period>day|week|month|quarter|year|dia|semana|mes|trimestre|ano)\b"
)
_CHANGE_OF_MIND = re.compile(
    r"\bchang(?:ed?|ing) (?:my|our|his|her|their|of) (?:minds?|plans?|heart)\b|"
    r"\bcambi(?:ado|o|e|amos|aron) de (?:idea|opinion|planes)\b"
)
_DEED = re.compile(
    r"\w{3,}(?:ed|ado|ido)|began|begun|took|taken|put|went|gone|got|(?:llev|pas|traslad|cambi)(?:e|amos)"
)
_TOO_MUCH = re.compile(
    r"\b(?:too (?:much|little|high|low|many|few|long|short|late|early|soon|optimistic|ambitious)|not enough|"
    r"demasiad[oa]s?|(?:es|era|son|eran|parece|parecen) (?:muy )?(?:much[oa]s?|poc[oa]s?|excesiv[oa]))\b"
)
_SINGLE_ACT = re.compile(
    r"^(?:[^,]{0,15}, )?(?:my|our|mis?|nuestr[oa]s?) \w+(?: (?!(?:is|are|es|esta)\b)\w+){0,2}? "
    r"(?:left|gave|bought|taught|told|lent|sold|won|"
    r"lost|built|made|was|were|had|(?!(?:called|named)\b)\w{3,}ed|dio|fue|hizo|tuvo|trajo|dijo|puso|era|"
    r"\w+(?:ó|aron|ieron))\b|^(?:[^,]{0,15}, )?(?:mis?|nuestr[oa]s?) \w+ (?:(?:se|me|nos) )?\w+(?:aba|ía)\b"
)
"""A single act of such a person: it remains true even after they have died or gone."""
_REVALUES = re.compile(
    r"\b(?:raised|lowered|increased|reduced|cut|extended|shortened|lengthened|upped|topped up|bumped|postponed|delayed|"
    r"pushed back|brought forward|doubled|halved|changed|refinanced|renegotiated|"
    r"\w{3,}ed (?=(?:my|our) (?:\w+ ){1,3}(?:to|from) \d)|"
    r"(?:put|went|gone|moved|set|transferred|shifted|rolled|switched) (?:\w+ ){0,4}?(?:up|down|to)|"
    r"hired|replaced|appointed|switched|"
    r"(?:new|another) (?=\w+, )|from now on|subi(?:o|eron|do)?|baj(?:o|e|aron|ado)|aument(?:o|e|aron|ado)|"
    r"redu(?:je|jo|cido)|recort(?:e|o|ado)|alarg(?:ue|o|ado)|re(?:financi|negoci)(?:e|amos|ado)|acort(?:e|o|ado)|"
    r"ampli(?:e|o|ado)|cambi(?:e|o|ado|aron)|"
    r"\b(?:down|up) to|(?:se )?(?:ha|han) quedado en|se (?:ha|han) (?:pasado|movido|aplazado) al?\b|"
    r"(?:llev|traslad|pas)(?:e|amos|ado) (?:la|el|mi|nuestr[oa]) (?:\w+ ){1,2}?a |"
    r"(?:from|as of|desde|a partir de|starting(?: in)?) "
    rf"(?:el |next |this |este |enero )?(?:{'|'.join(MONTHS)})|(?:me|nos) han (?:revisado|renovado|actualizado)|"
    rf"aplaz(?:o|e|ado)|retras(?:o|e|ado)|adelant(?:o|e|ado)|"
    r"contrat(?:e|amos|ado)|sustitui\w*|reemplaz\w*)\b"
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
PERIODS = concepts_of("day week month quarter year")
_LANGUAGES = concepts_of(LANGUAGES)
_CURRENCIES = concepts_of(
    "euro euros dollar dollars dolar dolares pound pounds libra libras peso pesos yen yenes franc francs"
)
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
_ONLY = re.compile(r"\b(?:only|solo|solamente)\b(?! (?:un|una|a|an|\d))")
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


@dataclass(frozen=True, slots=True)
class Claims:
    """What a text claims about its writer.

    `attributes`: the values that it gives them. `ended`: what it says is over. `concepts`: those of the whole text.
    `relative`: the relative or acquaintance whom it is about; empty for the writer. `subject`: the thing of the
    writer's that it begins with. `tells_act`: it tells a single act
    of that person. `sets_value`: it says that something got another value. `values_by_kind`: figures, years, names,
    periods, languages and currencies; `value_concepts`: the concepts of all of these. `occasions`: what restricts it.
    `verb`: the concept that it begins with, and the preposition after it. `sentence_values`, `sentence_denies`: the
    values and the denial of the whole sentence, of which the text may be one clause. `excludes_others`: it says that
    one thing is so, and that others of its kind are not. `is_limit`: it says that only one is. `things`: the
    definite things of the writer's that it names, each as its concepts. `units`: of its figures. `is_too_much`: it
    says that something is too much or too little. `deeds`: words for what was done. `attitude`:
    "for" or "against" something. `measures`: numbers by what they count in which period.
    """

    attributes: tuple[Value, ...]
    ended: tuple[StatementEnd, ...]
    concepts: frozenset[str]
    is_denial: bool = False
    says_change: bool = False
    relative: str = ""
    subject: frozenset[str] = frozenset()
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
    is_limit: bool = False
    things: frozenset[frozenset[str]] = frozenset()
    units: frozenset[str] = frozenset()
    is_too_much: bool = False
    is_change_of_mind: bool = False
    deeds: frozenset[str] = frozenset()
    attitude: str = ""
    measures: Mapping[str, str] = field(default_factory=dict[str, str])


@lru_cache(maxsize=4_000)
def claims(text: str) -> Claims:
    """Returns what a text claims about its writer; questions claim nothing. Cached, because facts are compared
    often."""
    sentences = statements(text)
    assertions = [_without_contrast(sentence) for sentence in sentences]
    normalized = _EVERY_DAY.sub("every day", normalize(" ".join(assertions)))
    relative, subject = _RELATIVE.match(normalized), _SUBJECT.match(normalized)
    values_by_kind = _values_by_kind(" ".join(assertions))
    if relative:
        attributes = relative_values(concept(relative["who"]), normalized)
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
        subject=concepts_of(subject["what"]) if subject else frozenset(),
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
        is_limit=bool(_ONLY.search(normalized)),
        things=_things(normalized),
        units=frozenset(concept(unit) for unit in _UNIT.findall(normalized) if unit not in FILLER_WORDS)
        - PERIODS
        - _CURRENCIES,
        attitude=_attitude(normalized),
        measures={
            f"{concept(match['unit'])} {concept(match['period'])}": COUNTS.get(match["count"], match["count"])
            for match in _MEASURE.finditer(normalized)
        },
        is_too_much=bool(_TOO_MUCH.search(normalized)),
        is_change_of_mind=bool(_CHANGE_OF_MIND.search(normalized)),
        deeds=frozenset(concept(word) for word in words(normalized) if _DEED.fullmatch(word)),
    )


def _attitude(normalized: str) -> str:
    if _DISLIKES.search(normalized):
        return "against"
    return "for" if _LIKES.search(normalized) else ""


def _things(normalized: str) -> frozenset[frozenset[str]]:
    """Returns the definite things that a normalized text names, as concepts: "my emergency fund", "la boda"."""
    text = PERSON.sub(" ", normalized)
    return frozenset(
        thing for match in _THING.finditer(text) if (thing := concepts_of(_NOUN_END.split(match["what"])[0])) - PERIODS
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
        "period": concepts & PERIODS,
        "language": concepts & _LANGUAGES,
        "currency": concepts & _CURRENCIES,
    }
    return {kind: frozenset(values) for kind, values in values_by_kind.items() if values}
