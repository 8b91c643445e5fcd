"""Reads which bars a text asks for: the last bars of some length, or those of certain days, and the bars' timeframe.

"MSFT chart of the last 3 months" is 63 daily bars; "hourly bars of AAPL" is timeframe 1h; "in 2008" has a start and an
end. A text that names nothing gets sixty days.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from agent.domain.analysis.stretches import when_in
from contracts.calendar_names import NUMBERS

MOST_BARS = 500
MOST_DAYS = 300
"""Of daily bars; a longer stretch is shown in weeks."""
_NUMBER = rf"\d{{1,3}}|{'|'.join(NUMBERS)}"
_COUNT = rf"{_NUMBER}|an?|una?"
_HOURS = re.compile(
    r"(?<!velas )(?<!barras )(?<!bars )(?<!candles )"
    r"\b(?:last|past|for|over|of|during|ultim[ao]s?|de|durante|en|por) (?:(?:the|la|las) )?(?:(?:last|past|ultimas?) )?"
    rf"(?:(?P<n>{_COUNT}) ?)?(?<!por )(?:hours?|horas?)\b"
)
_CANDLES = re.compile(rf"\b(?P<n>{_NUMBER}) (?:(?!min|hour|hora)\w+ )?(?:candles?|bars|velas|barras)\b")
_FRAMES = (
    ("1w", re.compile(r"\b(weekly|1w|week candles|semanal\w*)\b"), 52),
    ("1m", re.compile(r"\b(minute by minute|1 ?m(?:in\w*)?|one minute|un minuto)\b"), 60),
    ("5m", re.compile(r"\b5 ?m(?:in\w*)?\b|\bintraday\b|\bintradia\b"), 78),
    ("15m", re.compile(r"\b15 ?m(?:in\w*)?\b"), 52),
    ("1d", re.compile(r"\b(daily|1 ?d|diari[oa]s?)\b"), 60),
    ("4h", re.compile(r"\b4 ?h(?:ours?|oras?)?\b"), 60),
    ("1h", re.compile(r"\b(hourly|1 ?h(?:ours?|oras?)?|an hour|one hour|una hora|por horas?|horari[oa]s?)\b"), 60),
)
_A_SESSION = {"1m": 390, "5m": 78, "15m": 26, "1h": 7, "4h": 2, "1d": 1}
"""Bars of a session of six and a half hours."""
OF_A_DAY = 8
"""Sessions up to a day that is asked for: the last one until it, the one before that for its change, some to see."""
_SPAN = re.compile(
    rf"\b(?:(?P<n>{_COUNT}|last|past|ultim[oa]s?) )?(?:(?P<k>{_COUNT}) )?"
    r"(?P<unit>days?|dias?|sessions?|sesiones|weeks?|semanas?|months?|mes(?:es)?|years?|anos?)\b"
)
_SESSIONS = {"d": 1, "s": 1, "w": 5, "semana": 5, "m": 21, "y": 252, "a": 252}


def frame_in(said: str) -> str | None:
    """The length of bars that a text (plain) names."""
    return next((name for name, pattern, _ in _FRAMES if pattern.search(said)), None)


def bar_range(text: str, said: str, day: date | None, *, days: bool) -> dict[str, Any]:
    """The arguments timeframe and limit, and start and end where the text names days and the tool takes them (`days`).

    `said`: the text without accents and capitals; `day`: the one day that it names. Sixty days where it names nothing.
    """
    if day is not None:
        return {"timeframe": "1d", **({"limit": OF_A_DAY, "end": str(day)} if days else {"limit": MOST_BARS})}
    named = when_in(text).arguments if days else {}
    frame, usual = next(((name, bars) for name, pattern, bars in _FRAMES if pattern.search(said)), ("", 60))
    if "start" in named:
        return {"timeframe": frame or _fitting(named), "limit": MOST_BARS, **named}
    hours = _HOURS.search(said)
    if hours is not None and frame in ("", "1h", "4h"):
        count = _number(hours["n"])
        return {"timeframe": "1m", "limit": 60} if count == 1 else {"timeframe": "5m", "limit": _held(12 * count)}
    frame = frame or "1d"
    if candles := _CANDLES.search(said):
        return {"timeframe": frame, "limit": _held(_number(candles["n"]))}
    span = _SPAN.search(said)
    if span is None:
        return {"timeframe": frame, "limit": usual}
    unit = span["unit"]
    sessions = _number(span["k"] or span["n"]) * (
        _SESSIONS["semana"] if unit.startswith("semana") else _SESSIONS[unit[0]]
    )
    if frame == "1d" and sessions > MOST_DAYS:
        frame = "1w"
    return {"timeframe": frame, "limit": _held(round(sessions * _bars_of_a_session(frame)))}


def day_of(arguments: Mapping[str, Any]) -> date | None:
    """The one day that bars were asked for of: those of a longer time have a first day (`bar_range`); None: they are of
    such a time."""
    return None if "start" in arguments or "end" not in arguments else date.fromisoformat(str(arguments["end"]))


def names_time_range(text: str, said: str) -> bool:
    """Whether a text says of how long, or of which days."""
    return bool(when_in(text).arguments) or any(shape.search(said) for shape in (_HOURS, _CANDLES, _SPAN))


def in_frame(arguments: Mapping[str, Any], frame: str) -> dict[str, Any]:
    """The same stretch in bars of another length."""
    if "start" in arguments:
        return {**arguments, "timeframe": frame}
    sessions = arguments["limit"] / _bars_of_a_session(arguments["timeframe"])
    return {**arguments, "timeframe": frame, "limit": _held(round(sessions * _bars_of_a_session(frame)))}


def _bars_of_a_session(frame: str) -> float:
    return 52 / 252 if frame == "1w" else _A_SESSION[frame]


def _held(bars: int) -> int:
    return max(min(bars, MOST_BARS), 2)


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else NUMBERS.get(text or "", 1)


def _fitting(named: dict[str, Any]) -> str:
    """Days where their bars are not too many, else weeks; a stretch without an end lasts until now, which is long."""
    if "end" not in named:
        return "1w"
    return "1d" if (date.fromisoformat(named["end"]) - date.fromisoformat(named["start"])).days <= 366 else "1w"
