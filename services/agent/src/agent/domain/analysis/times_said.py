"""Dates and lengths of time in a text: taken out of it, so that no number is left of them, and judged."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, cast

from agent.domain.analysis.asked import Period, periods_named
from agent.domain.analysis.wording import as_date

_LENGTHS = frozenset((1, 3, 12, 14, 20, 50, 52, 200, 252))

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|"
    r"diciembre)"
)
_MONTHS = {
    **{name: number for number, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun"), start=1)},
    **{name: number for number, name in enumerate(("jul", "aug", "sep", "oct", "nov", "dec"), start=7)},
    "ene": 1,
    "abr": 4,
    "ago": 8,
    "dic": 12,
}
"""By their first three letters, in English and where Spanish differs."""
_DATES = re.compile(
    rf"(?P<iso>\b\d{{4}}-\d{{2}}-\d{{2}}\b)"
    rf"|(?P<d1>\d{{1,2}})(?:st|nd|rd|th)? (?:of |de )?(?P<m1>{_MONTH})\.?(?:,? (?:of |de |del )?(?P<y1>\d{{4}}))?\b"
    rf"|\b(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<y2>\d{{4}}))?"
    rf"|\b(?P<m3>{_MONTH})\.?,? (?:of |de |del )?(?P<y3>\d{{4}})\b"
)
_ISO = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_YEARS = re.compile(
    r"(?<![\d.,])(?:fy ?|fiscal (?:year )?|ejercicio (?:fiscal )?(?:de )?)?((?:19|20)\d\d)(?![\d%]|[.,]\d)"
)
_SPAN = re.compile(
    r"(?<![\d.,])(\d{1,3})(?:[- ]|\s)?(?:(?:trading|sesion(?:es)?|day|month)[- ])?"
    r"(?:days?|sessions?|weeks?|months?|years?|dias?|sesion(?:es)?|semanas?|mes(?:es)?|anos?)\b"
)
_AVERAGES = re.compile(
    r"\b(?:sma|ema|atr|ma|media|medias|average|averages|promedio)s?[ _(-]*(?:of |de )?(?:14|20|50|200)\b(?![.,]\d)\)?"
)
_PAIR_OF_AVERAGES = re.compile(r"\b(20|50|200)[- ]?(?:,|and|y|e|/|&)[- ]?(20|50|200)\b")


def dates_of(findings: Sequence[Mapping[str, Any]]) -> set[date]:
    found: set[date] = set()
    for finding in findings:
        window = cast("Mapping[str, Any]", finding.get("window") or {})
        given = (finding.get("as_of"), finding.get("next_earnings_date"), finding.get("next_dividend_date"))
        found |= {as_date(one) for one in (*given, window.get("first"), window.get("last")) if one}
        report = re.search(r"(?:19|20)\d\d", str(finding.get("period") or ""))
        found |= {date.fromisoformat(one) for one in _ISO.findall(str(finding.get("period") or ""))}
        if report:
            # Of a fiscal year only its number is known.
            found.add(date(int(report[0]), 1, 1))
    return found


def without_dates(sentence: str, known: set[date]) -> tuple[str, list[str]]:
    """The sentence without its dates, and those that are not known."""
    wrong: list[str] = []

    def judge(match: re.Match[str]) -> str:
        if match["iso"]:
            fits = any(one.isoformat() == match["iso"] for one in known)
        else:
            month = _MONTHS[(match["m1"] or match["m2"] or match["m3"])[:3]]
            day, year = match["d1"] or match["d2"], match["y1"] or match["y2"] or match["y3"]
            fits = any(
                one.month == month and (not day or one.day == int(day)) and (not year or one.year == int(year))
                for one in known
            )
        if not fits:
            wrong.append(f"a date that no tool gave: {match[0].strip()}")
        return " "

    rest = _DATES.sub(judge, sentence)
    years = {one.year for one in known}

    def judge_year(match: re.Match[str]) -> str:
        return " " if int(match[1]) in years else match[0]

    return _YEARS.sub(judge_year, rest), wrong


def without_spans(sentence: str) -> tuple[str, list[str]]:
    """The sentence without lengths of time, and those that no figure has."""
    wrong: list[str] = []

    def judge(match: re.Match[str]) -> str:
        if int(match[1]) not in _LENGTHS:
            wrong.append(f"a length of time that no figure has: {match[0].strip()}")
        # The words stay: they say which period a figure is of.
        return f" {_period_word(match[0])} "

    rest = _PAIR_OF_AVERAGES.sub(" ", sentence)
    return _AVERAGES.sub(" ", _SPAN.sub(judge, rest)), wrong


def _period_word(span: str) -> str:
    named = periods_named(span)
    words: dict[Period, str] = {"1y": "year", "3m": "quarter", "1m": "month", "1w": "week", "1d": "", "ytd": "ytd"}
    return words[next(iter(named))] if len(named) == 1 else ""
