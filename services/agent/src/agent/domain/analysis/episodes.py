"""Writes sentences about results with dates of their own: drawdowns, crossings of averages, results that are due."""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, cast

from agent.domain.analysis.formats import as_date, day, joined, percent
from contracts.languages import Language

Finding = Mapping[str, Any]
_NEXT_RESULTS = "next_earnings_date"
_DAYS = {"d": 1, "w": 7, "m": 30}


def told_falls(finding: Finding, language: Language, most: int | None = None) -> list[str]:
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
        back = day(one["recovered"], language) if one.get("recovered") else None
        end = {"es": f"recuperado el {back}" if back else "sin recuperar hasta el final",
               "en": f"recovered on {back}" if back else "not recovered by the end"}[language]  # fmt: skip
        said.append({"es": f"{depth}, del {peak} al {low}, {end}", "en": f"{depth}, {peak} to {low}, {end}"}[language])
    head = {"es": "mayores caídas desde un máximo", "en": "deepest falls from a peak"}[language]
    return [f"{finding['ticker']}, {head}: {'; '.join(said)}."] if said else []


def told_crossings(
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
    whose = {
        "es": f"de la media de {fast} sesiones con la de {slow}",
        "en": f"of the {fast}-session average with the {slow}-session one",
    }[language]
    if fast == 1:
        whose = {"es": f"del cierre con su media de {slow} sesiones",
                 "en": f"of the close with its {slow}-session average"}[language]  # fmt: skip
    head = {"es": f"cruces {whose}", "en": f"crossings {whose}"}[language]
    head = ", ".join(filter(None, (within, finding["ticker"], head)))
    found = [one for one in found if upward in (None, bool(one["above"]))]
    ways = {"es": ("por debajo", "por encima"), "en": ("below", "above")}[language]
    said = [f"{day(str(one['on']), language)} ({ways[bool(one['above'])]})" for one in found]
    none = {"es": "ninguno", "en": "none"}[language]
    return [f"{head}: {', '.join(said[-(most or 0) :]) or none}."]


def told_ahead(findings: Sequence[Finding], ahead: str, language: Language) -> list[str]:
    """Reports which tickers publish results in the period ahead (`Question.ahead`); nothing if no date is known."""
    dated = {str(one["ticker"]): as_date(one[_NEXT_RESULTS]) for one in findings if one.get(_NEXT_RESULTS)}
    if not dated:
        return []
    first, last = _stretch_ahead(ahead, max(as_date(one["as_of"]) for one in findings if one.get("as_of")))
    due = [ticker for ticker, on in dated.items() if first <= on <= last]
    start, end = day(first, language), day(last, language)
    who = joined(due, language) or {"es": "ninguno que se sepa", "en": "none that is known"}[language]
    return [
        {"es": f"Con resultados del {start} al {end}: {who}.", "en": f"With results from {start} to {end}: {who}."}[
            language
        ]
    ]


def _stretch_ahead(ahead: str, today: date) -> tuple[date, date]:
    if ahead == "week":
        monday = today + timedelta(days=7 - today.weekday())
        return monday, monday + timedelta(days=6)
    if ahead[-1:] in ("d", "w", "m"):
        return today + timedelta(days=1), today + timedelta(days=int(ahead[:-1]) * _DAYS[ahead[-1]])
    month = today.month % 12 + 1 if ahead == "month" else int(ahead)
    year = today.year + (month < today.month)
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])
