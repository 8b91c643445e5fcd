"""Lists the members of a kind of things on the pages, such as plans, courses or cakes: all of them, or the first,
second and last.

The members are the rows of a table of that name, or sentences under headings of their own that mention the kind ("The
Pro plan costs …", under "Pro").
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from agent.domain.number_words import in_figures
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.excerpts import Excerpt, of_columns
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.shapes import WHAT_TIME, WHEN, WHICH_DAYS
from agent.domain.text_features import plain

MOST_SHOWN = 8
_LISTED = re.compile(
    r"\b(?:what|which|que|q|cual(?:es)?) (?P<types>(?:kinds?|types?|sorts?|tipos?|clases?) (?:of|de) )?(?:son )?"
    r"(?:l[oa]s |the |your |vuestr[oa]s )?"
    r"(?P<kind>\w{3,}) (?:do (?:you|they)|are there|is there|have you|you have|you offer|hay|teneis|tienen|tienes|"
    r"ofreceis|ofrecen|haceis|hacen(?! falta)|existen|disponibles|available|dais|dan)\b|"
    r"\b(?:what are|list|tell me|show me|cuales son|dime|ensename|lista de) (?:all )?"
    r"(?:your|the|of the|los|las|vuestr[oa]s|sus) (?P<named>\w{3,})\W*$"
)
PLACES = {"first": 0, "1st": 0, "primer": 0, "primero": 0, "primera": 0, "second": 1, "2nd": 1, "segundo": 1,
           "segunda": 1, "third": 2, "3rd": 2, "tercer": 2, "tercero": 2, "tercera": 2, "fourth": 3, "cuarto": 3,
           "cuarta": 3, "last": -1, "ultimo": -1, "ultima": -1}  # fmt: skip
_PLACE = rf"(?P<place>{'|'.join(PLACES)})"
_ORDINAL = re.compile(rf"\b(?:the|el|la) {_PLACE}\b(?: (?P<kind>one|ones|(?!que\b|y\b|o\b|and\b|or\b)\w{{3,}}))?")
_BULLET = re.compile(r"^- ([^:\n]{1,60}): ", re.MULTILINE)
TITLE_END = re.compile(r" [–—|·-] ")
_COUNTED_UP = re.compile(
    r"(?<![^,.;:])[^,.;:]{2,}, [^,.;:]{2,}(?:, [^,.;:]{2,}){0,30},? (?:and|or|y|e|o|u) \w", re.IGNORECASE
)
_FEW = 2
_OWN_SHAPE = frozenset(("=hours", "=price", "=contact", "=where"))
"""What is asked for by name and told by its look: no kind of things."""
_PLANS = frozenset(key for word in ("plan", "tier", "package", "subscription") for key in keys_of(word))
"""What columns of prices are, whatever the page is called."""
PRICE_ROW = re.compile(r"^[^:]*\b(?:price|cost|precio|coste|tarifa|cuota)\b[^:]*:", re.IGNORECASE)
_NAME = 4
"""Words of a name at most."""


def listed(question: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Of a question for what there is of a kind: each of them; nothing where the pages do not show them as such."""
    found = _LISTED.search(plain(question))
    if found is None or WHICH_DAYS.search(plain(question)):
        return []
    kind = found["kind"] or found["named"]
    every = (members_of_kind, _columns, _items, _named_alike, _sections, _enumerated)
    ways = (members_of_kind, _enumerated) if found["types"] else every
    ways = ways[:1] if keys_of(kind) & _OWN_SHAPE else ways
    return next((those for way in ways if (those := way(kind, passages))), list[Excerpt]())[:MOST_SHOWN]


def can_list(question: str, one: Excerpt) -> bool:
    """Whether a sentence can answer the question, should that be for what there is of a kind."""
    found = _LISTED.search(plain(question))
    of_kinds = found is not None and not keys_of(found["kind"] or found["named"]) & _OWN_SHAPE
    return (
        not of_kinds
        or (one.row and not one.item)
        or any(map(str.isdigit, in_figures(plain(one.text))))
        or bool(_COUNTED_UP.search(one.text))
    )


def _columns(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The row of prices of a table whose columns are the things, on a page that speaks of the kind."""
    keys = keys_of(kind)
    plans = keys & _PLANS
    pages = {
        one.url.partition("#")[0]
        for one in passages
        if keys & keys_in(f"{one.title} {one.heading} {one.text if plans else ''}")
    }
    rows = [one for one in passages if one.row and not one.item and not one.column and PRICE_ROW.search(one.text)]
    return [one for one in rows if one.url.partition("#")[0] in pages][:1]


def columns_of_things(passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The rows of the tables whose columns are things, a row once for each thing. A table is one if it has a row of
    prices, or does not say what its rows are."""
    rows = [one for one in passages if len(one.columns) == len(one.cells) > 1]
    tables = {table_of(one) for one in rows if not one.column or PRICE_ROW.search(one.text)}
    return [of_columns(one, [at]) for one in rows if table_of(one) in tables for at in range(len(one.cells))]


def column_named(words: AbstractSet[str], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """What a table tells of the thing whose name has no other words than these."""
    return [one for one in columns_of_things(passages) if set(words_of(one.columns[0]) or ("",)) <= words]


def table_of(one: Excerpt) -> tuple[str, str, str]:
    """Where a row's table is, and what it calls its rows."""
    return (one.url, one.heading, one.column)


def _items(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The items of a list under a heading that says little else than the kind."""
    keys = keys_of(kind)
    under = [
        one
        for one in passages
        if one.item and keys & keys_in(one.heading) and len(significant_words(one.heading)) <= _FEW
    ]
    return [one for one in under if (one.url, one.heading) == (under[0].url, under[0].heading)] if under else []


def _named_alike(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """What stands first under each heading that has the kind and a name: Basic pack, Total pack."""
    keys = keys_of(kind)
    return _of_one_page([one for one in passages if keys & keys_in(one.heading) and len(words_of(one.heading)) > 1])


def _sections(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """What stands first in each section of the page that is called by the kind."""
    keys = keys_of(kind)

    def is_called(title: str) -> bool:
        words = significant_words(TITLE_END.split(title)[0])
        return any(keys & keys_of(word) for word in (words if len(words) <= _FEW else words[:1]))

    return _of_one_page([one for one in passages if one.heading and is_called(one.title)])


def _of_one_page(found: Sequence[Excerpt]) -> list[Excerpt]:
    """The first of each heading, of the page that has the most headings."""
    pages: dict[str, dict[str, Excerpt]] = {}
    for one in found:
        pages.setdefault(one.url.partition("#")[0], {}).setdefault(one.heading, one)
    best = max(pages.values(), key=len, default=dict[str, Excerpt]())
    return list(best.values()) if len(best) > 1 else []


def _enumerated(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The sentence that counts several of them up."""
    keys = keys_of(kind)
    said = [one for one in passages if not one.row and keys & keys_in(f"{one.heading} {one.text}")]
    said = [one for one in said if _COUNTED_UP.search(one.text)]
    return sorted(said, key=lambda one: not keys & keys_in(one.heading))[:1]


def members_of_kind(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Those of the kind, of the page that has the most of them."""
    keys = keys_of(kind)
    pages: dict[tuple[str, str], list[Excerpt]] = {}
    for one in passages:
        if one.row and not one.item:
            named = keys & keys_in(one.column) or _is_called(keys, one.heading or TITLE_END.split(one.title)[0])
            named = named or (not one.column and keys & keys_in(one.heading or one.title))
            place = (one.url, one.heading)
        else:
            named = not one.row and _is_member(keys, one)
            place = (one.url, "")
        if named:
            mine = pages.setdefault(place, [])
            if one.row or all(other.heading != one.heading for other in mine):
                mine.append(one)
    best = max(pages.values(), key=len) if pages else []
    return best if len(best) > 1 else []


def place_in(said: str, *kinds: str) -> int | None:
    """Which of those that were spoken of a text (plain) means by "the first one", or by "the first order" where that
    is one of the `kinds`; -1: the last."""
    found = _ORDINAL.search(said)
    return PLACES[found["place"]] if found and found["kind"] in (None, "one", "ones", *kinds) else None


def name_of(one: Excerpt) -> str:
    """What a member is called."""
    return one.text.partition(":")[0] if one.row else one.heading


def with_names(question: str, answered: str, passages: Sequence[Excerpt]) -> str | None:
    """The question with "the second one" by its name, of what was listed last or else of the kind that is named; as it
    is where it has none; None: it names one that nobody has listed."""
    said = plain(question)
    places = list(_ORDINAL.finditer(said))
    if not places:
        return question
    told = [one for one in passages if answered and one.is_in(answered)]
    names = _BULLET.findall(answered) or list(dict.fromkeys(name for one in told if (name := name_of(one))))
    unnamed, of_kind = False, list[str]()
    for found in reversed(places):
        kind, at = found["kind"], PLACES[found["place"]]
        one_of = kind in (None, "one", "ones")
        if not one_of and (WHEN.search(said) or WHAT_TIME.search(said)):
            continue  # the last boat is the one that leaves last
        # "The first and the third plan": both are plans.
        of_kind = of_kind if one_of else [name_of(one) for one in members_of_kind(str(kind), passages)]
        known = of_kind or (names if one_of or len(names) > 1 else [])
        if -1 <= at < len(known) and len(known) > 1:
            end = found.end() if one_of or of_kind else found.end("place")
            said = f"{said[: found.start()]}{known[at]} {said[end:]}"
        else:
            unnamed = unnamed or one_of
    return None if unnamed else said


def _is_called(keys: frozenset[str], title: str) -> bool:
    words = significant_words(title)
    return bool(words) and all(keys & keys_of(word) for word in words)


def _is_member(keys: frozenset[str], one: Excerpt) -> bool:
    name = words_of(one.heading)
    if not 0 < len(name) <= _NAME:
        return False
    said = words_of(one.text)
    for at in range(len(said) - len(name) + 1):
        if said[at : at + len(name)] == name:
            beside = said[max(at - 1, 0) : at] + said[at + len(name) : at + len(name) + 1]
            return any(keys & keys_of(word) for word in beside)
    return False
