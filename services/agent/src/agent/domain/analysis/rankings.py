"""Writes sentences that rank several tickers, or the years of one, by a figure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, cast

from agent.domain.analysis.figure_entries import DATE_FIGURES, Finding, entries, last_day, listed_figures, value_text
from agent.domain.analysis.formats import as_date, day, figure_name, joined, period_text
from agent.domain.analysis.texts import analysis_text
from agent.domain.analysis.wanted_calls import Question
from agent.domain.claims.facts import FALL_FIGURES, MAX_CLOSED_DAYS
from contracts.calendar_names import month_name
from contracts.expressions import expression
from contracts.languages import Language

PART_FIGURE = expression(r"(week|month|quarter|year)_(?:return|volatility)")
"""The figures of each part of a period."""


def begin_together(days: Iterable[str]) -> bool:
    """Whether periods begin within a few closed days of each other."""
    dates = [date.fromisoformat(day) for day in days]
    return (max(dates) - min(dates)).days <= MAX_CLOSED_DAYS


def _first_days(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The first day of each ticker's period."""
    return {
        ticker: str(figure["from"]) for ticker, figure in figures.items() if figure.get("from") and not figure.get("on")
    }


def _begun_later(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The tickers whose period begins later than the earliest one, with their first days."""
    first_days = _first_days(figures)
    return {ticker: day for ticker, day in first_days.items() if not begin_together([min(first_days.values()), day])}


def is_ranked(findings: Sequence[Finding], name: str, periods: Sequence[str]) -> bool:
    """Whether `ranking_lines` lists the figure of each ticker: there are several whose periods begin together."""
    comparable = [figures for figures in _by_period(findings, name, periods).values() if len(figures) > 1]
    return bool(comparable) and all(len(figures) - len(_begun_later(figures)) > 1 for figures in comparable)


def ranking_lines(
    findings: Sequence[Finding],
    names: Sequence[str],
    language: Language,
    lowest_first: bool,
    periods: Sequence[str] = (),
    *,
    by_size: bool = False,
) -> list[str]:
    """Lists several tickers side by side, one line for each figure, in its order."""
    lines: list[str] = []
    for name in dict.fromkeys(names):
        for period, figures in _by_period(findings, name, periods).items():
            if len(figures) < 2:
                continue
            later = _begun_later(figures)
            if len(figures) - len(later) < 2:
                starts = [f"{ticker} {day(first, language)}" for ticker, first in _first_days(figures).items()]
                lines.append(analysis_text("told.unranked", language, since=joined(starts, language)))
                break
            late_values = [
                f"{ticker} {_value_with_day(figures[ticker], language)} ({day(first, language)})"
                for ticker, first in later.items()
            ]
            figures = {ticker: figure for ticker, figure in figures.items() if ticker not in later}
            order = _order(figures, name, lowest_first=lowest_first)
            if by_size and name == "return":
                order = sorted(
                    figures, key=lambda ticker: abs(float(figures[ticker]["value"])), reverse=not lowest_first
                )
            values = ", ".join(f"{ticker} {_value_with_day(figures[ticker], language)}" for ticker in order)
            head = _order_label(name, language, lowest_first, by_size=by_size)
            head = (
                f"{period_text(period, language, last_day(figures.values()))}, {head}"
                if period
                else head[0].upper() + head[1:]
            )
            lines.append(f"{head}: {values}.")
            if late_values:
                lines.append(analysis_text("told.begun_later", language, values=joined(late_values, language)))
    return lines


def _order(figures: Mapping[str, Mapping[str, Any]], name: str, *, lowest_first: bool) -> list[str]:
    return sorted(
        figures, key=lambda ticker: _sort_key(figures[ticker]["value"], name in FALL_FIGURES), reverse=not lowest_first
    )


def finding_at_place(findings: Sequence[Finding], ranked_names: Sequence[str], question: Question) -> Finding | None:
    """The finding whose other figures are asked for, by its place in the ranking by the first figure."""
    if question.place is None or len(set(ranked_names)) < 2:
        return None
    for figures in _by_period(findings, ranked_names[0], question.periods).values():
        order = _order(figures, ranked_names[0], lowest_first=question.lowest_first)
        if question.place < len(order):
            return next(finding for finding in findings if finding["ticker"] == order[question.place])
    return None


def part_ranking_lines(finding: Finding, names: Sequence[str], language: Language, lowest_first: bool) -> list[str]:
    """Lists one ticker's months, years, … side by side, one line for each figure, in its order."""
    lines: list[str] = []
    for name in names:
        figures = {
            str(figure["asked"]): figure
            for figure in listed_figures(finding)
            if figure["figure"] == name and figure.get("value") is not None and not figure.get("on")
        }
        order = _order(figures, name, lowest_first=lowest_first)
        if len(order) > 1:
            unit = part[1] if (part := PART_FIGURE.fullmatch(name)) else "year"
            values = ", ".join(
                f"{_part_name(part, unit, language)}: {_value_with_day(figures[part], language)}" for part in order
            )
            first, last = (pick(part.split("/")[at] for part in order) for pick, at in ((min, 0), (max, 1)))
            head = period_text(f"{first}/{last}", language)
            lines.append(f"{head}, {finding['ticker']}, {_order_label(name, language, lowest_first)}: {values}.")
    return lines


def _part_name(part: str, unit: str, language: Language) -> str:
    """2010-01-04/2010-01-29 as January 2010; a week as its first day."""
    first = as_date(part.partition("/")[0])
    names = {"month": month_name(first.month, language), "quarter": (first.month + 2) // 3}
    if unit == "week":
        return day(first, language)
    return analysis_text(f"part.{unit}", language, name=names.get(unit), year=first.year)


def _order_label(name: str, language: Language, lowest_first: bool, *, by_size: bool = False) -> str:
    """The text that says by what, and in which direction, tickers or years are sorted."""
    label = figure_name(name, language)
    if name in DATE_FIGURES:
        return label
    if by_size and name == "return":
        return analysis_text(f"order.{'smallest' if lowest_first else 'largest'}", language)
    if name == "growth":
        label = analysis_text("order.final_amount", language)
    superlatives = ("deepest", "mildest") if name in FALL_FIGURES else ("highest", "lowest")
    return analysis_text(f"order.{superlatives[lowest_first]}_first", language, label=label)


def _value_with_day(figure: Mapping[str, Any], language: Language) -> str:
    """A value, with its day if it has one."""
    name, text = str(figure["figure"]), value_text(figure, language)
    if name.startswith(("best_", "worst_")) and figure.get("on"):
        return f"{text} ({day(str(figure['on']), language)})"
    return text


def _sort_key(value: object, is_fall: bool) -> float:
    if isinstance(value, str):
        return -float(as_date(value).toordinal())
    amount = float(cast("float", value))
    return -amount if is_fall else amount


def _by_period(
    findings: Sequence[Finding], name: str, periods: Sequence[str]
) -> dict[str | None, dict[str, Mapping[str, Any]]]:
    figures_by_period: dict[str | None, dict[str, Mapping[str, Any]]] = {}
    for finding in findings:
        for figure in entries(finding, periods):
            is_own = figure["ticker"] == finding["ticker"] and not figure.get("other")
            if is_own and figure["figure"] == name and figure.get("value") is not None:
                figures_by_period.setdefault(figure.get("asked"), {}).setdefault(str(figure["ticker"]), figure)
    return figures_by_period
