"""Answers a question for the most or the least of something, such as "the cheapest bread", by the figures on the pages.

It compares prices, weights, durations and capacities in the rows of one table. If the pages do not show which one it
is, it answers nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.domain.offline.common_words import significant_words
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.kinds import MAX_SHOWN, cells_by_thing, cells_of_thing, name_of, table_of
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.text_features import number_of, plain, word_set
from contracts.expressions import expression

_FIGURE = r"\d(?:[\d.,]*\d)?"
_MONEY = r"(?:usd|eur|gbp|mxn|euros?|dollars?|pounds?|dolares|libras|pesos)\b"
_MINUTES = {"min": 1, "hour": 60, "hora": 60, "h": 60, "day": 1440, "dia": 1440, "week": 10080, "semana": 10080,
            "month": 43200, "mes": 43200, "year": 525600, "ano": 525600}  # fmt: skip
_GRAMS = {"g": 1, "gr": 1, "gramo": 1, "kg": 1000, "kilo": 1000}
_CAPACITY_WORDS = (
    r"sleeps|seats?|people|persons?|passengers?|guests?|servings?|portions?|capacity|plazas|personas|pasajeros|"
    r"raciones|comensales|capacidad|aforo|m2|m²"
)


@dataclass(frozen=True, slots=True)
class _Measure:
    """What is compared: how it is written (`shape`), the words for the most and the least of it, and its units in the
    smallest one."""

    shape: re.Pattern[str]
    most: re.Pattern[str]
    least: re.Pattern[str]
    units: dict[str, int]


_MEASURES = (
    _Measure(
        expression(rf"[$€£] ?({_FIGURE})|({_FIGURE}) ?(?:[$€£]|{_MONEY})|\b(gratis|gratuit[oa]|free)\b"),
        expression(r"\b(?:most expensive|priciest|dearest|the (?:expensive|pricey)|"
                   r"(?:el|los) (?:\w+ )?caros?|las? \w+ caras?|(?<=^y )las? caras?|"
                   r"costliest|mas car[oa]s?|costs? (?:the )?most|(?:cuesta|vale)n? mas|mas (?:cuesta|vale)n?)\b"),
        expression(r"\b(?:cheapest|the cheap|(?:el|la|los|las) (?:\w+ )?barat[oa]s?|"
                   r"least expensive|lowest[ -](?:price|cost)\w*|most affordable|menos car[oa]s?|"
                   r"mas (?:barat|economic)[oa]s?|mas asequibles?|costs? (?:the )?least|(?:cuesta|vale)n? menos|"
                   r"menos (?:cuesta|vale)n?)\b"),
        {},
    ),
    _Measure(
        expression(rf"({_FIGURE}) ?(kg|kilo|gramo|gr?)s?\b"),
        expression(r"\b(?:heaviest|weighs? (?:the )?most|mas pesad[oa]s?|mas pesan?|pesan? mas)\b"),
        expression(r"\b(?:lightest|weighs? (?:the )?least|menos pesad[oa]s?|menos pesan?|pesan? menos)\b"),
        _GRAMS,
    ),
    _Measure(
        expression(rf"({_FIGURE})[ -]?(min|hour|hora|h|day|dia|week|semana|month|mes|year|ano)(?:ute|uto)?(?:e?s)?\b"),
        expression(r"\b(?:longest|takes? (?:the )?most time|mas larg[oa]s?|(?:dura|tarda)n? mas|"
                   r"mas (?:dura|tarda)n?)\b"),
        expression(r"\b(?:shortest|quickest|fastest|mas cort[oa]s?|mas rapid[oa]s?|(?:dura|tarda)n? menos|"
                   r"menos (?:dura|tarda)n?)\b"),
        _MINUTES,
    ),
    _Measure(
        expression(rf"(?:{_CAPACITY_WORDS}):? ({_FIGURE})|({_FIGURE}) ?(?:{_CAPACITY_WORDS})(?!\w)"),
        expression(r"\b(?:biggest|largest|roomiest|mas grandes?|mas ampli[oa]s?)\b"),
        expression(r"\b(?:smallest|mas pequen[oa]s?|mas chic[oa]s?)\b"),
        {},
    ),
)  # fmt: skip
_UNSPECIFIC_WORDS = word_set(
    "option opcion one ones plan price precio cost coste thing alternativa month mes year ano pay pago "
    "paid sale cuesta costs vale pesa dura tarda menos mas much"
)
"""Words that are said of anything, so they choose no table."""
_MAX_TABLES = 3
"""Maximum tables for which the most of each is given."""
_WAY = expression(r"\b(?:way|manera|forma|modo)\b")
"""The cheapest way to do something is not in a table."""
_PAID = expression(r"\b(?:paid|paying|de pago)\b")
_PERIODS = tuple(
    (expression(rf"\b(?:{question_words})\b"), expression(rf"\b(?:{other})\b"))
    for question_words, other in (
        ("month|monthly|mes|mensual", r"(?:a|per|the|al|por) (?:day|dia|year|ano|hour|hora)"),
        ("year|yearly|ano|anual", r"(?:a|per|the|al|por) (?:day|dia|month|mes|hour|hora)"),
    )
)


_WHICH = expression(r"\b(?:which|what)\b")
_COMPARATIVES = tuple(
    (expression(rf"\b{more}\b(?! than)"), most)
    for more, most in (
        ("(?:cheaper|less expensive)", "cheapest"),
        ("(?:more expensive|dearer|pricier)", "most expensive"),
        ("(?:shorter|quicker|faster)", "shortest"),
        ("longer", "longest"),
        ("(?:bigger|larger)", "biggest"),
        ("smaller", "smallest"),
        ("lighter", "lightest"),
        ("heavier", "heaviest"),
    )
)


def _as_superlative(question: str) -> str:
    """The normalized question with "which is cheaper?" as "which is cheapest?"."""
    normalized = plain(question)
    if _WHICH.search(normalized):
        for comparative, superlative in _COMPARATIVES:
            normalized = comparative.sub(superlative, normalized)
    return normalized


def is_superlative(question: str) -> bool:
    """Whether a question asks for the most or the least of something that pages give in figures."""
    return _measure_and_sign(_as_superlative(question)) is not None


def superlative_passages(question: str, antecedent: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The row or sentence with the most or the least; two if they tie; empty if that is not shown."""
    whole = _as_superlative(question)
    question = next(filter(is_superlative, re.split(r"[.,;:!?¿¡]+", question)), "")
    question = normalized = _as_superlative(question)
    match = _measure_and_sign(normalized)
    if match is None or _WAY.search(normalized):
        return []
    measure, sign = match
    values = [
        (sign * value, passage)
        for passage in _passages_by_thing(passages, measure)
        if (value := _value(measure, passage)) is not None
        and not (value == 0 and _PAID.search(normalized))
        and not any(
            period.search(normalized) and other_period.search(plain(passage.text)) for period, other_period in _PERIODS
        )
    ]
    candidates = _values_of_kind(values, question if _kind_keys(question) or not antecedent else antecedent)
    if not candidates and antecedent and not _kind_keys(question):
        candidates = _values_of_table(_kind_keys(antecedent), values, passages)
    if not candidates and (_kind_keys(question) or not any(passage.is_table_row for _, passage in values)):
        candidates = _values_of_sections(values, _kind_keys(question))
    if not candidates:
        return [] if antecedent or _kind_keys(whole) else _most_of_each(values)
    best_value = max(value for value, _ in candidates)
    return [passage for value, passage in candidates if value == best_value][:2]


def _values_of_sections(values: Sequence[tuple[float, Excerpt]], kind: set[str]) -> list[tuple[float, Excerpt]]:
    """The sentences of one page that each give the figure of what their heading names: "The Pro plan costs", under
    "Pro"."""
    pages: dict[str, dict[str, tuple[float, Excerpt]]] = {}
    for value, passage in values:
        name = set(words_of(passage.heading))
        names_heading = not (passage.row or passage.item) and name and name <= set(words_of(passage.text))
        if names_heading and (not kind or kind & keys_in(f"{passage.title} {passage.heading} {passage.text}")):
            pages.setdefault(passage.url.partition("#")[0], {}).setdefault(passage.heading, (value, passage))
    best_page = max(pages.values(), key=len, default=dict[str, tuple[float, Excerpt]]())
    return list(best_page.values()) if len(best_page) > 1 else []


def _most_of_each(values: Sequence[tuple[float, Excerpt]]) -> list[Excerpt]:
    """The row with the most of each table, if there are at most `_MAX_TABLES` tables."""
    tables: dict[tuple[str, str], list[tuple[float, Excerpt]]] = {}
    for value, row in values:
        if row.is_table_row:
            tables.setdefault(row.location, []).append((value, row))
    tables_of_several = [rows for rows in tables.values() if len(rows) > 1]
    if 1 < len(tables_of_several) <= _MAX_TABLES:
        return [max(rows, key=lambda row: row[0])[1] for rows in tables_of_several]
    return []


def passages_of_thing(passage: Excerpt, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """Everything about a thing: its column of the table, its row, or its section."""
    if passage.row and len(passage.columns) == 1:
        column = cells_of_thing(frozenset(words_of(passage.columns[0])), passages)
        return [row for row in column if table_of(row) == table_of(passage)] or [passage]
    if passage.row:
        return [passage]
    return [other for other in passages if other.location == passage.location][:MAX_SHOWN]


def _passages_by_thing(passages: Sequence[Excerpt], measure: _Measure) -> list[Excerpt]:
    """The passages. If a table's columns are things, the cells of its first row with the measure replace its rows."""
    cells = cells_by_thing(passages)
    tables = {table_of(passage) for passage in cells}
    first_rows = {table_of(passage): name_of(passage) for passage in reversed(cells) if _value(measure, passage)}
    return [passage for passage in cells if first_rows.get(table_of(passage)) == name_of(passage)] + [
        passage for passage in passages if table_of(passage) not in tables
    ]


def _measure_and_sign(normalized: str) -> tuple[_Measure, int] | None:
    for measure in _MEASURES:
        if measure.most.search(normalized):
            return measure, 1
        if measure.least.search(normalized):
            return measure, -1
    return None


def _value(measure: _Measure, passage: Excerpt) -> float | None:
    # If a table's columns are things, the row's name may say what its figures are: "Seats", and 4.
    text = f"{name_of(passage)}: {passage.cells[0]}" if len(passage.columns) == 1 and passage.cells else passage.text
    matches = [match.groups() for match in measure.shape.finditer(plain(text))]
    for groups in matches:
        figure = next((group for group in groups if group and group[0].isdigit()), "")
        if figure:
            return number_of(figure) * measure.units.get((groups[-1] or "") if measure.units else "", 1)
    return 0.0 if matches and passage.row else None


def _values_of_kind(values: Sequence[tuple[float, Excerpt]], question: str) -> list[tuple[float, Excerpt]]:
    """The values of the kind that the question names: a table's rows under that name, or sentences that contain it."""
    keys = _kind_keys(question)
    tables: dict[tuple[str, str], list[tuple[float, Excerpt]]] = {}
    for value, passage in values:
        if passage.is_table_row:
            tables.setdefault(passage.location, []).append((value, passage))
    tables_of_kind = [
        rows
        for (_, heading), rows in tables.items()
        if len(rows) > 1 and (keys & keys_in(_table_name(heading, rows[0][1])) or (keys and keys <= _keys_of_all(rows)))
    ]
    if tables_of_kind:
        return max(tables_of_kind, key=len)
    question_keys = _keys_without_superlative(question) - {"=price"}
    sentences = [
        (value, passage)
        for value, passage in values
        if not passage.row and question_keys & keys_in(f"{passage.title} {passage.heading} {passage.text}")
    ]
    pages = {passage.url for _, passage in sentences}
    if len(pages) == 1 and len(sentences) > 1:
        return sentences
    tables_of_rows = [rows for rows in tables.values() if len(rows) > 1]
    if len(tables_of_rows) > 1:
        tables_of_rows = [
            rows for rows in tables_of_rows if question_keys & keys_in(_table_name(rows[0][1].heading, rows[0][1]))
        ]
    return tables_of_rows[0] if not keys and len(tables_of_rows) == 1 else []


def _values_of_table(
    name_keys: set[str], values: Sequence[tuple[float, Excerpt]], passages: Sequence[Excerpt]
) -> list[tuple[float, Excerpt]]:
    """The values of the one table that has a row of this name."""
    tables = {table_of(row) for row in passages if row.is_table_row and name_keys & keys_in(name_of(row))}
    return [(value, passage) for value, passage in values if table_of(passage) in tables] if len(tables) == 1 else []


def _table_name(heading: str, row: Excerpt) -> str:
    """A table's heading, or its page's title, and the header of its first column."""
    return f"{heading or row.title} {row.column}"


def _kind_keys(question: str) -> set[str]:
    """The keys of the kind asked for: of words that are neither the superlative nor said of anything."""
    return _keys_without_superlative(
        " ".join(word for word in significant_words(question) if word not in _UNSPECIFIC_WORDS), question
    )


def _keys_without_superlative(text: str, question: str = "") -> set[str]:
    superlative = plain(question or text)
    return {
        key for word in significant_words(text) if not _is_in_superlative(word, superlative) for key in keys_of(word)
    }


def _keys_of_all(rows: Sequence[tuple[float, Excerpt]]) -> set[str]:
    """The keys that every row of a table has, such as those of its column headers."""
    first, *others = (keys_in(row.text) for _, row in rows)
    return first.intersection(*others)


def _is_in_superlative(word: str, normalized: str) -> bool:
    patterns = (pattern for measure in _MEASURES for pattern in (measure.most, measure.least))
    return any(word in match[0].split() for pattern in patterns if (match := pattern.search(normalized)))
