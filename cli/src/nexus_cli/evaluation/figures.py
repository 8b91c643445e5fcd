"""Figures in a text, figures that tools returned, and figures that can be computed from the bars."""

from __future__ import annotations

import itertools
import math
import re
from calendar import monthrange
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import mean, stdev
from typing import Any, cast

_NUMBER = re.compile(r"(?<![\w.,-])[-+−]?\$?\d[\d.,]*")
_DATES = re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?")
MAX_COUNT = 12
"""Whole numbers up to this one are counts and list numbers, not figures."""
TRADING_DAYS = 252

SCALES = (1, 100, 1e-6, 1e-9)
"""The scales in which a text may write a value: as it is, in per cent, in millions, in billions."""

Bar = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A figure in a text. `decimals` is the number of digits after the point."""

    written: str
    value: float
    decimals: int

    def rounds(self, value: float) -> bool:
        """Whether it is this value, rounded to the figure's digits, with either sign and on one of the SCALES."""
        tolerance = 0.5000001 * 10**-self.decimals
        return any(abs(abs(self.value) - abs(value) * scale) <= tolerance for scale in SCALES)


def figures_in(text: str) -> list[Figure]:
    """The figures of a text, without dates, years and small counts."""
    figures: list[Figure] = []
    for match in _NUMBER.finditer(_DATES.sub(" ", text)):
        figure = _parse_figure(match[0].rstrip(".,"))
        is_whole = figure.value == int(figure.value)
        if (is_whole and abs(figure.value) <= MAX_COUNT) or (is_whole and 1990 <= figure.value <= 2100):
            continue
        figures.append(figure)
    return figures


def unknown_figures(text: str, results: Iterable[Any], question: str) -> list[str]:
    """The figures of a text that are neither in a result nor in the question."""
    known_values = {figure.value for figure in figures_in(question)}
    for result in results:
        _collect(result, known_values)
    return [figure.written for figure in figures_in(text) if not any(figure.rounds(value) for value in known_values)]


def recomputed(bars: Sequence[Bar], figure: str) -> float | None:
    """Computes a figure of a report from the bars alone: returns.<period>, max_drawdown, volatility, sma_N and so on.
    None if there are not enough bars. Raises ValueError for an unknown figure."""
    closes = [float(bar["close"]) for bar in bars]
    if not closes:
        return None
    year = closes[-TRADING_DAYS - 1 :]
    name, _, detail = figure.partition(".")
    if name == "returns":
        return _return(bars, detail)
    if name == "max_drawdown":
        peak, worst = year[0], 0.0
        for close in year:
            peak = max(peak, close)
            worst = min(worst, close / peak - 1)
        return worst
    if name == "current_drawdown":
        return year[-1] / max(year) - 1
    if name == "volatility":
        return stdev(math.log(b / a) for a, b in itertools.pairwise(year)) * math.sqrt(TRADING_DAYS)
    if name.startswith("sma_"):
        count = int(name.removeprefix("sma_"))
        return mean(closes[-count:]) if len(closes) >= count else None
    if name == "price":
        return closes[-1]
    raise ValueError(f"no rule computes {figure}")


def _return(bars: Sequence[Bar], period: str) -> float | None:
    """Return since the last close on or before the same day one period ago; 1d: since the previous session."""
    days = [date.fromisoformat(str(bar["time"])[:10]) for bar in bars]
    last_day = days[-1]
    if period == "1d":
        return float(bars[-1]["close"]) / float(bars[-2]["close"]) - 1
    months = {"1m": 1, "3m": 3, "1y": 12}.get(period)
    if period == "1w":
        start_day = date.fromordinal(last_day.toordinal() - 7)
    elif period == "ytd":
        start_day = date(last_day.year - 1, 12, 31)
    elif months is not None:
        year, month = divmod(last_day.year * 12 + last_day.month - 1 - months, 12)
        start_day = date(year, month + 1, min(last_day.day, monthrange(year, month + 1)[1]))
    else:
        raise ValueError(f"there is no period {period}")
    base = [bar for bar, day in zip(bars, days, strict=True) if day <= start_day]
    return float(bars[-1]["close"]) / float(base[-1]["close"]) - 1 if base else None


def _parse_figure(text: str) -> Figure:
    """Parses 12,345.6 as well as 12.345,6. A single comma before three digits separates thousands."""
    digits = text.replace("$", "").replace("−", "-").replace("+", "")
    last_mark = max(digits.rfind("."), digits.rfind(","))
    if last_mark < 0:
        return Figure(text, float(digits), 0)
    mark, tail = digits[last_mark], digits[last_mark + 1 :]
    if digits.count(mark) > 1 or (mark == "," and len(tail) == 3 and "." not in digits):
        return Figure(text, float(re.sub(r"[.,]", "", digits)), 0)
    return Figure(text, float(re.sub(r"[.,]", "", digits[:last_mark]) + "." + tail), len(tail))


def _collect(value: Any, into: set[float]) -> None:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        into.add(float(value))
    elif isinstance(value, str):
        into.update(figure.value for figure in figures_in(value))
        into.update(float(digits) for digits in re.findall(r"\d+", value) if len(digits) <= 15)
    elif isinstance(value, dict):
        for name, entry in cast("dict[str, Any]", value).items():
            into.update(float(digits) for digits in re.findall(r"\d+", name))
            _collect(entry, into)
    elif isinstance(value, list):
        for entry in cast("list[Any]", value):
            _collect(entry, into)
