"""Analyses in a chat: a tool run by the analyst, offered to customers whose message asks for an analysis.

It is not in the executor's catalogue, and it is offered only in such a turn. The id of the call is the id of the
analysis, so an agent that takes the turn over finds the same analysis.
"""

import json
import time
from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Any

from agent.domain.analysis.asked import is_about_all_tickers, is_analysis
from agent.domain.analysis.follow_ups import complete_question
from agent.domain.analysis.relative_days import dated_in_turn
from agent.domain.offered_tool import OfferedTool
from agent.domain.offline.shorthand import spelled_out
from agent.domain.turn.journal import TurnCall
from agent.errors import UnreachableError
from agent.ports import Companies, ConversationKey, Models, PromptHistory, Requester, ToolCalls
from agent.texts import TEXTS
from contracts.company import CompanyConfig
from contracts.events.analysis import MAX_QUERY, MAX_TICKERS, AnalysisRequested
from contracts.languages import Language, rule_language
from contracts.symbols import InvalidSymbolError
from runtime.analyses import Analyses
from runtime.errors import RuntimeLibraryError

NAME = "market_analysis"
CATEGORY = "market"
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_QUERY,
            "description": "The question, in the customer's words and language",
        },
        "tickers": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": MAX_TICKERS,
            "description": "Instead of those that the question names",
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}


def offered_with_analysis(
    tools: Sequence[OfferedTool], requester: Requester, history: PromptHistory, company: CompanyConfig
) -> tuple[OfferedTool, ...]:
    """Returns the tools, with the analysis if the customer's newest message asks for one."""
    if requester.role != "user" or requester.principal is None or requester.user is None:
        return tuple(tools)
    language = rule_language(requester.language)
    texts = [spelled_out(message.text, language) for message in history.messages if not message.mine]
    newest = texts[-1] if texts else ""
    # Of which year "in August" is, is told by the market's present; that it names days is enough here.
    *earlier_texts, dated = dated_in_turn(texts, date.today()) or [""]
    if not (is_analysis(newest) or is_about_all_tickers(newest) or complete_question(dated, earlier_texts)):
        return tuple(tools)
    return with_analysis(tools, requester.language, company)


def with_analysis(tools: Sequence[OfferedTool], language: Language, company: CompanyConfig) -> tuple[OfferedTool, ...]:
    """Returns the tools, with the analysis if the company has analyses."""
    return (*tools, analysis_tool(language)) if has_analyses(company) else tuple(tools)


def has_analyses(company: CompanyConfig) -> bool:
    """Whether the company's customers have analyses, which belong to the category market."""
    return company.trades and company.tool_config.categories.customers.get(CATEGORY) is not False


@cache
def analysis_tool(language: Language) -> OfferedTool:
    """Returns the tool as a model sees it."""
    return OfferedTool(
        NAME,
        TEXTS["analysis.tool.description"].in_language(language),
        CATEGORY,
        _PARAMETERS,
        TEXTS["analysis.tool.label"].in_language(language),
    )


class AnalysisCalls:
    """ports.ToolCalls: requests an analysis on the bus and waits for it; every other call goes to the executor."""

    def __init__(self, executor: ToolCalls, analyses: Analyses, companies: Companies, models: Models) -> None:
        self._executor = executor
        self._analyses = analyses
        self._companies = companies
        self._models = models

    async def outcome(
        self, key: ConversationKey, call: TurnCall, category: str, requester: Requester, turn_id: str, seconds: float
    ) -> str:
        """Returns the result as JSON text, even of a failed call."""
        if call.tool != NAME:
            return await self._executor.outcome(key, call, category, requester, turn_id, seconds)
        started = time.monotonic()
        try:
            result = await self._run_analysis(key, call, requester, seconds)
        except (ValueError, InvalidSymbolError) as error:
            result = _failure_result("VALIDATION_ERROR", str(error))
        except (RuntimeLibraryError, UnreachableError) as error:
            result = _failure_result("UNAVAILABLE", f"the analysis cannot be made now: {error}")
        result["metadata"] = {"executionTime": round((time.monotonic() - started) * 1000, 3), "cached": False}
        return json.dumps(result, ensure_ascii=False)

    async def _run_analysis(
        self, key: ConversationKey, call: TurnCall, requester: Requester, seconds: float
    ) -> dict[str, Any]:
        arguments: dict[str, Any] = json.loads(call.arguments)
        if requester.user is None:
            raise ValueError("an analysis is for customers who are signed in")
        request = AnalysisRequested(
            analysis_id=call.call_id,
            company_id=key.company,
            user_id=requester.user,
            query=arguments.get("query", ""),
            tickers=arguments.get("tickers") or None,
            use_llm=await self._has_model(key.company),
            principal=requester.principal,
            language=requester.language,
            conversation_id=key.conversation,
        )
        await self._analyses.begin(request)
        record = await self._analyses.finished(key.company, requester.user, call.call_id, seconds)
        if record is None:
            return _failure_result("TIMEOUT", f"the analysis was not finished within {seconds:.0f} s")
        if record.report is None:
            problem = record.error
            return _failure_result(problem.code if problem else "INTERNAL", problem.message if problem else "no report")
        return {"success": True, "data": record.report}

    async def _has_model(self, company: str) -> bool:
        settings = await self._companies.get(company)
        if settings is None:
            return False
        config = settings.config
        names = self._models.for_company(config).named(config.preferred_provider, config.preferred_model)
        return names[0][0] != "offline"


def _failure_result(code: str, message: str) -> dict[str, Any]:
    return {"success": False, "error": {"code": code, "message": message}}
