"""What a statement says of its writer, and whether one that came later makes an older one untrue.

"I live in Lima" and later "I moved to Bogotá" give one attribute two values; "I no longer trade options" ends what was
said before; "I don't like penny stocks" denies it. Where nothing of the kind is recognised nothing is replaced: an old
fact that stays costs less than one that is taken away wrongly.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from contracts.calendar_names import MONTHS, NUMBERS
from memory.domain.long_term.attributes import Value, differ, of_relative, says_change, values, without_adverbs
from memory.domain.long_term.concepts import COUNTS, concept, content, plain, significant_words
from memory.domain.long_term.endings import StatementEnd, ended_by, endings, role_in
from memory.domain.long_term.slots import LANGUAGES, OCCASION, restrictions
from memory.domain.long_term.speech import same_length, statements
from memory.domain.recall.words import words

SHORTEST = 8
"""Letters of a sentence before what it says is not so."""
LEFT_OVER = 2
"""Words that a statement may have beside those that are ended, and still be the statement that is meant."""
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
"""Somebody of the writer's."""
_RELATIVE = re.compile(rf"^(?:[^,]{{0,15}}, )?{PERSON.pattern}(?!'s name| se llama)")
_DID = re.compile(
    r"^(?:[^,]{0,15}, )?(?:my|our|mis?|nuestr[oa]s?) \w+(?: (?!(?:is|are|es|esta)\b)\w+){0,2}? "
    r"(?:left|gave|bought|taught|told|lent|sold|won|"
    r"lost|built|made|was|were|had|(?!(?:called|named)\b)\w{3,}ed|dio|fue|hizo|tuvo|trajo|dijo|puso|era|"
    r"\w+(?:ó|aron|ieron))\b|^(?:[^,]{0,15}, )?(?:mis?|nuestr[oa]s?) \w+ (?:(?:se|me|nos) )?\w+(?:aba|ía)\b"
)
"""What somebody did once: it stays true when they have died or gone, too."""
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
"""Says what was so once, or happened: it stays true."""
_DONE = re.compile(r"(?:(?:i|we) \w{3,}ed\b|(?:(?:yo|me|nos|lo|la|le) )*(?!sé\b)\w{2,}[éí]\b)")
_ADDS = re.compile(
    r"\b(?:another|also|too(?! \w)|as well|second|besides|apart from|otr[oa]s?(?! (?:vez|veces|cosa))|"
    r"tambien|ademas|aparte)\b"
)
"""Says that something comes beside what there was."""
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[a-záéíóúñ,] )[A-ZÁÉÍÓÚÑ]\w+")
_COUNTS = content(" ".join(COUNTS))
_PERIODS = content("day week month quarter year")
_LANGUAGES = content(LANGUAGES)
_CURRENCIES = content(
    "euro euros dollar dollars dolar dolares pound pounds libra libras peso pesos yen yenes franc francs"
)
_AMOUNTS = content("earn save invest put spend owe meto gasto aporto contribute salary rent budget presupuesto")
"""Concepts of what has an amount: who speaks of another of them speaks of another amount."""
_FLOWS = content("pay earn save invest put spend owe pago gano ahorro invierto meto gasto debo contribute")
"""Verbs of an amount that comes again."""
_MANY = content(
    "am pay look need talk have like buy sell invest want trade hold go visit know meet eat drink watch follow study "
    "play"
)
"""Concepts that hold of several things at a time."""
GENERIC = _PERIODS | content(
    "turn turned cumple cumplio cumplido am have want need see ver recibir receive hear "
    "plan decide decided hope think pensandolo believe going pay make made get give keep show send "
    "time times once twice veces vez euro euros dollar dollars "
    "pound pounds end wait delay postpone cut raise lower change extend shorten lengthen increase reduce double halve "
    "up upped down top topped bump hire replace appoint switch put set land "
    "subir bajar subido bajado aumentado reducido alargado acortado ampliado cambiado contratado sustituido "
    "subieron bajaron aumentaron decidido quiero pienso espero pasar "
    "pasado final quedan quedo left touch toco saber nada animado"
)
"""Concepts that say nothing of what a statement is about when two are compared."""
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
"""Says that the one thing is so, and others of the kind are not."""
_CONTRAST = re.compile(
    r"(?:,|,? and|,? but|,? y|,? pero) (?:not|no(?= (?:en|al?|de|con|por|para|el|la|una?|\d))) (?:(?:in|on|at|with|to|"
    r"for|en|al?|el|la|con|de|por|para|the|una?|an?) ){0,2}(?:[\d.,]+ ?[%€$]?(?: \w+){0,2}|[a-z]+)$|\b(?:i said|dije|"
    r"te dije|i told you) [^,;.]{1,40}?(?= but\b| pero\b|,|;|$)"
)
"""What it is not, or was said to be before: "in 2029, not in 2027"; "I said 500 but it's 400"."""
_EVERY_DAY = re.compile(
    r"\b(?:every|each) (?:single )?(?:morning|afternoon|evening|night)\b|\b(?:cada|tod[oa]s l[oa]s) "
    r"(?:ma[nñ]anas?|tardes?|noches?)\b"
)
_CALENDAR = content(" ".join((*MONTHS, *OCCASION)))
_WORK = content("work")
_ATTITUDES = content(
    "like interest interested interesa interesan convence convencen trust fio into vegan vegetarian celiac"
)
_NOT_COUNTED = content("am have moment stock week month year day time times veces vez")


@dataclass(frozen=True, slots=True)
class Claims:
    """`made`: what attributes are said to be; `ended`: what is said to be over; `words`: the concepts of all of it;
    `denied`: it says that something is not so; `changed`: it says that something is different now; `of`: the relative
    of whom it speaks, empty for the writer; `listing`: it speaks of several things at once; `did`: it tells what
    somebody of the writer's did once; `past`: it tells what was once; `revalues`: it says that something has got
    another value; `given`: its values by their class (figures, years, names, periods, languages, currencies), `values`
    the concepts of all of these; `where`: what restricts it; `adds`: it says that something comes beside what there
    was; `occupation`: it says what its writer does for a living; `verb`: the concept that it begins with, and the
    preposition behind it; `named`: the values of its whole sentence; `corrects`: that says that something is
    not so; `instead`: it says that one thing is so and others of its kind are not."""

    made: tuple[Value, ...]
    ended: tuple[StatementEnd, ...]
    words: frozenset[str]
    denied: bool = False
    changed: bool = False
    of: str = ""
    listing: bool = False
    did: bool = False
    revalues: bool = False
    given: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    values: frozenset[str] = frozenset()
    where: frozenset[str] = frozenset()
    adds: bool = False
    past: bool = False
    occupation: bool = False
    verb: tuple[str, str] = ("", "")
    named: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    corrects: bool = False
    instead: bool = False


@lru_cache(maxsize=4_000)
def claims(text: str) -> Claims:
    """What a text says of its writer; a question says nothing. Kept, for facts are compared often."""
    written = statements(text)
    every = [_without_contrast(one) for one in written]
    said = _EVERY_DAY.sub("every day", plain(" ".join(every)))
    relative = _RELATIVE.match(said)
    given = _given(" ".join(every))
    made = [value for one in every for value in values(one)] if not relative else []
    if relative:
        made = of_relative(relative["who"], said)
    return Claims(
        made=tuple(dict.fromkeys(made)),
        ended=tuple(dict.fromkeys(ending for one in every for ending in endings(_EVERY_DAY.sub("every day", one)))),
        words=content(said),
        denied=bool(_DENIED.search(said)) and not _NOT_WHOLLY.search(said) and not _NOT_HATED.search(said),
        changed=says_change(said) or every != written or bool(_NOT_HATED.search(said)),
        of=concept(relative["who"]) if relative else "",
        listing=bool(_LISTING.search(said)),
        did=bool(_DID.search(" ".join(every).lower())),
        revalues=bool(_REVALUES.search(said)),
        given=given,
        named=given,
        corrects=bool(_DENIED.search(said)),
        values=_COUNTS.union(*given.values()),
        where=restrictions(said),
        adds=bool(_ADDS.search(said)),
        past=bool(_PAST.search(said) or _DONE.match(" ".join(every).lower())),
        occupation=bool(role_in(said.strip(" .!"))),
        verb=_verb(without_adverbs(said)),
        instead=bool(_INSTEAD.search(said)),
    )


def denies(text: str) -> bool:
    """Whether a text says that something is not so, or is over."""
    return bool(_DENIED.search(plain(text)) or endings(text))


def _verb(said: str) -> tuple[str, str]:
    """What a plain text begins with, and the preposition that comes next or behind one more word."""
    verb = next(iter(significant_words(said)), "")
    every = words(said)
    at = next((place for place, word in enumerate(every) if concept(word) == verb), len(every))
    return verb, next((_PREPOSITIONS[word] for word in every[at + 1 : at + 3] if word in _PREPOSITIONS), "")


def _without_contrast(written: str) -> str:
    """A sentence without what it says is not so, beside what is."""
    low = same_length(written.replace("’", "'")).rstrip(" .!")
    match = _CONTRAST.search(low)
    return (
        written if match is None or match.start() < SHORTEST else f"{written[: match.start()]}{written[match.end() :]}"
    )


def _given(written: str) -> dict[str, frozenset[str]]:
    """The values of a text, by their class; a class that has none is left out."""
    said = _EVERY_DAY.sub("every day", without_adverbs(plain(written)))
    every = words(said)
    figures = {*_FIGURE.findall(said), *(COUNTS[word] for word in every if word in NUMBERS or word == "twice")}
    years = {one for one in figures if re.fullmatch(r"(?:19|20)\d\d", one)}
    telling = content(said)
    found = {
        "figure": figures - years,
        "year": years,
        "name": content(" ".join(_NAME.findall(written))) - _LANGUAGES,
        "period": telling & _PERIODS,
        "language": telling & _LANGUAGES,
        "currency": telling & _CURRENCIES,
    }
    return {kind: frozenset(values) for kind, values in found.items() if values}


def replaces(new: Claims, old: Claims) -> bool:
    """Whether what was said later takes the place of what was said before, or ends it."""
    if _two_events(new, old):
        return False
    if any(differ(value, held) for value in new.made for held in old.made):
        return True
    if any(not ending.sole and _over(ending, new, old) for ending in new.ended):
        return True
    return _contradicts(new, old)


def may_replace(new: Claims, old: Claims) -> bool:
    """Whether it does so if the older one is the only one that can be meant: "I switched to Delta"."""
    if _two_events(new, old):
        return False
    ended = new.of == old.of and any(
        ending.sole and ended_by(ending, old.words) and not old.ended for ending in new.ended
    )
    return ended or any(rule(new, old) for rule in (_changes, _takes_over, _from_one_to_another))


def _two_events(new: Claims, old: Claims) -> bool:
    """Whether both tell when something got a value, each another time and another figure: both happened."""
    when, figure = (new.where, old.where), (new.given.get("figure"), old.given.get("figure"))
    return new.revalues and old.revalues and all((*when, *figure)) and when[0] != when[1] and figure[0] != figure[1]


def ends_only(new: Claims) -> bool:
    """Whether a statement says that something is over and puts nothing in its place."""
    return bool(new.ended) and not new.made and not any(ending.replaced for ending in new.ended)


def names_replacement(new: Claims, gone: Iterable[Claims]) -> bool:
    """Whether what ended others names somebody or some place that none of them does: "… and went to Monzo"."""
    known = frozenset[str]().union(*(one.words for one in gone))
    return bool(known and new.given.get("name", frozenset()) - known - _CALENDAR)


def is_attitude(fact: Claims) -> bool:
    """Whether it is worth knowing when it is over, too: whom options bore, who is no vegan any more."""
    return bool(fact.words & _ATTITUDES)


def _over(ending: StatementEnd, new: Claims, old: Claims) -> bool:
    held = old.words | _WORK if old.occupation else old.words
    if (
        old.denied
        or old.did
        or ending in old.ended
        or not ended_by(ending, held)
        or (old.of and old.of not in (new.of, *new.words) and not ending.whoever)
        or (new.of and not old.of and new.of not in ending.what and not ending.whoever)
    ):
        return False
    if not ending.what:
        return bool(ending.among & held) and len(_rest(old, ending.among)) <= 2 * LEFT_OVER
    return ending.what <= old.words and _all_but_a_little(ending.what, old)


def of_the_same(new: Claims, old: Claims) -> bool:
    """Whether both speak of one person: "my daughter Emma is 9", "Emma turned 10"."""
    return new.of == old.of or (not new.of and new.verb[0] in old.given.get("name", frozenset()))


def _changes(new: Claims, old: Claims) -> bool:
    """Whether one says what the other does but for a value of the same class: another figure, how often, who or where,
    and says that it is different now. Where both speak of something else besides, they are about two things."""
    if (
        not of_the_same(new, old)
        or new.denied
        or old.denied
        or old.did
        or old.past
        or new.adds
        or not (new.changed or new.revalues)
    ):
        return False
    shared = (new.words & old.words) - GENERIC
    if not shared and not new.words - GENERIC - new.values:  # "now 350 a month"
        alike = old.given.get("period") or new.words & old.words & _FLOWS
        return bool(alike and old.given.get("figure")) and all(
            new.given.get(kind) and new.given[kind] != values if kind == "figure" else new.given.get(kind) == values
            for kind, values in old.given.items()
        )
    if (
        not shared
        or (shared <= _AMOUNTS and not old.words & _AMOUNTS <= new.words)
        or old.where != new.where & old.where
    ):
        return False
    before, after = old.words - new.words - GENERIC - old.values, new.words - old.words - GENERIC - new.values
    before, after = (frozenset(one for one in rest if not one[0].isdigit()) for rest in (before, after))
    another = new.revalues and len(before) == len(after) == 1  # I widened my stops, which were stop losses
    if (before and after and not another) or len(before) > LEFT_OVER:
        return False
    return any(
        values - new.given.get(kind, values) and new.given[kind] - values
        for kind, values in old.given.items()
        if kind != "name" or not new.words & old.words & _MANY
    )


def _from_one_to_another(new: Claims, old: Claims) -> bool:
    """Whether one names the figure of the other, says that it is not so or speaks of the same thing, and names one that
    it is now: "55 isn't realistic, I'm aiming for 62 now"."""
    if new.of != old.of or old.denied or old.did or old.past or new.adds or not new.changed:
        return False
    if not (new.corrects or (new.words & old.words) - GENERIC - new.values):
        return False
    return any(
        values < new.named.get(kind, frozenset()) and len(new.named[kind]) == len(values) + 1
        for kind, values in old.given.items()
        if kind in ("figure", "year")
    )


def _takes_over(new: Claims, old: Claims) -> bool:
    """Whether what is done in one way at a time is done in another now: the same verb of another thing, under the same
    conditions. "I save for a trip", "now I save for a car"; "I trade US stocks", "now I only trade European ones"."""
    if new.of or old.of or new.denied or old.denied or old.did or old.past or new.adds or not new.changed:
        return False
    verb, preposition = new.verb
    if verb != old.verb[0] or new.where != old.where:
        return False
    if not (new.instead or (preposition and preposition == old.verb[1] and verb not in _MANY)):
        return False
    return bool(new.words - old.words) and bool(old.words - new.words)


def _contradicts(new: Claims, old: Claims) -> bool:
    """Whether one denies what the other says: of the same person, in the same words."""
    if new.of != old.of or new.denied == old.denied or new.ended or old.ended:
        return False
    if not new.denied and new.changed and (about := old.words - GENERIC - _ATTITUDES) and about <= new.words:
        return True
    telling = new.words - {"be", "have"}
    if new.denied:
        return bool(telling) and new.words <= old.words and _all_but_a_little(new.words, old)
    return bool(telling) and (old.words == new.words or (new.changed and old.words <= new.words))


def _all_but_a_little(what: frozenset[str], old: Claims) -> bool:
    rest = _rest(old, what)
    return len(rest) <= LEFT_OVER and not (rest and old.listing)


def _rest(old: Claims, what: frozenset[str]) -> list[str]:
    return [word for word in old.words - what if word not in _NOT_COUNTED and not word[0].isdigit()]
