"""Answers follow-ups to a quoted table row from its table: "and how much?", "and the red one?", "and in York?"."""

from collections.abc import Sequence

from agent.domain.offline.common_words import is_common
from agent.domain.offline.constraints import FREE_OR_PAID, LENGTH
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.kinds import listed_members, name_of, table_of
from agent.domain.offline.lexicon import keys_in
from agent.domain.offline.passage_index import ANIMALS, PassageIndex
from agent.domain.offline.questions import Query, is_day, names_nothing, required_keys, terms
from agent.domain.offline.shapes import COMPARING, OBLIGED, SHAPED, SHAPES, SHOWN_FIGURES
from agent.domain.offline.superlatives import is_superlative
from agent.domain.text_features import plain

_BROADER = frozenset(("=weekend", "=pet"))
"""Meanings that other things share: Saturday's row is not Sunday's, nor a dog's row a cat's."""
_MAX_ROWS = 3
"""Maximum rows of an answer."""
_KEYS_BY_FORM = (SHAPED | SHOWN_FIGURES | {"=free", "=percent"}) - LENGTH
"""Keys that are recognised by form. A desired length is left out: a row of prices need not contain it."""


def follow_up_rows(
    question: str, depends_on_antecedent: bool, last_answer: str, passages: Sequence[Excerpt]
) -> list[Excerpt]:
    """Return the rows, from the table quoted last, that answer the question; empty if they lack what it asks for.
    `depends_on_antecedent` is true if the question refers to an earlier one."""
    quoted_rows = [row for row in passages if row.is_table_row and row.is_in(last_answer)]
    query, normalized = terms(FREE_OR_PAID.sub(" ", question)), plain(question)
    is_complete = (
        is_superlative(question)
        or COMPARING.search(normalized)
        or OBLIGED.search(normalized)
        or listed_members(question, passages)
    )
    if not query or is_complete or len({table_of(row) for row in quoted_rows}) != 1 or len(quoted_rows) > _MAX_ROWS:
        return []
    if names_nothing(query) and not any(map(is_day, query)):
        return _rows_with_shapes(query, question, quoted_rows) if depends_on_antecedent else []
    topic = {
        word: keys - _BROADER if (is_day(word) and not word.startswith(("weekend", "find"))) or keys & ANIMALS else keys
        for word, keys in query.items()
        if is_day(word)
        or (word[0] != "=" and (not is_common(keys) or any(keys & keys_in(_headers(quoted)) for quoted in quoted_rows)))
    }
    similar_rows = [row for row in passages if row.row and _table_headers(row) == _table_headers(quoted_rows[0])]
    table_rows = [row for row in similar_rows if table_of(row) == table_of(quoted_rows[0])]
    matching = [row for row in table_rows if _is_about(topic, name_of(row), row)] if depends_on_antecedent else []
    if not matching and depends_on_antecedent:
        # In another place's table, the place is in the heading.
        names = {name_of(quoted) for quoted in quoted_rows}
        elsewhere = [row for row in similar_rows if row.heading != quoted_rows[0].heading and name_of(row) in names]
        matching = [row for row in elsewhere if _is_about(topic, row.heading, row)]
    if (
        not matching
        and topic
        and all(any(keys & keys_in(_headers(quoted)) for quoted in quoted_rows) for keys in topic.values())
    ):
        matching = quoted_rows
    return _rows_with_shapes(query, question, matching) if 0 < len(matching) <= _MAX_ROWS else []


def _rows_with_shapes(query: Query, question: str, rows: Sequence[Excerpt]) -> list[Excerpt]:
    """The rows that contain each shape (a price, a time) that is asked for."""
    index = PassageIndex(rows)
    shapes_asked = [keys for keys in (*query.values(), *required_keys(question)) if keys <= _KEYS_BY_FORM]
    return [
        row
        for i, row in enumerate(rows)
        if all(_has_shape(row, keys) or (not keys & SHOWN_FIGURES and index.has_word(keys, i)) for keys in shapes_asked)
    ]


def _has_shape(row: Excerpt, keys: frozenset[str]) -> bool:
    text = (
        ", ".join((name_of(row), *row.cells)) if row.cells else row.text
    )  # a figure in a column's header does not count
    return any(key in keys and pattern.search(text) for key, pattern in SHAPES)


def _is_about(topic: Query, name: str, row: Excerpt) -> bool:
    """Whether a name has one of the topic's words, and name and column headers together have all."""
    name_keys, header_keys = keys_in(name), keys_in(_headers(row))
    return any(keys & name_keys for keys in topic.values()) and all(
        keys & (name_keys | header_keys) for keys in topic.values()
    )


def _headers(row: Excerpt) -> str:
    return " ".join(row.columns)


def _table_headers(row: Excerpt) -> tuple[str, str, tuple[str, ...]]:
    return (row.url.partition("#")[0], row.column, row.columns)
