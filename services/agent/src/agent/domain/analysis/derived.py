"""What tools gave of stretches of time, in sentences: each names the stretch as it was asked for."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from agent.domain.analysis.formats import day, figure_name, joined, money, number, percent
from contracts.languages import Language

Finding = Mapping[str, Any]
_RANKED = ("return",)
_UNITS: dict[str, dict[Language, tuple[str, str]]] = {
    "d": {"es": ("día", "días"), "en": ("day", "days")},
    "w": {"es": ("semana", "semanas"), "en": ("week", "weeks")},
    "m": {"es": ("mes", "meses"), "en": ("month", "months")},
    "y": {"es": ("año", "años"), "en": ("year", "years")},
}
HOLDING = "buy and hold"


def told_derived(findings: Sequence[Finding], language: Language) -> str:
    """A few short paragraphs; empty where nothing of the kind was asked for."""
    lines: list[str] = []
    for finding in findings:
        lines += _stretches(finding, language)
        lines += _crossings(finding, language)
        lines += _news(finding, language)
    return "\n".join([*lines, *_ranks(findings, language)])


def over(asked: str, language: Language) -> str:
    """2008-01-01/2008-12-31 as from 1 January 2008 to 31 December 2008; 5y as over the last 5 years."""
    first, slash, last = asked.partition("/")
    if slash and last:
        return {
            "es": f"Del {day(first, language)} al {day(last, language)}",
            "en": f"From {day(first, language)} to {day(last, language)}",
        }[language]
    if slash:
        return {"es": f"Desde el {day(first, language)}", "en": f"Since {day(first, language)}"}[language]
    count = int(asked[:-1])
    unit = _UNITS[asked[-1]][language][count > 1]
    if language == "es":
        return f"En un periodo de {count} {unit}" if count == 1 else f"En los últimos {count} {unit}"
    return f"Over the last {count} {unit}"


def _stretches(finding: Finding, language: Language) -> list[str]:
    ticker = str(finding["ticker"])
    derived = cast("Sequence[Mapping[str, Any]]", finding.get("derived") or ())
    figures = [one for one in derived if one["ticker"] == ticker]
    found: list[str] = []
    for asked in dict.fromkeys(str(one["asked"]) for one in figures if one.get("asked")):
        mine = [one for one in figures if one.get("asked") == asked]
        parts = [text for one in mine if one.get("value") is not None and (text := _said(one, language))]
        if parts:
            found.append(f"{over(asked, language)}, {ticker}: {'; '.join(parts)}.")
        unknown = [one for one in mine if one.get("value") is None]
        if unknown:
            names = joined([figure_name(str(one["figure"]), language) for one in unknown], language)
            found.append({"es": f"{ticker}: sin dato de {names}.", "en": f"{ticker}: no figure for {names}."}[language])
    return found


def _said(one: Mapping[str, Any], language: Language) -> str:
    name, value, other = str(one["figure"]), float(one["value"]), one.get("other")
    if other == HOLDING:
        if name == "return":
            label = {"es": "comprar y mantener, rentabilidad", "en": "buying and holding, return"}[language]
            return f"{label} {percent(value, language)}"
        return ""
    label = figure_name(name, language)
    if name in ("correlation", "beta"):
        beside = {"es": "frente a", "en": "against"}[language]
        return f"{label} {beside} {other} {number(value, language, 2)}"
    if name in ("growth", "final", "costs", "high", "low"):
        return f"{label} {money(value, one.get('currency'), language)}"
    text = f"{label} {percent(value, language)}"
    if one.get("on"):
        text += {"es": f" el {day(str(one['on']), 'es')}", "en": f" on {day(str(one['on']), 'en')}"}[language]
    return text


def _crossings(finding: Finding, language: Language) -> list[str]:
    if finding.get("crossings") is None:
        return []
    fast, slow = cast("Sequence[int]", finding.get("crossing_averages") or (50, 200))
    found = cast("Sequence[Mapping[str, Any]]", finding["crossings"])
    head = {
        "es": f"{finding['ticker']}, cruces de la media de {fast} sesiones con la de {slow}",
        "en": f"{finding['ticker']}, crossings of the {fast}-session average with the {slow}-session one",
    }[language]
    ways = {"es": ("por debajo", "por encima"), "en": ("below", "above")}[language]
    said = [f"{day(str(one['on']), language)} ({ways[bool(one['above'])]})" for one in found]
    none = {"es": "ninguno en ese periodo", "en": "none in that period"}[language]
    return [f"{head}: {', '.join(said) if said else none}."]


def _news(finding: Finding, language: Language) -> list[str]:
    items = cast("Sequence[Mapping[str, Any]]", finding.get("news") or ())
    if not items:
        return []
    head = {"es": f"Titulares de {finding['ticker']}:", "en": f"Headlines of {finding['ticker']}:"}[language]
    return [head, *(f"- {one['title']} ({one['source']}, {day(str(one['time']), language)})" for one in items)]


def _ranks(findings: Sequence[Finding], language: Language) -> list[str]:
    """Several tickers over one stretch, from the best return to the worst."""
    values: dict[str, dict[str, float]] = {}
    for finding in findings:
        for one in cast("Sequence[Mapping[str, Any]]", finding.get("derived") or ()):
            mine = one["ticker"] == finding["ticker"]
            if (
                mine
                and one["figure"] in _RANKED
                and one.get("asked")
                and not one.get("other")
                and one.get("value") is not None
            ):
                values.setdefault(str(one["asked"]), {})[str(one["ticker"])] = float(one["value"])
    lines: list[str] = []
    for asked, known in values.items():
        if len(known) > 1:
            order = sorted(known, key=lambda ticker: -known[ticker])
            said = ", ".join(f"{ticker} {percent(known[ticker], language)}" for ticker in order)
            head = {"es": "de mayor a menor rentabilidad", "en": "by return, highest first"}[language]
            lines.append(f"{over(asked, language)}, {head}: {said}.")
    return lines
