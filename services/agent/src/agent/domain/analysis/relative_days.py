"""Reads the days that a text names, in es and en, and replaces those relative to today by their dates: yesterday,
anteayer, on Friday, el lunes pasado.

A day of a month without a year is the last one. "what did MSFT do on Friday?" is then read as any question with a date.
"""

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from agent.domain.analysis.stretches import main_period
from agent.domain.holidays import with_last_holidays
from agent.domain.text_features import plain
from contracts.calendar_names import MONTHS, NUMBERS, WEEKDAYS
from contracts.expressions import expression

_WEEKDAYS = {
    form: number for name, number in WEEKDAYS.items() for form in (name, name.replace("é", "e").replace("á", "a"))
}
_PAST = expression(
    r"\b(?:(?P<two>the day before yesterday|anteayer|antier)|(?P<one>yesterday|ayer)|"
    rf"(?:(?:on|last|this|el|este)\s+(?:pasado\s+)?){{1,2}}(?P<weekday>{'|'.join(_WEEKDAYS)})\b(?:\s+pasado)?)\b"
    r"(?!,? (?:the )?\d)",  # a date follows
    re.IGNORECASE,
)
_WEEKDAY_BESIDE = expression(
    rf"\b(?:the|el) (?P<weekday>{'|'.join(_WEEKDAYS)})"
    r"(?: (?:(?P<after>after|following|siguiente|despues|después)|before|anterior|antes))\b",
    re.IGNORECASE,
)
"""A weekday beside a date that was named before it: "on 6 August 2012 and on the Friday after"."""
MONTH_FORMS = {**{name[:3]: number for name, number in MONTHS.items() if name[:3] not in ("set",)}, "sept": 9, **MONTHS}
"""The month's number, by its name or first letters."""
_MONTH = "|".join(sorted(MONTH_FORMS, key=len, reverse=True))
DATES = (
    expression(r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})\b"),
    expression(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?:of |de )?(?P<m>{_MONTH})(?:,| of| de| del)? (?P<y>\d{{4}})\b"),
    expression(rf"\b(?P<m>{_MONTH}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{4}})\b"),
)
_OF_MONTH = expression(
    rf"\b(?:(?:the|el) )?(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of |de )?(?P<month>{_MONTH})|"
    rf"(?P<before>{_MONTH}) (?P<after>\d{{1,2}})(?:st|nd|rd|th)?)\b(?!,? (?:of |del? )?\d{{4}})",
    re.IGNORECASE,
)
_IN_MONTH = expression(rf"\b(?P<in>in|during|en|durante) (?P<month>{_MONTH})\b(?!,? (?:of |del? )?\d)", re.IGNORECASE)
_LAST_MONTH = expression(
    rf"\b(?:last|(?:el )?pasado(?: mes de)?) (?P<month>{_MONTH})\b(?!,? (?:of |del? )?\d)"
    rf"|\b(?:el )?(?P<month2>{_MONTH}) pasado\b",
    re.IGNORECASE,
)
_QUARTER = expression(
    r"\b(?:(?:the |el )?(?P<which>q[1-4]|first|second|third|fourth|primer|segundo|tercer|cuarto)"
    r"(?: (?:quarter|trimestre)|(?<=q[1-4]))|"
    r"(?:the )?(?:last|previous) quarter|(?:el )?trimestre (?:pasado|anterior))\b"
    r"(?!,? (?:of |del? )?\d{4})",
    re.IGNORECASE,
)
_ORDINALS = ("first primer q1", "second segundo q2", "third tercer q3", "fourth cuarto q4")
_AGO = expression(
    rf"\b(?P<count>an?|\d{{1,3}}|{'|'.join(NUMBERS)}) (?P<unit>day|week|month|year)s? ago\b|"
    rf"\bhace (?P<count2>una?|\d{{1,3}}|{'|'.join(NUMBERS)}) (?P<unit2>d[ií]a|semana|mes|a[nñ]o)(?:s|es)?\b",
    re.IGNORECASE,
)
_SINCE_THEN = expression(
    r"\b(?:(?P<since>since|desde) (?:then|that (?:day|date)|entonces|es[ae] (?:d[ií]a|fecha)))\b", re.I
)
THAT_YEAR = expression(
    r"\b(?:(?:in|en|during|durante) )?(?:that|the same|es[ea]|(?:el )?mismo) (?:year|a[nñ]o|(?P<month>month|mes))\b",
    re.I,
)
THAT_PERIOD = expression(
    r"\b(?:over|during|in|across) (?:that|the same) time\b(?! ?frame| span)|"
    r"\b(?:en|durante) (?:ese|(?:el )?mismo) tiempo\b|"
    r"\b(?:(?:in|over|during|for|across|within|en|durante|a lo largo de|por) )?"
    r"(?:(?:that|the(?: very)? same|those) (?:same )?(?:time ?frame|time span|period|stretch|window|span|"
    r"interval|range|quarter|dates|days|months|years)|(?:es[ea]s?|(?:l[oa]s? |el )?mism[oa]s?|dich[oa]s?) "
    r"(?:mism[oa]s? )?(?:per[ií]odo|tramo|ventana|plazo|intervalo|lapso|trimestre|fechas|d[ií]as|meses|"
    r"a[nñ]os))\b",
    re.IGNORECASE,
)
"""The period that was spoken of."""
_THEN = expression(
    r"\b(?:back then|at (?:the|that) time|en (?:aquel|ese) (?:momento|entonces)|(?:then|entonces))(?=\W*$)",
    re.IGNORECASE,
)
_LOOKS_BACK = expression(
    r"\b(?:did|was|were|had|fue|era|estaba|hubo|habia|dij\w+|dec[ií]a\w*|ten[ií]a)\b", re.IGNORECASE
)
"""Words that make "then" a time and no "so"."""
_NUMBERED = expression(r"\b(?:the (?P<day>\d{1,2})(?:st|nd|rd|th)|(?:el|dia) (?P<dia>\d{1,2}))\W*$")
_BEFORE_THIS = expression(r"\b(?:last|pasado)\b", re.IGNORECASE)
_TO_COME = expression(r"\b(?:will|next|tomorrow|pr[oó]xim[oa]|que viene|ma[nñ]ana|ser[aá])\b", re.IGNORECASE)


def with_past_days(text: str, today: date, *, is_session_over: bool = False) -> str:
    """The text with each day relative to today replaced by its date. A weekday is the last one before today, or today
    if its session is over."""

    def named(match: re.Match[str]) -> str:
        if match["weekday"]:
            back = (today.weekday() - _WEEKDAYS[match["weekday"].lower()]) % 7
            back = back or (0 if is_session_over and not _BEFORE_THIS.search(match[0]) else 7)
        else:
            back = 2 if match["two"] else 1
        return str(today - timedelta(days=back))

    def last(match: re.Match[str]) -> str:
        month = MONTH_FORMS[(match["month"] or match["before"]).lower()]
        try:
            day = date(today.year, month, int(match["day"] or match["after"]))
            return str(day if day <= today else day.replace(year=day.year - 1))
        except ValueError:  # the 31st of a short month
            return match[0]

    def month(match: re.Match[str]) -> str:
        number = MONTH_FORMS[match["month"].lower()]
        return f"{match[0]} {today.year - (number > today.month)}"

    def last_month(match: re.Match[str]) -> str:
        name = match["month"] or match["month2"]
        return f"{name} {today.year - (MONTH_FORMS[name.lower()] >= today.month)}"

    def quarter(match: re.Match[str]) -> str:
        current_quarter, which = (today.month + 2) // 3, (match["which"] or "").lower()
        number = next(
            (i for i, names in enumerate(_ORDINALS, 1) if which and which in names.split()), current_quarter - 1 or 4
        )
        return f"Q{number} {today.year - (number > current_quarter or (not which and current_quarter == 1))}"

    def beside(match: re.Match[str]) -> str:
        before = date_in(plain(match.string[: match.start()]))
        weekday, is_after = _WEEKDAYS[match["weekday"].lower()], match["after"] is not None
        if before is None:
            return match[0]
        distance = (weekday - before.weekday() if is_after else before.weekday() - weekday) % 7 or 7
        return str(before + timedelta(days=distance if is_after else -distance))

    if _TO_COME.search(text):
        return text
    text = with_last_holidays(text, today)
    for pattern, written in (
        (_WEEKDAY_BESIDE, beside), (_PAST, named), (_OF_MONTH, last), (_QUARTER, quarter),
        (_LAST_MONTH, last_month), (_IN_MONTH, month),
    ):  # fmt: skip
        text = pattern.sub(written, text)
    return text


def since_then(text: str, earlier_texts: Sequence[str]) -> str:
    """The text with "since then", "that year", "that period" and "then" replaced by the start, the year and the days
    of the period last mentioned."""
    if THAT_PERIOD.search(text):
        named = (words for earlier in reversed(earlier_texts) if (words := _period_in_words(earlier)))
        return THAT_PERIOD.sub(next(named, r"\g<0>"), text)
    is_then = not _SINCE_THEN.search(text) and _THEN.search(text) and _LOOKS_BACK.search(text)
    if not (is_then or _SINCE_THEN.search(text) or THAT_YEAR.search(text)):
        return text
    periods = (main_period(earlier_text).arguments for earlier_text in reversed(earlier_texts))
    period = next((arguments for arguments in periods if "start" in arguments), None)
    if period is not None and THAT_YEAR.search(text) and str(period.get("end", ""))[:4] != str(period["start"])[:4]:
        return text  # which of several years is not known
    if period is None:
        return text
    day = period["start"]
    if is_then:
        last = period.get("end", day)
        return _THEN.sub(f"on {day}" if last == day else f"from {day} to {last}", text)
    first, last = _month_of(date.fromisoformat(str(day)))
    text = THAT_YEAR.sub(lambda match: f"{first} to {last}" if match["month"] else f"in {first.year}", text)
    return _SINCE_THEN.sub(lambda match: f"{match['since']} {day}", text)


def _period_in_words(text: str) -> str:
    """The period that a text names, in words that are read as the same one; empty if none."""
    period = main_period(text)
    first, last = (str(period.arguments.get(name, "")) for name in ("start", "end"))
    if first:
        return f"on {first}" if first == last else f"from {first} to {last}" if last else f"since {first}"
    length = re.fullmatch(r"(\d+)([dwmy])", period.period or "")
    units = {"d": "days", "w": "weeks", "m": "months", "y": "years"}
    return f"last {length[1]} {units[length[2]]}" if length else ""


def dated_in_turn(texts: Sequence[str], today: date, *, is_session_over: bool = False) -> list[str]:
    """The texts with their days, each after those before it, which it may refer to."""
    dated: list[str] = []
    for text in texts:
        dated.append(with_past_days(since_then(text, dated), today, is_session_over=is_session_over))
    return dated


def days_ago(text: str, today: date) -> tuple[str, date] | None:
    """The text without "a year ago", and the day that this was; None if it has nothing of the kind."""
    if (match := _AGO.search(text)) is None:
        return None
    count_text, unit = (match["count"] or match["count2"]).lower(), (match["unit"] or match["unit2"]).lower()
    count = int(count_text) if count_text.isdigit() else NUMBERS.get(count_text, 1)
    unit = {"día": "dia", "año": "ano"}.get(unit, unit)
    months = 12 if unit in ("year", "ano") else 1
    day = today - timedelta(days=count * _UNITS[unit]) if unit in _UNITS else _shift_months(today, -count * months)
    return f"{text[: match.start()]}{text[match.end() :]}", day


_UNITS = {"day": 1, "dia": 1, "session": 1, "sesion": 1, "week": 7, "semana": 7}
_BESIDE = expression(
    r"\b(?:(?P<count>an?|the|el|la|una?|\d{1,2}) )?"
    r"(?P<unit>day|session|week|month|quarter|year|dia|sesion|semana|mes|trimestre|ano)(?:s|es)? "
    r"(?:(?P<after>after|later|despues|siguiente|following)|before|earlier|antes|anterior|previo)\b|"
    r"\b(?:(?P<next>next|following)|previous) (?P<of>day|session|week|month|quarter|year)\b"
)


def shifted_days(normalized: str, arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """The first and last day of a period moved by a distance that a normalized text names: "a month later"; None if it
    names none."""
    match = _BESIDE.search(normalized)
    if "end" not in arguments:
        return None
    if match is None:
        return _same_month(normalized, date.fromisoformat(str(arguments["end"])))
    count = int(match["count"]) if (match["count"] or "").isdigit() else 1
    count, unit = (count if match["after"] or match["next"] else -count), match["unit"] or match["of"]
    last = date.fromisoformat(str(arguments["end"]))
    first = date.fromisoformat(str(arguments.get("start", last)))
    if unit in _UNITS:
        distance = timedelta(days=count * _UNITS[unit])
        return str(first + distance), str(last + distance)
    months = count * {"year": 12, "ano": 12, "quarter": 3, "trimestre": 3}.get(unit, 1)
    is_whole_month = first.day == 1 and (last + timedelta(days=1)).day == 1
    return str(_shift_months(first, months)), str(_shift_months(last, months, is_whole_month=is_whole_month))


def _same_month(normalized: str, day: date) -> tuple[str, str] | None:
    """Another day of the same month, if a normalized text names only its number: "and the 12th?"."""
    match = _NUMBERED.search(normalized)
    number = int(match["day"] or match["dia"]) if match else 0
    if not 1 <= number <= monthrange(day.year, day.month)[1]:
        return None
    other = str(day.replace(day=number))
    return other, other


def _month_of(day: date) -> tuple[date, date]:
    """The first and last day of a day's month."""
    return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])


def _shift_months(day: date, months: int, *, is_whole_month: bool = False) -> date:
    """The same day of another month, or its last day if that month is shorter or `is_whole_month`."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    length = monthrange(year, month + 1)[1]
    return date(year, month + 1, length if is_whole_month else min(day.day, length))


def date_in(normalized: str) -> date | None:
    """The date, including the year, that a normalized text names; None if none."""
    for pattern in DATES:
        match = pattern.search(normalized)
        if match is not None:
            month = match["m"]
            number = int(month) if month.isdigit() else MONTH_FORMS[month]
            try:
                return date(int(match["y"]), number, int(match["d"]))
            except ValueError:
                return None
    return None
