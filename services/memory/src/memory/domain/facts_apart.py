"""Why two statements both stay, though a model takes the later one for the end of the earlier one.

It must speak of the same thing, and say that it is over, denied, corrected or different now. What happened once (a
purchase, a visit) has happened for ever; another date, season, weekday or hour is another occasion.
"""

import re
from itertools import pairwise

from contracts.spoken import MONTHS, NUMBERS
from memory.domain.claims import GENERIC, PERSON, Claims, claims, fact_claims, may_replace, of_the_same, replaces
from memory.domain.long_term.concepts import concept, content, plain
from memory.domain.long_term.endings import endings
from memory.domain.long_term.slots import OCCASION, restrictions
from memory.domain.long_term.speech import same_length
from memory.domain.recall.words import words
from memory.domain.relevant_facts import NO_THINGS, facets, kinds

_NOT_TELLING = frozenset(
    [
        "be",
        "have",
        "like",
        "prefer",
        "want",
        "buy",
        "sell",
        "trade",
        "invest",
        "use",
        "live",
        "work",
        "pay",
        "study",
        "look",
        "eat",
        "drink",
        "drive",
        "save",
    ]
)
"""Concepts that two statements may share and speak of different things all the same."""
_NUMBERS = content(" ".join(NUMBERS))
_SO_NO_LONGER = re.compile(
    r"\b(?:no longer|any ?more|any longer|no more|is over|is dead|are over|am done|used to|instead|behind me|in the past|history|"
    r"now|nowadays|these days|again|otra vez|de nuevo|from now on|as of|lately|my new|our new|"
    r"ya no|jamas|antes (?!de\b|que\b)|solia|en vez|en lugar|atras|sin \w+[aei]r|ahora|actualmente|ultimamente|"
    r"ya (?:va|van|voy|vamos|es|son|soy|somos|esta|estan|estoy|estamos|tengo|tiene|fue)|se acab\w+|adios|"
    r"mi nuev[oa]|nuestr[oa] nuev[oa]|a partir de|desde ahora)\b"
)
"""Says that something is not so any more, or is otherwise now."""
_ENDED = re.compile(
    r"\b(?:stopped|quits?|g[ai]ve up|given up|giving up|ended|finished|left|resigned|sold|closed|cancel\w*|paid off|"
    r"wiped out|broke|split|died|passed away|goodbye|moved|relocated|switched|swapped|exchanged|gave away|pulled out|"
    r"took out|took (?:me|us) off|withdrew|changed|replaced|traded (?:\w+ ){0,3}in|scrapped|scrapyard|"
    r"turned|became|become|grew|went from|lost|fired|laid off|retired|dumped|ditched|offloaded|graduated|divorced|separated|dropped|got rid|"
    r"abandoned|let (?:\w+ ){0,4}go|got out of|am out of|"
    r"dej[eo]\w*|pare|solte|abandon\w+|renunci\w+|vend(?:i|imos|ido)|cerre|cerramos|cancel\w+|termin\w+|acabe|"
    r"acabamos|liquid\w+|sald\w+|romp\w+|cort[eo] con|muri\w+|falleci\w+|cambi\w+|pas[eo]|"
    r"pasamos|pasado|mud[eo]\w*|mudamos|traslad\w+|despid\w+|despedid\w+|perdi|perdimos|perdido|jubil\w+|gradu\w+|"
    r"divorci\w+|separ\w+|saque|sacamos|retire|retiramos|independic\w+|di de baja|desguace|sustitui\w*|"
    r"reemplac\w+|regal[eo]|cumpl\w+)\b"
)
"""Names the event by which something ended."""
_INTENDED = re.compile(
    r"(?<!\bhad )(?<!\bdecided )(?<!\bmanaged )(?<!\bgot )(?<!\bhave )(?<!\bused )\bto (?!me\b)[a-z]+|"
    r"\b(?:would|might|may|could|should|will|shall)(?: (?:not|also|just|probably|never|soon))* \w+|"
    r"\b(?:thinking (?:of|about)|considering|tempted|planning on|talking about) \w+|"
    r"\b(?:if|si|in case|en caso de) [^,.;:]+|"
    r"\b(?:when|once|cuando|en cuanto) [^,.;:]*?\b(?:will|ll|voy a|vamos a|me voy|nos vamos)\b|"
    r"\bquiere[ns]? que \w+"
)
"""What is only thought of, wished or planned has ended nothing."""
_INFINITIVE = re.compile(r"[aei]r(?:me|nos|se|l[aeo]s?)?$")
_CARRIED_OUT = re.compile(r"\b(?:acab\w+ de|tuv\w+ que|decid\w+|logr\w+|sin) $")
"""Before an infinitive: it is no mere wish."""
_CLAUSE = re.compile(r"[,;:—–(]|\b(?:and|but|y|pero)\b")
_CALLED = re.compile(r"(?:'s name is| is called| called| named| se llama|,)? (?P<name>[A-ZÁÉÍÓÚÑ]\w+)")
"""What somebody of the writer's is called."""
_PRONOUN = re.compile(r"\b(?:it|them|lo)\b|\bl[ao]s? \w+[éí]\b", re.I)
"""Names what the clause before it named."""
_SORT = re.compile(
    r"\b(?:my|our|the|an?) (?P<sort>[a-z]{3,}) (?P<thing>insurance|account|card|loan|policy|plan|fund|contract|licen[cs]e|"
    r"subscription|class|course|job)\b|"
    r"\b(?P<cosa>\w{4,}) (?:de|del|de la) (?P<clase>[a-z]{3,})\b"
)
"""A thing, and what sort of it."""
_FIRST_PERSON = re.compile(r"\b(?:i|we|me|us|yo|nos|conmigo)\b")
_FOR_NOW = re.compile(
    r"(?<!\bfrom )(?<!\bof )(?<!\bsince )(?<!\bstarting )(?<!\bdesde )(?<!\bde )\b(?:today|tonight|this (?:morning|afternoon|evening|week|weekend|month)|for (?:a|the|one|two|three) \w+|right now|"
    r"at the moment|hoy|esta (?:manana|tarde|noche|semana)|este (?:finde|fin de semana|mes)|ayer|yesterday|ahorita|"
    r"por unos dias|una semanita|unos dias|de momento)\b"
)
"""Says that something is so for a short while."""
_ALSO = re.compile(r"\b(?:also|too|as well|tambien|ademas)\b")
_SHE = re.compile(r"\W*(?:(?:now|so|then|ahora|luego) )?(?:s?he|ella)\b")
_PARTLY = re.compile(
    r"\b(?:half|some|part|a few|a couple|one|two|three) (?:of )?(?:my|our|the|of)\b|\b(?:la mitad|una parte|algun[oa]s|"
    r"un par) (?:de )?"
)
"""Says that there is less of something, and that it is not over."""
_CORRECTS = re.compile(
    r"\b(?:actually|correction|i meant|meant to say|i was wrong|mistake|not \d|wrong|en realidad|quise decir|me "
    r"equivoque|"
    r"corrijo|perdon|no era|no fue)\b"
)
_MOVES = re.compile(
    r"\b(?:moved|postponed|rescheduled|changed|instead|brought forward|pushed|delayed|actually|now|cancel\w*|"
    r"cambi\w+|movi\w*|mueve\w*|aplaz\w+|adelant\w+|retras\w+|paso al|pasa(?:mos|do|n)? (?:al?|para)|en vez|en "
    r"lugar|en realidad|ahora|"
    r"mejor)\b"
)
_HAPPENED = re.compile(
    r"^(?:(?:yesterday|today|last \w+|in \w+|on \w+|ayer|hoy|el \w+(?: \w+){0,3}|en \w+),? )?(?:(?:i|we|yo) )?"
    r"(?:(?:have|had|just|already|also|finally|ya|tambien|he|hemos) )*"
    r"(?:bought|sold|paid|went|visited|met|won|inherited|read|attended|lent|donated|"
    r"compre|compramos|comprado|vendi|vendimos|vendido|pague|pagamos|fui|fuimos|visite|conoci|gane|herede|lei|asisti|"
    r"preste|done)\b"
)
_HAS_HAPPENED = re.compile(
    r"\b(?:have|has|\w+'ve|\w+'s) (?!an?\b|the\b|my\b)(?:\w+ )?\w{3,}(?:ed|en|ne|t|ght|ung|ade)\b|"
    r"(?:(?:^|,)\W*|\b(?:i|we|he|she|they|it|and|that) (?:\w+ )?)(?:\w{3,}ed|sent|cut|hung|threw|took|gave|lost|sold|"
    r"went|got|made|put|began|came|chose|let|shut|tore|broke|had to)\b|"
    r"\b(?:\w{3,}ed|took|got|gave|made|let|put|sent|cut) (?:me|us)\b|"
    r"\b(?:he|hemos|ha|han) (?:\w+ )?\w+(?:[ai]do|to|cho)\b|\b\w{2,}[éíó]\b|"
    r"\b(?:vine|vinimos|fui|fuimos|hice|hicimos|puse|pusimos|tuve|tuvimos|traje|\w{3,}aron|\w{3,}ieron|nos \w{3,}[ai]mos)\b"
)
"""Says, by the tense of its verb, that something has happened."""
_ACQUIRED = re.compile(
    r"\b(?:opened|bought|adopted|added|signed up|abrí|abrimos|compré|compramos|adopté|adoptamos|"
    r"(?:abierto|comprado|adoptado))\b"
)
"""Something more, which takes no other thing's place by itself."""
_DATE = re.compile(r"\b(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?: (?:of|de) (?P<month>[a-z]+))?")


def why_both_stay(said: str, old: str, quote: str | None = None) -> str | None:
    """None: what is said (a sentence of the user's) ends a fact; otherwise why it does not.

    `quote`: the words of it on which a model rests it, where the model proposes it of this fact and of no other. Then
    it is enough that something has happened since, or that the same is said with another figure; and the model is
    believed that both are about one thing, unless the words are of another person or of another kind of thing.
    """
    alone = quote is not None
    new, held = claims(said, short=True), fact_claims(old)
    if leaves_both(said, old):
        return "both_true" if _of_the_writer(said, held).strip(" .") else "other_thing"
    if replaces(new, held) or may_replace(new, held):
        return None
    if (new.of and held.of and new.of != held.of) or _of_another_sort(said, old):
        return "other_thing"
    own = _around(quote, _of_the_writer(said, held))
    plainly, before = plain(own), plain(old)
    ended = _has_ended(plainly)
    over, corrects = ended or bool(_SO_NO_LONGER.search(plainly)), bool(_CORRECTS.search(plainly))
    happened = alone and _has_happened(own)
    linked = _telling(said) & held.words or (over and facets(said, forms=False) & facets(old, forms=False))
    believed = quote is not None and _speak_of_one(said, old) and not _of_other_kinds(quote, old)
    if not linked and not (believed and (over or happened)):
        return "other_thing"
    once = _HAPPENED.match(before) or (_HAS_HAPPENED.search(old.lower()) and not over)
    if not corrects and (once or (new.adds and not (alone and over and not _ALSO.search(plainly)))):
        return "both_true"
    if not corrects and not _MOVES.search(plainly) and _other_occasion(plainly, before, dated=ended or happened or "as of" in plainly):
        return "both_true"
    denies = not held.denied and any(_denies(one, held) for one in _clauses_of_the_writer(said, held))
    refigured = alone and _differ_in_a_figure(new, held)
    return None if over or corrects or denies or happened or refigured else "not_over"


def leaves_both(said: str, old: str) -> bool:
    """Whether what is said can take nothing from a fact, however alike they are: it is of somebody else, of a part, or
    for a while."""
    held = fact_claims(old)
    own = plain(_of_the_writer(said, held))
    if not own.strip(" ."):
        return True
    return bool(_PARTLY.search(own)) or (bool(_FOR_NOW.search(own)) and not _has_ended(own))


def _around(quote: str | None, own: str) -> str:
    """The clauses that a quote is of; without one all of them."""
    telling = content(quote or "")
    return ", ".join(one for one in _CLAUSE.split(own) if quote is None or content(one) & telling)


def _speak_of_one(said: str, old: str) -> bool:
    """Whether both speak of one person, or one names whom the other is about: "Raúl and I split up"."""
    new, held = claims(said, short=True), fact_claims(old)
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
    return [one for one in _CLAUSE.split(said) if not _of_another(plain(one), held)]


def _of_another(clause: str, held: Claims) -> bool:
    if _FIRST_PERSON.search(clause):
        return False
    who = PERSON.search(clause)
    return concept(who["who"]) not in held.words if who else bool(_SHE.match(clause))


def _has_ended(plainly: str) -> bool:
    """Whether a plain text names an end that has come, and is not only thought of."""
    real = _INTENDED.sub(" ", plainly)
    return any(
        not _INFINITIVE.search(match[0]) or _CARRIED_OUT.search(real[: match.start()])
        for match in _ENDED.finditer(real)
    )


def _has_happened(said: str) -> bool:
    low = said.lower()
    return bool(_HAS_HAPPENED.search(low)) and not _ACQUIRED.search(low)


def _of_other_kinds(said: str, old: str) -> bool:
    """Whether each speaks of a kind of thing, and they have none in common."""
    of, about = facets(said, forms=False) - NO_THINGS, kinds(old)
    return bool(of and about and not of & about)


def is_over(said: str, old: str) -> bool:
    """Whether a clause of a sentence names the thing of a fact, not only what is done with it, and says that it is over
    or other now."""
    held = fact_claims(old)
    if not _speak_of_one(said, old) or held.did:
        return False
    every = _clauses_of_the_writer(said, held)
    every += [
        f"{before} {one}" for before, one in pairwise(every) if _PRONOUN.search(one) or len(words(before)) <= 2
    ]
    return any(_ends(one, held) for one in every) and why_both_stay(said, old) is None


def _denies(clause: str, held: Claims) -> bool:
    """Whether a clause says, in words of the fact, that it is not so."""
    return bool(telling := _telling(clause)) and telling <= held.words and claims(clause, short=True).denied


def _ends(clause: str, held: Claims) -> bool:
    plainly = plain(clause)
    if not held.denied and _denies(clause, held):
        return not restrictions(plainly) - held.where
    ended = _has_ended(plainly)
    if not ended and (not _SO_NO_LONGER.search(plainly) or restrictions(plainly) - held.where):
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
    """Whether one says all that the other does, but with another figure."""
    figures = new.given.get("figure"), old.given.get("figure")
    other = {one for one in old.words if not (one[0].isdigit() or one in _NUMBERS)}
    return all(figures) and figures[0] != figures[1] and other <= new.words


def _telling(said: str) -> set[str]:
    dated = {concept(word) for word in MONTHS} | {concept(word) for word in OCCASION}
    return {one for one in content(said) if not one[0].isdigit()} - _NOT_TELLING - dated


def _other_occasion(said: str, old: str, *, dated: bool) -> bool:
    """Whether they speak of different dates, or one of a season, weekday or hour that the other does not name. `dated`:
    it tells an event, whose day takes nothing from a fact that names none."""
    new, before = _occasions(said), _occasions(old)
    named = [kind for kind in set(OCCASION.values()) if new.get(kind) and (before.get(kind) or not dated)]
    if any(new[kind] != before.get(kind) for kind in named):
        return True
    return bool(new.get("date") and before.get("date") and new["date"] != before["date"])


def _occasions(said: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word in words(said):
        if word in OCCASION:
            found.setdefault(OCCASION[word], set()).add(word.removesuffix("s"))
    months = {str(MONTHS[word]) for word in words(said) if word in MONTHS}
    if months:
        found["date"] = months | {match["day"] for match in _DATE.finditer(said)}
    return {kind: frozenset(named) for kind, named in found.items()}
