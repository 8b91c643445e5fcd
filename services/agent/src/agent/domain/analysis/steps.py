"""An analysis as a state machine: a pure function from its record to the next step.

    tickers ─► routing ─► calls ─► retry, if a result is unusable ─► summary ─► retry, if the tools back less
    than half of it ─► report

The next step depends only on the record, the policy, and whether a result fits its schema. So an agent that takes over
an analysis continues where the last one stopped, and recorded replies and results are not requested again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from agent.domain.analysis.asked import (
    Period,
    asks_for_forecast,
    find_refusal,
    is_about_all_tickers,
    language_in,
    period_in,
)
from agent.domain.analysis.derived import derived_text, requested_figures_text
from agent.domain.analysis.figures import CollectedResults, collect_results, data_of, error_of
from agent.domain.analysis.follow_ups import complete_question
from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.normalization import normalize
from agent.domain.analysis.plan import (
    ANALYSIS_TOOLS,
    PlannedCall,
    ToolInfo,
    fallback_plan,
    parse_routing,
    parse_tickers,
    within_budgets,
)
from agent.domain.analysis.prompts import Messages, retry_messages, routing_messages, summary_messages, ticker_messages
from agent.domain.analysis.relative_days import with_past_days
from agent.domain.analysis.report import (
    build_report,
    currency_notes,
    limits_of_data,
    report_without_figures,
    unanswered_calls,
    unanswered_parts,
)
from agent.domain.analysis.stretches import main_period
from agent.domain.analysis.summary import rule_summary, sources_sentence
from agent.domain.analysis.texts import analysis_text, note, reason_of
from agent.domain.analysis.wanted_calls import Question
from agent.domain.claims.checked_text import CheckedText, check_text
from agent.domain.claims.facts import facts_of_findings
from agent.domain.text_features import plain
from agent.domain.tickers import normalize_tickers, tickers_in
from contracts.company import CompanyConfig
from contracts.events.analysis import (
    MAX_TICKERS,
    AnalysisCall,
    AnalysisRecord,
    AnalysisReply,
    AnalysisRequested,
    ModelStep,
)
from contracts.expressions import expression
from contracts.languages import Language
from contracts.market_rpc import MarketStatusReply

FitsSchema = Callable[[str, Mapping[str, Any]], bool]
"""Returns whether a tool's data fit its output schema."""
_ALL = expression(r"\b(?:all|every|tod[oa]s)\b")
MAX_SUMMARY_LENGTH = 4_000
"""Characters of a model's summary; a longer text is rejected."""


@dataclass(frozen=True, slots=True)
class AnalysisPolicy:
    """The settings of every analysis: the tools, the budget, the proxies, and the company whose customers ask."""

    tools: Sequence[ToolInfo]
    max_calls: int = 12
    default_tickers: Sequence[str] = ()
    company: CompanyConfig | None = None
    market: MarketStatusReply | None = None
    """The state of the market, if the question depends on it."""

    @property
    def symbols(self) -> Sequence[str]:
        """All symbols of the market, if they are known and can be listed."""
        return self.market.symbols if self.market is not None else ()


@dataclass(frozen=True, slots=True)
class AskModel:
    """The next step: ask the model."""

    step: ModelStep
    messages: Messages


@dataclass(frozen=True, slots=True)
class CallTools:
    """The next step: run these calls in parallel."""

    calls: tuple[AnalysisCall, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """The last step: the report."""

    report: dict[str, Any]


Step = AskModel | CallTools | Finish


def language_of(record: AnalysisRecord, company: CompanyConfig | None) -> Language:
    """The language that the report is in: the query's own, if the company speaks it."""
    query_language = language_in(record.request.query, record.request.language or "en")
    return company.answer_language(query_language) if company else query_language


def advance(
    record: AnalysisRecord, policy: AnalysisPolicy, usable: FitsSchema, now: datetime
) -> tuple[AnalysisRecord, Step]:
    """Returns the updated record and the next step. Raises InvalidSymbolError if a given ticker is no symbol."""
    language = language_of(record, policy.company)
    if not record.tickers:
        record, step = _with_tickers(record, policy, language, now)
        if step is not None:
            return record, step
    if not record.planned:
        record, step = _with_plan(record, policy, language)
        if step is not None:
            return record, step
    waiting = tuple(call for call in record.calls if call.result is None)
    if not waiting:
        record, waiting = _with_second_tries(record, usable)
    if waiting:
        return record.model_copy(update={"stage": "calling"}), CallTools(waiting)
    return _finish(record, policy, usable, language, now)


def with_reply(record: AnalysisRecord, reply: AnalysisReply) -> AnalysisRecord:
    """The record with another model reply or failure."""
    return record.model_copy(update={"replies": [*record.replies, reply]})


def with_results(record: AnalysisRecord, results: Mapping[str, dict[str, Any]]) -> AnalysisRecord:
    """The record with these results, by call id."""
    calls = [
        call.model_copy(update={"result": results[call.call_id]}) if call.call_id in results else call
        for call in record.calls
    ]
    return record.model_copy(update={"calls": calls})


def depends_on_market(request: AnalysisRequested) -> bool:
    """Whether a request can be read only with the market's symbols or its present: it is about all of the market, or
    names a day relative to today."""
    query = _complete(request)
    return _is_about_all(request) or with_past_days(query, date.min.replace(year=2000)) != query


def _is_about_all(request: AnalysisRequested) -> bool:
    """Whether a request names no tickers and is about all of the market."""
    return not request.tickers and is_about_all_tickers(normalize(_complete(request)).text)


def _complete(request: AnalysisRequested) -> str:
    """The query, as a question for figures if it asks how all tickers are doing. How the market as a whole is doing has
    no tickers: they are asked for, or taken from the defaults."""
    names_all = not request.tickers and _ALL.search(plain(request.query))
    return (complete_question(request.query, ()) if names_all else None) or request.query


def _dated_query(request: AnalysisRequested, policy: AnalysisPolicy) -> str:
    """The complete query, with dates for the days relative to the market's present: yesterday, last Friday."""
    query, market = _complete(request), policy.market
    if market is None:
        return query
    is_session_over = market.status in ("after_hours", "closed")
    return with_past_days(query, market.current_time.date(), is_session_over=is_session_over)


def _with_tickers(
    record: AnalysisRecord, policy: AnalysisPolicy, language: Language, now: datetime
) -> tuple[AnalysisRecord, Step | None]:
    request = record.request
    given_tickers = normalize_tickers(request.tickers or [])
    query = normalize(_dated_query(request, policy))
    covers_all = _is_about_all(request)
    max_tickers = max(MAX_TICKERS, policy.max_calls)
    given_tickers = list(policy.symbols) if covers_all and len(policy.symbols) <= max_tickers else given_tickers
    refusal = find_refusal(query.text, tickers_given=bool(given_tickers) or covers_all)
    if refusal is not None:
        return record, Finish(report_without_figures(record, refusal.value, [note("refused", language)], language, now))
    notes = [
        *record.notes,
        *(note("spelt", language, written=written_word, read=read_word) for written_word, read_word in query.spelt),
    ]
    tickers = given_tickers or tickers_in(query.text)
    if not given_tickers and len(tickers) > MAX_TICKERS:
        tickers = tickers[:MAX_TICKERS]
    if not tickers and request.use_llm:
        reply = _reply(record, "tickers")
        if reply is None:
            return record.model_copy(update={"stage": "reading"}), AskModel("tickers", ticker_messages(request.query))
        tickers = list(dict.fromkeys(parse_tickers(reply.text or "")))
        if tickers:
            notes.append(note("inferred", language, tickers=", ".join(tickers)))
    if not tickers and policy.default_tickers:
        tickers = list(policy.default_tickers)[:MAX_TICKERS]
        notes.append(note("proxies", language, tickers=", ".join(tickers)))
    if not tickers:
        key, names = "no_tickers", ", ".join(policy.symbols)
        if covers_all and (names or policy.market is None):
            key = "more_than_budget" if names else "market_away"
        notes.append(note("asks", language))
        report = report_without_figures(record, key, notes, language, now, symbols=names, max=max_tickers)
        return record, Finish(report)
    if asks_for_forecast(request.query):
        notes.append(note("no_forecast", language))
    return record.model_copy(update={"tickers": tickers, "notes": notes}), None


def _with_plan(
    record: AnalysisRecord, policy: AnalysisPolicy, language: Language
) -> tuple[AnalysisRecord, Step | None]:
    request, notes = record.request, list(record.notes)
    known_tools = {tool.name for tool in policy.tools}
    requested_calls = read_question(_dated_query(request, policy), tuple(record.tickers)).calls
    by_rule = tuple(PlannedCall(call.tool, call.tickers, call.arguments) for call in requested_calls) or fallback_plan(
        record.tickers
    )
    notes_away = [note("tool_away", language, tool=call.tool) for call in by_rule if call.tool not in known_tools]
    by_rule = tuple(call for call in by_rule if call.tool in known_tools)
    wanted_calls: Sequence[PlannedCall] | None = None
    if request.use_llm:
        reply = _reply(record, "routing")
        if reply is None:
            messages = routing_messages(request.query, record.tickers, policy.tools, policy.max_calls)
            return record.model_copy(update={"stage": "planning"}), AskModel("routing", messages)
        if reply.text is None:
            notes.append(note("model_away", language, reason=reason_of(reply.failure, language)))
        else:
            wanted_calls = parse_routing(reply.text)
            if wanted_calls is None:
                notes.append(note("bad_routing", language))
    else:
        notes.append(note("no_model_asked", language))
    if wanted_calls is None:
        wanted_calls = by_rule
        notes += notes_away
    plan = within_budgets(wanted_calls, record.tickers, policy.tools, policy.max_calls, language)
    notes += plan.notes
    if not plan.calls and wanted_calls is not by_rule:
        notes += [note("empty_routing", language), *notes_away]
        plan = within_budgets(by_rule, record.tickers, policy.tools, policy.max_calls, language)
        notes += plan.notes
    calls = [
        AnalysisCall(
            call_id=f"{request.analysis_id}-{index}",
            tool=call.tool,
            tickers=list(call.tickers),
            arguments=dict(call.arguments) or None,
        )
        for index, call in enumerate(plan.calls)
    ]
    return record.model_copy(update={"planned": True, "calls": calls, "notes": notes}), None


def _with_second_tries(record: AnalysisRecord, usable: FitsSchema) -> tuple[AnalysisRecord, tuple[AnalysisCall, ...]]:
    """Adds a retry of each unusable call, ticker by ticker, so that one bad result does not affect the others."""
    retried = {(call.tool, ticker) for call in record.calls if call.again for ticker in call.tickers}
    new_calls: list[AnalysisCall] = []
    for call in record.calls:
        if call.again or not _is_invalid(call, usable):
            continue
        for ticker in call.tickers:
            if (call.tool, ticker) not in retried:
                call_id = f"{record.request.analysis_id}-{len(record.calls) + len(new_calls)}"
                new_calls.append(
                    call.model_copy(update={"call_id": call_id, "tickers": [ticker], "again": True, "result": None})
                )
                retried.add((call.tool, ticker))
    if not new_calls:
        return record, ()
    return record.model_copy(update={"calls": [*record.calls, *new_calls]}), tuple(new_calls)


def _finish(
    record: AnalysisRecord, policy: AnalysisPolicy, usable: FitsSchema, language: Language, now: datetime
) -> tuple[AnalysisRecord, Step]:
    request, query = record.request, _dated_query(record.request, policy)
    period = period_in(normalize(query).text)
    good = [call for call in record.calls if data_of(call) is not None and not _is_invalid(call, usable)]
    results = collect_results(record.tickers, good)
    asked_period = main_period(normalize(query).text).period or period.period
    question = read_question(query, tuple(record.tickers))
    routing = _reply(record, "routing")
    by_rule = not (request.use_llm and routing is not None and routing.text is not None)
    missing = [
        *unanswered_calls(record.calls, results, language),
        *unanswered_parts(question, record, results, language, by_rule=by_rule),
    ]
    limitations = [
        *record.notes,
        *missing,
        *_failure_notes(record.calls, usable, language),
        *currency_notes(question, results, language),
        *limits_of_data(results, period, language, is_period_answered=any(call.arguments for call in record.calls)),
    ]
    if not results.findings:
        tickers = ", ".join(record.tickers)
        summary = "\n".join([analysis_text("summary.nothing", language, tickers=tickers), *missing])
        report = build_report(record, results, summary, limitations, period, language, now)
        return record, Finish({**report, "not_answered": missing})
    if by_rule:
        summary, dropped = _rule_summary(results, question, missing, period.period, language), 0
    else:
        messages = summary_messages(request.query, results.findings, limitations, asked_period, language)
        replies = [reply for reply in record.replies if reply.step == "summary"]
        if not replies:
            return record.model_copy(update={"stage": "writing"}), AskModel("summary", messages)
        checked_summaries = [_check_summary(reply, results, record.calls, asked_period) for reply in replies]
        if len(checked_summaries) == 1 and checked_summaries[0] is not None and checked_summaries[0].is_mostly_dropped:
            retry = retry_messages(messages, replies[0].text or "", checked_summaries[0].dropped, language)
            return record.model_copy(update={"stage": "writing"}), AskModel("summary", retry)
        best = next((checked for checked in reversed(checked_summaries) if checked is not None), None)
        by_rule_said = _rule_summary(results, question, missing, period.period, language)
        summary, remark, dropped = _choose_summary(replies[0], best, results, by_rule_said, language)
        limitations = [*limitations, *remark]
    report = build_report(record, results, summary, limitations, period, language, now, dropped)
    return record, Finish({**report, "not_answered": missing})


def _check_summary(
    reply: AnalysisReply, results: CollectedResults, calls: Sequence[AnalysisCall], asked_period: str
) -> CheckedText | None:
    """Checks a model's summary against the tools' figures; None if its text cannot be a summary."""
    if reply.text is None or not reply.text.strip() or len(reply.text) > MAX_SUMMARY_LENGTH:
        return None
    facts = facts_of_findings(results.findings, results.sources)
    for call in calls:
        facts.add_amount(call.tickers, call.arguments or {})
    return check_text(reply.text.strip(), facts, asked_period)


def _choose_summary(
    reply: AnalysisReply, checked: CheckedText | None, results: CollectedResults, by_rule: str, language: Language
) -> tuple[str, list[str], int]:
    """Returns the summary, remarks on it, and how many of the model's sentences were dropped or shortened. If less than
    half of them are left, the summary by rules is used."""
    if reply.text is None or not reply.text.strip():
        return by_rule, [note("summary_away", language)], 0
    dropped = len(checked.dropped) if checked else 0
    if checked is None or checked.is_mostly_dropped:
        return by_rule, [note("summary_unsupported", language)], dropped
    remarks = [note("sentences_dropped", language, count=dropped)] if dropped else []
    return f"{checked.text}\n{sources_sentence(results.findings, results.sources, language)}", remarks, dropped


def _rule_summary(
    results: CollectedResults, question: Question, missing: Sequence[str], period: Period, language: Language
) -> str:
    """Writes the summary by rules: what was asked for and what could not be answered, or how the tickers stand if no
    figure was named."""
    texts = [requested_figures_text(results.findings, question, language)] if question.figures else []
    if not any(texts) and not (question.figures and missing):
        texts = [derived_text(results.findings, language), rule_summary(results.findings, period, language)]
    text = "\n".join(filter(None, [*texts, *missing]))
    return f"{text}\n{sources_sentence(results.findings, results.sources, language, question.figures)}".strip()


def _failure_notes(calls: Sequence[AnalysisCall], usable: FitsSchema, language: Language) -> list[str]:
    """Notes on calls that failed, unless a retry succeeded."""
    notes: list[str] = []
    for call in calls:
        tickers = ", ".join(call.tickers)
        if _is_invalid(call, usable):
            if call.again:
                notes.append(note("invalid_output", language, tool=call.tool, tickers=tickers))
        elif data_of(call) is None and call.tool in ANALYSIS_TOOLS:
            error = error_of(call)
            reason = error.get("message") or error.get("code") or "?"
            notes.append(note("call_failed", language, tool=call.tool, tickers=tickers, reason=str(reason).rstrip(".")))
    return notes


def _is_invalid(call: AnalysisCall, usable: FitsSchema) -> bool:
    """Whether the result does not fit its schema, by the executor's check or ours."""
    data = data_of(call)
    if data is not None:
        return not usable(call.tool, data)
    return bool((call.result or {}).get("success")) or error_of(call).get("code") == "INVALID_OUTPUT"


def _reply(record: AnalysisRecord, step: ModelStep) -> AnalysisReply | None:
    return next((reply for reply in record.replies if reply.step == step), None)
