"""Answers questions that a single sentence cannot: the difference of two things, what something includes, all prices.

"What is the difference between Basic and Pro?" quotes both sections; "what is in the Pro plan?" all that stands under
its name.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from agent.domain.offline import shapes
from agent.domain.offline.common_words import telling
from agent.domain.offline.excerpts import Excerpt, of_columns
from agent.domain.offline.kinds import MOST_SHOWN, column_named, table_of
from agent.domain.offline.lexicon import keys_in, keys_of, words_of


def compared(question: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Of a question for the difference of two things: what the page says of the one and of the other."""
    said = " ".join(words_of(question))
    if not shapes.COMPARING.search(said):
        return []
    sides = [side for part in shapes.TWO.split(said) if (side := telling(shapes.COMPARING.sub(" ", part)))]
    if len(sides) < 2:
        return []
    if columns := _columns_compared(sides, passages):
        return columns
    found: list[Excerpt] = []
    for side in sides[:3]:
        section = _section(side, passages)
        if not section:
            return []
        found += [one for one in section if one not in found]
    return found


def _columns_compared(sides: Sequence[Sequence[str]], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The rows of a table in which the columns of these names differ, with those columns alone."""
    for first in (one for one in passages if len(one.columns) == len(one.cells) > 1):
        called = [[_shared(name, side) for name in first.columns] for side in sides]
        chosen = sorted({at for shared in called for at, one in enumerate(shared) if one and one == max(shared)})
        if all(map(any, called)) and len(chosen) > 1:
            rows = [one for one in passages if one.columns == first.columns and table_of(one) == table_of(first)]
            return [of_columns(one, chosen) for one in rows if len({one.cells[at] for at in chosen}) > 1][:MOST_SHOWN]
    return []


def _shared(name: str, words: Sequence[str]) -> int:
    """How many words of a name are among these."""
    keys = {key for word in words for key in keys_of(word)}
    return sum(bool(keys & keys_of(word)) for word in _named(name))


def included(question: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Of a question for what something holds: all that stands under its name."""
    said = " ".join(words_of(question))
    if not shapes.INCLUDED.search(said) or shapes.WHETHER.search(said):
        return []
    of_what = shapes.INCLUDED.sub(" ", said)
    section = column_named(frozenset(words_of(of_what)), passages) or _section(telling(of_what), passages)
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
            return [one for one in shown if one.url == pages.most_common(1)[0][0]][:MOST_SHOWN]
    return []


def _named(heading: str) -> list[str]:
    """A heading's words without the figures beside them, as "Silver – 85 €" has one."""
    return [word for word in telling(heading) if not word.isdigit()]


def _section(named: Sequence[str], passages: Sequence[Excerpt]) -> list[Excerpt]:
    """What stands under the heading that says least else than these words; or else the first to have all of them."""
    keys = {key for word in named for key in keys_of(word)}
    under = [one for one in passages
             if keys & keys_in(one.heading) and len(_named(one.heading)) <= max(len(named), 2)]  # fmt: skip
    under.sort(key=lambda one: sum(not keys_of(word) & keys for word in _named(one.heading)))
    saying = [one for one in passages if all(keys_of(word) & keys_in(one.text) for word in named)]
    first = under[:1] or sorted(saying, key=lambda one: not one.row)[:1]
    return [one for one in under if (one.url, one.heading) == (first[0].url, first[0].heading)][:4] or first
