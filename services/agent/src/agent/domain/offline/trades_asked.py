"""Selects the trades that a question asks for: "what did I buy last week?", "¿qué vendí ayer?"."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from agent.domain.analysis.relative_days import with_past_days
from agent.domain.analysis.stretches import PeriodArguments, main_period
from agent.domain.offline.order_words import sides_in
from agent.domain.text_features import plain

_DAYS = {"d": 1, "w": 7, "m": 31, "y": 366}
"""The most days of a unit of a length."""


def trades_asked(question: str, trades: Sequence[Mapping[str, Any]], today: date) -> list[Mapping[str, Any]]:
    """The trades of the side and the days that a question names; all of them if it names neither."""
    sides = {side for side, _ in sides_in(plain(question))}
    first, last = _days(main_period(with_past_days(question, today, is_session_over=True)), today)
    return [
        trade
        for trade in trades
        if (len(sides) != 1 or trade["side"] in sides) and first <= date.fromisoformat(str(trade["time"])[:10]) <= last
    ]


def _days(period: PeriodArguments, today: date) -> tuple[date, date]:
    """The first and the last day of a period."""
    named, length = period.arguments, str(period.tool_arguments.get("period") or "")
    if "start" in named:
        return date.fromisoformat(str(named["start"])), date.fromisoformat(str(named.get("end", today)))
    to_date = {
        "wtd": today - timedelta(days=today.weekday()),
        "mtd": today.replace(day=1),
        "qtd": today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1),
        "ytd": today.replace(month=1, day=1),
    }
    if length in to_date:
        return to_date[length], today
    if length[:-1].isdigit() and length[-1] in _DAYS:
        days = int(length[:-1]) * _DAYS[length[-1]]
        return today - timedelta(days=0 if length == "1d" else days), today
    return date.min, date.max
