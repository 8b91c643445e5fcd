"""Answers follow-ups to a quoted table row from its table: "and how much?", "and the red one?", "and in York?"."""

from collections.abc import Sequence

from agent.domain.offline.common_words import is_common
from agent.domain.offline.constraints import FREE_OR_PAID, LENGTH
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.kinds import listed_members, table_of
from agent.domain.offline.lexicon import keys_in
from agent.domain.offline.passage_index import PassageIndex
from agent.domain.offline.questions import Query, is_day, names_nothing, required_keys, terms
from agent.domain.offline.shapes import COMPARING, OBLIGED, SHAPED, SHAPES, SHOWN_FIGURES
from agent.domain.offline.superlatives import is_superlative
from agent.domain.text_features import plain

_MOST = 3
"""Rows of an answer."""
_LOOKS = (SHAPED | SHOWN_FIGURES | {"=free", "=percent"}) - LENGTH
"""What is seen by its look; for how long something is wanted need not stand in a row of prices."""


def follow_up_rows(question: str, leans: bool, answered: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The rows of the table that was quoted last which answer the question; nothing where it asks for something that
    they do not have. `leans`: it goes on with what was asked before; `answered`: what was said last."""
    told = [one for one in passages if one.is_table_row and one.is_in(answered)]
    asked, said = terms(FREE_OR_PAID.sub(" ", question)), plain(question)
    whole = (
        is_superlative(question) or COMPARING.search(said) or OBLIGED.search(said) or listed_members(question, passages)
    )
    if not asked or whole or len({table_of(one) for one in told}) != 1 or len(told) > _MOST:
        return []
    if names_nothing(asked):
        return _shown(asked, question, told) if leans else []
    about = {
        # Saturday's row is not Sunday's, though both are of the weekend.
        word: keys - {"=weekend"} if is_day(word) and not word.startswith(("weekend", "find")) else keys
        for word, keys in asked.items()
        if is_day(word) or (word[0] != "=" and (not is_common(keys) or any(keys & keys_in(_head(one)) for one in told)))
    }
    alike = [one for one in passages if one.row and _columns(one) == _columns(told[0])]
    beside = [one for one in alike if table_of(one) == table_of(told[0])]
    named = [one for one in beside if _says(about, _name(one), one)] if leans else []
    if not named and leans:
        # The same of another place has its name in the heading.
        names = {_name(one) for one in told}
        elsewhere = [one for one in alike if one.heading != told[0].heading and _name(one) in names]
        named = [one for one in elsewhere if _says(about, one.heading, one)]
    if not named and about and all(any(keys & keys_in(_head(one)) for one in told) for keys in about.values()):
        named = told
    return _shown(asked, question, named) if 0 < len(named) <= _MOST else []


def _shown(asked: Query, question: str, rows: Sequence[Excerpt]) -> list[Excerpt]:
    """Those of the rows that tell what is asked for by its look, as a price or a time."""
    index, looks = PassageIndex(rows), [keys for keys in (*asked.values(), *required_keys(question)) if keys <= _LOOKS]
    return [
        one
        for at, one in enumerate(rows)
        if all(_looks_like(one, keys) or (not keys & SHOWN_FIGURES and index.has_word(keys, at)) for keys in looks)
    ]


def _looks_like(one: Excerpt, keys: frozenset[str]) -> bool:
    said = ", ".join((_name(one), *one.cells)) if one.cells else one.text  # a column's name is no figure of its row
    return any(key in keys and shape.search(said) for key, shape in SHAPES)


def _says(about: Query, name: str, one: Excerpt) -> bool:
    """Whether a name has a word that the question is about, and name and columns have all of them."""
    called, head = keys_in(name), keys_in(_head(one))
    return any(keys & called for keys in about.values()) and all(keys & (called | head) for keys in about.values())


def _name(one: Excerpt) -> str:
    return one.text.partition(":")[0]


def _head(one: Excerpt) -> str:
    return " ".join(one.columns)


def _columns(one: Excerpt) -> tuple[str, str, tuple[str, ...]]:
    return (one.url.partition("#")[0], one.column, one.columns)
