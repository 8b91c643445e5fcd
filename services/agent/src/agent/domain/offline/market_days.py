"""Reads which day a question about the market's hours is about: "tomorrow", "on Friday", "el día de Navidad", "24
December". A day without a year is the next one, or the last one if the question is about the past."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from agent.domain.analysis.relative_days import DATES, MONTH_FORMS, date_in
from contracts.calendar_names import WEEKDAYS

_MONDAY, _THURSDAY = 0, 3
_PAST = re.compile(r"\b(?:was|were|did|last|fue|estuvo|estaba|abrio|cerro|pasad[oa])\b")
_NEAR = re.compile(
    r"\b(?:(?P<overmorrow>day after tomorrow|pasado manana)|(?P<tomorrow>tomorrow|(?<!la )(?<!esta )manana)|"
    r"(?P<today>today|tonight|hoy|esta (?:manana|tarde|noche))|(?P<ereyesterday>day before yesterday|anteayer|antier)|"
    r"(?P<yesterday>yesterday|ayer))\b"
)
_NEAR_DAYS = {"overmorrow": 2, "tomorrow": 1, "today": 0, "yesterday": -1, "ereyesterday": -2}
_WEEKDAYS = {name.replace("é", "e").replace("á", "a"): number for name, number in WEEKDAYS.items()}
_WEEKDAY = re.compile(rf"\b(?P<day>{'|'.join(_WEEKDAYS)})s?\b")
_MONTH = "|".join(sorted(MONTH_FORMS, key=len, reverse=True))
_OF_MONTH = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of |de )?(?P<month>{_MONTH})|"
    rf"(?P<before>{_MONTH}) (?P<after>\d{{1,2}})(?:st|nd|rd|th)?)\b"
)
OfYear = Callable[[int], date]


def _on(month: int, day: int) -> OfYear:
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
    (r"christmas eve|nochebuena", _on(12, 24)),
    (r"(?:christmas|xmas)(?: day)?|navidad", _on(12, 25)),
    (r"boxing day", _on(12, 26)),
    (r"new year\W?s eve|nochevieja|fin de ano", _on(12, 31)),
    (r"new year(?:\W?s)?(?: day)?|ano nuevo", _on(1, 1)),
    (r"epiphany|(?:dia de |por |en )reyes", _on(1, 6)),
    (r"juneteenth", _on(6, 19)),
    (r"independence day|fourth of july|dia de la independencia", _on(7, 4)),
    (r"all saints\W?(?: day)?|todos los santos", _on(11, 1)),
    (r"veterans\W? day|dia de los veteranos", _on(11, 11)),
    (r"martin luther king|mlk", _nth(1, _MONDAY, 3)),
    (r"presidents?\W? day|president\W?s day|washington\W?s birthday|dia de los? presidentes?", _nth(2, _MONDAY, 3)),
    (r"memorial day", _nth(5, _MONDAY, -1)),
    (r"labou?r day", _nth(9, _MONDAY, 1)),
    (r"columbus day", _nth(10, _MONDAY, 2)),
    (r"black friday|(?:day|friday) after thanksgiving|(?:dia|viernes) (?:despues|siguiente) (?:de|a) accion de gracias",
     _nth(11, _THURSDAY, 4, 1)),
    (r"thanksgiving|accion de gracias", _nth(11, _THURSDAY, 4)),
    (r"good friday|viernes santo", _from_easter(-2)),
    (r"maundy thursday|jueves santo", _from_easter(-3)),
    (r"easter monday|lunes de pascua", _from_easter(1)),
    (r"easter(?: sunday)?|domingo de (?:pascua|resurreccion)", _from_easter(0)),
)  # fmt: skip
_HOLIDAY_PATTERNS = tuple((re.compile(rf"\b(?:{words})\b"), of_year) for words, of_year in _HOLIDAYS)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def day_in(normalized: str, today: date) -> date | None:
    """The day that a normalized text names; None if it names none."""
    if any(pattern.search(normalized) for pattern in DATES):
        return date_in(normalized)
    if (near := _NEAR.search(normalized)) and near.lastgroup:
        return today + timedelta(days=_NEAR_DAYS[near.lastgroup])
    is_past = _PAST.search(normalized) is not None
    if (
        of_year := next((date_of_year for words, date_of_year in _HOLIDAY_PATTERNS if words.search(normalized)), None)
    ) is not None:
        year = _YEAR.search(normalized)
        return of_year(int(year[0])) if year else _closest_date(of_year, today, is_past=is_past)
    if match := _OF_MONTH.search(normalized):
        month, day = MONTH_FORMS[match["month"] or match["before"]], int(match["day"] or match["after"])
        return _closest_date(_on(month, day), today, is_past=is_past) if day <= _DAYS[month - 1] else None
    if match := _WEEKDAY.search(normalized):
        days_ahead = (_WEEKDAYS[match["day"]] - today.weekday()) % 7
        return today + timedelta(days=days_ahead - 7 if is_past else days_ahead)
    return None


_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _closest_date(of_year: OfYear, today: date, *, is_past: bool) -> date:
    """The next such day from today on, or the last one before today if `is_past`."""
    this_year = of_year(today.year)
    if is_past:
        return this_year if this_year < today else of_year(today.year - 1)
    return this_year if this_year >= today else of_year(today.year + 1)
