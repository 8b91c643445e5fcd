"""Reads lengths of time, ranges and dates, in Spanish and English.

A period is written as in the figures: 1d, 1w, 1m, 3m, 1y, ytd; 2008-01-01/2008-12-31 for a range; 2008-01-01/ since a
day. The text is folded: lower case, no accents.
"""

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from contracts.calendar_names import MONTHS, NUMBERS, month_name
from contracts.expressions import expression

_SHORT = {month_name(number, "en")[:3].lower(): number for number in range(1, 13)}
FIRST_DAY = "1900-01-01"
"""A day before all data."""
MONTH = rf"(?:{'|'.join(MONTHS)}|sept|{'|'.join(_SHORT)})\b\.?"
"""Without Spanish abbreviations, since "ago" is an English word."""
_NUMBERS = {**NUMBERS, "un": 1, "una": 1, "a": 1}
COUNT = rf"(?:\d{{1,3}}|{'|'.join(_NUMBERS)})"
YEAR = r"(?:19|20)\d\d"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_ISO = r"\d{4}-\d{2}-\d{2}"
_OF = r"(?: ?,? (?:of |de |del )?| )"
_FULL = rf"(?:{_ISO}|{_DAY} (?:of |de )?{MONTH}{_OF}{YEAR}|{MONTH} {_DAY},? {YEAR})"
"""A day, in full."""
_POINT = rf"(?:{_FULL}|{MONTH}{_OF}{YEAR}|{_DAY} (?:of |de )?{MONTH}|{MONTH} {_DAY}(?!\d)|{MONTH}|{YEAR})"
_RANGE = expression(
    rf"\b(?:(?:from|(?P<between>between|entre)|desde|de|del) )?(?:el |the )?(?P<first>{_POINT})"
    rf"(?: *(?:(?:up )?to|until|till|through|thru|-|a|al|"
    rf"hasta|(?(between)(?:and|y)|hasta))(?: el| the| la)? )(?P<last>{_POINT})(?![\w%])"
)
"""From one point to another. Two points side by side ("in March and in May") are no range."""
_SINCE = expression(rf"\b(?:since|desde)(?: el| the)? (?P<first>{_POINT})(?![\w%])")
UNTIL = expression(
    rf"\b(?:(?P<before>before|prior to|antes de(?:l)?)(?: el| the)? (?P<point>{_FULL}|{MONTH}{_OF}{YEAR}|{YEAR})"
    rf"|(?:until|till|up to|hasta)(?: el| the)? (?P<last>{MONTH}{_OF}{YEAR}|{YEAR}))(?![\w%])"
)
"""Everything before a point, or up to the end of a month or year."""
_BARE_MONTH = expression(
    rf"(?<!\d )(?<!\d de )(?<!\d of )\b(?:{'|'.join(MONTHS)})\b(?! \d| (?:of|de|del) \d|, \d{{4}})", re.I
)
_QUARTER = expression(
    rf"\b(?:q(?P<q>[1-4])|(?:the |el )?(?P<word>first|second|third|fourth|primer|segundo|tercer|cuarto) "
    rf"(?:quarter|trimestre))(?:{_OF}| )(?P<year>{YEAR})\b"
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "primer": 1, "segundo": 2, "tercer": 3, "cuarto": 4}
_HALF = expression(
    rf"\b(?:the |el |la )?(?P<word>first|second|primer|primera|segundo|segunda) (?:half|semestre|mitad)"
    rf"(?:{_OF}| )(?P<year>{YEAR})\b"
)
_IN_MONTH = expression(
    rf"\b(?:(?:in|during|en|durante|of|de|for|over) )?(?P<month>{MONTH}){_OF}(?P<year>{YEAR})\b(?!-)"
)
MONTH_MOOD = expression(
    rf"\b(?:(?P<up>strong|good|great|solid|buen|gran|fuerte)|weak|bad|poor|rough|dismal|mal|flojo|pesimo) (?={MONTH})"
)
"""How a month went."""
DATE = expression(
    rf"\b(?:(?P<iso>{_ISO})(?:t[\d:.]+z?)?"
    rf"|(?P<d1>\d{{1,2}})(?:st|nd|rd|th)? (?:of |de )?(?P<m1>{MONTH})(?:{_OF}(?P<y1>{YEAR}))?"
    rf"|(?P<m2>{MONTH}) (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<y2>{YEAR}))?)(?!\w)"
)
_IN_YEAR = expression(
    rf"\b(?:(?:in|during|over|for|throughout|en|durante|de|del|of)(?: the year| el ano| todo| all of)? )?(?:year |ano "
    rf")?(?P<year>{YEAR})\b(?![%\d]|[.,]\d|-\d)"
)
_WORD = (
    r"(?:(?:over|in|during|for|the|its|this|past|last|previous|trailing|latest|ultim[oa]s?|pasad[oa]s?|el|la|los|las|"
    r"en|de|durante|de los|en los|en el|en la) ){0,6}"
)
COUNT_OF_DAYS = expression(
    rf"\b(?P<count>{COUNT}) (?:straight |consecutive )?(?:trading )?(?:days?|sessions?|dias?|sesion(?:es)?)\b"
)
"""The length of a streak."""
_UNITS = {
    **dict.fromkeys(("day", "session", "dia", "sesion"), "d"),
    **dict.fromkeys(("week", "semana"), "w"),
    **dict.fromkeys(("month", "mes"), "m"),
    **dict.fromkeys(("quarter", "trimestre"), "q"),
    **dict.fromkeys(("year", "ano"), "y"),
}
BARE_UNIT = expression(r"\b(?:year[- ]end|year|month|week|quarter|day|ano|mes|semana|trimestre|dia)\b")
BEFORE_BARE_UNIT = expression(
    r"\b(?:was|were|been|is|fue|era|es|sido) (?:an?|una?) (?:[\w-]+ ){0,3}$|"
    r"\b(?<!since the )(?<!desde )(?<!desde el )(?:end|close|start|beginning|cierre|"
    r"final(?:es)?|comienzos?|principios?) (?:of|del?) (?:the |that |el |ese )?$|\b(?:end|start|finish|clos|termin|"
    r"acab|cerr|empez)\w* (?:the |el )?$|\b(?:in|en) (?:an?|one|una?) (?:single|solo|sola) $"
)
"""Text before a unit that is no period: 2008 was a rough year, by the end of the year."""
LAST_YEAR = "last_year"
"""The previous calendar year or, as some use it, the twelve months up to now."""
IN_LAST_YEAR = expression(r"\b(?<!the )last year\b|\b(?:en )?el ano pasado\b")
PERIODS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "ytd",
        expression(
            r"\b(?:ytd|year[- ]to[- ]date|so far this year|this year|in the year so far|"
            r"(?:en )?lo que (?:va|llevamos) (?:de|del) ano|este ano|en el ano en curso|"
            r"since (?:january|the (?:start|beginning) of the year)|desde (?:enero|(?:el |los )?(?:comienzos?|inicios?|"
            r"principios?) de(?:l)? ano))\b(?! (?:of |del? )?(?:19|20)\d\d\b)"
        ),
    ),
    (
        "span",
        expression(
            rf"\b{_WORD}(?P<count>{COUNT})[- ](?:trading[- ]|natural |calendar |ultim[oa]s |pasad[oa]s )?"
            rf"(?P<unit>days?|sessions?|weeks?|months?|quarters?|years?|dias?|sesion(?:es)?|"
            rf"semanas?|mes(?:es)?|trimestres?|anos?)\b"
        ),
    ),
    (
        "1d",
        expression(
            rf"\b(?:today|yesterday|hoy|ayer|on the day|1d|{_WORD}(?:ultima sesion|last session|latest session|last "
            rf"day|latest day|ultimo dia)|en el dia|in the session|en la sesion)\b"
        ),
    ),
    ("1w", expression(rf"\b{_WORD}(?:week(?:ly)?|semanal(?:es|mente)?|semana|1w)\b(?: alone\b)?")),
    ("1m", expression(rf"\b{_WORD}(?:month(?:ly)?|mensual(?:es|mente)?|mes|1m)\b(?: alone\b)?")),
    ("3m", expression(rf"\b{_WORD}(?:quarter(?:ly)?|trimestral(?:es)?|trimestre|3m)\b")),
    ("1y", expression(rf"\b{_WORD}(?:year(?:ly)?|anual(?:es)?|ano|1y|12m)\b(?: alone\b)?")),
)
_EQUAL_LENGTHS = {
    **dict.fromkeys(("5d", "7d"), "1w"),
    **dict.fromkeys(("30d", "4w"), "1m"),
    **dict.fromkeys(("90d", "13w", "1q"), "3m"),
    "2q": "6m",
    **dict.fromkeys(("252d", "365d", "52w", "12m", "4q"), "1y"),
    "24m": "2y",
    "36m": "3y",
}
"""Periods that are written in another unit."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day, possibly without its year."""

    month: int
    day: int
    year: int | None

    def fits(self, other: date) -> bool:
        """Whether it can be that day."""
        return (self.month, self.day) == (other.month, other.day) and self.year in (None, other.year)


def period_of(name: str, match: re.Match[str]) -> str:
    """The period of a match of a pattern of `PERIODS` of this name: 12 months as 1y, seven days as 1w, six months as
    6m."""
    return length_of(match["count"], match["unit"]) if name == "span" else name


def count_of(count: str) -> int:
    """A whole number in digits or as a word."""
    return int(count) if count.isdigit() else _NUMBERS[count]


def length_of(count: str, unit: str, *, exact: bool = False) -> str:
    """The period of a count and a unit in words: six months as 6m and, unless `exact`, seven days as 1w."""
    code = next(code for name, code in _UNITS.items() if unit.startswith(name))
    number = count_of(count)
    if exact:
        return f"{number}{code}"
    return _EQUAL_LENGTHS.get(f"{number}{code}", f"{number * 3}m" if code == "q" else f"{number}{code}")


def day_of(match: re.Match[str]) -> Day:
    """The day of a match of `DATE`. Raises ValueError if no calendar has it."""
    if match["iso"]:
        day = date.fromisoformat(match["iso"])
        return Day(day.month, day.day, day.year)
    month = month_of(match["m1"] or match["m2"])
    year = match["y1"] or match["y2"]
    return Day(month, int(match["d1"] or match["d2"]), int(year) if year else None)


def month_of(name: str) -> int:
    """The number of a month: 3 for march, mar. and marzo."""
    return MONTHS.get(name.rstrip("."), 0) or _SHORT[name[:3]]


def year_range(year: int) -> str:
    """The range of a whole year."""
    return f"{year}-01-01/{year}-12-31"


def month_range(year: int, first: int, last: int | None = None) -> str:
    """The range of whole months."""
    end = last or first
    return f"{year}-{first:02}-01/{year}-{end:02}-{calendar.monthrange(year, end)[1]:02}"


def with_year(text: str, year: int | Mapping[int, int]) -> str:
    """Adds the year to months without one: the year of all figures, or by month."""

    def dated(match: re.Match[str]) -> str:
        month_year = year if isinstance(year, int) else year.get(month_of(match[0].lower()))
        is_open_range = not isinstance(year, int) and text[: match.start()].lower().endswith(("since ", "desde "))
        return (
            match[0]
            if match[0] in ("may", "march") or month_year is None or is_open_range
            else f"{match[0]} {month_year}"
        )

    return _BARE_MONTH.sub(dated, text)


def _quarter_range(match: re.Match[str]) -> str:
    number = int(match["q"]) if match["q"] else _ORDINALS[match["word"]]
    return month_range(int(match["year"]), 3 * number - 2, 3 * number)


def _half_range(match: re.Match[str]) -> str:
    first = match["word"].startswith(("first", "primer"))
    return month_range(int(match["year"]), 1 if first else 7, 6 if first else 12)


def _range_of(match: re.Match[str]) -> str | None:
    """The range between the two points of a match of `RANGE`; None if they are no range."""
    end = _edge(match["last"], None, at_end=True)
    start = _edge(match["first"], end.year, at_end=False) if end else None
    return f"{start}/{end}" if start and end and start <= end else None


def _range_since(match: re.Match[str]) -> str | None:
    start = _edge(match["first"], None, at_end=False)
    return None if start is None else f"{start}/"


def until_of(match: re.Match[str]) -> str | None:
    """The range from the first day to the point of a match of `UNTIL`."""
    last = _edge(match["point"] or match["last"], None, at_end=match["before"] is None)
    if last is None:
        return None
    return f"{FIRST_DAY}/{(last - timedelta(days=1) if match['before'] else last).isoformat()}"


def _edge(point: str, year: int | None, *, at_end: bool) -> date | None:
    """The first (`at_end`: last) day of a day, month or year; None without a year or if no calendar has it."""
    try:
        if re.fullmatch(YEAR, point):
            return date(int(point), 12, 31) if at_end else date(int(point), 1, 1)
        match = DATE.fullmatch(point)
        if match is not None:
            day = day_of(match)
            known_year = day.year or year
            return date(known_year, day.month, day.day) if known_year else None
        match = re.fullmatch(rf"(?P<month>{MONTH})(?:{_OF}(?P<year>{YEAR}))?", point)
        if match is None:
            return None
        known_year, month = int(match["year"]) if match["year"] else year, month_of(match["month"])
        if known_year is None:
            return None
        return date(known_year, month, calendar.monthrange(known_year, month)[1] if at_end else 1)
    except ValueError:
        return None


RangePattern = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]
"""A pattern, and the range of days of its match; None if it is none."""
RANGES: tuple[RangePattern, ...] = (
    (_RANGE, _range_of),
    (_SINCE, _range_since),
    (_QUARTER, _quarter_range),
    (_HALF, _half_range),
)
MONTHS_AND_YEARS: tuple[RangePattern, ...] = (
    (_IN_MONTH, lambda match: month_range(int(match["year"]), month_of(match["month"]))),
    (_IN_YEAR, lambda match: year_range(int(match["year"]))),
)
"""Whole months and years, which are read after the days within them."""
