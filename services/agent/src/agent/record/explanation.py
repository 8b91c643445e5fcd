"""Explains an answer from the record of its turn."""

import json
from datetime import UTC, datetime
from typing import Any

from agent.domain.cost import Prices
from agent.domain.tool_results import citations
from agent.domain.turn.journal import Journal, TokenCount, TurnCall
from agent.record.recorded_turn import RecordedTurn
from agent.record.turn_archive import TurnArchive
from contracts.events.chat import Usage
from contracts.preview_rpc import ExplainedCall, ExplainedTurn, ExplainReply, ExplainRequest


class Explanations:
    """Answers requests to explain recorded turns."""

    def __init__(self, archive: TurnArchive, prices: Prices) -> None:
        self._archive = archive
        self._prices = prices

    async def explain(self, request: ExplainRequest) -> ExplainReply:
        """Returns the explained turn, or an empty reply if it is not recorded; raises UnreachableError."""
        turn = await self._archive.turn(request.company_id, request.user_id, request.turn_id, request.answered_at)
        if turn is None or turn.key.conversation != request.conversation_id:
            return ExplainReply()
        return ExplainReply(turn=explained_turn(turn, self._prices))


def explained_turn(turn: RecordedTurn, prices: Prices) -> ExplainedTurn:
    """Returns the record in the form in which people read it."""
    journal = turn.journal
    cost, currency = _cost(journal, prices)
    return ExplainedTurn(
        turn_id=journal.turn_id,
        outcome="failed" if journal.failure else "answered",
        failure=journal.failure,
        model=journal.model,
        provider=journal.provider,
        config_version=turn.config_version,
        usage=Usage(prompt_tokens=journal.usage.prompt, completion_tokens=journal.usage.completion),
        cost=cost,
        currency=currency,
        latency_ms=max(round((turn.finished_at - turn.started_at) * 1000), 0),
        attempts=journal.attempts,
        discarded=journal.cancels,
        offered=list(turn.tools),
        calls=[_call(call) for call in journal.calls],
        citations=list(citations(journal)),
        passages=turn.inputs.knowledge.passages if turn.inputs.knowledge else [],
        started_at=datetime.fromtimestamp(turn.started_at, UTC),
    )


def _call(call: TurnCall) -> ExplainedCall:
    result: dict[str, Any] = json.loads(call.result) if call.result else {}
    error: dict[str, Any] = result.get("error") or {}
    metadata: dict[str, Any] = result.get("metadata") or {}
    return ExplainedCall(
        call_id=call.call_id,
        tool=call.tool,
        arguments=json.loads(call.arguments),
        success=bool(result.get("success")),
        code=error.get("code"),
        ms=max(float(metadata.get("executionTime") or 0.0), 0.0),
        cached=bool(metadata.get("cached")),
    )


def _cost(journal: Journal, prices: Prices) -> tuple[float | None, str | None]:
    """Returns the cost of the turn's model calls by today's prices, and its currency; the offline provider is free."""
    if journal.provider == "offline":
        return 0.0, "USD"
    calls: list[tuple[str, str, TokenCount]] = [(step.provider, step.model, step.usage) for step in journal.steps]
    last_usage = TokenCount(
        journal.usage.prompt - sum(usage.prompt for *_, usage in calls),
        journal.usage.completion - sum(usage.completion for *_, usage in calls),
    )
    calls.append((journal.provider, journal.model, last_usage))
    total, currency = 0.0, None
    for provider, model, usage in calls:
        price = prices.get((provider, model))
        if price is None:
            return None, None
        total, currency = total + price.cost(usage), price.currency
    return round(total, 9), currency
