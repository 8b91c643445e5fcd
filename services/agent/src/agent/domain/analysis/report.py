"""Builds the report from the results of the calls (contracts.analysis_report), with everything a reader must know.

Limits are written as sentences: what was not answered and why, where data ends, which words no rule read.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from agent.domain.analysis.asked import AskedPeriod
from agent.domain.analysis.comparison import comparison, value_of
from agent.domain.analysis.figure_entries import has_answer
from agent.domain.analysis.figures import CollectedResults, data_of, error_of, has_prices
from agent.domain.analysis.formats import as_date, day, figure_name
from agent.domain.analysis.normalization import normalize
from agent.domain.analysis.plan import ANALYSIS_TOOLS
from agent.domain.analysis.rankings import begin_together
from agent.domain.analysis.texts import analysis_text, note
from agent.domain.analysis.wanted_calls import INDICATORS, NEWS, SENTIMENT, Question
from agent.domain.claims.facts import HOLDING
from agent.domain.tickers import tickers_in
from agent.texts import TEXTS
from contracts.events.analysis import MAX_TICKERS, AnalysisCall, AnalysisRecord
from contracts.languages import Language

MIN_YEAR_SESSIONS = 245
"""Sessions from which a window counts as a full year."""
MAX_MEANINGFUL_PE = 200.0
"""Above this P/E the ratio says more about the earnings than about the price."""
NOT_MADE = "NOT_MADE"
"""The error code of a call that was not sent because time had run out."""
_REPORTED_IF_MISSING = (
    "volatility", "sma_200", "pe", "eps", "revenue", "market_cap", "gross_margin", "net_margin", "dividend_yield",
    "beta",
)  # fmt: skip


def build_report(
    record: AnalysisRecord,
    results: CollectedResults,
    summary: str,
    limitations: Sequence[str],
    period: AskedPeriod,
    language: Language,
    now: datetime,
    dropped: int = 0,
) -> dict[str, Any]:
    """Returns the report as JSON values. `limitations`: in the order in which they arose."""
    report: dict[str, Any] = {
        "query": record.request.query,
        "tickers": list(record.tickers),
        "summary": summary,
        "findings": results.findings,
        "tools_used": tools_used(record.calls),
        "sources": results.sources,
        "limitations": list(dict.fromkeys(limitations)),
        "disclaimer": analysis_text("disclaimer", language),
        "generated_at": now.isoformat().replace("+00:00", "Z"),
        "errors": [{name: entry[name] for name in ("error", "ticker", "reason")} for entry in results.errors],
        "language": language,
        "dropped_sentences": dropped,
    }
    comparison_of_tickers = comparison(results.findings, period.period)
    if comparison_of_tickers is not None:
        report["comparison"] = comparison_of_tickers
    return report


def report_without_figures(
    record: AnalysisRecord,
    key: str,
    limitations: Sequence[str],
    language: Language,
    now: datetime,
    **values: object,
) -> dict[str, Any]:
    """Returns the report of a question for which no tool was called. `values` fill the summary's places."""
    summary = analysis_text(f"summary.{key}", language, **values)
    return build_report(record, CollectedResults(), summary, limitations, AskedPeriod(), language, now)


def tools_used(calls: Sequence[AnalysisCall]) -> list[dict[str, Any]]:
    """Each tool with its tickers. Calls are counted per ticker; the retry after a bad answer is not counted."""
    used: dict[str, dict[str, Any]] = {}
    for call in calls:
        if call.again or error_of(call).get("code") == NOT_MADE:
            continue
        entry = used.setdefault(call.tool, {"tool": call.tool, "tickers": [], "calls": 0})
        entry["tickers"] = list(dict.fromkeys([*entry["tickers"], *call.tickers]))
        entry["calls"] += len(call.tickers)
    return list(used.values())


def unanswered_calls(calls: Sequence[AnalysisCall], results: CollectedResults, language: Language) -> list[str]:
    """Lists what the question asked for by name and no tool could answer, with the tool's reason, and the tickers
    without any data."""
    notes: list[str] = []
    for call in calls:
        if call.again:
            continue
        by_name = call.tool not in ANALYSIS_TOOLS
        call_label = call_name(call.tool, call.arguments or {}, language)
        if (error := error_of(call)) and by_name:
            field_errors = "; ".join(str(error_field["message"]) for error_field in error.get("fields") or ())
            reason = _reason(field_errors or error.get("message") or error.get("code"))
            notes.append(
                note("not_answered", language, what=call_label, tickers=", ".join(call.tickers), reason=reason)
            )
        tickers_by_reason: dict[str, list[str]] = {}
        for entry in results.errors:
            ticker = str(entry["ticker"])
            if entry["tool"] == call.tool and ticker in call.tickers and (by_name or ticker in results.unknown):
                tickers_by_reason.setdefault(str(entry["error"]).replace(ticker, "\0", 1), []).append(ticker)
        for reason, tickers in tickers_by_reason.items():
            why = _reason(reason.replace("\0", tickers[0]))
            why = analysis_text("not_answered.each", language, reason=why) if len(tickers) > 1 else why
            notes.append(note("not_answered", language, what=call_label, tickers=", ".join(tickers), reason=why))
    return list(dict.fromkeys(notes))


_LABELS = TEXTS.section("analysis.call")


def call_name(tool: str, arguments: dict[str, Any], language: Language) -> str:
    """Names the results of a call as a person would: "the indicators RSI, MACD (2008-01-01 – 2008-12-31)"."""
    label = _LABELS[tool].in_language(language) if tool in _LABELS else tool
    if tool == INDICATORS:
        label += f" {', '.join(arguments.get('indicators', ()))}"
    if "start" in arguments or "end" in arguments:
        return f"{label} ({arguments.get('start', '…')} – {arguments.get('end', '…')})"
    return f"{label} ({arguments['period']})" if "period" in arguments else label


def _reason(text: object) -> str:
    """A tool's sentence as the end of another: "You have reached" as "you have reached"."""
    sentence = str(text).rstrip(".")
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence


_TOOL_OF_FIGURE = {"news": NEWS, "sentiment": SENTIMENT}


def unanswered_parts(
    question: Question, record: AnalysisRecord, results: CollectedResults, language: Language, *, by_rule: bool
) -> list[str]:
    """Lists what the question asks for and the results do not contain: figures that the source does not have, or only
    has current ones of, and words that no rule reads."""
    notes: list[str] = []
    unknown: set[str] = set()
    left_out = [] if record.request.tickers else tickers_in(normalize(record.request.query).text)[MAX_TICKERS:]
    if left_out:
        notes.append(note("too_many", language, max=MAX_TICKERS, tickers=", ".join(left_out)))

    def add_note(what: str, tickers: Iterable[str], reason: str) -> None:
        reason_text = analysis_text(f"not_answered.{reason}", language)
        notes.append(note("not_answered", language, what=what, tickers=", ".join(tickers), reason=reason_text))

    failed_tickers = results.unknown | {
        str(entry["ticker"]) for entry in results.errors if entry["tool"] not in ANALYSIS_TOOLS
    }
    failed_calls = {(call.tool, ticker) for call in record.calls if data_of(call) is None for ticker in call.tickers}
    uncalled_tools = (
        {call.tool for call in question.calls} - {call.tool for call in record.calls} if by_rule else set[str]()
    )
    for name in question.figures:
        tickers_with_figure = {
            str(finding["ticker"]) for finding in results.findings if has_answer(finding, name, question.periods)
        }
        tickers_without = [
            symbol
            for symbol in record.tickers
            if symbol not in tickers_with_figure
            and symbol not in failed_tickers
            and (_TOOL_OF_FIGURE.get(name), symbol) not in failed_calls  # told with the call
        ]
        if (
            tickers_without
            and tickers_with_figure | failed_tickers != set(record.tickers)
            and (results.findings or uncalled_tools)
        ):
            unknown.add(name)
            reason = "no_tool" if uncalled_tools and not tickers_with_figure else "no_figure"
            add_note(figure_name(name, language), tickers_without, reason)
    for name in (figure for figure in question.now_only if figure not in unknown):
        add_note(figure_name(name, language), record.tickers, "now_only")
    if by_rule:
        made_calls = [(call.tool, call.arguments or {}, ticker) for call in record.calls for ticker in call.tickers]
        for call in question.calls:
            tickers_without = [
                ticker for ticker in call.tickers if (call.tool, call.arguments, ticker) not in made_calls
            ]
            if tickers_without and call.tool not in uncalled_tools:
                add_note(call_name(call.tool, call.arguments, language), tickers_without, "budget")
        notes += [note("not_answered_words", language, words=words) for words in question.unread]
        if question.asks_past_results:
            notes.append(note("not_answered_past_results", language, tickers=", ".join(record.tickers)))
        if question.other_currency:
            notes.append(note("not_answered_currency", language, currency=question.other_currency))
    return notes


def currency_notes(question: Question, results: CollectedResults, language: Language) -> list[str]:
    """Says that an amount in another currency was computed as if it were in the ticker's own."""
    growth_figures = [
        figure
        for finding in results.findings
        for figure in finding.get("derived") or ()
        if figure["figure"] == "growth"
    ]
    other_currencies = sorted(
        {str(figure["currency"]) for figure in growth_figures if figure.get("currency")} - {question.currency}
    )
    if question.currency is None or not other_currencies:
        return []
    return [note("own_currency", language, asked=question.currency, counted=", ".join(other_currencies))]


def limits_of_data(
    results: CollectedResults, period: AskedPeriod, language: Language, *, is_period_answered: bool = False
) -> list[str]:
    """Says where the figures end, what they leave out, and what is missing. `is_period_answered`: the tools were asked
    for exactly the period of the question."""
    notes: list[str] = []
    tools_by_failure: dict[tuple[str, str, str], list[str]] = {}
    for entry in results.errors:
        if entry["tool"] not in ANALYSIS_TOOLS or entry["ticker"] in results.unknown:
            continue  # told as not answered
        tools_by_failure.setdefault((entry["ticker"], entry["reason"], entry["error"]), []).append(entry["tool"])
    for (ticker, reason, error), tools in tools_by_failure.items():
        notes.append(note("ticker_failed", language, ticker=ticker, tool=", ".join(tools), reason=reason, error=error))
    for ticker, tool in results.unanswered:
        notes.append(note("no_answer", language, ticker=ticker, tool=tool))
    if period.is_unavailable and not is_period_answered:
        notes.append(note("beyond", language))
    samples = sorted({as_date(source["as_of"]) for source in results.sources if source["source"] == "sample"})
    notes += [*results.notes, *results.assumptions]
    if samples and not results.notes:
        notes.append(note("sample", language, date=day(samples[-1], language)))
    for ticker, first_day in _late_starts(results.findings).items():
        notes.append(note("begins_late", language, ticker=ticker, date=day(first_day, language)))
    priced = [finding for finding in results.findings if has_prices(finding)]
    if priced:
        notes.append(note("price_return", language))
    dates = sorted({as_date(finding["as_of"]) for finding in priced})
    if len(dates) > 1:
        notes.append(note("dates_differ", language, dates=", ".join(day(data_day, language) for data_day in dates)))
    currencies = sorted({str(finding["currency"]) for finding in results.findings if finding.get("currency")})
    if len(currencies) > 1:
        notes.append(note("currencies_differ", language, currencies=", ".join(currencies)))
    return [*notes, *_missing_figures(results.findings, period, language)]


def _late_starts(findings: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The first day of each ticker whose figures begin later than those of others for the same period, or later than
    the day asked for."""
    begins: dict[str, dict[str, str]] = {}
    for finding in findings:
        for figure in finding.get("derived") or ():
            if figure.get("from") and not figure.get("on"):
                with_other = f", {figure['other']}" if figure.get("other") not in (None, HOLDING) else ""
                begins.setdefault(str(figure["asked"]), {})[f"{figure['ticker']}{with_other}"] = str(figure["from"])
    late: dict[str, str] = {}
    for period, days in begins.items():
        begin = [*days.values(), *([period[:10]] if re.match(r"(?!1900)\d{4}-\d\d-\d\d/", period) else [])]
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
            first_day = day(window["first"], language)
            notes.append(note("short_history", language, ticker=ticker, bars=window["bars"], date=first_day))
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
