"""Converts a journal to its stored form and back."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast

import orjson

from agent.domain.turn.journal import Journal, TokenCount, TurnCall, TurnStep
from contracts.events.chat import Citation
from contracts.knowledge import Grounding


def journal_to_wire(journal: Journal) -> dict[str, Any]:
    """The data of turn.journal.v1 (contracts.events.turn.TurnJournal); JSON texts are embedded unchanged."""
    return {
        "turnId": journal.turn_id,
        "basis": journal.basis,
        "steps": [
            {
                "text": step.text,
                "callIds": [call.call_id for call in step.calls],
                "usage": _usage(step.usage),
                "model": step.model,
                "provider": step.provider,
                "basis": step.basis,
            }
            for step in journal.steps
        ],
        "calls": [_call_to_wire(call) for call in journal.calls],
        "deadline": _time(journal.deadline),
        "startedAt": _time(journal.started_at),
        "cancels": journal.cancels,
        "attempts": journal.attempts,
        "forced": journal.forced,
        "released": journal.released,
        "ownerSince": journal.owner_since,
        "failures": journal.failures,
        "failure": journal.failure,
        "detail": journal.detail,
        "usage": _usage(journal.usage),
        "model": journal.model,
        "provider": journal.provider,
        "answer": journal.answer,
        **({"messageId": journal.message} if journal.message else {}),
        **({"answered": list(journal.answered)} if journal.answered else {}),
        **({"citations": [citation.to_wire() for citation in journal.citations]} if journal.citations else {}),
        **({"grounding": journal.grounding.to_wire()} if journal.grounding else {}),
    }


def journal_from_wire(data: dict[str, Any]) -> Journal:
    """The journal from a value's data; raises KeyError, TypeError or ValueError if it is not a journal."""
    calls = {call["callId"]: _call_from_wire(call) for call in cast("list[dict[str, Any]]", data["calls"])}
    basis = int(data["basis"])
    steps = tuple(
        TurnStep(
            basis=int(step.get("basis") or basis),
            text=str(step.get("text", "")),
            calls=tuple(calls[call_id] for call_id in step["callIds"]),
            usage=_tokens(step.get("usage")),
            model=str(step.get("model", "")),
            provider=str(step.get("provider", "")),
        )
        for step in cast("list[dict[str, Any]]", data["steps"])
    )
    return Journal(
        turn_id=str(data["turnId"]),
        basis=basis,
        started_at=datetime.fromisoformat(data["startedAt"]).timestamp(),
        deadline=datetime.fromisoformat(data["deadline"]).timestamp(),
        steps=steps,
        cancels=int(data.get("cancels", 0)),
        released=bool(data.get("released", False)),
        forced=bool(data.get("forced", False)),
        owner_since=int(data.get("ownerSince", 0)),
        attempts=int(data.get("attempts", 0)),
        failures=int(data.get("failures", 0)),
        answer=data.get("answer"),
        failure=data.get("failure"),
        detail=str(data.get("detail", "")),
        usage=_tokens(data.get("usage")),
        model=str(data.get("model", "")),
        provider=str(data.get("provider", "")),
        citations=tuple(Citation.model_validate(citation) for citation in data.get("citations") or ()),
        grounding=Grounding.model_validate(data["grounding"]) if data.get("grounding") else None,
        message=data.get("messageId"),
        answered=tuple(data.get("answered") or ()),
    )


def _call_to_wire(call: TurnCall) -> dict[str, Any]:
    wire: dict[str, Any] = {"callId": call.call_id, "tool": call.tool, "arguments": orjson.Fragment(call.arguments)}
    if call.result is not None:
        wire["result"] = orjson.Fragment(call.result)
    if call.model_id:
        wire["modelCallId"] = call.model_id
    return wire


def _call_from_wire(wire: dict[str, Any]) -> TurnCall:
    result = wire.get("result")
    return TurnCall(
        call_id=str(wire["callId"]),
        tool=str(wire["tool"]),
        arguments=orjson.dumps(wire["arguments"]).decode(),
        model_id=str(wire.get("modelCallId") or ""),
        result=None if result is None else orjson.dumps(result).decode(),
    )


@lru_cache(256)  # a turn's two times are written with each save of its journal, and in its record
def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _usage(tokens: TokenCount) -> dict[str, int]:
    return {"promptTokens": tokens.prompt, "completionTokens": tokens.completion}


def _tokens(wire: Any) -> TokenCount:
    return TokenCount(int(wire["promptTokens"]), int(wire["completionTokens"])) if wire else TokenCount()
