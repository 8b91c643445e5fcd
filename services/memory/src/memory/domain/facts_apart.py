"""Why two statements both stay, though a model takes the later one for the end of the earlier one.

It must speak of the same thing, and say that it is over, denied, corrected or different now. What happened once (a
purchase, a visit) has happened for ever; another date, season, weekday or hour is another occasion.
"""

import re

from contracts.spoken import MONTHS, NUMBERS
from memory.domain.claims import GENERIC, Claims, claims, fact_claims, may_replace, replaces
from memory.domain.long_term.concepts import concept, content, plain
from memory.domain.long_term.slots import OCCASION
from memory.domain.recall.words import words
from memory.domain.relevant_facts import facets, kinds

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
_OVER = re.compile(
    r"\b(?:no longer|any ?more|any longer|no more|stopped|quit|g[ai]ve up|given up|giving up|ended|is over|am done|"
    r"finished|left|resigned|sold|closed|cancel\w*|paid off|broke|split|died|passed away|used to|instead|moved|"
    r"relocated|"
    r"switched|swapped|exchanged|gave away|pulled out|took out|withdrew|changed|replaced|traded (?:\w+ ){0,3}in|"
    r"turned|became|become|grew|went from|lost|fired|laid off|retired|"
    r"graduated|divorced|separated|dropped|behind me|in the past|history now|now|nowadays|these days|from now "
    r"on|lately|"
    r"my new|our new|got rid|abandoned|let go|got out of|am out of|"
    r"ya no|jamas|dej[eo]\w*|pare|abandon\w+|renunci\w+|vend(?:i|imos|ido)|cerre|cerramos|cancel\w+|termin\w+|acabe|"
    r"acabamos|liquid\w+|sald\w+|romp\w+|cort[eo] con|muri\w+|falleci\w+|antes (?!de\b|que\b)|solia|en vez|en "
    r"lugar|cambi\w+|pas[eo]|"
    r"pasamos|mud[eo]\w*|mudamos|traslad\w+|despid\w+|despedid\w+|perdi|perdimos|perdido|jubil\w+|gradu\w+|divorci\w+|separ\w+|"
    r"se acabo|atras|saque|sacamos|retire|retiramos|independic\w+|sin \w+[aei]r|ahora|actualmente|ultimamente|"
    r"mi nuev[oa]|nuestr[oa] nuev[oa]|a partir de|desde ahora|sustitui\w*|"
    r"reemplac\w+|regal[eo]|cumpl\w+)\b"
)
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
    r"\b(?:i|we)(?: have|'ve) (?!an?\b|the\b|my\b)(?:\w+ )?\w{3,}(?:ed|en|ne|t|ght)\b|"
    r"\b(?:i|we) (?:\w+ ){0,2}(?:\w{3,}ed|went|got|took|had to|made|began|came|chose|lost|let)\b|"
    r"\b(?:he|hemos|ha|han) (?:\w+ )?\w+(?:[ai]do|to|cho)\b|\b\w{2,}[éí]\b"
)
"""Says, by the tense of its verb, that something has happened to its writer."""
_DATE = re.compile(r"\b(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?: (?:of|de) (?P<month>[a-z]+))?")


def why_both_stay(said: str, old: str, *, alone: bool = False) -> str | None:
    """None: what is said (a sentence of the user's) ends a fact, as a model proposes; otherwise why it does not.

    `alone`: the model proposes it of this fact and of no other. Then it is enough that something has happened since, or
    that the same is said with another figure; and the model is believed that both are about one thing, unless the words
    are of another person or of another kind of thing.
    """
    new, held = claims(said, short=True), fact_claims(old)
    if replaces(new, held) or may_replace(new, held):
        return None
    if new.of and held.of and new.of != held.of:
        return "other_thing"
    plainly, before = plain(said), plain(old)
    over, corrects = bool(_OVER.search(plainly)), bool(_CORRECTS.search(plainly))
    happened = alone and bool(_HAS_HAPPENED.search(said.lower()))
    linked = _telling(said) & held.words or (over and facets(said, forms=False) & facets(old, forms=False))
    believed = alone and new.of == held.of and not _of_other_kinds(said, old)
    if not linked and not (believed and (over or happened)):
        return "other_thing"
    once = _HAPPENED.match(before) or (_HAS_HAPPENED.search(old.lower()) and not over)
    if not corrects and (once or new.adds):
        return "both_true"
    if not corrects and not _MOVES.search(plainly) and _other_occasion(plainly, before):
        return "both_true"
    denies = new.denied and not held.denied and _telling(said) <= held.words
    refigured = alone and _differ_in_a_figure(new, held)
    return None if over or corrects or denies or happened or refigured else "not_over"


def _of_other_kinds(said: str, old: str) -> bool:
    """Whether each speaks of a kind of thing, and they have none in common."""
    of, about = kinds(said), kinds(old)
    return bool(of and about and not of & about)


def is_over(said: str, old: str) -> bool:
    """Whether a sentence names the thing of a fact, not only what is done with it, and says that it is over or other
    now."""
    if not _OVER.search(plain(said)):
        return False
    new, held = claims(said, short=True), fact_claims(old)
    if new.of != held.of or held.did or new.where - held.where:
        return False
    thing = (_telling(said) & held.words) - GENERIC - {held.verb[0]}
    return bool(thing) and why_both_stay(said, old) is None


def _differ_in_a_figure(new: Claims, old: Claims) -> bool:
    """Whether one says all that the other does, but with another figure."""
    figures = new.given.get("figure"), old.given.get("figure")
    other = {one for one in old.words if not (one[0].isdigit() or one in _NUMBERS)}
    return all(figures) and figures[0] != figures[1] and other <= new.words


def _telling(said: str) -> set[str]:
    dated = {concept(word) for word in MONTHS} | {concept(word) for word in OCCASION}
    return {one for one in content(said) if not one[0].isdigit()} - _NOT_TELLING - dated


def _other_occasion(said: str, old: str) -> bool:
    """Whether they speak of different dates, or one of a season, weekday or hour that the other does not name."""
    new, before = _occasions(said), _occasions(old)
    if any(new.get(kind) != before.get(kind) for kind in set(OCCASION.values()) if new.get(kind)):
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
