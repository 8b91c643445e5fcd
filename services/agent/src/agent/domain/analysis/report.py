"""Builds the report from the results of the calls (contracts.analysis_report), with everything a reader must know.

Limits are told in sentences: what was not answered and why, where data ends, which words no rule read.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from agent.domain.analysis.asked import AskedPeriod
from agent.domain.analysis.call_names import call_name
from agent.domain.analysis.comparison import comparison, value_of
from agent.domain.analysis.derived import begin_together, has_answer
from agent.domain.analysis.figures import CollectedResults, has_prices
from agent.domain.analysis.formats import as_date, day, figure_name
from agent.domain.analysis.plan import ANALYSIS_TOOLS
from agent.domain.analysis.texts import disclaimer, note, plain_reason, plain_summary
from agent.domain.analysis.wanted_calls import Question
from agent.domain.claims.facts import HOLDING
from contracts.events.analysis import AnalysisCall, AnalysisRecord
from contracts.languages import Language

MIN_YEAR_SESSIONS = 245
"""Sessions from which a window counts as a year."""
MAX_MEANINGFUL_PE = 200.0
"""A P/E from which it says more about the earnings than about the price."""
NOT_MADE = "NOT_MADE"
"""The code of a call that was never sent, since time had run out."""
_REPORTED_IF_MISSING = (
    "volatility", "sma_200", "pe", "eps", "revenue", "market_cap", "gross_margin", "net_margin", "dividend_yield",
    "beta",
)  # fmt: skip


def build_report(
    record: AnalysisRecord,
    found: CollectedResults,
    summary: str,
    limitations: Sequence[str],
    period: AskedPeriod,
    language: Language,
    now: datetime,
    dropped: int = 0,
) -> dict[str, Any]:
    """The report as JSON values; `limitations` in the order in which they came up."""
    report: dict[str, Any] = {
        "query": record.request.query,
        "tickers": list(record.tickers),
        "summary": summary,
        "findings": found.findings,
        "tools_used": tools_used(record.calls),
        "sources": found.sources,
        "limitations": list(dict.fromkeys(limitations)),
        "disclaimer": disclaimer(language),
        "generated_at": now.isoformat().replace("+00:00", "Z"),
        "errors": [{name: entry[name] for name in ("error", "ticker", "reason")} for entry in found.errors],
        "language": language,
        "dropped_sentences": dropped,
    }
    compared = comparison(found.findings, period.period)
    if compared is not None:
        report["comparison"] = compared
    return report


def report_without_figures(
    record: AnalysisRecord, key: str, limitations: Sequence[str], language: Language, now: datetime
) -> dict[str, Any]:
    """The report of a question that nothing was looked up for."""
    summary = plain_summary(key, language)
    return build_report(record, CollectedResults(), summary, limitations, AskedPeriod(), language, now)


def tools_used(calls: Sequence[AnalysisCall]) -> list[dict[str, Any]]:
    """Each tool with its tickers; calls are counted per ticker, and the one more try after a bad answer is no new "
    "one."""
    used: dict[str, dict[str, Any]] = {}
    for call in calls:
        error: dict[str, Any] = (call.result or {}).get("error") or {}
        if call.again or error.get("code") == NOT_MADE:
            continue
        entry = used.setdefault(call.tool, {"tool": call.tool, "tickers": [], "calls": 0})
        entry["tickers"] = list(dict.fromkeys([*entry["tickers"], *call.tickers]))
        entry["calls"] += len(call.tickers)
    return list(used.values())


def unanswered_calls(calls: Sequence[AnalysisCall], found: CollectedResults, language: Language) -> list[str]:
    """Lists what the question asked for by name and no tool could answer, with the tool's reason, and the tickers of
    which nothing is known."""
    told: list[str] = []
    for call in calls:
        if call.again:
            continue
        by_name = call.tool not in ANALYSIS_TOOLS
        what = call_name(call.tool, call.arguments or {}, language)
        error: dict[str, Any] = (call.result or {}).get("error") or {}
        if error and by_name:
            wrong = "; ".join(str(one["message"]) for one in error.get("fields") or ())
            reason = _reason(wrong or error.get("message") or error.get("code"))
            told.append(note("not_answered", language, what=what, tickers=", ".join(call.tickers), reason=reason))
        told += [
            note("not_answered", language, what=what, tickers=entry["ticker"], reason=_reason(entry["error"]))
            for entry in found.errors
            if entry["tool"] == call.tool and entry["ticker"] in call.tickers
            if by_name or entry["ticker"] in found.unknown
        ]
    return list(dict.fromkeys(told))


def _reason(text: object) -> str:
    """A tool's own sentence, as the end of one: "You have reached" as "you have reached"."""
    said = str(text).rstrip(".")
    return said[:1].lower() + said[1:] if said[1:2].islower() else said


def unanswered_parts(
    question: Question, record: AnalysisRecord, found: CollectedResults, language: Language, *, by_rule: bool
) -> list[str]:
    """Lists what the question asks for and the answers do not hold: a figure that the source has not, or has of now
    alone; words that no rule reads."""
    told: list[str] = []
    unknown: set[str] = set()
    tickers = ", ".join(record.tickers)
    failed = found.unknown | {str(entry["ticker"]) for entry in found.errors if entry["tool"] not in ANALYSIS_TOOLS}
    away = {call.tool for call in question.calls} - {call.tool for call in record.calls} if by_rule else set[str]()
    for name in question.figures:
        have = {str(one["ticker"]) for one in found.findings if has_answer(one, name, question.periods)}
        lack = [one for one in record.tickers if one not in have and one not in failed]
        if lack and have | failed != set(record.tickers) and (found.findings or away):
            unknown.add(name)
            reason = plain_reason("no_tool" if away and not have else "no_figure", language)
            told.append(
                note("not_answered", language, what=figure_name(name, language), tickers=", ".join(lack), reason=reason)
            )
    for name in (one for one in question.now_only if one not in unknown):
        reason = plain_reason("now_only", language)
        told.append(note("not_answered", language, what=figure_name(name, language), tickers=tickers, reason=reason))
    if by_rule:
        made = [(call.tool, call.arguments or {}, ticker) for call in record.calls for ticker in call.tickers]
        for call in question.calls:
            lack = [one for one in call.tickers if (call.tool, call.arguments, one) not in made]
            if lack and call.tool not in away:
                what, reason = call_name(call.tool, call.arguments, language), plain_reason("budget", language)
                told.append(note("not_answered", language, what=what, tickers=", ".join(lack), reason=reason))
        for words in question.unread:
            reason = plain_reason("unread", language)
            told.append(note("not_answered", language, what=f"“{words}”", tickers=tickers, reason=reason))
    return told


def currency_notes(question: Question, found: CollectedResults, language: Language) -> list[str]:
    """Says that an amount in another currency was computed as if it were in the ticker's own."""
    derived = [one for finding in found.findings for one in finding.get("derived") or () if one["figure"] == "growth"]
    other = sorted({str(one["currency"]) for one in derived if one.get("currency")} - {question.currency})
    if question.currency is None or not other:
        return []
    return [note("own_currency", language, asked=question.currency, counted=", ".join(other))]


def limits_of_data(
    found: CollectedResults, period: AskedPeriod, language: Language, *, reached: bool = False
) -> list[str]:
    """Says what a reader must know about the figures: where they end, what they leave out, what is missing. `reached`:
    the question's stretch was asked for as it is."""
    notes: list[str] = []
    same: dict[tuple[str, str, str], list[str]] = {}
    for entry in found.errors:
        if entry["tool"] not in ANALYSIS_TOOLS or entry["ticker"] in found.unknown:
            continue  # told as not answered
        same.setdefault((entry["ticker"], entry["reason"], entry["error"]), []).append(entry["tool"])
    for (ticker, reason, error), tools in same.items():
        notes.append(note("ticker_failed", language, ticker=ticker, tool=", ".join(tools), reason=reason, error=error))
    for ticker, tool in found.unanswered:
        notes.append(note("no_answer", language, ticker=ticker, tool=tool))
    if period.beyond and not reached:
        notes.append(note("beyond", language))
    samples = sorted({as_date(one["as_of"]) for one in found.sources if one["source"] == "sample"})
    notes += [*found.notes, *found.assumptions]
    if samples and not found.notes:
        notes.append(note("sample", language, date=day(samples[-1], language)))
    for ticker, first in _late_starts(found.findings).items():
        notes.append(note("begins_late", language, ticker=ticker, date=day(first, language)))
    priced = [finding for finding in found.findings if has_prices(finding)]
    if priced:
        notes.append(note("price_return", language))
    dates = sorted({as_date(finding["as_of"]) for finding in priced})
    if len(dates) > 1:
        notes.append(note("dates_differ", language, dates=", ".join(day(one, language) for one in dates)))
    currencies = sorted({str(finding["currency"]) for finding in found.findings if finding.get("currency")})
    if len(currencies) > 1:
        notes.append(note("currencies_differ", language, currencies=", ".join(currencies)))
    return [*notes, *_missing_figures(found.findings, period, language)]


def _late_starts(findings: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The first day of tickers whose figures begin later than those of others over the same stretch, or than the day
    that was asked for."""
    begins: dict[str, dict[str, str]] = {}
    for finding in findings:
        for one in finding.get("derived") or ():
            if one.get("from") and not one.get("on"):
                with_other = f", {one['other']}" if one.get("other") not in (None, HOLDING) else ""
                begins.setdefault(str(one["asked"]), {})[f"{one['ticker']}{with_other}"] = str(one["from"])
    late: dict[str, str] = {}
    for asked, days in begins.items():
        begin = [*days.values(), *([asked[:10]] if re.match(r"(?!1900)\d{4}-\d\d-\d\d/", asked) else [])]
        late |= {ticker: day for ticker, day in days.items() if not begin_together([min(begin), day])}
    return late


def _missing_figures(findings: Sequence[Mapping[str, Any]], period: AskedPeriod, language: Language) -> list[str]:
    lead = f"returns.{period.period}"
    notes: list[str] = []
    unknown: dict[str, list[str]] = {}
    expected: list[str] = []
    for finding in findings:
        ticker = str(finding["ticker"])
        names = [name for name in _REPORTED_IF_MISSING if name in finding and finding[name] is None]
        if has_prices(finding) and value_of(finding, lead) is None:
            names.insert(0, lead)
        if names:
            unknown.setdefault(", ".join(figure_name(name, language) for name in names), []).append(ticker)
        window = cast("Mapping[str, Any]", finding.get("window") or {})
        if window and int(window["bars"]) < MIN_YEAR_SESSIONS:
            since = day(window["first"], language)
            notes.append(note("short_history", language, ticker=ticker, bars=window["bars"], date=since))
        if (value_of(finding, "pe") or 0.0) > MAX_MEANINGFUL_PE:
            notes.append(note("thin_earnings", language, ticker=ticker))
        if finding.get("next_earnings_date") and finding.get("next_earnings_status") == "expected":
            expected.append(ticker)
    notes += [
        note("unknown_figures", language, tickers=", ".join(tickers), figures=names)
        for names, tickers in unknown.items()
    ]
    if expected:
        notes.append(note("expected_dates", language, tickers=", ".join(expected)))
    return notes
