"""Compares a recorded turn with its replay."""

from datetime import UTC, datetime

from agent.domain.cost import Prices
from agent.domain.turn.journal import Journal
from agent.record.recorded_turn import RecordedTurn, bytes_of
from agent.replay.rerun import ReplayOutcome, uses


def compared(turn: RecordedTurn, outcome: ReplayOutcome, prices: Prices, notes: list[str]) -> dict[str, object]:
    """A compared turn as JSON in camelCase, for review. `identical` means that the journal is the same byte
    for byte."""
    was, now = turn.journal, outcome.journal
    used, uses_now = uses(was), uses(now)
    same_text = now is not None and was.answer == now.answer and was.failure == now.failure
    same_tools = [(use["tool"], use["arguments"]) for use in used] == [
        (use["tool"], use["arguments"]) for use in uses_now
    ]
    requester = turn.inputs.seen.requester
    return {
        "conversationId": turn.key.conversation,
        "turnId": was.turn_id,
        "at": datetime.fromtimestamp(turn.started_at, UTC).isoformat(),
        "role": requester.role,
        "plan": requester.plan,
        "language": requester.language,
        "question": next((said.text for said in reversed(turn.inputs.history.messages) if not said.mine), ""),
        "recorded": {
            "text": was.answer or f"({was.failure})",
            "model": was.model,
            "provider": was.provider,
            "promptTokens": was.usage.prompt,
            "completionTokens": was.usage.completion,
            "cost": _cost(was, prices),
            "latencyMs": round((turn.finished_at - turn.started_at) * 1000, 1),
            "tools": used,
            "configVersion": turn.config_version,
        },
        "replayed": {
            "text": outcome.text or (f"({now.failure})" if now and now.failure else ""),
            "model": now.model if now else "",
            "provider": now.provider if now else "",
            "promptTokens": outcome.prompt_tokens,
            "completionTokens": outcome.completion_tokens,
            "cost": outcome.cost,
            "latencyMs": round(outcome.seconds * 1000, 1),
            "tools": uses_now,
            "error": outcome.error,
        },
        "sameText": same_text,
        "sameTools": same_tools,
        "identical": now is not None and bytes_of(now) == turn.journal_bytes,
        "notInRecord": list(outcome.missing),
        "fromOtherTurns": list(outcome.borrowed),
        "notes": notes,
    }


def _cost(journal: Journal, prices: Prices) -> float | None:
    """The cost by today's prices, for both sides alike; None: there is no price."""
    if journal.provider == "offline":
        return 0.0
    price = prices.get((journal.provider, journal.model))
    return None if price is None else round(price.cost(journal.usage), 9)
