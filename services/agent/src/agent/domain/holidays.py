"""The days that people call by name, in Spanish and English: Christmas, Thanksgiving, Viernes Santo."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from contracts.expressions import expression

_MONDAY, _THURSDAY = 0, 3
OfYear = Callable[[int], date]


def on_day(month: int, day: int) -> OfYear:
    """The same date each year."""
    return lambda year: date(year, month, day)


def _nth(month: int, weekday: int, position: int, days_later: int = 0) -> OfYear:
    """The date of the weekday at `position` in the month (-1 is the last), plus `days_later` days."""

    def of(year: int) -> date:
        first = date(year, month, 1)
        days = [first + timedelta(days=n) for n in range(31)]
        return [day for day in days if day.month == month and day.weekday() == weekday][
            position if position < 0 else position - 1
        ] + timedelta(days=days_later)

    return of


def _from_easter(days: int) -> OfYear:
    """The date `days` days from Easter Sunday, by the algorithm of Meeus, Jones and Butcher."""

    def of(year: int) -> date:
        a, (b, c) = year % 19, divmod(year, 100)
        h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
        k = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
        m = (a + 11 * h + 22 * k) // 451
        month, day = divmod(h + k - 7 * m + 114, 31)
        return date(year, month, day + 1) + timedelta(days=days)

    return of


_HOLIDAYS: tuple[tuple[str, OfYear], ...] = (
    (r"christmas eve|nochebuena", on_day(12, 24)),
    (r"(?:christmas|xmas)(?: day)?|navidad", on_day(12, 25)),
    (r"boxing day", on_day(12, 26)),
    (r"new year\W?s eve|nochevieja|fin de a[nñ]o", on_day(12, 31)),
    (r"new year(?:\W?s)?(?: day)?|a[nñ]o nuevo", on_day(1, 1)),
    (r"epiphany|(?:d[ií]a de |por |en )reyes", on_day(1, 6)),
    (r"juneteenth", on_day(6, 19)),
    (r"independence day|fourth of july|d[ií]a de la independencia", on_day(7, 4)),
    (r"all saints\W?(?: day)?|todos los santos", on_day(11, 1)),
    (r"veterans\W? day|d[ií]a de los veteranos", on_day(11, 11)),
    (r"martin luther king|mlk", _nth(1, _MONDAY, 3)),
    (r"presidents?\W? day|president\W?s day|washington\W?s birthday|d[ií]a de los? presidentes?", _nth(2, _MONDAY, 3)),
    (r"memorial day", _nth(5, _MONDAY, -1)),
    (r"labou?r day|d[ií]a del trabajo", _nth(9, _MONDAY, 1)),
    (r"columbus day", _nth(10, _MONDAY, 2)),
    (r"black friday|(?:day|friday) after thanksgiving|"
     r"(?:d[ií]a|viernes) (?:despu[eé]s|siguiente) (?:de|a) acci[oó]n de gracias",
     _nth(11, _THURSDAY, 4, 1)),
    (r"thanksgiving|acci[oó]n de gracias", _nth(11, _THURSDAY, 4)),
    (r"good friday|viernes santo", _from_easter(-2)),
    (r"maundy thursday|jueves santo", _from_easter(-3)),
    (r"easter monday|lunes de pascua", _from_easter(1)),
    (r"easter(?: sunday)?|domingo de (?:pascua|resurrecci[oó]n)", _from_easter(0)),
)  # fmt: skip
_NAMES = "|".join(f"({words})" for words, _ in _HOLIDAYS)
_HOLIDAY = expression(rf"\b(?:{_NAMES})\b", re.IGNORECASE)
_AT_HOLIDAY = expression(
    rf"\b(?P<at>since|at|on|by|before|desde|en|por)(?: (?:el )?d[ií]a de)? (?:{_NAMES})\b"
    r"(?!,? (?:of |de |del )?\d{4})",
    re.IGNORECASE,
)


def holiday_in(text: str) -> OfYear | None:
    """The first day that a text calls by name."""
    match = _HOLIDAY.search(text)
    return None if match is None else _HOLIDAYS[(match.lastindex or 1) - 1][1]


def with_last_holidays(text: str, today: date) -> str:
    """The text with each such day after a preposition replaced by the last one before `today`: since Christmas."""

    def dated(match: re.Match[str]) -> str:
        of_year = _HOLIDAYS[(match.lastindex or 2) - 2][1]
        return f"{match['at']} {closest_date(of_year, today, is_past=True)}"

    return _AT_HOLIDAY.sub(dated, text)


def closest_date(of_year: OfYear, today: date, *, is_past: bool) -> date:
    """The next such day from today on, or the last one before today if `is_past`."""
    this_year = of_year(today.year)
    if is_past:
        return this_year if this_year < today else of_year(today.year - 1)
    return this_year if this_year >= today else of_year(today.year + 1)
