"""Lists the members of a kind of things on the pages, such as plans, courses or cakes: all, or the first, second or
last.

The members are the rows of a table of that name, or sentences under headings of their own that mention the kind ("The
Pro plan costs …", under "Pro").
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from agent.domain.number_words import in_figures
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.excerpts import Excerpt, with_columns
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.shapes import WHAT_TIME, WHEN, WHICH_DAYS
from agent.domain.text_features import plain
from contracts.expressions import expression

MAX_SHOWN = 8
_ASKS_FOR_MEMBERS = expression(
    r"\b(?:what|which|que|q|cual(?:es)?) (?P<types>(?:kinds?|types?|sorts?|tipos?|clases?) (?:of|de) )?(?:son )?"
    r"(?:l[oa]s |the |your |vuestr[oa]s )?"
    r"(?P<kind>\w{3,}) (?:do (?:you|they)|are there|is there|have you|you have|you offer|hay|teneis|tienen|tienes|"
    r"ofreceis|ofrecen|haceis|hacen(?! falta)|existen|disponibles|available|dais|dan)\b|"
    r"\b(?:what are|list|tell me|show me|cuales son|dime|ensename|lista de) (?:all )?"
    r"(?:your|the|of the|los|las|vuestr[oa]s|sus) (?P<named>\w{3,})\W*$"
)
ORDINALS = {"first": 0, "1st": 0, "primer": 0, "primero": 0, "primera": 0, "second": 1, "2nd": 1, "segundo": 1,
           "segunda": 1, "third": 2, "3rd": 2, "tercer": 2, "tercero": 2, "tercera": 2, "fourth": 3, "cuarto": 3,
           "cuarta": 3, "last": -1, "ultimo": -1, "ultima": -1}  # fmt: skip
_ORDINAL_WORD = rf"(?P<place>{'|'.join(ORDINALS)})"
_ORDINAL = expression(
    rf"\b(?:the|el|la) {_ORDINAL_WORD}\b(?: (?P<kind>one|ones|(?!que\b|y\b|o\b|and\b|or\b)\w{{3,}}))?"
)
_BULLET = expression(r"^- ([^:\n]{1,60}): ", re.MULTILINE)
TITLE_END = expression(r" [–—|·-] ")
_ENUMERATION = expression(
    r"(?<![^,.;:])[^,.;:]{2,}, [^,.;:]{2,}(?:, [^,.;:]{2,}){0,30},? (?:and|or|y|e|o|u) \w", re.IGNORECASE
)
"""An enumeration of three things or more: "a, b and c"."""
_MAX_TITLE_WORDS = 2
_NOT_KINDS = frozenset(("=hours", "=price", "=contact", "=where"))
"""Meanings that are recognised by form; they are no kind of things with members."""
_PLANS = frozenset(key for word in ("plan", "tier", "package", "subscription") for key in keys_of(word))
"""Keys of kinds that are the columns of price tables, whatever the page is called."""
PRICE_ROW = expression(r"^[^:]*\b(?:price|cost|precio|coste|tarifa|cuota)\b[^:]*:", re.IGNORECASE)
_MAX_NAME_WORDS = 4
"""Maximum words of a name."""


def listed_members(question: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The members of the kind that a question asks for; empty if it asks for none, or the pages do not show them as
    such."""
    match = _ASKS_FOR_MEMBERS.search(plain(question))
    if match is None or WHICH_DAYS.search(plain(question)):
        return []
    kind = match["kind"] or match["named"]
    finders = (members_of_kind, _price_row, _list_items, _headings_with_kind, _sections_of_page, _enumeration)
    finders = (members_of_kind, _enumeration) if match["types"] else finders
    finders = finders[:1] if keys_of(kind) & _NOT_KINDS else finders
    return next((members for finder in finders if (members := finder(kind, passages))), list[Excerpt]())[:MAX_SHOWN]


def can_list(question: str, passage: Excerpt) -> bool:
    """Whether a passage can answer the question, if that asks for the members of a kind: it enumerates, counts, or is a
    row."""
    match = _ASKS_FOR_MEMBERS.search(plain(question))
    asks_for_members = match is not None and not keys_of(match["kind"] or match["named"]) & _NOT_KINDS
    return (
        not asks_for_members
        or passage.is_table_row
        or any(map(str.isdigit, in_figures(plain(passage.text))))
        or bool(_ENUMERATION.search(passage.text))
    )


def _price_row(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The price row of a table whose columns are the members, on a page that mentions the kind."""
    keys = keys_of(kind)
    plan_keys = keys & _PLANS
    page_urls = {
        passage.url.partition("#")[0]
        for passage in passages
        if keys & keys_in(f"{passage.title} {passage.heading} {passage.text if plan_keys else ''}")
    }
    rows = [
        passage
        for passage in passages
        if passage.is_table_row and not passage.column and PRICE_ROW.search(passage.text)
    ]
    return [passage for passage in rows if passage.url.partition("#")[0] in page_urls][:1]


def cells_by_thing(passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The rows of tables whose columns are things, each row once per thing. Such a table has a row of prices, or no
    header above its rows' names."""
    rows = [row for row in passages if len(row.columns) == len(row.cells) > 1]
    tables = {table_of(row) for row in rows if not row.column or PRICE_ROW.search(row.text)}
    return [with_columns(row, [column]) for row in rows if table_of(row) in tables for column in range(len(row.cells))]


def cells_of_thing(words: AbstractSet[str], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The cells of the thing whose name has no other words than these."""
    return [row for row in cells_by_thing(passages) if set(words_of(row.columns[0]) or ("",)) <= words]


def table_of(row: Excerpt) -> tuple[str, str, str]:
    """Identifies a row's table: its page's address, its heading, and the header of its first column."""
    return (row.url, row.heading, row.column)


def _list_items(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The items of a list under a heading that has at most one other word than the kind."""
    keys = keys_of(kind)
    items = [
        passage
        for passage in passages
        if passage.item
        and keys & keys_in(passage.heading)
        and len(significant_words(passage.heading)) <= _MAX_TITLE_WORDS
    ]
    return [passage for passage in items if passage.location == items[0].location] if items else []


def _headings_with_kind(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The first passage under each heading that has the kind and a name: Basic pack, Total pack."""
    keys = keys_of(kind)
    return _first_per_heading(
        [passage for passage in passages if keys & keys_in(passage.heading) and len(words_of(passage.heading)) > 1]
    )


def _sections_of_page(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The first passage in each section of the page that is called by the kind."""
    keys = keys_of(kind)

    def is_called(title: str) -> bool:
        words = significant_words(TITLE_END.split(title)[0])
        return any(keys & keys_of(word) for word in (words if len(words) <= _MAX_TITLE_WORDS else words[:1]))

    return _first_per_heading([passage for passage in passages if passage.heading and is_called(passage.title)])


def _first_per_heading(passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The first passage of each heading, of the page that has the most headings."""
    pages: dict[str, dict[str, Excerpt]] = {}
    for passage in passages:
        pages.setdefault(passage.url.partition("#")[0], {}).setdefault(passage.heading, passage)
    best = max(pages.values(), key=len, default=dict[str, Excerpt]())
    return list(best.values()) if len(best) > 1 else []


def _enumeration(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The sentence that enumerates members of the kind; at most one."""
    keys = keys_of(kind)
    sentences = [
        sentence for sentence in passages if not sentence.row and keys & keys_in(f"{sentence.heading} {sentence.text}")
    ]
    sentences = [sentence for sentence in sentences if _ENUMERATION.search(sentence.text)]
    return sorted(sentences, key=lambda sentence: not keys & keys_in(sentence.heading))[:1]


def members_of_kind(kind: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The members of the kind, of the page that has the most."""
    keys = keys_of(kind)
    pages: dict[tuple[str, str], list[Excerpt]] = {}
    for passage in passages:
        if passage.is_table_row:
            is_of_kind = keys & keys_in(passage.column) or is_title_of_kind(
                keys, passage.heading or TITLE_END.split(passage.title)[0]
            )
            is_of_kind = is_of_kind or (not passage.column and keys & keys_in(passage.heading or passage.title))
            place = passage.location
        else:
            is_of_kind = not passage.row and _mentions_kind(keys, passage)
            place = (passage.url, "")
        if is_of_kind:
            members = pages.setdefault(place, [])
            if passage.row or all(member.heading != passage.heading for member in members):
                members.append(passage)
    best = max(pages.values(), key=len) if pages else []
    return best if len(best) > 1 else []


def ordinal_in(normalized: str, *kinds: str) -> int | None:
    """Which of the things mentioned before a normalized text means by "the first one", or by "the first order" if that
    is one of the `kinds`: 0 for the first, -1 for the last; None if it has no ordinal."""
    match = _ORDINAL.search(normalized)
    return ORDINALS[match["place"]] if match and match["kind"] in (None, "one", "ones", *kinds) else None


def name_of(passage: Excerpt) -> str:
    """The name of a member: a row's first cell, or the heading."""
    return passage.text.partition(":")[0] if passage.row else passage.heading


def with_ordinals_named(question: str, last_answer: str, passages: Sequence[Excerpt]) -> str | None:
    """Return the question with "the second one" replaced by that thing's name, from the last answer's list or else from
    the kind that is named; unchanged if it has no ordinal. None if it refers to a thing of no list."""
    normalized = plain(question)
    ordinals = list(_ORDINAL.finditer(normalized))
    if not ordinals:
        return question
    quoted = [passage for passage in passages if last_answer and passage.is_in(last_answer)]
    names = _BULLET.findall(last_answer) or list(
        dict.fromkeys(name for passage in quoted if (name := name_of(passage)))
    )
    has_unknown_ordinal, names_of_kind = False, list[str]()
    for match in reversed(ordinals):
        kind, position = match["kind"], ORDINALS[match["place"]]
        has_no_kind = kind in (None, "one", "ones")
        if not has_no_kind and (WHEN.search(normalized) or WHAT_TIME.search(normalized)):
            continue  # "the last boat" means the one that leaves last
        # "The first and the third plan": both are plans.
        names_of_kind = (
            names_of_kind if has_no_kind else [name_of(passage) for passage in members_of_kind(str(kind), passages)]
        )
        candidates = names_of_kind or (names if has_no_kind or len(names) > 1 else [])
        if -1 <= position < len(candidates) and len(candidates) > 1:
            end = match.end() if has_no_kind or names_of_kind else match.end("place")
            normalized = f"{normalized[: match.start()]}{candidates[position]} {normalized[end:]}"
        else:
            has_unknown_ordinal = has_unknown_ordinal or has_no_kind
    return None if has_unknown_ordinal else normalized


def is_title_of_kind(keys: frozenset[str], title: str) -> bool:
    """Whether a title names the kind and nothing else."""
    title_words = significant_words(title)
    return bool(title_words) and all(keys & keys_of(word) for word in title_words)


def _mentions_kind(keys: frozenset[str], passage: Excerpt) -> bool:
    name = words_of(passage.heading)
    if not 0 < len(name) <= _MAX_NAME_WORDS:
        return False
    text_words = words_of(passage.text)
    for start in range(len(text_words) - len(name) + 1):
        if text_words[start : start + len(name)] == name:
            neighbours = text_words[max(start - 1, 0) : start] + text_words[start + len(name) : start + len(name) + 1]
            return any(keys & keys_of(word) for word in neighbours)
    return False
