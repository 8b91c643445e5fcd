"""Writes sentences about results with dates of their own: drawdowns, crossings of averages, results that are due."""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, cast

from agent.domain.analysis.formats import as_date, day, joined, percent
from agent.texts import TEXTS
from contracts.languages import Language

Finding = Mapping[str, Any]
_NEXT_RESULTS = "next_earnings_date"
_DAYS = {"d": 1, "w": 7, "m": 30}


def drawdowns_text(finding: Finding, language: Language, most: int | None = None) -> list[str]:
    """The deepest falls from a peak, with their days; no more than `most`."""
    found = cast("Sequence[Mapping[str, Any]]", finding.get("drawdowns") or ())
    found = sorted(found, key=lambda one: float(one["depth"]))[:most]
    said: list[str] = []
    # A fall that a longer stretch has too is told once, with its recovery.
    for one in {(one["peak"], one["trough"]): one for one in found}.values():
        depth, peak, low = (
            percent(float(one["depth"]), language),
            day(one["peak"], language),
            day(one["trough"], language),
        )
        end = TEXTS["analysis.episodes.not_recovered"].in_language(language)
        if one.get("recovered"):
            end = TEXTS["analysis.episodes.recovered"].in_language(language).format(day=day(one["recovered"], language))
        told = TEXTS["analysis.episodes.fall"].in_language(language)
        said.append(told.format(depth=depth, peak=peak, low=low, end=end))
    falls = TEXTS["analysis.episodes.falls"].in_language(language)
    return [falls.format(ticker=finding["ticker"], falls="; ".join(said))] if said else []


def crossings_text(
    finding: Finding,
    language: Language,
    within: str = "",
    most: int | None = None,
    *,
    upward: bool | None = None,
) -> list[str]:
    """The days on which averages crossed, or that there are none; the newest `most`. `within`: the stretch, in words;
    `upward`: only those to above, or to below."""
    if finding.get("crossings") is None:
        return []
    fast, slow = cast("Sequence[int]", finding.get("crossing_averages") or (50, 200))
    found = cast("Sequence[Mapping[str, Any]]", finding["crossings"])
    head = TEXTS["analysis.episodes.crossings"].in_language(language).format(fast=fast, slow=slow)
    if fast == 1:
        head = TEXTS["analysis.episodes.crossings_of_close"].in_language(language).format(slow=slow)
    head = ", ".join(filter(None, (within, finding["ticker"], head)))
    found = [one for one in found if upward in (None, bool(one["above"]))]
    ways = [TEXTS[f"analysis.episodes.went_{way}"].in_language(language) for way in ("below", "above")]
    said = [f"{day(str(one['on']), language)} ({ways[bool(one['above'])]})" for one in found]
    none = TEXTS["analysis.episodes.no_crossing"].in_language(language)
    return [f"{head}: {', '.join(said[-(most or 0) :]) or none}."]


def upcoming_results_text(findings: Sequence[Finding], ahead: str, language: Language) -> list[str]:
    """Reports which tickers publish results in the period ahead (`Question.ahead`); nothing if no date is known."""
    dated = {str(one["ticker"]): as_date(one[_NEXT_RESULTS]) for one in findings if one.get(_NEXT_RESULTS)}
    if not dated:
        return []
    first, last = _days_ahead(ahead, max(as_date(one["as_of"]) for one in findings if one.get("as_of")))
    due = [ticker for ticker, on in dated.items() if first <= on <= last]
    who = joined(due, language) or TEXTS["analysis.episodes.nobody_due"].in_language(language)
    told = TEXTS["analysis.episodes.due"].in_language(language)
    return [told.format(first=day(first, language), last=day(last, language), who=who)]


def _days_ahead(ahead: str, today: date) -> tuple[date, date]:
    if ahead == "week":
        monday = today + timedelta(days=7 - today.weekday())
        return monday, monday + timedelta(days=6)
    if ahead[-1:] in ("d", "w", "m"):
        return today + timedelta(days=1), today + timedelta(days=int(ahead[:-1]) * _DAYS[ahead[-1]])
    month = today.month % 12 + 1 if ahead == "month" else int(ahead)
    year = today.year + (month < today.month)
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])
