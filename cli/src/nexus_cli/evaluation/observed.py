"""Observations from trying a case."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ObservedCall:
    """One tool call of a turn, from the turn's record."""

    tool: str
    arguments: dict[str, Any]
    result: dict[str, Any]

    @property
    def error(self) -> str | None:
        """The error code if the call failed."""
        error: dict[str, Any] = self.result.get("error") or {}
        return error.get("code")


@dataclass(frozen=True)
class Observed:
    """What a case did. `seconds`: duration of the last turn or call. `problem`: why there is no result."""

    seconds: float = 0.0
    text: str = ""
    code: str | None = None
    uses: tuple[ObservedCall, ...] = ()
    model_calls: int = 0
    citations: tuple[str, ...] = ()
    actions: int = 0
    question: str = ""
    status: int = 0
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    bars: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    model: str = ""
    problem: str | None = None
