"""Writes sentences about results with their own days: drawdowns, crossings, upcoming earnings, headlines."""

from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

from agent.domain.analysis.formats import as_date, day, joined, number, percent
from agent.domain.analysis.texts import analysis_text
from agent.domain.analysis.wanted_calls import PERFORMANCE, Question
from contracts.languages import Language

Finding = Mapping[str, Any]
_NEXT_RESULTS = "next_earnings_date"
_DAYS = {"d": 1, "w": 7, "m": 30}


def drawdowns_text(finding: Finding, question: Question, language: Language) -> list[str]:
    """Lists the deepest falls from a peak with their days, at most as many as the question asks for."""
    falls = cast("Sequence[Mapping[str, Any]]", finding.get("drawdowns") or ())
    falls = sorted(falls, key=lambda fall: float(fall["depth"]))
    # The recovery may be in a longer period than the fall; a fall that is in both is listed once.
    recoveries = {fall["peak"]: fall["recovered"] for fall in falls if fall.get("recovered")}
    falls_in_period = {
        (fall["peak"], fall["trough"]): fall for fall in falls if _is_in_period(str(fall["trough"]), question)
    }
    texts: list[str] = []
    for fall in [*falls_in_period.values()][: question.most.get("drawdowns")]:
        depth = percent(float(fall["depth"]), language)
        peak, low = day(fall["peak"], language), day(fall["trough"], language)
        end = analysis_text("episodes.not_recovered", language)
        if recovered := recoveries.get(fall["peak"]):
            days = number((as_date(recovered) - as_date(fall["trough"])).days, language, 0)
            end = analysis_text("episodes.recovered", language, day=day(recovered, language), days=days)
        texts.append(analysis_text("episodes.fall", language, depth=depth, peak=peak, low=low, end=end))
    return (
        [analysis_text("episodes.falls", language, ticker=finding["ticker"], falls="; ".join(texts))] if texts else []
    )


def _is_in_period(trough: str, question: Question) -> bool:
    """Whether a day is in a period of the question. A period that is asked for again without its end, for a recovery
    after it, still ends there."""
    calls = [call for call in question.calls if call.tool == PERFORMANCE]
    starts_and_ends = [(call.arguments.get("start"), call.arguments.get("end")) for call in calls]
    ends = {start: end for start, end in starts_and_ends if start and end}
    periods = [(start or "", ends.get(start, end) or "9999") for start, end in starts_and_ends]
    return not periods or any(str(start) <= trough <= str(end) for start, end in periods)


def crossings_text(
    finding: Finding,
    language: Language,
    period: str = "",
    max_crossings: int | None = None,
    *,
    upward: bool | None = None,
) -> list[str]:
    """Lists the days on which averages crossed, the newest `max_crossings`, or says that there are none. `period`: the
    period in words; `upward`: only crossings to above (True) or to below (False)."""
    if finding.get("crossings") is None:
        return []
    fast, slow = cast("Sequence[int]", finding.get("crossing_averages") or (50, 200))
    crossings = cast("Sequence[Mapping[str, Any]]", finding["crossings"])
    head = analysis_text("episodes.crossings", language, fast=fast, slow=slow)
    if fast == 1:
        head = analysis_text("episodes.crossings_of_close", language, slow=slow)
    head = ", ".join(filter(None, (period, finding["ticker"], head)))
    crossings = [crossing for crossing in crossings if upward in (None, bool(crossing["above"]))]
    ways = [analysis_text(f"episodes.went_{direction}", language) for direction in ("below", "above")]
    texts = [f"{day(str(crossing['on']), language)} ({ways[bool(crossing['above'])]})" for crossing in crossings]
    return [f"{head}: {', '.join(texts[-(max_crossings or 0) :]) or analysis_text('episodes.no_crossing', language)}."]


def upcoming_results_text(findings: Sequence[Finding], ahead: str, language: Language) -> list[str]:
    """Says which tickers publish results in the period ahead (`Question.ahead`); empty if no date is known."""
    result_days = {
        str(finding["ticker"]): as_date(finding[_NEXT_RESULTS]) for finding in findings if finding.get(_NEXT_RESULTS)
    }
    if not result_days:
        return []
    first, last = _days_ahead(ahead, max(as_date(finding["as_of"]) for finding in findings if finding.get("as_of")))
    due = [ticker for ticker, result_day in result_days.items() if first <= result_day <= last]
    tickers = joined(due, language) or analysis_text("episodes.nobody_due", language)
    return [analysis_text("episodes.due", language, first=day(first, language), last=day(last, language), who=tickers)]


def _days_ahead(ahead: str, today: date) -> tuple[date, date]:
    if ahead == "week":
        monday = today + timedelta(days=7 - today.weekday())
        return monday, monday + timedelta(days=6)
    if ahead[-1:] in ("d", "w", "m"):
        return today + timedelta(days=1), today + timedelta(days=int(ahead[:-1]) * _DAYS[ahead[-1]])
    month = today.month % 12 + 1 if ahead == "month" else int(ahead)
    year = today.year + (month < today.month)
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


_NEW_YORK = ZoneInfo("America/New_York")


def news_text(finding: Finding, language: Language) -> list[str]:
    """Lists the headlines, each with its source and date."""
    items = cast("Sequence[Mapping[str, Any]]", finding.get("news") or ())
    if not items:
        return []
    return [
        analysis_text("told.headlines", language, ticker=finding["ticker"]),
        *(f"- {item['title']} ({item['source']}, {day(published_on(str(item['time'])), language)})" for item in items),
    ]


def published_on(moment: str) -> date:
    """The day in New York. Sources that only know the day give the end of that day."""
    time = datetime.fromisoformat(moment)
    return time.astimezone(_NEW_YORK).date() if time.tzinfo else time.date()
