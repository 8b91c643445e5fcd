"""Reads the periods that a question names, in Spanish and English: days, ranges, and lengths of time up to now.

in 2008 · March to June 2012 · Q3 2011 · since 2010 · on 15 March 2012 · the last five years · a year ago
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeVar

from agent.domain.analysis.question_patterns import AVERAGES, EXTREME
from agent.domain.claims import times
from agent.domain.claims.lexer import folded
from agent.domain.tickers import tickers_in
from contracts.expressions import expression
from contracts.json_values import JsonObject

MAX_YEARS = 3
"""Years with a call each, limited by a tool's budget of calls per ticker."""
SNAPSHOTS = frozenset(("1d", "1w", "1m", "3m", "1y", "ytd"))
"""Periods that a snapshot has."""
_AGO = expression(
    rf"(?P<count>{times.COUNT}) (?P<unit>days?|weeks?|months?|years?) ago\b"
    rf"|\bhace (?P<count2>{times.COUNT}) (?P<unit2>dias?|semanas?|mes(?:es)?|anos?)\b"
)
_EDGE = expression(
    rf"(?:\b(?:(?:at|by|al|en) )?(?:the |el )?(?:(?P<first>start|beginning|inicios?|"
    rf"principios?|comienzos?)|(?:very )?(?:end|close|fin(?:al(?:es)?)?|cierre)) (?:of|de|del) (?:the year )?"
    rf"(?:(?P<month>{times.MONTH}) (?:of |de |del )?)?(?P<year>{times.YEAR}))\b"
)
"""The start of 2010, the end of March 2012."""
BLANK, MARK = "\x00", "\x01"
ReadT = TypeVar("ReadT")


@dataclass(frozen=True, slots=True)
class PeriodArguments:
    """A period as arguments of tools: days, or a length up to now. `period`: as claims write it."""

    arguments: JsonObject
    period: str | None = None

    @property
    def tool_arguments(self) -> JsonObject:
        """The arguments, with a snapshot's period as a length."""
        return self.arguments or ({"period": self.period} if self.period else {})

    @property
    def is_day(self) -> bool:
        """Whether it is one day."""
        return "start" in self.arguments and self.arguments["start"] == self.arguments.get("end")

    @property
    def with_day_before(self) -> "PeriodArguments":
        """A day with the weekday before it, whose news after the close move the next day; another period as it is."""
        if not self.is_day:
            return self
        day = date.fromisoformat(str(self.arguments["start"]))
        before = day - timedelta(days=max(day.weekday() - 5, 0) + (3 if day.weekday() == 0 else 1))
        return PeriodArguments({"start": str(before), "end": str(day)}, self.period)

    def up_to(self, *, from_first: bool) -> "PeriodArguments":
        """The year that ends with it, or all data up to it."""
        if from_first:
            return _stretch_of_days(f"{times.FIRST_DAY}/{self.arguments['end']}")
        return PeriodArguments({"end": self.arguments["end"], "period": "1y"}, self.period)


ALL_TIME = PeriodArguments({"start": times.FIRST_DAY}, f"{times.FIRST_DAY}/")
"""All available data."""
ALL_TIME_PHRASE = expression(
    r"\b(?:all[- ]time|in (?:its|their) (?:whole |entire |full )?history|(?<=maximo )historico|"
    r"(?<=minimo )historico|(?:de|en) (?:toda )?su historia|desde siempre|de la historia|of all time|"
    r"(?:since|at|on) (?:(?:its|the|their) )?(?:ipo(?: day)?|listing|flotation|debut|first (?:trading )?day)|"
    r"(?:since|(?:on )?(?:the )?day(?: that)?) "
    r"(?:it|\x01+) (?:was )?(?:listed|went public|floated|(?:began|started) trading)|(?:desde|en|con) su (?:salida a "
    r"bolsa|opv|debut)|(?:desde|(?:el )?dia(?: en)?) que (?:\x01+ )?(?:cotiza|(?:salio|entro) a bolsa|debuto|empezo a "
    r"cotizar)|(?:(?:desde )?(?:el |su )|en su )primer dia(?: (?:de cotizacion|en bolsa))?)\b"
)

BARS = expression(
    r"\b(?:hourly|daily|weekly|monthly) (?:clos(?:es|ing prices)|prices|bars|candles?|data|chart|figures)\b|"
    r"\b(?:cierres|precios|velas|barras|datos|grafico) (?:horari|diari|semanal|mensual)\w*"
)
"""Bars of a length, which is no period."""
EVER = expression(r"\b(?:ever(?! since)|alguna vez)\b")
"""All available data, unless a period is named: "did it ever close below 100 in 2009?"."""


@dataclass(slots=True)
class UnreadText:
    """The part of a text that no pattern has taken yet. Positions stay the same."""

    text: str

    def take(
        self, pattern: re.Pattern[str], parse: Callable[[re.Match[str]], ReadT | None]
    ) -> Iterator[tuple[int, ReadT]]:
        """Yields the position and the parsed value of each match. The words are taken unless the value is None."""
        start = 0
        while (match := pattern.search(self.text, start)) is not None:
            start = max(match.end(), match.start() + 1)
            value = parse(match) if BLANK not in match[0] else None
            if value is not None:
                self.replace(match, BLANK)
                yield match.start(), value

    def first(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Takes the first match."""
        return next((match for _, match in self.take(pattern, lambda match: match)), None)

    def replace(self, match: re.Match[str], text: str) -> None:
        """Replaces a match by a text, padded to the same length."""
        start, end = match.span()
        filled = text * (end - start) if text in (BLANK, MARK) else text.ljust(end - start)
        self.text = self.text[:start] + filled + self.text[end:]


def main_period(query: str) -> PeriodArguments:
    """The main period of a question: the first one between days, or else the first length. A length that a snapshot has
    is a period without arguments."""
    unread = UnreadText(folded(query))
    for pattern in (AVERAGES, EXTREME, BARS):  # whose lengths are no periods
        while unread.first(pattern) is not None:
            pass
    stretches = take_periods(unread)
    return stretches[0] if stretches else PeriodArguments({})


def take_periods(unread: UnreadText, *, invested: bool = False) -> list[PeriodArguments]:
    """Takes all periods from a text, in order. Lengths, except this year, only count if no days are named. `invested`:
    an amount was invested at the named time, and the period begins there."""
    dated = sorted(_days_in(unread), key=lambda pair: pair[0])
    if len(dated) == 1 and (
        unread.first(ALL_TIME_PHRASE) is not None or (dated[0][1].is_day and unread.first(EVER) is not None)
    ):
        return [_stretch_of_days(f"{times.FIRST_DAY}/{dated[0][1].arguments.get('end', '')}")]
    if dated:
        days = _unique(stretch for _, stretch in dated)
        ends_alone = days[0].is_day or days[0].arguments.get("start") == times.FIRST_DAY
        if len(days) == 1 and "end" in days[0].arguments and ends_alone and not invested:
            lengths = [length for length in _lengths_in(unread) if length.period != "1d" and length is not ALL_TIME]
            if lengths:
                part = _length_after if _follows(lengths[0], unread.text) else _up_to
                return [part(days[0], lengths[0])]
        if invested and all("end" in day.arguments for day in days):
            return _invested_stretch(days)
        this_year = not any(stretch.is_day for stretch in days) and any(
            length.period == "ytd" for length in _lengths_in(unread)
        )
        this_year_stretches = [PeriodArguments({"period": "ytd"}, "ytd")] if this_year else []
        return [*this_year_stretches, *(_on_a_session(day) if day.is_day else day for day in days)]
    return _lengths_in(unread)


_PARTS = expression(r"[,;]|\b(?:and|y|e|while|mientras(?: que)?|versus|vs\.?|against|frente a)\b")


def stretches_by_ticker(query: str) -> dict[str, PeriodArguments]:
    """Each ticker's own period in "IBM in 2008 and MSFT in 2010"; empty if the parts are not such pairs."""
    by_ticker: dict[str, PeriodArguments] = {}
    parts = _PARTS.split(query)
    for part in parts:
        tickers, stretches = tickers_in(part), take_periods(UnreadText(folded(part)))
        if len(tickers) != 1 or len(stretches) != 1 or not stretches[0].arguments:
            return {}
        by_ticker[tickers[0]] = stretches[0]
    return by_ticker if len(by_ticker) == len(parts) > 1 else {}


def years_of(stretch: PeriodArguments) -> list[PeriodArguments]:
    """The years of a period of whole years; empty for any other."""
    first, _, last = (stretch.period or "").partition("/")
    if not (first.endswith("-01-01") and last.endswith("-12-31")):
        return []
    return [_stretch_of_days(times.year_range(year)) for year in range(int(first[:4]), int(last[:4]) + 1)]


def without_end(stretch: PeriodArguments) -> PeriodArguments:
    """The period without its end."""
    return _stretch_of_days(f"{stretch.arguments['start']}/") if "start" in stretch.arguments else stretch


def _up_to(day: PeriodArguments, length: PeriodArguments) -> PeriodArguments:
    """A length up to a day instead of up to now."""
    end = str(day.arguments["end"])
    if length.period == "ytd":
        return _stretch_of_days(f"{end[:4]}-01-01/{end}")
    return PeriodArguments({"end": end, "period": length.period}, f"{end}/{end}")


_AFTER = expression(r"\b(?:after|following|despues|siguientes?|posterior(?:es)?)\b")


def _follows(length: PeriodArguments, text: str) -> bool:
    return bool(_AFTER.search(text)) and re.fullmatch(r"\d+[dwmy]", length.period or "") is not None


def _length_after(day: PeriodArguments, length: PeriodArguments) -> PeriodArguments:
    """A length that begins after a day: the week after it."""
    last_day, period = date.fromisoformat(str(day.arguments["end"])), str(length.period)
    days = int(period[:-1]) * {"d": 1, "w": 7, "m": 30, "y": 365}[period[-1]]
    return _stretch_of_days(f"{last_day + timedelta(days=1)}/{last_day + timedelta(days=days)}")


def _lengths_in(unread: UnreadText) -> list[PeriodArguments]:
    """Takes the lengths up to now."""
    if unread.first(ALL_TIME_PHRASE) is not None or unread.first(EVER) is not None:
        return [ALL_TIME]
    to_date = [stretch for _, stretch in sorted(_to_date_stretches(unread), key=lambda pair: pair[0])]
    if to_date:
        return _unique(to_date)
    lengths = list(unread.take(_AGO, _length_of_ago))
    if lengths:
        return _unique(stretch for _, stretch in lengths)
    for name, pattern in times.PERIODS:
        lengths += unread.take(pattern, lambda match, name=name: _stretch_of_length(times.period_of(name, match)))
    stretches = _unique(stretch for _, stretch in sorted(lengths, key=lambda pair: pair[0]))
    # "Today" beside another length is the time of the question.
    return [stretch for stretch in stretches if stretch.period != "1d"] or stretches


def _to_date_stretches(unread: UnreadText) -> Iterator[tuple[int, PeriodArguments]]:
    """Takes "this month" and "since" a month or day without a year: up to now, whenever that is."""
    for period, pattern in _TO_DATE:
        yield from unread.take(pattern, lambda match, period=period: PeriodArguments({"period": period}))
    yield from unread.take(_SINCE_MONTH, _since_month)


_TO_DATE = tuple(
    (
        period,
        expression(
            rf"\b(?:(?:so far )?this {en}(?: so far)?|{en}[- ]to[- ]date|{period}|est[ae] {es}|(?:en )?lo que va "
            rf"(?:de|del) {es})\b"
        ),
    )
    for period, en, es in (("qtd", "quarter", "trimestre"), ("mtd", "month", "mes"), ("wtd", "week", "semana"))
)
_SINCE_MONTH = expression(
    rf"\b(?:since|desde)(?: last| the| el(?: pasado| mes de)?)? (?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th)? (?:of |de )?)?"
    rf"(?P<month>{times.MONTH})(?: (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?(?! ?,? ?(?:of |de |del )?{times.YEAR})"
)


def _since_month(match: re.Match[str]) -> PeriodArguments | None:
    day = int(match["d1"] or match["d2"] or 1)
    if not 1 <= day <= 31:
        return None
    day_suffix = f"-{day:02}" if day > 1 else ""
    return PeriodArguments({"period": f"since-{times.month_of(match['month']):02}{day_suffix}"})


def _length_of_ago(match: re.Match[str]) -> PeriodArguments:
    return _stretch_of_length(times.length_of(match["count"] or match["count2"], match["unit"] or match["unit2"]))


def _unique(stretches: Iterable[PeriodArguments]) -> list[PeriodArguments]:
    unique: list[PeriodArguments] = []
    for stretch in stretches:
        if stretch not in unique:
            unique.append(stretch)
    return unique


def _days_in(unread: UnreadText) -> Iterator[tuple[int, PeriodArguments]]:
    """Takes every period between two days, and every single day."""
    while (match := _EDGE.search(unread.text)) is not None:
        unread.replace(match, _edge(match))
    for pattern, parse in _STRETCHES:
        yield from unread.take(pattern, lambda match, parse=parse: _parse_stretch(parse, match))


def _parse_stretch(parse: Callable[[re.Match[str]], str | None], match: re.Match[str]) -> PeriodArguments | None:
    try:
        days = parse(match)
    except ValueError:
        return None
    return _stretch_of_days(days) if days else None


def _edge(match: re.Match[str]) -> str:
    """The first or the last day of a month or year."""
    year = int(match["year"])
    days = times.month_range(year, times.month_of(match["month"])) if match["month"] else times.year_range(year)
    first, _, last = days.partition("/")
    return first if match["first"] else last


_DAY = expression(rf"\b(?:(?:on|at|by|el|del|al?|as of|until|hasta) )?(?:the |el )?{times.DATE.pattern}")


def _one_day(match: re.Match[str]) -> str | None:
    """A day with its year, as a range."""
    day_match = times.day_of(match)
    if day_match.year is None:
        return None
    day = date(day_match.year, day_match.month, day_match.day)
    return f"{day}/{day}"


_WEEK_OF = expression(
    rf"\b(?:(?:in|en|during|durante) )?(?:the |la )?(?:week|semana) (?:of|from|starting|beginning|del?|que empezo)"
    rf"(?: on)? (?:the |el |lunes )?{times.DATE.pattern}"
)


def _week_of(match: re.Match[str]) -> str | None:
    """The week of a day, from Monday to Sunday."""
    day_range = _one_day(match)
    if day_range is None:
        return None
    day = date.fromisoformat(day_range[:10])
    monday = day - timedelta(days=day.weekday())
    return f"{monday}/{monday + timedelta(days=6)}"


def _on_a_session(stretch: PeriodArguments) -> PeriodArguments:
    """The Friday before a Saturday or Sunday; other days stay."""
    day = date.fromisoformat(str(stretch.arguments["end"]))
    day -= timedelta(days=max(day.weekday() - 4, 0))
    return _stretch_of_days(f"{day}/{day}")


_STRETCHES: tuple[times.RangePattern, ...] = (
    *times.RANGES,
    (times.UNTIL, times.until_of),
    (_WEEK_OF, _week_of),
    (_DAY, _one_day),
    *times.MONTHS_AND_YEARS,
)


def _invested_stretch(stretches: list[PeriodArguments]) -> list[PeriodArguments]:
    """The period from the first named time to the last: "put in March 2009, at the end of 2012". A range stays. Money
    invested on a day is invested at its close, from which a period that begins the next day starts."""
    start, end = (str(stretches[0].arguments[name]) for name in ("start", "end"))
    if start == end:
        start = end = str(date.fromisoformat(start) + timedelta(days=1))
    if len(stretches) > 1:
        return [_stretch_of_days(f"{start}/{stretches[-1].arguments['end']}")]
    a_point = start == end or start[:7] == end[:7] or (start[:4] == end[:4] and start[5:] + end[5:] == "01-0112-31")
    return [_stretch_of_days(f"{start}/") if a_point else stretches[0]]


def _stretch_of_days(days: str) -> PeriodArguments:
    first, _, last = days.partition("/")
    return PeriodArguments({"start": first, **({"end": last} if last else {})}, days)


def _stretch_of_length(period: str) -> PeriodArguments:
    return PeriodArguments({}, period) if period in SNAPSHOTS else PeriodArguments({"period": period}, period)
