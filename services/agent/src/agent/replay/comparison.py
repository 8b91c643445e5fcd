"""Compares a recorded turn with its replay."""

from datetime import UTC, datetime

from agent.domain.cost import Prices
from agent.record.recorded_turn import RecordedTurn, bytes_of
from agent.replay.rerun import ReplayOutcome, cost_of, tool_uses


def comparison(turn: RecordedTurn, outcome: ReplayOutcome, prices: Prices, notes: list[str]) -> dict[str, object]:
    """Returns the comparison as JSON in camelCase, for review. `identical` means that the journals are equal byte for
    byte."""
    recorded, replayed = turn.journal, outcome.journal
    recorded_uses, replayed_uses = tool_uses(recorded), tool_uses(replayed)
    same_text = replayed is not None and recorded.answer == replayed.answer and recorded.failure == replayed.failure
    same_tools = [(use["tool"], use["arguments"]) for use in recorded_uses] == [
        (use["tool"], use["arguments"]) for use in replayed_uses
    ]
    requester = turn.inputs.seen.requester
    return {
        "conversationId": turn.key.conversation,
        "turnId": recorded.turn_id,
        "at": datetime.fromtimestamp(turn.started_at, UTC).isoformat(),
        "role": requester.role,
        "plan": requester.plan,
        "language": requester.language,
        "question": next((message.text for message in reversed(turn.inputs.history.messages) if not message.mine), ""),
        "recorded": {
            "text": recorded.answer or f"({recorded.failure})",
            "model": recorded.model,
            "provider": recorded.provider,
            "promptTokens": recorded.usage.prompt,
            "completionTokens": recorded.usage.completion,
            "cost": cost_of([(recorded.provider, recorded.model, recorded.usage)], prices),
            "latencyMs": round((turn.finished_at - turn.started_at) * 1000, 1),
            "tools": recorded_uses,
            "configVersion": turn.config_version,
        },
        "replayed": {
            "text": outcome.text or (f"({replayed.failure})" if replayed and replayed.failure else ""),
            "model": replayed.model if replayed else "",
            "provider": replayed.provider if replayed else "",
            "promptTokens": outcome.prompt_tokens,
            "completionTokens": outcome.completion_tokens,
            "cost": outcome.cost,
            "latencyMs": round(outcome.seconds * 1000, 1),
            "tools": replayed_uses,
            "error": outcome.error,
        },
        "sameText": same_text,
        "sameTools": same_tools,
        "identical": replayed is not None and bytes_of(replayed) == turn.journal_bytes,
        "notInRecord": list(outcome.missing),
        "fromOtherTurns": list(outcome.borrowed),
        "notes": notes,
    }
