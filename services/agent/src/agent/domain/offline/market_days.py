"""Reads which day a question about the market's hours is about: "tomorrow", "on Friday", "el día de Navidad", "24
December". A day without a year is the next one, or the last one if the question is about the past."""

from collections.abc import Sequence
from datetime import date, timedelta

from agent.domain.analysis.relative_days import DATES, MONTH_FORMS, date_in, shifted_days
from agent.domain.holidays import closest_date, holiday_in, on_day
from agent.domain.text_features import plain
from contracts.calendar_names import WEEKDAYS
from contracts.expressions import expression

_PAST = expression(r"\b(?:was|were|did|last|fue|estuvo|estaba|abrio|cerro|pasad[oa])\b")
_NEAR = expression(
    r"\b(?:(?P<overmorrow>day after tomorrow|pasado manana)|(?P<tomorrow>tomorrow|(?<!la )(?<!esta )manana)|"
    r"(?P<today>today|tonight|hoy|esta (?:manana|tarde|noche))|(?P<ereyesterday>day before yesterday|anteayer|antier)|"
    r"(?P<yesterday>yesterday|ayer))\b"
)
_NEAR_DAYS = {"overmorrow": 2, "tomorrow": 1, "today": 0, "yesterday": -1, "ereyesterday": -2}
_WEEKDAYS = {name.replace("é", "e").replace("á", "a"): number for name, number in WEEKDAYS.items()}
_WEEKDAY = expression(rf"\b(?P<day>{'|'.join(_WEEKDAYS)})s?\b")
_MONTH = "|".join(sorted(MONTH_FORMS, key=len, reverse=True))
_OF_MONTH = expression(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of |de )?(?P<month>{_MONTH})|"
    rf"(?P<before>{_MONTH}) (?P<after>\d{{1,2}})(?:st|nd|rd|th)?)\b"
)
_YEAR = expression(r"\b(?:19|20)\d\d\b")


def day_in(normalized: str, today: date) -> date | None:
    """The day that a normalized text names; None if it names none."""
    if any(pattern.search(normalized) for pattern in DATES):
        return date_in(normalized)
    if (near := _NEAR.search(normalized)) and near.lastgroup:
        return today + timedelta(days=_NEAR_DAYS[near.lastgroup])
    is_past = _PAST.search(normalized) is not None
    if (of_year := holiday_in(normalized)) is not None:
        year = _YEAR.search(normalized)
        return of_year(int(year[0])) if year else closest_date(of_year, today, is_past=is_past)
    if match := _OF_MONTH.search(normalized):
        month, day = MONTH_FORMS[match["month"] or match["before"]], int(match["day"] or match["after"])
        return closest_date(on_day(month, day), today, is_past=is_past) if day <= _DAYS[month - 1] else None
    if match := _WEEKDAY.search(normalized):
        days_ahead = (_WEEKDAYS[match["day"]] - today.weekday()) % 7
        return today + timedelta(days=days_ahead - 7 if is_past else days_ahead)
    return None


def day_beside(normalized: str, earlier_texts: Sequence[str], today: date) -> date | None:
    """The day that a normalized text names by its distance to the day of the last text that names one: "and the day
    after?"; None if it names none so."""
    days = (day_in(plain(text), today) for text in reversed(earlier_texts))
    shifted = shifted_days(normalized, {"end": str(next(filter(None, days), None) or today)})
    return None if shifted is None else date.fromisoformat(shifted[1])


_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
