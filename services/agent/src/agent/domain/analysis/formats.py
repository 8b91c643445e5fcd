"""Formats figures for people, in es and en: 2.9% or 2,9 %, USD 202.91 or 202,91 USD, 1 March 2013."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from agent.domain.analysis.stretches import ALL_TIME
from agent.domain.analysis.texts import analysis_text
from agent.texts import TEXTS
from contracts.calendar_names import month_name
from contracts.expressions import expression
from contracts.languages import Language

_SPANISH = str.maketrans(",.", ".,")
_DATED = expression(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:|$)")
_FIGURES = TEXTS.section("analysis.figure")
_PERIODS = TEXTS.section("analysis.period")


def figure_name(name: str, language: Language) -> str:
    """Names a figure as a person would; returns are named by their period."""
    group, _, period = name.partition(".")
    if group == "returns" and period in _PERIODS:
        return f"{_FIGURES['return'].in_language(language)} ({period_name(period, language)})"
    return _FIGURES[name].in_language(language) if name in _FIGURES else name


def period_name(period: str, language: Language) -> str:
    """1y as "1 year"."""
    return _PERIODS[period].in_language(language)


def percent(fraction: float, language: Language) -> str:
    """0.0294 as 2.9% or 2,9 %."""
    text = f"{fraction * 100:.1f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return f"{text.replace('.', ',')} %" if language != "en" else f"{text}%"


def number(value: float, language: Language, places: int = 2) -> str:
    """1234.5 as 1,234.50 or 1.234,50."""
    text = f"{value:,.{places}f}"
    return text.translate(_SPANISH) if language != "en" else text


def figure(value: float, language: Language) -> str:
    """A figure with its own digits: 1234.5 as 1,234.5 or 1234,5; 3.0 as 3.

    In Spanish thousands are marked from a million on: below, 1.000 could be read as one.
    """
    text = f"{value:,.8f}".rstrip("0").rstrip(".")
    if language == "en":
        return text
    return text.translate(_SPANISH) if abs(value) >= 1e6 else text.replace(",", "").replace(".", ",")


def signed(text: str) -> str:
    """A number or percentage of a move, with its sign even if it is a plus."""
    return text if text.startswith("-") else f"+{text}"


def money(value: float, currency: str | None, language: Language) -> str:
    """202.91 as USD 202.91 or 202,91 USD; large amounts in billions or millions."""
    unit, scaled = "", value
    if abs(value) >= 1e9:
        unit, scaled = analysis_text("unit.billion", language), value / 1e9
    elif abs(value) >= 1e6:
        unit, scaled = analysis_text("unit.million", language), value / 1e6
    text = number(scaled, language, 1 if unit else 2)
    name = currency or ""
    written = f"{text}{unit} {name}" if language != "en" else f"{name} {text}{unit}"
    return written.strip()


def day(moment: str | date | datetime, language: Language) -> str:
    """2013-03-01 as 1 March 2013 or 1 de marzo de 2013."""
    date_of_moment = as_date(moment)
    month = month_name(date_of_moment.month, language)
    return analysis_text("day", language, day=date_of_moment.day, month=month, year=date_of_moment.year)


def moment(written: object, language: Language) -> str:
    """2012-11-01T20:00:00Z as 1 November 2012, 20:00 UTC or 1 de noviembre de 2012, 20:00 UTC; a date as its day.

    Other texts are returned as they are, since providers have their own names for some periods.
    """
    text = str(written)
    if not _DATED.match(text):
        return text
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return text
    if len(text) == len("2012-11-01"):
        return day(parsed, language)
    parsed = parsed.replace(tzinfo=parsed.tzinfo or UTC).astimezone(UTC)
    return f"{day(parsed, language)}, {parsed:%H:%M} UTC"


def as_date(moment: str | date | datetime) -> date:
    """The date of a date, a time, or a text as the tools write it (RFC 3339)."""
    if isinstance(moment, datetime):
        return moment.date()
    return moment if isinstance(moment, date) else date.fromisoformat(moment[:10])


def joined(parts: Sequence[str], language: Language) -> str:
    """a, b and c."""
    if len(parts) < 2:
        return "".join(parts)
    last = analysis_text("and_before_i" if parts[-1][:1] in "iI" else "and", language)
    return ", ".join(parts[:-1]) + last + parts[-1]


_MAX_CLOSED_TIME = timedelta(days=7)
"""No market is closed longer than this before the end of a period."""


def period_text(period: str, language: Language, until: str | None = None) -> str:
    """2008-01-01/2008-12-31 as from 1 January 2008 to 31 December 2008; 5y as over the last 5 years. `until`: the last
    day with data (ISO 8601), at which the text of an unfinished period ends."""
    first, slash, last = period.partition("/")
    if until and last and first < until[:10] and as_date(last) - as_date(until) > _MAX_CLOSED_TIME:
        last = until[:10]
    if slash and first == last:
        return analysis_text("stretch.day", language, first=day(first, language))
    if slash and first == ALL_TIME.arguments["start"] and last:
        return analysis_text("stretch.all_up_to", language, last=day(last, language))
    if slash and last:
        return analysis_text("stretch.from_to", language, first=day(first, language), last=day(last, language))
    if period == ALL_TIME.period:
        return analysis_text("stretch.all", language)
    if slash:
        return analysis_text("stretch.since", language, first=day(first, language))
    if period == "ytd":
        return analysis_text("stretch.ytd", language)
    count = int(period[:-1])
    return analysis_text(f"stretch.{'one' if count == 1 else 'several'}_{period[-1]}", language, count=count)
