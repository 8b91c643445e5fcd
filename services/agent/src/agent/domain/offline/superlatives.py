"""Answers a question for the most or the least of something, such as "the cheapest bread", by the figures on the pages.

It compares prices, weights, durations and capacities in the rows of one table. Where the pages do not show which one it
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

_FIGURE = r"\d(?:[\d.,]*\d)?"
_MONEY = r"(?:usd|eur|gbp|mxn|euros?|dollars?|pounds?|dolares|libras|pesos)\b"
_MINUTES = {"min": 1, "hour": 60, "hora": 60, "h": 60, "day": 1440, "dia": 1440, "week": 10080, "semana": 10080,
            "month": 43200, "mes": 43200, "year": 525600, "ano": 525600}  # fmt: skip
_GRAMS = {"g": 1, "gr": 1, "gramo": 1, "kg": 1000, "kilo": 1000}
_HOLDS = (r"sleeps|seats?|people|persons?|passengers?|guests?|servings?|portions?|capacity|plazas|personas|pasajeros|"
          r"raciones|comensales|capacidad|aforo|m2|m²")  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Measure:
    """What is compared: how it is written, the words for the most of it and for the least."""

    shape: re.Pattern[str]
    most: re.Pattern[str]
    least: re.Pattern[str]
    units: dict[str, int]


_MEASURES = (
    _Measure(
        re.compile(rf"[$€£] ?({_FIGURE})|({_FIGURE}) ?(?:[$€£]|{_MONEY})|\b(gratis|gratuit[oa]|free)\b"),
        re.compile(r"\b(?:most expensive|priciest|dearest|the (?:expensive|pricey)|"
                   r"(?:el|los) (?:\w+ )?caros?|las? \w+ caras?|(?<=^y )las? caras?|"
                   r"costliest|mas car[oa]s?|costs? (?:the )?most|(?:cuesta|vale)n? mas|mas (?:cuesta|vale)n?)\b"),
        re.compile(r"\b(?:cheapest|the cheap|(?:el|la|los|las) (?:\w+ )?barat[oa]s?|"
                   r"least expensive|lowest[ -](?:price|cost)\w*|most affordable|menos car[oa]s?|"
                   r"mas (?:barat|economic)[oa]s?|mas asequibles?|costs? (?:the )?least|(?:cuesta|vale)n? menos|"
                   r"menos (?:cuesta|vale)n?)\b"),
        {},
    ),
    _Measure(
        re.compile(rf"({_FIGURE}) ?(kg|kilo|gramo|gr?)s?\b"),
        re.compile(r"\b(?:heaviest|weighs? (?:the )?most|mas pesad[oa]s?|mas pesan?|pesan? mas)\b"),
        re.compile(r"\b(?:lightest|weighs? (?:the )?least|menos pesad[oa]s?|menos pesan?|pesan? menos)\b"),
        _GRAMS,
    ),
    _Measure(
        re.compile(rf"({_FIGURE})[ -]?(min|hour|hora|h|day|dia|week|semana|month|mes|year|ano)(?:ute|uto)?(?:e?s)?\b"),
        re.compile(r"\b(?:longest|takes? (?:the )?most time|mas larg[oa]s?|(?:dura|tarda)n? mas|"
                   r"mas (?:dura|tarda)n?)\b"),
        re.compile(r"\b(?:shortest|quickest|fastest|mas cort[oa]s?|mas rapid[oa]s?|(?:dura|tarda)n? menos|"
                   r"menos (?:dura|tarda)n?)\b"),
        _MINUTES,
    ),
    _Measure(
        re.compile(rf"(?:{_HOLDS}):? ({_FIGURE})|({_FIGURE}) ?(?:{_HOLDS})(?!\w)"),
        re.compile(r"\b(?:biggest|largest|roomiest|mas grandes?|mas ampli[oa]s?)\b"),
        re.compile(r"\b(?:smallest|mas pequen[oa]s?|mas chic[oa]s?)\b"),
        {},
    ),
)  # fmt: skip
_ANY = word_set("option opcion one ones plan price precio cost coste thing alternativa month mes year ano pay pago "
                "paid sale cuesta costs vale pesa dura tarda menos mas much")  # fmt: skip
"""What is said of anything: it chooses no table."""
_TABLES = 3
"""Tables of which the most is told of each."""
_HOW = re.compile(r"\b(?:way|manera|forma|modo)\b")
"""The cheapest way to do something is in no table."""
_PAID = re.compile(r"\b(?:paid|paying|de pago)\b")
_PERIODS = tuple(
    (re.compile(rf"\b(?:{asked})\b"), re.compile(rf"\b(?:{other})\b"))
    for asked, other in (
        ("month|monthly|mes|mensual", r"(?:a|per|the|al|por) (?:day|dia|year|ano|hour|hora)"),
        ("year|yearly|ano|anual", r"(?:a|per|the|al|por) (?:day|dia|month|mes|hour|hora)"),
    )
)


_WHICH = re.compile(r"\b(?:which|what)\b")
_OF_SEVERAL = tuple(
    (re.compile(rf"\b{more}\b(?! than)"), most)
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


def _of_several(question: str) -> str:
    """Which of them is cheaper? That asks for the cheapest."""
    said = plain(question)
    if _WHICH.search(said):
        for more, most in _OF_SEVERAL:
            said = more.sub(most, said)
    return said


def is_superlative(question: str) -> bool:
    """Whether a question is for the most or the least of something that pages tell in figures."""
    return _meant(_of_several(question)) is not None


def the_most(question: str, before: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The row or sentence that has it; none where the passages do not show which it is."""
    question = next(filter(is_superlative, re.split(r"[.,;:!?¿¡]+", question)), "")
    question = said = _of_several(question)
    meant = _meant(said)
    if meant is None or _HOW.search(said):
        return []
    measure, sign = meant
    figured = [
        (sign * value, one)
        for one in _set_apart(passages, measure)
        if (value := _value(measure, one)) is not None
        and not (value == 0 and _PAID.search(said))
        and not any(asked.search(said) and other.search(plain(one.text)) for asked, other in _PERIODS)
    ]
    groups = _alike(figured, question if _kind_named(question) or not before else before)
    if not groups and before and not _kind_named(question):
        groups = _of_table_with(_kind_named(before), figured)
    if not groups and (_kind_named(question) or not any(one.is_table_row for _, one in figured)):
        groups = _of_sections(figured, _kind_named(question))
    if not groups:
        return [] if before or _kind_named(question) else _most_of_each(figured)
    best = max(value for value, _ in groups)
    return [one for value, one in groups if value == best][:2]


def _of_sections(figured: Sequence[tuple[float, Excerpt]], kind: set[str]) -> list[tuple[float, Excerpt]]:
    """The sentences of one page that each tell it of what their heading names: "The Pro plan costs", under "Pro"."""
    pages: dict[str, dict[str, tuple[float, Excerpt]]] = {}
    for value, one in figured:
        name = set(words_of(one.heading))
        named = not (one.row or one.item) and name and name <= set(words_of(one.text))
        if named and (not kind or kind & keys_in(f"{one.title} {one.heading} {one.text}")):
            pages.setdefault(one.url.partition("#")[0], {}).setdefault(one.heading, (value, one))
    most = max(pages.values(), key=len, default=dict[str, tuple[float, Excerpt]]())
    return list(most.values()) if len(most) > 1 else []


def _most_of_each(figured: Sequence[tuple[float, Excerpt]]) -> list[Excerpt]:
    """The one of each table, where a question names none of them and there are few."""
    tables: dict[tuple[str, str], list[tuple[float, Excerpt]]] = {}
    for value, one in figured:
        if one.is_table_row:
            tables.setdefault(one.location, []).append((value, one))
    several = [rows for rows in tables.values() if len(rows) > 1]
    return [max(rows, key=lambda row: row[0])[1] for rows in several] if 1 < len(several) <= _TABLES else []


def whole_of(one: Excerpt, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """All that is told of the one that it is: its column of the table, or its section."""
    if one.row and len(one.columns) == 1:
        column = cells_of_thing(frozenset(words_of(one.columns[0])), passages)
        return [row for row in column if table_of(row) == table_of(one)] or [one]
    if one.row:
        return [one]
    return [other for other in passages if other.location == one.location][:MAX_SHOWN]


def _set_apart(passages: Sequence[Excerpt], measure: _Measure) -> list[Excerpt]:
    """The passages; where a table's columns are things, what the first row that tells it tells of each of them, instead
    of the table's rows."""
    apart = cells_by_thing(passages)
    tables = {table_of(one) for one in apart}
    first = {table_of(one): name_of(one) for one in reversed(apart) if _value(measure, one)}
    return [one for one in apart if first.get(table_of(one)) == name_of(one)] + [
        one for one in passages if table_of(one) not in tables
    ]


def _meant(said: str) -> tuple[_Measure, int] | None:
    for one in _MEASURES:
        if one.most.search(said):
            return one, 1
        if one.least.search(said):
            return one, -1
    return None


def _value(measure: _Measure, one: Excerpt) -> float | None:
    # Of a table whose columns are things, the row's name may say what its figures are: "Seats", and 4.
    said = f"{name_of(one)}: {one.cells[0]}" if len(one.columns) == 1 and one.cells else one.text
    found = [match.groups() for match in measure.shape.finditer(plain(said))]
    for groups in found:
        written = next((group for group in groups if group and group[0].isdigit()), "")
        if written:
            return number_of(written) * measure.units.get((groups[-1] or "") if measure.units else "", 1)
    return 0.0 if found and one.row else None


def _alike(figured: Sequence[tuple[float, Excerpt]], question: str) -> list[tuple[float, Excerpt]]:
    """Those that are of the kind that the question names: a table's rows under its name, or sentences that name it."""
    keys = _kind_named(question)
    tables: dict[tuple[str, str], list[tuple[float, Excerpt]]] = {}
    for value, one in figured:
        if one.is_table_row:
            tables.setdefault(one.location, []).append((value, one))
    fitting = [
        rows
        for (_, heading), rows in tables.items()
        if len(rows) > 1 and (keys & keys_in(_name_of(heading, rows[0][1])) or (keys and keys <= _said_by_all(rows)))
    ]
    if fitting:
        return max(fitting, key=len)
    every = _said_of(question) - {"=price"}
    saying = [(value, one) for value, one in figured
              if not one.row and every & keys_in(f"{one.title} {one.heading} {one.text}")]  # fmt: skip
    pages = {one.url for _, one in saying}
    if len(pages) == 1 and len(saying) > 1:
        return saying
    alone = [rows for rows in tables.values() if len(rows) > 1]
    if len(alone) > 1:
        alone = [rows for rows in alone if every & keys_in(_name_of(rows[0][1].heading, rows[0][1]))]
    return alone[0] if not keys and len(alone) == 1 else []


def _of_table_with(named: set[str], figured: Sequence[tuple[float, Excerpt]]) -> list[tuple[float, Excerpt]]:
    """The rows of the one table that has a row of a name that was spoken of."""
    tables = {table_of(one) for _, one in figured if one.is_table_row and named & keys_in(name_of(one))}
    return [(value, one) for value, one in figured if table_of(one) in tables] if len(tables) == 1 else []


def _name_of(heading: str, row: Excerpt) -> str:
    """What a table is called, and what it calls its rows."""
    return f"{heading or row.title} {row.column}"


def _kind_named(question: str) -> set[str]:
    """Of what kind the one is: the words that are neither the superlative nor said of anything."""
    return _said_of(" ".join(word for word in significant_words(question) if word not in _ANY), question)


def _said_of(text: str, question: str = "") -> set[str]:
    superlative = plain(question or text)
    return {key for word in significant_words(text) if not _in_superlative(word, superlative) for key in keys_of(word)}


def _said_by_all(rows: Sequence[tuple[float, Excerpt]]) -> set[str]:
    """What every row of a table says, as the names of its columns."""
    first, *others = (keys_in(one.text) for _, one in rows)
    return first.intersection(*others)


def _in_superlative(word: str, said: str) -> bool:
    shapes = (shape for one in _MEASURES for shape in (one.most, one.least))
    return any(word in match[0].split() for shape in shapes if (match := shape.search(said)))
