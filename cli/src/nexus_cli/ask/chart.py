"""Draws an analysis as one SVG file: each ticker's closes of a year as a line, all starting at 100."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import Any
from xml.sax.saxutils import escape

from contracts.languages import named_language
from nexus_cli.ask.client import Series
from nexus_cli.texts import TEXTS

WIDTH, HEIGHT = 960, 540
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 76, 64
COLOURS = ("#1f6feb", "#d9480f", "#2b8a3e", "#9c36b5", "#c2255c", "#0b7285", "#e67700", "#495057")
"""Most people with a colour vision deficiency can tell these apart. The legend has the same order as the lines."""
GRID_STEPS = 5
MAX_TICKS = 9


def svg(report: dict[str, Any], series: Series) -> str:
    """The SVG document. A line that starts later than the others starts at 100 on its own first day."""
    language = named_language(report.get("language")) or "en"
    indexed = {ticker: _indexed(points) for ticker, points in series.items()}
    days = sorted({day for points in indexed.values() for day, _ in points})
    low, high, step = _scale([value for points in indexed.values() for _, value in points])
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    x_of_day = {day: LEFT + plot_width * index / max(len(days) - 1, 1) for index, day in enumerate(days)}

    def y_of(value: float) -> float:
        return TOP + plot_height * (1 - (value - low) / (high - low))

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{escape(str(report['query']))}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 28, str(report["query"])[:100], size=18, weight=600),
        _text(LEFT, 50, TEXTS["chart.title"].in_language(language).format(day=days[0]), colour="#57606a"),
    ]
    value = low
    while value <= high + step / 2:
        y = y_of(value)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#d0d7de"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{value:g}", anchor="end", colour="#57606a"))
        value += step
    for index in _ticks(days):
        parts.append(_text(x_of_day[days[index]], HEIGHT - BOTTOM + 20, days[index], anchor="middle", colour="#57606a"))
    for number, (ticker, points) in enumerate(indexed.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x_of_day[day]:.1f},{y_of(value):.1f}" for day, value in points)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>')
        legend = f"{ticker} {points[-1][1]:.1f}"
        x = LEFT + 130 * (number % 6)
        y = HEIGHT - 22 if number < 6 else HEIGHT - 6
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(x + 18, y, legend))
    parts.append(_text(WIDTH - RIGHT, 50, _foot(report, series, language), anchor="end", colour="#57606a"))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _indexed(points: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    first_close = points[0][1]
    return [(day, 100 * close / first_close) for day, close in points]


def _scale(values: Sequence[float]) -> tuple[float, float, float]:
    """Lowest line, highest line and step of the grid; the step is 1, 2 or 5 times a power of ten."""
    low, high = min(values), max(values)
    min_step = max(high - low, 1.0) / GRID_STEPS
    power = 10.0 ** math.floor(math.log10(min_step))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= min_step)
    return math.floor(low / step) * step, math.ceil(high / step) * step, step


def _ticks(days: Sequence[str]) -> list[int]:
    """Indexes of the labelled days: the first session of every other month, away from the edges, and of these only
    every n-th if there are too many."""
    starts = [
        index
        for index in range(1, len(days))
        if days[index][:7] != days[index - 1][:7] and date.fromisoformat(days[index]).month % 2 == 1
    ]
    inside = [index for index in starts if len(days) * 0.03 < index < len(days) * 0.97]
    return inside[:: math.ceil(len(inside) / MAX_TICKS)] if inside else [0, len(days) - 1]


def _foot(report: dict[str, Any], series: Series, language: str) -> str:
    sources = [entry for entry in report["sources"] if entry["ticker"] in series]
    names = ", ".join(dict.fromkeys(entry["source"] for entry in sources))
    return (
        TEXTS["chart.foot"]
        .in_language(language)
        .format(source=names or "?", day=max(points[-1][0] for points in series.values()))
    )


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#1f2328", size: int = 13, weight: int = 400
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )
