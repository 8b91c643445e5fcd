"""Answers questions that a single sentence cannot: the difference of two things, what something includes, all prices.

"What is the difference between Basic and Pro?" quotes both sections; "what is in the Pro plan?" all that stands under
its name.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from agent.domain.offline import shapes
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.excerpts import Excerpt, of_columns
from agent.domain.offline.kinds import MOST_SHOWN, column_named, name_of, table_of
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.questions import lacks_subject, needed
from agent.domain.offline.superlatives import is_superlative

_DEAR = re.compile(r"\b(?:expensive|car[oa]s?)\b")
_OF_ALL = re.compile(
    r"\b(?:cheapest|priciest|dearest|most expensive|(?:el|la|lo|los|las) (?:\w+ )?mas (?:barat|car)[oa]s?)\b"
)
_OF_TWO = re.compile(r"\b(?:of the|de l[oa]s) (?:two|three|dos|tres)\b")
"""The cheapest is one of all there are; the cheaper one, or the cheapest of the two, is one of those spoken of."""
_BOTH = re.compile(r"\b(?:them|both|the two|ell[oa]s|amb[oa]s|l[oa]s dos|un[oa] y otr[oa])\b")


def compared(question: str, before: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Of a question for the difference of two things: what the page says of the one and of the other. `before`: the
    question that it leans on, which may name them."""
    said = " ".join(words_of(question))
    if not shapes.COMPARING.search(said):
        return []
    names = {words[0] for one in passages if one.row and len(words := words_of(name_of(one))) == 1}
    sides = _sides([" ".join(words_of(before))] if before and _BOTH.search(said) else [said], names)
    named = True
    last = _sides([" ".join(words_of(before.rpartition("\n")[2]))], names)
    if not sides and before and (len(last) > 1 or _OF_TWO.search(said) or not _OF_ALL.search(said)):
        # "Which one is cheaper?" is of what was spoken of.
        sides, named = _sides([" ".join(words_of(one)) for one in before.splitlines()], names), False
    if len(sides) < 2:
        return []
    if rows := _rows_compared(sides, passages):
        return rows
    if columns := _columns_compared(sides, passages):
        return columns
    found: list[Excerpt] = []
    for side in sides[:3]:
        section = _section(side, passages)
        if not section or not (named or keys_in(section[0].heading) & {key for word in side for key in keys_of(word)}):
            return []
        found += [one for one in section if one not in found]
    by_price = shapes.PRICE_WORD.search(said) or _DEAR.search(said)
    return found if not by_price or sum(map(_shows_price, found)) >= len(sides[:3]) else []


def _sides(texts: Sequence[str], names: AbstractSet[str]) -> list[list[str]]:
    """What is compared: of each part of these texts the words that name something, as "Business" may name a row."""
    parts = [part for text in texts for part in shapes.TWO.split(text)]
    sides = [
        [
            word
            for word in words_of(shapes.COMPARING.sub(" ", part))
            if word in names or (significant_words(word) and "=price" not in keys_of(word))
        ]
        for part in parts
    ]
    return [side for side in sides if side]


def _shows_price(one: Excerpt) -> bool:
    return any(key == "=price" and shape.search(one.text) for key, shape in shapes.SHAPES)


def _rows_compared(sides: Sequence[Sequence[str]], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The rows of a table that have these names: of each side the one that it calls most fully."""
    tables: dict[tuple[str, str, str], list[Excerpt]] = {}
    for one in passages:
        if one.row and not one.item:
            tables.setdefault(table_of(one), []).append(one)
    for rows in tables.values():
        best = [max(rows, key=lambda one: _called(one, side)) for side in sides]
        if all(map(_called, best, sides)) and len(set(best)) == len(sides):
            return sorted(best, key=lambda one: one.place)
        of_sides = [[one for one in rows if _is_of(one, side)] for side in sides]
        kinds = [one for of_side in of_sides for one in of_side]
        if all(of_sides) and len(set(kinds)) == len(kinds) <= MOST_SHOWN:
            return sorted(kinds, key=lambda one: one.place)
    return []


def _called(row: Excerpt, side: Sequence[str]) -> int:
    """How many words a row's name has, if all of them are among these; of "2 m²" and "Child (3-15)", 2 and Child."""
    keys, name = {key for word in side for key in keys_of(word)}, words_of(row.text.partition(":")[0].partition("(")[0])
    figures = any(map(str.isdigit, side))
    named = [word for word in name if (word.isdigit() if figures else significant_words(word) or len(name) == 1)]
    return len(named) if all(keys_of(word) & keys for word in named) else 0


def _is_of(row: Excerpt, side: Sequence[str]) -> bool:
    """Whether a row's name has all of these words, and others: metal braces are braces."""
    called = keys_in(row.text.partition(":")[0])
    return all(keys_of(word) & called for word in side)


def _columns_compared(sides: Sequence[Sequence[str]], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The rows of a table in which the columns of these names differ, with those columns alone."""
    for first in (one for one in passages if len(one.columns) == len(one.cells) > 1):
        called = [[_shared(name, side) for name in first.columns] for side in sides]
        chosen = sorted({at for shared in called for at, one in enumerate(shared) if one and one == max(shared)})
        if all(map(any, called)) and len(chosen) > 1:
            rows = [one for one in passages if one.columns == first.columns and table_of(one) == table_of(first)]
            return [of_columns(one, chosen) for one in rows if len({one.cells[at] for at in chosen}) > 1][:MOST_SHOWN]
    return []


def in_columns_named(question: str, before: str, shown: Sequence[Excerpt]) -> list[Excerpt]:
    """What is shown; of a table's rows the columns alone that the question names, or for a price those of the question
    that it leans on, with what looks like what is asked for if none of them does. Rows with nothing there are left out.
    """
    if len({one.columns for one in shown}) != 1 or not all(len(one.columns) == len(one.cells) > 1 for one in shown):
        return list(shown)
    columns, called = shown[0].columns, {key for one in shown for key in keys_in(one.text.partition(":")[0])}
    every = range(len(columns))
    named = _columns_named(question, columns, called)
    leaning = lacks_subject(question) and not is_superlative(question)
    named = named or (_columns_named(before, columns, called) if leaning else []) or every
    needs = [keys - shapes.FIGURE if keys & shapes.PRICE else keys for keys in needed(question)]
    looks = [shape for key, shape in shapes.SHAPES if any(key in keys for keys in needs)]

    def looks_so(at: int) -> bool:
        return any(shape.search(one.cells[at]) for one in shown for shape in looks)

    if looks and not any(map(looks_so, named)):
        named = [at for at in every if at in named or looks_so(at)]
    if len(named) == len(columns):
        return list(shown)
    told = [of_columns(one, named) for one in shown]
    return [one for one in told if any(any(map(str.isalnum, cell)) for cell in one.cells)] or told


def _columns_named(text: str, columns: Sequence[str], called: set[str]) -> list[int]:
    """The columns whose names have most of a text's words; words of the rows' own names do not count."""
    words = [word for word in significant_words(text) if not keys_of(word) & called]
    shared = [_shared(name, words) for name in columns]
    return [at for at, many in enumerate(shared) if many and many == max(shared)]


def _shared(name: str, words: Sequence[str]) -> int:
    """How many words of a name are among these."""
    keys = {key for word in words for key in keys_of(word)}
    return sum(bool(keys & keys_of(word)) for word in _named(name))


def included(question: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Of a question for what something holds: all that stands under its name."""
    said = " ".join(words_of(question))
    if not shapes.INCLUDED.search(said) or shapes.WHETHER.search(said) or shapes.HOW_MANY.search(said):
        return []
    of_what = shapes.INCLUDED.sub(" ", said)
    section = column_named(frozenset(words_of(of_what)), passages) or _section(significant_words(of_what), passages)
    return section if len(section) > 1 else []


def all_shown(said: str, asked: Mapping[str, frozenset[str]], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Of a question that names nothing, as "how much is it?": all that the page which shows the most of it has."""
    for key, shape in shapes.SHAPES:
        if key == "=price" and (
            shapes.OBLIGED.search(said) or not (shapes.HOW_MUCH.search(said) or shapes.PRICE_WORD.search(said))
        ):
            continue
        if key == "=weekend" and {"weekend", "weekends", "finde", "semana"}.isdisjoint(said.split()):
            continue  # Saturday is not Sunday
        if asked and all(key in keys or not keys - {"=figure"} for keys in asked.values()):
            shown = [one for one in passages if shape.search(one.text)]
            pages = Counter[str]()
            for one in shown:
                pages[one.url] += 3 if key in keys_in(one.heading) else 1
            best = [one for one in shown if one.url == pages.most_common(1)[0][0]]
            return [one for one in best if key != "=where" or one.heading == best[0].heading][:MOST_SHOWN]
    return []


def _named(heading: str) -> list[str]:
    """A heading's words without the figures beside them, as "Silver – 85 €" has one."""
    return [word for word in significant_words(heading) if not word.isdigit()]


def _section(named: Sequence[str], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """What stands under the heading that says least else than these words; or else the first to have all of them."""
    keys = {key for word in named for key in keys_of(word)}
    under = [one for one in passages
             if keys & keys_in(one.heading) and len(_named(one.heading)) <= max(len(named), 2)]  # fmt: skip
    under.sort(key=lambda one: sum(not keys_of(word) & keys for word in _named(one.heading)))
    saying = [one for one in passages if all(keys_of(word) & keys_in(one.text) for word in named)]
    first = under[:1] or sorted(saying, key=lambda one: not one.row)[:1]
    return [one for one in under if (one.url, one.heading) == (first[0].url, first[0].heading)][:4] or first
