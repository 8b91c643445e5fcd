"""Summarizes many compared turns in a few figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Turn = dict[str, Any]
SIDES = ("recorded", "replayed")


def summary(turns: Sequence[Turn]) -> dict[str, Any]:
    """Counts the turns, the equal ones, and the usage of each side. `cost` is None if a model has no price."""
    return {
        "turns": len(turns),
        "sameText": sum(turn["sameText"] for turn in turns),
        "sameTools": sum(turn["sameTools"] for turn in turns),
        "identical": sum(turn["identical"] for turn in turns),
        "failed": sum(turn["replayed"]["error"] is not None for turn in turns),
        "callsNotInRecord": sum(len(turn["notInRecord"]) for turn in turns),
        **{side: _usage([turn[side] for turn in turns]) for side in SIDES},
    }


def _usage(sides: Sequence[Turn]) -> dict[str, Any]:
    costs = [side["cost"] for side in sides]
    latencies = sorted(side["latencyMs"] for side in sides)
    return {
        "models": sorted({side["model"] for side in sides if side["model"]}),
        "promptTokens": sum(side["promptTokens"] for side in sides),
        "completionTokens": sum(side["completionTokens"] for side in sides),
        "cost": None if None in costs else round(sum(costs), 9),
        "medianLatencyMs": latencies[len(latencies) // 2] if latencies else 0.0,
        "toolCalls": sum(len(side["tools"]) for side in sides),
    }


def money(cost: float | None) -> str:
    """A cost in dollars, without trailing zeros."""
    if cost is None:
        return "no price"
    return f"${cost:.6f}".rstrip("0").rstrip(".") if cost else "$0"


def verdict(turn: Turn) -> str:
    """How equal the replayed turn is: identical (byte for byte in the journal), same answer, other answer, no
    answer."""
    if turn["replayed"]["error"]:
        return "no answer"
    if turn["identical"]:
        return "identical"
    if turn["sameText"]:
        return "same answer"
    return "other answer"


def tool_text(use: Turn) -> str:
    """One tool call as text: name(arguments), and its outcome."""
    arguments = ", ".join(f"{name}={value}" for name, value in use["arguments"].items())
    if not use["inRecord"]:
        state = " (not in the record)"
    elif not use["success"]:
        state = f" ({use['error'] or 'failed'})"
    else:
        state = ""
    return f"{use['tool']}({arguments}){state}"
