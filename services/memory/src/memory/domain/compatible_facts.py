"""Why two statements both stay, though a model takes the later one for the end of the earlier one.

It must speak of the same thing, and say that it is over, denied, corrected or different now. What happened once (a
purchase, a visit) has happened for ever; another date, season, weekday or hour is another occasion.
"""

import re
from itertools import pairwise

from contracts.calendar_names import MONTHS, NUMBERS
from memory.domain.claims import (
    GENERIC,
    PEOPLE,
    PERSON,
    Claims,
    claims,
    may_replace,
    of_the_same,
    replaces,
)
from memory.domain.long_term.concepts import ACTIONS, concept, content, plain
from memory.domain.long_term.course import (
    FOR_NOW,
    HAS_HAPPENED,
    PARTLY,
    SO_NO_LONGER,
    has_ended,
    has_happened,
)
from memory.domain.long_term.endings import endings
from memory.domain.long_term.slots import OCCASION, restrictions
from memory.domain.long_term.speech import same_length
from memory.domain.recall.words import words
from memory.domain.relevant_facts import NO_THINGS, facets, kinds

_NUMBERS = content(" ".join(NUMBERS))
_CLAUSE = re.compile(r"[,;:—–(]|\b(?:and|but|y|pero)\b")
_CALLED = re.compile(r"(?:'s name is| is called| called| named| se llama|,)? (?P<name>[A-ZÁÉÍÓÚÑ]\w+)")
"""What somebody of the writer's is called."""
_PRONOUN = re.compile(r"\b(?:it|them|lo)\b|\bl[ao]s? \w+[éí]\b", re.I)
"""Names what the clause before it named."""
_SORT = re.compile(
    r"\b(?:my|our|the|an?) (?P<sort>[a-z]{3,}) (?P<thing>insurance|account|card|loan|policy|plan|fund|contract|"
    r"licen[cs]e|subscription|class|course|job)\b|\b(?P<cosa>\w{4,}) (?:de|del|de la) (?P<clase>[a-z]{3,})\b"
)
"""A thing, and what sort of it."""
_FIRST_PERSON = re.compile(r"\b(?:i|we|me|us|yo|nos|conmigo)\b")
_OWN = re.compile(r"\b(?:i|we|my|our|me|us|yo|nos|mis?|nuestr[oa]s?|ahora|ya|\w{2,}(?:é|í|oy|amos|emos|imos))\b", re.I)
"""Says that the writer speaks of themselves again."""
_SOMEBODY = re.compile(
    rf"(?<!with )(?<!con )(?<!for )(?<!para )(?<!from )"
    rf"\b(?:my|our|an?|the|mis?|nuestr[oa]s?|una?|el|l[ao]s?) (?P<who>{PEOPLE})\b"
)
"""Somebody else, who may be the one that does something."""
_ALSO = re.compile(r"\b(?:also|too(?! \w)|as well|tambien|ademas)\b")
"""Says that something comes beside what there was, whatever has ended."""
_SHE = re.compile(r"\W*(?:(?:now|so|then|ahora|luego) )?(?:s?he(?! \w+(?:ado|ido|cho|sto|rto)\b)|ella)\b")
"""A clause of somebody who was named before."""
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
    r"(?P<one>[^\W\d]\w+) (?:and|y|e) (?:(?:the|my|el|la|los|las|mis?) )?(?P<other>[^\W\d]\w+)"
    r"(?=\W*$|[,;.]| (?:in|on|at|for|with|but|from|since|en|para|con|pero|desde)\b)",
    re.I,
)
_LIKING = content("like prefer interesa interesan convence convencen atrae atraen interests appeals convinces")
_DOINGS = ACTIONS | content("smoke drink retire owe earn")
_DATE = re.compile(r"\b(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?: (?:of|de) (?P<month>[a-z]+))?")


def why_both_stay(said: str, old: str, quote: str | None = None) -> str | None:
    """None: what is said (a sentence of the user's) ends a fact; otherwise why it does not.

    `quote`: the words of it on which a model rests it, where the model proposes it of this fact and of no other. Then
    it is enough that something has happened since, or that the same is said with another figure; and the model is
    believed that both are about one thing, unless the words are of another person or of another kind of thing.
    """
    alone = quote is not None
    new, held = claims(said), claims(old)
    if both_stay(said, old):
        return "both_true" if _of_the_writer(said, held).strip(" .") else "other_thing"
    if replaces(new, held) or may_replace(new, held):
        return None
    if (new.of and held.of and new.of != held.of) or _of_another_sort(said, old):
        return "other_thing"
    own = _around(quote, _of_the_writer(said, held))
    plainly, before = plain(own), plain(old)
    ended = has_ended(plainly)
    over, corrects = ended or bool(SO_NO_LONGER.search(plainly)), bool(_CORRECTS.search(plainly))
    happened = alone and has_happened(own)
    linked = _telling(said) & held.words or (over and facets(said, forms=False) & facets(old, forms=False))
    shared = content(own) & held.words - GENERIC - {held.verb[0]}
    believed = alone and _speak_of_one(said, old) and bool(shared or not _of_other_kinds(own, old))
    if not linked and not (believed and (over or happened)):
        return "other_thing"
    if alone and PARTLY.search(plainly):
        return "both_true"
    once = _HAPPENED.match(before) or (HAS_HAPPENED.search(old.lower()) and not over)
    if not corrects and (once or (new.adds and not (alone and over and not _ALSO.search(plainly)))):
        return "both_true"
    if not corrects and not _MOVES.search(plainly) and _other_occasion(plainly, before):
        return "both_true"
    opposes = _affirms if held.denied else _denies
    denies = (alone or not held.denied) and any(opposes(one, held) for one in _clauses_of_the_writer(said, held))
    refigured = alone and _differ_in_a_figure(new, held)
    return None if over or corrects or denies or happened or refigured else "not_over"


def both_stay(said: str, old: str) -> bool:
    """Whether what is said can take nothing from a fact, however alike they are: it is of somebody else, of a part, or
    for a while."""
    held = claims(old)
    own = plain(_of_the_writer(said, held))
    if not own.strip(" ."):
        return True
    partly = any(PARTLY.search(one) and content(one) & held.words for one in own.split(", "))
    return partly or _is_of_one_of_two(own, old) or (bool(FOR_NOW.search(own)) and not has_ended(own))


def _is_of_one_of_two(said: str, old: str) -> bool:
    """Whether what is said names one of the two things that a fact puts side by side: "I trade gold and silver". Two
    names are no such things: "two goats, Salt and Pepper"."""
    pair = _PAIR.search(old)
    named = [] if pair is None or pair["one"].istitle() or pair["other"].istitle() else [pair["one"], pair["other"]]
    both = {concept(plain(one)) for one in named}
    return not both & _DOINGS and len(both & content(said)) == 1


def _around(quote: str | None, own: str) -> str:
    """The clauses that a quote is of; without one all of them."""
    telling = content(quote or "")
    return ", ".join(one for one in _CLAUSE.split(own) if quote is None or not (said := content(one)) or said & telling)


def _speak_of_one(said: str, old: str) -> bool:
    """Whether both speak of one person, or one names whom the other is about: "Raúl and I split up"."""
    new, held = claims(said), claims(old)
    if of_the_same(new, held):
        return True
    who = PERSON.search(same_length(old))
    called = _CALLED.match(old, who.end()) if who and not new.of else None
    return called is not None and concept(plain(called["name"])) in new.words


def _of_the_writer(said: str, held: Claims) -> str:
    """The clauses of a sentence without those in which only somebody else does something, of whom a fact does not
    speak."""
    return ", ".join(_clauses_of_the_writer(said, held))


def _clauses_of_the_writer(said: str, held: Claims) -> list[str]:
    found: list[str] = []
    another = False
    for one in _CLAUSE.split(said):
        # Who was spoken of last goes on doing it: "a colleague quit and went to Rome".
        another = _of_another(plain(one), held) or (another and not _OWN.search(one))
        if not another:
            found.append(one)
    return found


def _of_another(clause: str, held: Claims) -> bool:
    if _FIRST_PERSON.search(clause):
        return False
    who = _SOMEBODY.search(clause)
    return concept(who["who"]) not in held.words if who else bool(_SHE.match(clause))


def _of_other_kinds(said: str, old: str) -> bool:
    """Whether each speaks of a kind of thing, and they have none in common."""
    of, about = facets(said, forms=False) - NO_THINGS, kinds(old)
    return bool(of and about and not of & about)


def is_over(said: str, old: str) -> bool:
    """Whether a clause of a sentence names the thing of a fact, not only what is done with it, and says that it is over
    or other now."""
    held = claims(old)
    if not _speak_of_one(said, old) or held.did:
        return False
    every = _clauses_of_the_writer(said, held)
    every += [f"{before} {one}" for before, one in pairwise(every) if _PRONOUN.search(one) or len(words(before)) <= 2]
    return any(_ends(one, held) for one in every) and why_both_stay(said, old) is None


def _denies(clause: str, held: Claims) -> bool:
    """Whether a clause denies the fact in the fact's own words."""
    return bool(telling := _telling(clause)) and telling <= held.words and claims(clause).denied


def _ends(clause: str, held: Claims) -> bool:
    plainly = plain(clause)
    if content(clause) & _LIKING and not held.words & _LIKING:
        return False  # what is liked no longer is still had, and done
    if not held.denied and _denies(clause, held):
        return not restrictions(plainly) - held.where
    ended = has_ended(plainly)
    if not ended and (not SO_NO_LONGER.search(plainly) or restrictions(plainly) - held.where):
        return False
    over = [one.what for one in endings(clause) if one.what]
    if over and not any(what & held.words for what in over):
        return False  # "Santi no longer plays": Santi is still there
    return bool((_telling(clause) & held.words) - GENERIC - {held.verb[0]})


def _of_another_sort(said: str, old: str) -> bool:
    """Whether both name a thing and what sort of it: "car insurance" is no "life insurance"."""
    of, about = _sorts(said), _sorts(old)
    return any(thing in about and not sorts & about[thing] for thing, sorts in of.items())


def _sorts(said: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for match in _SORT.finditer(plain(said)):
        thing, sort = match["thing"] or match["cosa"], match["sort"] or match["clase"]
        found.setdefault(concept(thing), set()).add(concept(sort))
    return found


def _differ_in_a_figure(new: Claims, old: Claims) -> bool:
    """Whether one says all that the other does, or tells of as long a period in another way, but with another
    figure."""
    figures = new.given.get("figure"), old.given.get("figure")
    if not all(figures) or figures[0] == figures[1]:
        return False
    other = {one for one in old.words if not (one[0].isdigit() or one in _NUMBERS)}
    another_way = new.verb[0] != old.verb[0] and not new.verb[0][:1].isdigit()
    period = old.given.get("period")
    return other <= new.words or (another_way and period is not None and period == new.given.get("period"))


def _affirms(clause: str, old: Claims) -> bool:
    """Whether a clause affirms what a fact denies: "I can hold a chat in German", of who speaks no German."""
    about = old.words - GENERIC
    about = about - {old.verb[0]} or about
    return bool(about) and about <= content(clause) and not claims(clause).denied


def _telling(said: str) -> set[str]:
    dated = {concept(word) for word in MONTHS} | {concept(word) for word in OCCASION}
    return {one for one in content(said) if not one[0].isdigit()} - ACTIONS - dated


def _other_occasion(said: str, old: str) -> bool:
    """Whether they speak of different dates, seasons, weekdays or hours."""
    new, before = _occasions(said), _occasions(old)
    return any(kind in new and new[kind] != named for kind, named in before.items())


def _occasions(said: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word in words(said):
        if word in OCCASION:
            found.setdefault(OCCASION[word], set()).add(word.removesuffix("s"))
    months = {str(MONTHS[word]) for word in words(said) if word in MONTHS}
    if months:
        found["date"] = months | {match["day"] for match in _DATE.finditer(said)}
    return {kind: frozenset(named) for kind, named in found.items()}
