"""Why two statements both stay, though a model takes the later one for the end of the earlier one.

It must speak of the same thing, and say that it is over, denied, corrected or different now. What happened once (a
purchase, a visit) has happened for ever; another date, season, weekday or hour is another occasion.
"""

import re

from contracts.spoken import MONTHS
from memory.domain.claims import claims, fact_claims, may_replace, replaces
from memory.domain.long_term.concepts import concept, content, plain
from memory.domain.long_term.slots import OCCASION
from memory.domain.recall.words import words
from memory.domain.relevant_facts import facets

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
    r"cambi\w+|movi\w*|mueve\w*|aplaz\w+|adelant\w+|retras\w+|paso al|pasa al|pasado al|en vez|en lugar|en "
    r"realidad|ahora|"
    r"mejor)\b"
)
_HAPPENED = re.compile(
    r"^(?:(?:yesterday|today|last \w+|in \w+|on \w+|ayer|hoy|el \w+(?: \w+){0,3}|en \w+),? )?(?:(?:i|we|yo) )?"
    r"(?:(?:have|had|just|already|also|finally|ya|tambien|he|hemos) )*"
    r"(?:bought|sold|paid|went|visited|met|won|inherited|read|attended|lent|donated|"
    r"compre|compramos|comprado|vendi|vendimos|vendido|pague|pagamos|fui|fuimos|visite|conoci|gane|herede|lei|asisti|"
    r"preste|done)\b"
)
_DATE = re.compile(r"\b(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?: (?:of|de) (?P<month>[a-z]+))?")


def why_both_stay(said: str, old: str) -> str | None:
    """None: what is said (a sentence of the user's) ends a fact, as a model proposes; otherwise why it does not."""
    new, held = claims(said, short=True), fact_claims(old)
    if replaces(new, held) or may_replace(new, held):
        return None
    plainly, before = plain(said), plain(old)
    if new.of and held.of and new.of != held.of:
        return "other_thing"
    over, corrects = bool(_OVER.search(plainly)), bool(_CORRECTS.search(plainly))
    if not _same_thing(said, old, changed=over):
        return "other_thing"
    if not corrects and (_HAPPENED.match(before) or new.adds):
        return "both_true"
    if not corrects and not _MOVES.search(plainly) and _other_occasion(plainly, before):
        return "both_true"
    denies = new.denied and not held.denied and _telling(said) <= content(old)
    return None if over or corrects or denies else "not_over"


def _same_thing(said: str, old: str, *, changed: bool) -> bool:
    return bool(_telling(said) & content(old)) or (
        changed and bool(facets(said, forms=False) & facets(old, forms=False))
    )


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
