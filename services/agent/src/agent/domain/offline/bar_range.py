"""Reads which bars a text asks for: the last bars of a period, or those of certain days, and the bars' timeframe.

"MSFT chart of the last 3 months" is 63 daily bars; "hourly bars of AAPL" is timeframe 1h; "in 2008" has a start and an
end. A text that names nothing gets sixty days.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from agent.domain.analysis.stretches import main_period
from contracts.calendar_names import NUMBERS
from contracts.expressions import expression

MAX_BARS = 500
"""Maximum bars of one call."""
MAX_DAILY_BARS = 300
"""Maximum daily bars; a longer period is shown in weeks."""
_NUMBER = rf"\d{{1,3}}|{'|'.join(NUMBERS)}"
_COUNT = rf"{_NUMBER}|an?|una?"
_HOURS = expression(
    r"(?<!velas )(?<!barras )(?<!bars )(?<!candles )"
    r"\b(?:last|past|for|over|of|during|ultim[ao]s?|de|durante|en|por) (?:(?:the|la|las) )?(?:(?:last|past|ultimas?) )?"
    rf"(?:(?P<n>{_COUNT}) ?)?(?<!por )(?:hours?|horas?)\b"
)
_CANDLES = expression(rf"\b(?P<n>{_NUMBER}) (?:(?!min|hour|hora)\w+ )?(?:candles?|bars|velas|barras)\b")
_FRAMES = (
    ("1w", expression(r"\b(weekly|1w|week candles|semanal\w*)\b"), 52),
    ("1m", expression(r"\b(minute by minute|1 ?m(?:in\w*)?|one minute|un minuto)\b"), 60),
    ("5m", expression(r"\b5 ?m(?:in\w*)?\b|\bintraday\b|\bintradia\b"), 78),
    ("15m", expression(r"\b15 ?m(?:in\w*)?\b"), 52),
    ("1d", expression(r"\b(daily|1 ?d|diari[oa]s?)\b"), 60),
    ("4h", expression(r"\b4 ?h(?:ours?|oras?)?\b"), 60),
    ("1h", expression(r"\b(hourly|1 ?h(?:ours?|oras?)?|an hour|one hour|una hora|por horas?|horari[oa]s?)\b"), 60),
)
_BARS_BY_SESSION = {"1m": 390, "5m": 78, "15m": 26, "1h": 7, "4h": 2, "1d": 1}
"""Bars in a session of six and a half hours, by timeframe."""
SESSIONS_FOR_A_DAY = 8
"""Sessions fetched for one day: the last one until it, the one before for its change, and some to spare."""
_SPAN = expression(
    rf"\b(?:(?P<n>{_COUNT}|last|past|ultim[oa]s?) )?(?:(?P<k>{_COUNT}) )?"
    r"(?P<unit>days?|dias?|sessions?|sesiones|weeks?|semanas?|months?|mes(?:es)?|years?|anos?)\b"
)
_SESSIONS = {"d": 1, "s": 1, "w": 5, "semana": 5, "m": 21, "y": 252, "a": 252}


def frame_in(normalized: str) -> str | None:
    """The timeframe that a normalized text names; None if it names none."""
    return next((name for name, pattern, _ in _FRAMES if pattern.search(normalized)), None)


def bar_range(text: str, normalized: str, day: date | None, *, takes_days: bool) -> dict[str, Any]:
    """The arguments timeframe and limit; also start and end if the text names days and the tool takes them
    (`takes_days`).

    `day` is the single day that the text names, if any. The default is sixty days.
    """
    if day is not None:
        return {
            "timeframe": "1d",
            **({"limit": SESSIONS_FOR_A_DAY, "end": str(day)} if takes_days else {"limit": MAX_BARS}),
        }
    named_days = main_period(text).arguments if takes_days else {}
    frame, default_bars = next(
        ((name, bars) for name, pattern, bars in _FRAMES if pattern.search(normalized)), ("", 60)
    )
    if "start" in named_days:
        return {"timeframe": frame or _frame_for(named_days), "limit": MAX_BARS, **named_days}
    hours = _HOURS.search(normalized)
    if hours is not None and frame in ("", "1h", "4h"):
        count = _number(hours["n"])
        return (
            {"timeframe": "1m", "limit": 60} if count == 1 else {"timeframe": "5m", "limit": _within_limits(12 * count)}
        )
    frame = frame or "1d"
    if candles := _CANDLES.search(normalized):
        return {"timeframe": frame, "limit": _within_limits(_number(candles["n"]))}
    span = _SPAN.search(normalized)
    if span is None:
        return {"timeframe": frame, "limit": default_bars}
    unit = span["unit"]
    sessions = _number(span["k"] or span["n"]) * (
        _SESSIONS["semana"] if unit.startswith("semana") else _SESSIONS[unit[0]]
    )
    if frame == "1d" and sessions > MAX_DAILY_BARS:
        frame = "1w"
    return {"timeframe": frame, "limit": _within_limits(round(sessions * _bars_of_a_session(frame)))}


def day_of(arguments: Mapping[str, Any]) -> date | None:
    """The single day that bars were asked for (`bar_range`); None if the arguments are for a longer time, which has a
    first day."""
    return None if "start" in arguments or "end" not in arguments else date.fromisoformat(str(arguments["end"]))


def names_time_range(text: str, normalized: str) -> bool:
    """Whether a text names a period or days."""
    return bool(main_period(text).arguments) or any(pattern.search(normalized) for pattern in (_HOURS, _CANDLES, _SPAN))


def in_frame(arguments: Mapping[str, Any], frame: str) -> dict[str, Any]:
    """The arguments for the same period in bars of another timeframe."""
    if "start" in arguments:
        return {**arguments, "timeframe": frame}
    sessions = arguments["limit"] / _bars_of_a_session(arguments["timeframe"])
    return {**arguments, "timeframe": frame, "limit": _within_limits(round(sessions * _bars_of_a_session(frame)))}


def _bars_of_a_session(frame: str) -> float:
    return 52 / 252 if frame == "1w" else _BARS_BY_SESSION[frame]


def _within_limits(bars: int) -> int:
    return max(min(bars, MAX_BARS), 2)


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else NUMBERS.get(text or "", 1)


def _frame_for(named: dict[str, Any]) -> str:
    """The timeframe for the named days: daily bars up to 366 days, else weekly. A period without an end lasts until now
    and may be long."""
    if "end" not in named:
        return "1w"
    return "1d" if (date.fromisoformat(named["end"]) - date.fromisoformat(named["start"])).days <= 366 else "1w"
